package main

import "time"

// depot is a mail-order warehouse: lines of orders that are called by the order and a number in it, parcels and returns of these; keys that texts are made of
// ("product#7"); notes about a customer or a product, both with uuids; what is at a site with the site's id before every key.
var depot = application{
	name: "depot",
	model: `
Site 25 *site_id:uuid label:text city:text/12
Customer 900 *customer_id:uuid name:text mail:text
Product 1200 *product_id:uuid title:text price:int/500
Order 2500 *order_no:bigint placed:timestamp state:text/5 customer->Customer.orders site->Site.orders
Line 6500 *order->Order.lines *line_no:int@order quantity:int/9 product->Product.sold
Parcel 4000 *parcel_id:uuid carrier:text/4 sent:timestamp line->Line.parcels
Bin 700 *bin_id:uuid aisle:text/30 site->Site.bins
Content 4000 *bin->Bin.contents *product->Product.places amount:int/50
Worker 300 *worker_id:uuid name:text site->Site.workers
Note 3500 *note_id:timeuuid text:text about_type:text/2 about_id:uuid=Customer|Product author->Worker.notes
Audit 5000 *audit_id:timeuuid week:int/10 what:text/7 actor->Worker.audits order->Order.audits`,
	normal: `
sites(Site): site_id | | label city
customers(Customer): customer_id | | name mail
products(Product): product_id | | title price
product_pages(Product): slug=product_id~product# | | title
orders(Order): order_no | | placed state customer_id=customer site_id=site
orders_of_customer(Order): customer_id=customer | -placed order_no | state
order_lines(Line): order_no=order | line_no | quantity product_id=product
parcels(Parcel): parcel_id | | carrier sent order_no=line.order line_no=line.line_no
bins(Bin): site_id=site | bin_id | aisle
bin_contents(Content): site_id=bin.site bin_id=bin | product_id=product | amount
workers(Worker): site_id=site | worker_id | name
notes(Note): author_id=author | -note_id | text about_type about_id
audit(Audit): week | -audit_id | what actor_id=actor subject=order~order#`,
	grown: func(s *site) []chore {
		const web, floor, office = 1, 2, 3
		customer := func(c *client, f *frame) {
			if !c.cached("customer", f, 500*time.Millisecond) {
				c.one("customers", "name mail", f, is("customer_id", f, "customer_id"))
			}
		}
		product := func(c *client, f *frame, columns string) {
			c.one("products", columns, f, is("product_id", f, "product_id"))
		}
		lines := func(c *client, o *frame) []*frame {
			return c.find("order_lines", "line_no quantity product", o.many(s.w, "lines"), 0, is("order", o, "order_no"))
		}
		worker := func(c *client, f *frame) *frame {
			return c.one("workers", "name", f, is("site", f, "site"), is("worker_id", f, "worker_id"))
		}
		return []chore{
			s.call(14, web, func(c *client) {
				f := c.any("Customer")
				customer(c, f)
				for _, o := range c.find("orders_of_customer", "placed order_no state limit 6", f.many(s.w, "orders"), 0, is("customer", f, "customer_id")) {
					if c.chance(0.4) {
						together(c, lines(c, o), func(c *client, x *frame) { product(c, x.to("product"), "title") })
					}
				}
			}),
			s.call(12, office, func(c *client) {
				f := c.any("Order")
				f = c.one("orders", "*", f, is("order_no", f, "order_no"))
				customer(c, f.to("customer"))
				if list := lines(c, f); len(list) > 0 {
					c.find("products", "product_id title price", targets(list, "product"), 0, in("product_id", list, "product"))
				}
			}),
			s.call(14, web, func(c *client) { // where is my parcel
				f := c.any("Parcel")
				f = c.one("parcels", "*", f, is("parcel_id", f, "parcel_id"))
				x := &frame{e: s.w.entity("Line"), i: f.e.edge("line").target[f.i], row: map[string]origin{"order": f.row["line.order"], "line_no": f.row["line.line_no"]}}
				x = c.one("order_lines", "quantity product", x, is("order", x, "order"), is("line_no", x, "line_no"))
				product(c, x.to("product"), "title")
			}),
			s.call(8, floor, func(c *client) {
				f := c.any("Site")
				list := c.find("bins", "bin_id aisle limit 12", f.many(s.w, "bins"), 0, is("site", f, "site_id"))
				for _, b := range list[:min(len(list), 4)] {
					b.row["site"] = f.row["site_id"]
					at := b.many(s.w, "contents")
					for _, x := range c.find("bin_contents", "product amount", at, 0, is("bin.site", b, "site"), is("bin", b, "bin_id")) {
						if p := x.to("product"); c.chance(0.4) {
							product(c, p, "title")
							if c.chance(0.5) {
								c.one("product_pages", "title", p, is("product_id~product#", p, "product_id"))
							}
						}
					}
				}
			}),
			s.call(8, floor, func(c *client) {
				f := worker(c, c.any("Worker"))
				for _, x := range c.find("notes", "note_id text about_type about_id limit 8", f.many(s.w, "notes"), 0, is("author", f, "worker_id")) {
					id, _ := x.e.value(x.i, "about_id")
					about := &frame{e: id.of, i: id.n, row: map[string]origin{id.of.key[0]: x.row["about_id"]}}
					if id.of.name == "Product" {
						product(c, about, "title price")
					} else if c.chance(0.6) {
						c.one("customers", "name", about, is("customer_id", about, "customer_id"))
					}
				}
			}),
			s.call(6, office, func(c *client) { // what was done this week
				f := c.any("Audit")
				week, _ := f.e.value(f.i, "week")
				var rows []int
				for i := range f.e.count {
					if w, _ := f.e.value(i, "week"); w == week && len(rows) < 20 {
						rows = append(rows, i)
					}
				}
				for _, x := range c.find("audit", "audit_id what actor order~order#", rows, 0, is("week", f, "week")) {
					if o := x.to("order"); c.chance(0.5) {
						c.one("orders", "state placed", o, is("order_no", o, "order_no"))
					}
				}
			}),
			s.call(4, floor, func(c *client) {
				f := c.any("Site")
				c.one("sites", "label city", f, is("site_id", f, "site_id"))
			}),
			s.call(6, web, func(c *client) {
				u, p := c.any("Customer"), c.any("Product")
				o := c.make("Order", false, "orders orders_of_customer", map[string]*frame{"customer": u})
				c.make("Line", false, "order_lines", map[string]*frame{"order": o, "product": p})
				c.make("Audit", false, "audit", map[string]*frame{"order": o})
			}),
			s.call(3, floor, func(c *client) { c.make("Parcel", false, "parcels", nil) }),
			s.call(3, floor, func(c *client) { c.make("Note", false, "notes", nil) }),
			s.call(3, floor, func(c *client) { c.make("Content", false, "bin_contents", nil) }),
			s.call(4, office, func(c *client) {
				f := c.any("Order")
				f = c.one("orders", "state", f, is("order_no", f, "order_no"))
				c.set(f, "state", false, "orders")
			}),
		}
	},
}
