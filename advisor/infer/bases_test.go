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

// Of two tables with the same rows, which are called by several columns, the one with fewer of them has the key: by what the other one is sorted is an attribute. What has more rows
// than its key can tell apart is something else: each hour's value, beside the latest.
func TestTheSmallerKeyIsTheKey(t *testing.T) {
	for _, c := range []struct {
		rows float64
		want string
	}{{9000, "scores+board"}, {30000, "board scores"}} {
		traffic := &infertest.Traffic{Keyspace: "ks", Seconds: 100}
		one := traffic.Say("INSERT INTO board (game, points, player) VALUES (?, ?, ?)", 500, 900, 0)
		other := traffic.Say("INSERT INTO scores (player, game, points) VALUES (?, ?, ?)", 500, 900, 0)
		traffic.Together(one, other, [2]int{0, 1}, [2]int{1, 2}, [2]int{2, 0})
		m, err := infer.Infer(traffic.Snapshot(), single("ks",
			infertest.Table("ks", "board", "game uuid", "points int, player uuid"), infertest.Table("ks", "scores", "player uuid", "game uuid", "points int")),
			[]schema.Stats{
				infertest.Measured("ks", "board", c.rows, 100, "game 100 16", "points 3000 4", "player 1500 16"),
				infertest.Measured("ks", "scores", 9000, 1500, "game 100 16", "points 3000 4", "player 1500 16"),
			})
		if err != nil {
			t.Fatal(err)
		}
		if got := held(m); got != c.want {
			t.Errorf("%.0f rows: %s, want %s", c.rows, got, c.want)
		}
	}
}

// A slot is called by its shop, its shelf and a number there. Slots by what is in them have all of these in their primary key, under names that say nothing, are read next to
// them, and are as many: they are the same slots. What is counted in slots is more, or less.
func TestCopiesByKeysThatTravel(t *testing.T) {
	for _, c := range []struct {
		rows float64
		want string
	}{{8000, "t1+t2 t3"}, {5000, "t1 t2 t3"}} {
		traffic := &infertest.Traffic{Keyspace: "ks", Seconds: 100}
		list := traffic.Say("SELECT b2, b3, b4 FROM t2 WHERE b1 = ?", 1000, 900, 4)
		slot := traffic.Say("SELECT a4 FROM t1 WHERE a1 = ? AND a2 = ? AND a3 = ?", 1000, 900, 1)
		product := traffic.Say("SELECT c2 FROM t3 WHERE c1 = ?", 1000, 900, 1)
		for i, column := range []string{"b2", "b3", "b4"} {
			traffic.Feed(list, "t2", column, slot, "t1", []string{"a1", "a2", "a3"}[i], all(i, feed.NPlusOne))
		}
		traffic.Feed(slot, "t1", "a4", product, "t3", "c1", all(0, feed.Single))
		rows := &infertest.Rows{Keyspace: "ks"}
		for i := range 200 {
			rows.Add("t2", "b1", fmt.Sprint("product ", i%80))
			rows.Add("t3", "c1", fmt.Sprint("product ", i%100), "c2", fmt.Sprint("name ", i%100))
		}
		snapshot := traffic.Snapshot()
		snapshot.Profiles = rows.Document()
		m, err := infer.Infer(snapshot, single("ks",
			infertest.Table("ks", "t1", "a1 int, a2 int", "a3 int", "a4 text"), infertest.Table("ks", "t2", "b1 text", "b2 int, b3 int, b4 int"), infertest.Table("ks", "t3", "c1 text", "", "c2 text")),
			[]schema.Stats{
				infertest.Measured("ks", "t1", 8000, 1800, "a1 150 4", "a2 12 4", "a3 9 4", "a4 100 9"),
				infertest.Measured("ks", "t2", c.rows, 100, "b1 100 9", "b2 150 4", "b3 12 4", "b4 9 4"), infertest.Measured("ks", "t3", 100, 100, "c1 100 9", "c2 100 9"),
			})
		if err != nil {
			t.Fatal(err)
		}
		if got := held(m); got != c.want {
			t.Errorf("%.0f rows: %s, want %s", c.rows, got, c.want)
		}
	}
}

// A table of twelve metrics is known by its texts as one of a thousand is, if half of them were seen and nothing else is in the column; numbers as texts are in everything.
func TestTablesOfFewTexts(t *testing.T) {
	for _, c := range []struct {
		name         string
		keys, others int
		made         bool
		want         bool
	}{{"all", 12, 0, false, true}, {"others too", 12, 12, false, false}, {"six", 6, 0, false, false}, {"numbers", 12, 0, true, false}} {
		rows := &infertest.Rows{Keyspace: "ks"}
		for i := range 600 {
			value := i % (c.keys + c.others)
			if c.made {
				rows.Made("alarms", "a2", "integer", "", fmt.Sprint(value))
				rows.Made("metrics", "m1", "integer", "", fmt.Sprint(value%c.keys))
				continue
			}
			rows.Add("alarms", "a1", fmt.Sprint("alarm ", i), "a2", fmt.Sprint("text ", value))
			rows.Add("metrics", "m1", fmt.Sprint("text ", value%c.keys))
		}
		snapshot := (&infertest.Traffic{Keyspace: "ks", Seconds: 10}).Snapshot()
		snapshot.Profiles = rows.Document()
		n := float64(c.keys)
		m, err := infer.Infer(snapshot, single("ks", infertest.Table("ks", "alarms", "a1 uuid", "", "a2 text"), infertest.Table("ks", "metrics", "m1 text", "", "unit int")),
			[]schema.Stats{infertest.Measured("ks", "alarms", 3000, 3000, "a1 3000 16", fmt.Sprintf("a2 %d 9", c.keys)), infertest.Measured("ks", "metrics", n, n, fmt.Sprintf("m1 %g 9", n), "unit 5 4")})
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(related(m), "-> Metric"); got != c.want {
			t.Errorf("%s: %q", c.name, related(m))
		}
	}
}

// Orders and those of former years are called alike and numbered alike, but by other numbers, of which enough were seen to know that none is among the other's.
func TestNumbersOfOthers(t *testing.T) {
	for _, c := range []struct {
		first int // number of the old ones
		want  string
	}{{1, "orders+orders_archive"}, {900_000, "orders orders_archive"}} {
		rows := &infertest.Rows{Keyspace: "ks"}
		for i := range 400 {
			rows.Add("orders", "order_id", fmt.Sprint("number ", 1+i), "total", fmt.Sprint("total ", i))
			rows.Add("orders_archive", "order_id", fmt.Sprint("number ", c.first+i), "total", fmt.Sprint("old total ", i))
		}
		snapshot := (&infertest.Traffic{Keyspace: "ks", Seconds: 10}).Snapshot()
		snapshot.Profiles = rows.Document()
		m, err := infer.Infer(snapshot, single("ks", infertest.Table("ks", "orders", "order_id bigint", "", "total int"), infertest.Table("ks", "orders_archive", "order_id bigint", "", "total int")),
			[]schema.Stats{infertest.Measured("ks", "orders", 1000, 1000, "order_id 1000 8", "total 900 4"), infertest.Measured("ks", "orders_archive", 1000, 1000, "order_id 1000 8", "total 900 4")})
		if err != nil {
			t.Fatal(err)
		}
		if got := held(m); got != c.want {
			t.Errorf("from %d on: %s, want %s", c.first, got, c.want)
		}
	}
}

// What is set of a user is asked for by the number that what is counted of the user was asked for by, and that one by the user's: all three are the user's, though nothing links the first
// to the user itself, and though it was looked at before the second was known to be.
func TestCopiesOfCopies(t *testing.T) {
	for _, linked := range []bool{true, false} {
		traffic := &infertest.Traffic{Keyspace: "ks", Seconds: 100}
		users := traffic.Say("SELECT name, mail, born FROM users WHERE number = ?", 1000, 900, 1)
		visits := traffic.Say("SELECT visits FROM visits WHERE of_number = ?", 1000, 900, 1)
		settings := traffic.Say("SELECT theme, language FROM settings WHERE for_number = ?", 1000, 900, 1)
		snapshot := traffic.Snapshot()
		alike := func(sure float64, from, table, column, to, other, key string) {
			f := all(0, feed.Sibling)
			f.Confidence = sure
			f.From, f.To = feed.End{Fingerprint: from, Keyspace: "ks", Table: table, Column: column}, feed.End{Fingerprint: to, Keyspace: "ks", Table: other, Column: key}
			snapshot.Echoes = append(snapshot.Echoes, f)
		}
		alike(1, users, "users", "number", visits, "visits", "of_number")
		if linked {
			alike(0.9, visits, "visits", "of_number", settings, "settings", "for_number")
		}
		m, err := infer.Infer(snapshot, single("ks", infertest.Table("ks", "users", "number bigint", "", "name text", "mail text", "born date"),
			infertest.Table("ks", "visits", "of_number bigint", "", "visits int"), infertest.Table("ks", "settings", "for_number bigint", "", "theme text", "language text")),
			[]schema.Stats{infertest.Measured("ks", "users", 1500, 1500, "number 1500 8", "name 1400 8", "mail 1500 9", "born 60 4"),
				infertest.Measured("ks", "visits", 1500, 1500, "of_number 1500 8", "visits 60 4"), infertest.Measured("ks", "settings", 1500, 1500, "for_number 1500 8", "theme 4 4", "language 9 4")})
		if err != nil {
			t.Fatal(err)
		}
		if got := held(m); (got == "users+settings+visits" || got == "users+visits+settings") != linked {
			t.Errorf("linked %v: %s", linked, got)
		}
	}
}

// Users are called by an id; what else is known of them by user_id, whose name says that it is of something else. What finds a user by a name, and has the mail that the users have, is
// theirs too.
func TestAnIDIsOfItsOwnTable(t *testing.T) {
	traffic := &infertest.Traffic{Keyspace: "ks", Seconds: 100}
	user := traffic.Say("INSERT INTO accounts_user (id, username, email) VALUES (?, ?, ?)", 500, 900, 0)
	name := traffic.Say("INSERT INTO accounts_user_by_username (username, id, email) VALUES (?, ?, ?)", 500, 900, 0)
	profile := traffic.Say("INSERT INTO accounts_profile (user_id, bio, avatar) VALUES (?, ?, ?)", 500, 900, 0)
	traffic.Together(user, name, [2]int{0, 1}, [2]int{1, 0}, [2]int{2, 2})
	traffic.Together(user, profile, [2]int{0, 0})
	traffic.Together(name, profile, [2]int{1, 0})
	m, err := infer.Infer(traffic.Snapshot(), single("ks",
		infertest.Table("ks", "accounts_profile", "user_id bigint", "", "bio text", "avatar text"), infertest.Table("ks", "accounts_user", "id bigint", "", "username text", "email text"),
		infertest.Table("ks", "accounts_user_by_username", "username text", "", "id bigint", "email text")),
		[]schema.Stats{
			infertest.Measured("ks", "accounts_profile", 1500, 1500, "user_id 1500 8", "bio 1500 9", "avatar 1500 9"),
			infertest.Measured("ks", "accounts_user", 1500, 1500, "id 1500 8", "username 1500 9", "email 1500 9"),
			infertest.Measured("ks", "accounts_user_by_username", 1500, 1500, "username 1500 9", "id 1500 8", "email 1500 9"),
		})
	if err != nil {
		t.Fatal(err)
	}
	if got := held(m); got != "accounts_user+accounts_profile+accounts_user_by_username" {
		t.Errorf("%s", got)
	}
}

// Parcels of lines are called by the line and a number, are read next to the line, and are about as many. Where one line has several of them at a time they are something else; where
// a line is found at one place and later at another, it moved.
func TestNoCopiesOfWhatIsThereSeveralTimes(t *testing.T) {
	for _, c := range []struct {
		name    string
		parcels int // of a line
		moves   bool
		want    string
	}{{"one each", 1, false, "t1+t2"}, {"several", 2, false, "t1 t2"}, {"one after the other", 2, true, "t1+t2"}} {
		traffic := &infertest.Traffic{Keyspace: "ks", Seconds: 100}
		list := traffic.Say("SELECT b1, b2 FROM t2 WHERE b1 = ?", 1000, 900, 4)
		line := traffic.Say("SELECT a3 FROM t1 WHERE a1 = ? AND a2 = ?", 1000, 900, 1)
		for i, column := range []string{"b1", "b2"} {
			traffic.Feed(list, "t2", column, line, "t1", []string{"a1", "a2"}[i], all(i, feed.NPlusOne))
		}
		rows := &infertest.Rows{Keyspace: "ks"}
		for i := range 60 {
			rows.Add("t1", "a1", fmt.Sprint("order ", i/3), "a2", fmt.Sprint("number ", i%3), "a3", fmt.Sprint("text ", i))
			for n := range c.parcels {
				rows.Add("t2", "b1", fmt.Sprint("order ", i/3), "b2", fmt.Sprint("number ", i%3), "b3", fmt.Sprint("number ", n))
			}
		}
		snapshot := traffic.Snapshot()
		snapshot.Profiles = rows.Document()
		for k := range snapshot.Profiles.Epochs[0].Keys {
			for i := range snapshot.Profiles.Epochs[0].Keys[k].Rows {
				if row := &snapshot.Profiles.Epochs[0].Keys[k].Rows[i]; c.moves && row.Table == "t2" {
					row.First = int64(row.Cells[2].Hash >> 1) // #nosec G115 -- one time of each b3
					row.Last = row.First
				}
			}
		}
		m, err := infer.Infer(snapshot, single("ks",
			infertest.Table("ks", "t1", "a1 int", "a2 int", "a3 text"), infertest.Table("ks", "t2", "b1 int", "b2 int,b3 int", "b4 text")),
			[]schema.Stats{
				infertest.Measured("ks", "t1", 8000, 1800, "a1 1800 4", "a2 9 4", "a3 100 9"),
				infertest.Measured("ks", "t2", 8100, 1750, "b1 1750 4", "b2 9 4", "b3 3 4", "b4 80 9"),
			})
		if err != nil {
			t.Fatal(err)
		}
		if got := held(m); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

// What is made of what, with how much of it, is kept from both sides: the same pairs, as many, the other way round, with nothing of its own. Nobody writes it while we look.
func TestPairsThatSayMore(t *testing.T) {
	for _, c := range []struct {
		name, partition, clustering string
		more                        []string
		rows                        float64
		amounts                     int
		shares                      int // of which parts: those of a product begin there
		want                        string
	}{
		{"the same", "part uuid", "product uuid", []string{"amount int"}, 3000, 9, 0, "kinds recipes+used_in"},
		{"without how much", "part uuid", "product uuid", nil, 3000, 9, 0, "kinds recipes+used_in"},
		{"fewer", "part uuid", "product uuid", []string{"amount int"}, 2700, 9, 0, "kinds recipes used_in"},
		{"the same way round", "product uuid", "part uuid", []string{"amount int"}, 3000, 9, 0, "kinds recipes used_in"},
		{"with something else", "part uuid", "product uuid", []string{"level int"}, 3000, 90, 0, "kinds recipes used_in"},
		{"other pairs", "part uuid", "product uuid", []string{"amount int"}, 3000, 9, 300, "kinds recipes used_in"},
	} {
		rows := &infertest.Rows{Keyspace: "ks"}
		for i := range 240 {
			rows.Add("kinds", "kind", fmt.Sprint("kind ", i), "label", fmt.Sprint("label ", i))
			for k := range 2 {
				part, amount := fmt.Sprint("kind ", (i*7+k*3)%240), fmt.Sprint("number ", (i+k)%9)
				rows.Add("recipes", "product", fmt.Sprint("kind ", i), "part", part, "amount", amount)
				rows.Add("used_in", "product", fmt.Sprint("kind ", (i+c.shares)%240), "part", part)
			}
		}
		snapshot := (&infertest.Traffic{Keyspace: "ks", Seconds: 10}).Snapshot()
		snapshot.Profiles = rows.Document()
		columns := []string{"product 1000 16", "part 900 16"}
		for _, x := range c.more {
			columns = append(columns, fmt.Sprintf("%s %d 4", strings.Fields(x)[0], c.amounts))
		}
		m, err := infer.Infer(snapshot, single("ks", infertest.Table("ks", "kinds", "kind uuid", "", "label text"),
			infertest.Table("ks", "recipes", "product uuid", "part uuid", "amount int"), infertest.Table("ks", "used_in", c.partition, c.clustering, c.more...)),
			[]schema.Stats{
				infertest.Measured("ks", "kinds", 1000, 1000, "kind 1000 16", "label 1000 9"), infertest.Measured("ks", "recipes", 3000, 1000, "product 1000 16", "part 900 16", "amount 9 4"),
				infertest.Measured("ks", "used_in", c.rows, 900, columns...),
			})
		if err != nil {
			t.Fatal(err)
		}
		if got := held(m); got != c.want {
			t.Errorf("%s: %s, want %s (%s)", c.name, got, c.want, related(m))
		}
	}
}
