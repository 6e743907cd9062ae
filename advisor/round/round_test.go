//go:build linux

package round_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/helenus-db/helenus/advisor/cost"
	"github.com/helenus-db/helenus/advisor/infer"
	"github.com/helenus-db/helenus/advisor/infer/infertest"
	"github.com/helenus-db/helenus/advisor/lint"
	"github.com/helenus-db/helenus/advisor/plan"
	"github.com/helenus-db/helenus/advisor/recommend"
	"github.com/helenus-db/helenus/advisor/round"
	"github.com/helenus-db/helenus/advisor/solve"
	"github.com/helenus-db/helenus/advisor/solve/coin"
	"github.com/helenus-db/helenus/capture"
	"github.com/helenus-db/helenus/capture/cycle"
	"github.com/helenus-db/helenus/capture/schema"
)

// The test binary is the worker, too, and does what a test wishes where it judges; and a process that a test kills.
const (
	fault    = "ROUND_TEST_FAULT"
	asParent = "ROUND_TEST_AS_PARENT"
	pidFile  = "pid"
)

func TestMain(m *testing.M) {
	coin.ServeIfWorker()
	switch os.Getenv(fault) {
	case "rubbish":
		fmt.Println("Hello, world")
		time.Sleep(time.Hour)
	case "another version":
		fmt.Println(`{"Version": "helenus advice worker 1"}`)
		os.Exit(0)
	case "no reason":
		fmt.Println(`{"Version": "helenus advice worker 4"}`)
		os.Exit(0)
	case "half an answer":
		fmt.Println(`{"Version": "helenus advice worker 4", "Advice": {}, "Dismissals": 1000000000}`)
		os.Exit(0)
	case "endless":
		fmt.Print(`{"Version": "`)
		for {
			fmt.Print(strings.Repeat("a", 1<<16))
		}
	}
	round.ServeIfWorker(recommend.JudgeFunc(judge))
	if os.Getenv(asParent) != "" {
		_, err := faulty("hang", round.Config{Time: time.Minute}).Make(context.Background(), hotel())
		fmt.Println(err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// TestLintIsTheSame: a worker lints as this process does, and what becomes of it is told as of advice.
func TestLintIsTheSame(t *testing.T) {
	in := hotel()
	want, err := lint.LiveCorrected(t.Context(), in.Snapshot, in.Schema, in.Statistics, nil)
	if err != nil {
		t.Fatal(err)
	}
	got, err := round.New(round.Config{}).Lint(t.Context(), in.Snapshot, in.Schema, in.Statistics, nil)
	if err != nil {
		t.Fatal(err)
	}
	text := func(r *lint.Report) string {
		data, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	if len(want.Findings) == 0 || text(got) != text(want) {
		t.Errorf("in a worker: %s\nhere: %s", text(got), text(want))
	}
	if _, err := faulty("rubbish", round.Config{}).Lint(t.Context(), in.Snapshot, in.Schema, in.Statistics, nil); !errors.Is(err, round.ErrWorker) {
		t.Errorf("of rubbish: %v", err)
	}
}

// TestWorkloadIsTheSame: a worker writes the workload of a cycle as this process does.
func TestWorkloadIsTheSame(t *testing.T) {
	in := hotel()
	c := &cycle.Cycle{Period: "day", Zone: "UTC", Steps: make([]cycle.Step, 2)}
	for i := range c.Steps {
		c.Steps[i] = cycle.Step{Begin: time.Duration(i) * 12 * time.Hour, Length: 12 * time.Hour}
	}
	want, err := infer.WeighedCorrected(t.Context(), in.Snapshot, in.Schema, in.Statistics, nil, c)
	if err != nil {
		t.Fatal(err)
	}
	p := round.New(round.Config{})
	got, err := p.Weigh(t.Context(), in.Snapshot, in.Schema, in.Statistics, nil, c)
	if err != nil || got != want || !strings.Contains(want, "steps") {
		t.Errorf("%v, in a worker: %s\nhere: %s", err, got, want)
	}
	if _, err := p.Weigh(t.Context(), &capture.Snapshot{From: in.Snapshot.From, To: in.Snapshot.To}, in.Schema, in.Statistics, nil, c); !errors.Is(err, infer.ErrNoStatement) {
		t.Errorf("of nothing: %v", err)
	}
	if _, err := faulty("rubbish", round.Config{}).Weigh(t.Context(), in.Snapshot, in.Schema, in.Statistics, nil, c); !errors.Is(err, round.ErrWorker) {
		t.Errorf("of rubbish: %v", err)
	}
}

// judge accepts every statement of every look-up, unless it is to do something else.
func judge(lu plan.Rewrite, _ *capture.Snapshot, _ *schema.Schema) []plan.Verdict {
	switch os.Getenv(fault) {
	case "panic":
		panic("a defect")
	case "exit":
		fmt.Fprintln(os.Stderr, "the end is near")
		os.Exit(7)
	case "hang":
		_ = os.WriteFile(filepath.Join(os.TempDir(), pidFile), []byte(strconv.Itoa(os.Getpid())), 0o600)
		time.Sleep(time.Hour)
	case "memory":
		var kept [][]byte
		for {
			kept = append(kept, bytes.Repeat([]byte{byte(len(kept))}, 1<<20))
		}
	case "kill":
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		time.Sleep(time.Hour)
	case "tell":
		priority, _ := syscall.Getpriority(syscall.PRIO_PROCESS, 0) // of this thread, which was started after the first; 20 less what is nice
		panic(fmt.Sprint("nice ", 20-priority, " ", os.Environ()))
	}
	var out []plan.Verdict
	for _, s := range lu.Statements {
		out = append(out, plan.Verdict{Statement: s, Reason: "nothing speaks against it"})
	}
	return out
}

func faulty(what string, c round.Config) *round.Process {
	c.Env = append(c.Env, fault+"="+what)
	return round.New(c)
}

func hotel() recommend.Input {
	return recommend.Input{
		Snapshot: infertest.Hotel().Snapshot(), Schema: infertest.HotelSchema(), Statistics: infertest.HotelStatistics(),
		Nodes: 1, Driver: "GoCQL", Judge: recommend.JudgeFunc(judge), Solver: solve.New(solve.Config{}),
		Limits: solve.Limits{Nodes: 2000, Gap: 0.001}, At: infertest.Start.Add(5 * time.Minute),
	}
}

// byDay is a past in which the hotel's reads come by day and its writes by night.
func byDay(s *capture.Snapshot) *recommend.Past {
	c := &cycle.Cycle{Period: cycle.Day, Zone: "Europe/Berlin", Steps: []cycle.Step{{Begin: 8 * time.Hour, Length: 10 * time.Hour}, {Begin: 18 * time.Hour, Length: 14 * time.Hour}}}
	for _, st := range s.Statements {
		weights := []float64{0, 0}
		switch {
		case strings.Contains(st.Text, "ALLOW FILTERING"):
			weights[0] = 10
		case strings.HasPrefix(st.Text, "INSERT INTO hotel.reservations"):
			weights[1] = 1000
		}
		c.Members = append(c.Members, cycle.Member{Fingerprint: st.Fingerprint, Weights: weights})
	}
	return &recommend.Past{Report: &cycle.Report{Cycle: c, Workload: []cycle.Pattern{{Name: cycle.Day, Verdict: cycle.Reliable, Share: 0.9}}}, Counts: s}
}

func text(t *testing.T, a *recommend.Advice, err error) string {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	form, err := json.MarshalIndent(a, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	return string(form) + "\n"
}

// A round in a process of its own comes to the same advice, byte for byte, and to the same cache.
func TestSameAdvice(t *testing.T) {
	ctx := t.Context()
	apart := round.New(round.Config{})
	golden, err := os.ReadFile(filepath.Join("..", "recommend", "testdata", "hotel.json"))
	if err != nil {
		t.Fatal(err)
	}
	a, err := apart.Make(ctx, hotel())
	if d := cmp.Diff(string(golden), text(t, a, err)); d != "" {
		t.Errorf("not the golden advice: %s", d)
	}

	var here, there recommend.CalendarCache
	measured, err := cost.NewCassandra(cost.CassandraParameters{Nodes: 5, Request: 0.7})
	if err != nil {
		t.Fatal(err)
	}
	in := hotel()
	calendars := 0
	for i, c := range []struct {
		name     string
		with     func()
		designed int // so far
	}{
		{"no past", func() {}, 0},
		{"a past", func() { in.Past = byDay(in.Snapshot) }, 1},
		{"the same a minute later", func() { in.At = in.At.Add(time.Minute) }, 1},
		{"an equal one of another hour", func() { in.Past = byDay(in.Snapshot) }, 2},
		{"a past without a cycle", func() { in.Past = &recommend.Past{Report: &cycle.Report{Why: "it is quiet"}} }, 3},
		{"a cost model that was measured", func() { in.Past, in.Cost = byDay(in.Snapshot), measured }, 4},
		{"no time to look", func() { in.Limits.Wall = 1 }, 5},
		{"nor now", func() {}, 5},
		{"soon enough", func() { in.At = in.At.Add(time.Minute) }, 6},
		{"nobody to judge", func() { in.Judge = nil }, 7},
	} {
		c.with()
		in.Cache = &here
		with, err := recommend.Make(ctx, in)
		want := text(t, with, err)
		in.Cache = &there
		a, err := apart.Make(ctx, in)
		if d := cmp.Diff(want, text(t, a, err)); d != "" {
			t.Errorf("%s: (-in this process, +in its own) %s", c.name, d)
		}
		if here.Designed() != c.designed || there.Designed() != c.designed {
			t.Errorf("%d, %s: %d and %d calendars were looked for, not %d", i, c.name, here.Designed(), there.Designed(), c.designed)
		}
		for _, r := range a.Recommendations {
			if r.Kind == recommend.TimelineKind {
				calendars++
			}
		}
	}
	if calendars < 3 {
		t.Errorf("%d calendars", calendars)
	}
}

// Whatever becomes of the child, the round fails, says why, leaves the cache as it was, and nothing behind.
func TestFaults(t *testing.T) {
	t.Setenv("HELENUS_PASSWORD", "a secret")
	files := func() int {
		entries, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Fatal(err)
		}
		return len(entries)
	}
	before := files()
	for _, c := range []struct {
		fault string
		with  round.Config
		is    error
		says  string
		words string
	}{
		{"panic", round.Config{}, round.ErrWorker, "a defect", "round_test.judge"},
		{"exit", round.Config{}, round.ErrWorker, "ended without an answer (exit status 7); it said: the end is near", ""},
		{"kill", round.Config{}, round.ErrWorker, "killed by another", ""},
		{"memory", round.Config{Memory: 128 << 20}, round.ErrMemory, "more than 128: allow it more (advise-memory)", ""},
		{"", round.Config{Memory: 1 << 20}, round.ErrMemory, "more than 1: allow it more (advise-memory)", ""},
		{"hang", round.Config{Time: 500 * time.Millisecond}, round.ErrTime, "after 500ms: allow it more (advise-time)", ""},
		{"rubbish", round.Config{}, round.ErrWorker, "what is no answer", ""},
		{"another version", round.Config{}, round.ErrWorker, `"helenus advice worker 1", not "helenus advice worker 4"`, ""},
		{"no reason", round.Config{}, round.ErrWorker, "neither an answer nor a reason", ""},
		{"half an answer", round.Config{}, round.ErrWorker, "ended without an answer", ""},
		{"endless", round.Config{}, round.ErrWorker, "longer than an eighth of the memory", ""},
		{"a program that reads nothing", round.Config{Path: "/bin/true"}, round.ErrWorker, "ended without an answer", ""},
		{"no program", round.Config{Path: "/nowhere"}, round.ErrWorker, "could not be started", ""},
		{"tell", round.Config{}, round.ErrWorker, "nice 10", "GOMEMLIMIT=429496728"},
	} {
		t.Run(c.fault, func(t *testing.T) {
			var cache recommend.CalendarCache
			in := hotel()
			in.Cache = &cache
			in.Past = byDay(in.Snapshot)
			began := time.Now()
			a, err := faulty(c.fault, c.with).Make(t.Context(), in)
			var e *round.Error
			if a != nil || !errors.Is(err, c.is) || !errors.As(err, &e) || !strings.Contains(err.Error(), c.says) || !strings.Contains(e.Words, c.words) {
				t.Errorf("%v, %v", a, err)
			}
			if e != nil && (strings.Contains(e.Words, "secret") || strings.Contains(err.Error(), "\n")) {
				t.Errorf("%v\n%s", err, e.Words)
			}
			if took := time.Since(began); took > 2*time.Minute { // it hung
				t.Errorf("it took %v", took)
			}
			if cache.Designed() != 0 {
				t.Error("something was noted")
			}
		})
	}
	if after := files(); after > before+2 { // of the poller
		t.Errorf("%d files were open, %d are", before, after)
	}
}

// What can not be worked out is told as it is in this process.
func TestFailure(t *testing.T) {
	in := hotel()
	in.Schema = &schema.Schema{}
	in.Snapshot.Statements = nil
	_, here := recommend.Make(t.Context(), in)
	_, apart := round.New(round.Config{}).Make(t.Context(), in)
	if fmt.Sprint(here) != fmt.Sprint(apart) {
		t.Errorf("%v, but apart: %v", here, apart)
	}
}

func TestStopped(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(300*time.Millisecond, cancel)
	began := time.Now()
	if _, err := faulty("hang", round.Config{}).Make(ctx, hotel()); !errors.Is(err, context.Canceled) || time.Since(began) > 10*time.Second {
		t.Errorf("%v after %v", err, time.Since(began))
	}
	if _, err := round.New(round.Config{}).Make(ctx, hotel()); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// kill -9 of the parent ends the child.
func TestEndsWithParent(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	parent := exec.Command(self) //nolint:gosec // ourselves
	parent.Env = append(os.Environ(), asParent+"=1", "TMPDIR="+dir)
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = parent.Wait() }()
	defer func() { _ = parent.Process.Kill() }()
	var pid int
	await(t, "the child hangs", func() bool {
		text, err := os.ReadFile(filepath.Join(dir, pidFile)) //nolint:gosec // ours
		if err != nil {
			return false
		}
		pid, err = strconv.Atoi(string(text))
		return err == nil
	})
	if err := syscall.Kill(pid, 0); err != nil || pid == parent.Process.Pid {
		t.Fatal(pid, err)
	}
	if err := parent.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	await(t, "the child is gone", func() bool {
		state, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		return err != nil || bytes.Contains(state, []byte(") Z ")) // who reaps orphans may take its time
	})
}

func await(t *testing.T, what string, done func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); !done(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not within 20 s: %s", what)
		}
	}
}
