package infer_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/helenus-db/helenus/advisor/infer"
	"github.com/helenus-db/helenus/advisor/infer/infertest"
	"github.com/helenus-db/helenus/capture/feed"
	"github.com/helenus-db/helenus/capture/schema"
)

// bare is inferred of tables alone, or of what was measured of them.
func bare(t *testing.T, tables []schema.Table, stats ...schema.Stats) *infer.Model {
	t.Helper()
	m, err := infer.Infer((&infertest.Traffic{Keyspace: "ks", Seconds: 10}).Snapshot(), single("ks", tables...), stats)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// keyOf is the key of the entity that a table holds, "" if it holds none.
func keyOf(m *infer.Model, table string) string {
	for i := range m.Entities {
		for _, of := range m.Entities[i].Tables {
			if of == "ks."+table {
				return strings.Join(m.Entities[i].Key, " ")
			}
		}
	}
	return ""
}

// What rows are called by is told by names and types where nothing was measured: lines of an order by the order and their number, in whichever order a language puts the two; what is logged by its
// timeuuid, whatever that is called; what is saved, or pinned, by who did it; and not by a piece of time, which another column of the key tells.
func TestKeysUnmeasured(t *testing.T) {
	users, tracks := infertest.Table("ks", "users", "user_id uuid", "", "nick text"), infertest.Table("ks", "tracks", "track_id uuid", "", "title text")
	for _, c := range []struct {
		others []schema.Table
		table  schema.Table
		want   string
	}{
		{[]schema.Table{infertest.Table("ks", "recetas", "receta_id timeuuid", "", "emitida date")}, infertest.Table("ks", "lineas_receta", "receta_id timeuuid", "linea int", "dosis text"), "receta_id linea"},
		{[]schema.Table{infertest.Table("ks", "commandes", "commande_id uuid", "", "date date")}, infertest.Table("ks", "lignes_commande", "commande_id uuid", "ligne_id int", "prix int"), "commande_id ligne_id"}, //nolint:misspell // French
		{[]schema.Table{infertest.Table("ks", "commandes", "commande_id uuid", "", "date date")}, infertest.Table("ks", "lignes_commande", "commande_id uuid", "ligne_id uuid", "prix int"), "ligne_id"},            //nolint:misspell // French
		{[]schema.Table{users, tracks}, infertest.Table("ks", "saved_tracks", "user_id uuid", "track_id uuid", "saved_at timestamp"), "user_id track_id"},
		{[]schema.Table{users, tracks}, infertest.Table("ks", "latest_tracks", "yyyymmdd text", "added timestamp, track_id uuid", "title text"), "track_id"},
		{nil, infertest.Table("ks", "audit_log", "usr_id int, month int", "event_id timeuuid", "action text"), "event_id"},
		{nil, infertest.Table("ks", "accesos", "login text, mes int", "momento timeuuid", "objeto text"), "momento"}, //nolint:misspell // Spanish
		{[]schema.Table{infertest.Table("ks", "events", "event_id timeuuid", "", "title text")}, infertest.Table("ks", "seen", "usr_id int", "event_id timeuuid", "at timestamp"), "usr_id event_id"},
		{nil, infertest.Table("ks", "vehicle_pings", "plate text, hour int", "at timestamp", "lat double"), "plate at"},
		{nil, infertest.Table("ks", "hours", "emp_no int, week int", "day date", "minutes int"), "emp_no day"},
		{nil, infertest.Table("ks", "forecasts", "station text, day date", "issued timestamp", "rain int"), "station day issued"},
		{nil, infertest.Table("ks", "messages", "channel_id bigint, bucket int", "message_id bigint", "body text"), "message_id"},
		{nil, infertest.Table("ks", "versions", "document_id bigint", "version_no int", "body text"), "document_id version_no"},
		{[]schema.Table{infertest.Table("ks", "friends_of", "friend_id bigint", "player_id bigint")}, infertest.Table("ks", "friends", "player_id bigint", "friend_id bigint", "since timestamp"), "player_id friend_id"},
	} {
		if got := keyOf(bare(t, append(c.others, c.table)), c.table.Name); got != c.want {
			t.Errorf("%s beside %d tables: key %q, want %q", c.table.Name, len(c.others), got, c.want)
		}
	}
}

// Copies are told by what tables are called where nothing was measured: what is found by something else, with all of the key, is the same; and so are pairs from both sides, where the names say that they
// are. What anybody may do with a post from either side is not.
func TestCopiesUnmeasured(t *testing.T) {
	for _, c := range []struct {
		tables []schema.Table
		want   string
	}{
		{[]schema.Table{infertest.Table("ks", "parcels", "parcel_id bigint", "", "sender_no bigint", "status text"), infertest.Table("ks", "parcels_by_sender", "cust_no bigint", "created timestamp, parcel_id bigint", "status text", "recipient text"),
			infertest.Table("ks", "customers", "cust_no bigint", "", "label text")}, "customers parcels+parcels_by_sender"},
		{[]schema.Table{infertest.Table("ks", "scans", "parcel_id bigint", "scanned_at timestamp", "kind text"), infertest.Table("ks", "scans_by_depot", "depot_cd text, day date", "scanned_at timestamp, parcel_id bigint", "kind text"),
			infertest.Table("ks", "depots", "depot_cd text", "", "town text")}, "depots scans+scans_by_depot"},
		{[]schema.Table{infertest.Table("ks", "pickup_points", "point_id int", "", "label text", "geohash text"), infertest.Table("ks", "points_by_geohash", "geohash text", "point_id int", "label text")}, "pickup_points+points_by_geohash"},
		{[]schema.Table{infertest.Table("ks", "match_results", "match_id bigint", "player_id bigint", "kills int", "team int"), infertest.Table("ks", "results_by_player", "player_id bigint", "match_id bigint", "kills int")}, "match_results+results_by_player"},
		{[]schema.Table{infertest.Table("ks", "clan_members", "clan_id bigint", "player_id bigint", "rank text", "nick text"), infertest.Table("ks", "clans_by_player", "player_id bigint", "clan_id bigint", "rank text"),
			infertest.Table("ks", "clans", "clan_id bigint", "", "tag text")}, "clan_members+clans_by_player clans"},
		{[]schema.Table{infertest.Table("ks", "project_team", "prj_no int", "emp_no int", "share int", "lname text"), infertest.Table("ks", "projects_by_emp", "emp_no int", "prj_no int", "share int", "caption text"),
			infertest.Table("ks", "projects", "prj_no int", "", "goal text")}, "project_team+projects_by_emp projects"},
		{[]schema.Table{infertest.Table("ks", "post_tags", "post_id uuid", "tag text", "at timestamp"), infertest.Table("ks", "tag_posts", "tag text", "post_id uuid", "at timestamp")}, "post_tags+tag_posts"},
		{[]schema.Table{infertest.Table("ks", "posts", "pid bigint", "", "body text", "author_uid bigint"), infertest.Table("ks", "posts_by_user", "uid bigint", "pid bigint", "body text"), infertest.Table("ks", "likes", "pid bigint", "uid bigint", "at timestamp"),
			infertest.Table("ks", "users", "uid bigint", "", "nick text")}, "likes posts+posts_by_user users"},
		{[]schema.Table{infertest.Table("ks", "likes", "post_id bigint", "user_id bigint", "at timestamp"), infertest.Table("ks", "bookmarks", "user_id bigint", "post_id bigint", "at timestamp")}, "bookmarks likes"},
	} {
		if m := bare(t, c.tables); held(m) != c.want {
			t.Errorf("%s, want %s", held(m), c.want)
		}
	}
}

// The scores of a season by rank are those by player: all of the key in another order, under the same names, and as many rows and values. Where there are others, it is something else.
func TestKeysInAnotherOrder(t *testing.T) {
	for _, c := range []struct {
		players, want string
	}{{"player_id 1900 8", "leaderboard+scores"}, {"player_id 1500 8", "leaderboard scores"}} {
		m := bare(t, []schema.Table{
			infertest.Table("ks", "scores", "player_id bigint", "season_no int", "score int"), infertest.Table("ks", "leaderboard", "season_no int", "score int, player_id bigint", "nick text"),
		}, infertest.Measured("ks", "scores", 4000, 1900, "player_id 1900 8", "season_no 10 4", "score 2200 4"),
			infertest.Measured("ks", "leaderboard", 4000, 10, "season_no 10 4", "score 2200 4", c.players, "nick 1800 9"))
		if got := strings.ReplaceAll(held(m), "scores+leaderboard", "leaderboard+scores"); got != c.want {
			t.Errorf("%s: %s, want %s", c.players, got, c.want)
		}
	}
}

// What people like, and what they keep, is not the same though both are as many, and as many people's, unless that was counted to the last.
func TestCountedToTheLast(t *testing.T) {
	for _, c := range []struct {
		rows  float64
		users int
		want  string
	}{{2000, 700, "bookmarks+likes"}, {2000, 702, "bookmarks likes"}, {4000, 700, "bookmarks likes"}} {
		m := bare(t, []schema.Table{
			infertest.Table("ks", "likes", "post_id bigint", "user_id bigint", "at timestamp"), infertest.Table("ks", "bookmarks", "user_id bigint", "post_id bigint", "at timestamp"),
		}, infertest.Measured("ks", "likes", c.rows, 900, "post_id 900 8", "user_id 700 8", "at 2000 8"),
			infertest.Measured("ks", "bookmarks", c.rows, 700, fmt.Sprintf("user_id %d 8", c.users), "post_id 900 8", "at 2000 8"))
		if held(m) != c.want {
			t.Errorf("%d users of %.0f rows: %s, want %s", c.users, c.rows, held(m), c.want)
		}
	}
}

// Under names that say nothing, showings by their house are those by their event: each part of the key leads to the same, or is of a time, and there are as many of each; and of something else besides.
func TestAsManyOfEverything(t *testing.T) {
	for _, c := range []struct {
		times string
		rows  float64
		want  string
	}{{"b4 1200 8", 3000, "t1 t2 t3+t4"}, {"b4 900 8", 3000, "t1 t2 t3 t4"}, {"b4 1200 8", 2500, "t1 t2 t3 t4"}} {
		rows := &infertest.Rows{Keyspace: "ks"}
		for i := range 400 {
			event := fmt.Sprint("event ", i)
			rows.Add("t1", "e1", event)
			house := fmt.Sprint("house ", i%80)
			rows.Add("t2", "h1", house)
			rows.Add("t3", "a1", event, "a4", house)
			rows.Add("t4", "b3", event, "b1", house)
		}
		snapshot := (&infertest.Traffic{Keyspace: "ks", Seconds: 10}).Snapshot()
		snapshot.Profiles = rows.Document()
		m, err := infer.Infer(snapshot, single("ks",
			infertest.Table("ks", "t1", "e1 uuid", "", "e2 text"), infertest.Table("ks", "t2", "h1 uuid", "", "h2 text"),
			infertest.Table("ks", "t3", "a1 uuid", "a2 timestamp", "a3 text", "a4 uuid"), infertest.Table("ks", "t4", "b1 uuid, b2 date", "b4 timestamp, b3 uuid", "b5 text")),
			[]schema.Stats{
				infertest.Measured("ks", "t1", 900, 900, "e1 900 16", "e2 850 9"), infertest.Measured("ks", "t2", 80, 80, "h1 80 16", "h2 80 9"),
				infertest.Measured("ks", "t3", 3000, 730, "a1 730 16", "a2 1200 8", "a3 4 9", "a4 80 16"),
				infertest.Measured("ks", "t4", c.rows, 1500, "b1 80 16", "b2 300 4", "b3 730 16", "b5 4 9", c.times),
			})
		if err != nil {
			t.Fatal(err)
		}
		if held(m) != c.want {
			t.Errorf("%s of %.0f rows: %s, want %s", c.times, c.rows, held(m), c.want)
		}
	}
}

// Messages of channels and those between two are numbered alike; each is kept under a partner that the other one knows nothing of. Messages by who wrote them are messages.
func TestOfPartnersOfTheirOwn(t *testing.T) {
	for _, c := range []struct{ table, partition, want string }{
		{"direct_messages", "dm_id bigint", "channels direct_messages dm_threads messages"}, {"messages_by_dm", "dm_id bigint", "channels dm_threads messages+messages_by_dm"},
		{"flagged_messages", "channel_id bigint", "channels dm_threads messages+flagged_messages"},
	} {
		m := bare(t, []schema.Table{
			infertest.Table("ks", "channels", "channel_id bigint", "", "topic text"), infertest.Table("ks", "dm_threads", "dm_id bigint", "", "created timestamp"),
			infertest.Table("ks", "messages", "channel_id bigint, bucket int", "message_id bigint", "body text"), infertest.Table("ks", c.table, c.partition, "message_id bigint", "body text"),
		}, infertest.Measured("ks", "channels", 300, 300, "channel_id 300 8", "topic 300 9"), infertest.Measured("ks", "dm_threads", 1200, 1200, "dm_id 1200 8", "created 1200 8"),
			infertest.Measured("ks", "messages", 9000, 1500, "channel_id 290 8", "bucket 8 4", "message_id 9000 8", "body 9000 30"),
			infertest.Measured("ks", c.table, 9000, 270, strings.Fields(c.partition)[0]+" 270 8", "message_id 9000 8", "body 9000 30"))
		if held(m) != c.want {
			t.Errorf("%s: %s, want %s", c.table, held(m), c.want)
		}
	}
}

// That columns of both have one name by chance, as of what they lead to is known, makes the partner no less one's own.
func TestPartnersCalledLikeSomethingElse(t *testing.T) {
	traffic := &infertest.Traffic{Keyspace: "ks", Seconds: 100}
	threads := traffic.Say("SELECT thread_id FROM threads_by_user WHERE user_id = ?", 1000, 900, 5)
	direct := traffic.Say("SELECT body FROM direct_messages WHERE ref = ?", 1000, 900, 5)
	said := traffic.Say("SELECT ref, body FROM messages WHERE channel_id = ?", 1000, 900, 5)
	user := traffic.Say("SELECT nick FROM users WHERE user_id = ?", 1000, 900, 1)
	traffic.Feed(threads, "threads_by_user", "thread_id", direct, "direct_messages", "ref", all(0, feed.NPlusOne))
	traffic.Feed(said, "messages", "ref", user, "users", "user_id", all(0, feed.NPlusOne))
	m := inferred(t, traffic, single("ks",
		infertest.Table("ks", "users", "user_id bigint", "", "nick text"), infertest.Table("ks", "channels", "channel_id bigint", "", "topic text"), infertest.Table("ks", "threads", "thread_id bigint", "", "user_id bigint", "since timestamp"),
		infertest.Table("ks", "threads_by_user", "user_id bigint", "thread_id bigint"), infertest.Table("ks", "messages", "channel_id bigint", "message_id bigint", "body text", "ref bigint"),
		infertest.Table("ks", "direct_messages", "ref bigint", "message_id bigint", "body text")),
		infertest.Measured("ks", "users", 2000, 2000, "user_id 2000 8", "nick 2000 9"), infertest.Measured("ks", "channels", 300, 300, "channel_id 300 8", "topic 300 9"),
		infertest.Measured("ks", "threads", 1200, 1200, "thread_id 1200 8", "user_id 800 8", "since 1200 8"), infertest.Measured("ks", "threads_by_user", 1200, 800, "user_id 800 8", "thread_id 1200 8"),
		infertest.Measured("ks", "messages", 9000, 290, "channel_id 290 8", "message_id 9000 8", "body 9000 30", "ref 1800 8"), infertest.Measured("ks", "direct_messages", 6000, 1100, "ref 1100 8", "message_id 6000 8", "body 6000 30"))
	if got := held(m); got != "channels direct_messages messages threads+threads_by_user users" {
		t.Errorf("%s", got)
	}
}

// Pairs from both sides are one though a player's counters have the player's key, too, so that it is not known yet which of the two tables is the player's.
func TestPairsOfWhatHasCounters(t *testing.T) {
	s := single("ks",
		infertest.Table("ks", "players", "player_id bigint", "", "nick text"), infertest.Table("ks", "dm_threads", "dm_id bigint", "", "created timestamp"), infertest.Table("ks", "player_stats", "player_id bigint", "", "wins counter"),
		infertest.Table("ks", "dm_participants", "dm_id bigint", "player_id bigint", "last_read bigint"), infertest.Table("ks", "dms_by_player", "player_id bigint", "dm_id bigint"))
	s.Keyspaces[0].Tables[2].Counter = true
	traffic := &infertest.Traffic{Keyspace: "ks", Seconds: 100}
	list := traffic.Say("SELECT player_id FROM dm_participants WHERE dm_id = ?", 1000, 900, 2)
	one := traffic.Say("SELECT nick FROM players WHERE player_id = ?", 2000, 900, 1)
	traffic.Feed(list, "dm_participants", "player_id", one, "players", "player_id", all(0, feed.NPlusOne))
	m := inferred(t, traffic, s,
		infertest.Measured("ks", "players", 2000, 2000, "player_id 2000 8", "nick 2000 9"), infertest.Measured("ks", "dm_threads", 1200, 1200, "dm_id 1200 8", "created 1200 8"),
		infertest.Measured("ks", "player_stats", 2000, 2000, "player_id 2000 8", "wins 300 8"),
		infertest.Measured("ks", "dm_participants", 2400, 800, "dm_id 800 8", "player_id 990 8", "last_read 600 8"), infertest.Measured("ks", "dms_by_player", 2400, 990, "player_id 990 8", "dm_id 800 8"))
	if got := held(m); got != "dm_participants+dms_by_player dm_threads players+player_stats" {
		t.Errorf("%s", got)
	}
}

// A plate is a vehicle's wherever it is, as a third table is kept by it, too; an old plate is another vehicle's. Names, and what a single table is kept by, say less.
func TestKeysThatAreNotCalledSo(t *testing.T) {
	for _, c := range []struct{ key, column, third, want string }{
		{"plate", "plate", "plate", "Tour.plate -> Vehicle"}, {"plate", "old_plate", "plate", "Tour.old_plate -> Vehicle"}, {"plate", "plate", "at_no", ""}, {"name", "name", "name", ""}, {"name", "full_name", "name", ""},
		{"depot_cd", "depot_cd", "at_no", "Tour.depot -> Vehicle"},
	} {
		m := bare(t, []schema.Table{
			infertest.Table("ks", "vehicles", c.key+" text", "", "capacity int"), infertest.Table("ks", "pings", c.third+" text", "at timestamp", "lat double"), infertest.Table("ks", "tours", "tour_no int", "", c.column+" text"),
		}, infertest.Measured("ks", "vehicles", 200, 200, c.key+" 200 9", "capacity 9 4"), infertest.Measured("ks", "pings", 9000, 190, c.third+" 190 9", "at 9000 8", "lat 8000 8"),
			infertest.Measured("ks", "tours", 1500, 1500, "tour_no 1500 4", c.column+" 180 9"))
		got := ""
		for _, r := range strings.Split(related(m), ", ") {
			if strings.HasPrefix(r, "Tour.") {
				got = r
			}
		}
		if got != c.want {
			t.Errorf("%+v: %q (%s)", c, got, related(m))
		}
	}
}

// The lines of a slip are of the slip that has all of their key but the number, though a part of that is a month: they are called after it.
func TestLinesOfAMonth(t *testing.T) {
	for _, c := range []struct{ lines, want string }{{"slip_lines", "SlipLine.slip -> Slip"}, {"bookings", ""}} {
		m := bare(t, []schema.Table{
			infertest.Table("ks", "emps", "emp_no int", "", "lname text"), infertest.Table("ks", "slips", "emp_no int", "month int", "gross int"), infertest.Table("ks", c.lines, "emp_no int, month int", "line_no int", "amount int"),
		}, infertest.Measured("ks", "emps", 1600, 1600, "emp_no 1600 4", "lname 900 9"), infertest.Measured("ks", "slips", 7000, 1500, "emp_no 1500 4", "month 12 4", "gross 900 4"),
			infertest.Measured("ks", c.lines, 12000, 6000, "emp_no 1500 4", "month 12 4", "line_no 9 4", "amount 500 4"))
		if got := related(m); strings.Contains(got, "-> Slip") != (c.want != "") || !strings.Contains(got, c.want) {
			t.Errorf("%s: %s", c.lines, got)
		}
	}
}
