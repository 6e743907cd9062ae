package main

import "time"

// ledger is a bank: accounts are numbered by their branch, transfers lead from one to another, by two columns each, or by one text each; what is booked on one
// is numbered there.
var ledger = application{
	name: "ledger",
	model: `
Branch 60 *branch_no:int city:text
Holder 2000 *holder_id:uuid name:text mail:text branch->Branch.holders
Account 3000 *branch->Branch.accounts *account_no:int@branch kind:text/4 opened:timestamp owner->Holder.accounts
Card 2500 *pan:text credit:int/50 account->Account.cards holder->Holder.cards
Transfer 8000 *transfer_id:timeuuid amount:int/900 booked:timestamp note:text from->Account.outgoing to->Account.incoming
Entry 9000 *account->Account.entries *seq:int@account amount:int/900 transfer->Transfer.entries
Standing 1500 *order_id:uuid amount:int/300 from->Account.paying to->Account.paid`,
	normal: `
branches(Branch): branch_no | | city
holders(Holder): holder_id | | name mail branch_no=branch
accounts(Account): branch_no=branch | account_no | kind opened holder_id=owner
holder_accounts(Account): holder_id=owner | branch_no=branch account_no | kind
cards(Card): pan | | credit branch_no=account.branch account_no=account.account_no holder_id=holder
transfers(Transfer): transfer_id | | amount booked note from_branch=from.branch from_account=from.account_no to_branch=to.branch to_account=to.account_no
booked(Entry): branch_no=account.branch account_no=account.account_no | -seq | amount transfer_id=transfer
standing(Standing): from_branch=from.branch from_account=from.account_no | order_id | amount to_branch=to.branch to_account=to.account_no`,
	copied: `
branches(Branch): branch_no | | city
holders(Holder): holder_id | | name mail branch_no=branch
accounts(Account): branch_no=branch account_no | | kind opened holder_id=owner
holder_accounts(Account): client=owner | office=branch num=account_no | type=kind
cards(Card): pan | | credit account=account~whole holder_id=holder holder_name=holder.name
transfers(Transfer): transfer_id | | amount booked note from_branch=from.branch from_account=from.account_no to_branch=to.branch to_account=to.account_no
outgoing(Transfer): payer=from~whole | -id=transfer_id | sum=amount payee=to~whole text=note
incoming(Transfer): payee=to~whole | -id=transfer_id | sum=amount payer=from~whole
booked(Entry): account=account~whole | -seq | amount transfer_id=transfer
standing(Standing): payer=from~whole | order_id | amount payee=to~whole`,
	grown: func(s *site) []chore {
		const web, atm, batch = 1, 2, 3
		holder := func(c *client, f *frame) {
			if !c.cached("holder", f, 300*time.Millisecond) {
				c.get("holders", f, "name mail")
			}
		}
		account := func(c *client, f *frame) *frame { return c.get("accounts", f, "*") }
		transfers := "transfers"
		if s.has("outgoing") {
			transfers += " outgoing incoming"
		}
		return []chore{
			s.call(14, web, func(c *client) {
				f := c.get("holders", c.any("Holder"), "*")
				c.get("branches", f.to("branch"), "city")
				for _, x := range c.list("holder_accounts", f, "owner", "branch account_no kind") {
					x = account(c, x)
					c.list("booked", x, "account", "seq amount transfer limit 10")
				}
			}),
			s.call(14, atm, func(c *client) {
				f := c.get("cards", c.any("Card"), "*")
				a := account(c, f.to("account"))
				holder(c, a.to("owner"))
			}),
			s.call(12, web, func(c *client) {
				f := c.get("transfers", c.any("Transfer"), "*")
				account(c, f.to("from"))
				holder(c, account(c, f.to("to")).to("owner"))
			}),
			s.call(10, web, func(c *client) {
				f := account(c, c.any("Account"))
				for _, x := range c.list("booked", f, "account", "seq amount transfer limit 10") {
					if c.chance(0.5) {
						c.get("transfers", x.to("transfer"), "amount note booked")
					}
				}
			}),
			s.call(8, batch, func(c *client) {
				f := c.any("Account")
				for _, x := range c.list("standing", f, "from", "order_id amount "+map[bool]string{true: "to~whole", false: "to.branch to.account_no"}[s.has("outgoing")]) {
					account(c, x.to("to"))
				}
			}),
			s.call(8, web, func(c *client) {
				if s.has("outgoing") {
					f := c.any("Account")
					for _, x := range c.list("outgoing", f, "from", "transfer_id amount to~whole limit 8") {
						if c.chance(0.6) {
							account(c, x.to("to"))
						}
					}
				}
			}),
			s.call(6, web, func(c *client) {
				f := account(c, c.any("Account"))
				t := c.make("Transfer", true, transfers, map[string]*frame{"from": f})
				c.make("Entry", false, "booked", map[string]*frame{"account": f, "transfer": t})
			}),
			s.call(3, web, func(c *client) {
				c.make("Account", true, "accounts holder_accounts", map[string]*frame{"owner": c.any("Holder")})
			}),
			s.call(3, batch, func(c *client) { c.make("Standing", false, "standing", nil) }),
		}
	},
}
