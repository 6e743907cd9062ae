package main

import "time"

// crowd is people who follow each other, in two tables; posts that are put into the feed of each follower, with who wrote them; likes from both sides and their
// number as a counter; who is blocked; tags. All ids are integers, one after the other.
var crowd = application{
	name: "crowd",
	model: `
Person 2000 *person_id:bigint handle:text about:text
Follow 6000 *follower->Person.following *followed->Person.followers since:timestamp
Post 5000 *post_id:bigint text:text likes:counter author->Person.posts
Feed 9000 *owner->Person.feed *post->Post.feeds reason:text/4
Like 7000 *post->Post.likers *person->Person.liked at:timestamp
Block 1500 *blocker->Person.blocked *victim->Person.blockers
Tag 300 *tag:text about:text
Tagging 6000 *tag->Tag.posts *post->Post.tags`,
	normal: `
people(Person): person_id | | handle about
handles(Person): handle | | person_id
following(Follow): person_id=follower | target_id=followed | since
followers(Follow): person_id=followed | follower_id=follower | since
posts(Post): post_id | | text author_id=author
posts_by_author(Post): author_id=author | -post_id | text
post_stats(Post): post_id | | likes
home(Feed): owner_id=owner | -post_id=post | author_id=post.author reason
likes(Like): post_id=post | person_id=person | at
liked(Like): person_id=person | -at post_id=post
blocks(Block): blocker_id=blocker | victim_id=victim
tags(Tag): tag | | about
tag_posts(Tagging): tag=tag | -post_id=post`,
	grown: func(s *site) []chore {
		const api, fan = 1, 2
		person := func(c *client, f *frame) {
			if !c.cached("person", f, 300*time.Millisecond) {
				c.get("people", f, "handle")
			}
		}
		return []chore{
			s.call(20, api, func(c *client) {
				f := c.any("Person")
				for _, x := range c.list("home", f, "owner", "post post.author limit 10") {
					p := c.get("posts", x.to("post"), "text author")
					person(c, p.to("author"))
					c.get("post_stats", p, "likes")
				}
			}),
			s.call(14, api, func(c *client) {
				f := c.get("handles", c.any("Person"), "person_id")
				f = c.get("people", f, "*")
				c.list("posts_by_author", f, "author", "post_id text limit 10")
				for _, x := range c.list("following", f, "follower", "followed limit 8") {
					person(c, x.to("followed"))
				}
			}),
			s.call(10, api, func(c *client) {
				f := c.any("Post")
				f = c.get("posts", f, "*")
				together(c, c.list("likes", f, "post", "person at limit 12"), func(c *client, x *frame) { person(c, x.to("person")) })
			}),
			s.call(8, api, func(c *client) {
				f := c.get("tags", c.any("Tag"), "about")
				together(c, c.list("tag_posts", f, "tag", "post limit 10"), func(c *client, x *frame) { c.get("posts", x.to("post"), "*") })
			}),
			s.call(6, api, func(c *client) {
				f := c.any("Person")
				for _, x := range c.list("liked", f, "person", "at post limit 8") {
					c.get("posts", x.to("post"), "text author")
				}
			}),
			s.call(8, fan, func(c *client) { // a new post, into the feeds of all who follow
				a := c.any("Person")
				p := c.make("Post", true, "posts posts_by_author", map[string]*frame{"author": a})
				together(c, c.list("followers", a, "followed", "follower"), func(c *client, x *frame) {
					c.make("Feed", false, "home", map[string]*frame{"owner": x.to("follower"), "post": p})
				})
			}),
			s.call(8, api, func(c *client) {
				f := c.any("Post")
				c.make("Like", true, "likes liked", map[string]*frame{"post": f})
				c.increment("post_stats", f)
			}),
			s.call(4, api, func(c *client) { c.make("Follow", true, "following followers", nil) }),
			s.call(4, api, func(c *client) {
				f := c.any("Person")
				for _, x := range c.list("blocks", f, "blocker", "victim") {
					person(c, x.to("victim"))
				}
			}),
			s.call(2, api, func(c *client) { c.make("Block", false, "blocks", nil) }),
			s.call(3, fan, func(c *client) { c.make("Tagging", false, "tag_posts", nil) }),
		}
	},
}
