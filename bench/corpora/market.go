package main

import "time"

// market is a market place with several services over one keyspace: integers for all ids, one row of ids after the other; caches in
// front of users, shops and categories; an outbox that is written with everything; a search index that a job makes at night.
var market = application{
	name: "market",
	model: `
User 1500 *user_id:bigint name:text email:text country:text/20 status:text/3 created:timestamp
Shop 400 *shop_id:bigint title:text owner->User.shops
Category 40 *category_id:int label:text parent->Category.children?0.2
Listing 3000 *listing_id:bigint title:text price:int/900 deleted:boolean/2 currency:text/4 views:counter shop->Shop.listings category->Category.listings
Order 5000 *order_id:bigint placed:timestamp day:text/30 total:int/2000 state:text/6 updated:timestamp buyer->User.bought seller->User.sold
Item 11000 *item_id:bigint quantity:int/5 order->Order.items listing->Listing.sales
Favourite 5000 *user->User.favourites *listing->Listing.fans
Attachment 2500 *file_id:uuid kind:text/2 owner_id:bigint=Listing|User mime:text/5
Event 4000 *event_id:timeuuid kind:text/9 subject:text payload:text shard:int/16 at:timestamp
Cart 900 *cart_key:text content:text touched:timestamp
Coupon 300 *code:text percent:int/50 listing->Listing.coupons`,
	normal: `
users(User): user_id | | name email country status created
users_by_email(User): email_lower=email~lower | | user_id
shops(Shop): shop_id | | title owner_id=owner
categories(Category): category_id | | label parent_id=parent
listings(Listing): listing_id | | title price deleted currency shop_id=shop category_id=category
listings_by_category(Listing): category_id=category | listing_id | title price deleted
listing_stats(Listing): listing_id | | views
orders(Order): order_id | | placed total state updated buyer_id=buyer seller_id=seller
orders_by_user(Order): user_id=buyer | -placed order_id | state total
orders_by_day(Order): day | -placed order_id | buyer_id=buyer seller_id=seller total state
order_items(Item): order_id=order | item_id | quantity listing_id=listing
favourites(Favourite): user_id=user | listing_id=listing
fans(Favourite): listing_id=listing | user_id=user
attachments(Attachment): owner_type=kind owner_id | file_id | mime
outbox(Event): shard | event_id | kind subject payload at
carts(Cart): cart_key | | content touched
listing_search(Listing): ref=listing_id~listing# | | heading=title category_ref=category~text
coupons(Coupon): code | | percent listing_id=listing`,
	grown: func(s *site) []chore {
		const web, orders, mobile, job = 1, 2, 3, 4
		user := func(c *client, f *frame) {
			if !c.cached("user", f, 700*time.Millisecond) {
				c.one("users", "name status", f, is("user_id", f, "user_id"))
			}
		}
		shop := func(c *client, f *frame) {
			if !c.cached("shop", f, time.Second) {
				user(c, c.one("shops", "title owner", f, is("shop_id", f, "shop_id")).to("owner"))
			}
		}
		category := func(c *client, f *frame) {
			if !c.cached("category", f, 300*time.Millisecond) {
				if up := c.one("categories", "label parent", f, is("category_id", f, "category_id")).to("parent"); up != nil && !c.cached("category", up, 300*time.Millisecond) {
					c.one("categories", "label parent", up, is("category_id", up, "category_id"))
				}
			}
		}
		listing := func(c *client, f *frame, columns string) *frame {
			return c.one("listings", columns, f, is("listing_id", f, "listing_id"))
		}
		event := func(c *client) { c.make("Event", false, "outbox", nil) }
		return []chore{
			s.call(24, web, func(c *client) {
				f := listing(c, c.any("Listing"), "*")
				shop(c, f.to("shop"))
				category(c, f.to("category"))
				c.one("listing_stats", "views", f, is("listing_id", f, "listing_id"))
				c.increment("listing_stats", f)
				if c.chance(0.3) {
					c.find("attachments", "file_id mime", []int{0, 1}, 0, is("kind", &frame{e: s.w.entity("Attachment"), i: 0}, "kind"), cond{"owner_id", is("x", f, "listing_id").to})
				}
			}),
			s.call(12, web, func(c *client) {
				f := c.any("Category")
				category(c, f)
				list := c.find("listings_by_category", "listing_id title price deleted limit 12", f.many(s.w, "listings"), 0, is("category", f, "category_id"))
				together(c, list, func(c *client, x *frame) {
					if c.chance(0.5) { // a thumbnail that the browser has not
						shop(c, listing(c, x, "*").to("shop"))
					}
				})
			}),
			s.call(14, orders, func(c *client) {
				f := c.any("Order")
				f = c.one("orders", "*", f, is("order_id", f, "order_id"))
				user(c, f.to("buyer"))
				user(c, f.to("seller"))
				items := c.find("order_items", "item_id quantity listing", f.many(s.w, "items"), 0, is("order", f, "order_id"))
				if len(items) > 0 {
					c.find("listings", "listing_id title price", targets(items, "listing"), 0, in("listing_id", items, "listing"))
				}
			}),
			s.call(14, mobile, func(c *client) {
				f := c.any("User")
				if c.chance(0.4) {
					f = c.one("users_by_email", "user_id", f, is("email~lower", f, "email"))
				}
				f = c.one("users", "*", f, is("user_id", f, "user_id"))
				list := c.find("orders_by_user", "placed order_id state total limit 8", f.many(s.w, "bought"), 0, is("buyer", f, "user_id"))
				for _, o := range list {
					if c.chance(0.4) {
						items := c.find("order_items", "item_id quantity listing", o.many(s.w, "items"), 0, is("order", o, "order_id"))
						together(c, items, func(c *client, x *frame) {
							if x = x.to("listing"); !c.cached("listing", x, time.Second/2) {
								listing(c, x, "title price")
							}
						})
					}
				}
			}),
			s.call(8, mobile, func(c *client) {
				f := c.any("User")
				pairs := c.find("favourites", "listing", f.many(s.w, "favourites"), 0, is("user", f, "user_id"))
				together(c, pairs, func(c *client, x *frame) { listing(c, x.to("listing"), "title price deleted") })
			}),
			s.call(4, web, func(c *client) {
				f := c.any("Listing")
				pairs := c.find("fans", "user", f.many(s.w, "fans"), 0, is("listing", f, "listing_id"))
				for _, x := range pairs[:min(len(pairs), 10)] {
					user(c, x.to("user"))
				}
			}),
			s.call(6, web, func(c *client) {
				f := c.any("Cart")
				f = c.one("carts", "content", f, is("cart_key", f, "cart_key"))
				c.set(f, "content", false, "carts")
			}),
			s.call(6, orders, func(c *client) {
				u, l := c.any("User"), c.any("Listing")
				u = c.one("users", "status", u, is("user_id", u, "user_id"))
				l = listing(c, l, "price shop")
				seller := c.one("shops", "owner", l.to("shop"), is("shop_id", l.to("shop"), "shop_id")).to("owner")
				o := c.make("Order", false, "orders orders_by_user orders_by_day", map[string]*frame{"buyer": u, "seller": seller})
				c.make("Item", false, "order_items", map[string]*frame{"order": o, "listing": l})
				event(c)
			}),
			s.call(4, orders, func(c *client) {
				f := c.any("Order")
				f = c.one("orders", "state", f, is("order_id", f, "order_id"))
				c.set(f, "state", false, "orders")
				event(c)
			}),
			s.call(3, mobile, func(c *client) {
				c.make("Favourite", true, "favourites fans", nil)
				event(c)
			}),
			s.call(2, web, func(c *client) {
				c.make("Attachment", false, "attachments", nil)
				event(c)
			}),
			s.call(2, web, func(c *client) {
				f := c.any("Listing")
				c.set(f, "deleted", false, "listings listings_by_category")
				event(c)
			}),
			s.call(0.6, job, func(c *client) { // what was ordered on a day, page by page
				o := c.any("Order")
				day, _ := o.e.value(o.i, "day")
				var rows []int
				for i := range o.e.count {
					if v, _ := o.e.value(i, "day"); v == day && len(rows) < 100 {
						rows = append(rows, i)
					}
				}
				list := c.find("orders_by_day", "*", rows, 30, is("day", o, "day"))
				for _, x := range list {
					if c.chance(0.1) {
						u := x.to("buyer")
						c.one("users", "email country", u, is("user_id", u, "user_id"))
					}
				}
			}),
			s.call(0.3, job, func(c *client) { // the search index
				rows := make([]int, 60)
				first := c.s.random.IntN(2900)
				for i := range rows {
					rows[i] = first + i
				}
				for _, x := range c.find("listings", "*", rows, 30) {
					c.write(x, step{kind: insertOne}, "index Listing", false, "listing_search")
				}
			}),
			s.call(3, web, func(c *client) {
				f := c.any("Listing")
				c.one("listing_search", "title category~text", f, is("listing_id~listing#", f, "listing_id"))
			}),
		}
	},
}

// targets are the instances that frames lead to.
func targets(frames []*frame, role string) (out []int) {
	seen := map[int]bool{}
	for _, f := range frames {
		if i := f.e.edge(role).target[f.i]; i >= 0 && !seen[i] {
			seen[i] = true
			out = append(out, i)
		}
	}
	return out
}
