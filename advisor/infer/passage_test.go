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

// A bed is called by its house, its ward and a number there, all of which a stay has, under names that say nothing; numbers are alike everywhere. That all of them travel together
// to the bed that is read next says whose they are, and joins the two; that some do does not.
func TestKeysThatTravelTogether(t *testing.T) {
	for _, fed := range [][]string{{"b2", "b3", "b4"}, {"b2", "b3"}} {
		s := single("ks", infertest.Table("ks", "t1", "a1 text, a2 int", "a3 int", "a4 text"), infertest.Table("ks", "t2", "b1 uuid", "", "b2 text", "b3 int", "b4 int"), infertest.Table("ks", "t3", "c1 text", "", "c2 text"))
		traffic := &infertest.Traffic{Keyspace: "ks", Seconds: 100}
		stay := traffic.Say("SELECT b2, b3, b4 FROM t2 WHERE b1 = ?", 1000, 900, 1)
		bed := traffic.Say("SELECT a4 FROM t1 WHERE a1 = ? AND a2 = ? AND a3 = ?", 1000, 900, 1)
		for i, column := range fed {
			traffic.Feed(stay, "t2", column, bed, "t1", []string{"a1", "a2", "a3"}[i], all(i, feed.Single))
		}
		m, err := infer.Infer(traffic.Snapshot(), s, []schema.Stats{
			infertest.Measured("ks", "t1", 2600, 320, "a1 40 4", "a2 8 4", "a3 20 4", "a4 3 9"), infertest.Measured("ks", "t2", 5000, 5000, "b1 5000 16", "b2 40 4", "b3 8 4", "b4 20 4"),
			infertest.Measured("ks", "t3", 40, 40, "c1 40 4", "c2 40 9"),
		})
		if err != nil {
			t.Fatal(err)
		}
		conserved(t, m, traffic.Snapshot())
		whole := len(fed) == 3
		if got := strings.Contains(related(m), "T2.t1 -> T1"); got != whole {
			t.Errorf("%v: relationships %s", fed, related(m))
		}
		if got := strings.Count(texts(m), "\n") == 0; got != whole { // one path, or two statements
			t.Errorf("%v: %s", fed, texts(m))
		}
	}
}

// all is a feed of all of a variable's executions.
func all(variable int, shape feed.Shape) feed.Feed {
	f := feed.Feed{Executions: 1000, Hits: 1000, Share: 1, Producers: 1000, Followed: 1, PerExecution: 1, Shape: shape, Confidence: 1}
	f.To.Index = variable
	return f
}

// Who pays and who is paid are two accounts, by two columns each. Which belong together is told by rows; without any it is open, and nothing is concluded.
func TestTwoKeysOfSeveralColumns(t *testing.T) {
	for _, seen := range []bool{true, false} {
		s := single("ks", infertest.Table("ks", "t1", "a1 int, a2 int", "", "a3 text"), infertest.Table("ks", "t2", "b1 uuid", "", "b2 int", "b3 int", "b4 int", "b5 int"))
		traffic := &infertest.Traffic{Keyspace: "ks", Seconds: 100}
		transfer := traffic.Say("SELECT b2, b3, b4, b5 FROM t2 WHERE b1 = ?", 1000, 900, 1)
		account := traffic.Say("SELECT a3 FROM t1 WHERE a1 = ? AND a2 = ?", 2000, 900, 1)
		for i, column := range []string{"b2", "b3", "b4", "b5"} {
			half := all([]int{0, 1, 0, 1}[i], feed.Single)
			half.Executions, half.Share = 2000, 0.5
			traffic.Feed(transfer, "t2", column, account, "t1", []string{"a1", "a2", "a1", "a2"}[i], half)
		}
		snapshot := traffic.Snapshot()
		if seen {
			rows := &infertest.Rows{Keyspace: "ks"}
			for branch := range 80 {
				for number := range 1 + branch%6 {
					rows.Add("t1", "a1", fmt.Sprint("branch ", branch), "a2", fmt.Sprint("number ", number))
				}
			}
			for i := range 400 {
				from, to := i%80, i*7%80
				rows.Add("t2", "b1", fmt.Sprint("transfer ", i), "b2", fmt.Sprint("branch ", from), "b3", fmt.Sprint("number ", i%(1+from%6)), "b4", fmt.Sprint("branch ", to), "b5", fmt.Sprint("number ", i%(1+to%6)))
			}
			snapshot.Profiles = rows.Document()
		}
		m, err := infer.Infer(snapshot, s, []schema.Stats{
			infertest.Measured("ks", "t1", 280, 280, "a1 80 4", "a2 6 4", "a3 4 9"), infertest.Measured("ks", "t2", 400, 400, "b1 400 16", "b2 80 4", "b3 6 4", "b4 80 4", "b5 6 4"),
		})
		if err != nil {
			t.Fatal(err)
		}
		conserved(t, m, snapshot)
		if got := strings.Count(related(m), "-> T1") == 2; got != seen {
			t.Errorf("rows seen %v: relationships %s", seen, related(m))
		}
		if got := len(m.Workload.Statements) == 1; got != seen {
			t.Errorf("rows seen %v: %s", seen, texts(m))
		}
	}
}

// What is worked on an issue is listed by the issue's project and number, which are a part of its key: both are bound to what the issue's row delivered.
func TestListsBelowKeysOfSeveralColumns(t *testing.T) {
	s := single("ks", infertest.Table("ks", "t1", "a1 text", "a2 int", "a3 text"), infertest.Table("ks", "t2", "b1 text", "b2 int, b3 int", "b4 text"))
	traffic := &infertest.Traffic{Keyspace: "ks", Seconds: 100}
	issue := traffic.Say("SELECT a1, a2 FROM t1 WHERE a3 = ? ALLOW FILTERING", 1000, 900, 1)
	work := traffic.Say("SELECT b3, b4 FROM t2 WHERE b1 = ? AND b2 = ?", 1000, 900, 4)
	traffic.Feed(issue, "t1", "a1", work, "t2", "b1", all(0, feed.NPlusOne))
	traffic.Feed(issue, "t1", "a2", work, "t2", "b2", all(1, feed.NPlusOne))
	m, err := infer.Infer(traffic.Snapshot(), s, []schema.Stats{
		infertest.Measured("ks", "t1", 5000, 150, "a1 150 4", "a2 300 4", "a3 5000 20"), infertest.Measured("ks", "t2", 9000, 150, "b1 150 4", "b2 300 4", "b3 9 4", "b4 900 9"),
	})
	if err != nil {
		t.Fatal(err)
	}
	conserved(t, m, traffic.Snapshot())
	if got := related(m); got != "T2.t1 -> T1" || len(m.Workload.Statements) != 1 {
		t.Errorf("relationships %s, workload %s", got, texts(m))
	}
}

// A comment's project and number are those of an issue by their names, where both are called so in no other key, and the number is more than an id.
func TestKeysOfSeveralColumnsByName(t *testing.T) {
	for _, c := range []struct {
		own, also string
		want      bool
	}{{"issue_no", "", true}, {"id", "", false}, {"number", "", true}, {"number", "bills", false}} {
		tables := []schema.Table{
			infertest.Table("ks", "projects", "project text", "", "title text"), infertest.Table("ks", "issues", "project text", c.own+" int", "summary text"),
			infertest.Table("ks", "comments", "project text, "+c.own+" int", "comment_id timeuuid", "body text"),
		}
		stats := []schema.Stats{
			infertest.Measured("ks", "projects", 150, 150, "project 150 4", "title 150 9"), infertest.Measured("ks", "issues", 5000, 150, "project 150 4", c.own+" 300 4", "summary 5000 20"),
			infertest.Measured("ks", "comments", 9000, 3000, "project 150 4", c.own+" 300 4", "comment_id 9000 16", "body 9000 20"),
		}
		if c.also != "" {
			tables, stats = append(tables, infertest.Table("ks", c.also, "project text", c.own+" int", "amount int")), append(stats, infertest.Measured("ks", c.also, 4000, 150, "project 150 4", c.own+" 300 4", "amount 900 4"))
		}
		m, err := infer.Infer((&infertest.Traffic{Keyspace: "ks", Seconds: 10}).Snapshot(), single("ks", tables...), stats)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(related(m), "Comment.issue -> Issue"); got != c.want {
			t.Errorf("%+v: relationships %s", c, related(m))
		}
	}
}

// A remark's document and version are those of a version by their names, though these are no identifiers', where all of the version's primary key comes first and rows mostly agree; what is
// of a day has no day's sum.
func TestPrimaryKeysThatGoOn(t *testing.T) {
	for _, c := range []struct {
		part    string
		another int // so many of three documents have remarks on versions that were not seen
		want    bool
	}{{"version", 1, true}, {"version", 3, false}, {"day", 1, false}} {
		rows := &infertest.Rows{Keyspace: "ks"}
		for i := range 100 {
			document := fmt.Sprint("document ", i)
			for n := range 2 + i%3 {
				rows.Add("versions", "document", document, c.part, fmt.Sprint(n))
				if i%3 < c.another {
					n += 9
				}
				rows.Add("remarks", "document", document, c.part, fmt.Sprint(n), "remark_id", fmt.Sprint("remark ", i, n))
			}
		}
		snapshot := (&infertest.Traffic{Keyspace: "ks", Seconds: 10}).Snapshot()
		snapshot.Profiles = rows.Document()
		m, err := infer.Infer(snapshot, single("ks",
			infertest.Table("ks", "documents", "document uuid", "", "title text"), infertest.Table("ks", "versions", "document uuid", c.part+" int", "body text"),
			infertest.Table("ks", "remarks", "document uuid, "+c.part+" int", "remark_id uuid", "line text")),
			[]schema.Stats{
				infertest.Measured("ks", "documents", 100, 100, "document 100 16", "title 100 9"), infertest.Measured("ks", "versions", 300, 100, "document 100 16", c.part+" 4 4", "body 290 9"),
				infertest.Measured("ks", "remarks", 320, 250, "document 100 16", c.part+" 4 4", "remark_id 320 16", "line 300 9"),
			})
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(related(m), "Remark.version -> Version"); got != c.want {
			t.Errorf("%+v: relationships %s", c, related(m))
		}
	}
}

// "WEB|12" is an issue, though WEB is a project: of one table alone the key has these parts. Whatever else has such texts has an issue, too.
func TestTextsOfKeysOfSeveralColumns(t *testing.T) {
	for _, c := range []struct {
		rivals bool
		want   string
	}{{false, "T1.a1 -> T5, T2.t1 -> T1, T3.t1 -> T1"}, {true, "T1.a1 -> T5, T2.b2 -> T5, T3.c1 -> T5, T4.d1 -> T5"}} {
		rows := &infertest.Rows{Keyspace: "ks"}
		parts := func(i int) []string { return []string{fmt.Sprint("project ", i%60), fmt.Sprint("number ", i/60)} }
		for i := range 600 {
			p := parts(i)
			rows.Add("t1", "a1", p[0], "a2", p[1], "a3", fmt.Sprint("title ", i))
			rows.Add("t4", "d1", p[0], "d2", p[1], "d3", fmt.Sprint("sum ", i))
			rows.Add("t5", "e1", p[0], "e2", fmt.Sprint("name ", i%60))
			rows.Joined("t2", "b2", parts(i*7%600), "b1", fmt.Sprint("comment ", i))
			rows.Joined("t3", "c1", parts(i*11%600), "c2", fmt.Sprint("user ", i%90))
		}
		tables := []schema.Table{
			infertest.Table("ks", "t1", "a1 text", "a2 text", "a3 text"), infertest.Table("ks", "t2", "b1 uuid", "", "b2 text"), infertest.Table("ks", "t3", "c1 text", "c2 text"),
			infertest.Table("ks", "t5", "e1 text", "", "e2 text"),
		}
		if c.rivals {
			tables = append(tables, infertest.Table("ks", "t4", "d1 text", "d2 text", "d3 text"))
		}
		snapshot := (&infertest.Traffic{Keyspace: "ks", Seconds: 10}).Snapshot()
		snapshot.Profiles = rows.Document()
		m, err := infer.Infer(snapshot, single("ks", tables...), []schema.Stats{
			infertest.Measured("ks", "t1", 600, 60, "a1 60 9", "a2 10 9", "a3 600 20"), infertest.Measured("ks", "t2", 900, 900, "b1 900 16", "b2 600 20"), infertest.Measured("ks", "t3", 900, 600, "c1 600 20", "c2 90 9"),
			infertest.Measured("ks", "t4", 600, 60, "d1 60 9", "d2 10 9", "d3 600 20"), infertest.Measured("ks", "t5", 60, 60, "e1 60 9", "e2 60 20"),
		})
		if err != nil {
			t.Fatal(err)
		}
		if got := related(m); got != c.want {
			t.Errorf("rivals %v: relationships %s, want %s", c.rivals, got, c.want)
		}
	}
}
