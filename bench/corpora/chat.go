package main

import "time"

// chat is messages in conversations: kept by the conversation and a bucket, and once more for each who gets one; participants from both sides; people by the name and
// by the telephone number that they log in with, which are claimed in tables of their own.
var chat = application{
	name: "chat",
	model: `
User 1200 *user_id:uuid handle:text phone:text bio:text
Conversation 900 *conversation_id:uuid title:text creator->User.created
Participant 4000 *conversation->Conversation.participants *user->User.conversations role:text/3 read_to:timestamp
Message 9000 *message_id:timeuuid bucket:int/6 body:text conversation->Conversation.messages sender->User.sent answers->Message.answered@conversation?0.7
Delivery 8000 *user->User.mailbox *message->Message.deliveries seen:boolean/2
Reaction 4000 *message->Message.reactions *user->User.reactions emoji:text/8
Device 1600 *device_token:text platform:text/2 user->User.devices`,
	normal: `
users(User): user_id | | handle phone bio
users_by_handle(User): handle | | user_id
users_by_phone(User): phone | | user_id
conversations(Conversation): conversation_id | | title creator_id=creator
participants(Participant): conversation_id=conversation | user_id=user | role read_to
conversations_by_user(Participant): user_id=user | conversation_id=conversation | conversation_title=conversation.title
messages(Message): conversation_id=conversation bucket | -message_id | body sender_id=sender answers_id=answers
mailbox(Delivery): user_id=user | -message_id=message | seen conversation_id=message.conversation body=message.body sender_id=message.sender
reactions(Reaction): message_id=message | user_id=user | emoji
devices(Device): user_id=user | device_token | platform`,
	grown: func(s *site) []chore {
		const api, push = 1, 2
		user := func(c *client, f *frame) {
			if !c.cached("user", f, 300*time.Millisecond) {
				c.get("users", f, "handle bio")
			}
		}
		return []chore{
			s.call(8, api, func(c *client) {
				f := c.any("User")
				if c.chance(0.5) {
					f = c.get("users_by_phone", f, "user_id")
				} else {
					f = c.get("users_by_handle", f, "user_id")
				}
				c.get("users", f, "*")
			}),
			s.call(16, api, func(c *client) {
				f := c.any("User")
				for _, x := range c.list("conversations_by_user", f, "user", "conversation conversation.title limit 8") {
					if c.chance(0.4) {
						together(c, c.list("messages", x.to("conversation"), "conversation", "message_id body sender answers limit 10"), func(c *client, m *frame) { user(c, m.to("sender")) })
					}
				}
			}),
			s.call(14, api, func(c *client) {
				f := c.any("User")
				for _, x := range c.list("mailbox", f, "user", "* limit 12") {
					user(c, &frame{e: s.w.entity("User"), i: s.w.entity("Message").edge("sender").target[x.e.edge("message").target[x.i]], row: map[string]origin{"user_id": x.row["message.sender"]}})
					if c.chance(0.5) {
						c.list("reactions", x.to("message"), "message", "user emoji")
					}
				}
			}),
			s.call(12, api, func(c *client) {
				f := c.get("conversations", c.any("Conversation"), "*")
				user(c, f.to("creator"))
				for _, x := range c.list("participants", f, "conversation", "user role") {
					user(c, x.to("user"))
				}
			}),
			s.call(12, push, func(c *client) {
				p := c.any("Participant")
				t := p.to("conversation")
				m := c.make("Message", false, "messages", map[string]*frame{"conversation": t})
				together(c, c.list("participants", t, "conversation", "user role limit 6"), func(c *client, x *frame) {
					u := x.to("user")
					c.make("Delivery", false, "mailbox", map[string]*frame{"user": u, "message": m})
					c.list("devices", u, "user", "device_token platform")
				})
			}),
			s.call(4, api, func(c *client) { c.make("Reaction", false, "reactions", nil) }),
			s.call(3, api, func(c *client) { c.make("Participant", true, "participants conversations_by_user", nil) }),
			s.call(2, api, func(c *client) { c.make("User", false, "users_by_handle users_by_phone users", nil) }),
		}
	},
}
