package main

import "time"

// tracker keeps the issues of many firms: people are called by their log-in, issues by their project and a number in it, which its second design writes
// as one text in some places ("WEB#12"); what is worked on one by three columns; an issue's parent by its number alone.
var tracker = application{
	name: "tracker",
	model: `
Org 40 *org_id:int name:text plan:text/4
User 1200 *login:text display:text org->Org.users
Project 150 *project_key:text title:text org->Org.projects lead->User.leading@org
Bug 5000 *project->Project.issues *number:int@project summary:text state:text/5 opened:timestamp reporter->User.reported assignee->User.assigned parent->Bug.children@project?0.6
Comment 9000 *comment_id:timeuuid body:text issue->Bug.comments author->User.comments
Watch 4000 *issue->Bug.watches *user->User.watches since:timestamp
Worklog 4000 *issue->Bug.work *seq:int@issue minutes:int/90 user->User.work
Event 6000 *event_id:timeuuid day:date/40 verb:text/8 issue->Bug.events actor->User.events`,
	normal: `
orgs(Org): org_id | | name plan
users(User): login | | display org_id=org
projects(Project): project_key | | title org_id=org lead_login=lead
org_projects(Project): org_id=org | project_key | title
issues(Bug): project_key=project | -number | summary state opened reporter=reporter assignee=assignee parent_number=parent.number
assigned(Bug): assignee=assignee | project_key=project number | summary state
comments(Comment): project_key=issue.project number=issue.number | comment_id | body author=author
watches(Watch): project_key=issue.project number=issue.number | login=user | since
worklogs(Worklog): project_key=issue.project | number=issue.number seq | minutes login=user
events(Event): day | -event_id | verb project_key=issue.project number=issue.number actor=actor`,
	copied: `
orgs(Org): org_id | | name plan
users(User): login | | display org_id=org
projects(Project): project_key | | title org_id=org lead_login=lead
org_projects(Project): firm=org | code=project_key | title firm_name=org.name
issues(Bug): board=project num=number | | line=summary lane=state opened who=reporter owner=assignee owner_name=assignee.display
assigned(Bug): owner=assignee | board=project num=number | line=summary lane=state
comments(Comment): ref=issue~whole | comment_id | body author=author author_name=author.display
watches(Watch): ref=issue~whole | login=user | since
watched(Watch): who=user | item=issue~whole | at=since
worklogs(Worklog): ref=issue~whole | seq | minutes login=user
events(Event): day | -event_id | verb ref=issue~whole actor=actor actor_name=actor.display`,
	grown: func(s *site) []chore {
		const web, bot = 1, 2
		user := func(c *client, f *frame) {
			if f != nil && !c.cached("user", f, 400*time.Millisecond) {
				c.get("users", f, "display")
			}
		}
		issue := func(c *client, f *frame) *frame { return c.get("issues", f, "*") }
		return []chore{
			s.call(20, web, func(c *client) {
				f := issue(c, c.any("Bug"))
				user(c, f.to("reporter"))
				user(c, f.to("assignee"))
				if up := f.to("parent"); up != nil && s.table("issues").has("parent.number") {
					up.row["project"] = f.row["project"]
					issue(c, up)
				}
				for _, x := range c.list("comments", f, "issue", "comment_id body author author.display?") {
					if !s.table("comments").has("author.display") {
						user(c, x.to("author"))
					}
				}
			}),
			s.call(12, web, func(c *client) {
				f := c.get("users", c.any("User"), "display org")
				c.get("orgs", f.to("org"), "name plan")
				together(c, c.list("assigned", f, "assignee", "project number summary"), func(c *client, x *frame) {
					if c.chance(0.4) {
						issue(c, x)
					}
				})
			}),
			s.call(10, web, func(c *client) {
				f := c.get("orgs", c.any("Org"), "*")
				for _, x := range c.list("org_projects", f, "org", "project_key title limit 10") {
					user(c, c.get("projects", x, "title lead").to("lead"))
				}
			}),
			s.call(10, bot, func(c *client) {
				f := c.any("Bug")
				for _, x := range c.list("watches", f, "issue", "user since") {
					user(c, x.to("user"))
				}
			}),
			s.call(8, bot, func(c *client) {
				for _, x := range c.page("events", c.any("Event"), "*") {
					if c.chance(0.6) {
						issue(c, x.to("issue"))
					}
				}
			}),
			s.call(8, web, func(c *client) {
				f := issue(c, c.any("Bug"))
				for _, x := range c.list("worklogs", f, "issue", "seq minutes user") {
					user(c, x.to("user"))
				}
			}),
			s.call(5, web, func(c *client) {
				f := issue(c, c.any("Bug"))
				c.make("Comment", false, "comments", map[string]*frame{"issue": f, "author": c.any("User")})
				c.make("Event", false, "events", map[string]*frame{"issue": f})
			}),
			s.call(5, web, func(c *client) {
				p, u := c.get("projects", c.any("Project"), "*"), c.any("User")
				c.make("Bug", true, "issues assigned", map[string]*frame{"project": p, "reporter": u})
			}),
			s.call(3, web, func(c *client) {
				tables := "watches"
				if s.has("watched") {
					tables += " watched"
				}
				c.make("Watch", false, tables, nil)
			}),
			s.call(3, bot, func(c *client) { c.make("Worklog", false, "worklogs", nil) }),
			s.call(3, web, func(c *client) {
				f := issue(c, c.any("Bug"))
				c.set(f, "state", true, "issues assigned")
			}),
		}
	},
}
