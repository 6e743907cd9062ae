package main

import (
	"testing"
	"time"
)

// Four schemas as developers lay them out every day.

// javashop has names that run together, in lower case, and a prefix on every table; integers from 1 on are keys of all. In its second design each table calls its own key id.
var javashop = application{
	name: "javashop",
	model: `
Customer 1500 *customerid:bigint customername:text email:text createdate:timestamp
Address 2200 *addressid:bigint street:text city:text/80 customer->Customer.addresses
Category 40 *categoryid:int categoryname:text parent->Category.children?0.3
Product 800 *productid:bigint productname:text unitprice:int/400 category->Category.products
Order 4000 *orderid:bigint orderdate:timestamp orderstatus:text/5 customer->Customer.orders shipto->Address.shipped billto->Address.billed
OrderLine 9000 *order->Order.lines *lineno:int@order qty:int/9 product->Product.lines
Payment 3500 *paymentid:bigint amount:int/900 order->Order.payments
Employee 60 *employeeid:int employeename:text manager->Employee.reports?0.1
Shipment 3000 *shipmentid:bigint trackingno:text order->Order.shipments packer->Employee.packed`,
	normal: `
tblcustomer(Customer): customerid | | customername email createdate
tblcustomerbyemail(Customer): email | | customerid
tbladdress(Address): addressid | | street city customerid=customer
tbladdressbycustomer(Address): customerid=customer | addressid | city
tblcategory(Category): categoryid | | categoryname parentid=parent
tblproduct(Product): productid | | productname unitprice categoryid=category
tblproductbycategory(Product): categoryid=category | productid | productname
tblorder(Order): orderid | | orderdate orderstatus customerid=customer shipaddressid=shipto billaddressid=billto
tblorderbycustomer(Order): customerid=customer | -orderdate orderid | orderstatus
tblorderline(OrderLine): orderid=order | lineno | qty productid=product
tblpayment(Payment): orderid=order | paymentid | amount
tblemployee(Employee): employeeid | | employeename managerid=manager
tblshipment(Shipment): shipmentid | | trackingno orderid=order packedby=packer
tblshipmentbyorder(Shipment): orderid=order | shipmentid`,
	copied: `
tblcustomer(Customer): id=customerid | | customername email createdate
tblcustomerbyemail(Customer): email | | id=customerid customername
tbladdress(Address): id=addressid | | street city customerid=customer
tbladdressbycustomer(Address): customerid=customer | id=addressid | street city
tblcategory(Category): id=categoryid | | categoryname parentid=parent
tblproduct(Product): id=productid | | productname unitprice categoryid=category categoryname=category.categoryname
tblproductbycategory(Product): categoryid=category | id=productid | productname unitprice
tblorder(Order): id=orderid | | orderdate orderstatus customerid=customer customername=customer.customername shipaddressid=shipto billaddressid=billto
tblorderbycustomer(Order): customerid=customer | -orderdate id=orderid | orderstatus
tblorderline(OrderLine): orderid=order | lineno | qty productid=product productname=product.productname
tblpayment(Payment): orderid=order | id=paymentid | amount
tblemployee(Employee): id=employeeid | | employeename managerid=manager
tblshipment(Shipment): id=shipmentid | | trackingno orderid=order packedby=packer packedbyname=packer.employeename
tblshipmentbyorder(Shipment): orderid=order | id=shipmentid | trackingno`,
	grown: func(s *site) []chore {
		const web, back = 1, 2
		return []chore{
			s.call(14, web, func(c *client) {
				f := c.get("tblcustomerbyemail", c.any("Customer"), "customerid")
				f = c.get("tblcustomer", f, "*")
				c.list("tbladdressbycustomer", f, "customer", "addressid city")
				c.list("tblorderbycustomer", f, "customer", "orderdate orderid orderstatus limit 10")
			}),
			s.call(16, web, func(c *client) {
				f := c.get("tblorder", c.any("Order"), "*")
				if !s.table("tblorder").has("customer.customername") {
					c.get("tblcustomer", f.to("customer"), "customername email")
				}
				c.get("tbladdress", f.to("shipto"), "*")
				if c.chance(0.5) {
					c.get("tbladdress", f.to("billto"), "*")
				}
				for _, x := range c.list("tblorderline", f, "order", "*") {
					if !s.table("tblorderline").has("product.productname") {
						c.get("tblproduct", x.to("product"), "productname unitprice")
					}
				}
				c.list("tblpayment", f, "order", "*")
			}),
			s.call(12, web, func(c *client) {
				f := c.get("tblcategory", c.any("Category"), "*")
				if p := f.to("parent"); p != nil {
					c.get("tblcategory", p, "categoryname")
				}
				for _, x := range c.list("tblproductbycategory", f, "category", "* limit 8") {
					if c.chance(0.5) {
						c.get("tblproduct", x, "*")
					}
				}
			}),
			s.call(8, back, func(c *client) {
				f := c.any("Order")
				for _, x := range c.list("tblshipmentbyorder", f, "order", "shipmentid") {
					x = c.get("tblshipment", x, "*")
					if !s.table("tblshipment").has("packer.employeename") {
						c.get("tblemployee", x.to("packer"), "employeename")
					}
				}
			}),
			s.call(4, back, func(c *client) {
				f := c.get("tblemployee", c.any("Employee"), "*")
				if m := f.to("manager"); m != nil {
					c.get("tblemployee", m, "employeename")
				}
			}),
			s.call(4, web, func(c *client) {
				o := c.make("Order", true, "tblorder tblorderbycustomer", map[string]*frame{"customer": c.get("tblcustomer", c.any("Customer"), "*")})
				for range 2 {
					c.make("OrderLine", false, "tblorderline", map[string]*frame{"order": o, "product": c.get("tblproduct", c.any("Product"), "*")})
				}
			}),
			s.call(4, back, func(c *client) { c.make("Payment", false, "tblpayment", map[string]*frame{"order": c.any("Order")}) }),
			s.call(3, back, func(c *client) { c.make("Shipment", false, "tblshipment tblshipmentbyorder", nil) }),
			s.call(3, back, func(c *client) { c.set(c.any("Order"), "orderstatus", false, "tblorder tblorderbycustomer") }),
			s.call(2, web, func(c *client) { c.make("Address", true, "tbladdress tbladdressbycustomer", nil) }),
			s.call(1, web, func(c *client) { c.make("Customer", true, "tblcustomer tblcustomerbyemail", nil) }),
		}
	},
}

// djangoshop is tables that are called after apps, and whose keys are all called id: numbers without an end, which do not meet.
var djangoshop = application{
	name: "djangoshop",
	model: `
User 1500 *id:bigint+710000000 username:text email:text bio:text avatar:text
Group 30 *id:bigint+120000000 name:text
UserGroup 2500 *user->User.groups *group->Group.users
Category 40 *id:bigint+220000000 name:text slug:text
Product 900 *id:bigint+330000000 name:text price:int/400 slug:text category->Category.products
Cart 2500 *id:bigint+440000000 created:timestamp status:text/3 user->User.carts
CartItem 6000 *id:bigint+550000000 quantity:int/9 cart->Cart.items product->Product.items
Review 4000 *id:bigint+660000000 body:text stars:int/5 product->Product.reviews user->User.reviews`,
	normal: `
accounts_user(User): id | | username email
accounts_user_by_username(User): username | | id
accounts_profile(User): user_id=id | | bio avatar
accounts_group(Group): id | | name
accounts_user_groups(UserGroup): user_id=user | group_id=group
shop_category(Category): id | | name slug
shop_product(Product): id | | name price slug category_id=category
shop_product_by_category(Product): category_id=category | id | name
shop_cart(Cart): id | | created status user_id=user
shop_cart_by_user(Cart): user_id=user | -id | status
shop_cartitem(CartItem): cart_id=cart | id | quantity product_id=product
shop_review(Review): product_id=product | -id | body stars user_id=user
shop_review_by_user(Review): user_id=user | -id | product_id=product stars`,
	copied: `
accounts_user(User): id | | username email
accounts_user_by_username(User): username | | id email
accounts_profile(User): user_id=id | | bio avatar
accounts_group(Group): id | | name
accounts_user_groups(UserGroup): user_id=user | group_id=group
shop_category(Category): id | | name slug
shop_product(Product): id | | name price slug category_id=category category_name=category.name
shop_product_by_category(Product): category_id=category | id | name price
shop_product_by_slug(Product): slug | | id name price
shop_cart(Cart): id | | created status user_id=user
shop_cart_by_user(Cart): user_id=user | -id | status
shop_cartitem(CartItem): cart_id=cart | id | quantity product_id=product product_name=product.name
shop_review(Review): product_id=product | -id | body stars user_id=user username=user.username
shop_review_by_user(Review): user_id=user | -id | product_id=product stars product_name=product.name`,
	grown: func(s *site) []chore {
		const web, api = 1, 2
		return []chore{
			s.call(14, web, func(c *client) {
				f := c.get("accounts_user_by_username", c.any("User"), "id")
				f = c.get("accounts_user", f, "*")
				c.get("accounts_profile", f, "*")
				for _, x := range c.list("accounts_user_groups", f, "user", "group") {
					c.get("accounts_group", x.to("group"), "name")
				}
			}),
			s.call(14, web, func(c *client) {
				f := c.get("shop_category", c.any("Category"), "*")
				for _, x := range c.list("shop_product_by_category", f, "category", "* limit 8") {
					if c.chance(0.4) {
						c.get("shop_product", x, "*")
					}
				}
			}),
			s.call(14, web, func(c *client) {
				f := c.get("shop_product", c.any("Product"), "*")
				if !s.table("shop_product").has("category.name") {
					c.get("shop_category", f.to("category"), "name")
				}
				for _, x := range c.list("shop_review", f, "product", "* limit 6") {
					if !s.table("shop_review").has("user.username") {
						c.get("accounts_user", x.to("user"), "username")
					}
				}
			}),
			s.call(12, web, func(c *client) {
				f := c.get("shop_cart", c.any("Cart"), "*")
				c.get("accounts_user", f.to("user"), "username email")
				for _, x := range c.list("shop_cartitem", f, "cart", "*") {
					if !s.table("shop_cartitem").has("product.name") {
						c.get("shop_product", x.to("product"), "name price")
					}
				}
			}),
			s.call(8, api, func(c *client) {
				f := c.get("accounts_user", c.any("User"), "username")
				for _, x := range c.list("shop_cart_by_user", f, "user", "id status limit 5") {
					if c.chance(0.5) {
						c.list("shop_cartitem", x, "cart", "*")
					}
				}
				for _, x := range c.list("shop_review_by_user", f, "user", "* limit 5") {
					if !s.table("shop_review_by_user").has("product.name") {
						c.get("shop_product", x.to("product"), "name price")
					}
				}
			}),
			s.call(4, web, func(c *client) {
				if s.has("shop_product_by_slug") {
					f := c.get("shop_product_by_slug", c.any("Product"), "*")
					c.get("shop_product", f, "*")
				}
			}),
			s.call(5, web, func(c *client) {
				p := c.get("shop_product", c.any("Product"), "*")
				c.make("CartItem", false, "shop_cartitem", map[string]*frame{"product": p, "cart": c.any("Cart")})
			}),
			s.call(4, web, func(c *client) { c.make("Review", true, "shop_review shop_review_by_user", nil) }),
			s.call(3, web, func(c *client) { c.make("Cart", true, "shop_cart shop_cart_by_user", nil) }),
			s.call(2, web, func(c *client) { c.make("User", true, "accounts_user accounts_user_by_username accounts_profile", nil) }),
			s.call(2, api, func(c *client) { c.make("UserGroup", false, "accounts_user_groups", nil) }),
			s.call(2, web, func(c *client) { c.set(c.any("User"), "bio", false, "accounts_profile") }),
			s.call(3, web, func(c *client) { c.set(c.any("Cart"), "status", false, "shop_cart shop_cart_by_user") }),
		}
	},
}

// textkeys calls all by texts, and keeps what was: prices, states, who did what, and what users have set.
var textkeys = application{
	name: "textkeys",
	model: `
Country 60 *code:text name:text currency:text/20
Category 40 *slug:text label:text
Product 800 *sku:text title:text category->Category.products
Customer 1500 *email:text fullname:text country->Country.customers
Staff 40 *username:text fullname:text
Order 3000 *order_no:text status:text/6 placed:timestamp customer->Customer.orders
Line 7000 *order->Order.lines *product->Product.lines quantity:int/9
Price 4000 *product->Product.prices *changed_at:timestamp@product price:int/900 by->Staff.prices
Status 7000 *order->Order.statuses *changed_at:timestamp@order status:text/6 by->Staff.statuses
Audit 7000 *audit_id:timeuuid day:date<audit_id/200 action:text/12 staff->Staff.audits
Setting 5000 *customer->Customer.settings *setting_key:text@customer value:text/30`,
	normal: `
countries(Country): code | | name currency
categories(Category): slug | | label
products(Product): sku | | title category_slug=category
products_by_category(Product): category_slug=category | sku
customers(Customer): email | | fullname country_code=country
staff(Staff): username | | fullname
orders(Order): order_no | | status placed email=customer
orders_by_customer(Order): email=customer | -placed order_no
order_lines(Line): order_no=order | sku=product | quantity
price_history(Price): sku=product | -changed_at | price changed_by=by
status_history(Status): order_no=order | -changed_at | status changed_by=by
audit_by_user(Audit): username=staff | -audit_id | action
audit_by_day(Audit): day | -audit_id | action username=staff
settings(Setting): email=customer | setting_key | value`,
	copied: `
countries(Country): code | | name currency
categories(Category): slug | | label
products(Product): sku | | title category_slug=category category_label=category.label
products_by_category(Product): category_slug=category | sku | title
customers(Customer): email | | fullname country_code=country country_name=country.name
staff(Staff): username | | fullname
orders(Order): order_no | | status placed email=customer customer_name=customer.fullname
orders_by_customer(Order): email=customer | -placed order_no | status
orders_by_status(Order): status | -placed order_no | email=customer
order_lines(Line): order_no=order | sku=product | quantity title=product.title
price_history(Price): sku=product | -changed_at | price changed_by=by
status_history(Status): order_no=order | -changed_at | status changed_by=by
audit_by_user(Audit): username=staff | -audit_id | action
audit_by_day(Audit): day | -audit_id | action username=staff
settings(Setting): email=customer | setting_key | value`,
	grown: func(s *site) []chore {
		const web, office = 1, 2
		return []chore{
			s.call(14, web, func(c *client) {
				f := c.get("customers", c.any("Customer"), "*")
				if !s.table("customers").has("country.name") {
					c.get("countries", f.to("country"), "name currency")
				}
				c.list("settings", f, "customer", "setting_key value")
				for _, x := range c.list("orders_by_customer", f, "customer", "* limit 6") {
					if c.chance(0.5) {
						c.get("orders", x, "*")
					}
				}
			}),
			s.call(14, web, func(c *client) {
				f := c.get("orders", c.any("Order"), "*")
				if !s.table("orders").has("customer.fullname") {
					c.get("customers", f.to("customer"), "fullname country")
				}
				for _, x := range c.list("order_lines", f, "order", "*") {
					if !s.table("order_lines").has("product.title") {
						c.get("products", x.to("product"), "title")
					}
				}
				c.list("status_history", f, "order", "* limit 5")
			}),
			s.call(12, web, func(c *client) {
				f := c.get("categories", c.any("Category"), "*")
				for _, x := range c.list("products_by_category", f, "category", "* limit 8") {
					if c.chance(0.5) {
						c.get("products", x, "*")
					}
				}
			}),
			s.call(10, web, func(c *client) {
				f := c.get("products", c.any("Product"), "*")
				if !s.table("products").has("category.label") {
					c.get("categories", f.to("category"), "label")
				}
				c.list("price_history", f, "product", "changed_at price limit 1")
			}),
			s.call(6, office, func(c *client) {
				f := c.any("Product")
				for _, x := range c.list("price_history", f, "product", "*") {
					c.get("staff", x.to("by"), "fullname")
				}
			}),
			s.call(6, office, func(c *client) {
				f := c.get("staff", c.any("Staff"), "*")
				c.list("audit_by_user", f, "staff", "* limit 10")
			}),
			s.call(5, office, func(c *client) {
				for _, x := range c.page("audit_by_day", c.any("Audit"), "* limit 10") {
					c.get("staff", x.to("staff"), "fullname")
				}
			}),
			s.call(4, office, func(c *client) {
				if s.has("orders_by_status") {
					for _, x := range c.page("orders_by_status", c.any("Order"), "* limit 10") {
						c.get("orders", x, "*")
					}
				}
			}),
			s.call(5, office, func(c *client) { c.make("Audit", true, "audit_by_user audit_by_day", nil) }),
			s.call(3, office, func(c *client) { c.make("Price", false, "price_history", nil) }),
			s.call(4, office, func(c *client) {
				o := c.get("orders", c.any("Order"), "*")
				c.make("Status", false, "status_history", map[string]*frame{"order": o})
				if !s.has("orders_by_status") {
					c.set(o, "status", false, "orders")
				}
			}),
			s.call(3, web, func(c *client) {
				tables := "orders orders_by_customer"
				if s.has("orders_by_status") {
					tables += " orders_by_status"
				}
				o := c.make("Order", true, tables, map[string]*frame{"customer": c.get("customers", c.any("Customer"), "*")})
				c.make("Line", false, "order_lines", map[string]*frame{"order": o, "product": c.get("products", c.any("Product"), "*")})
			}),
			s.call(3, web, func(c *client) { c.make("Setting", false, "settings", nil) }),
		}
	},
}

// iot is what devices measure, by the device and the day; alarms by the site and by the device; visits by the device and by the technician; and counters.
var iot = application{
	name: "iot",
	model: `
Site 60 *site_id:uuid name:text city:text/30
Firmware 15 *version:text released:timestamp
Device 900 *device_id:uuid model:text/12 site->Site.devices firmware->Firmware.devices
Reading 12000 *device->Device.readings *reading_time:timeuuid@device day:date<reading_time/8 temperature:int/500 humidity:int/100
Alarm 3500 *alarm_id:timeuuid month:text<alarm_id/400 severity:text/4 message:text/40 site->Site.alarms device->Device.alarms@site
Technician 80 *technician_id:uuid name:text phone:text
Visit 3000 *visit_id:timeuuid month:text<visit_id/400 notes:text/90 device->Device.visits technician->Technician.visits
DeviceDay 5000 *device->Device.days *day:date@device readings:counter
SiteDay 1500 *site->Site.days *day:date@site alarms:counter`,
	normal: `
sites(Site): site_id | | name city
firmware(Firmware): version | | released
devices(Device): device_id | | model site_id=site firmware_version=firmware
devices_by_site(Device): site_id=site | device_id
readings(Reading): device_id=device day | -reading_time | temperature humidity
alarms_by_site(Alarm): site_id=site month | -alarm_id | severity message device_id=device
alarms_by_device(Alarm): device_id=device | -alarm_id | severity
technicians(Technician): technician_id | | name phone
visits_by_device(Visit): device_id=device | -visit_id | notes technician_id=technician
visits_by_technician(Visit): technician_id=technician month | -visit_id | device_id=device
reading_counts(DeviceDay): device_id=device | day | readings
alarm_counts(SiteDay): site_id=site | day | alarms`,
	copied: `
sites(Site): site_id | | name city
firmware(Firmware): version | | released
devices(Device): device_id | | model site_id=site site_name=site.name firmware_version=firmware
devices_by_site(Device): site_id=site | device_id | model
readings(Reading): device_id=device day | -reading_time | temperature humidity
alarms_by_site(Alarm): site_id=site month | -alarm_id | severity message device_id=device model=device.model
alarms_by_device(Alarm): device_id=device | -alarm_id | severity message
technicians(Technician): technician_id | | name phone
visits_by_device(Visit): device_id=device | -visit_id | notes technician_id=technician technician_name=technician.name
visits_by_technician(Visit): technician_id=technician month | -visit_id | device_id=device notes
reading_counts(DeviceDay): device_id=device | day | readings
alarm_counts(SiteDay): site_id=site | day | alarms`,
	grown: func(s *site) []chore {
		const web, ingest, field = 1, 2, 3
		return []chore{
			s.call(14, web, func(c *client) {
				f := c.get("sites", c.any("Site"), "*")
				together(c, c.list("devices_by_site", f, "site", "* limit 8"), func(c *client, x *frame) {
					if !s.table("devices_by_site").has("model") {
						c.get("devices", x, "*")
					}
				})
				c.list("alarm_counts", f, "site", "* limit 7")
			}),
			s.call(14, web, func(c *client) {
				f := c.get("devices", c.any("Device"), "*")
				if !s.table("devices").has("site.name") {
					c.get("sites", f.to("site"), "name")
				}
				if !c.cached("firmware", f.to("firmware"), 200*time.Millisecond) {
					c.get("firmware", f.to("firmware"), "*")
				}
				c.list("readings", f, "device", "* limit 20")
				c.list("alarms_by_device", f, "device", "* limit 5")
				c.list("reading_counts", f, "device", "* limit 7")
			}),
			s.call(12, web, func(c *client) {
				f := c.get("sites", c.any("Site"), "name")
				for _, x := range c.list("alarms_by_site", f, "site", "* limit 8") {
					if !s.table("alarms_by_site").has("device.model") {
						c.get("devices", x.to("device"), "model")
					}
				}
			}),
			s.call(8, field, func(c *client) {
				f := c.get("technicians", c.any("Technician"), "*")
				for _, x := range c.list("visits_by_technician", f, "technician", "* limit 8") {
					c.get("devices", x.to("device"), "*")
				}
			}),
			s.call(8, field, func(c *client) {
				f := c.get("devices", c.any("Device"), "*")
				for _, x := range c.list("visits_by_device", f, "device", "* limit 8") {
					if !s.table("visits_by_device").has("technician.name") {
						c.get("technicians", x.to("technician"), "name phone")
					}
				}
			}),
			s.call(14, ingest, func(c *client) {
				d := c.any("Device")
				c.make("Reading", false, "readings", map[string]*frame{"device": d})
				c.increment("reading_counts", c.any("DeviceDay"))
			}),
			s.call(4, ingest, func(c *client) {
				c.make("Alarm", true, "alarms_by_site alarms_by_device", nil)
				c.increment("alarm_counts", c.any("SiteDay"))
			}),
			s.call(3, field, func(c *client) { c.make("Visit", true, "visits_by_device visits_by_technician", nil) }),
			s.call(1, web, func(c *client) { c.make("Device", true, "devices devices_by_site", nil) }),
		}
	},
}

// TestEverydaySchemasAreUnderstood: nothing false is said of them, and little is missing: who packed a shipment says nothing of who that is where the name is kept beside.
func TestEverydaySchemasAreUnderstood(t *testing.T) {
	for _, app := range []*application{&javashop, &djangoshop, &textkeys, &iot} {
		for _, design := range []string{"grown", "grown, copied"} {
			v := variant{app, design, false, 8, 1}
			s, err := v.observe().judge()
			if err != nil {
				t.Fatalf("%s: %v", v, err)
			}
			if s.byTables.f1() < 1 || s.relationships.right < s.relationships.found || s.relationships.recall() < 0.9 || s.used.recall() < 1 {
				t.Errorf("%s: %s\n%v", v, s, s.notes)
			}
		}
	}
}
