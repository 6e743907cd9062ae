package main

import "time"

// payroll is people who work: numbers from one on for nearly all (emp_no, unit_no, job_no, slip_no ...), abbreviations, a tree of units, who is whose boss and who stands in for whom; slips by person and
// month with lines that are numbered in them; what was earned from when on; hours by the week with the person's name in a static column; files of a person or a project; skills and projects from both sides.
var payroll = application{
	name: "payroll",
	model: `
Unit 120 *unit_no:int caption:text heads:counter/300 parent->Unit.children?0.1
Job 80 *job_no:int caption:text grade:int/12
Site 15 *site_cd:text town:text/12
Emp 1600 *emp_no:int fname:text lname:text/900 hired:date/700 unit->Unit.staff job->Job.staff boss->Emp.reports?0.05 stand_in->Emp.replaces?0.3 site->Site.staff
Account 1500 *login:text mail:text locked:boolean/2 emp->Emp.accounts
Role 12 *role_cd:text caption:text
Grant 2600 *account->Account.roles *role->Role.accounts
Slip 7000 *emp->Emp.slips *yyyymm:int@emp gross:int/900 net:int/900
SlipLine 12000 *slip->Slip.lines *line_no:int@slip amount:int/500 kind->PayKind.lines
PayKind 40 *kind_cd:text caption:text
Salary 3000 *emp->Emp.salaries *valid_from:date@emp amount:int/900
Leave 3500 *leave_id:uuid since:date/300 days:int/20 status:text/4 emp->Emp.leaves approver->Emp.approved
Project 300 *prj_no:int caption:text lead->Emp.leads unit->Unit.projects
Assignment 3000 *project->Project.team *emp->Emp.projects share:int/10
Hours 9000 *emp->Emp.hours *day:date@emp week:int<day/7 minutes:int/480 project->Project.hours
Skill 150 *skill_no:int caption:text
Knows 4000 *emp->Emp.skills *skill->Skill.people level:int/5
Punch 9000 *punch_id:timeuuid day:date<punch_id/150 direction:text/2 emp->Emp.punches site->Site.punches
File 2500 *file_no:bigint owner_kind:text/2 owner_no:int=Emp|Project path:text
Notice 4000 *notice_id:timeuuid body:text read:boolean/2 account->Account.notices
Change 6000 *change_id:timeuuid month:int<change_id/600 what:text/9 account->Account.changes`,
	normal: `
org_units(Unit): unit_no | | caption parent_no=parent
org_units_by_parent(Unit): parent_no=parent | unit_no | caption
jobs(Job): job_no | | caption grade
sites(Site): site_cd | | town
emps(Emp): emp_no | | fname lname hired unit_no=unit job_no=job boss_no=boss stand_in_no=stand_in site_cd=site
emps_by_unit(Emp): unit_no=unit | lname emp_no | fname job_caption=job.caption
emps_by_boss(Emp): boss_no=boss | emp_no | fname lname
accounts(Account): login | | mail locked emp_no=emp
accounts_by_emp(Account): emp_no=emp | login
roles(Role): role_cd | | caption
account_roles(Grant): login=account | role_cd=role
pay_kinds(PayKind): kind_cd | | caption
slips(Slip): emp_no=emp | -yyyymm | gross net
slip_lines(SlipLine): emp_no=slip.emp yyyymm=slip.yyyymm | line_no | amount kind_cd=kind
salaries(Salary): emp_no=emp | -valid_from | amount
leaves(Leave): leave_id | | since days status emp_no=emp approver_no=approver
leaves_by_emp(Leave): emp_no=emp | -since leave_id | days status
projects(Project): prj_no | | caption lead_no=lead unit_no=unit
project_team(Assignment): prj_no=project | emp_no=emp | share lname=emp.lname
projects_by_emp(Assignment): emp_no=emp | prj_no=project | share prj_caption=project.caption
hours(Hours): emp_no=emp week | day | minutes prj_no=project !lname=emp.lname
skills(Skill): skill_no | | caption
emp_skills(Knows): emp_no=emp | skill_no=skill | level
skill_emps(Knows): skill_no=skill | emp_no=emp | level
punches_by_site(Punch): site_cd=site day | -punch_id | emp_no=emp direction
punches_by_emp(Punch): emp_no=emp | -punch_id | site_cd=site direction
files(File): owner_kind owner_no | file_no | path
notices(Notice): login=account | -notice_id | body read
changes(Change): login=account month | -change_id | what
unit_stats(Unit): unit_no | | heads`,
	grown: func(s *site) []chore {
		const web, job, clock = 1, 2, 3
		emp := func(c *client, f *frame) *frame { return c.get("emps", f, "fname lname unit") }
		return []chore{
			s.call(14, web, func(c *client) {
				f := c.get("accounts", c.any("Account"), "*")
				c.list("account_roles", f, "account", "role")
				f = c.get("emps", f.to("emp"), "*")
				c.get("org_units", f.to("unit"), "caption")
				if !c.cached("job", f.to("job"), 80*time.Millisecond) {
					c.get("jobs", f.to("job"), "caption")
				}
				if x := f.to("boss"); x != nil {
					emp(c, x)
				}
			}),
			s.call(10, web, func(c *client) {
				f := c.get("org_units", c.any("Unit"), "*")
				c.get("unit_stats", f, "heads")
				c.list("org_units_by_parent", f, "parent", "unit_no caption")
				for _, x := range c.list("emps_by_unit", f, "unit", "lname emp_no fname job.caption limit 8") {
					if c.chance(0.4) {
						c.get("emps", x, "hired job boss")
					}
				}
			}),
			s.call(10, web, func(c *client) {
				f := c.get("projects", c.any("Project"), "*")
				emp(c, f.to("lead"))
				for _, x := range c.list("project_team", f, "project", "emp share emp.lname") {
					if c.chance(0.5) {
						emp(c, x.to("emp"))
					}
				}
			}),
			s.call(8, web, func(c *client) {
				f := emp(c, c.any("Emp"))
				for _, x := range c.list("projects_by_emp", f, "emp", "project share project.caption") {
					if c.chance(0.6) {
						c.get("projects", x.to("project"), "caption lead")
					}
				}
				for _, x := range c.list("emp_skills", f, "emp", "skill level") {
					c.get("skills", x.to("skill"), "caption")
				}
			}),
			s.call(5, web, func(c *client) {
				f := c.get("skills", c.any("Skill"), "caption")
				for _, x := range c.list("skill_emps", f, "skill", "emp level limit 6") {
					emp(c, x.to("emp"))
				}
			}),
			s.call(10, web, func(c *client) {
				f := c.any("Emp")
				for _, x := range c.list("slips", f, "emp", "yyyymm gross net limit 3") {
					if c.chance(0.5) {
						for _, y := range c.list("slip_lines", x, "slip", "line_no amount kind") {
							if !c.cached("kind", y.to("kind"), 60*time.Millisecond) {
								c.get("pay_kinds", y.to("kind"), "caption")
							}
						}
					}
				}
				c.list("salaries", f, "emp", "valid_from amount limit 3")
			}),
			s.call(8, web, func(c *client) {
				f := emp(c, c.any("Emp"))
				for _, x := range c.list("leaves_by_emp", f, "emp", "since leave_id days status limit 4") {
					if c.chance(0.6) {
						y := c.get("leaves", x, "*")
						emp(c, y.to("approver"))
					}
				}
				for _, x := range c.list("hours", f, "emp", "day minutes project emp.lname") {
					c.get("projects", x.to("project"), "caption")
				}
			}),
			s.call(5, clock, func(c *client) {
				f := c.get("sites", c.any("Site"), "town")
				for _, x := range c.list("punches_by_site", f, "site", "punch_id emp direction limit 8") {
					emp(c, x.to("emp"))
				}
			}),
			s.call(4, web, func(c *client) {
				f := c.get("emps", c.any("Emp"), "lname site stand_in")
				c.list("punches_by_emp", f, "emp", "punch_id site direction limit 5")
				c.get("sites", f.to("site"), "town")
				if x := f.to("stand_in"); x != nil {
					emp(c, x)
				}
				for _, x := range c.list("emps_by_boss", f, "boss", "emp_no fname lname limit 6") {
					if c.chance(0.3) {
						c.list("accounts_by_emp", x, "emp", "login")
					}
				}
			}),
			s.call(4, web, func(c *client) {
				f := c.any("Account")
				c.list("notices", f, "account", "notice_id body read limit 10")
				c.list("changes", f, "account", "change_id what limit 10")
			}),
			s.call(3, web, func(c *client) { c.page("files", c.any("File"), "file_no path") }),
			s.call(3, web, func(c *client) {
				c.get("roles", c.any("Role"), "caption")
			}),
			s.call(6, clock, func(c *client) { c.make("Punch", true, "punches_by_site punches_by_emp", nil) }),
			s.call(4, web, func(c *client) { c.make("Hours", false, "hours", nil) }),
			s.call(2, web, func(c *client) { c.make("Leave", true, "leaves leaves_by_emp", nil) }),
			s.call(3, web, func(c *client) { c.make("Notice", false, "notices", nil) }),
			s.call(3, web, func(c *client) { c.make("Change", false, "changes", nil) }),
			s.call(2, job, func(c *client) { c.make("Assignment", true, "project_team projects_by_emp", nil) }),
			s.call(1, job, func(c *client) { c.make("Emp", true, "emps emps_by_unit emps_by_boss", nil) }),
			s.call(2, job, func(c *client) { c.increment("unit_stats", c.any("Unit")) }),
			s.call(2, web, func(c *client) { c.set(c.any("Leave"), "status", true, "leaves leaves_by_emp") }),
			s.call(2, job, func(c *client) {
				c.get("pay_kinds", c.any("PayKind"), "caption")
			}),
		}
	},
}
