package main

import "time"

// courier brings meals: places by the cell of a map, couriers by the cell in which they are, a queue of jobs by the minute with leases, attempts at each; all in a
// network that fails often, so that one of eight statements is said again.
var courier = application{
	name: "courier", troubles: &troubles{failing: 0.08, slow: 0.05},
	model: `
Place 1500 *place_id:uuid title:text cell:text/120 cuisine:text/15
Courier 400 *courier_id:int name:text cell:text/120
Guest 2500 *guest_id:bigint phone:text cell:text/120
Order 5000 *order_id:uuid state:text/6 placed:timestamp place->Place.orders guest->Guest.orders courier->Courier.orders
Dish 6000 *place->Place.dishes *dish_no:int@place name:text price:int/60
Item 9000 *order->Order.items *seq:int@order count:int/4 note:text
Job 6000 *job_id:timeuuid minute:bigint/200 kind:text/4 order->Order.jobs
Attempt 7000 *job->Job.attempts *nth:int@job result:text/5 worker->Worker.attempts
Worker 30 *host:text version:text/4
Lease 1000 *lease:text holder->Worker.leases until:timestamp`,
	normal: `
places(Place): place_id | | title cell cuisine
places_by_cell(Place): cell | place_id | title cuisine
couriers(Courier): courier_id | | name
courier_cells(Courier): cell | courier_id
guests(Guest): guest_id | | phone cell
guests_by_phone(Guest): phone | | guest_id
orders(Order): order_id | | state placed place_id=place guest_id=guest courier_id=courier
orders_by_guest(Order): guest_id=guest | -placed order_id | state
orders_by_courier(Order): courier_id=courier | -placed order_id | place_id=place
dishes(Dish): place_id=place | dish_no | name price
order_items(Item): order_id=order | seq | count note
jobs(Job): minute | job_id | kind order_id=order
attempts(Attempt): job_id=job | nth | result host=worker
workers(Worker): host | | version
leases(Lease): lease | | host=holder until`,
	grown: func(s *site) []chore {
		const app, dispatch, worker = 1, 2, 3
		place := func(c *client, f *frame) {
			if !c.cached("place", f, 300*time.Millisecond) {
				c.get("places", f, "title cuisine")
			}
		}
		return []chore{
			s.call(14, app, func(c *client) {
				g := c.get("guests_by_phone", c.any("Guest"), "guest_id")
				g = c.get("guests", g, "*")
				for _, x := range c.list("orders_by_guest", g, "guest", "order_id state limit 6") {
					if c.chance(0.5) {
						o := c.get("orders", x, "*")
						place(c, o.to("place"))
					}
				}
			}),
			s.call(14, app, func(c *client) {
				together(c, c.page("places_by_cell", c.any("Place"), "place_id title limit 10"), func(c *client, x *frame) {
					if c.chance(0.4) {
						c.list("dishes", x, "place", "dish_no name price limit 12")
					}
				})
			}),
			s.call(14, app, func(c *client) {
				o := c.get("orders", c.any("Order"), "*")
				place(c, o.to("place"))
				c.get("couriers", o.to("courier"), "name")
				c.list("order_items", o, "order", "seq count note")
			}),
			s.call(10, dispatch, func(c *client) {
				for _, x := range c.page("courier_cells", c.any("Courier"), "courier_id limit 6") {
					c.list("orders_by_courier", x, "courier", "order_id place limit 3")
				}
			}),
			s.call(10, worker, func(c *client) {
				for _, x := range c.page("jobs", c.any("Job"), "job_id kind order limit 8") {
					c.get("orders", x.to("order"), "state")
					c.make("Attempt", false, "attempts", map[string]*frame{"job": x})
				}
			}),
			s.call(4, worker, func(c *client) {
				j := c.any("Job")
				for _, x := range c.list("attempts", j, "job", "nth result worker") {
					c.get("workers", x.to("worker"), "version")
				}
			}),
			s.call(3, worker, func(c *client) {
				l := c.get("leases", c.any("Lease"), "*")
				c.set(l, "until", false, "leases")
			}),
			s.call(6, app, func(c *client) {
				o := c.make("Order", true, "orders orders_by_guest orders_by_courier", map[string]*frame{"guest": c.any("Guest")})
				c.make("Item", false, "order_items", map[string]*frame{"order": o})
				c.make("Job", false, "jobs", map[string]*frame{"order": o})
			}),
			s.call(4, dispatch, func(c *client) {
				o := c.get("orders", c.any("Order"), "state")
				c.set(o, "state", true, "orders orders_by_guest")
			}),
		}
	},
}
