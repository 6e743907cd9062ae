package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/helenus-db/helenus/advisor/plan"
	"github.com/helenus-db/helenus/capture"
	"github.com/helenus-db/helenus/capture/schema"
	"github.com/helenus-db/helenus/internal/admin"
	"github.com/helenus-db/helenus/internal/cassandra/cassandratest"
	"github.com/helenus-db/helenus/rewrite/kinds"
)

// disturbance is a file in the directory for temporary files that says what a round of advice does instead of judging.
const disturbance = "helenus-test-round"

// disturbed judges as the program does, unless a test has said what to do instead.
func disturbed(lu plan.Rewrite, s *capture.Snapshot, sc *schema.Schema) []plan.Verdict {
	what, _ := os.ReadFile(filepath.Join(os.TempDir(), disturbance))
	switch string(what) {
	case "panic":
		panic("a defect of the test's")
	case "memory":
		var kept [][]byte
		for {
			kept = append(kept, bytes.Repeat([]byte{byte(len(kept))}, 1<<20))
		}
	case "hang":
		_ = os.WriteFile(filepath.Join(os.TempDir(), disturbance+".pid"), []byte(strconv.Itoa(os.Getpid())), 0o600)
		time.Sleep(time.Hour)
	}
	return kinds.All(kinds.Settings{}).Judge(lu, s, sc)
}

// A round of advice that panics, takes too much memory, or does not end, ends alone: requests are forwarded meanwhile, what was advised before stays, and
// the log, the status, the API and the metrics say what happened, until a round succeeds. kill -9 of helenus ends it, too.
func TestRoundsOfAdviceAreBounded(t *testing.T) {
	address := cassandratest.ContactPoints(t)[0]
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	disturb := func(what string) {
		if err := os.WriteFile(filepath.Join(dir, disturbance), []byte(what), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s := newShop(t, session(t, address))
	p := s.process(address, "--advise-memory", "134217728", "--advise-time", "20s")
	id, _ := s.propose(p)
	advise := func() (admin.Recommendations, error) {
		var all admin.Recommendations
		err := p.client().Post(context.Background(), "advise", admin.Decision{}, &all)
		return all, err
	}
	through := session(t, p.listen)
	for _, one := range []struct{ what, says, result string }{
		{"panic", "a defect of the test's", "failed"},
		{"memory", "MiB of memory, more than 128", "killed-memory"},
		{"hang", "ended after 20s", "killed-time"},
	} {
		disturb(one.what)
		ended := make(chan error, 1)
		go func() {
			_, err := advise()
			ended <- err
		}()
		slowest := time.Duration(0)
		var err error
		for asked := 0; ; asked++ {
			select {
			case err = <-ended:
			default:
				began := time.Now()
				s.ask(through, 1)
				slowest = max(slowest, time.Since(began))
				continue
			}
			t.Logf("%s: %d requests meanwhile, the slowest took %v", one.what, asked, slowest)
			break
		}
		if err == nil || !strings.Contains(err.Error(), one.says) {
			t.Errorf("%s: %v", one.what, err)
		}
		var all admin.Recommendations
		if err := p.client().Get(context.Background(), "recommendations", &all); err != nil || !strings.Contains(all.Trouble, one.says) || !strings.Contains(fmt.Sprint(all.Recommendations), id) {
			t.Errorf("%s: %v, trouble %q", one.what, err, all.Trouble)
		}
		if page := p.page("/readyz"); !p.ready() || !strings.Contains(page, "what was advised before stays") {
			t.Errorf("%s: the status says %s", one.what, page)
		}
		if n := p.metric("helenus_advisor_rounds_total{", `result="`+one.result+`"`); n < 1 {
			t.Errorf("%s: %v rounds %s", one.what, n, one.result)
		}
	}
	if _, text := command(t, p, "recommendations", "--server", p.admin); !strings.Contains(text, "ended after 20s") || !strings.Contains(text, id) {
		t.Errorf("helenus recommendations says %s", text)
	}
	if log := p.output.String(); !strings.Contains(log, "rounds_test.go") {
		t.Error("the log does not say where the round panicked")
	}
	disturb("")
	if all, err := advise(); err != nil || all.Trouble != "" {
		t.Errorf("%v, %q", err, all.Trouble)
	}
	if n := p.metric("helenus_advisor_rounds_total{", `result="ok"`); n < 2 {
		t.Errorf("%v rounds ok", n)
	}

	if err := os.Remove(filepath.Join(dir, disturbance+".pid")); err != nil {
		t.Fatal(err)
	}
	disturb("hang")
	go func() { _, _ = advise() }()
	pid := 0
	await(t, "a round hangs", func() bool {
		text, err := os.ReadFile(filepath.Join(dir, disturbance+".pid")) //nolint:gosec // ours
		if err != nil {
			return false
		}
		pid, err = strconv.Atoi(string(text))
		return err == nil
	})
	if err := syscall.Kill(pid, 0); err != nil {
		t.Fatal(err)
	}
	p.kill()
	await(t, "it is gone with helenus", func() bool {
		state, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		return err != nil || bytes.Contains(state, []byte(") Z "))
	})
}
