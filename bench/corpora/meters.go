package main

import "time"

// meters keep what devices measured: readings by the device and the day, which is cut from the reading's time; what is added up by the hour and by the day, with the
// same keys; the latest of each device in a table of its own; alarms by their state; and devices' own readings, which a load brings many at a time.
var meters = application{
	name: "meters",
	model: `
Site 40 *site_id:uuid name:text region:text/6
Device 500 *serial:text model:text/12 seen:timestamp level:int/500 site->Site.devices
Metric 12 *metric:text unit:text/8
Reading 12000 *device->Device.readings *at:timestamp@device day:date<at/24 level:int/900 quality:int/4
Hourly 6000 *device->Device.hours *metric->Metric.hours *hour:timestamp@device low:int/500 high:int/500
Latest 2500 *device->Device.latest *metric->Metric.latest value:int/500 at:timestamp
Daily 4000 *device->Device.days *date:date@device total:int/9000
Threshold 900 *device->Device.thresholds *metric->Metric.thresholds ceiling:int/900
Alarm 3000 *alarm_id:timeuuid raised:timestamp state:text/3 device->Device.alarms metric->Metric.alarms`,
	normal: `
sites(Site): site_id | | name region
devices(Device): serial | | model site_id=site
devices_by_site(Device): site_id=site | serial | model
device_latest(Device): serial | | seen level
metrics(Metric): metric | | unit
readings(Reading): serial=device day | -at | level quality
hourly(Hourly): serial=device metric=metric | -hour | low high
latest(Latest): serial=device | metric=metric | value at
daily(Daily): serial=device | -date | total
thresholds(Threshold): serial=device | metric=metric | ceiling
alarms(Alarm): alarm_id | | raised state serial=device metric=metric
alarms_by_device(Alarm): serial=device | -raised alarm_id | state metric=metric
alarms_by_state(Alarm): state | -alarm_id | serial=device`,
	grown: func(s *site) []chore {
		const web, ingest, report = 1, 2, 3
		metric := func(c *client, f *frame) {
			if !c.cached("metric", f, 300*time.Millisecond) {
				c.get("metrics", f, "unit")
			}
		}
		return []chore{
			s.call(16, web, func(c *client) {
				f := c.get("sites", c.any("Site"), "*")
				together(c, c.list("devices_by_site", f, "site", "serial model limit 15"), func(c *client, x *frame) { c.get("device_latest", x, "seen level") })
			}),
			s.call(16, web, func(c *client) {
				f := c.get("devices", c.any("Device"), "*")
				c.get("sites", f.to("site"), "name")
				c.list("readings", f, "device", "at level limit 20")
				for _, x := range c.list("thresholds", f, "device", "metric ceiling") {
					metric(c, x.to("metric"))
				}
				c.list("latest", f, "device", "metric value at")
				c.list("alarms_by_device", f, "device", "alarm_id state metric limit 5")
			}),
			s.call(10, report, func(c *client) {
				f := c.any("Device")
				c.list("daily", f, "device", "date total limit 14")
				c.list("hourly", f, "device", "hour low high limit 24")
			}),
			s.call(12, web, func(c *client) {
				for _, x := range c.page("alarms_by_state", c.any("Alarm"), "alarm_id device limit 12") {
					if c.chance(0.6) {
						a := c.get("alarms", x, "*")
						c.get("devices", a.to("device"), "model")
					}
				}
			}),
			s.call(10, ingest, func(c *client) {
				d := c.any("Device")
				c.make("Reading", false, "readings", map[string]*frame{"device": d})
				c.set(d, "level", false, "device_latest")
			}),
			s.call(0.4, ingest, func(c *client) { // a load: what a gateway kept
				d := c.any("Device")
				together(c, make([]int, 60), func(c *client, _ int) { c.make("Reading", false, "readings", map[string]*frame{"device": d}) })
			}),
			s.call(3, ingest, func(c *client) { c.make("Daily", false, "daily", nil) }),
			s.call(3, ingest, func(c *client) {
				x := c.any("Latest")
				c.make("Hourly", true, "hourly", map[string]*frame{"device": x.to("device"), "metric": x.to("metric")})
				c.write(x, step{kind: insertOne}, "insert Latest", false, "latest")
			}),
			s.call(4, ingest, func(c *client) { c.make("Alarm", true, "alarms alarms_by_device alarms_by_state", nil) }),
		}
	},
}
