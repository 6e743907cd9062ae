package main

import "time"

// stream is music: tracks of albums in an order, lists of tracks as rows and as a set of ids in one cell; what was played, by the month and the time; how often, as counters;
// who follows whom, of two kinds; a list of what is new by day and country.
var stream = application{
	name: "stream",
	model: `
Artist 600 *artist_id:uuid name:text biography:text
Album 1500 *album_id:uuid title:text released:date/90 artist->Artist.albums
Track 7000 *track_id:uuid title:text seconds:int/400 plays:counter album->Album.tracks artist->Artist.tracks
Place 7000 *album->Album.order *number:int@album track->Track.places
Listener 1500 *listener_id:uuid nick:text country:text/20
Playlist 1800 *playlist_id:uuid title:text owner->Listener.playlists
Slot 8000 *playlist->Playlist.slots *position:int@playlist track->Track.slots
Play 9000 *listener->Listener.plays *at:timestamp@listener month:int<at/4 device:text/4 track->Track.played
Fan 4000 *listener->Listener.idols *artist->Artist.fans since:timestamp
Release 2500 *day:date/30 *country:text/20 *album->Album.releases *rank:int/100`,
	normal: `
artists(Artist): artist_id | | name biography
albums(Album): album_id | | title released artist_id=artist
albums_by_artist(Album): artist_id=artist | -released album_id | title
tracks(Track): track_id | | title seconds album_id=album artist_id=artist
track_plays(Track): track_id | | plays
album_tracks(Place): album_id=album | number | track_id=track
listeners(Listener): listener_id | | nick country
playlists(Playlist): playlist_id | | title owner_id=owner
playlists_by_owner(Playlist): owner_id=owner | playlist_id | title
playlist_tracks(Slot): playlist_id=playlist | position | track_id=track
history(Play): listener_id=listener month | -at | device track_id=track
idols(Fan): listener_id=listener | artist_id=artist | since
fans(Fan): artist_id=artist | listener_id=listener
releases(Release): day country | rank album_id=album |`,
	grown: func(s *site) []chore {
		const app, job = 1, 2
		track := func(c *client, f *frame) {
			if !c.cached("track", f, 150*time.Millisecond) {
				c.get("tracks", f, "title seconds artist")
			}
		}
		artist := func(c *client, f *frame) *frame { return c.get("artists", f, "name") }
		return []chore{
			s.call(14, app, func(c *client) {
				f := c.get("albums", c.any("Album"), "*")
				artist(c, f.to("artist"))
				together(c, c.list("album_tracks", f, "album", "number track"), func(c *client, x *frame) { track(c, x.to("track")) })
			}),
			s.call(12, app, func(c *client) {
				f := c.get("listeners", c.any("Listener"), "nick")
				for _, x := range c.list("playlists_by_owner", f, "owner", "playlist_id title limit 5") {
					if c.chance(0.5) {
						x = c.get("playlists", x, "*")
						for _, y := range c.list("playlist_tracks", x, "playlist", "position track limit 10") {
							track(c, y.to("track"))
						}
					}
				}
			}),
			s.call(10, app, func(c *client) {
				f := artist(c, c.any("Artist"))
				c.list("albums_by_artist", f, "artist", "album_id title limit 10")
				c.list("fans", f, "artist", "listener limit 10")
			}),
			s.call(8, app, func(c *client) {
				for _, x := range c.list("history", c.any("Listener"), "listener", "at track limit 10") {
					track(c, x.to("track"))
				}
			}),
			s.call(6, app, func(c *client) {
				f := c.any("Listener")
				for _, x := range c.list("idols", f, "listener", "artist since limit 8") {
					artist(c, x.to("artist"))
				}
			}),
			s.call(6, app, func(c *client) {
				for _, x := range c.page("releases", c.any("Release"), "rank album") {
					c.get("albums", x.to("album"), "title")
				}
			}),
			s.call(8, app, func(c *client) {
				f := c.any("Track")
				f = c.get("tracks", f, "*")
				c.get("albums", f.to("album"), "title")
				c.make("Play", false, "history", map[string]*frame{"track": f})
				c.increment("track_plays", f)
			}),
			s.call(3, app, func(c *client) { c.make("Fan", true, "idols fans", nil) }),
			s.call(3, app, func(c *client) { c.make("Slot", false, "playlist_tracks", nil) }),
			s.call(2, job, func(c *client) { c.make("Release", false, "releases", nil) }),
		}
	},
}
