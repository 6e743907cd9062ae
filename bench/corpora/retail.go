package main

import "time"

// retail is shops of a region, shelves of a shop and slots of a shelf, each numbered in what it is of, four tables deep; receipts of lines which keep what a product was
// called and did cost on that day; prices as they changed.
var retail = application{
	name: "retail",
	model: `
Region 12 *region:text manager:text
Store 150 *region->Region.stores *store_no:int@region city:text/60
Shelf 1800 *store->Store.shelves *shelf_no:int@store aisle:int/9
Slot 8000 *shelf->Shelf.slots *slot_no:int@shelf capacity:int/40 product->Product.slots
Product 1000 *sku:text title:text
Price 4000 *product->Product.prices *valid_from:timestamp@product amount:int/900
Receipt 5000 *receipt_id:uuid printed:timestamp total:int/4000 store->Store.receipts
Line 12000 *receipt->Receipt.lines *line_no:int@receipt quantity:int/9 paid:int/900 product->Product.sold
Count 3000 *count_id:timeuuid amount:int/40 slot->Slot.counts`,
	normal: `
regions(Region): region | | manager
stores(Store): region=region | store_no | city
shelves(Shelf): region=store.region store_no=store.store_no | shelf_no | aisle
slots(Slot): region=shelf.store.region store_no=shelf.store.store_no shelf_no=shelf.shelf_no | slot_no | capacity sku=product
slots_by_product(Slot): sku=product | region=shelf.store.region store_no=shelf.store.store_no shelf_no=shelf.shelf_no slot_no
products(Product): sku | | title
prices(Price): sku=product | -valid_from | amount
receipts(Receipt): receipt_id | | printed total region=store.region store_no=store.store_no
receipt_lines(Line): receipt_id=receipt | line_no | quantity paid sku=product title=product.title
counts(Count): region=slot.shelf.store.region store_no=slot.shelf.store.store_no | -count_id | amount shelf_no=slot.shelf.shelf_no slot_no=slot.slot_no`,
	grown: func(s *site) []chore {
		const till, floor, office = 1, 2, 3
		product := func(c *client, f *frame) {
			if !c.cached("product", f, 300*time.Millisecond) {
				c.get("products", f, "title")
			}
		}
		return []chore{
			s.call(14, office, func(c *client) {
				f := c.get("regions", c.any("Region"), "*")
				for _, x := range c.list("stores", f, "region", "store_no city limit 8") {
					if c.chance(0.5) {
						c.list("shelves", x, "store", "shelf_no aisle")
					}
				}
			}),
			s.call(14, floor, func(c *client) {
				f := c.get("shelves", c.any("Shelf"), "*")
				for _, x := range c.list("slots", f, "shelf", "slot_no capacity product") {
					product(c, x.to("product"))
				}
			}),
			s.call(14, till, func(c *client) {
				f := c.get("products", c.any("Product"), "*")
				c.list("prices", f, "product", "valid_from amount limit 1")
				for _, x := range c.list("slots_by_product", f, "product", "* limit 5") {
					c.get("slots", x, "capacity")
				}
			}),
			s.call(12, till, func(c *client) {
				f := c.get("receipts", c.any("Receipt"), "*")
				c.get("stores", f.to("store"), "city")
				for _, x := range c.list("receipt_lines", f, "receipt", "*") {
					if c.chance(0.3) {
						c.list("prices", x.to("product"), "product", "valid_from amount limit 3")
					}
				}
			}),
			s.call(6, floor, func(c *client) {
				for _, x := range c.page("counts", c.any("Count"), "* limit 10") {
					if c.chance(0.5) {
						c.get("slots", x.to("slot"), "capacity product")
					}
				}
			}),
			s.call(8, till, func(c *client) {
				r := c.make("Receipt", false, "receipts", nil)
				for range 3 {
					p := c.get("products", c.any("Product"), "*")
					c.make("Line", false, "receipt_lines", map[string]*frame{"receipt": r, "product": p})
				}
			}),
			s.call(3, floor, func(c *client) { c.make("Count", false, "counts", nil) }),
			s.call(2, office, func(c *client) { c.make("Price", false, "prices", nil) }),
		}
	},
}
