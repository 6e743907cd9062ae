package main

import "time"

// rides brings riders and drivers together: small integers for people, points of time for trips, zones that are called by their names, positions
// by the driver and a bucket, and support about either side.
var rides = application{
	name: "rides", keptFromTuning: true,
	model: `
Zone 60 *zone:text city:text/6
Rider 2000 *rider_id:int phone:text name:text rating:int/50
Driver 700 *driver_id:int name:text licence:text home->Zone.drivers
Vehicle 650 *vin:text plate:text seats:int/6 driver->Driver.vehicles
Trip 6000 *trip_id:timeuuid asked:timestamp fare:int/4000 state:text/5 hour:bigint/200 rider->Rider.trips driver->Driver.trips from->Zone.departures to->Zone.arrivals
Ping 9000 *ping_id:timeuuid lat:double lon:double bucket:int/100 driver->Driver.pings
Payment 5000 *payment_id:uuid cents:int/4000 method:text/4 trip->Trip.payments
Ticket 1500 *ticket_id:bigint topic:text/9 status:text/4 kind:text/2 subject:int=Rider|Driver
Audit 4000 *audit_id:timeuuid what:text actor:text day:text/20`,
	normal: `
zones(Zone): zone | | city
riders(Rider): rider_id | | phone name rating
riders_by_phone(Rider): phone | | rider_id name
drivers(Driver): driver_id | | name licence home_zone=home
drivers_in_zone(Driver): zone=home | driver_id | name
vehicles(Vehicle): vin | | plate seats driver_id=driver
driver_vehicles(Vehicle): driver_id=driver | vin | plate
trips(Trip): trip_id | | asked fare state rider_id=rider driver_id=driver origin=from destination=to
trips_by_rider(Trip): rider_id=rider | -trip_id | state fare
trips_by_driver(Trip): driver_id=driver hour | -trip_id | state fare rider_id=rider
positions(Ping): driver_id=driver bucket | -ping_id | lat lon
payments(Payment): trip_id=trip | payment_id | cents method
support(Ticket): ticket_id | | topic status subject_kind=kind subject_id=subject
audit(Audit): day | -audit_id | what actor`,
	grown: func(s *site) []chore {
		const app, dispatch, office = 1, 2, 3
		rider := func(c *client, f *frame) {
			if !c.cached("rider", f, 500*time.Millisecond) {
				c.one("riders", "name rating", f, is("rider_id", f, "rider_id"))
			}
		}
		driver := func(c *client, f *frame) *frame {
			if c.cached("driver", f, 300*time.Millisecond) {
				return f
			}
			return c.one("drivers", "name licence home", f, is("driver_id", f, "driver_id"))
		}
		trip := func(c *client, f *frame) *frame { return c.one("trips", "*", f, is("trip_id", f, "trip_id")) }
		return []chore{
			s.call(20, app, func(c *client) {
				f := trip(c, c.any("Trip"))
				d := driver(c, f.to("driver"))
				c.find("driver_vehicles", "vin plate", d.many(s.w, "vehicles"), 0, is("driver", d, "driver_id"))
				for _, role := range []string{"from", "to"} {
					if z := f.to(role); !c.cached("zone", z, 200*time.Millisecond) {
						c.one("zones", "city", z, is("zone", z, "zone"))
					}
				}
				c.find("payments", "payment_id cents method", f.many(s.w, "payments"), 0, is("trip", f, "trip_id"))
			}),
			s.call(15, app, func(c *client) {
				f := c.any("Rider")
				if c.chance(0.5) {
					f = c.one("riders_by_phone", "rider_id name", f, is("phone", f, "phone"))
				}
				list := c.find("trips_by_rider", "trip_id state fare limit 10", f.many(s.w, "trips"), 0, is("rider", f, "rider_id"))
				together(c, list, func(c *client, x *frame) {
					if c.chance(0.5) {
						driver(c, trip(c, x).to("driver"))
					}
				})
			}),
			s.call(12, dispatch, func(c *client) {
				z := c.any("Zone")
				list := c.find("drivers_in_zone", "driver_id name", z.many(s.w, "drivers"), 0, is("home", z, "zone"))
				together(c, list, func(c *client, x *frame) {
					p := x.many(s.w, "pings")
					if len(p) == 0 {
						return
					}
					last := &frame{e: s.w.entity("Ping"), i: p[0]}
					c.find("positions", "ping_id lat lon limit 1", p[:1], 0, is("driver", x, "driver_id"), is("bucket", last, "bucket"))
				})
			}),
			s.call(10, dispatch, func(c *client) { c.make("Ping", false, "positions", nil) }),
			s.call(8, dispatch, func(c *client) {
				d := c.any("Driver")
				if list := d.many(s.w, "trips"); len(list) > 0 {
					for _, x := range c.find("trips_by_driver", "trip_id state rider limit 5", list, 0, is("driver", d, "driver_id"), is("hour", &frame{e: s.w.entity("Trip"), i: list[0]}, "hour")) {
						rider(c, x.to("rider"))
					}
				}
			}),
			s.call(6, app, func(c *client) {
				r := c.any("Rider")
				r = c.one("riders", "name rating", r, is("rider_id", r, "rider_id"))
				c.make("Trip", false, "trips trips_by_rider trips_by_driver", map[string]*frame{"rider": r})
				c.make("Audit", false, "audit", nil)
			}),
			s.call(5, app, func(c *client) {
				f := trip(c, c.any("Trip"))
				c.set(f, "state", true, "trips trips_by_rider trips_by_driver")
				c.make("Payment", false, "payments", map[string]*frame{"trip": f})
				c.make("Audit", false, "audit", nil)
			}),
			s.call(6, office, func(c *client) {
				f := c.any("Ticket")
				f = c.one("support", "topic status kind subject", f, is("ticket_id", f, "ticket_id"))
				id, _ := f.e.value(f.i, "subject")
				who := &frame{e: id.of, i: id.n, row: map[string]origin{id.of.key[0]: f.row["subject"]}}
				if id.of.name == "Rider" {
					rider(c, who)
				} else {
					driver(c, who)
				}
				c.set(f, "status", false, "support")
			}),
			s.call(1, office, func(c *client) {
				rows := make([]int, 90)
				first := c.s.random.IntN(1900)
				for i := range rows {
					rows[i] = first + i
				}
				c.find("riders", "*", rows, 30)
			}),
		}
	},
}
