package main

// giro is a bank, abbreviated: entries with the account that is debited and the one that is credited, legs of an entry from both sides, statements by account and number with their lines, names of
// customers next to their accounts, cards, loans with their instalments, rates of one currency in another.
var giro = application{
	name: "giro",
	model: `
Branch 50 *br_cd:text br_nm:text city:text/30
Emp 220 *emp_no:int lname:text branch->Branch.emps mgr->Emp.reports?0.1
Cust 2400 *cust_no:bigint fname:text/200 lname:text birth:date/3000 branch->Branch.custs advisor->Emp.custs?0.2
Ccy 25 *ccy:text ccy_nm:text
Prod 30 *prod_cd:text descr:text rate:int/40
Acct 3500 *acct_no:text opened:date/900 bal:bigint owner->Cust.accts prod->Prod.accts ccy->Ccy.accts branch->Branch.accts
Holder 900 *acct->Acct.holders *cust->Cust.held role:text/3
Fx 2000 *base->Ccy.quotes *quote->Ccy.quoted *day:date@base rate:double
Txn 6000 *txn_id:timeuuid booked:timestamp memo:text amt:int/5000 dr->Acct.debits cr->Acct.credits
Leg 12000 *txn->Txn.legs *leg_no:int@txn amt:int/5000 side:text/2 acct->Acct.legs
Stmt 5000 *acct->Acct.stmts *stmt_no:int@acct from_dt:date/300 close_bal:bigint
StmtLn 12000 *stmt->Stmt.lns *ln_no:int@stmt amt:int/5000 txn->Txn.lns
Creditor 80 *cred_id:text cred_nm:text
Mandate 1200 *mnd_ref:text signed:date/600 creditor->Creditor.mandates acct->Acct.mandates
StdOrd 1500 *so_id:uuid amt:int/900 freq:text/4 payer->Acct.orders payee->Acct.incoming
Mcc 60 *mcc:int descr:text
Merch 700 *mer_id:bigint mer_nm:text mcc->Mcc.merchs
Card 2600 *card_no:text exp:date/60 lim:int/30 acct->Acct.cards holder->Cust.cards
Auth 9000 *auth_id:timeuuid amt:int/900 st:text/4 card->Card.auths merch->Merch.auths
Loan 900 *loan_no:bigint princ:int/900 cust->Cust.loans acct->Acct.loans officer->Emp.loans
Inst 7000 *loan->Loan.insts *seq_no:int@loan due:date/300 amt:int/900 paid:boolean/2
Coll 700 *coll_id:uuid kind:text/5 val:int/900 loan->Loan.colls
Addr 3500 *cust->Cust.addrs *addr_no:int@cust street:text zip:text/400
Contact 5000 *contact_id:timeuuid chan:text/4 note:text cust->Cust.contacts emp->Emp.contacts
Cmpl 600 *cmpl_no:int txt:text st:text/4 cust->Cust.cmpls handler->Emp.cmpls acct->Acct.cmpls?0.4
Login 2400 *login:text pin_hash:text cust->Cust.logins
Aud 6000 *aud_id:timeuuid day:date<aud_id/200 act:text/12 ref:text emp->Emp.auds
BrDay 1500 *branch->Branch.days *day:date@branch cash_in:counter cash_out:counter`,
	normal: `
branch(Branch): br_cd | | br_nm city
emp(Emp): emp_no | | lname br_cd=branch mgr_no=mgr
cust(Cust): cust_no | | fname lname birth br_cd=branch adv_no=advisor
cust_by_lname(Cust): lname | birth cust_no | fname
ccy(Ccy): ccy | | ccy_nm
prod(Prod): prod_cd | | descr rate
acct(Acct): acct_no | | opened bal cust_no=owner cust_lname=owner.lname prod_cd=prod ccy=ccy br_cd=branch
acct_by_cust(Acct): cust_no=owner | acct_no | prod_cd=prod prod_descr=prod.descr bal ccy=ccy
acct_by_br(Acct): br_cd=branch | acct_no | cust_no=owner
acct_hldr(Holder): acct_no=acct | cust_no=cust | role lname=cust.lname
hldr_acct(Holder): cust_no=cust | acct_no=acct | role
fx(Fx): base_ccy=base quote_ccy=quote | -day | rate
txn(Txn): txn_id | | booked memo amt dr_acct=dr cr_acct=cr
txn_leg(Leg): txn_id=txn | leg_no | amt side acct_no=acct !booked=txn.booked !memo=txn.memo
leg_by_acct(Leg): acct_no=acct | -txn_id=txn leg_no | amt side memo=txn.memo !cust_no=acct.owner
stmt(Stmt): acct_no=acct | -stmt_no | from_dt close_bal
stmt_ln(StmtLn): acct_no=stmt.acct stmt_no=stmt.stmt_no | ln_no | amt txn_id=txn memo=txn.memo
crdtr(Creditor): cred_id | | cred_nm
mndt(Mandate): mnd_ref | | signed cred_id=creditor acct_no=acct
mndt_by_acct(Mandate): acct_no=acct | mnd_ref | cred_id=creditor cred_nm=creditor.cred_nm
std_ord(StdOrd): so_id | | amt freq pay_acct=payer rcv_acct=payee
std_ord_by_acct(StdOrd): pay_acct=payer | so_id | amt freq
mcc(Mcc): mcc | | descr
merch(Merch): mer_id | | mer_nm mcc=mcc
card(Card): card_no | | exp lim acct_no=acct cust_no=holder
card_by_acct(Card): acct_no=acct | card_no | exp
card_auth(Auth): card_no=card | -auth_id | amt st mer_id=merch mer_nm=merch.mer_nm
loan(Loan): loan_no | | princ cust_no=cust acct_no=acct off_no=officer
loan_by_cust(Loan): cust_no=cust | loan_no | princ
loan_inst(Inst): loan_no=loan | seq_no | due amt paid
coll(Coll): coll_id | | kind val loan_no=loan
coll_by_loan(Coll): loan_no=loan | coll_id | kind val
cust_addr(Addr): cust_no=cust | addr_no | street zip
cust_cntct(Contact): cust_no=cust | -contact_id | chan note emp_no=emp
cmpl(Cmpl): cmpl_no | | txt st cust_no=cust emp_no=handler acct_no=acct
cmpl_by_st(Cmpl): st | -cmpl_no | cust_no=cust txt
login(Login): login | | pin_hash cust_no=cust
aud(Aud): day | -aud_id | act ref emp_no=emp
br_day(BrDay): br_cd=branch | -day | cash_in cash_out`,
	grown: func(s *site) []chore {
		const web, desk, pos = 1, 2, 3
		return []chore{
			s.call(14, web, func(c *client) {
				f := c.get("cust", c.get("login", c.any("Login"), "cust pin_hash").to("cust"), "*")
				for _, x := range c.list("acct_by_cust", f, "owner", "acct_no prod prod.descr bal ccy") {
					if c.chance(0.5) {
						c.list("leg_by_acct", x, "acct", "txn leg_no amt side txn.memo limit 8")
					}
					for _, y := range c.list("card_by_acct", x, "acct", "card_no exp") {
						if c.chance(0.3) {
							c.get("card", y, "*")
						}
					}
				}
			}),
			s.call(10, web, func(c *client) {
				f := c.get("acct", c.any("Acct"), "*")
				c.get("prod", f.to("prod"), "descr rate")
				for _, x := range c.list("leg_by_acct", f, "acct", "txn leg_no amt side txn.memo limit 8") {
					if c.chance(0.4) {
						y := c.get("txn", x.to("txn"), "*")
						c.get("acct", y.to("dr"), "owner owner.lname")
						c.get("acct", y.to("cr"), "owner owner.lname")
					}
				}
			}),
			s.call(8, web, func(c *client) {
				f := c.get("acct", c.any("Acct"), "bal")
				for _, x := range c.list("stmt", f, "acct", "stmt_no from_dt close_bal limit 3") {
					for _, y := range c.list("stmt_ln", x, "stmt", "ln_no amt txn txn.memo") {
						if c.chance(0.2) {
							c.get("txn", y.to("txn"), "booked memo amt dr cr")
						}
					}
				}
			}),
			s.call(7, desk, func(c *client) {
				f := c.get("cust", c.any("Cust"), "*")
				c.get("branch", f.to("branch"), "br_nm city")
				if a := f.to("advisor"); a != nil {
					c.get("emp", a, "lname")
				}
				c.list("cust_addr", f, "cust", "addr_no street zip")
				for _, x := range c.list("cust_cntct", f, "cust", "contact_id chan note emp limit 5") {
					c.get("emp", x.to("emp"), "lname")
				}
				for _, x := range c.list("loan_by_cust", f, "cust", "loan_no princ") {
					c.get("loan", x, "*")
				}
				for _, x := range c.list("hldr_acct", f, "cust", "acct role") {
					c.get("acct", x.to("acct"), "bal ccy")
				}
			}),
			s.call(6, desk, func(c *client) {
				f := c.get("loan", c.any("Loan"), "*")
				c.get("cust", f.to("cust"), "fname lname")
				c.get("emp", f.to("officer"), "lname branch")
				c.get("acct", f.to("acct"), "bal")
				c.list("loan_inst", f, "loan", "seq_no due amt paid")
				c.list("coll_by_loan", f, "loan", "coll_id kind val")
			}),
			s.call(8, pos, func(c *client) {
				f := c.get("card", c.any("Card"), "*")
				c.get("acct", f.to("acct"), "bal ccy")
				c.list("card_auth", f, "card", "auth_id amt st merch merch.mer_nm limit 5")
				m := c.get("merch", c.any("Merch"), "*")
				c.get("mcc", m.to("mcc"), "descr")
				c.make("Auth", false, "card_auth", map[string]*frame{"card": f, "merch": m})
			}),
			s.call(5, web, func(c *client) {
				f := c.get("acct", c.any("Acct"), "bal")
				for _, x := range c.list("std_ord_by_acct", f, "payer", "so_id amt freq") {
					y := c.get("std_ord", x, "*")
					c.get("acct", y.to("payee"), "owner.lname")
				}
				for _, x := range c.list("mndt_by_acct", f, "acct", "mnd_ref creditor creditor.cred_nm") {
					if c.chance(0.5) {
						y := c.get("mndt", x, "*")
						c.get("crdtr", y.to("creditor"), "cred_nm")
					}
				}
			}),
			s.call(4, desk, func(c *client) {
				f := c.get("acct", c.any("Acct"), "*")
				for _, x := range c.list("acct_hldr", f, "acct", "cust role cust.lname") {
					c.get("cust", x.to("cust"), "*")
				}
			}),
			s.call(4, web, func(c *client) {
				c.get("ccy", c.get("acct", c.any("Acct"), "bal ccy").to("ccy"), "ccy_nm")
				c.page("fx", c.any("Fx"), "day rate limit 5")
			}),
			s.call(4, desk, func(c *client) {
				for _, x := range c.page("cmpl_by_st", c.any("Cmpl"), "cmpl_no cust txt limit 5") {
					y := c.get("cmpl", x, "*")
					c.get("cust", y.to("cust"), "fname lname")
					c.get("emp", y.to("handler"), "lname")
				}
			}),
			s.call(3, desk, func(c *client) {
				f := c.get("branch", c.any("Branch"), "*")
				c.list("br_day", f, "branch", "day cash_in cash_out limit 7")
				for _, x := range c.list("acct_by_br", f, "branch", "acct_no owner limit 5") {
					c.get("cust", x.to("owner"), "lname")
				}
			}),
			s.call(3, desk, func(c *client) {
				f := c.get("emp", c.any("Emp"), "*")
				if m := f.to("mgr"); m != nil {
					c.get("emp", m, "lname")
				}
			}),
			s.call(3, desk, func(c *client) {
				for _, x := range c.page("aud", c.any("Aud"), "aud_id act ref emp limit 6") {
					if c.chance(0.5) {
						c.get("emp", x.to("emp"), "lname")
					}
				}
			}),
			s.call(3, web, func(c *client) { c.list("txn_leg", c.get("txn", c.any("Txn"), "*"), "txn", "*") }),
			s.call(2, desk, func(c *client) {
				c.find("cust_by_lname", "birth cust_no fname", []int{c.any("Cust").i}, 0, is("lname", c.any("Cust"), "lname"))
			}),
			s.call(2, desk, func(c *client) { c.get("loan", c.get("coll", c.any("Coll"), "*").to("loan"), "princ") }),
			s.call(6, web, func(c *client) {
				t := c.make("Txn", false, "txn", map[string]*frame{"dr": c.get("acct", c.any("Acct"), "*")})
				c.make("Leg", true, "txn_leg leg_by_acct", map[string]*frame{"txn": t, "acct": t.to("dr")})
				c.make("Leg", true, "txn_leg leg_by_acct", map[string]*frame{"txn": t, "acct": t.to("cr")})
			}),
			s.call(1, desk, func(c *client) {
				x := c.make("Stmt", false, "stmt", nil)
				for range 3 {
					c.make("StmtLn", false, "stmt_ln", map[string]*frame{"stmt": x})
				}
			}),
			s.call(3, desk, func(c *client) { c.make("Aud", false, "aud", nil) }),
			s.call(2, desk, func(c *client) { c.make("Contact", false, "cust_cntct", nil) }),
			s.call(2, desk, func(c *client) { c.increment("br_day", c.any("BrDay")) }),
			s.call(1, desk, func(c *client) { c.make("Acct", true, "acct acct_by_cust acct_by_br", nil) }),
			s.call(1, web, func(c *client) { c.make("StdOrd", true, "std_ord std_ord_by_acct", nil) }),
			s.call(1, desk, func(c *client) { c.make("Cmpl", true, "cmpl cmpl_by_st", nil) }),
			s.call(1, desk, func(c *client) { c.make("Cust", true, "cust cust_by_lname", nil) }),
			s.call(1, web, func(c *client) { c.set(c.any("Loan"), "princ", true, "loan loan_by_cust") }),
			s.call(1, desk, func(c *client) { c.make("Holder", true, "acct_hldr hldr_acct", nil) }),
		}
	},
}
