package main

import (
	"fmt"
	"strings"
	"time"
)

// codes is an enterprise's system: a hundred tables of codes, called by one scheme, that are numbered from one on each and kept by caches, and a few tables which say of an
// item what it is by a number in many of these.
var codes = application{
	name: "codes", model: codesModel(), normal: codesTables(),
	grown: func(s *site) []chore {
		const app, batch = 1, 2
		code := func(c *client, f *frame, keep time.Duration) {
			if label := "lkp_" + strings.ToLower(f.e.name); !c.cached(label, f, keep) {
				c.get(label, f, "name")
			}
		}
		return []chore{
			s.call(20, app, func(c *client) {
				f := c.get("itm_item", c.any("Item"), "*")
				c.get("org_unit", f.to("unit"), "name")
				for _, r := range f.e.edges[1:] {
					if c.chance(0.15) {
						code(c, f.to(r.name), 200*time.Millisecond)
					}
				}
			}),
			s.call(12, app, func(c *client) {
				f := c.get("org_unit", c.any("Unit"), "*")
				for _, x := range c.list("itm_item_by_unit", f, "unit", "item_id title limit 10") {
					if c.chance(0.4) {
						c.list("itm_movement", x, "item", "movement_id amount reason limit 5")
					}
				}
			}),
			s.call(8, app, func(c *client) {
				f := c.any("Item")
				for _, x := range c.list("itm_movement", f, "item", "movement_id amount reason limit 5") {
					c.get("lkp_c00", x.to("reason"), "name")
				}
			}),
			s.call(6, batch, func(c *client) { c.make("Movement", false, "itm_movement", nil) }),
			s.call(3, app, func(c *client) {
				c.make("Item", true, "itm_item itm_item_by_unit", map[string]*frame{"unit": c.any("Unit")})
			}),
			s.call(0.5, batch, func(c *client) { // a cache is filled
				e := s.w.entity(fmt.Sprintf("C%02d", c.s.random.IntN(codeTables)))
				rows := make([]int, e.count)
				for i := range rows {
					rows[i] = i
				}
				c.find("lkp_"+strings.ToLower(e.name), "code_id name", rows, 0)
			}),
		}
	},
}

const codeTables = 80

func codesModel() string {
	var b strings.Builder
	b.WriteString("Unit 300 *unit_id:int name:text\nItem 4000 *item_id:int title:text unit->Unit.items")
	for i := range 16 {
		fmt.Fprintf(&b, " k%02d->C%02d.items", i, i+1)
	}
	b.WriteString("\nMovement 7000 *movement_id:timeuuid amount:int/90 item->Item.movements reason->C00.movements\n")
	for i := range codeTables {
		fmt.Fprintf(&b, "C%02d %d *code_id:int name:text\n", i, 4+i*7%30)
	}
	return b.String()
}

func codesTables() string {
	var b strings.Builder
	b.WriteString("org_unit(Unit): unit_id | | name\nitm_item(Item): item_id | | title unit_id=unit")
	for i := range 16 {
		fmt.Fprintf(&b, " c%02d_id=k%02d", i+1, i)
	}
	b.WriteString("\nitm_item_by_unit(Item): unit_id=unit | item_id | title\nitm_movement(Movement): item_id=item | -movement_id | amount reason_c00_id=reason\n")
	for i := range codeTables {
		fmt.Fprintf(&b, "lkp_c%02d(C%02d): code_id | | name\n", i, i)
	}
	return b.String()
}
