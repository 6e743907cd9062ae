package main

import "time"

// journal is accounts whose events are what is true: numbered in each, with snapshots at some of the numbers; what others read is projected from them. Numbers of
// accounts are claimed by a transaction.
var journal = application{
	name: "journal",
	model: `
Owner 800 *owner_id:uuid name:text
Account 1500 *account_id:uuid number:text balance:int/9999 status:text/4 version:int/40 owner->Owner.accounts
Event 11000 *account->Account.events *version:int@account kind:text/9 payload:text at:timestamp
Snapshot 2500 *account->Account.snapshots *at_version:int@account body:text
Command 5000 *command_id:uuid kind:text/5 state:text/3 account->Account.commands
Outbox 3000 *message_id:timeuuid shard:int/8 topic:text/5 body:text
Projector 6 *projector:text position:bigint`,
	normal: `
owners(Owner): owner_id | | name
events(Event): aggregate_id=account | version | kind payload at
snapshots(Snapshot): aggregate_id=account | -at_version | body
account_view(Account): account_id | | number balance status version owner_id=owner
accounts_by_owner(Account): owner_id=owner | account_id | balance status
account_numbers(Account): number | | account_id
accounts_by_status(Account): status | account_id | balance
commands(Command): command_id | | kind state account_id=account
outbox(Outbox): shard | message_id | topic body
projectors(Projector): projector | | position`,
	grown: func(s *site) []chore {
		const api, project, relay = 1, 2, 3
		return []chore{
			s.call(16, api, func(c *client) { // a command: what is, then what happens
				a := c.any("Account")
				k := c.make("Command", false, "commands", map[string]*frame{"account": a})
				c.list("snapshots", a, "account", "at_version body limit 1")
				c.list("events", a, "account", "version kind payload")
				c.make("Event", false, "events", map[string]*frame{"account": a})
				c.make("Outbox", false, "outbox", nil)
				c.set(k, "state", false, "commands")
			}),
			s.call(14, api, func(c *client) {
				f := c.get("owners", c.any("Owner"), "*")
				for _, x := range c.list("accounts_by_owner", f, "owner", "account_id balance status") {
					if c.chance(0.5) {
						c.get("account_view", x, "*")
					}
				}
			}),
			s.call(10, api, func(c *client) {
				f := c.get("account_numbers", c.any("Account"), "account_id")
				f = c.get("account_view", f, "*")
				c.get("owners", f.to("owner"), "name")
			}),
			s.call(8, api, func(c *client) {
				f := c.get("commands", c.any("Command"), "*")
				c.get("account_view", f.to("account"), "balance version")
			}),
			s.call(8, project, func(c *client) {
				p := c.any("Projector")
				p = c.get("projectors", p, "position")
				a := c.any("Account")
				c.set(a, "balance", true, "account_view accounts_by_owner accounts_by_status")
				c.set(p, "position", false, "projectors")
			}),
			s.call(6, relay, func(c *client) { c.page("outbox", c.any("Outbox"), "message_id topic body limit 20") }),
			s.call(4, api, func(c *client) {
				for _, x := range c.page("accounts_by_status", c.any("Account"), "account_id balance limit 10") {
					if !c.cached("account", x, 200*time.Millisecond) {
						c.get("account_view", x, "*")
					}
				}
			}),
			s.call(3, api, func(c *client) {
				c.make("Account", false, "account_numbers account_view accounts_by_owner accounts_by_status", map[string]*frame{"owner": c.any("Owner")})
			}),
			s.call(2, project, func(c *client) { c.make("Snapshot", false, "snapshots", nil) }),
		}
	},
}
