package main

import "time"

// access says who may do what: people in groups, groups with roles, roles with permissions, each from both sides; e-mail addresses and telephone numbers that are
// claimed by a transaction; sessions, keys of machines, and what was refused by the day.
var access = application{
	name: "access",
	model: `
Account 2000 *account_id:uuid email:text phone:text state:text/3
Group 200 *group_id:uuid label:text parent->Group.children?0.3
Role 60 *role:text label:text
Permission 150 *permission:text about:text
Membership 5000 *account->Account.memberships *group->Group.members since:timestamp
Grant 900 *group->Group.grants *role->Role.groups
Holding 700 *role->Role.permissions *permission->Permission.roles
Session 4000 *session_token:text agent:text/30 started:timestamp account->Account.sessions
ApiKey 500 *key_hash:text label:text owner->Account.keys role->Role.keys
Refusal 4000 *refusal_id:timeuuid day:date/30 account->Account.refusals permission->Permission.refusals`,
	normal: `
accounts(Account): account_id | | email phone state
accounts_by_email(Account): email | | account_id
accounts_by_phone(Account): phone | | account_id state
groups(Group): group_id | | label parent_id=parent
roles(Role): role | | label
permissions(Permission): permission | | about
group_members(Membership): group_id=group | account_id=account | since
account_groups(Membership): account_id=account | group_id=group
group_roles(Grant): group_id=group | role=role
role_groups(Grant): role=role | group_id=group
role_permissions(Holding): role=role | permission=permission
permission_roles(Holding): permission=permission | role=role
sessions(Session): session_token | | agent started account_id=account
account_sessions(Session): account_id=account | session_token | agent
api_keys(ApiKey): key_hash | | label owner_id=owner role=role
refusals(Refusal): day | -refusal_id | account_id=account permission=permission`,
	grown: func(s *site) []chore {
		const api, admin = 1, 2
		account := func(c *client, f *frame) {
			if !c.cached("account", f, 200*time.Millisecond) {
				c.get("accounts", f, "email state")
			}
		}
		permissions := func(c *client, f *frame) { // of a role
			if !c.cached("role", f, 100*time.Millisecond) {
				c.list("role_permissions", f, "role", "permission")
			}
		}
		return []chore{
			s.call(24, api, func(c *client) { // may it?
				x := c.get("sessions", c.any("Session"), "account started")
				a := x.to("account")
				for _, m := range c.list("account_groups", a, "account", "group limit 5") {
					for _, g := range c.list("group_roles", m.to("group"), "group", "role") {
						permissions(c, g.to("role"))
					}
				}
			}),
			s.call(8, api, func(c *client) {
				f := c.get("api_keys", c.any("ApiKey"), "*")
				permissions(c, f.to("role"))
				account(c, f.to("owner"))
			}),
			s.call(10, api, func(c *client) { // a log-in
				f := c.any("Account")
				if c.chance(0.7) {
					f = c.get("accounts_by_email", f, "account_id")
				} else {
					f = c.get("accounts_by_phone", f, "account_id")
				}
				f = c.get("accounts", f, "*")
				c.make("Session", true, "sessions account_sessions", map[string]*frame{"account": f})
			}),
			s.call(10, admin, func(c *client) {
				f := c.get("groups", c.any("Group"), "*")
				if up := f.to("parent"); up != nil {
					c.get("groups", up, "label")
				}
				together(c, c.list("group_members", f, "group", "account since limit 12"), func(c *client, x *frame) { account(c, x.to("account")) })
			}),
			s.call(6, admin, func(c *client) {
				f := c.get("roles", c.any("Role"), "*")
				for _, x := range c.list("role_permissions", f, "role", "permission") {
					c.get("permissions", x.to("permission"), "about")
				}
				for _, x := range c.list("role_groups", f, "role", "group limit 6") {
					c.get("groups", x.to("group"), "label")
				}
			}),
			s.call(3, admin, func(c *client) {
				f := c.get("permissions", c.any("Permission"), "*")
				c.list("permission_roles", f, "permission", "role")
			}),
			s.call(5, admin, func(c *client) {
				for _, x := range c.page("refusals", c.any("Refusal"), "refusal_id account permission limit 15") {
					account(c, x.to("account"))
				}
			}),
			s.call(4, api, func(c *client) { c.make("Refusal", false, "refusals", nil) }),
			s.call(3, api, func(c *client) { c.make("Membership", true, "group_members account_groups", nil) }),
			s.call(1, admin, func(c *client) { c.make("Grant", true, "group_roles role_groups", nil) }),
			s.call(1, admin, func(c *client) { c.make("Holding", true, "role_permissions permission_roles", nil) }),
			s.call(2, api, func(c *client) {
				c.make("Account", false, "accounts_by_email accounts_by_phone accounts", nil)
			}),
		}
	},
}
