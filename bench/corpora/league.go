package main

import "time"

// league is games, seasons that are numbered in each, and what players score in them; matches of two teams, one of which wins; counters by the player and the day. All
// ids are small integers, which every table has.
var league = application{
	name: "league",
	model: `
Game 25 *game_id:int title:text
Season 120 *game->Game.seasons *season_no:int@game starts:date
Team 180 *team_id:int name:text captain->Player.captaincies
Player 1500 *player_id:int nick:text country:text/40 team->Team.players
Score 9000 *season->Season.scores *player->Player.scores points:int/3000
Match 4000 *match_id:int played:timestamp home->Team.home away->Team.away winner->Team.won season->Season.matches
Tally 5000 *player->Player.tallies *day:date@player kills:counter
Badge 60 *badge_id:int label:text
Award 4000 *player->Player.awards *badge->Badge.awards at:timestamp`,
	normal: `
games(Game): game_id | | title
seasons(Season): game_id=game | season_no | starts
teams(Team): team_id | | name captain_id=captain
players(Player): player_id | | nick country team_id=team
team_players(Player): team_id=team | player_id | nick
leaderboard(Score): game_id=season.game season_no=season.season_no | -points player_id=player | 
scores(Score): player_id=player | game_id=season.game season_no=season.season_no | points
matches(Match): match_id | | played home_team=home away_team=away winner_team=winner game_id=season.game season_no=season.season_no
matches_by_team(Match): team_id=home | -played match_id | away_team=away
tallies(Tally): player_id=player | day | kills
badges(Badge): badge_id | | label
awards(Award): player_id=player | badge_id=badge | at`,
	grown: func(s *site) []chore {
		const web, play = 1, 2
		player := func(c *client, f *frame) {
			if !c.cached("player", f, 200*time.Millisecond) {
				c.get("players", f, "nick country")
			}
		}
		team := func(c *client, f *frame) *frame { return c.get("teams", f, "name captain") }
		return []chore{
			s.call(18, web, func(c *client) {
				f := c.get("games", c.any("Game"), "*")
				for _, x := range c.list("seasons", f, "game", "season_no starts limit 3") {
					if c.chance(0.5) {
						together(c, c.list("leaderboard", x, "season", "points player limit 10"), func(c *client, y *frame) { player(c, y.to("player")) })
					}
				}
			}),
			s.call(16, web, func(c *client) {
				f := c.get("matches", c.any("Match"), "*")
				team(c, f.to("home"))
				player(c, team(c, f.to("away")).to("captain"))
				c.get("seasons", f.to("season"), "starts")
			}),
			s.call(12, web, func(c *client) {
				f := c.get("players", c.any("Player"), "*")
				team(c, f.to("team"))
				c.list("scores", f, "player", "* limit 10")
				for _, x := range c.list("awards", f, "player", "badge at limit 6") {
					if b := x.to("badge"); !c.cached("badge", b, 200*time.Millisecond) {
						c.get("badges", b, "label")
					}
				}
			}),
			s.call(8, web, func(c *client) {
				f := team(c, c.any("Team"))
				for _, x := range c.list("team_players", f, "team", "player_id nick") {
					if c.chance(0.4) {
						c.list("tallies", x, "player", "day kills limit 7")
					}
				}
			}),
			s.call(6, web, func(c *client) {
				f := c.any("Team")
				for _, x := range c.list("matches_by_team", f, "home", "match_id away limit 5") {
					team(c, x.to("away"))
				}
			}),
			s.call(10, play, func(c *client) { c.increment("tallies", c.any("Tally")) }),
			s.call(5, play, func(c *client) { c.make("Match", true, "matches matches_by_team", nil) }),
			s.call(5, play, func(c *client) { c.make("Score", true, "leaderboard scores", nil) }),
			s.call(3, play, func(c *client) { c.make("Award", false, "awards", nil) }),
		}
	},
}
