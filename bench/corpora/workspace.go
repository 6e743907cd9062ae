package main

import (
	"slices"
	"time"
)

// workspace is a service with many customers, whose id is the first of every key: documents in documents, people and who leads them, teams and
// their members from either side, activity by the week about this or that, and a collection of ids.
var workspace = application{
	name: "workspace",
	model: `
Tenant 40 *tenant_id:uuid company:text plan:text/3
Member 1500 *member_id:uuid name:text mail:text tenant->Tenant.members manager->Member.reports@tenant?0.1
Team 250 *team_id:uuid title:text tenant->Tenant.teams lead->Member.leading@tenant
Seat 3000 *team->Team.seats *member->Member.seats since:timestamp
Doc 4000 *doc_id:timeuuid title:text archived:boolean/2 body:text tenant->Tenant.docs owner->Member.docs@tenant parent->Doc.children@tenant?0.5
Comment 8000 *comment_id:timeuuid text:text doc->Doc.comments author->Member.comments
Activity 6000 *activity_id:timeuuid verb:text/9 week:int/12 target_type:text/2 target_id:uuid=Doc|Team tenant->Tenant.activity actor->Member.activity@tenant
Flag 200 *flag:text enabled:boolean/2 rollout:int/100
Setting 900 *owner->Member.settings *name:text/30 value:text`,
	normal: `
tenants(Tenant): tenant_id | | company plan
members(Member): tenant_id=tenant | member_id | name mail manager_id=manager led_teams=leading~set
member_logins(Member): login=mail~lower | | tenant_id=tenant member_id
teams(Team): tenant_id=tenant | team_id | title lead_id=lead
team_members(Seat): tenant_id=team.tenant team_id=team | member_id=member | since
teams_of_member(Seat): tenant_id=team.tenant member_id=member | team_id=team | since
docs(Doc): tenant_id=tenant | doc_id | title archived body owner_id=owner parent_id=parent
docs_by_owner(Doc): tenant_id=tenant owner_id=owner | -doc_id | title
doc_children(Doc): tenant_id=tenant parent_id=parent | doc_id | title
comments(Comment): tenant_id=doc.tenant doc_id=doc | -comment_id | text author_id=author author_name=author.name
activity(Activity): tenant_id=tenant week | -activity_id | verb actor_id=actor target_type target_id
flags(Flag): flag | | enabled rollout
settings(Setting): tenant_id=owner.tenant member_id=owner | name | value`,
	grown: func(s *site) []chore {
		const api, sync, job = 1, 2, 3
		tenant := func(f *frame) cond { // whose session it is
			if f.e.edge("tenant") == nil {
				panic("corpora: " + f.e.name + " has no tenant") // a mistake in a corpus
			}
			return is("tenant", f, "tenant")
		}
		member := func(c *client, f *frame) *frame {
			if f == nil || c.cached("member", f, 600*time.Millisecond) {
				return nil
			}
			return c.one("members", "name mail manager leading~set", f, tenant(f), is("member_id", f, "member_id"))
		}
		doc := func(c *client, f *frame) *frame { return c.one("docs", "*", f, tenant(f), is("doc_id", f, "doc_id")) }
		session := func(c *client, f *frame) {
			v, _ := f.e.value(f.i, "tenant")
			t := &frame{e: s.w.entity("Tenant"), i: v.n}
			if !c.cached("tenant", t, 150*time.Millisecond) {
				c.one("tenants", "company plan", t, is("tenant_id", t, "tenant_id"))
			}
		}
		log := func(c *client, actor *frame) {
			c.make("Activity", false, "activity", map[string]*frame{"actor": actor, "tenant": {e: s.w.entity("Tenant"), i: actor.e.edge("tenant").target[actor.i]}})
		}
		under := func(path string, f *frame, role string) cond { // the tenant of a partner
			v, _ := f.to(role).e.value(f.to(role).i, "tenant")
			return cond{path, []bound{{datum: v}}}
		}
		seats := func(c *client, label, pick string, list []int, by cond, role string) []*frame {
			if len(list) == 0 {
				return nil
			}
			of := under("team.tenant", &frame{e: s.w.entity("Seat"), i: list[0]}, role)
			list = slices.DeleteFunc(slices.Clone(list), func(i int) bool { // a member's seats with other customers have another partition
				return under("", &frame{e: s.w.entity("Seat"), i: i}, role).to[0].datum != of.to[0].datum
			})
			return c.find(label, pick, list, 0, of, by)
		}
		return []chore{
			s.call(20, api, func(c *client) {
				f := c.any("Doc")
				session(c, f)
				f = doc(c, f)
				member(c, f.to("owner"))
				if up := f.to("parent"); up != nil && c.chance(0.7) {
					doc(c, up)
				}
				list := f.many(s.w, "comments")
				if len(list) > 0 {
					for _, x := range c.find("comments", "comment_id text author limit 10", list, 0, under("doc.tenant", &frame{e: s.w.entity("Comment"), i: list[0]}, "doc"), is("doc", f, "doc_id")) {
						member(c, x.to("author"))
					}
				}
			}),
			s.call(10, api, func(c *client) {
				f := c.any("Member")
				session(c, f)
				f = c.one("member_logins", "tenant member_id", f, is("mail~lower", f, "mail"))
				f = c.one("members", "*", f, tenant(f), is("member_id", f, "member_id"))
				if up := f.to("manager"); up != nil {
					member(c, up)
				}
				if list := f.many(s.w, "docs"); len(list) > 0 {
					docs := c.find("docs_by_owner", "doc_id title limit 10", list, 0, tenant(f), is("owner", f, "member_id"))
					together(c, docs, func(c *client, x *frame) {
						if c.chance(0.3) {
							x.row["tenant"] = f.row["tenant"]
							doc(c, x)
						}
					})
				}
			}),
			s.call(10, api, func(c *client) {
				f := c.any("Team")
				session(c, f)
				f = c.one("teams", "*", f, tenant(f), is("team_id", f, "team_id"))
				member(c, f.to("lead"))
				together(c, seats(c, "team_members", "member since", f.many(s.w, "seats"), is("team", f, "team_id"), "team"), func(c *client, x *frame) { member(c, x.to("member")) })
			}),
			s.call(8, sync, func(c *client) {
				f := c.any("Member")
				list := seats(c, "teams_of_member", "team since", f.many(s.w, "seats"), is("member", f, "member_id"), "team")
				together(c, list, func(c *client, x *frame) {
					x = x.to("team")
					c.one("teams", "title lead", x, tenant(x), is("team_id", x, "team_id"))
				})
			}),
			s.call(8, sync, func(c *client) {
				f := c.any("Doc")
				if list := f.many(s.w, "children"); len(list) > 0 {
					for _, x := range c.find("doc_children", "doc_id title", list, 0, tenant(f), is("parent", f, "doc_id")) {
						if c.chance(0.6) {
							doc(c, x)
						}
					}
				}
			}),
			s.call(5, sync, func(c *client) {
				f := c.any("Activity")
				v, _ := f.e.value(f.i, "tenant")
				week, _ := f.e.value(f.i, "week")
				var rows []int
				for _, i := range s.w.entity("Activity").edge("tenant").inverse[v.n] {
					if w, _ := f.e.value(i, "week"); w == week && len(rows) < 25 {
						rows = append(rows, i)
					}
				}
				for _, x := range c.find("activity", "activity_id verb actor target_type target_id", rows, 0, tenant(f), is("week", f, "week")) {
					member(c, x.to("actor"))
					if id, _ := x.e.value(x.i, "target_id"); id.of.name == "Doc" && c.chance(0.5) {
						d := &frame{e: id.of, i: id.n, row: map[string]origin{"doc_id": x.row["target_id"]}}
						c.one("docs", "title", d, tenant(d), is("doc_id", d, "doc_id"))
					}
				}
			}),
			s.call(6, api, func(c *client) {
				f := c.any("Setting")
				m := f.to("owner")
				c.find("settings", "name value", s.w.backwards(m.e, "settings").inverse[m.i], 0, under("owner.tenant", f, "owner"), is("owner", m, "member_id"))
				x := c.any("Flag")
				c.one("flags", "enabled rollout", x, is("flag", x, "flag"))
			}),
			s.call(6, api, func(c *client) {
				f := doc(c, c.any("Doc"))
				m := c.any("Member")
				c.make("Comment", false, "comments", map[string]*frame{"doc": f, "author": m})
				log(c, m)
			}),
			s.call(4, api, func(c *client) {
				m := c.any("Member")
				m = c.one("members", "name mail manager leading~set", m, tenant(m), is("member_id", m, "member_id"))
				t := &frame{e: s.w.entity("Tenant"), i: m.e.edge("tenant").target[m.i]}
				c.make("Doc", true, "docs docs_by_owner", map[string]*frame{"owner": m, "tenant": t})
				log(c, m)
			}),
			s.call(3, sync, func(c *client) {
				c.make("Seat", false, "team_members teams_of_member", nil)
			}),
			s.call(2, api, func(c *client) {
				f := c.any("Doc")
				f = doc(c, f)
				c.set(f, "archived", false, "docs")
			}),
			s.call(1, job, func(c *client) { // all members of a customer, read for a report
				t := c.any("Tenant")
				list := s.w.entity("Member").edge("tenant").inverse[t.i]
				c.find("members", "*", list[:min(len(list), 90)], 30, is("tenant", t, "tenant_id"))
			}),
		}
	},
}
