package main

import "time"

// clicks is what people write and what is shown to them beside it: keys with short names (uid, pid, gid), comments of two kinds with numbers of their own, what people like, keep, and are banned from, as many of each; impressions by the hour,
// budgets by the month, counters by the day.
var clicks = application{
	name: "clicks",
	model: `
User 2000 *uid:bigint handle:text mail:text
Group 200 *gid:bigint title:text owner->User.owned
Post 5000 *pid:bigint body:text day:date/60 author->User.posts group->Group.posts?0.5
Photo 3000 *photo_id:bigint url:text owner->User.photos
Comment 6000 *comment_id:bigint body:text at:timestamp post->Post.comments author->User.comments
PhotoComment 4000 *comment_id:bigint body:text at:timestamp photo->Photo.comments author->User.photo_comments
Like 4000 *post->Post.likes *user->User.likes at:timestamp
Bookmark 4000 *user->User.bookmarks *post->Post.bookmarks at:timestamp
Member 3000 *group->Group.members *user->User.groups role:text/3
Ban 3000 *group->Group.bans *user->User.bans reason:text/3
Campaign 300 *cmp_id:int title:text advertiser->User.campaigns
Creative 800 *crv_id:int headline:text campaign->Campaign.creatives
Slot 60 *slot_cd:text width:int/9
Impression 9000 *imp_id:timeuuid hour:int<imp_id/400 cost:int/50 creative->Creative.impressions slot->Slot.impressions viewer->User.impressions?0.3
Click 3000 *click_id:timeuuid creative->Creative.clicks viewer->User.clicks
Budget 1200 *campaign->Campaign.budgets *month:int@campaign cents:int/900
Segment 90 *seg_cd:text rule:text
InSegment 5000 *user->User.segments *segment->Segment.users
Cap 4000 *viewer->User.caps *campaign->Campaign.caps seen:int/9
Invoice 1500 *inv_no:bigint total:int/900 payer->User.invoices
InvoiceLine 4000 *invoice->Invoice.lines *line_no:int@invoice cents:int/90 campaign->Campaign.lines
Alert 2500 *alert_id:bigint level:int/3 raised:timestamp campaign->Campaign.alerts
Stat 2400 *creative->Creative.stats *day:date@creative shows:counter`,
	normal: `
users(User): uid | | handle mail
users_by_handle(User): handle | | uid
groups(Group): gid | | title owner_uid=owner
posts(Post): pid | | body day author_uid=author gid=group
posts_by_user(Post): uid=author | -pid | body gid=group
posts_by_group(Post): gid=group day | -pid | body author_uid=author author_handle=author.handle
photos(Photo): photo_id | | url owner_uid=owner
photos_by_user(Photo): uid=owner | -photo_id | url
comments(Comment): pid=post | -comment_id | body at author_uid=author
photo_comments(PhotoComment): photo_id=photo | -comment_id | body at author_uid=author
likes(Like): pid=post | uid=user | at
bookmarks(Bookmark): uid=user | pid=post | at
group_members(Member): gid=group | uid=user | role
groups_by_user(Member): uid=user | gid=group | role group_title=group.title
banned_users(Ban): gid=group | uid=user | reason
campaigns(Campaign): cmp_id | | title adv_uid=advertiser
campaigns_by_advertiser(Campaign): adv_uid=advertiser | cmp_id | title
creatives(Creative): crv_id | | headline cmp_id=campaign
creatives_by_campaign(Creative): cmp_id=campaign | crv_id | headline
ad_slots(Slot): slot_cd | | width
impressions(Impression): crv_id=creative hour | -imp_id | cost slot_cd=slot uid=viewer
clicks(Click): crv_id=creative | -click_id | uid=viewer
budgets(Budget): cmp_id=campaign | -month | cents
segments(Segment): seg_cd | | rule
user_segments(InSegment): uid=user | seg_cd=segment
segment_users(InSegment): seg_cd=segment | uid=user
freq_caps(Cap): uid=viewer | cmp_id=campaign | seen
invoices(Invoice): inv_no | | total payer_uid=payer
invoices_by_payer(Invoice): payer_uid=payer | -inv_no | total
invoice_lines(InvoiceLine): inv_no=invoice | line_no | cents cmp_id=campaign
alerts(Alert): alert_id | | level raised cmp_id=campaign
alerts_by_level(Alert): level | -raised alert_id | cmp_id=campaign
creative_stats(Stat): crv_id=creative | day | shows`,
	grown: func(s *site) []chore {
		const web, ads = 1, 2
		user := func(c *client, f *frame) {
			if !c.cached("user", f, 100*time.Millisecond) {
				c.get("users", f, "handle mail")
			}
		}
		return []chore{
			s.call(12, web, func(c *client) {
				f := c.get("users_by_handle", c.any("User"), "uid")
				f = c.get("users", f, "*")
				for _, x := range c.list("posts_by_user", f, "author", "pid body group limit 5") {
					for _, y := range c.list("comments", x, "post", "comment_id body author limit 4") {
						user(c, y.to("author"))
					}
					c.list("likes", x, "post", "user at limit 5")
				}
			}),
			s.call(8, web, func(c *client) {
				f := c.any("User")
				for _, x := range c.list("bookmarks", f, "user", "post at limit 6") {
					c.get("posts", x.to("post"), "body author")
				}
				for _, x := range c.list("groups_by_user", f, "user", "group role group.title") {
					if c.chance(0.5) {
						c.get("groups", x.to("group"), "*")
					}
				}
			}),
			s.call(8, web, func(c *client) {
				f := c.get("groups", c.any("Group"), "*")
				for _, x := range c.list("group_members", f, "group", "user role limit 6") {
					user(c, x.to("user"))
				}
				for _, x := range c.list("banned_users", f, "group", "user reason limit 4") {
					user(c, x.to("user"))
				}
				for _, x := range c.list("posts_by_group", f, "group", "pid body author author.handle limit 5") {
					if c.chance(0.4) {
						c.get("posts", x, "*")
					}
				}
			}),
			s.call(6, web, func(c *client) {
				for _, x := range c.list("photos_by_user", c.any("User"), "owner", "photo_id url limit 4") {
					for _, y := range c.list("photo_comments", x, "photo", "comment_id body author limit 4") {
						user(c, y.to("author"))
					}
					if c.chance(0.3) {
						c.get("photos", x, "*")
					}
				}
			}),
			s.call(8, ads, func(c *client) {
				f := c.get("campaigns", c.any("Campaign"), "*")
				for _, x := range c.list("creatives_by_campaign", f, "campaign", "crv_id headline") {
					if c.chance(0.5) {
						c.list("creative_stats", x, "creative", "day shows")
					}
					if c.chance(0.3) {
						for _, y := range c.list("clicks", x, "creative", "click_id viewer limit 4") {
							user(c, y.to("viewer"))
						}
					}
				}
				c.list("budgets", f, "campaign", "month cents limit 3")
			}),
			s.call(6, ads, func(c *client) {
				for _, x := range c.page("impressions", c.any("Impression"), "imp_id cost slot viewer limit 6") {
					c.get("ad_slots", x.to("slot"), "width")
				}
			}),
			s.call(8, ads, func(c *client) {
				f := c.any("User")
				for _, x := range c.list("user_segments", f, "user", "segment") {
					c.get("segments", x.to("segment"), "rule")
				}
				for _, x := range c.list("freq_caps", f, "viewer", "campaign seen limit 5") {
					c.get("campaigns", x.to("campaign"), "title")
				}
			}),
			s.call(3, ads, func(c *client) {
				f := c.get("segments", c.any("Segment"), "*")
				for _, x := range c.list("segment_users", f, "segment", "user limit 5") {
					user(c, x.to("user"))
				}
			}),
			s.call(6, ads, func(c *client) {
				for _, x := range c.list("invoices_by_payer", c.any("User"), "payer", "inv_no total limit 3") {
					for _, y := range c.list("invoice_lines", x, "invoice", "line_no cents campaign") {
						c.get("campaigns", y.to("campaign"), "title")
					}
					if c.chance(0.3) {
						c.get("invoices", x, "*")
					}
				}
			}),
			s.call(4, ads, func(c *client) {
				for _, x := range c.page("alerts_by_level", c.any("Alert"), "raised alert_id campaign limit 6") {
					if c.chance(0.5) {
						y := c.get("alerts", x, "*")
						c.get("campaigns", y.to("campaign"), "title advertiser")
					}
				}
			}),
			s.call(4, ads, func(c *client) { c.list("campaigns_by_advertiser", c.any("User"), "advertiser", "cmp_id title") }),
			s.call(4, ads, func(c *client) {
				f := c.get("creatives", c.any("Creative"), "*")
				c.get("campaigns", f.to("campaign"), "title")
			}),
			s.call(4, web, func(c *client) { c.make("Post", true, "posts posts_by_user posts_by_group", nil) }),
			s.call(4, web, func(c *client) { c.make("Comment", false, "comments", nil) }),
			s.call(2, web, func(c *client) { c.make("PhotoComment", false, "photo_comments", nil) }),
			s.call(3, web, func(c *client) { c.make("Like", false, "likes", nil) }),
			s.call(2, web, func(c *client) { c.make("Bookmark", false, "bookmarks", nil) }),
			s.call(5, ads, func(c *client) {
				c.make("Impression", false, "impressions", nil)
				c.increment("creative_stats", c.any("Stat"))
			}),
			s.call(2, ads, func(c *client) { c.make("Click", false, "clicks", nil) }),
			s.call(2, ads, func(c *client) {
				i := c.make("Invoice", true, "invoices invoices_by_payer", nil)
				for range 2 {
					c.make("InvoiceLine", false, "invoice_lines", map[string]*frame{"invoice": i})
				}
			}),
			s.call(2, ads, func(c *client) { c.make("Alert", true, "alerts alerts_by_level", nil) }),
		}
	},
}
