package writers

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/helenus-db/helenus/advisor/safety"
	"github.com/helenus-db/helenus/capture"
	"github.com/helenus-db/helenus/capture/burst"
	"github.com/helenus-db/helenus/capture/feed"
	"github.com/helenus-db/helenus/capture/histogram"
	"github.com/helenus-db/helenus/capture/profile"
	"github.com/helenus-db/helenus/capture/schema"
)

// tables makes a schema: "name: partition | clustering | static | regular", all of type text.
func tables(definitions ...string) *schema.Schema {
	k := schema.Keyspace{Name: "tw"}
	for _, d := range definitions {
		name, rest, _ := strings.Cut(d, ": ")
		t := schema.Table{Keyspace: "tw", Name: name}
		for i, part := range strings.Split(rest, "|") {
			kind := []schema.ColumnKind{schema.PartitionKey, schema.Clustering, schema.Static, schema.Regular}[i]
			for n, c := range strings.Fields(part) {
				t.Columns = append(t.Columns, schema.Column{Name: c, Kind: kind, Position: n, Type: "text"})
			}
		}
		k.Tables = append(k.Tables, t)
	}
	slices.SortFunc(k.Tables, func(a, b schema.Table) int { return strings.Compare(a.Name, b.Name) })
	return &schema.Schema{Keyspaces: []schema.Keyspace{k}}
}

func twissandra() *schema.Schema {
	return tables("users: username |||password", "tweets: tweet_id ||| username body", "friends: username | friend || since", "followers: username | follower || since",
		"userline: username | time || tweet_id", "timeline: username | time || tweet_id")
}

// seen is a picture of a hundred seconds in which each statement was said a thousand times. Fingerprints are "0000"...
func seen(texts ...string) *capture.Snapshot {
	s := &capture.Snapshot{From: time.Unix(0, 0), To: time.Unix(100, 0)}
	for i, text := range texts {
		s.Statements = append(s.Statements, capture.Statement{Fingerprint: strings.Repeat(fmt.Sprint(i), 32), Keyspace: "tw", Text: text, Count: 1000,
			Callers: []capture.Share{{Caller: capture.Caller{Application: "site"}, Count: 1000}}})
	}
	return s
}

var said6 = []string{
	"INSERT INTO users (username, password) VALUES (?, ?)",
	"INSERT INTO tweets (tweet_id, username, body) VALUES (?, ?, ?)",
	"INSERT INTO friends (username, friend, since) VALUES (?, ?, ?)",
	"INSERT INTO followers (username, follower, since) VALUES (?, ?, ?)",
	"INSERT INTO userline (username, time, tweet_id) VALUES (?, ?, ?)",
	"INSERT INTO timeline (username, time, tweet_id) VALUES (?, ?, ?)",
}

// echo says that a column of a write was known before.
func echo(from, to int, table, name string, hits int) feed.Feed {
	return feed.Feed{From: feed.End{Fingerprint: strings.Repeat(fmt.Sprint(from), 32), Keyspace: "tw", Table: "users", Column: "username"},
		To:         feed.End{Fingerprint: strings.Repeat(fmt.Sprint(to), 32), Keyspace: "tw", Table: table, Column: name},
		Executions: 100, Hits: hits, Confidence: 0.9, Shape: feed.Single}
}

// mined is twissandra with what is learnt from values: the echoes of docs/design/mapping.md 4.2, and that a tweet goes to many
// timelines.
func mined() *capture.Snapshot {
	s := seen(said6...)
	s.Feeds = []feed.Feed{echo(0, 1, "tweets", "username", 97), echo(0, 2, "friends", "username", 98), echo(0, 2, "friends", "friend", 40),
		echo(0, 3, "followers", "follower", 98), echo(0, 3, "followers", "username", 40), echo(0, 4, "userline", "username", 97), echo(0, 5, "timeline", "username", 30)}
	for i := range s.Statements {
		st := &s.Statements[i]
		w, _ := readTemplate(st, twissandra())
		for _, name := range w.allColumns() {
			st.Variables = append(st.Variables, capture.Column{Keyspace: "tw", Table: w.table.Name, Name: name})
		}
	}
	s.Bursts = []burst.Pair{{From: s.Statements[1].Fingerprint, To: s.Statements[5].Fingerprint, Writes: 100, Accompanied: 99, Mean: 12,
		Equal: []burst.Equal{{From: 0, To: 2, Share: 1, Same: true}}}}
	return s
}

// verdicts checks all tables.
func verdicts(t *testing.T, in Input) (map[string]safety.Verdict, map[string]*safety.Finding) {
	t.Helper()
	r, err := Make(in)
	if err != nil {
		t.Fatal(err)
	}
	all, findings := map[string]safety.Verdict{}, map[string]*safety.Finding{}
	for _, x := range r.Tables {
		f, err := safety.Judge(x, safety.Partition, safety.Principal{})
		if err != nil {
			t.Fatal(err)
		}
		name := strings.TrimPrefix(x.Name, "tw.")
		all[name], findings[name] = f.Verdict, f
	}
	return all, findings
}

// TestTwissandra: the rows of section 4.7's table, from captured statements.
func TestTwissandra(t *testing.T) {
	in := Input{Schema: twissandra(), Snapshot: mined()}
	r, err := Make(in)
	if err != nil || r.Principal != "tw.users.username" || !r.Guessed {
		t.Fatalf("%+v %v", r, err)
	}
	got, findings := verdicts(t, in)
	want := map[string]safety.Verdict{"users": safety.SafeIf, "tweets": safety.SafeIf, "friends": safety.SafeIf, "userline": safety.SafeIf,
		"followers": safety.Unsafe, "timeline": safety.Unsafe}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	for name, text := range map[string]string{"tweets": "username (tweet_id → username)", "users": "the writers are the values of tw.users.username (guessed)"} {
		if !strings.Contains(strings.Join(findings[name].If, "\n"), text) {
			t.Errorf("%s: if %q, want %s", name, findings[name].If, text)
		}
	}
	if s := strings.Join(findings["timeline"].Senders, "\n"); !strings.Contains(s, "who sends 11111111, which it goes with several times (said by site 100 %)") {
		t.Errorf("timeline: %s", s)
	}
	if len(findings["timeline"].Options) == 0 || findings["timeline"].Class != safety.Append {
		t.Errorf("timeline: %+v", findings["timeline"])
	}

	// What is said takes the place of what is concluded.
	in.Principal, in.Facts = "tw.users.username", []Fact{{"tw", "tweets", []string{"tweet_id"}, "username"}}
	in.Owners = map[string]string{}
	for i, name := range []string{"username", "username", "username", "follower", "username"} {
		in.Owners[strings.Repeat(fmt.Sprint(i), 8)] = name
	}
	got, _ = verdicts(t, in)
	for _, name := range []string{"users", "tweets", "friends", "userline"} {
		if got[name] != safety.Safe {
			t.Errorf("%s is %s although all was said", name, got[name])
		}
	}
	in.Owners["44444444"] = "*"
	if got, _ = verdicts(t, in); got["userline"] != safety.Unsafe {
		t.Errorf("userline, by anyone: %s", got["userline"])
	}
}

// TestNamesOnly: without values, columns that are called like the users' key are taken for it, and several of them for none.
func TestNamesOnly(t *testing.T) {
	got, findings := verdicts(t, Input{Schema: twissandra(), Snapshot: seen(said6...)})
	want := map[string]safety.Verdict{"users": safety.SafeIf, "tweets": safety.SafeIf, "friends": safety.SafeIf, "userline": safety.SafeIf,
		"followers": safety.SafeIf, "timeline": safety.SafeIf}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if s := strings.Join(findings["followers"].If, "\n"); !strings.Contains(s, "statement 33333333 is sent by the one that its username names") {
		t.Errorf("followers: what has to be confirmed is not said: %s", s)
	}
}

// TestApplications: where nobody is named, each application is one writer.
func TestApplications(t *testing.T) {
	s := seen("UPDATE stock SET n = ? WHERE item = ?", "INSERT INTO log (day, at, line) VALUES (?, ?, ?)", "DELETE FROM log WHERE day = ?")
	s.Statements[2].Callers = []capture.Share{{Caller: capture.Caller{Application: "cleaner"}, Count: 1000}}
	in := Input{Schema: tables("stock: item ||| n", "log: day | at || line"), Snapshot: s}
	got, findings := verdicts(t, in)
	if got["stock"] != safety.SafeIf || !strings.Contains(strings.Join(findings["stock"].If, " "), "one process of site at a time") {
		t.Errorf("stock: %s if %q", got["stock"], findings["stock"].If)
	}
	if got["log"] != safety.Unsafe { // site writes, cleaner deletes
		t.Errorf("log: %s", got["log"])
	}
	s.Statements[0].Callers = append(s.Statements[0].Callers, capture.Share{Caller: capture.Caller{Rest: true}})
	if got, _ = verdicts(t, in); got["stock"] != safety.Unsafe {
		t.Errorf("said by others too: %s", got["stock"])
	}
}

// TestNumbers: what was measured makes an unsafe table cold or hot.
func TestNumbers(t *testing.T) {
	micros := func(n uint64) histogram.Distribution {
		var h histogram.Histogram
		for range 100 {
			h.Add(n)
		}
		var d histogram.Distribution
		h.AddTo(&d)
		return d
	}
	for name, c := range map[string]struct {
		text   string
		change func(s *capture.Statement, x *profile.Table)
		want   safety.Verdict
	}{
		"nobody has looked": {"INSERT INTO board (topic, at, line) VALUES (?, ?, ?)", func(_ *capture.Statement, x *profile.Table) { x.Writes, x.Name = 0, "other" }, safety.Unsafe},
		"cold":              {"UPDATE board SET line = ? WHERE topic = ? AND at = ?", func(s *capture.Statement, _ *profile.Table) { s.Count = 10 }, safety.Cold},
		"one row, twice":    {"UPDATE board SET line = ? WHERE topic = ? AND at = ?", func(_ *capture.Statement, x *profile.Table) { x.Met = profile.Meetings{Partition: 3, Row: 1, Most: 2} }, safety.Hot},
		"other rows":        {"UPDATE board SET line = ? WHERE topic = ? AND at = ?", func(s *capture.Statement, x *profile.Table) { s.Count, x.Met.Partition = 10, 3 }, safety.Cold},
		"appends":           {"INSERT INTO board (topic, at, line) VALUES (?, ?, ?)", func(_ *capture.Statement, x *profile.Table) { x.Met = profile.Meetings{Partition: 30, Most: 5} }, safety.Unsafe},
		"a large partition": {"INSERT INTO board (topic, at, line) VALUES (?, ?, ?)", func(_ *capture.Statement, x *profile.Table) { x.Heaviest.Add(1, 2e8) }, safety.Hot},
		"slow transactions": {"UPDATE board SET line = ? WHERE topic = ? AND at = ? IF line = ?", func(s *capture.Statement, _ *profile.Table) { s.Conditional, s.Latency = true, micros(50_000) }, safety.Hot},
		"refused":           {"UPDATE board SET line = ? WHERE topic = ? AND at = ? IF line = ?", func(s *capture.Statement, _ *profile.Table) { s.Conditional, s.Count, s.NotApplied = true, 10, 1 }, safety.Hot},
		"there already":     {"INSERT INTO board (topic, at, line) VALUES (?, ?, ?) IF NOT EXISTS", func(s *capture.Statement, _ *profile.Table) { s.Conditional, s.Count, s.NotApplied = true, 10, 5 }, safety.Cold},
		"timed out": {"INSERT INTO board (topic, at, line) VALUES (?, ?, ?) IF NOT EXISTS", func(s *capture.Statement, _ *profile.Table) {
			s.Conditional, s.ErrorCodes = true, capture.TallyOf(map[string]uint64{"cas_write_unknown": 1})
		}, safety.Hot},
	} {
		s := seen(c.text)
		s.Statements[0].Callers = nil // anyone
		x := profile.Table{Keyspace: "tw", Name: "board", Writes: 1000, HotShare: 0.2, Partitions: 50}
		c.change(&s.Statements[0], &x)
		s.Profiles = &profile.Document{Epochs: []profile.Epoch{{ID: 1, Tables: []profile.Table{x}}}}
		got, findings := verdicts(t, Input{Schema: tables("board: topic | at || line"), Snapshot: s})
		if got["board"] != c.want {
			t.Errorf("%s: %s, want %s (%+v, %s)", name, got["board"], c.want, findings["board"].Load, findings["board"].Class)
		}
		if f := findings["board"]; len(f.Options) == 0 {
			t.Errorf("%s: no edited schema", name)
		}
	}
}

// TestOnePartitionOfManyNodes: appends to one partition are hot when its replicas take ten times what their nodes would; how many nodes and replicas there are decides.
func TestOnePartitionOfManyNodes(t *testing.T) {
	for _, c := range []struct {
		nodes       int
		replication map[string]string
		share       float64
		want        safety.Verdict
	}{
		{0, map[string]string{"class": "SimpleStrategy", "replication_factor": "3"}, 0, safety.Unsafe},
		{3, map[string]string{"class": "SimpleStrategy", "replication_factor": "3"}, 0.5, safety.Unsafe},
		{60, map[string]string{"class": "SimpleStrategy", "replication_factor": "3"}, 10, safety.Hot},
		{60, map[string]string{"class": "NetworkTopologyStrategy", "north": "3", "south": "3"}, 5, safety.Unsafe},
		{60, nil, 0, safety.Unsafe},
	} {
		s := seen("INSERT INTO board (topic, at, line) VALUES (?, ?, ?)")
		s.Statements[0].Callers = nil // anyone
		s.Profiles = &profile.Document{Epochs: []profile.Epoch{{ID: 1, Tables: []profile.Table{{Keyspace: "tw", Name: "board", Writes: 1000, HotShare: 0.5, Partitions: 50}}}}}
		on := tables("board: topic | at || line")
		on.Keyspaces[0].Replication = c.replication
		got, findings := verdicts(t, Input{Schema: on, Snapshot: s, Nodes: c.nodes})
		if load := findings["board"].Load; got["board"] != c.want || load.Share != c.share {
			t.Errorf("%d nodes, %v: %s, want %s; %g loads of a node, want %g", c.nodes, c.replication, got["board"], c.want, load.Share, c.share)
		}
	}
}

// TestShards: a bucket that spreads writers mitigates (S-21).
func TestShards(t *testing.T) {
	s := seen("UPDATE visits SET n = n + ? WHERE page = ? AND shard = ?")
	s.Statements[0].Callers = nil
	sc := tables("visits: page shard ||| n")
	sc.Keyspaces[0].Tables[0].Counter = true
	in := Input{Schema: sc, Snapshot: s, Statistics: []schema.Stats{{Keyspace: "tw", Table: "visits", Rows: 1600, Partitions: 1600, MeanRowBytes: 20,
		Columns: []schema.ColumnStats{{Name: "page", Distinct: 100}, {Name: "shard", Distinct: 16}}}}}
	if got, f := verdicts(t, in); got["visits"] != safety.Mitigated || f["visits"].Class != safety.Counter {
		t.Errorf("%s, %s", got["visits"], f["visits"].Class)
	}
}

func TestBadWishes(t *testing.T) {
	for name, c := range map[string]struct {
		in   Input
		want string
	}{
		"no column":        {Input{Principal: "users"}, "neither keyspace.table.column"},
		"an unknown one":   {Input{Principal: "tw.users.name"}, "there is no column tw.users.name"},
		"no statement":     {Input{Owners: map[string]string{"9999": "*"}}, `0 writes have a fingerprint that begins with "9999"`},
		"few digits":       {Input{Owners: map[string]string{"1": "*"}}, "four at least"},
		"no value":         {Input{Owners: map[string]string{"1111": "follower"}}, "it has tweet_id, username, body"},
		"an unknown table": {Input{Facts: []Fact{{"tw", "tweet", []string{"tweet_id"}, "username"}}}, "there is no column tw.tweet.tweet_id"},
	} {
		c.in.Schema, c.in.Snapshot = twissandra(), seen(said6...)
		if _, err := Make(c.in); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
	r, err := Make(Input{Schema: twissandra(), Snapshot: seen("INSERT INTO users JSON ?", "INSERT INTO nowhere (a) VALUES (?)", "SELECT * FROM users", "not CQL")})
	if err != nil || len(r.Unread) != 3 {
		t.Errorf("%+v %v", r, err)
	}
}

func FuzzParseFact(f *testing.F) {
	for _, s := range []string{"tw.tweets: tweet_id -> username", "a.b: c, d -> e", ":->", "a.b: -> c"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		x, ok := ParseFact(s)
		if ok && (x.Keyspace == "" || x.Table == "" || x.To == "" || len(x.From) == 0 || slices.Contains(x.From, "")) {
			t.Errorf("%q is %+v", s, x)
		}
	})
}
