package main

import "time"

// helpdesk is a service with many customers, whose id is in every key: tickets that are numbered for each of them, messages of agents or contacts, watchers, labels, fields that a customer has made, articles in
// categories, hooks and what was delivered to them; what is said of a ticket by who asked is in a table of its own.
var helpdesk = application{
	name: "helpdesk",
	model: `
Tenant 30 *tenant_id:uuid name:text plan:text/3
Agent 320 *agent_id:uuid name:text email:text tenant->Tenant.agents
Company 300 *company_id:uuid domain:text tenant->Tenant.companies
Contact 2600 *contact_id:uuid name:text email:text tenant->Tenant.contacts company->Company.contacts@tenant?0.3
Team 110 *team_id:uuid title:text tenant->Tenant.teams lead->Agent.leads@tenant
Seat 600 *team->Team.seats *agent->Agent.seats@team.tenant
Policy 90 *policy_id:uuid title:text minutes:int/20 tenant->Tenant.policies
Ticket 5000 *tenant->Tenant.tickets *number:int@tenant subject:text status:text/5 opened:timestamp rating:int/5 remark:text requester->Contact.tickets@tenant assignee->Agent.tickets@tenant?0.1 team->Team.tickets@tenant policy->Policy.tickets@tenant?0.2
Message 9000 *message_id:timeuuid body:text author_type:text/2 author_id:uuid=Agent|Contact ticket->Ticket.messages
Watch 3000 *ticket->Ticket.watchers *agent->Agent.watched@ticket.tenant
Label 350 *label_id:uuid title:text colour:text/9 tenant->Tenant.labels
Labelled 5000 *ticket->Ticket.labels *label->Label.tickets@ticket.tenant
Field 200 *field_id:uuid caption:text kind:text/4 tenant->Tenant.fields
Filled 6000 *ticket->Ticket.filled *field->Field.filled@ticket.tenant value:text
Attachment 2500 *attachment_id:uuid filename:text bytes:int/9000 message->Message.attachments ticket->Ticket.attachments
Worked 4000 *entry_id:timeuuid minutes:int/90 ticket->Ticket.worked agent->Agent.worked@ticket.tenant
Category 240 *category_id:uuid title:text tenant->Tenant.categories parent->Category.children@tenant?0.4
Article 1200 *article_id:uuid title:text body:text tenant->Tenant.articles category->Category.articles@tenant author->Agent.articles@tenant
Vote 3000 *article->Article.votes *contact->Contact.votes@article.tenant helpful:boolean/2
Macro 400 *macro_id:uuid title:text text:text tenant->Tenant.macros owner->Agent.macros@tenant
Hook 80 *hook_id:uuid url:text tenant->Tenant.hooks
Delivery 5000 *delivery_id:timeuuid code:int/9 hook->Hook.deliveries
Event 7000 *event_id:timeuuid day:date<event_id/300 verb:text/9 tenant->Tenant.events agent->Agent.events@tenant
ApiKey 200 *api_key:text label:text tenant->Tenant.api_keys agent->Agent.api_keys@tenant`,
	normal: `
tenants(Tenant): tenant_id | | name plan
agents(Agent): tenant_id=tenant | agent_id | name email
agents_by_email(Agent): tenant_id=tenant email | | agent_id
companies(Company): tenant_id=tenant | company_id | domain
contacts(Contact): tenant_id=tenant contact_id | | name email company_id=company
contacts_by_email(Contact): tenant_id=tenant email | | contact_id name
contacts_by_company(Contact): tenant_id=tenant company_id=company | contact_id | name
teams(Team): tenant_id=tenant | team_id | title lead_id=lead
team_agents(Seat): tenant_id=team.tenant team_id=team | agent_id=agent
agent_teams(Seat): tenant_id=team.tenant agent_id=agent | team_id=team
sla_policies(Policy): tenant_id=tenant | policy_id | title minutes
tickets(Ticket): tenant_id=tenant number | | subject status opened requester_id=requester requester_name=requester.name assignee_id=assignee team_id=team policy_id=policy
tickets_by_requester(Ticket): tenant_id=tenant requester_id=requester | -number | subject status
tickets_by_assignee(Ticket): tenant_id=tenant assignee_id=assignee | -number | subject status requester_name=requester.name
tickets_by_status(Ticket): tenant_id=tenant status | -opened number | subject assignee_id=assignee
ticket_ratings(Ticket): tenant_id=tenant number | | rating remark
messages(Message): tenant_id=ticket.tenant number=ticket.number | -message_id | body author_type author_id
watchers(Watch): tenant_id=ticket.tenant number=ticket.number | agent_id=agent
watched_tickets(Watch): tenant_id=ticket.tenant agent_id=agent | number=ticket.number | subject=ticket.subject
labels(Label): tenant_id=tenant | label_id | title colour
ticket_labels(Labelled): tenant_id=ticket.tenant number=ticket.number | label_id=label | title=label.title
tickets_by_label(Labelled): tenant_id=ticket.tenant label_id=label | number=ticket.number
custom_fields(Field): tenant_id=tenant | field_id | caption kind
ticket_fields(Filled): tenant_id=ticket.tenant number=ticket.number | field_id=field | value
attachments(Attachment): tenant_id=ticket.tenant number=ticket.number | attachment_id | filename bytes message_id=message
time_entries(Worked): tenant_id=ticket.tenant number=ticket.number | -entry_id | minutes agent_id=agent
categories(Category): tenant_id=tenant | category_id | title parent_id=parent
articles(Article): tenant_id=tenant article_id | | title body category_id=category author_id=author
articles_by_category(Article): tenant_id=tenant category_id=category | article_id | title
article_votes(Vote): tenant_id=article.tenant article_id=article | contact_id=contact | helpful
macros(Macro): tenant_id=tenant | macro_id | title text owner_id=owner
webhooks(Hook): tenant_id=tenant | hook_id | url
deliveries(Delivery): tenant_id=hook.tenant hook_id=hook | -delivery_id | code
events(Event): tenant_id=tenant day | -event_id | verb agent_id=agent
api_keys(ApiKey): api_key | | label tenant_id=tenant agent_id=agent`,
	grown: func(s *site) []chore {
		const web, api, job = 1, 2, 3
		agent := func(c *client, f *frame) {
			if f != nil && !c.cached("agent", f, 60*time.Millisecond) {
				c.get("agents", f, "name email")
			}
		}
		return []chore{
			s.call(14, web, func(c *client) {
				f := c.get("tickets", c.any("Ticket"), "*")
				agent(c, f.to("assignee"))
				c.get("contacts", f.to("requester"), "*")
				c.get("teams", f.to("team"), "title")
				if p := f.to("policy"); p != nil {
					c.get("sla_policies", p, "title minutes")
				}
				c.list("messages", f, "ticket", "message_id body author_type author_id limit 10")
				c.list("ticket_labels", f, "ticket", "label label.title")
				for _, x := range c.list("ticket_fields", f, "ticket", "field value") {
					c.get("custom_fields", x.to("field"), "caption kind")
				}
				for _, x := range c.list("watchers", f, "ticket", "agent") {
					agent(c, x.to("agent"))
				}
				c.list("attachments", f, "ticket", "attachment_id filename bytes message")
			}),
			s.call(10, web, func(c *client) {
				f := c.get("agents_by_email", c.any("Agent"), "agent_id")
				f = c.get("agents", f, "name email")
				for _, x := range c.list("tickets_by_assignee", f, "assignee", "number subject status requester.name limit 8") {
					if c.chance(0.5) {
						c.get("tickets", x, "*")
					}
				}
				for _, x := range c.list("agent_teams", f, "agent", "team") {
					c.get("teams", x.to("team"), "title lead")
				}
			}),
			s.call(6, api, func(c *client) {
				k := c.get("api_keys", c.any("ApiKey"), "*")
				c.get("tenants", k.to("tenant"), "name plan")
				agent(c, k.to("agent"))
				for _, x := range c.page("tickets_by_status", c.any("Ticket"), "opened number subject assignee limit 8") {
					if c.chance(0.3) {
						c.get("tickets", x, "*")
					}
				}
			}),
			s.call(6, web, func(c *client) {
				f := c.get("contacts_by_email", c.any("Contact"), "contact_id name")
				f = c.get("contacts", f, "*")
				if x := f.to("company"); x != nil {
					c.get("companies", x, "domain")
				}
				for _, x := range c.list("tickets_by_requester", f, "requester", "number subject status limit 6") {
					if c.chance(0.4) {
						c.get("tickets", x, "*")
						c.get("ticket_ratings", x, "rating remark")
					}
				}
			}),
			s.call(5, web, func(c *client) {
				f := c.get("teams", c.any("Team"), "*")
				agent(c, f.to("lead"))
				for _, x := range c.list("team_agents", f, "team", "agent") {
					agent(c, x.to("agent"))
				}
			}),
			s.call(5, web, func(c *client) {
				f := c.get("companies", c.any("Company"), "*")
				for _, x := range c.list("contacts_by_company", f, "company", "contact_id name limit 8") {
					if c.chance(0.4) {
						c.get("contacts", x, "*")
					}
				}
			}),
			s.call(6, web, func(c *client) {
				f := c.get("categories", c.any("Category"), "*")
				if p := f.to("parent"); p != nil {
					c.get("categories", p, "title")
				}
				for _, x := range c.list("articles_by_category", f, "category", "article_id title limit 8") {
					if c.chance(0.4) {
						y := c.get("articles", x, "*")
						agent(c, y.to("author"))
						for _, z := range c.list("article_votes", y, "article", "contact helpful limit 4") {
							if c.chance(0.3) {
								c.get("contacts", z.to("contact"), "name")
							}
						}
					}
				}
			}),
			s.call(4, web, func(c *client) {
				f := c.get("labels", c.any("Label"), "*")
				for _, x := range c.list("tickets_by_label", f, "label", "ticket.number limit 6") {
					c.get("tickets", x.to("ticket"), "subject status")
				}
			}),
			s.call(4, web, func(c *client) {
				for _, x := range c.list("watched_tickets", c.any("Agent"), "agent", "ticket.number ticket.subject limit 6") {
					c.get("tickets", x.to("ticket"), "*")
				}
			}),
			s.call(4, web, func(c *client) {
				f := c.get("tickets", c.any("Ticket"), "subject")
				for _, x := range c.list("time_entries", f, "ticket", "entry_id minutes agent") {
					agent(c, x.to("agent"))
				}
			}),
			s.call(3, web, func(c *client) { agent(c, c.get("macros", c.any("Macro"), "*").to("owner")) }),
			s.call(4, job, func(c *client) {
				f := c.get("webhooks", c.any("Hook"), "*")
				c.list("deliveries", f, "hook", "delivery_id code limit 6")
				c.make("Delivery", false, "deliveries", map[string]*frame{"hook": f})
			}),
			s.call(3, web, func(c *client) {
				for _, x := range c.page("events", c.any("Event"), "event_id verb agent limit 6") {
					agent(c, x.to("agent"))
				}
			}),
			s.call(4, api, func(c *client) {
				t := c.make("Ticket", true, "tickets tickets_by_requester tickets_by_assignee tickets_by_status", nil)
				c.make("Message", false, "messages", map[string]*frame{"ticket": t})
				c.make("Labelled", true, "ticket_labels tickets_by_label", map[string]*frame{"ticket": t})
				c.make("Filled", false, "ticket_fields", map[string]*frame{"ticket": t})
			}),
			s.call(5, web, func(c *client) {
				c.make("Message", false, "messages", map[string]*frame{"ticket": c.get("tickets", c.any("Ticket"), "*")})
			}),
			s.call(3, web, func(c *client) { c.make("Worked", false, "time_entries", nil) }),
			s.call(2, web, func(c *client) { c.make("Watch", true, "watchers watched_tickets", nil) }),
			s.call(3, job, func(c *client) { c.make("Event", false, "events", nil) }),
			s.call(1, web, func(c *client) { c.make("Contact", true, "contacts contacts_by_email contacts_by_company", nil) }),
			s.call(1, web, func(c *client) { c.make("Vote", false, "article_votes", nil) }),
			s.call(1, web, func(c *client) { c.make("Article", true, "articles articles_by_category", nil) }),
			s.call(1, web, func(c *client) { c.set(c.any("Ticket"), "rating", false, "ticket_ratings") }),
		}
	},
}
