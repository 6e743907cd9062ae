package diagram_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/helenus-db/helenus/advisor/diagram"
	"github.com/helenus-db/helenus/advisor/diagram/picture"
	"github.com/helenus-db/helenus/advisor/diagram/svg"
	"github.com/helenus-db/helenus/capture/cql"
)

// TestNotationD3: names and properties of columns at the logical level, without types.
func TestNotationD3(t *testing.T) {
	text, err := os.ReadFile("testdata/tutorial.cql")
	if err != nil {
		t.Fatal(err)
	}
	s := parsed(t, string(text))
	s.Name = "notation"
	p := s.Picture(picture.Logical)
	want := map[string]string{
		"region": "K", "joined": "C↓", "customer_id": "C↑", "country": "S", "name": "IDX", "[phones]": "", "{roles}": "IDX", "<limits>": "IDX",
		"*home*": "", "<*branches*>": "", "(position)": "",
	}
	for _, r := range p.Boxes[0].Rows {
		if mark, ok := want[r.Name]; !ok || mark != r.Mark || r.Type != "" {
			t.Errorf("row %+v", r)
		}
		delete(want, r.Name)
	}
	if len(want) > 0 {
		t.Errorf("missing: %v", want)
	}
	if r := p.Boxes[1].Rows[1]; r.Name != "seen" || r.Mark != "++" {
		t.Errorf("a counter: %+v", r)
	}
	golden(t, "D-3.svg", drawn(t, p, svg.Auto))
	golden(t, "D-4.svg", drawn(t, s.Picture(picture.Physical), svg.Dark))
	listed := fmt.Sprint(s.Unshown)
	for _, want := range []string{"materialised view by_name of customers", "gc_grace_seconds = 3600", "StorageAttachedIndex", "limits is on its keys", "SimpleStrategy"} {
		if !strings.Contains(listed, want) {
			t.Errorf("%q is not listed: %s", want, listed)
		}
	}
}

// TestUserTypesD6D7: boxes of user-defined types and tuples, at both levels; of D-17 the type within a set.
func TestUserTypesD6D7(t *testing.T) {
	s := &diagram.Schema{
		Name: "videos",
		Tables: []*diagram.Table{{Name: "videos_by_user", Columns: []diagram.Column{
			{Name: "user_id", Type: typed(t, "uuid"), Part: diagram.Partition},
			{Name: "videos", Type: typed(t, "set<frozen<videos_type>>")},
			{Name: "place", Type: typed(t, "tuple<double, double>"), Fields: []string{"latitude", "longitude"}},
		}}},
		Types: []*diagram.Type{{Column: "videos", Fields: []diagram.Field{{Name: "title", Type: typed(t, "text")}, {Name: "tags", Type: typed(t, "list<text>")}}}},
	}
	logical, physical := boxes(s.Picture(picture.Logical)), boxes(s.Picture(picture.Physical))
	if want := "videos_by_user(user_id K, {*videos*}, (place)) {*videos*}(title, [tags]) (place)(latitude, longitude)"; logical != want {
		t.Errorf("logical\n%s\nwant\n%s", logical, want)
	}
	if want := "videos_by_user(user_id uuid K, videos set<frozen<videos_type>>, place tuple<double, double>) videos_type(title text, tags list<text>)"; physical != want {
		t.Errorf("physical\n%s\nwant\n%s", physical, want)
	}
	golden(t, "D-6.svg", drawn(t, s.Picture(picture.Logical), svg.Light))
	golden(t, "D-7.svg", drawn(t, s.Picture(picture.Physical), svg.Light))
}

func boxes(p *picture.Picture) string {
	var list []string
	for _, b := range p.Boxes {
		var rows []string
		for _, r := range b.Rows {
			rows = append(rows, strings.Join(strings.Fields(r.Name+" "+r.Type+" "+r.Mark), " "))
		}
		list = append(list, b.Name+"("+strings.Join(rows, ", ")+")")
	}
	return strings.Join(list, " ")
}

// TestExamples draws the tables of the seed's examples at the logical level, and reads each physical diagram again.
func TestExamples(t *testing.T) {
	for id, text := range map[string]string{
		"D-24": `CREATE TABLE videos_by_title_type (title text, type text, video_id uuid, PRIMARY KEY ((title, type), video_id));
			CREATE TABLE videos_by_title (title text, type text, video_id uuid, PRIMARY KEY (title, type, video_id));
			CREATE TABLE videos_by_type (type text, title text, video_id uuid, PRIMARY KEY (type, title, video_id))`,
		"D-29": `CREATE TABLE users (last_name text, registration_date timestamp, user_id uuid, first_name text, PRIMARY KEY (last_name, registration_date, user_id))`,
		"D-33": `CREATE TABLE users (last_name text, registration_date timestamp, user_id uuid, PRIMARY KEY (last_name, registration_date, user_id)) WITH CLUSTERING ORDER BY (registration_date DESC, user_id ASC)`,
		"D-34": `CREATE TABLE videos_by_user (user_id uuid, uploaded_timestamp timestamp, video_id uuid, title text, PRIMARY KEY (user_id, uploaded_timestamp, video_id)) WITH CLUSTERING ORDER BY (uploaded_timestamp DESC, video_id ASC)`,
		"D-44": `CREATE TABLE videos_by_user (user_id uuid, video_id uuid, email text STATIC, title text, PRIMARY KEY (user_id, video_id))`,
		"D-50": `CREATE TABLE videos (video_id uuid PRIMARY KEY, title text, type set<text>)`,
	} {
		t.Run(id, func(t *testing.T) {
			s := parsed(t, text)
			s.Name = id
			golden(t, id+".svg", drawn(t, s.Picture(picture.Logical), svg.Auto))
			sameTables(t, parsed(t, strings.Join(read(t, drawn(t, s.Picture(picture.Physical), svg.Auto)), ";\n")), s)
		})
	}
}

// TestRoundTripD4: what a physical diagram shows, read from the SVG, makes the same tables.
func TestRoundTripD4(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := &diagram.Schema{Name: "random"}
		names := rapid.StringMatching(`[a-zA-Z][a-zA-Z0-9_ .&<>"'%é漢-]{0,14}[a-z]|[a-z]{50,70}`)
		for i := range rapid.IntRange(0, 2).Draw(rt, "types") {
			u := &diagram.Type{Name: fmt.Sprintf("type_%d", i)}
			for j := range rapid.IntRange(1, 3).Draw(rt, "fields") {
				u.Fields = append(u.Fields, diagram.Field{Name: fmt.Sprintf("%s%d", names.Draw(rt, "field"), j), Type: randomType(rt, 2, i)})
			}
			s.Types = append(s.Types, u)
		}
		for i := range rapid.IntRange(1, 5).Draw(rt, "tables") {
			table := &diagram.Table{Name: fmt.Sprintf("%s%d", names.Draw(rt, "table"), i)}
			partition, clustering := rapid.IntRange(1, 3).Draw(rt, "partition"), rapid.IntRange(0, 3).Draw(rt, "clustering")
			for j := range partition + clustering + rapid.IntRange(0, 5).Draw(rt, "others") {
				c := diagram.Column{Name: fmt.Sprintf("%s%d", names.Draw(rt, "column"), j), Type: randomType(rt, 3, len(s.Types)), Indexed: rapid.Bool().Draw(rt, "indexed")}
				switch {
				case j < partition:
					c.Part = diagram.Partition
				case j < partition+clustering:
					c.Part, c.Desc = diagram.Clustering, rapid.Bool().Draw(rt, "desc")
				case clustering > 0 && rapid.Bool().Draw(rt, "static"):
					c.Part = diagram.Static
				}
				table.Columns = append(table.Columns, c)
			}
			s.Tables = append(s.Tables, table)
		}
		again := parsed(rt, strings.Join(read(rt, drawn(rt, s.Picture(picture.Physical), svg.Auto)), ";\n"))
		sameTables(rt, again, s)
		sameTables(rt, parsed(rt, strings.Join(s.CQL(), ";\n")), s)
		quoting(rt, mermaidOf(rt, s.Picture(picture.Logical)))
	})
}

// randomType draws a type, of user-defined ones the first n.
func randomType(t *rapid.T, depth, n int) cql.Type {
	simple := []string{"int", "text", "uuid", "timestamp", "counter", "decimal", "blob"}
	if depth == 0 {
		return cql.Type{Name: rapid.SampledFrom(simple).Draw(t, "type")}
	}
	frozen := func(inner cql.Type) cql.Type {
		if inner.UDT || len(inner.Args) > 0 {
			return cql.Type{Name: "frozen", Args: []cql.Type{inner}}
		}
		return inner
	}
	inner := func() cql.Type {
		x := randomType(t, depth-1, n)
		if x.Name == "frozen" {
			return x
		}
		return frozen(x)
	}
	switch rapid.IntRange(0, 7).Draw(t, "kind") {
	case 0:
		return cql.Type{Name: "list", Args: []cql.Type{inner()}}
	case 1:
		return cql.Type{Name: "set", Args: []cql.Type{inner()}}
	case 2:
		return cql.Type{Name: "map", Args: []cql.Type{inner(), inner()}}
	case 3:
		return cql.Type{Name: "tuple", Args: []cql.Type{inner(), inner()}}
	case 4:
		if n > 0 {
			return cql.Type{Name: fmt.Sprintf("type_%d", rapid.IntRange(0, n-1).Draw(t, "udt")), UDT: true}
		}
	}
	return cql.Type{Name: rapid.SampledFrom(simple).Draw(t, "type")}
}

// TestKillrVideo draws the public schema.
func TestKillrVideo(t *testing.T) {
	text, err := os.ReadFile("testdata/killrvideo.cql")
	if err != nil {
		t.Fatal(err)
	}
	s := parsed(t, string(text))
	s.Name = "KillrVideo"
	file := drawn(t, s.Picture(picture.Physical), svg.Auto)
	sameTables(t, parsed(t, strings.Join(read(t, file), ";\n")), s)
	golden(t, "killrvideo.svg", file)
}

func TestBadCQL(t *testing.T) {
	for text, want := range map[string]string{
		"CREATE TABLE t (a int)":                            "table t has no primary key",
		"CREATE TABLE t (a int, PRIMARY KEY (b))":           "table t has no column b, which its primary key names",
		"CREATE TABLE t (a int PRIMARY KEY":                 "file.cql:1:1",
		"USE k":                                             "there is no CREATE TABLE in it",
		"CREATE TABLE t (a int PRIMARY KEY);\nDROP TABLE t": "file.cql:2:1: only definitions are drawn",
		"CREATE INDEX ON t (a)":                             "there is no table t before its index",
		"CREATE TABLE t (a int PRIMARY KEY); CREATE TABLE t (a int PRIMARY KEY)": "table t is there twice",
		"CREATE TABLE t (a int PRIMARY KEY); CREATE INDEX ON t (b)":              "table t has no column b",
		"CREATE TABLE t (a int PRIMARY KEY) WITH CLUSTERING ORDER BY (a DESC)":   "names a, which is no clustering column",
	} {
		if _, err := diagram.ReadCQL("file.cql", text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s\ngot  %v\nwant %s", text, err, want)
		}
	}
}

// FuzzReadCQL: whatever a file holds, it is drawn or refused.
func FuzzReadCQL(f *testing.F) {
	for _, file := range []string{"testdata/tutorial.cql", "testdata/killrvideo.cql"} {
		text, err := os.ReadFile(file) //nolint:gosec // of ours
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(text))
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := diagram.ReadCQL("f", text)
		if err != nil {
			return
		}
		for _, kind := range []picture.Kind{picture.Logical, picture.Physical} {
			p := s.Picture(kind)
			drawn(t, p, svg.Auto)
			quoting(t, mermaidOf(t, p))
		}
	})
}
