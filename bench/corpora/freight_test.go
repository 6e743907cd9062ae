package main

import (
	"strings"
	"time"
)

// with is the partner in a role, of which is known what was copied into the row.
func (f *frame) with(role string) *frame {
	to := f.to(role)
	if to == nil {
		return nil
	}
	for path, from := range f.row {
		if rest, of := strings.CutPrefix(path, role+"."); of {
			to.row[rest] = from
		}
	}
	return to
}

// freight is parcels on their way: customers, parcels, tours and claims are numbered from one on, each by its own sequence, and called cust_no, parcel_id, drv_id; scans and stops
// have what their parcel or tour is in static columns; notes about a parcel or a claim; positions of vehicles by the hour; counters by depot and day.
var freight = application{
	name: "freight",
	model: `
Customer 1800 *cust_no:bigint name:text email:text phone:text
Address 2600 *addr_id:bigint street:text zip:text/400 city:text/120 customer->Customer.addresses
Depot 60 *depot_cd:text name:text city:text/50 hub->Depot.spokes?0.15
Vehicle 180 *plate:text capacity:int/12 depot->Depot.vehicles
Driver 240 *drv_id:int name:text licence:text depot->Depot.drivers
Service 12 *svc_cd:text label:text
Zone 40 *zone_cd:text label:text
Tariff 200 *service->Service.tariffs *zone->Zone.tariffs price:int/90
Parcel 6000 *parcel_id:bigint weight:int/400 status:text/7 created:timestamp created_day:date<created/120 sender->Customer.sent recipient->Customer.received shipto->Address.parcels service->Service.parcels
Scan 11000 *parcel->Parcel.scans *scanned_at:timestamp day:date<scanned_at/200 kind:text/9 depot->Depot.scans driver->Driver.scans?0.4
Tour 1500 *tour_id:bigint day:date/40 depot->Depot.tours driver->Driver.tours vehicle->Vehicle.tours
Stop 8000 *tour->Tour.stops *seq:int@tour eta:timestamp outcome:text/4 parcel->Parcel.stops
Ping 9000 *vehicle->Vehicle.pings *at:timestamp hour:int<at/60 lat:double lon:double
Point 400 *point_id:int name:text geohash:text/90
Favourite 2000 *customer->Customer.favourites *point->Point.fans
Clerk 50 *usr_id:int login:text name:text boss->Clerk.reports?0.1
Claim 900 *claim_id:bigint reason:text/8 amount:int/900 parcel->Parcel.claims handler->Clerk.claims
Note 2500 *note_id:timeuuid ref_type:text/2 ref_id:bigint=Parcel|Claim body:text clerk->Clerk.notes
Audit 7000 *event_id:timeuuid month:int<event_id/700 action:text/12 target:text clerk->Clerk.audits
DepotDay 1500 *depot->Depot.days *day:date@depot parcels_in:counter parcels_out:counter
Session 1500 *session_key:text created:timestamp device:text/5 customer->Customer.sessions`,
	normal: `
customers(Customer): cust_no | | name email phone
customers_by_email(Customer): email | | cust_no name
addresses(Address): addr_id | | street zip city cust_no=customer
addresses_by_customer(Address): cust_no=customer | addr_id | street city
depots(Depot): depot_cd | | name city hub_cd=hub
vehicles(Vehicle): plate | | capacity depot_cd=depot
vehicles_by_depot(Vehicle): depot_cd=depot | plate | capacity
drivers(Driver): drv_id | | name licence depot_cd=depot
drivers_by_depot(Driver): depot_cd=depot | drv_id | name
services(Service): svc_cd | | label
zones(Zone): zone_cd | | label
tariffs(Tariff): svc_cd=service | zone_cd=zone | price
parcels(Parcel): parcel_id | | weight status created sender_no=sender recipient_no=recipient addr_id=shipto svc_cd=service
parcels_by_sender(Parcel): cust_no=sender | -created parcel_id | status recipient_name=recipient.name
parcels_by_recipient(Parcel): cust_no=recipient | -created parcel_id | status
parcels_by_status(Parcel): status created_day | parcel_id | weight
scans(Scan): parcel_id=parcel | -scanned_at | kind depot_cd=depot drv_id=driver !status=parcel.status
scans_by_depot(Scan): depot_cd=depot day | -scanned_at parcel_id=parcel | kind
tours(Tour): tour_id | | day depot_cd=depot drv_id=driver plate=vehicle
tours_by_driver(Tour): drv_id=driver | -day tour_id | plate=vehicle
tour_stops(Stop): tour_id=tour | seq | parcel_id=parcel eta outcome !drv_id=tour.driver !plate=tour.vehicle
vehicle_pings(Ping): plate=vehicle hour | -at | lat lon
pickup_points(Point): point_id | | name geohash
points_by_geohash(Point): geohash | point_id | name
saved_points(Favourite): cust_no=customer | point_id=point
clerks(Clerk): usr_id | | login name boss_id=boss
clerks_by_login(Clerk): login | | usr_id
claims(Claim): claim_id | | reason amount parcel_id=parcel usr_id=handler
claims_by_parcel(Claim): parcel_id=parcel | claim_id | reason
notes(Note): ref_type ref_id | -note_id | body usr_id=clerk
audit_log(Audit): usr_id=clerk month | -event_id | action target
depot_counters(DepotDay): depot_cd=depot | day | parcels_in parcels_out
sessions(Session): session_key | | created device cust_no=customer`,
	grown: func(s *site) []chore {
		const web, depot, ops = 1, 2, 3
		return []chore{
			s.call(14, web, func(c *client) {
				f := c.get("sessions", c.any("Session"), "customer device")
				f = c.get("customers", f.to("customer"), "name email")
				for _, x := range c.list("parcels_by_sender", f, "sender", "created parcel_id status recipient.name limit 6") {
					if c.chance(0.4) {
						c.list("scans", x, "parcel", "scanned_at kind depot parcel.status limit 5")
					}
				}
				if c.chance(0.5) {
					c.list("addresses_by_customer", f, "customer", "addr_id street city")
				}
			}),
			s.call(12, web, func(c *client) {
				f := c.get("parcels", c.any("Parcel"), "*")
				c.get("addresses", f.to("shipto"), "street zip city")
				c.get("customers", f.to("recipient"), "name phone")
				for _, x := range c.list("scans", f, "parcel", "scanned_at kind depot driver parcel.status limit 5") {
					if !c.cached("depot", x.to("depot"), 100*time.Millisecond) {
						c.get("depots", x.to("depot"), "name city")
					}
				}
			}),
			s.call(12, depot, func(c *client) {
				f := c.get("drivers", c.any("Driver"), "*")
				for _, x := range c.list("tours_by_driver", f, "driver", "day tour_id vehicle limit 2") {
					for _, y := range c.list("tour_stops", x, "tour", "seq parcel eta outcome tour.driver tour.vehicle") {
						if c.chance(0.5) {
							p := c.get("parcels", y.to("parcel"), "weight recipient shipto")
							c.get("addresses", p.to("shipto"), "*")
						}
					}
				}
			}),
			s.call(8, depot, func(c *client) {
				f := c.get("tours", c.any("Tour"), "*")
				c.get("drivers", f.to("driver"), "name")
				c.get("vehicles", f.to("vehicle"), "capacity")
				c.get("depots", f.to("depot"), "name")
			}),
			s.call(8, depot, func(c *client) {
				for _, x := range c.page("scans_by_depot", c.any("Scan"), "scanned_at parcel kind limit 8") {
					if c.chance(0.5) {
						c.get("parcels", x.to("parcel"), "status weight")
					}
				}
			}),
			s.call(5, ops, func(c *client) {
				f := c.get("depots", c.any("Depot"), "*")
				if h := f.to("hub"); h != nil {
					c.get("depots", h, "name")
				}
				for _, x := range c.list("vehicles_by_depot", f, "depot", "plate capacity") {
					if c.chance(0.3) {
						c.page("vehicle_pings", pingOf(c, x), "at lat lon limit 3")
					}
				}
				c.list("drivers_by_depot", f, "depot", "drv_id name")
			}),
			s.call(6, web, func(c *client) {
				f := c.get("customers_by_email", c.any("Customer"), "cust_no name")
				for _, x := range c.list("saved_points", f, "customer", "point") {
					c.get("pickup_points", x.to("point"), "*")
				}
			}),
			s.call(4, web, func(c *client) { c.page("points_by_geohash", c.any("Point"), "point_id name") }),
			s.call(6, ops, func(c *client) {
				f := c.get("claims", c.any("Claim"), "*")
				p := c.get("parcels", f.to("parcel"), "*")
				c.get("customers", p.to("sender"), "name email")
				c.get("clerks", f.to("handler"), "name")
			}),
			s.call(5, ops, func(c *client) {
				f := c.get("parcels", c.any("Parcel"), "status sender")
				for _, x := range c.list("claims_by_parcel", f, "parcel", "claim_id reason") {
					c.get("claims", x, "amount handler")
				}
			}),
			s.call(5, ops, func(c *client) {
				f := c.get("clerks_by_login", c.any("Clerk"), "usr_id")
				f = c.get("clerks", f, "*")
				if b := f.to("boss"); b != nil {
					c.get("clerks", b, "name")
				}
				c.list("audit_log", f, "clerk", "event_id action target limit 10")
			}),
			s.call(4, ops, func(c *client) {
				for _, x := range c.page("notes", c.any("Note"), "note_id body clerk limit 5") {
					c.get("clerks", x.to("clerk"), "name")
				}
			}),
			s.call(4, web, func(c *client) {
				f := c.get("tariffs", c.any("Tariff"), "price")
				c.get("services", f.to("service"), "label")
			}),
			s.call(3, web, func(c *client) { c.get("zones", c.any("Zone"), "label") }),
			s.call(3, ops, func(c *client) { c.page("parcels_by_status", c.any("Parcel"), "parcel_id weight limit 10") }),
			s.call(5, depot, func(c *client) {
				p := c.get("parcels", c.any("Parcel"), "status")
				c.make("Scan", true, "scans scans_by_depot", map[string]*frame{"parcel": p})
				c.increment("depot_counters", c.any("DepotDay"))
			}),
			s.call(2, ops, func(c *client) { c.get("depot_counters", c.any("DepotDay"), "parcels_in parcels_out") }),
			s.call(4, web, func(c *client) {
				c.make("Parcel", true, "parcels parcels_by_sender parcels_by_recipient parcels_by_status", map[string]*frame{"sender": c.any("Customer")})
			}),
			s.call(5, depot, func(c *client) { c.make("Ping", false, "vehicle_pings", nil) }),
			s.call(2, depot, func(c *client) {
				t := c.make("Tour", true, "tours tours_by_driver", nil)
				for range 2 {
					c.make("Stop", false, "tour_stops", map[string]*frame{"tour": t})
				}
			}),
			s.call(3, ops, func(c *client) { c.make("Audit", false, "audit_log", nil) }),
			s.call(2, ops, func(c *client) { c.make("Note", false, "notes", nil) }),
			s.call(2, ops, func(c *client) { c.make("Claim", true, "claims claims_by_parcel", nil) }),
			s.call(2, web, func(c *client) { c.make("Session", false, "sessions", nil) }),
			s.call(2, web, func(c *client) { c.make("Address", true, "addresses addresses_by_customer", nil) }),
			s.call(2, web, func(c *client) { c.make("Favourite", false, "saved_points", nil) }),
			s.call(1, web, func(c *client) { c.make("Customer", true, "customers customers_by_email", nil) }),
		}
	},
}

// pingOf is a position of a vehicle, of which the hour is not known from it.
func pingOf(c *client, vehicle *frame) *frame {
	list := vehicle.many(c.s.w, "pings")
	if len(list) == 0 {
		return c.any("Ping")
	}
	f := &frame{e: c.s.w.entity("Ping"), i: list[0], row: map[string]origin{"vehicle": vehicle.row["plate"]}}
	return f
}
