package main

import "time"

// boxoffice sells tickets: seats are called by their house, section, row and number; a showing by its event and when it begins; what is held for minutes; tickets by a barcode, by order and by showing; artists and
// genres of events from one or both sides; who follows whom; vouchers that have a code; marks of a customer; messages to a house or an artist; sales per day as counters.
var boxoffice = application{
	name: "boxoffice",
	model: `
House 80 *house_id:uuid title:text city:text/30 location:text/60
Seat 6000 *house->House.seats *section:text/9 *row_no:int/40 *seat_no:int@house tier:text/4
Event 900 *event_id:uuid title:text blurb:text
Artist 700 *artist_id:uuid stage_name:text bio:text
Genre 30 *slug:text title:text parent->Genre.children?0.3
Billing 2200 *event->Event.billings *artist->Artist.billings rank:int/5
EventGenre 1500 *event->Event.genres *genre->Genre.events
Showing 3000 *event->Event.showings *starts_at:timestamp@event day:date<starts_at/2 house->House.showings status:text/4
Customer 2000 *customer_id:uuid name:text email:text
Order 4000 *order_no:bigint placed:timestamp total:int/900 customer->Customer.orders
Ticket 9000 *barcode:text price:int/90 order->Order.tickets showing->Showing.tickets holder->Customer.tickets?0.4
Hold 2500 *hold_id:uuid expires:timestamp customer->Customer.holds showing->Showing.holds
Voucher 1200 *code:text amount:int/50 owner->Customer.vouchers
Redemption 800 *redemption_id:timeuuid order->Order.redemptions voucher->Voucher.redemptions
Review 3000 *review_id:timeuuid stars:int/5 body:text event->Event.reviews author->Customer.reviews
Follow 4000 *follower->Customer.follows *artist->Artist.followers
Transfer 1200 *transfer_id:uuid at:timestamp ticket->Ticket.transfers giver->Customer.given taker->Customer.taken
Message 4000 *message_id:timeuuid about:text/2 about_id:uuid=House|Artist body:text customer->Customer.messages
Gate 4000 *scan_id:timeuuid ok:boolean/2 ticket->Ticket.scans house->House.scans
Sale 1500 *event->Event.sales *day:date@event sold:counter
Session 1500 *session_id:uuid agent:text/40 customer->Customer.sessions`,
	normal: `
houses(House): house_id | | title city location
houses_by_city(House): city | house_id | title
seats(Seat): house_id=house | section row_no seat_no | tier !house_title=house.title
events(Event): event_id | | title blurb
artists(Artist): artist_id | | stage_name bio
genres(Genre): slug | | title parent_slug=parent
event_artists(Billing): event_id=event | artist_id=artist | rank stage_name=artist.stage_name
events_by_artist(Billing): artist_id=artist | event_id=event | event_title=event.title rank
events_by_genre(EventGenre): slug=genre | event_id=event
genres_by_event(EventGenre): event_id=event | slug=genre
showings(Showing): event_id=event | starts_at | house_id=house status
showings_by_house(Showing): house_id=house day | starts_at event_id=event | title=event.title status
customers(Customer): customer_id | | name email
customers_by_email(Customer): email | | customer_id
orders(Order): order_no | | placed total customer_id=customer
orders_by_customer(Order): customer_id=customer | -placed order_no | total
tickets(Ticket): barcode | | price order_no=order event_id=showing.event starts_at=showing.starts_at holder_id=holder
tickets_by_order(Ticket): order_no=order | barcode | price
tickets_by_showing(Ticket): event_id=showing.event starts_at=showing.starts_at | barcode | order_no=order
holds(Hold): hold_id | | expires customer_id=customer event_id=showing.event starts_at=showing.starts_at
vouchers(Voucher): code | | amount owner_id=owner
vouchers_by_owner(Voucher): owner_id=owner | code | amount
redemptions(Redemption): order_no=order | redemption_id | code=voucher
reviews_by_event(Review): event_id=event | -review_id | stars body author_id=author author_name=author.name
reviews_by_author(Review): author_id=author | -review_id | event_id=event stars
artist_followers(Follow): artist_id=artist | customer_id=follower
followed_artists(Follow): customer_id=follower | artist_id=artist
transfers(Transfer): transfer_id | | at barcode=ticket giver_id=giver taker_id=taker
transfers_by_ticket(Transfer): barcode=ticket | -at transfer_id | taker_id=taker
messages(Message): customer_id=customer | -message_id | about about_id body
gate_scans(Gate): house_id=house | -scan_id | barcode=ticket ok
daily_sales(Sale): event_id=event | day | sold
sessions(Session): session_id | | agent customer_id=customer`,
	grown: func(s *site) []chore {
		const web, gate, desk = 1, 2, 3
		return []chore{
			s.call(14, web, func(c *client) {
				f := c.get("events", c.any("Event"), "*")
				for _, x := range c.list("event_artists", f, "event", "artist rank artist.stage_name") {
					if c.chance(0.4) {
						c.get("artists", x.to("artist"), "stage_name bio")
					}
				}
				for _, x := range c.list("genres_by_event", f, "event", "genre") {
					c.get("genres", x.to("genre"), "title")
				}
				for _, x := range c.list("showings", f, "event", "starts_at house status") {
					if !c.cached("house", x.to("house"), 60*time.Millisecond) {
						c.get("houses", x.to("house"), "title city")
					}
				}
				for _, x := range c.list("reviews_by_event", f, "event", "review_id stars author author.name limit 5") {
					if c.chance(0.2) {
						c.get("customers", x.to("author"), "name")
					}
				}
			}),
			s.call(10, web, func(c *client) {
				f := c.get("sessions", c.any("Session"), "customer agent")
				f = c.get("customers", f.to("customer"), "*")
				for _, x := range c.list("orders_by_customer", f, "customer", "placed order_no total limit 5") {
					for _, y := range c.list("tickets_by_order", x, "order", "barcode price") {
						if c.chance(0.5) {
							z := c.get("tickets", y, "*")
							c.get("showings", z.with("showing"), "house status")
						}
					}
				}
			}),
			s.call(6, web, func(c *client) {
				for _, x := range c.page("houses_by_city", c.any("House"), "house_id title") {
					if c.chance(0.5) {
						c.list("seats", x, "house", "section row_no seat_no tier house.title limit 20")
					}
				}
			}),
			s.call(6, desk, func(c *client) {
				f := c.get("houses", c.any("House"), "*")
				for _, x := range c.list("showings_by_house", f, "house", "starts_at event event.title status limit 6") {
					if c.chance(0.5) {
						c.list("tickets_by_showing", x, "showing", "barcode order limit 6")
					}
				}
			}),
			s.call(8, web, func(c *client) {
				f := c.get("artists", c.any("Artist"), "*")
				for _, x := range c.list("events_by_artist", f, "artist", "event event.title rank") {
					if c.chance(0.5) {
						c.list("showings", x.to("event"), "event", "starts_at house")
					}
				}
				for _, x := range c.list("artist_followers", f, "artist", "follower limit 5") {
					c.get("customers", x.to("follower"), "name")
				}
			}),
			s.call(5, web, func(c *client) {
				f := c.get("genres", c.any("Genre"), "*")
				if p := f.to("parent"); p != nil {
					c.get("genres", p, "title")
				}
				for _, x := range c.list("events_by_genre", f, "genre", "event limit 8") {
					c.get("events", x.to("event"), "title")
				}
			}),
			s.call(6, web, func(c *client) {
				f := c.get("customers_by_email", c.any("Customer"), "customer_id")
				f = c.get("customers", f, "*")
				for _, x := range c.list("followed_artists", f, "follower", "artist") {
					c.get("artists", x.to("artist"), "stage_name")
				}
				for _, x := range c.list("reviews_by_author", f, "author", "review_id event stars limit 4") {
					c.get("events", x.to("event"), "title")
				}
				c.list("vouchers_by_owner", f, "owner", "code amount")
			}),
			s.call(5, desk, func(c *client) {
				f := c.get("orders", c.any("Order"), "*")
				c.get("customers", f.to("customer"), "name email")
				for _, x := range c.list("redemptions", f, "order", "redemption_id voucher") {
					c.get("vouchers", x.to("voucher"), "amount owner")
				}
			}),
			s.call(6, gate, func(c *client) {
				f := c.get("tickets", c.any("Ticket"), "*")
				if h := f.to("holder"); h != nil {
					c.get("customers", h, "name")
				}
				c.list("transfers_by_ticket", f, "ticket", "at transfer_id taker")
				c.make("Gate", false, "gate_scans", map[string]*frame{"ticket": f})
			}),
			s.call(3, gate, func(c *client) {
				for _, x := range c.list("gate_scans", c.any("House"), "house", "scan_id ticket ok limit 6") {
					c.get("tickets", x.to("ticket"), "order price")
				}
			}),
			s.call(4, web, func(c *client) {
				f := c.get("transfers", c.any("Transfer"), "*")
				c.get("tickets", f.to("ticket"), "price")
				c.get("customers", f.to("giver"), "name")
				c.get("customers", f.to("taker"), "name")
			}),
			s.call(4, web, func(c *client) {
				f := c.get("holds", c.any("Hold"), "*")
				c.get("showings", f.with("showing"), "house status")
				c.get("customers", f.to("customer"), "name")
			}),
			s.call(3, desk, func(c *client) {
				c.list("messages", c.any("Customer"), "customer", "message_id about about_id body limit 5")
			}),
			s.call(2, desk, func(c *client) { c.list("daily_sales", c.any("Event"), "event", "day sold") }),
			s.call(4, web, func(c *client) {
				o := c.make("Order", true, "orders orders_by_customer", nil)
				for range 2 {
					c.make("Ticket", true, "tickets tickets_by_order tickets_by_showing", map[string]*frame{"order": o})
				}
				c.increment("daily_sales", c.any("Sale"))
			}),
			s.call(3, web, func(c *client) { c.make("Hold", false, "holds", nil) }),
			s.call(2, web, func(c *client) { c.make("Review", true, "reviews_by_event reviews_by_author", nil) }),
			s.call(2, web, func(c *client) { c.make("Follow", true, "artist_followers followed_artists", nil) }),
			s.call(1, web, func(c *client) { c.make("Transfer", true, "transfers transfers_by_ticket", nil) }),
			s.call(2, web, func(c *client) { c.make("Message", false, "messages", nil) }),
			s.call(2, web, func(c *client) { c.make("Session", false, "sessions", nil) }),
		}
	},
}
