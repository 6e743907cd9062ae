package main

import "time"

// arena is a game with others: numbers of one sequence each for all ids; messages in channels of clans and between two, mentions that have a copy of what was said; a leaderboard by season
// and score; friends from both sides; reports of who misbehaved in which match; an event log about a match or a clan.
var arena = application{
	name: "arena",
	model: `
Player 2000 *player_id:bigint nick:text mail:text country:text/40 elo:int/900 wins:counter losses:counter
Clan 150 *clan_id:bigint tag:text title:text founder->Player.founded
Membership 1600 *clan->Clan.members *player->Player.clans rank:text/4 joined:timestamp
Friendship 4000 *one->Player.friends *other->Player.friended since:timestamp
Channel 300 *channel_id:bigint topic:text clan->Clan.channels
Message 9000 *message_id:bigint bucket:int<message_id/1200 body:text sent:timestamp channel->Channel.messages author->Player.messages
Mention 2500 *mentioned->Player.mentions *message->Message.mentions
Dm 1200 *dm_id:bigint created:timestamp
DmPart 2400 *dm->Dm.parts *player->Player.dms last_read:bigint/700
DirectMessage 6000 *message_id:bigint body:text sent:timestamp dm->Dm.messages author->Player.whispered
Field 25 *map_id:int title:text size:int/5
Match 3000 *match_id:bigint mode:text/5 day:date/30 started:timestamp field->Field.matches
Hero 80 *hero_id:int title:text class:text/6
Result 9000 *match->Match.results *player->Player.results kills:int/40 team:int/2 hero->Hero.picks
Item 400 *item_id:int title:text price:int/90 upgrade->Item.parts?0.6
Possession 6000 *player->Player.items *item->Item.owners amount:int/9
Season 10 *season_no:int label:text
Rank 4000 *season->Season.ranks *player->Player.ranks score:int/3000
Achievement 120 *code:text title:text
Unlocked 5000 *player->Player.achievements *achievement->Achievement.unlocked at:timestamp
Purchase 3000 *purchase_id:uuid price:int/90 at:timestamp buyer->Player.purchases item->Item.purchases
Report 900 *report_id:bigint reason:text/6 reporter->Player.filed culprit->Player.reports match->Match.reports?0.4
Login 3000 *session_key:text expires:timestamp player->Player.logins
Event 5000 *event_id:timeuuid kind:text/2 subject_id:bigint=Match|Clan player->Player.events`,
	normal: `
players(Player): player_id | | nick mail country elo
players_by_nick(Player): nick | | player_id
players_by_mail(Player): mail | | player_id nick
player_stats(Player): player_id | | wins losses
clans(Clan): clan_id | | tag title founder_id=founder
clans_by_tag(Clan): tag | | clan_id title
clan_members(Membership): clan_id=clan | player_id=player | rank joined nick=player.nick
clans_by_player(Membership): player_id=player | clan_id=clan | rank
friends(Friendship): player_id=one | friend_id=other | since
friends_of(Friendship): friend_id=other | player_id=one
channels(Channel): channel_id | | topic clan_id=clan
channels_by_clan(Channel): clan_id=clan | channel_id | topic
messages(Message): channel_id=channel bucket | -message_id | author_id=author body sent
mentions_by_user(Mention): player_id=mentioned | -message_id=message | channel_id=message.channel bucket=message.bucket author_id=message.author body=message.body
dm_threads(Dm): dm_id | | created
dm_participants(DmPart): dm_id=dm | player_id=player | last_read
dms_by_player(DmPart): player_id=player | dm_id=dm
direct_messages(DirectMessage): dm_id=dm | -message_id | author_id=author body sent
maps(Field): map_id | | title size
matches(Match): match_id | | mode day started map_id=field
matches_by_day(Match): day mode | -started match_id | map_id=field
match_results(Result): match_id=match | player_id=player | kills team hero_id=hero
results_by_player(Result): player_id=player | -match_id=match | kills hero_id=hero
heroes(Hero): hero_id | | title class
items(Item): item_id | | title price upgrade_id=upgrade
inventory(Possession): player_id=player | item_id=item | amount
seasons(Season): season_no | | label
leaderboard(Rank): season_no=season | -score player_id=player | nick=player.nick
ranks_by_player(Rank): player_id=player | season_no=season | score
achievements(Achievement): code | | title
player_achievements(Unlocked): player_id=player | code=achievement | at
purchases(Purchase): purchase_id | | price at player_id=buyer item_id=item
purchases_by_player(Purchase): player_id=buyer | -at purchase_id | price item_id=item
reports(Report): report_id | | reason reporter_id=reporter culprit_id=culprit match_id=match
reports_by_culprit(Report): culprit_id=culprit | -report_id | reason
sessions(Login): session_key | | expires player_id=player
activity(Event): player_id=player | -event_id | kind subject_id`,
	grown: func(s *site) []chore {
		const web, game, mod = 1, 2, 3
		player := func(c *client, f *frame) {
			if !c.cached("player", f, 150*time.Millisecond) {
				c.get("players", f, "nick elo country")
			}
		}
		return []chore{
			s.call(12, web, func(c *client) {
				f := c.get("sessions", c.any("Login"), "player expires")
				f = c.get("players", f.to("player"), "*")
				c.get("player_stats", f, "wins losses")
				for _, x := range c.list("clans_by_player", f, "player", "clan rank") {
					c.get("clans", x.to("clan"), "tag title")
				}
			}),
			s.call(12, web, func(c *client) {
				f := c.get("clans", c.any("Clan"), "*")
				player(c, f.to("founder"))
				for _, x := range c.list("clan_members", f, "clan", "player rank player.nick limit 10") {
					if c.chance(0.3) {
						player(c, x.to("player"))
					}
				}
				for _, x := range c.list("channels_by_clan", f, "clan", "channel_id topic") {
					if c.chance(0.6) {
						for _, m := range c.list("messages", x, "channel", "message_id author body sent limit 8") {
							player(c, m.to("author"))
						}
					}
				}
			}),
			s.call(6, web, func(c *client) {
				f := c.get("players_by_nick", c.any("Player"), "player_id")
				for _, x := range c.list("mentions_by_user", f, "mentioned", "message message.channel message.bucket message.author message.body limit 5") {
					player(c, &frame{e: s.w.entity("Player"), i: x.to("message").to("author").i, row: map[string]origin{"player_id": x.row["message.author"]}})
					if c.chance(0.5) {
						c.get("messages", x.with("message"), "body sent")
						c.get("channels", x.with("message").to("channel"), "topic")
					}
				}
			}),
			s.call(8, web, func(c *client) {
				f := c.any("Player")
				for _, x := range c.list("dms_by_player", f, "player", "dm") {
					if c.chance(0.5) {
						for _, y := range c.list("dm_participants", x.to("dm"), "dm", "player last_read") {
							player(c, y.to("player"))
						}
						c.list("direct_messages", x.to("dm"), "dm", "message_id author body sent limit 8")
					}
				}
			}),
			s.call(10, game, func(c *client) {
				f := c.get("matches", c.any("Match"), "*")
				c.get("maps", f.to("field"), "title")
				for _, x := range c.list("match_results", f, "match", "*") {
					player(c, x.to("player"))
					if !c.cached("hero", x.to("hero"), 50*time.Millisecond) {
						c.get("heroes", x.to("hero"), "title")
					}
				}
			}),
			s.call(8, web, func(c *client) {
				f := c.get("players", c.any("Player"), "nick elo")
				for _, x := range c.list("results_by_player", f, "player", "match kills hero limit 5") {
					if c.chance(0.6) {
						c.get("matches", x.to("match"), "mode started")
					}
				}
				for _, x := range c.list("player_achievements", f, "player", "achievement at limit 5") {
					c.get("achievements", x.to("achievement"), "title")
				}
				for _, x := range c.list("ranks_by_player", f, "player", "season score") {
					c.get("seasons", x.to("season"), "label")
				}
			}),
			s.call(6, game, func(c *client) {
				f := c.any("Player")
				for _, x := range c.list("inventory", f, "player", "item amount") {
					y := c.get("items", x.to("item"), "*")
					if u := y.to("upgrade"); u != nil && c.chance(0.3) {
						c.get("items", u, "title price")
					}
				}
			}),
			s.call(6, web, func(c *client) {
				f := c.get("players_by_mail", c.any("Player"), "player_id nick")
				for _, x := range c.list("friends", f, "one", "other since limit 8") {
					player(c, x.to("other"))
				}
				for _, x := range c.list("friends_of", f, "other", "one limit 4") {
					player(c, x.to("one"))
				}
			}),
			s.call(4, web, func(c *client) {
				f := c.get("seasons", c.any("Season"), "label")
				for _, x := range c.list("leaderboard", f, "season", "score player player.nick limit 10") {
					if c.chance(0.4) {
						player(c, x.to("player"))
					}
				}
			}),
			s.call(4, web, func(c *client) {
				for _, x := range c.page("matches_by_day", c.any("Match"), "started match_id field limit 8") {
					if c.chance(0.5) {
						c.list("match_results", x, "match", "*")
					}
				}
			}),
			s.call(5, mod, func(c *client) {
				f := c.get("reports", c.any("Report"), "*")
				player(c, f.to("reporter"))
				player(c, f.to("culprit"))
				if m := f.to("match"); m != nil {
					c.get("matches", m, "mode")
				}
				for _, x := range c.list("reports_by_culprit", f.to("culprit"), "culprit", "report_id reason limit 4") {
					if c.chance(0.5) {
						c.get("reports", x, "*")
					}
				}
			}),
			s.call(5, web, func(c *client) {
				for _, x := range c.list("purchases_by_player", c.any("Player"), "buyer", "purchase_id at price item limit 5") {
					c.get("items", x.to("item"), "title")
					if c.chance(0.3) {
						c.get("purchases", x, "*")
					}
				}
			}),
			s.call(3, web, func(c *client) {
				f := c.get("clans_by_tag", c.any("Clan"), "clan_id title")
				c.list("channels_by_clan", f, "clan", "channel_id topic")
			}),
			s.call(3, web, func(c *client) { c.list("activity", c.any("Player"), "player", "event_id kind subject_id limit 8") }),
			s.call(2, web, func(c *client) { c.get("dm_threads", c.any("Dm"), "created") }),
			s.call(6, web, func(c *client) {
				x := c.get("channels", c.any("Channel"), "topic")
				c.make("Message", false, "messages", map[string]*frame{"channel": x, "author": c.any("Player")})
			}),
			s.call(4, web, func(c *client) { c.make("DirectMessage", false, "direct_messages", nil) }),
			s.call(2, web, func(c *client) { c.make("Mention", false, "mentions_by_user", nil) }),
			s.call(4, game, func(c *client) {
				m := c.make("Match", true, "matches matches_by_day", nil)
				for range 3 {
					c.make("Result", true, "match_results results_by_player", map[string]*frame{"match": m})
				}
			}),
			s.call(4, game, func(c *client) { c.increment("player_stats", c.any("Player")) }),
			s.call(2, web, func(c *client) { c.make("Purchase", true, "purchases purchases_by_player", nil) }),
			s.call(2, web, func(c *client) { c.make("Login", false, "sessions", nil) }),
			s.call(2, web, func(c *client) { c.make("Membership", true, "clan_members clans_by_player", nil) }),
			s.call(2, web, func(c *client) { c.make("Friendship", true, "friends friends_of", nil) }),
			s.call(2, mod, func(c *client) { c.make("Report", true, "reports reports_by_culprit", nil) }),
			s.call(3, game, func(c *client) { c.make("Event", false, "activity", nil) }),
			s.call(1, web, func(c *client) { c.make("Player", true, "players players_by_nick players_by_mail", nil) }),
			s.call(2, game, func(c *client) { c.make("Rank", true, "leaderboard ranks_by_player", nil) }),
		}
	},
}
