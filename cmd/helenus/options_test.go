package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/helenus-db/helenus/advisor/options"
	"github.com/helenus-db/helenus/bench/rank"
)

// TestOptionsTwissandra: the command ranks 128 options (B-48) with Figure 3 first (B-50), and the optimiser's design among them.
func TestOptionsTwissandra(t *testing.T) {
	out, err, code := executed(t, "options", "../../examples/designs/twissandra.yaml", "--json", "--top", "3")
	if err != nil || code != 0 {
		t.Fatalf("exit %d: %v", code, err)
	}
	var report struct {
		Made    int `json:"options_made"`
		Options []struct {
			Rank   int
			Given  bool
			Name   string
			Score  float64
			Tables []struct{ Notation string }
		}
		Remarks []struct{ Text string }
	}
	if err := json.Unmarshal([]byte(out), &report); err != nil {
		t.Fatal(err)
	}
	if report.Made != 128 || len(report.Options) != 4 {
		t.Fatalf("%d options made, %d shown; want 128, and 3 with the design", report.Made, len(report.Options))
	}
	given := 0
	for _, o := range report.Options {
		if o.Given {
			given++
			if o.Name != "design" || len(o.Tables) == 0 {
				t.Errorf("%+v", o)
			}
		}
	}
	if best := report.Options[0]; best.Given || best.Rank != 1 || best.Score != 1.25 || len(best.Tables) != 6 || given != 1 {
		t.Errorf("the best is %+v; %d designs", best, given)
	}
}

func TestOptionsText(t *testing.T) {
	file := written(t, "file.yaml", small)
	out, err, code := executed(t, "options", file, "--steps", "--score", "weighted", "--weights", "writes=2,read=0.5", "--indexes", "0", "--mix", "night")
	if err != nil || code != 0 {
		t.Fatalf("exit %d: %v", code, err)
	}
	for _, want := range []string{
		"# options for small", "weights of mix night", "at most 0 secondary indexes a table; ranked by the weighted score", "## step 1a: table variants", "## step 1d",
		"## step 1e: tables for writes", "reprice: ", "Cassandra: [city][room_id][rate, select]", "design",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("nothing says %q in\n%s", want, out)
		}
	}
	again, _, _ := executed(t, "options", file, "--steps", "--score", "weighted", "--weights", "writes=2,read=0.5", "--indexes", "0", "--mix", "night")
	if again != out {
		t.Errorf("another run printed\n%s\nthe first\n%s", again, out)
	}
}

func TestOptionsBadInput(t *testing.T) {
	swap := func(pairs ...string) string { return strings.NewReplacer(pairs...).Replace(small) }
	for name, c := range map[string]struct {
		text string
		args []string
		code int
		want string
	}{
		"an attribute that is not known": {swap("Hotel.city = ?", "Hotel.town = ?"), nil, 2, `no attribute of Hotel is called "town"`},
		"OR":                             {swap("Hotel.city = ?", "Hotel.city = ? OR Room.rate = ?"), nil, 2, "OR"},
		"no statements":                  {small[:strings.Index(small, "- {id: rates")] + "[]\n", nil, 2, "no statements"},
		"an unknown mix":                 {small, []string{"--mix", "dya"}, 2, `no mix is called "dya"; nearest is "day"`},
		"an unknown score":               {small, []string{"--score", "simpel"}, 2, `no score is called "simpel"; nearest is "simple"`},
		"weights of nothing":             {small, []string{"--weights", "read=1"}, 2, "--score weighted"},
		"an unknown metric":              {small, []string{"--score", "weighted", "--weights", "reads=1"}, 2, `nearest is "read"`},
		"a weight that is none":          {small, []string{"--score", "weighted", "--weights", "read=-1"}, 2, "is not a weight"},
		"indexes below zero":             {small, []string{"--indexes", "-1"}, 2, "-1 is not a number of indexes"},
		"nothing to print":               {small, []string{"--top", "0"}, 2, "0 is not a number of options"},
		"columns below zero":             {small, []string{"--column-growth", "-1"}, 2, "-1 is not a number of columns"},
		"no time to measure":             {small, []string{"--measure", "--for", "0s"}, 2, "is no time to measure in"},
		"nothing to measure":             {small, []string{"--measure", "--rows", "0"}, 2, "0 is not a number of entities"},
		"no Cassandra":                   {small, []string{"--measure", "--contact-point", "127.0.0.1:1"}, exitUnreachable, "no Cassandra answers"},
		"rows that are no number":        {small, []string{"--row-growth", "NaN"}, 2, "is not a share"},
	} {
		t.Run(name, func(t *testing.T) {
			out, err, code := executed(t, "options", append([]string{written(t, "file.yaml", c.text)}, c.args...)...)
			if err == nil || code != c.code || !strings.Contains(err.Error(), c.want) {
				t.Errorf("exit %d: %v\nwant exit %d: ...%s...", code, err, c.code, c.want)
			}
			if out != "" {
				t.Errorf("printed %q", out)
			}
		})
	}
	// B-5: what is not supported is named, not dropped silently.
	out, err, code := executed(t, "options", written(t, "file.yaml", swap("SELECT Room.rate, Hotel.select", "SELECT count(*)")))
	if code != exitNoPlan || err == nil || !strings.Contains(out, "rates: aggregates are not supported") {
		t.Errorf("exit %d: %v\n%s", code, err, out)
	}
}

// TestOptionsMeasure measures the best options of a small workload on a real Cassandra (B-52), and leaves nothing behind.
func TestOptionsMeasure(t *testing.T) {
	address := os.Getenv("HELENUS_TEST_CASSANDRA")
	if address == "" {
		t.Skip("HELENUS_TEST_CASSANDRA is not set: `make test` sets it where a real Cassandra can run")
	}
	address, _, _ = strings.Cut(address, ",")
	out, err, code := executed(t, "options", written(t, "file.yaml", small), "--measure", "--json", "--top", "2", "--rows", "100", "--for", "1s", "--contact-point", address)
	if err != nil {
		t.Fatalf("exit %d: %v\n%s", code, err, out)
	}
	var doc struct{ Measured options.Measured }
	if err := json.Unmarshal([]byte(out), &doc); err != nil {
		t.Fatal(err)
	}
	m := doc.Measured
	if len(m.Options) != 3 || m.Tau == nil || m.Requests == 0 {
		t.Fatalf("%+v", m)
	}
	if m.Costs == nil || m.Costs.Key <= 0 || m.Costs.Index <= 0 || m.Costs.Byte < 0 || m.Apart > 3 { // B-40, B-41
		t.Errorf("costs %+v, %d pairs apart", m.Costs, m.Apart)
	}
	for i, o := range m.Options {
		if o.Computed != i+1 || o.Measured < 1 || o.Measured > 3 || o.MeanMs <= 0 || o.ErrorMs <= 0 || len(o.Requests) == 0 {
			t.Errorf("%+v", o)
		}
	}
	if left := measuring(t, address); len(left) > 0 {
		t.Errorf("keyspaces %q are left behind", left)
	}
}

// TestOptionsKilled: B-52. What a measurement that was killed (kill -9) has left behind, the next one drops.
func TestOptionsKilled(t *testing.T) {
	address, _, _ := strings.Cut(os.Getenv("HELENUS_TEST_CASSANDRA"), ",")
	if address == "" {
		t.Skip("HELENUS_TEST_CASSANDRA is not set: `make test` sets it where a real Cassandra can run")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	args := []string{"options", written(t, "file.yaml", small), "--measure", "--top", "1", "--rows", "50", "--contact-point", address, "--for"}
	cmd := exec.Command(self, append(args, "5m")...) //nolint:gosec // ourselves
	cmd.Env = append(os.Environ(), asHelenus+"=1")
	said := &output{}
	cmd.Stdout, cmd.Stderr = said, said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	await(t, "the measurement", func() bool { return strings.Contains(said.String(), "measuring") })
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	if left := measuring(t, address); len(left) != 4 { // the pulse, the costs, the option and the design
		t.Errorf("the killed one has left %q", left)
	}
	if out, err, code := executed(t, args[0], append(args[1:], "1s")...); err != nil {
		t.Errorf("exit %d: %v\n%s", code, err, out)
	}
	if left := measuring(t, address); len(left) > 0 {
		t.Errorf("keyspaces %q are left behind", left)
	}
}

// measuring are the keyspaces of measurements.
func measuring(t *testing.T, address string) (names []string) {
	t.Helper()
	rows := session(t, address).Query("SELECT keyspace_name FROM system_schema.keyspaces").Iter()
	for name := ""; rows.Scan(&name); {
		if strings.HasPrefix(name, rank.Prefix) {
			names = append(names, name)
		}
	}
	if err := rows.Close(); err != nil {
		t.Error(err)
	}
	return names
}
