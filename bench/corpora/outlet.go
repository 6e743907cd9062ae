package main

import "time"

// outlet is a shop with many tables that look alike and are not: baskets, wishes, views and ratings, each by a user and an item; orders, and those of former years, under the
// same names with other numbers; what is set and counted of a user, in tables of one row each; how a user was before, by the time of each change; all ids are integers.
var outlet = application{
	name: "outlet",
	model: `
User 1500 *user_id:bigint name:text mail:text theme:text/4 language:text/9 visits:int/900
Item 1200 *item_id:bigint title:text price:int/700
Basket 3000 *user->User.basket *item->Item.baskets added:timestamp quantity:int/5
Wish 3000 *user->User.wishes *item->Item.wishes added:timestamp
View 4000 *user->User.views *item->Item.views *added:timestamp
Rating 3000 *user->User.ratings *item->Item.ratings stars:int/5 added:timestamp
Order 4000 *order_id:bigint+500000 placed:timestamp state:text/5 total:int/2000 user->User.orders
OldOrder 6000 *order_id:bigint placed:timestamp state:text/5 total:int/2000 user->User.old_orders
Change 4000 *user->User.changes *changed:timestamp@user name:text mail:text
Voucher 800 *code:text worth:int/50 user->User.vouchers order->Order.vouchers?0.6`,
	normal: `
users(User): user_id | | name mail
user_settings(User): user_id | | theme language
user_visits(User): user_id | | visits
items(Item): item_id | | title price
baskets(Basket): user_id=user | item_id=item | added quantity
wishes(Wish): user_id=user | item_id=item | added
views(View): user_id=user | -added item_id=item |
ratings(Rating): item_id=item | user_id=user | stars added
ratings_by_user(Rating): user_id=user | item_id=item | stars
orders(Order): order_id | | placed state total user_id=user
orders_by_user(Order): user_id=user | -placed order_id | state total
orders_archive(OldOrder): order_id | | placed state total user_id=user
archive_by_user(OldOrder): user_id=user | -placed order_id | state total
user_history(Change): user_id=user | -changed | name mail
vouchers(Voucher): code | | worth user_id=user order_id=order`,
	grown: func(s *site) []chore {
		const web, job = 1, 2
		item := func(c *client, f *frame) {
			if !c.cached("item", f, 200*time.Millisecond) {
				c.get("items", f, "title price")
			}
		}
		items := func(label, role string) func(c *client) {
			return func(c *client) {
				f := c.get("users", c.any("User"), "name")
				for _, x := range c.list(label, f, role, "item added limit 8") {
					item(c, x.to("item"))
				}
			}
		}
		return []chore{
			s.call(12, web, items("baskets", "user")),
			s.call(8, web, items("wishes", "user")),
			s.call(8, web, items("views", "user")),
			s.call(12, web, func(c *client) {
				f := c.get("items", c.any("Item"), "*")
				for _, x := range c.list("ratings", f, "item", "user stars limit 10") {
					c.get("users", x.to("user"), "name")
				}
			}),
			s.call(12, web, func(c *client) {
				f := c.get("users", c.any("User"), "*")
				c.get("user_settings", f, "theme language")
				c.get("user_visits", f, "visits")
				for _, x := range c.list("orders_by_user", f, "user", "order_id placed state limit 5") {
					if c.chance(0.4) {
						c.get("orders", x, "*")
					}
				}
			}),
			s.call(5, web, func(c *client) {
				f := c.get("users", c.any("User"), "name mail")
				for _, x := range c.list("archive_by_user", f, "user", "order_id placed limit 5") {
					if c.chance(0.6) {
						c.get("orders_archive", x, "*")
					}
				}
			}),
			s.call(4, job, func(c *client) {
				f := c.get("orders", c.any("Order"), "*")
				c.get("users", f.to("user"), "mail")
			}),
			s.call(4, web, func(c *client) {
				f := c.get("vouchers", c.any("Voucher"), "*")
				if o := f.to("order"); o != nil {
					c.get("orders", o, "state total")
				}
			}),
			s.call(3, job, func(c *client) { c.list("user_history", c.any("User"), "user", "changed name mail limit 5") }),
			s.call(5, web, func(c *client) { c.make("Basket", false, "baskets", nil) }),
			s.call(3, web, func(c *client) { c.make("Wish", false, "wishes", nil) }),
			s.call(6, web, func(c *client) { c.make("View", false, "views", nil) }),
			s.call(4, web, func(c *client) { c.make("Rating", true, "ratings ratings_by_user", nil) }),
			s.call(4, web, func(c *client) {
				c.make("Order", true, "orders orders_by_user", map[string]*frame{"user": c.any("User")})
			}),
			s.call(3, job, func(c *client) { c.make("Change", false, "user_history", nil) }),
			s.call(4, web, func(c *client) { c.set(c.any("User"), "visits", false, "user_visits") }),
		}
	},
}
