package main

import (
	"strings"
	"testing"
)

// Plain schemas as they are everywhere, with plain names.

// erp has areas, whose tables begin with the area's name, and in every table a key called id.
var erp = application{
	name: "erp",
	model: `
Company 600 *id:uuid name:text country:text/30
Contact 1800 *id:uuid name:text email:text company->Company.contacts
Deal 2500 *id:uuid title:text amount:int/900 state:text/5 company->Company.deals owner->Employee.deals
Department 30 *id:uuid name:text
Employee 500 *id:uuid name:text email:text department->Department.employees manager->Employee.reports?0.1
Leave 2500 *id:uuid since:date/300 days:int/20 employee->Employee.leaves
Invoice 4000 *id:uuid number:text total:int/900 issued:timestamp company->Company.invoices
Line 9000 *id:uuid quantity:int/20 invoice->Invoice.lines product->Product.lines
Product 900 *id:uuid sku:text name:text price:int/500
Warehouse 15 *id:uuid name:text city:text/10
Movement 6000 *id:timeuuid quantity:int/50 product->Product.movements warehouse->Warehouse.movements`,
	normal: `
crm_companies(Company): id | | name country
crm_contacts(Contact): id | | name email company_id=company
crm_contacts_by_company(Contact): company_id=company | id
crm_deals(Deal): id | | title amount state company_id=company owner_id=owner
crm_deals_by_company(Deal): company_id=company | id
hr_departments(Department): id | | name
hr_employees(Employee): id | | name email department_id=department manager_id=manager ; index=email
hr_employees_by_department(Employee): department_id=department | id
hr_leaves(Leave): employee_id=employee | id | since days
billing_invoices(Invoice): id | | number total issued company_id=company
billing_invoices_by_company(Invoice): company_id=company | id
billing_invoice_lines(Line): invoice_id=invoice | id | quantity product_id=product
stock_products(Product): id | | sku name price
stock_warehouses(Warehouse): id | | name city
stock_movements(Movement): product_id=product | -id | quantity warehouse_id=warehouse`,
	copied: `
crm_companies(Company): id | | name country
crm_contacts(Contact): id | | name email company_id=company company_name=company.name
crm_contacts_by_company(Contact): company_id=company | id | name email
crm_deals(Deal): id | | title amount state company_id=company company_name=company.name owner_id=owner owner_name=owner.name
crm_deals_by_company(Deal): company_id=company | id | title amount state
crm_deals_by_owner(Deal): owner_id=owner | id | title amount company_id=company company_name=company.name
hr_departments(Department): id | | name
hr_employees(Employee): id | | name email department_id=department manager_id=manager
hr_employees_by_email(Employee): email | | id name
hr_employees_by_department(Employee): department_id=department | id | name email
hr_leaves(Leave): employee_id=employee | id | since days
billing_invoices(Invoice): id | | number total issued company_id=company company_name=company.name
billing_invoices_by_company(Invoice): company_id=company | id | number total
billing_invoice_lines(Line): invoice_id=invoice | id | quantity product_id=product product_name=product.name
stock_products(Product): id | | sku name price
stock_warehouses(Warehouse): id | | name city
stock_movements(Movement): product_id=product | -id | quantity warehouse_id=warehouse warehouse_name=warehouse.name`,
	pages: []page{
		{16, []step{get("Company").then(list("contacts").pick("name", "email").top(6), list("deals").top(5).pick("title", "state").then(follow("owner").pick("name")))}},
		{12, []step{get("Company").pick("name").then(list("invoices").top(8).pick("number", "total"))}},
		{16, []step{get("Invoice").then(follow("company").pick("name"), list("lines").then(follow("product").pick("name").async()))}},
		{8, []step{get("Deal").then(follow("company").pick("name"), follow("owner").pick("name"))}},
		{8, []step{get("Contact").then(follow("company").pick("name"))}},
		{8, []step{by("Employee", "email").then(follow("department").pick("name"), follow("manager").pick("name"), list("leaves").top(5))}},
		{5, []step{get("Department").then(list("employees").top(10).pick("name", "email"))}},
		{10, []step{get("Product").then(list("movements").top(8).then(follow("warehouse").pick("name")))}},
		{6, []step{insert("Movement")}},
		{4, []step{get("Invoice").pick("number").then(insert("Line").of("invoice"))}},
		{3, []step{insert("Invoice")}},
		{3, []step{insert("Deal")}},
		{2, []step{insert("Leave")}},
		{3, []step{update("Deal", "state")}},
		{2, []step{update("Product", "price")}},
	},
}

// erp2 has keys called after the table without its area, and areas with tables of like names.
var erp2 = application{
	name: "erp2",
	model: `
Customer 2000 *id:uuid name:text email:text
Billing 2500 *id:uuid street:text city:text/80 customer->Customer.billing
Shipping 3500 *id:uuid street:text city:text/80 customer->Customer.shipping
Invoice 5000 *id:uuid total:int/900 issued:timestamp customer->Customer.invoices address->Billing.invoices
Shipment 5000 *id:uuid weight:int/90 sent:timestamp invoice->Invoice.shipments address->Shipping.shipments carrier->Carrier.shipments
Carrier 12 *id:uuid name:text
Employee 300 *id:uuid name:text email:text
Remark 4000 *id:timeuuid body:text customer->Customer.notes author->Employee.remarks
Note 1500 *id:timeuuid body:text employee->Employee.notes author->Employee.written`,
	normal: `
crm_customers(Customer): customer_id=id | | name email
crm_notes(Remark): customer_id=customer | -note_id=id | body author_id=author
billing_addresses(Billing): address_id=id | | street city customer_id=customer
billing_addresses_by_customer(Billing): customer_id=customer | address_id=id
shipping_addresses(Shipping): address_id=id | | street city customer_id=customer
shipping_addresses_by_customer(Shipping): customer_id=customer | address_id=id
billing_invoices(Invoice): invoice_id=id | | total issued customer_id=customer address_id=address
billing_invoices_by_customer(Invoice): customer_id=customer | invoice_id=id
shipping_shipments(Shipment): shipment_id=id | | weight sent invoice_id=invoice address_id=address carrier_id=carrier
shipping_shipments_by_invoice(Shipment): invoice_id=invoice | shipment_id=id
shipping_carriers(Carrier): carrier_id=id | | name
hr_employees(Employee): employee_id=id | | name email
hr_notes(Note): employee_id=employee | -note_id=id | body author_id=author`,
	copied: `
crm_customers(Customer): customer_id=id | | name email
crm_notes(Remark): customer_id=customer | -note_id=id | body author_id=author author_name=author.name
billing_addresses(Billing): address_id=id | | street city customer_id=customer
billing_addresses_by_customer(Billing): customer_id=customer | address_id=id | street city
shipping_addresses(Shipping): address_id=id | | street city customer_id=customer
shipping_addresses_by_customer(Shipping): customer_id=customer | address_id=id | street city
billing_invoices(Invoice): invoice_id=id | | total issued customer_id=customer address_id=address city=address.city customer_name=customer.name
billing_invoices_by_customer(Invoice): customer_id=customer | invoice_id=id | total issued
shipping_shipments(Shipment): shipment_id=id | | weight sent invoice_id=invoice address_id=address city=address.city carrier_id=carrier carrier_name=carrier.name
shipping_shipments_by_invoice(Shipment): invoice_id=invoice | shipment_id=id | weight sent
shipping_carriers(Carrier): carrier_id=id | | name
hr_employees(Employee): employee_id=id | | name email
hr_notes(Note): employee_id=employee | -note_id=id | body author_id=author author_name=author.name`,
	pages: []page{
		{16, []step{get("Customer").then(list("billing").pick("street", "city"), list("shipping").pick("street", "city"))}},
		{14, []step{get("Customer").pick("name").then(list("notes").top(6).then(follow("author").pick("name")))}},
		{16, []step{get("Invoice").then(follow("customer").pick("name"), follow("address").pick("city"), list("shipments").pick("weight", "sent"))}},
		{14, []step{get("Shipment").then(follow("address").pick("city"), follow("carrier").pick("name"))}},
		{10, []step{get("Customer").pick("name").then(list("invoices").top(8).pick("total", "issued"))}},
		{8, []step{get("Employee").then(list("notes").top(6).then(follow("author").pick("name")))}},
		{4, []step{insert("Remark")}},
		{2, []step{insert("Note")}},
		{4, []step{insert("Invoice")}},
		{4, []step{insert("Shipment")}},
		{2, []step{insert("Shipping")}},
		{2, []step{update("Billing", "street")}},
	},
}

// things are called by things; keys after the whole table or its last word.
var things = application{
	name: "things",
	model: `
User 2500 *id:uuid name:text email:text
Role 30 *id:uuid label:text
UserRole 4000 *id:uuid granted:timestamp user->User.roles role->Role.users
RolePermission 400 *id:uuid action:text/120 role->Role.permissions
Item 2000 *id:uuid title:text about:text
ItemPrice 4000 *id:uuid amount:int/900 currency:text/5 item->Item.prices
ItemImage 6000 *id:uuid url:text position:int/6 item->Item.images
Order 5000 *id:uuid placed:timestamp state:text/5 user->User.orders
OrderItem 9000 *id:uuid quantity:int/9 order->Order.items item->Item.ordered price->ItemPrice.ordered`,
	normal: `
users(User): user_id=id | | name email ; index=email
roles(Role): role_id=id | | label
user_roles(UserRole): user_id=user | user_role_id=id | granted role_id=role
role_permissions(RolePermission): role_id=role | permission_id=id | action
items(Item): item_id=id | | title about
item_prices(ItemPrice): price_id=id | | amount currency item_id=item
item_prices_by_item(ItemPrice): item_id=item | price_id=id
item_images(ItemImage): item_id=item | image_id=id | url position
orders(Order): order_id=id | | placed state user_id=user
orders_by_user(Order): user_id=user | order_id=id
order_items(OrderItem): order_id=order | order_item_id=id | quantity item_id=item price_id=price`,
	copied: `
users(User): user_id=id | | name email
users_by_email(User): email | | user_id=id
roles(Role): role_id=id | | label
user_roles(UserRole): user_id=user | user_role_id=id | granted role_id=role role_label=role.label
role_permissions(RolePermission): role_id=role | permission_id=id | action
items(Item): item_id=id | | title about
item_prices(ItemPrice): price_id=id | | amount currency item_id=item
item_prices_by_item(ItemPrice): item_id=item | price_id=id | amount currency
item_images(ItemImage): item_id=item | image_id=id | url position
orders(Order): order_id=id | | placed state user_id=user user_name=user.name
orders_by_user(Order): user_id=user | order_id=id | placed state
order_items(OrderItem): order_id=order | order_item_id=id | quantity item_id=item item_title=item.title price_id=price amount=price.amount`,
	pages: thingPages,
}

var thingPages = []page{
	{18, []step{get("Item").then(list("prices").pick("amount", "currency"), list("images").top(4))}},
	{16, []step{get("Order").then(follow("user").pick("name"), list("items").then(follow("item").pick("title").async(), follow("price").pick("amount").async()))}},
	{12, []step{get("User").pick("name").then(list("roles").then(follow("role").pick("label"), follow("role").pick("label").then(list("permissions"))))}},
	{8, []step{by("User", "email").then(list("orders").top(6).pick("placed", "state"))}},
	{6, []step{get("Role").then(list("permissions").pick("action"))}},
	{5, []step{get("Order").pick("state").then(insert("OrderItem").of("order"))}},
	{4, []step{insert("Order")}},
	{3, []step{insert("ItemImage")}},
	{2, []step{insert("UserRole")}},
	{3, []step{update("Order", "state")}},
	{2, []step{insert("ItemPrice")}},
}

// things2 has all keys called after the last word: an order_item's is item_id, an item's too.
var things2 = application{
	name:  "things2",
	model: things.model,
	normal: `
users(User): user_id=id | | name email ; index=email
roles(Role): role_id=id | | label
user_roles(UserRole): role_id=id | | granted user_id=user role=role
user_roles_by_user(UserRole): user_id=user | role_id=id
role_permissions(RolePermission): role_id=role | permission_id=id | action
items(Item): item_id=id | | title about
item_prices(ItemPrice): price_id=id | | amount currency item_id=item
item_prices_by_item(ItemPrice): item_id=item | price_id=id
item_images(ItemImage): image_id=id | | url position item_id=item
item_images_by_item(ItemImage): item_id=item | image_id=id
orders(Order): order_id=id | | placed state user_id=user
orders_by_user(Order): user_id=user | order_id=id
order_items(OrderItem): order_id=order | item_id=id | quantity product_id=item price_id=price`,
	copied: `
users(User): user_id=id | | name email
users_by_email(User): email | | user_id=id
roles(Role): role_id=id | | label
user_roles(UserRole): user_role_id=id | | granted user_id=user role_id=role
user_roles_by_user(UserRole): user_id=user | user_role_id=id | role_id=role granted
role_permissions(RolePermission): role_permission_id=id | | action role_id=role
role_permissions_by_role(RolePermission): role_id=role | role_permission_id=id | action
items(Item): item_id=id | | title about
item_prices(ItemPrice): item_price_id=id | | amount currency item_id=item
item_prices_by_item(ItemPrice): item_id=item | item_price_id=id | amount currency
item_images(ItemImage): item_image_id=id | | url position item_id=item
item_images_by_item(ItemImage): item_id=item | item_image_id=id | url position
orders(Order): order_id=id | | placed state user_id=user
orders_by_user(Order): user_id=user | order_id=id | placed state
order_items(OrderItem): order_item_id=id | | quantity order_id=order item_id=item item_price_id=price
order_items_by_order(OrderItem): order_id=order | order_item_id=id | quantity item_id=item item_title=item.title item_price_id=price`,
	pages: thingPages,
}

// school numbers everything from 1 on, with keys of several columns, in singular.
var school = application{
	name: "school",
	model: `
Student 1500 *student_id:int name:text born:date/800
Teacher 90 *teacher_id:int name:text
Course 120 *course_id:int title:text
Room 60 *room_id:int seats:int/9
Class 500 *course->Course.classes *class_no:int@course year:int/4 teacher->Teacher.classes room->Room.classes
Enrolment 7000 *class->Class.enrolments *student->Student.enrolments since:date/100
Test 2000 *class->Class.tests *test_no:int@class topic:text
Mark 12000 *test->Test.marks *student->Student.marks points:int/15`,
	normal: `
student(Student): student_id | | name born
teacher(Teacher): teacher_id | | name
course(Course): course_id | | title
room(Room): room_id | | seats
class(Class): course_id=course | class_no | year teacher_id=teacher room_id=room
class_by_teacher(Class): teacher_id=teacher | course_id=course class_no
enrolment(Enrolment): course_id=class.course class_no=class.class_no | student_id=student | since
enrolment_by_student(Enrolment): student_id=student | course_id=class.course class_no=class.class_no
test(Test): course_id=class.course class_no=class.class_no | test_no | topic
mark(Mark): course_id=test.class.course class_no=test.class.class_no test_no=test.test_no | student_id=student | points
mark_by_student(Mark): student_id=student | course_id=test.class.course class_no=test.class.class_no test_no=test.test_no | points`,
	copied: `
student(Student): student_id | | name born
teacher(Teacher): teacher_id | | name
course(Course): course_id | | title
room(Room): room_id | | seats
class(Class): course_id=course | class_no | year teacher_id=teacher teacher_name=teacher.name room_id=room
class_by_teacher(Class): teacher_id=teacher | course_id=course class_no | course_title=course.title year
enrolment(Enrolment): course_id=class.course class_no=class.class_no | student_id=student | since student_name=student.name
enrolment_by_student(Enrolment): student_id=student | course_id=class.course class_no=class.class_no | since
test(Test): course_id=class.course class_no=class.class_no | test_no | topic
mark(Mark): course_id=test.class.course class_no=test.class.class_no test_no=test.test_no | student_id=student | points student_name=student.name
mark_by_student(Mark): student_id=student | course_id=test.class.course class_no=test.class.class_no test_no=test.test_no | points`,
	grown: func(s *site) []chore {
		return []chore{
			s.call(16, 1, func(c *client) {
				f := c.get("student", c.any("Student"), "*")
				for _, x := range c.list("enrolment_by_student", f, "student", "class.course class.class_no") {
					c.get("class", x.to("class"), "*")
					if c.chance(0.5) {
						c.get("course", x.to("class").to("course"), "title")
					}
				}
			}),
			s.call(12, 1, func(c *client) {
				f := c.get("class", c.any("Class"), "*")
				c.get("teacher", f.to("teacher"), "name")
				c.get("room", f.to("room"), "seats")
				for _, x := range c.list("enrolment", f, "class", "student since student.name?") {
					if !s.table("enrolment").has("student.name") {
						c.get("student", x.to("student"), "name")
					}
				}
			}),
			s.call(8, 1, func(c *client) {
				f := c.get("course", c.any("Course"), "*")
				c.list("class", f, "course", "class_no year limit 8")
			}),
			s.call(8, 1, func(c *client) {
				f := c.get("teacher", c.any("Teacher"), "*")
				for _, x := range c.list("class_by_teacher", f, "teacher", "course class_no limit 8") {
					c.get("course", x.to("course"), "title")
				}
			}),
			s.call(10, 1, func(c *client) {
				f := c.any("Class")
				for _, x := range c.list("test", f, "class", "test_no topic limit 4") {
					c.list("mark", x, "test", "student points")
				}
			}),
			s.call(8, 1, func(c *client) {
				f := c.get("student", c.any("Student"), "name")
				c.list("mark_by_student", f, "student", "test.class.course test.class.class_no test.test_no points limit 20")
			}),
			s.call(5, 1, func(c *client) { c.make("Mark", true, "mark mark_by_student", nil) }),
			s.call(3, 1, func(c *client) { c.make("Enrolment", true, "enrolment enrolment_by_student", nil) }),
			s.call(2, 1, func(c *client) { c.make("Student", false, "student", nil) }),
		}
	},
}

// school2 is the same, plainer: every class has a number.
var school2 = application{
	name: "school2",
	model: `
Student 1500 *id:int name:text born:date/800
Teacher 90 *id:int name:text
Course 120 *id:int title:text
Class 500 *id:int year:int/4 course->Course.classes teacher->Teacher.classes
Enrolment 7000 *class->Class.enrolments *student->Student.enrolments since:date/100
Mark 9000 *student->Student.marks *course->Course.marks points:int/15`,
	normal: `
student(Student): id | | name born
teacher(Teacher): id | | name
course(Course): id | | title
class(Class): id | | year course_id=course teacher_id=teacher
class_by_teacher(Class): teacher_id=teacher | class_id=id
class_by_course(Class): course_id=course | class_id=id
enrolment(Enrolment): class_id=class | student_id=student | since
enrolment_by_student(Enrolment): student_id=student | class_id=class
mark(Mark): student_id=student | course_id=course | points`,
	copied: `
student(Student): id | | name born
teacher(Teacher): id | | name
course(Course): id | | title
class(Class): id | | year course_id=course teacher_id=teacher teacher_name=teacher.name
class_by_teacher(Class): teacher_id=teacher | class_id=id | year
class_by_course(Class): course_id=course | class_id=id | year teacher_id=teacher
enrolment(Enrolment): class_id=class | student_id=student | since student_name=student.name
enrolment_by_student(Enrolment): student_id=student | class_id=class | since
mark(Mark): student_id=student | course_id=course | points course_title=course.title`,
	pages: []page{
		{16, []step{get("Student").then(list("enrolments").then(follow("class").then(follow("course").pick("title"))))}},
		{12, []step{get("Class").then(follow("teacher").pick("name"), list("enrolments").then(follow("student").pick("name").async()))}},
		{8, []step{get("Course").then(list("classes").top(8).pick("year"))}},
		{8, []step{get("Teacher").then(list("classes").top(8).pick("year"))}},
		{10, []step{get("Student").pick("name").then(list("marks").then(follow("course").pick("title")))}},
		{4, []step{insert("Mark")}},
		{3, []step{insert("Enrolment")}},
		{2, []step{insert("Student")}},
	},
}

// TestPlainSchemasAreTrue: what everybody would see is seen, with little traffic, too. Numbers from 1 on say nothing of whose they are, so of those less is asked.
func TestPlainSchemasAreTrue(t *testing.T) {
	numbered := erp
	numbered.model = strings.ReplaceAll(numbered.model, "uuid", "int")
	for _, c := range []struct {
		app           application
		relationships float64 // recall, at least: who owns a deal no number says, of which no one is followed
	}{{erp, 1}, {erp2, 1}, {things, 1}, {things2, 1}, {school, 1}, {school2, 1}, {numbered, 0.8}} {
		c.app.says = 3000
		designs := []string{"normalised", "denormalised"}
		if c.app.grown != nil {
			designs = []string{"grown", "grown, copied"}
		}
		for _, design := range designs {
			v := variant{&c.app, design, false, 8, 1}
			s, err := v.observe().judge()
			if err != nil {
				t.Fatalf("%s: %v", v, err)
			}
			if s.byTables.f1() < 1 || s.relationships.precision() < 1 || s.relationships.recall() < c.relationships {
				t.Errorf("%s: %s\n%v", v, s, s.notes)
			}
		}
	}
}
