package main

import (
	"bytes"
	"context"
	"encoding/json"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/helenus-db/helenus/advisor/design"
	"github.com/helenus-db/helenus/advisor/solve"
)

// small is a workload that takes no time: two entities, a query over both, a write.
const small = `name: small
model:
  entities:
  - {name: Hotel, count: 100, key: [hotel_id], attributes: [{name: hotel_id, type: uuid}, {name: city, type: text, distinct: 10}, {name: select, type: text}]}
  - {name: Room, count: 1000, key: [room_id], attributes: [{name: room_id, type: uuid}, {name: rate, type: double}]}
  - {name: Owner, count: 10, key: [owner_id], attributes: [{name: owner_id, type: uuid}]}
  relationships:
  - {name: room_hotel, from: Room, to: Hotel, kind: "n:1", forward: hotel, backward: rooms}
  - {name: hotel_owner, from: Hotel, to: Owner, kind: "n:1", forward: owner, backward: hotels}
  - {name: room_owner, from: Room, to: Owner, kind: "n:1", forward: owner, backward: rooms}
mixes: [day, night]
statements:
- {id: rates, text: "SELECT Room.rate, Hotel.select FROM Room.hotel WHERE Hotel.city = ?", weights: {day: 10, night: 1}}
- {id: reprice, text: "UPDATE Room SET rate = ? WHERE Room.room_id = ?", weights: {day: 1, night: 10}}
`

// designed is executed for the command design.
func designed(t testing.TB, args ...string) (stdout string, err error, code int) { //nolint:revive,staticcheck // the code comes of the error
	t.Helper()
	return executed(t, "design", args...)
}

// executed runs a command in this process and returns what it printed and its exit code.
func executed(t testing.TB, command string, args ...string) (stdout string, err error, code int) { //nolint:revive,staticcheck // the code comes of the error
	t.Helper()
	var b bytes.Buffer
	c := root()
	c.SetArgs(append([]string{command}, args...))
	c.SetOut(&b)
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	if err = c.ExecuteContext(ctx); err != nil {
		code = exitCode(err)
	}
	return b.String(), err, code
}

func written(t testing.TB, name, text string) string {
	t.Helper()
	name = filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

func TestDesignBadInput(t *testing.T) {
	swap := func(pairs ...string) string { return strings.NewReplacer(pairs...).Replace(small) }
	for name, c := range map[string]struct {
		text string
		args []string
		code int
		want string
	}{
		"a path that does not exist":     {swap("FROM Room.hotel", "FROM Room.hotle"), nil, 2, `no relationship of Room is called "hotle"; nearest is "hotel"`},
		"a cycle":                        {swap("FROM Room.hotel ", "FROM Room.hotel.owner AS o, Room.owner AS o "), nil, 2, "closes a circle"},
		"an attribute that is not known": {swap("Hotel.city = ?", "Hotel.town = ?"), nil, 2, `no attribute of Hotel is called "town"`},
		"no weights":                     {swap(", weights: {day: 10, night: 1}", "", ", weights: {day: 1, night: 10}", ""), nil, 2, "no statement has a weight in mix day, so that every design costs 0"},
		"no weights in the mix":          {swap("day: 10", "day: 0", "day: 1,", "day: 0,"), []string{"--mix", "day"}, 2, "no statement has a weight in mix day"},
		"what is no type":                {swap("type: double", "type: list<"), nil, 2, `Room.rate: "list<" is no type of CQL`},
		"a type that is not closed":      {swap("type: double", "type: 'int); DROP KEYSPACE x;'"), nil, 2, "is no type of CQL"},
		"a negative weight":              {swap("day: 10", "day: -10"), nil, 2, "weight -10 is not a rate"},
		"a weight that is no number":     {swap("day: 10", "day: .nan"), nil, 2, "weight NaN is not a rate"},
		"a count of zero":                {swap("count: 1000", "count: 0"), nil, 2, "count 0 is not a number of entities"},
		"an unknown mix":                 {small, []string{"--mix", "dya"}, 2, `no mix is called "dya"; nearest is "day"`},
		"an unknown cost model":          {small, []string{"--cost", "casandra"}, 2, `no cost model is called "casandra"; nearest is "cassandra"`},
		"a bad file of a cost model":     {small, []string{"--cost", written(t, "cost.yaml", "model: cassandra\nnodse: 3\n")}, 2, "nodse"},
		"no such space":                  {small, []string{"--max-bytes", "-1"}, 2, `"-1" is not a number of bytes`},
		"no such time":                   {small, []string{"--time-limit", "-1s"}, 2, "it may be such as 10s, 90m or 30d"},
		"an unknown statement":           {small, []string{"--sensitivity", "rate"}, 2, `no statement is called "rate"; nearest is "rates"`},
		"too little space":               {small, []string{"--max-bytes", "10"}, 2, "space"},
		"no statements":                  {small[:strings.Index(small, "- {id: rates")] + "[]\n", nil, 2, "no statements"},
		"no YAML":                        {"\x00", nil, 2, "file.yaml"},
	} {
		t.Run(name, func(t *testing.T) {
			out, err, code := designed(t, append([]string{written(t, "file.yaml", c.text)}, c.args...)...)
			if err == nil || code != c.code || !strings.Contains(err.Error(), c.want) {
				t.Errorf("exit %d: %v\nwant exit %d: ...%s...", code, err, c.code, c.want)
			}
			if out != "" {
				t.Errorf("printed %q", out)
			}
		})
	}
	t.Run("no such file", func(t *testing.T) {
		if _, err, code := designed(t, "/nowhere.yaml"); code != 2 || !strings.Contains(err.Error(), "/nowhere.yaml") {
			t.Errorf("exit %d: %v", code, err)
		}
	})
}

// designReport is the JSON of a design, as far as other programs are promised it.
type designReport struct {
	Status string
	Cost   *float64
	Bound  *float64
	Gap    *float64
	Bytes  *float64
	Tables []struct {
		Name       string
		Partition  []string
		Clustering []struct{ Field, Order string }
		Static     []string
		Values     []string
		Path       string
		Bytes      *float64
		Existing   *bool
	}
	Statements []struct {
		ID     string
		Weight *float64
		Cost   *float64
		Steps  []map[string]any
	}
	Others                             []string `json:"not_in_mix"`
	Candidates, Variables, Constraints *int
	Elapsed                            map[string]float64 `json:"elapsed_ms"`
}

func readDesign(t testing.TB, out string) designReport {
	t.Helper()
	var r designReport
	if err := json.Unmarshal([]byte(out), &r); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return r
}

func TestDesignJSON(t *testing.T) {
	out, err, code := designed(t, written(t, "small.yaml", small), "--mix", "night", "--json")
	if err != nil || code != 0 {
		t.Fatalf("exit %d: %v", code, err)
	}
	r := readDesign(t, out)
	if r.Status != "optimal" || r.Cost == nil || r.Bound == nil || r.Gap == nil || *r.Gap != 0 || r.Bytes == nil || r.Candidates == nil || r.Variables == nil || r.Constraints == nil {
		t.Errorf("missing or wrong in %s", out)
	}
	for _, phase := range []string{"enumerate", "plan", "solve", "total"} {
		if _, ok := r.Elapsed[phase]; !ok {
			t.Errorf("no time for phase %s: %v", phase, r.Elapsed)
		}
	}
	sum, bytes := 0.0, 0.0
	for _, s := range r.Statements {
		if s.Weight == nil || s.Cost == nil || len(s.Steps) == 0 {
			t.Fatalf("statement %+v", s)
		}
		sum += *s.Weight * *s.Cost
	}
	if math.Abs(sum-*r.Cost) > 1e-9*sum {
		t.Errorf("the statements cost %g, the whole %g", sum, *r.Cost)
	}
	if w := *r.Statements[1].Weight; w != 10 {
		t.Errorf("weight %g in the mix", w)
	}
	for _, x := range r.Tables {
		if x.Name == "" || len(x.Partition) == 0 || x.Clustering == nil || x.Static == nil || x.Values == nil || x.Path == "" || x.Bytes == nil || x.Existing == nil {
			t.Errorf("table %+v", x)
		}
		bytes += *x.Bytes
	}
	if bytes != *r.Bytes {
		t.Errorf("the tables take %g bytes, the whole %g", bytes, *r.Bytes)
	}
}

var elapsed = regexp.MustCompile(`(?s)"elapsed_ms": \{.*?\}`)

// TestDesignTwice: the same input writes the same bytes, but for elapsed_ms.
// TestDesignCost: the cost model's parameters come from a file.
func TestDesignCost(t *testing.T) {
	costs := map[string]float64{}
	for name, text := range map[string]string{"as it is": "model: cassandra\n", "slow": "model: cassandra\nrequest_ms: 30\n"} {
		out, err, code := designed(t, written(t, "small.yaml", small), "--json", "--cost", written(t, "cost.yaml", text))
		if err != nil || code != 0 {
			t.Fatalf("exit %d: %v", code, err)
		}
		costs[name] = *readDesign(t, out).Cost
	}
	out, _, _ := designed(t, written(t, "small.yaml", small), "--json")
	if plain := *readDesign(t, out).Cost; costs["as it is"] != plain || costs["slow"] < 2*plain {
		t.Errorf("by default %g, by files %v", plain, costs)
	}
}

func TestDesignTwice(t *testing.T) {
	file := written(t, "small.yaml", small)
	var first map[string]string
	for range 2 {
		folder := filepath.Join(t.TempDir(), "new", "folder")
		out, err, _ := designed(t, file, "--out", folder)
		if err != nil {
			t.Fatal(err)
		}
		files := map[string]string{"standard output": out}
		entries, err := os.ReadDir(folder)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			data, err := os.ReadFile(filepath.Join(folder, e.Name())) //nolint:gosec // of the test
			if err != nil {
				t.Fatal(err)
			}
			files[e.Name()] = elapsed.ReplaceAllString(string(data), "")
		}
		for _, name := range []string{"schema.cql", "plans.yaml", "report.txt", "design.json"} {
			if files[name] == "" {
				t.Errorf("%s is not there or empty", name)
			}
		}
		if files["report.txt"] != out {
			t.Error("report.txt is not what was printed")
		}
		if first == nil {
			first = files
		}
		for name, text := range files {
			if text != first[name] {
				t.Errorf("%s differs:\n%s\n%s", name, text, first[name])
			}
		}
		if len(files) != 5 {
			t.Errorf("%d files in the folder", len(files)-1)
		}
	}
	if !strings.Contains(first["schema.cql"], `"select" text`) {
		t.Errorf("the reserved word is not quoted:\n%s", first["schema.cql"])
	}
}

// schemas has one that answers everything, one that does not, and one that can only be scanned for a change.
const schemas = small + `schemas:
  good:
  - {name: by_city, partition: [Hotel.city], clustering: [Room.room_id], values: [Room.rate, Hotel.select]}
  - {name: cities, partition: [Room.room_id], values: [Hotel.city]}
  lacking:
  - {name: cities, partition: [Room.room_id], values: [Hotel.city]}
  scanned:
  - {name: by_city, partition: [Hotel.city], clustering: [Room.room_id], values: [Room.rate, Hotel.select]}
`

func TestDesignOverGivenTables(t *testing.T) {
	file := written(t, "small.yaml", schemas)
	cql := written(t, "tables.cql", "CREATE TABLE by_city (city text, room_id uuid, rate double, hotel_select text, PRIMARY KEY (city, room_id));\nCREATE TABLE cities (room_id uuid PRIMARY KEY, city text);")
	steps := func(r designReport, kind string) (n int) {
		for _, s := range r.Statements {
			for _, step := range s.Steps {
				if step["kind"] == kind {
					n++
				}
			}
		}
		return n
	}
	costs := map[string]float64{}
	for name, c := range map[string]struct {
		args  []string
		code  int
		want  string // of the error
		plans int
		scans int
	}{
		"by the file's name":        {[]string{"--existing", "good", "--only-existing"}, 0, "", 2, 0},
		"by a file of CQL":          {[]string{"--existing", cql, "--only-existing"}, 0, "", 2, 0},
		"and more":                  {[]string{"--existing", "good"}, 0, "", 2, 0},
		"what has no plan":          {[]string{"--existing", "lacking", "--only-existing"}, exitNoPlan, "statement rates has no plan: no table answers SELECT Room.rate, Hotel.select FROM Room.hotel WHERE Hotel.city = ?; this would: [city][room_id][rate, select]", 1, 0},
		"a scan, if all else fails": {[]string{"--existing", "scanned", "--only-existing"}, 0, "", 2, 1},
	} {
		t.Run(name, func(t *testing.T) {
			out, err, code := designed(t, append([]string{file, "--json", "--cost", "nose:request_count"}, c.args...)...)
			if code != c.code || c.want != "" && !strings.Contains(err.Error(), c.want) {
				t.Fatalf("exit %d: %v", code, err)
			}
			r := readDesign(t, out)
			if len(r.Statements) != c.plans || steps(r, "scan") != c.scans {
				t.Errorf("%d statements planned, %d scans: %s", len(r.Statements), steps(r, "scan"), out)
			}
			for _, x := range r.Tables {
				if !*x.Existing && name != "and more" {
					t.Errorf("%s is new", x.Name)
				}
			}
			costs[name] = *r.Cost
		})
	}
	if a, b := costs["by the file's name"], costs["by a file of CQL"]; a != b || costs["and more"] > a {
		t.Errorf("costs: %v", costs)
	}
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"an unknown schema": {[]string{"--existing", "goed"}, `there is no file goed, and no schema of the workload is called "goed"; nearest is "good"`},
		"no schema":         {[]string{"--only-existing"}, "name the tables by --existing"},
		"a bad file":        {[]string{"--existing", written(t, "bad.cql", "CREATE TABLE t (town text PRIMARY KEY)")}, "column town is no attribute of the model"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err, code := designed(t, append([]string{file}, c.args...)...); code != 2 || !strings.Contains(err.Error(), c.want) {
				t.Errorf("exit %d: %v", code, err)
			}
		})
	}
	t.Run("beside the design", func(t *testing.T) {
		out, err, code := designed(t, file, "--cost", "nose:request_count", "--compare", "good", "--compare", "lacking")
		if err != nil || code != 0 {
			t.Fatalf("exit %d: %v", code, err)
		}
		_, compared, _ := strings.Cut(out, "Compared with other tables")
		if !regexp.MustCompile(`rates +1 +1 +none\n`).MatchString(compared) {
			t.Error(compared)
		}
	})
}

func TestDesignWhatIf(t *testing.T) {
	file := written(t, "small.yaml", small)
	out, err, code := designed(t, file, "--cost", "nose:request_count", "--json", "--explain", "--pareto", "--why-not", "[Hotel.hotel_id][room_id][rate]", "--why-not", "[city][room_id][rate, select]",
		"--why-not", "rates: [city][hotel_id][select]; [Hotel.hotel_id][room_id][rate]", "--max-bytes", "1e9")
	if err != nil || code != 0 {
		t.Fatalf("exit %d: %v", code, err)
	}
	var r struct {
		Cost    float64
		Tables  []struct{ Name string }
		Without []struct {
			Table string
			Cost  *float64
		}
		WhyNot []struct {
			Plan   string
			Chosen bool
			Cost   *float64
			ReadBy []string `json:"read_by"`
		} `json:"why_not"`
		Gigabyte struct {
			Cost *float64
		} `json:"gigabyte_more"`
		Pareto []struct{ Bytes, Cost float64 }
	}
	if err := json.Unmarshal([]byte(out), &r); err != nil {
		t.Fatal(err)
	}
	if len(r.Without) != len(r.Tables) {
		t.Errorf("%d tables, %d absences", len(r.Tables), len(r.Without))
	}
	for _, a := range r.Without {
		if a.Cost != nil && *a.Cost < r.Cost-1e-9 {
			t.Errorf("without %s it costs %g, with it %g", a.Table, *a.Cost, r.Cost)
		}
	}
	if r.Gigabyte.Cost == nil || *r.Gigabyte.Cost > r.Cost*(1+1e-9) {
		t.Errorf("with a gigabyte more: %+v", r.Gigabyte)
	}
	if len(r.WhyNot) != 3 || r.WhyNot[2].Plan == "" || r.WhyNot[2].Cost == nil || *r.WhyNot[2].Cost <= r.Cost || r.WhyNot[0].Chosen || r.WhyNot[0].Cost == nil || *r.WhyNot[0].Cost < r.Cost || !r.WhyNot[1].Chosen || len(r.WhyNot[1].ReadBy) == 0 {
		t.Errorf("why not: %+v", r.WhyNot)
	}
	if len(r.Pareto) == 0 || r.Pareto[len(r.Pareto)-1].Cost != r.Cost {
		t.Errorf("front: %+v", r.Pareto)
	}
	for i := 1; i < len(r.Pareto); i++ {
		if a, b := r.Pareto[i-1], r.Pareto[i]; b.Bytes <= a.Bytes || b.Cost >= a.Cost {
			t.Errorf("front: %+v then %+v", a, b)
		}
	}
	for asked, want := range map[string]string{"rate: [city][][]": `nearest is "rates"`, "[city][hotel_id][]; [city][room_id][]": "several tables"} {
		if _, err, code := designed(t, file, "--why-not", asked); code != 2 || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: exit %d: %v", asked, code, err)
		}
	}
	if _, err, code := designed(t, file, "--why-not", "[town][][]"); code != 2 || !strings.Contains(err.Error(), `no attribute is called "town"`) {
		t.Errorf("exit %d: %v", code, err)
	}
}

// TestDesignBudget: what a budget cuts off is said.
func TestDesignBudget(t *testing.T) {
	var attributes, conditions []string
	for _, c := range "abcdefghijkl" {
		attributes = append(attributes, "{name: "+string(c)+", type: int}")
		conditions = append(conditions, "Hotel."+string(c)+" = ?")
	}
	text := strings.Replace(small, "{name: select, type: text}", strings.Join(append(attributes, "{name: select, type: text}"), ", "), 1)
	text = strings.Replace(text, "Hotel.city = ?", strings.Join(conditions, " AND "), 1)
	out, err, code := designed(t, written(t, "wide.yaml", text), "--time-limit", "2s")
	if code != 0 && code != exitGap {
		t.Fatalf("exit %d: %v", code, err)
	}
	if !strings.Contains(out, "  note    ") {
		t.Errorf("12 conditions, and nothing is said of a budget:\n%.1000s", out)
	}
}

// TestDesignWithoutSolver: what is not proven for want of helenus-solver says why there is none; and there is a design without.
func TestDesignWithoutSolver(t *testing.T) {
	d, nowhere := &design.Design{Gap: 0.1}, filepath.Join(t.TempDir(), "helenus-solver")
	if err := proven(d, solve.New(solve.Config{Path: nowhere})); !strings.Contains(err.Error(), "no exact solver: "+nowhere) || exitCode(err) != exitGap {
		t.Errorf("exit %d: %v", exitCode(err), err)
	}
	if err := proven(d, solve.New(solve.Config{})); strings.Contains(err.Error(), "exact solver") || exitCode(err) != exitGap {
		t.Errorf("exit %d: %v", exitCode(err), err)
	}
	if out, err, code := designed(t, "--solver", nowhere, written(t, "file.yaml", small)); code != 0 && code != exitGap || !strings.Contains(out, "cost ") {
		t.Errorf("exit %d: %v\n%s", code, err, out)
	}
	if code, out := command(t, nil, "config", "check", "--solver", nowhere); code != exitUsage || !strings.Contains(out, nowhere+" which the setting solver names") {
		t.Errorf("config check: exit %d: %s", code, out)
	}
}

// TestDesignInterrupted: Ctrl-C prints the best so far and exits 3; if there is nothing yet it says so. It comes later and
// later, until it meets a design that is not yet proven, or one that is.
func TestDesignInterrupted(t *testing.T) {
	for after := 250 * time.Millisecond; after < 10*time.Minute; after *= 2 {
		c := exec.Command(os.Args[0], "design", "../../examples/designs/rubis.yaml", "--mix", "bidding", "--json")
		c.Env = append(os.Environ(), asHelenus+"=1")
		var stdout, stderr bytes.Buffer
		c.Stdout, c.Stderr = &stdout, &stderr
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		stop := time.AfterFunc(after, func() { _ = c.Process.Signal(syscall.SIGINT) })
		kill := time.AfterFunc(after+5*time.Minute, func() { _ = c.Process.Kill() })
		_ = c.Wait() // the exit code is looked at
		stop.Stop()
		kill.Stop()
		code := c.ProcessState.ExitCode()
		if code == 0 {
			return
		}
		if code != exitGap {
			t.Fatalf("after %v: exit %d: %s", after, code, stderr.String())
		}
		if stdout.Len() == 0 {
			if !strings.Contains(stderr.String(), "before there was a design") {
				t.Errorf("after %v it says %s", after, stderr.String())
			}
			continue
		}
		if r := readDesign(t, stdout.String()); r.Status != "feasible" || r.Gap == nil || *r.Gap <= 0 || len(r.Tables) == 0 {
			t.Errorf("after %v it prints %s", after, stdout.String())
		}
		return
	}
	t.Error("within ten minutes there was no design")
}

// TestDesignSpaceNamed: what a limit's refusal names is enough, and a byte less is not.
func TestDesignSpaceNamed(t *testing.T) {
	file := written(t, "small.yaml", small)
	_, err, code := designed(t, file, "--max-bytes", "10")
	if code != 2 {
		t.Fatalf("exit %d: %v", code, err)
	}
	found := regexp.MustCompile(`takes (\d+) bytes`).FindStringSubmatch(err.Error())
	if found == nil {
		t.Fatal(err)
	}
	if out, err, code := designed(t, file, "--json", "--max-bytes", found[1]); code != 0 || *readDesign(t, out).Cost <= 0 {
		t.Errorf("%s bytes: exit %d, %v", found[1], code, err)
	}
	bytes, _ := strconv.Atoi(found[1])
	if _, err, code := designed(t, file, "--max-bytes", strconv.Itoa(bytes-1)); code != 2 || !strings.Contains(err.Error(), found[1]) {
		t.Errorf("a byte less: exit %d, %v", code, err)
	}
}

// TestDesignCeiling: a statement that no plan answers as quickly as it must be is named.
func TestDesignCeiling(t *testing.T) {
	file := written(t, "small.yaml", strings.Replace(small, "{id: rates, ", "{id: rates, ceiling: 0.001, ", 1))
	if _, err, code := designed(t, file); code != exitNoPlan || !strings.Contains(err.Error(), "statement rates ") || !strings.Contains(err.Error(), "ceiling of 0.001 ms") {
		t.Errorf("exit %d: %v", code, err)
	}
	file = written(t, "small.yaml", strings.Replace(small, "{id: reprice, ", "{id: reprice, ceiling: 0.001, ", 1))
	if _, err, code := designed(t, file); code != exitNoPlan || !strings.Contains(err.Error(), "no choice of tables keeps write reprice within its ceiling of 0.001 ms") {
		t.Errorf("a write: exit %d: %v", code, err)
	}
}

// TestDesignBreaches: writes that leave out what the model says is there are told of.
func TestDesignBreaches(t *testing.T) {
	file := written(t, "small.yaml", small+`- {id: close, text: "DELETE FROM Hotel WHERE Hotel.hotel_id = ?", weights: {day: 1}}
- {id: build, text: "INSERT INTO Room SET room_id = ? AND CONNECT TO hotel(?), owner(?)", weights: {day: 1}}
`)
	out, err, code := designed(t, file, "--mix", "day")
	for _, want := range []string{
		"warning close breaks what the model says, where there is one: it would leave a Room without the Hotel that each has (room_hotel)",
		"warning build breaks what the model says, always: it inserts a Room without the rate that each has",
	} {
		if err != nil || code != 0 || !strings.Contains(out, want) {
			t.Errorf("exit %d (%v), no %q in\n%s", code, err, want, out)
		}
	}
	out, err, _ = designed(t, file, "--mix", "day", "--json")
	var r struct {
		Breaches []design.Breach `json:"breaks_model"`
	}
	if err != nil || json.Unmarshal([]byte(out), &r) != nil || len(r.Breaches) != 2 || r.Breaches[0].Statement != "close" || r.Breaches[0].Always || !r.Breaches[1].Always {
		t.Errorf("%+v (%v)", r, err)
	}
	if out, err, _ = designed(t, written(t, "small.yaml", small), "--mix", "day"); err != nil || strings.Contains(out, "warning") {
		t.Errorf("nothing is broken: %v\n%s", err, out)
	}
}

// TestDesignRobust: costs by mix, and what can not be asked together.
func TestDesignRobust(t *testing.T) {
	file := written(t, "small.yaml", small)
	for _, args := range [][]string{{"--robust", "day,night"}, {"--robust", "day,night", "--worst-case"}} {
		out, err, code := designed(t, append([]string{file, "--json"}, args...)...)
		if err != nil || code != 0 {
			t.Fatalf("exit %d: %v", code, err)
		}
		var r struct {
			Robust struct {
				Design string
				Mixes  []struct{ Mix string }
				Proven bool
			}
		}
		if err := json.Unmarshal([]byte(out), &r); err != nil {
			t.Fatal(err)
		}
		if want := []string{"mean", "worst"}[len(args)-2]; r.Robust.Design != want || len(r.Robust.Mixes) != 2 || !r.Robust.Proven {
			t.Errorf("%v: %+v", args, r.Robust)
		}
	}
	for want, args := range map[string][]string{
		`no mix is called "nihgt"; nearest is "night"`: {"--robust", "day,nihgt"},
		"mix day is named twice":                       {"--robust", "day,day"},
		"leave --mix out":                              {"--robust", "day,night", "--mix", "day"},
		"name the mixes by --robust":                   {"--worst-case"},
		"ask for them without it":                      {"--robust", "day,night", "--worst-case", "--explain"},
	} {
		if _, err, code := designed(t, append([]string{file}, args...)...); code != 2 || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: exit %d, %v", args, code, err)
		}
	}
}

// TestDesignMix: statements with weights by mix, but none for the mix chosen, are no part of the design.
func TestDesignMix(t *testing.T) {
	const rubis = "../../examples/designs/rubis.yaml"
	for _, c := range []struct {
		name   string
		args   []string
		tables int
		cost   float64
	}{
		{"alone", []string{"--cost", "nose:request_count"}, 9, 107.6},
		{"over a schema that has no plan for another mix", []string{"--existing", "rubis_baseline", "--only-existing"}, 17, math.Inf(1)},
		{"over a schema by its short name", []string{"--existing", "expert", "--only-existing"}, 15, math.Inf(1)},
	} {
		t.Run(c.name, func(t *testing.T) {
			out, err, code := designed(t, append([]string{rubis, "--mix", "browsing", "--json"}, c.args...)...)
			if err != nil || code != 0 {
				t.Fatalf("exit %d: %v", code, err)
			}
			r := readDesign(t, out)
			if len(r.Tables) == 0 || len(r.Tables) > c.tables || *r.Cost > c.cost+1e-9 {
				t.Errorf("%d tables, cost %g; want at most %d and %g", len(r.Tables), *r.Cost, c.tables, c.cost)
			}
			if len(r.Statements) != 11 || len(r.Others) != 25 || r.Others[0] != "q10" {
				t.Errorf("%d statements, left out: %v", len(r.Statements), r.Others)
			}
		})
	}
	zero := strings.Replace(strings.Replace(small, "weights: {day: 1, night: 10}", "weights: {night: 10}", 1), "day: 10, night: 1", "day: 10, night: 0", 1)
	for mix, want := range map[string]int{"day": 1, "night": 2} { // an explicit 0 keeps the statement
		out, err, _ := designed(t, written(t, "small.yaml", zero), "--mix", mix, "--json")
		if r := readDesign(t, out); err != nil || len(r.Statements) != want {
			t.Errorf("%s: %d statements, want %d (%v)", mix, len(r.Statements), want, err)
		}
	}
	if _, err, code := designed(t, written(t, "small.yaml", zero), "--mix", "day", "--sensitivity", "reprice"); code != 2 {
		t.Errorf("the sensitivity of a statement that is no part of the mix: exit %d, %v", code, err)
	}
}

// TestTablesOfNone: what looks at a file's tables looks at those that would be designed where it has none, and says so: the same as
// with --designed.
func TestTablesOfNone(t *testing.T) {
	for _, name := range []string{"twissandra", "rubis"} {
		for _, args := range [][]string{{"lint", "--fail-on", "never"}, {"safety"}, {"diagram", "--kind", "logical"}} {
			var out, said bytes.Buffer
			c := root()
			c.SetArgs(append(args, designs+name+".yaml"))
			c.SetOut(&out)
			c.SetErr(&said)
			if err := c.ExecuteContext(t.Context()); err != nil {
				t.Fatalf("%v: %v", args, err)
			}
			if !strings.Contains(said.String(), name+".yaml has no tables of its own: these are those that helenus design chooses") || strings.Contains(said.String(), "rubis_expert") != (name == "rubis") {
				t.Errorf("%v: %s", args, said.String())
			}
			if asked, err, _ := executed(t, args[0], append(args[1:], designs+name+".yaml", "--designed")...); err != nil || asked != out.String() {
				t.Errorf("%v: %v: with --designed\n%s\nwithout\n%s", args, err, asked, out.String())
			}
		}
	}
}
