package main

import "time"

// wallet is money in wallets, one for each user, with names in camel case, quoted; transfers from one to another, whose keys of a client's own tell repetitions; rates of
// pairs of currencies by day, limits by wallet and month; messages about either.
var wallet = application{
	name: "wallet",
	model: `
User 1800 *userId:uuid fullName:text eMail:text country:text/30
Wallet 1700 *walletId:uuid balance:int/9999 owner->User.wallets currency->Currency.wallets
Currency 24 *currency:text digits:int/3
Rate 6000 *base->Currency.rates *quote->Currency.quoted *day:date/60 rate:int/9000
Transfer 7000 *transferId:timeuuid amount:int/900 state:text/4 sentAt:timestamp payer->Wallet.sent payee->Wallet.received currency->Currency.transfers
Request 5000 *requestKey:text answer:text transfer->Transfer.requests
Entry 9000 wallet->Wallet.entries *entryId:timeuuid month:int/12 amount:int/900 transfer->Transfer.entries
Limit 1500 *wallet->Wallet.limits *month:int@wallet spent:int/900
Proof 2500 *proofId:uuid kind:text/4 checked:boolean/2 user->User.proofs
Message 4000 *messageId:timeuuid aboutKind:text/2 aboutId:uuid=User|Wallet text:text user->User.messages`,
	normal: `
users(User): userId | | fullName eMail country
usersByEMail(User): eMail | | userId
wallets(Wallet): walletId | | balance ownerId=owner currency=currency
walletOfUser(Wallet): userId=owner | walletId | balance
currencies(Currency): currency | | digits
rates(Rate): base=base quote=quote | -day | rate
transfers(Transfer): transferId | | amount state sentAt payerWalletId=payer payeeWalletId=payee currency=currency
requests(Request): requestKey | | answer transferId=transfer
walletEntries(Entry): walletId=wallet month | -entryId | amount transferId=transfer
limits(Limit): walletId=wallet | month | spent
proofs(Proof): userId=user | proofId | kind checked
messages(Message): userId=user | -messageId | aboutKind aboutId text`,
	grown: func(s *site) []chore {
		const app, core = 1, 2
		currency := func(c *client, f *frame) {
			if !c.cached("currency", f, 100*time.Millisecond) {
				c.get("currencies", f, "digits")
			}
		}
		return []chore{
			s.call(12, app, func(c *client) {
				f := c.get("usersByEMail", c.any("User"), "userId")
				f = c.get("users", f, "*")
				for _, w := range c.list("walletOfUser", f, "owner", "walletId balance") {
					c.list("walletEntries", w, "wallet", "entryId amount transfer limit 10")
				}
				c.list("messages", f, "user", "messageId text aboutKind aboutId limit 5")
			}),
			s.call(12, app, func(c *client) {
				f := c.get("wallets", c.any("Wallet"), "*")
				currency(c, f.to("currency"))
				c.get("users", f.to("owner"), "fullName country")
				for _, x := range c.list("walletEntries", f, "wallet", "entryId amount transfer limit 10") {
					if c.chance(0.5) {
						c.get("transfers", x.to("transfer"), "*")
					}
				}
			}),
			s.call(12, app, func(c *client) {
				f := c.get("transfers", c.any("Transfer"), "*")
				payer := c.get("wallets", f.to("payer"), "owner")
				c.get("users", payer.to("owner"), "fullName")
				payee := c.get("wallets", f.to("payee"), "owner")
				c.get("users", payee.to("owner"), "fullName")
			}),
			s.call(10, core, func(c *client) { // a transfer
				w := c.get("wallets", c.any("Wallet"), "*")
				c.list("limits", w, "wallet", "month spent limit 1")
				t := c.make("Transfer", false, "transfers", map[string]*frame{"payer": w})
				c.make("Request", false, "requests", map[string]*frame{"transfer": t})
				c.make("Entry", false, "walletEntries", map[string]*frame{"wallet": w, "transfer": t})
				c.set(w, "balance", true, "wallets walletOfUser")
			}),
			s.call(5, core, func(c *client) {
				f := c.get("requests", c.any("Request"), "*")
				c.get("transfers", f.to("transfer"), "state")
			}),
			s.call(6, app, func(c *client) { c.page("rates", c.any("Rate"), "day rate limit 10") }),
			s.call(4, app, func(c *client) { c.list("proofs", c.any("User"), "user", "proofId kind checked") }),
			s.call(3, core, func(c *client) { c.make("Proof", false, "proofs", nil) }),
			s.call(3, core, func(c *client) { c.make("Message", false, "messages", nil) }),
			s.call(3, core, func(c *client) { c.make("Rate", false, "rates", nil) }),
		}
	},
}
