package rules

import (
	"slices"
	"strings"
	"testing"

	"github.com/helenus-db/helenus/advisor/workload"
	"github.com/helenus-db/helenus/bench/generate"
	"pgregory.net/rapid"
)

// videos is KillrVideo as seed 001 speaks of it, with Movie and its first showing besides.
const videos = `name: videos
model:
  entities:
  - {name: User, count: 1000, key: [user_id], attributes: [{name: user_id, type: uuid}, {name: last_name, type: text, distinct: 500}, {name: first_name, type: text, distinct: 300}, {name: email, type: text}, {name: registration_date, type: date, distinct: 700}]}
  - {name: Video, count: 20000, key: [video_id], attributes: [{name: video_id, type: uuid}, {name: title, type: text, distinct: 15000}, {name: type, type: text, distinct: 5}, {name: description, type: text, size: 200}, {name: uploaded_timestamp, type: timestamp}, {name: tags, type: "set<text>", distinct: 900}]}
  - {name: Actor, count: 3000, key: [actor_name], attributes: [{name: actor_name, type: text}, {name: nationality, type: text, distinct: 50}]}
  - {name: Movie, count: 500, key: [title, release_year], attributes: [{name: title, type: text}, {name: release_year, type: int, distinct: 90}, {name: genre, type: text, distinct: 20}, {name: budget, type: double}]}
  - {name: FirstShowing, count: 500, key: [date, theatre], attributes: [{name: date, type: date}, {name: theatre, type: text}, {name: tickets, type: int}]}
  - name: Clip
    count: 9000
    key: [clip_id]
    attributes: [{name: clip_id, type: uuid}, {name: name, type: text}, {name: season, type: int, absent: 0.5}]
    hierarchy: {type: kind, disjoint: true, covering: false, subtypes: [{name: TVShow, attributes: [season]}, {name: Trailer}]}
  - name: Film
    count: 9000
    key: [film_id]
    attributes: [{name: film_id, type: uuid}, {name: name, type: text}]
    hierarchy: {type: kinds, covering: true, subtypes: [{name: TVShow}, {name: Trailer}]}
  relationships:
  - {name: uploads, from: User, to: Video, kind: "1:n", forward: videos, backward: user}
  - {name: features, from: Video, to: Actor, kind: "m:n", forward: actors, backward: videos, degree: 3}
  - {name: shown, from: Movie, to: FirstShowing, kind: "1:1", forward: showing, backward: movie}
  - {name: comments, from: User, to: Video, kind: "m:n", forward: commented, backward: commenters, degree: 5, attributes: [{name: comment, type: text}]}
statements: []
`

func traced(t *testing.T, text string) *Trace {
	t.Helper()
	w, err := workload.Read("videos.yaml", []byte(videos))
	if err != nil {
		t.Fatal(err)
	}
	s, err := workload.Parse(w.Graph, text)
	if err != nil {
		t.Fatal(err)
	}
	trace, err := Map(s.Query)
	if err != nil {
		t.Fatal(err)
	}
	return trace
}

// TestExamples holds the examples of seed 001, by the line of docs/design/acceptance.md.
func TestExamples(t *testing.T) {
	for _, c := range []struct {
		id, query          string
		table, pattern     string
		nests, duplicates  bool
		access             Access
		name               string
		static, duplicated string
	}{
		{id: "D-10 key and more", query: "SELECT Video.title FROM Video WHERE Video.video_id = ?",
			table: "[video_id][][title]", pattern: "P1", access: Partition, name: "videos"},
		{id: "D-11 1:n takes the key of n", query: "SELECT Video.title FROM User.videos WHERE User.user_id = ?",
			table: "[user_id][video_id][title]", pattern: "P5", nests: true, access: Partition, name: "videos_by_user_id"},
		{id: "D-11 m:n takes both", query: "SELECT comments.comment FROM comments.User, comments.Video WHERE User.email = ?",
			table: "[email][user_id, video_id][comment]", pattern: "P8", nests: true, duplicates: true, access: Partition, name: "comments_by_email"},
		{id: "D-18 actors under a video", query: "SELECT Actor.actor_name FROM Video.actors WHERE Video.video_id = ?",
			table: "[video_id][actor_name][]", pattern: "P7", nests: true, duplicates: true, access: Partition, name: "actors_by_video_id"},
		{id: "D-22 users by video", query: "SELECT User.user_id FROM User.videos WHERE Video.video_id = ?",
			table: "[video_id][][user_id]", pattern: "P5", access: Partition, duplicates: true, duplicated: "User.user_id"},
		{id: "D-24 two equalities", query: "SELECT Video.description FROM Video WHERE Video.title = ? AND Video.type = ?",
			table: "[title, type][video_id][description]", pattern: "P2", nests: true, access: Partition, name: "videos_by_title_type"},
		{id: "D-25 relationship", query: "SELECT Video.title FROM User.videos WHERE User.last_name = ? AND User.first_name = ?",
			table: "[last_name, first_name][video_id][title]", pattern: "P6", nests: true, access: Partition, duplicates: true, duplicated: "User.last_name, User.first_name"},
		{id: "D-29 inequality", query: "SELECT User.email FROM User WHERE User.last_name = ? AND User.registration_date > ?",
			table: "[last_name][registration_date, user_id][email]", pattern: "P2", nests: true, access: Partition},
		{id: "D-30 inequality of a relationship", query: "SELECT Video.title FROM User.videos WHERE User.user_id = ? AND Video.uploaded_timestamp > ?",
			table: "[user_id][uploaded_timestamp, video_id][title]", pattern: "P5", nests: true, access: Partition},
		{id: "D-31 ordering", query: "SELECT User.email FROM User WHERE User.last_name = ? AND User.registration_date > ? ORDER BY User.registration_date",
			table: "[last_name][registration_date, user_id][email]", pattern: "P2", nests: true, access: Partition},
		{id: "D-33 mixed directions", query: "SELECT User.email FROM User WHERE User.last_name = ? ORDER BY User.registration_date DESC, User.user_id ASC",
			table: "[last_name][registration_date desc, user_id][email]", pattern: "P2", nests: true, access: Partition},
		{id: "D-34 ordering of a relationship", query: "SELECT Video.title FROM User.videos WHERE User.user_id = ? AND Video.uploaded_timestamp > ? ORDER BY Video.uploaded_timestamp DESC, Video.video_id ASC",
			table: "[user_id][uploaded_timestamp desc, video_id][title]", pattern: "P5", nests: true, access: Partition},
		{id: "D-36 users_by_last_name", query: "SELECT User.email FROM User WHERE User.last_name = ?",
			table: "[last_name][user_id][email]", pattern: "P2", nests: true, access: Partition, name: "users_by_last_name"},
		{id: "D-42 entity by key", query: "SELECT Movie.genre FROM Movie WHERE Movie.title = ? AND Movie.release_year = ?",
			table: "[title, release_year][][genre]", pattern: "P1", access: Partition, name: "movies"},
		{id: "D-42 entity by other attributes", query: "SELECT Movie.budget FROM Movie WHERE Movie.genre = ?",
			table: "[genre][title, release_year][budget]", pattern: "P2", nests: true, access: Partition},
		{id: "D-43 1:1 by key", query: "SELECT Movie.genre, FirstShowing.tickets FROM Movie.showing WHERE Movie.title = ? AND Movie.release_year = ?",
			table: "[title, release_year][][genre, tickets]", pattern: "P3", access: Partition},
		{id: "D-43 1:1 by the other's key", query: "SELECT Movie.genre FROM Movie.showing WHERE FirstShowing.date = ? AND FirstShowing.theatre = ?",
			table: "[date, theatre][][genre]", pattern: "P3", access: Partition},
		{id: "D-43 1:1 by other attributes", query: "SELECT FirstShowing.tickets FROM Movie.showing WHERE Movie.genre = ?",
			table: "[genre][title, release_year][tickets]", pattern: "P4", nests: true, access: Partition},
		{id: "D-44 1:n by key", query: "SELECT User.email, User.last_name, Video.title FROM User.videos WHERE User.user_id = ?",
			table: "[user_id][video_id][email static, last_name static, title]", pattern: "P5", nests: true, access: Partition, static: "User.email, User.last_name"},
		{id: "D-45 1:n by other attributes", query: "SELECT User.first_name, Video.title FROM User.videos WHERE User.email = ?",
			table: "[email][video_id][first_name, title]", pattern: "P6", nests: true, duplicates: true, access: Partition, duplicated: "User.email, User.first_name"},
		{id: "D-46 n:1 by key", query: "SELECT User.email FROM Video.user WHERE Video.video_id = ?",
			table: "[video_id][][email]", pattern: "P5", duplicates: true, access: Partition, duplicated: "User.email"},
		{id: "D-46 n:1 by other attributes", query: "SELECT User.email FROM Video.user WHERE Video.title = ?",
			table: "[title][video_id][email]", pattern: "P6", nests: true, duplicates: true, access: Partition},
		{id: "D-47 m:n by key", query: "SELECT Video.title, Video.description, Actor.nationality FROM Video.actors WHERE Video.video_id = ?",
			table: "[video_id][actor_name][title static, description static, nationality]", pattern: "P7", nests: true, duplicates: true, access: Partition, static: "Video.title, Video.description"},
		{id: "D-47 keyed the other way", query: "SELECT Video.video_id FROM Actor.videos WHERE Actor.actor_name = ?",
			table: "[actor_name][video_id][]", pattern: "P7", nests: true, duplicates: true, access: Partition, duplicated: "Video.video_id"},
		{id: "D-48 m:n by other attributes", query: "SELECT Video.title FROM Actor.videos WHERE Actor.nationality = ?",
			table: "[nationality][actor_name, video_id][title]", pattern: "P8", nests: true, duplicates: true, access: Partition},
		{id: "D-41 set-valued", query: "SELECT Video.title FROM Video WHERE Video.tags = ?",
			table: "[tags][video_id][title]", pattern: "P2", nests: true, duplicates: true, access: Partition},
		{id: "D-49 disjoint hierarchy", query: "SELECT Clip.* FROM Clip WHERE Clip.clip_id = ?",
			table: "[clip_id][][name, season, kind]", pattern: "P9", access: Partition},
		{id: "D-50 hierarchy, not disjoint", query: "SELECT Film.* FROM Film WHERE Film.film_id = ?",
			table: "[film_id][][name, kinds]", pattern: "P9", access: Partition},
		{id: "D-12 several partitions", query: "SELECT Movie.title FROM Movie WHERE Movie.genre IN (?, ?)",
			table: "[genre][title, release_year][]", pattern: "P2", nests: true, access: Partitions},
		{id: "D-28 no equality", query: "SELECT User.email FROM User WHERE User.registration_date > ?",
			table: "[bucket][registration_date, user_id][email]", pattern: "P2", nests: true, access: Partition},
	} {
		t.Run(c.id, func(t *testing.T) {
			x := traced(t, c.query)
			m := &x.Match
			if got := x.Table.String(); got != c.table {
				t.Errorf("table %s, want %s", got, c.table)
			}
			if m.Pattern != c.pattern || m.Nesting != c.nests || m.Duplication != c.duplicates || x.Access != c.access {
				t.Errorf("%s, nesting %t, duplication %t (%v), %s; want %s, %t, %t, %s", m.Pattern, m.Nesting, m.Duplication, m.Duplicated, x.Access, c.pattern, c.nests, c.duplicates, c.access)
			}
			if c.name != "" && x.Name != c.name {
				t.Errorf("name %s, want %s", x.Name, c.name)
			}
			if got := strings.Join(m.Static, ", "); got != c.static {
				t.Errorf("static %s, want %s", got, c.static)
			}
			if got := strings.Join(m.Duplicated, ", "); c.duplicated != "" && got != c.duplicated {
				t.Errorf("duplicated %s, want %s", got, c.duplicated)
			}
			if !m.Agrees() {
				n, d := m.Expected()
				t.Errorf("D-40: %s nests %t and duplicates %t; the matrix says %s and %s", m.Pattern, m.Nesting, m.Duplication, n, d)
			}
			var order []string
			for _, s := range x.Steps {
				order = append(order, s.Rule)
			}
			if got := strings.Join(order, " "); got != "MR1 MR2 MR3 MR4 MR5" {
				t.Errorf("D-37: rules in the order %s", got)
			}
		})
	}
}

// TestD24Fronts: of title and type there are exactly three ways.
func TestD24Fronts(t *testing.T) {
	x := traced(t, "SELECT Video.video_id FROM Video WHERE Video.title = ? AND Video.type = ?")
	fronts, cut := Fronts(Identity(x.Table)[0], x.Table.Partition)
	var got []string
	for _, f := range fronts {
		got = append(got, f.Name)
	}
	if want := []string{"videos_by_title_type", "videos_by_title", "videos_by_type"}; !slices.Equal(got, want) || cut {
		t.Errorf("%v, want %v", got, want)
	}
}

// TestD25Fronts: only with last_name as partition key can it be asked for alone.
func TestD25Fronts(t *testing.T) {
	x := traced(t, "SELECT Video.title FROM User.videos WHERE User.last_name = ? AND User.first_name = ?")
	fronts, _ := Fronts(Identity(x.Table)[0], x.Table.Partition)
	alone := 0
	for _, f := range fronts {
		if len(f.Partition) == 1 && f.Partition[0].Attribute.Name == "last_name" {
			alone++
		}
	}
	if len(fronts) != 3 || alone != 1 {
		t.Errorf("%d ways, %d of them for last_name alone", len(fronts), alone)
	}
}

// TestD38NinePatterns: two of entities, two each of 1:1, 1:n and m:n, one of hierarchies; D-40 in numbers.
func TestD38NinePatterns(t *testing.T) {
	count := map[string]int{}
	for _, p := range Patterns {
		first, _, _ := strings.Cut(strings.ReplaceAll(p.Name, ",", " "), " ")
		count[first]++
	}
	for kind, n := range map[string]int{"entity": 2, "1:1": 2, "1:n": 2, "m:n": 2, "hierarchy": 1} {
		if count[kind] != n {
			t.Errorf("%d patterns of %s, want %d", count[kind], kind, n)
		}
	}
	for id, want := range map[string][2]Likely{
		"P1": {Maybe, No}, "P2": {Maybe, Maybe}, "P3": {Maybe, No}, "P4": {Maybe, Maybe}, "P5": {Yes, Maybe}, "P6": {Yes, Maybe}, "P7": {Yes, Yes}, "P8": {Yes, Yes}, "P9": {No, No},
	} {
		if p := PatternOf(id); p.Nesting != want[0] || p.Duplication != want[1] {
			t.Errorf("D-40: %s nests %s, duplicates %s, want %v", id, p.Nesting, p.Duplication, want)
		}
	}
}

// TestD51Alternatives: the other ways to store a hierarchy are named.
func TestD51Alternatives(t *testing.T) {
	x := traced(t, "SELECT Clip.name FROM Clip WHERE Clip.clip_id = ?")
	if text := strings.Join(x.Match.Remarks, "\n"); !strings.Contains(text, "a table for each type, and one for each subtype") || !strings.Contains(text, "column kind is a text") {
		t.Errorf("%s", text)
	}
	x = traced(t, "SELECT Film.name FROM Film WHERE Film.film_id = ?")
	if text := strings.Join(x.Match.Remarks, "\n"); !strings.Contains(text, "column kinds is a set") {
		t.Errorf("%s", text)
	}
}

// TestLeft: what the table does not serve is named.
func TestLeft(t *testing.T) {
	for query, want := range map[string]string{
		"SELECT User.email FROM User WHERE User.last_name = ? AND User.registration_date > ? AND User.first_name > ?": "User.first_name is compared by order, too",
		"SELECT User.email FROM User WHERE User.last_name = ? AND User.registration_date > ? ORDER BY User.email":     "the client sorts by User.email",
		"SELECT User.email FROM User WHERE User.last_name = ? AND User.first_name != ?":                               "compared by !=",
		"SELECT User.last_name, count(*) FROM User WHERE User.last_name = ? GROUP BY User.last_name":                  "it groups",
		"SELECT DISTINCT User.first_name FROM User WHERE User.last_name = ?":                                          "different rows only",
		"SELECT User.email FROM User": "every partition is read",
		"SELECT User.email FROM User WHERE User.last_name IN (?, ?) ORDER BY User.email": "merges the answers",
		"SELECT Video.title FROM Video WHERE Video.tags = ?":                             "Video.tags has several values",
	} {
		if left := strings.Join(traced(t, query).Left, "\n"); !strings.Contains(left, want) {
			t.Errorf("%s: %q, want %s", query, left, want)
		}
	}
}

// TestD21AllRules holds for random workloads: a table for each query that has all its attributes (MR1), equalities in the partition
// key (MR2), a primary key that tells rows apart (MR5), and what the matrix says.
func TestD21AllRules(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		w := generate.Varied(rapid.Uint64().Draw(r, "seed"))
		report := TraceAll(w)
		for _, u := range report.Unsupported {
			if s := w.Statement(u.Statement); s.Query != nil {
				r.Errorf("%s: %s", s, u.Reason)
			}
		}
		for _, x := range report.Traced {
			table, q := x.Trace.Table, x.Statement.Query
			if err := table.Validate(); err != nil || !table.Identifies() {
				r.Errorf("%s: %s: %v", q, table, err)
			}
			for _, f := range q.Select {
				if !table.Has(f) {
					r.Errorf("MR1: %s: %s has no %s", q, table, f)
				}
			}
			for _, p := range q.Where {
				if p.Op == workload.Equal && !slices.Contains(table.Partition, p.Field) {
					r.Errorf("MR2: %s: %s", q, table)
				}
			}
			if !x.Trace.Match.Agrees() {
				n, d := x.Trace.Match.Expected()
				r.Errorf("D-40: %s: %s is %s and nests %t, duplicates %v; want %s, %s", q, table, x.Trace.Match.String(), x.Trace.Match.Nesting, x.Trace.Match.Duplicated, n, d)
			}
		}
	})
}
