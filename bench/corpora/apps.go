package main

// application is an application with its gold model, what it does, and how it lays its data out: in normal form, and with copies,
// whose columns have other names than the originals, and more of them.
type application struct {
	name           string
	model          string
	normal, copied string
	pages          []page
	keptFromTuning bool // nothing was ever tuned to it
	// grown is what one that is no plain one does, in code (grown.go); it has one layout, normal.
	grown    func(s *site) []chore
	troubles *troubles // of one that is no plain one; nil: the usual
	says     int       // how many statements a case of it says; 0: the usual
}

var applications = []application{
	{
		name: "auction",
		model: `
Region 40 *region_id:uuid name:text
Account 3000 *account_id:uuid nick:text email:text rating:int/60 region->Region.accounts
Category 30 *category_id:uuid title:text
Item 2500 *item_id:uuid title:text price:int/900 ends:timestamp seller->Account.sales category->Category.items
Bid 9000 *bid_id:uuid amount:int/900 placed:timestamp item->Item.bids bidder->Account.bids
Comment 4000 *comment_id:uuid body:text stars:int/5 author->Account.written receiver->Account.received`,
		normal: `
regions(Region): region_id | | name
accounts(Account): account_id | | nick email rating region_id=region ; index=email
categories(Category): category_id | | title
items(Item): item_id | | title price ends seller_id=seller category_id=category
items_by_category(Item): category_id=category | item_id
items_by_seller(Item): seller_id=seller | item_id
bids(Bid): item_id=item | bid_id | amount placed bidder_id=bidder
bids_by_bidder(Bid): bidder_id=bidder | bid_id | item_id=item
comments(Comment): receiver_id=receiver | comment_id | author_id=author body stars`,
		copied: `
regions(Region): region_id | | name
accounts(Account): account_id | | nick email rating region_id=region
logins(Account): mail=email | | who=account_id display=nick
categories(Category): category_id | | title
items(Item): item_id | | title price ends seller_id=seller category_id=category
browse(Item): cat=category | -closing=ends item=item_id | headline=title asking=price seller=seller seller_name=seller.nick
on_sale(Item): vendor=seller | item=item_id | headline=title closing=ends
bids(Bid): item_id=item | -placed bid_id | amount bidder_id=bidder
my_bids(Bid): owner=bidder | -at=placed bid=bid_id | thing=item sum=amount thing_title=item.title
comments(Comment): receiver_id=receiver | comment_id | author_id=author body stars`,
		pages: []page{
			{20, []step{get("Category").pick("title").then(list("items").top(10).then(follow("seller").pick("nick", "rating").async()))}},
			{25, []step{get("Item").then(follow("seller").then(follow("region")), list("bids").then(follow("bidder").pick("nick").async()))}},
			{15, []step{get("Account").then(list("received").then(follow("author").pick("nick").in()))}},
			{10, []step{by("Account", "email").pick("nick").then(list("bids").top(8).then(follow("item")))}},
			{8, []step{get("Account").pick("nick").then(list("sales").top(10).then(list("bids").pick("amount").async()))}},
			{8, []step{get("Item").pick("price").then(insert("Bid").of("item"))}},
			{3, []step{insert("Comment")}},
			{3, []step{insert("Item")}},
			{4, []step{update("Account", "rating")}},
		},
	},
	{
		name: "social",
		model: `
Member 3000 *member_id:uuid handle:text bio:text joined:timestamp
Post 6000 *post_id:timeuuid text:text written:timestamp author->Member.posts
Reply 6000 *reply_id:timeuuid words:text post->Post.replies by->Member.replies
Follow 9000 *follower->Member.follows *followed->Member.followers
Message 6000 *message_id:timeuuid note:text sender->Member.sent recipient->Member.inbox
Guild 200 *guild_id:uuid label:text founder->Member.guilds
Membership 5000 *guild->Guild.members *member->Member.memberships since:timestamp`,
		normal: `
members(Member): member_id | | handle bio joined ; index=handle
posts(Post): post_id | | text written author_id=author
posts_by_author(Post): author_id=author | -post_id
replies(Reply): post_id=post | reply_id | words by_id=by
follows(Follow): follower_id=follower | followed_id=followed
followers(Follow): followed_id=followed | follower_id=follower
messages(Message): recipient_id=recipient | -message_id | note sender_id=sender
guilds(Guild): guild_id | | label founder_id=founder
guild_members(Membership): guild_id=guild | member_id=member | since`,
		copied: `
members(Member): member_id | | handle bio joined
handles(Member): name=handle | | person=member_id about=bio
posts(Post): post_id | | text written author_id=author
wall(Post): owner=author | -id=post_id | said=text at=written
replies(Reply): post_id=post | reply_id | words by_id=by by_name=by.handle
answers(Reply): person=by | -answer=reply_id | line=words subject=post
follows(Follow): follower_id=follower | followed_id=followed
fans(Follow): star=followed | fan=follower
messages(Message): recipient_id=recipient | -message_id | note sender_id=sender
outbox(Message): owner=sender | -id=message_id | content=note addressee=recipient
guilds(Guild): guild_id | | label founder_id=founder
guild_members(Membership): guild_id=guild | member_id=member | since
my_guilds(Membership): person=member | club=guild | entered=since club_name=guild.label`,
		pages: []page{
			{20, []step{get("Member").then(list("posts").top(10).then(list("replies").pick("words").async()))}},
			{20, []step{get("Post").then(follow("author").pick("handle"), list("replies").then(follow("by").pick("handle", "bio").async()))}},
			{15, []step{by("Member", "handle").pick("bio").then(list("follows").then(follow("followed").pick("handle")))}},
			{15, []step{get("Member").pick("handle").then(list("inbox").top(8).then(follow("sender").pick("handle").in()))}},
			{12, []step{get("Guild").then(follow("founder").pick("handle"), list("members").then(follow("member").pick("handle", "bio").async()))}},
			{8, []step{get("Member").pick("handle").then(insert("Post").of("author").batch())}},
			{6, []step{get("Post").pick("text").then(insert("Reply").of("post"))}},
			{6, []step{insert("Follow").batch()}},
			{6, []step{insert("Message").async()}},
			{2, []step{insert("Membership")}},
		},
	},
	{
		name: "shop",
		model: `
Customer 3000 *customer_id:bigint name:text email:text city:text/80
Product 1500 *sku:text title:text price:int/700 brand->Brand.products
Brand 60 *brand_id:bigint label:text
Purchase 6000 *order_id:bigint placed:timestamp state:text/5 customer->Customer.purchases
Line 15000 *line_id:bigint quantity:int/9 purchase->Purchase.lines product->Product.lines
Review 4000 *product->Product.reviews *customer->Customer.reviews stars:int/5 text:text
Shipment 5000 *parcel:text carrier:text/6 purchase->Purchase.shipments`,
		normal: `
customers(Customer): customer_id | | name email city
products(Product): sku | | title price brand_id=brand ; index=brand_id
brands(Brand): brand_id | | label
orders(Purchase): order_id | | placed state customer_id=customer
orders_by_customer(Purchase): customer_id=customer | order_id
order_lines(Line): order_id=purchase | line_id | quantity sku=product
reviews(Review): sku=product | customer_id=customer | stars text
shipments(Shipment): order_id=purchase | parcel | carrier`,
		copied: `
customers(Customer): customer_id | | name email city
mailboxes(Customer): address=email | | client=customer_id called=name
products(Product): sku | | title price brand_id=brand
catalogue(Product): maker=brand | article=sku | name=title cost=price maker_name=brand.label
brands(Brand): brand_id | | label
orders(Purchase): order_id | | placed state customer_id=customer
purchases(Purchase): buyer=customer | -day=placed number=order_id | status=state
order_lines(Line): order_id=purchase | line_id | quantity sku=product
sold(Line): article=product | line=line_id | amount=quantity number=purchase
reviews(Review): sku=product | customer_id=customer | stars text
opinions(Review): critic=customer | article=product | verdict=stars words=text article_name=product.title
shipments(Shipment): order_id=purchase | parcel | carrier`,
		pages: []page{
			{25, []step{get("Product").then(follow("brand"), list("reviews").top(10).then(follow("customer").pick("name").in()))}},
			{20, []step{get("Customer").pick("name").then(list("purchases").top(5).then(list("lines").then(follow("product").pick("title", "price").async())))}},
			{15, []step{get("Purchase").then(follow("customer").pick("name", "email"), list("lines").then(follow("product").pick("title", "price")), list("shipments"))}},
			{10, []step{get("Customer")}},
			{8, []step{by("Product", "brand").pick("title", "price")}},
			{8, []step{insert("Purchase").then()}},
			{8, []step{get("Purchase").pick("state").then(insert("Line").of("purchase"))}},
			{4, []step{insert("Review")}},
			{4, []step{update("Purchase", "state")}},
			{3, []step{insert("Customer").async()}},
		},
	},
	{
		name: "telemetry",
		model: `
Plant 50 *plant_id:uuid place:text
Device 800 *device_id:uuid model:text/30 firmware:text/9 plant->Plant.devices gateway->Gateway.devices
Gateway 80 *gateway_id:uuid address:text plant->Plant.gateways
Reading 20000 *reading_id:timeuuid taken:timestamp level:int/500 device->Device.readings
Alarm 2000 *alarm_id:timeuuid severity:int/4 raised:timestamp device->Device.alarms officer->Engineer.alarms
Engineer 100 *engineer_id:uuid name:text phone:text chief->Engineer.team?0.1`,
		normal: `
plants(Plant): plant_id | | place
devices(Device): device_id | | model firmware plant_id=plant gateway_id=gateway
devices_by_plant(Device): plant_id=plant | device_id
gateways(Gateway): gateway_id | | address plant_id=plant
readings(Reading): device_id=device | -taken reading_id | level
alarms(Alarm): device_id=device | -raised alarm_id | severity officer_id=officer
engineers(Engineer): engineer_id | | name phone chief_id=chief`,
		copied: `
plants(Plant): plant_id | | place
devices(Device): device_id | | model firmware plant_id=plant gateway_id=gateway
inventory(Device): site=plant | unit=device_id | type=model version=firmware site_name=plant.place
gateways(Gateway): gateway_id | | address plant_id=plant
readings(Reading): device_id=device | -taken reading_id | level
alarms(Alarm): device_id=device | -raised alarm_id | severity officer_id=officer
duties(Alarm): person=officer | -since=raised alert=alarm_id | grade=severity unit=device unit_type=device.model
engineers(Engineer): engineer_id | | name phone chief_id=chief`,
		pages: []page{
			{30, []step{get("Plant").then(list("devices").top(12).then(list("readings").top(1).async()))}},
			{15, []step{get("Device").then(follow("plant"), follow("gateway"), list("alarms").top(10).then(follow("officer").pick("name", "phone")))}},
			{10, []step{get("Engineer").pick("name").then(follow("chief").pick("name", "phone"))}},
			{30, []step{get("Device").pick("firmware").then(insert("Reading").of("device"))}},
			{5, []step{insert("Alarm")}},
			{3, []step{update("Device", "firmware")}},
			{2, []step{insert("Device")}},
		},
	},
	{
		name: "tickets",
		model: `
Venue 120 *venue_id:int hall:text town:text/40
Show 900 *show_id:int name:text starts:timestamp venue->Venue.shows
Seat 4000 *seat_id:int row:int/40 venue->Venue.seats
Guest 3000 *guest_id:int name:text email:text
Booking 6000 *booking_id:int made:timestamp show->Show.bookings guest->Guest.bookings
Ticket 9000 *ticket_id:int price:int/90 booking->Booking.tickets seat->Seat.tickets`,
		normal: `
venues(Venue): venue_id | | hall town
shows(Show): show_id | | name starts venue_id=venue
shows_by_venue(Show): venue_id=venue | starts show_id
seats(Seat): seat_id | | row venue_id=venue
guests(Guest): guest_id | | name email
bookings(Booking): booking_id | | made show_id=show guest_id=guest
bookings_by_guest(Booking): guest_id=guest | booking_id
bookings_by_show(Booking): show_id=show | booking_id
tickets(Ticket): booking_id=booking | ticket_id | price seat_id=seat`,
		copied: `
venues(Venue): venue_id | | hall town
shows(Show): show_id | | name starts venue_id=venue
calendar(Show): place=venue | opening=starts event=show_id | title=name
seats(Seat): seat_id | | row venue_id=venue
guests(Guest): guest_id | | name email
visitors(Guest): mail=email | | person=guest_id called=name
bookings(Booking): booking_id | | made show_id=show guest_id=guest
my_bookings(Booking): person=guest | -day=made code=booking_id | event=show event_name=show.name
door_list(Booking): event=show | code=booking_id | person=guest person_name=guest.name
tickets(Ticket): booking_id=booking | ticket_id | price seat_id=seat`,
		pages: []page{
			{20, []step{get("Venue").then(list("shows").top(10).pick("name"))}},
			{20, []step{get("Show").then(follow("venue"))}},
			{20, []step{get("Guest").pick("name").then(list("bookings").top(6).then(follow("show").pick("name", "starts").async(), list("tickets").then(follow("seat").pick("row"))))}},
			{10, []step{get("Booking").then(follow("guest").pick("name", "email"), list("tickets").pick("price"))}},
			{8, []step{get("Show").pick("name").then(list("bookings").then(follow("guest").pick("name").in()))}},
			{8, []step{insert("Booking")}},
			{8, []step{get("Booking").pick("made").then(insert("Ticket").of("booking"))}},
			{4, []step{insert("Guest").batch()}},
		},
	},
	{
		name: "tenants",
		model: `
Tenant 60 *tenant_id:uuid company:text plan:text/4
Worker 2000 *worker_id:uuid name:text mail:text tenant->Tenant.workers
Project 800 *project_id:uuid title:text tenant->Tenant.projects lead->Worker.led@tenant
Task 6000 *task_id:uuid headline:text state:text/5 tenant->Tenant.tasks project->Project.tasks@tenant assignee->Worker.tasks@tenant parent->Task.children@tenant?0.5
Note 6000 *note_id:timeuuid text:text task->Task.notes writer->Worker.notes`,
		normal: `
tenants(Tenant): tenant_id | | company plan
workers(Worker): tenant_id=tenant | worker_id | name mail
projects(Project): tenant_id=tenant | project_id | title lead_id=lead
tasks(Task): task_id | | headline state tenant_id=tenant project_id=project assignee_id=assignee parent_id=parent
tasks_by_project(Task): project_id=project | task_id
notes(Note): task_id=task | note_id | text writer_id=writer
writers(Worker): worker_id | | name mail tenant_id=tenant`,
		copied: `
tenants(Tenant): tenant_id | | company plan
workers(Worker): tenant_id=tenant | worker_id | name mail
staff(Worker): person=worker_id | | called=name address=mail firm=tenant
projects(Project): tenant_id=tenant | project_id | title lead_id=lead
tasks(Task): task_id | | headline state tenant_id=tenant project_id=project assignee_id=assignee parent_id=parent
board(Task): plan=project | item=task_id | line=headline status=state owner=assignee owner_name=assignee.name
todo(Task): person=assignee | item=task_id | line=headline status=state plan=project
notes(Note): task_id=task | note_id | text writer_id=writer`,
		pages: []page{
			{15, []step{get("Tenant").then(list("projects").top(8).then(follow("lead").pick("name")))}},
			{20, []step{get("Tenant").pick("plan").then(list("workers").pick("name", "mail").top(20))}},
			{20, []step{get("Task").then(follow("parent").pick("headline"), list("notes").then(follow("writer").pick("name").async()))}},
			{15, []step{get("Worker").pick("name").then(follow("tenant"))}},
			{10, []step{by("Task", "project").pick("headline", "state").then(follow("assignee").pick("name").async())}},
			{6, []step{insert("Task")}},
			{6, []step{get("Task").pick("headline").then(insert("Note").of("task"))}},
			{4, []step{update("Task", "state")}},
		},
	},
	{
		name: "library", keptFromTuning: true,
		model: `
Writer 600 *writer_id:uuid name:text born:date/90
Book 3000 *isbn:text title:text pages:int/600 writer->Writer.books shelf->Shelf.books
Shelf 100 *shelf_id:uuid floor:int/5
Reader 2500 *card:bigint name:text mail:text guardian->Reader.wards?0.6
Loan 8000 *loan_id:uuid lent:timestamp book->Book.loans reader->Reader.loans
Wish 4000 *reader->Reader.wishes *book->Book.wishes`,
		normal: `
writers(Writer): writer_id | | name born
books(Book): isbn | | title pages writer_id=writer shelf_id=shelf
books_by_writer(Book): writer_id=writer | isbn
shelves(Shelf): shelf_id | | floor
readers(Reader): card | | name mail guardian_card=guardian
loans(Loan): card=reader | -lent loan_id | isbn=book
wishes(Wish): card=reader | isbn=book`,
		copied: `
writers(Writer): writer_id | | name born
books(Book): isbn | | title pages writer_id=writer shelf_id=shelf
works(Book): creator=writer | code=isbn | named=title length=pages
shelves(Shelf): shelf_id | | floor
readers(Reader): card | | name mail guardian_card=guardian
accounts(Reader): address=mail | | number=card called=name
loans(Loan): card=reader | -lent loan_id | isbn=book
history(Loan): volume=book | -day=lent id=loan_id | person=reader person_name=reader.name
wishes(Wish): card=reader | isbn=book
wanted(Wish): volume=book | person=reader`,
		pages: []page{
			{25, []step{get("Book").then(follow("writer").pick("name"), follow("shelf"))}},
			{20, []step{get("Reader").then(follow("guardian").pick("name", "mail"), list("loans").top(10).then(follow("book").pick("title").async()))}},
			{15, []step{get("Writer").then(list("books").then(follow("shelf").pick("floor")))}},
			{12, []step{get("Reader").pick("name").then(list("wishes").then(follow("book").pick("title", "pages").in()))}},
			{8, []step{insert("Loan").async()}},
			{5, []step{insert("Wish").batch()}},
			{4, []step{insert("Book")}},
			{3, []step{insert("Reader")}},
			{3, []step{update("Book", "title")}},
		},
	},
	{
		name: "clinic", keptFromTuning: true,
		model: `
Doctor 200 *doctor_id:uuid name:text field:text/20
Patient 3000 *patient_id:uuid name:text born:date/90 family->Doctor.patients
Visit 9000 *visit_id:timeuuid begun:timestamp reason:text patient->Patient.visits doctor->Doctor.visits
Drug 400 *drug_id:uuid label:text
Prescription 7000 *visit->Visit.prescriptions *drug->Drug.prescriptions dose:int/50
Referral 3000 *referral_id:uuid urgent:int/3 from->Doctor.sent to->Doctor.received patient->Patient.referrals`,
		normal: `
doctors(Doctor): doctor_id | | name field
patients(Patient): patient_id | | name born family_id=family
visits(Visit): patient_id=patient | -begun visit_id | reason doctor_id=doctor
drugs(Drug): drug_id | | label
prescriptions(Prescription): visit_id=visit | drug_id=drug | dose
referrals(Referral): to_id=to | referral_id | urgent from_id=from patient_id=patient`,
		copied: `
doctors(Doctor): doctor_id | | name field
patients(Patient): patient_id | | name born family_id=family
visits(Visit): patient_id=patient | -begun visit_id | reason doctor_id=doctor
agenda(Visit): physician=doctor | -hour=begun appointment=visit_id | cause=reason who=patient who_name=patient.name
drugs(Drug): drug_id | | label
prescriptions(Prescription): visit_id=visit | drug_id=drug | dose
given(Prescription): substance=drug | appointment=visit | amount=dose
referrals(Referral): to_id=to | referral_id | urgent from_id=from patient_id=patient
referred(Referral): origin=from | code=referral_id | rush=urgent target=to person=patient`,
		pages: []page{
			{25, []step{get("Patient").then(follow("family").pick("name"), list("visits").top(10).then(follow("doctor").pick("name", "field").async(), list("prescriptions").then(follow("drug").pick("label"))))}},
			{15, []step{get("Doctor").then(list("received").top(10).then(follow("from").pick("name"), follow("patient").pick("name", "born").async()))}},
			{10, []step{get("Drug")}},
			{8, []step{get("Patient").pick("name").then(insert("Visit").of("patient"))}},
			{5, []step{insert("Prescription")}},
			{4, []step{insert("Referral").batch()}},
			{2, []step{update("Patient", "name")}},
		},
	},
}
