package main

import (
	"encoding/json"
	"encoding/xml"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gocql/gocql"

	"github.com/helenus-db/helenus/advisor/diagram/picture"
	"github.com/helenus-db/helenus/internal/cassandra/cassandratest"
)

func TestDiagramBadInput(t *testing.T) {
	hotel := "../../examples/designs/hotel.yaml"
	tables := written(t, "t.cql", "CREATE TABLE t (a int PRIMARY KEY)")
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"nothing":               {nil, "name a FILE, or say --live"},
		"both":                  {[]string{hotel, "--live"}, "name a FILE, or say --live"},
		"no file":               {[]string{"nowhere.yaml"}, "nowhere.yaml"},
		"an unknown kind":       {[]string{hotel, "--kind", "phsical"}, `no kind is called "phsical"; nearest is "physical"`},
		"an unknown format":     {[]string{hotel, "--format", "png"}, `no format is called "png"`},
		"an unknown theme":      {[]string{hotel, "--theme", "drak"}, `nearest is "dark"`},
		"an unknown schema":     {[]string{hotel, "--schema", "expert"}, "expert"},
		"an unknown mix":        {[]string{hotel, "--mix", "night"}, "--mix"},
		"two choices of tables": {[]string{hotel, "--schema", "x", "--designed"}, "give one"},
		"tables of a workflow":  {[]string{hotel, "--kind", "workflow", "--designed"}, "shows no tables"},
		"flags of a file":       {[]string{"--live", "--designed"}, "leave them out with --live"},
		"no tables":             {[]string{written(t, "none.yaml", small[:strings.Index(small, "- {id: rates")]+"[]\n"), "--kind", "logical"}, "has no tables, and no statements to design any for"},
		"entities of CQL":       {[]string{tables, "--kind", "er"}, "CQL defines tables"},
		"a mix of CQL":          {[]string{tables, "--mix", "day"}, "leave --designed, --schema and --mix out"},
		"CQL that is wrong":     {[]string{written(t, "w.cql", "CREATE TABLE t (\n  a int PRIMARY KY)")}, "w.cql"},
		"a type that is none":   {[]string{written(t, "type.yaml", strings.ReplaceAll(small, "type: double", "type: 'dou<ble'")), "--kind", "logical", "--designed"}, "dou<ble"},
		"nowhere to write":      {[]string{hotel, "-o", filepath.Join(t.TempDir(), "none", "a.svg")}, "none"},
	} {
		t.Run(name, func(t *testing.T) {
			out, err, code := executed(t, "diagram", c.args...)
			want := exitUsage
			if name == "nowhere to write" {
				want = exitFailed
			}
			if err == nil || code != want || !strings.Contains(err.Error(), c.want) || out != "" {
				t.Errorf("exit %d: %v; printed %q\nwant ...%s...", code, err, out, c.want)
			}
		})
	}
}

// TestDiagramKinds draws each kind of a file in each format.
func TestDiagramKinds(t *testing.T) {
	hotel := "../../examples/designs/hotel.yaml"
	for name, args := range map[string][]string{
		"Conceptual model: 4 entities":                                     {hotel},
		"Application workflow: 5 queries, 5 writes":                        {hotel, "--kind", "workflow"},
		"Chebotko diagram, physical level: 4 tables of keyspace hotel, 5 ": {hotel, "--kind", "physical"},
		"Chebotko diagram, logical level: 2 tables, 1 access pattern":      {written(t, "small.yaml", small), "--kind", "logical", "--designed"},
		"Chebotko diagram, physical level: 1 table":                        {written(t, "t.cql", "CREATE TABLE t (a int PRIMARY KEY)")},
		"Chebotko diagram, physical level: 13 tables, 11 access patterns":  {"../../examples/designs/rubis.yaml", "--schema", "expert"},
	} {
		t.Run(name, func(t *testing.T) {
			for _, format := range formats {
				file := filepath.Join(t.TempDir(), "out")
				if out, err, _ := executed(t, "diagram", append([]string{"--format", format, "-o", file}, args...)...); err != nil || out != "" {
					t.Fatalf("%s: %v; printed %q", format, err, out)
				}
				data, err := os.ReadFile(file) //nolint:gosec // ours
				if err != nil {
					t.Fatal(err)
				}
				switch format {
				case "svg":
					if err := xml.Unmarshal(data, new(struct{})); err != nil || !strings.Contains(string(data), name) {
						t.Errorf("%v; no %q in\n%.300s", err, name, data)
					}
				case "json":
					var p picture.Picture
					if err := json.Unmarshal(data, &p); err != nil || !strings.HasPrefix(p.Subtitle, name) {
						t.Errorf("%v; %q, want %q", err, p.Subtitle, name)
					}
				default:
					if text := string(data); !strings.Contains(text, "flowchart TB") && !strings.Contains(text, "erDiagram") {
						t.Errorf("%.200s", text)
					}
				}
			}
		})
	}
}

// TestDiagramTwoHundred draws two hundred tables with long and odd names.
func TestDiagramTwoHundred(t *testing.T) {
	var b strings.Builder
	for i := range 200 {
		fmt.Fprintf(&b, "CREATE TABLE \"t<%d>&'\"\"%s\" (a int, b frozen<map<text, frozen<list<frozen<tuple<int, text, timestamp, uuid>>>>>>, \"%s\" int, PRIMARY KEY (a, b));\n", i, strings.Repeat("long ", i%30), strings.Repeat("c", 1+i))
	}
	out, err, _ := executed(t, "diagram", written(t, "many.cql", b.String()))
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(out, `class="box table"`); n != 200 {
		t.Errorf("%d tables", n)
	}
}

// TestDiagramLive asks a process for what is drawn.
func TestDiagramLive(t *testing.T) {
	answers := map[string]string{
		"/api/v1/schema":     `{"keyspaces":[{"name":"k","tables":[{"keyspace":"k","name":"t","columns":[{"name":"id","kind":"partition_key","position":0,"type":"uuid"}]}]}]}`,
		"/api/v1/statements": `{"statements":[{"fingerprint":"aaaabbbbcccc","kind":"select","text":"SELECT id FROM k.t WHERE id = ?","count":3,"access":{"class":"single_row","keyspace":"k","table":"t"}}]}`,
		"/api/v1/model":      `{"entities":[{"name":"T","key":["id"],"attributes":["id"],"count":4}],"workload":[{"id":"a","text":"SELECT T.id FROM T WHERE T.id = ?","weight":1}]}`,
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer, ok := answers[r.URL.Path]
		if !ok || r.Header.Get("Authorization") != "Bearer secret" {
			w.WriteHeader(http.StatusServiceUnavailable)
			answer = `{"error":"not yet","code":"unavailable"}`
		}
		_, _ = w.Write([]byte(answer))
	}))
	defer server.Close()
	address := strings.TrimPrefix(server.URL, "http://")
	for kind, want := range map[string]string{"": "Conceptual model: 1 entity", "physical": "1 table of keyspace k, 1 access pattern", "logical": "logical level", "workflow": "Application workflow: 1 query"} {
		args := []string{"--live", "--server", address, "--token", "secret"}
		if kind != "" {
			args = append(args, "--kind", kind)
		}
		out, err, _ := executed(t, "diagram", args...)
		if err != nil || !strings.Contains(out, want) {
			t.Errorf("%s: %v\n%.400s", kind, err, out)
		}
	}
	answers["/api/v1/schema"] = `{"keyspaces":[]}`
	if _, err, code := executed(t, "diagram", "--live", "--kind", "physical", "--server", address, "--token", "secret"); err == nil || code != exitFailed || !strings.Contains(err.Error(), "no tables to draw") {
		t.Errorf("exit %d: %v", code, err)
	}
	delete(answers, "/api/v1/model")
	if _, err, code := executed(t, "diagram", "--live", "--server", address, "--token", "secret"); err == nil || code != exitFailed || !strings.Contains(err.Error(), "not yet") {
		t.Errorf("exit %d: %v", code, err)
	}
	if _, err, code := executed(t, "diagram", "--live", "--server", freeAddress(t), "--token", "secret"); err == nil || code != exitUnreachable {
		t.Errorf("exit %d: %v", code, err)
	}
}

// TestDiagramLiveProcess draws what a running process has found over a real Cassandra: tables at once, the model and the workflow as soon
// as there is a model, and until then it says what is missing.
func TestDiagramLiveProcess(t *testing.T) {
	direct, keyspace := cassandratest.Keyspace(t)
	for _, text := range []string{
		"CREATE TABLE " + keyspace + ".guests (guest_id uuid PRIMARY KEY, name text)",
		"CREATE TABLE " + keyspace + ".stays (guest_id uuid, arrival date, room int, PRIMARY KEY (guest_id, arrival))",
	} {
		must(t, direct, text)
	}
	p := newProcess(t, cassandratest.ContactPoints(t)[0], "--topology", "single", "--keyspaces", keyspace, "--advise-every", "10m")
	p.start()
	p.awaitReady()
	for _, kind := range []string{"er", "workflow"} {
		if code, out := command(t, p, "diagram", "--live", "--kind", kind); code == 0 || !strings.Contains(out, "no model has been worked out yet") || !strings.Contains(out, "helenus recommendations --now") {
			t.Errorf("%s without a model: exit %d: %s", kind, code, out)
		}
	}
	through := session(t, p.listen)
	for n := range 40 {
		id := gocql.MustRandomUUID()
		must(t, through, "INSERT INTO "+keyspace+".guests (guest_id, name) VALUES (?, ?)", id, fmt.Sprint("guest ", n))
		for day := 1; day <= 4; day++ { // with a stay or two of each guest, by estimates of how many rows there are, they might be one entity
			must(t, through, fmt.Sprintf("INSERT INTO %s.stays (guest_id, arrival, room) VALUES (?, '2026-01-%02d', ?)", keyspace, day), id, n)
		}
		must(t, through, "SELECT name FROM "+keyspace+".guests WHERE guest_id = ?", id)
		must(t, through, "SELECT arrival, room FROM "+keyspace+".stays WHERE guest_id = ?", id)
	}
	draw := func(kind string) (out string) {
		t.Helper()
		file := filepath.Join(t.TempDir(), kind+".svg")
		args := []string{"diagram", "--live", "--kind", kind, "-o", file}
		if kind == "physical" || kind == "logical" { // others may have keyspaces on the same node
			args = append(args, "--keyspaces", keyspace)
		}
		if code, out := command(t, p, args...); code != 0 {
			t.Fatalf("%s: exit %d: %s", kind, code, out)
		}
		data, err := os.ReadFile(file) //nolint:gosec // ours
		if err != nil {
			t.Fatal(err)
		}
		if err := xml.Unmarshal(data, new(struct{})); err != nil {
			t.Errorf("%s: %v", kind, err)
		}
		return string(data)
	}
	await(t, "the statements were counted", func() bool { return strings.Contains(draw("physical"), "2 access patterns") })
	for kind, want := range map[string][]string{"physical": {"2 tables of keyspace " + keyspace, ">uuid<", ">C↑<"}, "logical": {"logical level: 2 tables", ">K<"}} {
		for _, part := range want {
			if out := draw(kind); !strings.Contains(out, part) {
				t.Errorf("%s: no %q in\n%.2000s", kind, part, out)
			}
		}
	}
	if code, out := command(t, p, "diagram", "--live", "--kind", "physical", "--keyspaces", keyspace+"x"); code != exitUsage || !strings.Contains(out, keyspace) {
		t.Errorf("a keyspace that is not there: exit %d: %s", code, out)
	}
	if code, out := command(t, p, "recommendations", "--now"); code != 0 {
		t.Fatalf("exit %d: %s", code, out)
	}
	if out := draw("er"); !strings.Contains(out, "Conceptual model: 2 entities") {
		t.Errorf("%.3000s", out)
	}
	if out := draw("workflow"); !strings.Contains(out, "Application workflow: 2 queries") {
		t.Errorf("%.3000s", out)
	}
}

// TestDiagramDocs draws the pictures of docs/diagrams.md.
func TestDiagramDocs(t *testing.T) {
	designs := "../../examples/designs/"
	for name, args := range map[string][]string{
		"hotel-er":            {designs + "hotel.yaml"},
		"hotel-physical":      {designs + "hotel.yaml", "--kind", "physical"},
		"hotel-designed":      {designs + "hotel.yaml", "--kind", "logical", "--designed"},
		"hotel-workflow":      {designs + "hotel.yaml", "--kind", "workflow"},
		"rubis-er":            {designs + "rubis.yaml"},
		"rubis-expert":        {designs + "rubis.yaml", "--kind", "physical", "--schema", "expert"},
		"twissandra-designed": {designs + "twissandra.yaml", "--kind", "physical", "--designed"},
		"killrvideo":          {designs + "killrvideo.yaml", "--kind", "physical"},
		"killrvideo-er":       {designs + "killrvideo.yaml"},
	} {
		t.Run(name, func(t *testing.T) {
			out, err, _ := executed(t, "diagram", args...)
			if err != nil {
				t.Fatal(err)
			}
			file := "../../docs/diagrams/" + name + ".svg"
			if *update {
				if err := os.WriteFile(file, []byte(out), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file) //nolint:gosec // ours
			if err != nil {
				t.Fatal(err)
			}
			if out != string(want) {
				t.Errorf("%s is not what is drawn; look at it and run: go test ./cmd/helenus -run DiagramDocs -update", file)
			}
		})
	}
}
