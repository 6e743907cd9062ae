package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/helenus-db/helenus/internal/admin"
	"github.com/helenus-db/helenus/internal/cassandra"
	"github.com/helenus-db/helenus/internal/cassandra/cassandratest"
	"github.com/helenus-db/helenus/internal/long"
	"github.com/helenus-db/helenus/rewrite/migrate"
)

// TestWritesAroundAreFound has somebody write around Helenus on a real Cassandra, and an agent beside it that tells: the rows get their entries in
// seconds, are counted, and reads go on being served; what comes through Helenus is no write around it.
func TestWritesAroundAreFound(t *testing.T) {
	cassandratest.ContactPoints(t)
	long.Only(t, "a cluster of its own; internal/commitlog reads real files, and rewrite has the rest in memory")
	raw := t.TempDir()
	cluster, err := cassandra.Start(t.Context(), cassandra.Options{Extra: map[string]any{"cdc_enabled": true, "cdc_raw_directory": raw, "commitlog_segment_size": "1MiB"}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cluster.Stop() }()
	contact := cluster.Node(0).Addr()
	direct := session(t, contact)
	s := newShop(t, direct)
	p := s.process(contact)
	id, _ := s.propose(p)
	if err := p.approve(id); err != nil {
		t.Fatal(err)
	}
	through := session(t, p.listen)
	s.serving(p, id, through)

	must(t, direct, "ALTER TABLE "+s.table()+" WITH cdc = true")
	var made admin.TokenMade
	if err := p.client().Post(context.Background(), "tokens", admin.TokenOrder{Name: "node1", Role: "agent"}, &made); err != nil {
		t.Fatal(err)
	}
	if err := (&admin.Client{Address: p.admin, Token: made.Text}).Get(context.Background(), "changes", new([]admin.Change)); err == nil {
		t.Error("an agent's token reads the changes")
	}
	host, _, _ := strings.Cut(contact, ":")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	agent := exec.Command(self, "cdc-agent", "--dir", raw, "--node", host, "--server", p.admin, "--token", made.Text, "--every", "500ms", "--delete", "--checkpoint", filepath.Join(t.TempDir(), "done.json")) //nolint:gosec // ourselves
	agent.Env = append(os.Environ(), asHelenus+"=1")
	told := &output{}
	agent.Stdout, agent.Stderr = told, told
	if err := agent.Start(); err != nil {
		t.Fatal(err)
	}
	ended := false
	defer func() {
		if !ended {
			_ = agent.Process.Kill()
			_ = agent.Wait()
		}
		if t.Failed() {
			t.Logf("the agent said\n%s", told)
		}
	}()

	const around, own = 20, 100
	for i := range own {
		must(t, through, "INSERT INTO "+s.table()+" (day, number, customer, total) VALUES (?, ?, ?, ?)", i%days, 1_000_000+i, customer(i), i)
	}
	began := time.Now()
	for i := range around {
		must(t, direct, "INSERT INTO "+s.table()+" (day, number, customer, total) VALUES (?, ?, ?, ?)", i%days, 2_000_000+i, customer(i), i)
	}
	must(t, direct, fmt.Sprintf("UPDATE %s SET customer = 'moved' WHERE day = 1 AND number = 1000001", s.table()))
	must(t, direct, fmt.Sprintf("UPDATE %s SET total = 77 WHERE day = 2 AND number = 1000002", s.table()))
	count := func(name string) float64 { return p.metric(name, id) }
	await(t, "the rows written around Helenus are found", func() bool { return count("helenus_change_written_around_total") >= around+1 })
	t.Logf("%d rows were found and repaired %v after the first was written", around+1, time.Since(began).Round(100*time.Millisecond))
	await(t, "the own rows are compared", func() bool { return count("helenus_change_rechecked_total") >= around+own })
	if n := count("helenus_change_written_around_total"); n != around+1 {
		t.Errorf("%v rows are counted as written around, %d were", n, around+1)
	}
	for i := range around {
		if got, want := s.answers(through, customer(i)), s.answers(direct, customer(i)); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s has orders %v, is told %v", customer(i), want, got)
		}
	}
	if got := s.answers(through, "moved"); len(got) != 1 {
		t.Errorf("who was moved has orders %v", got)
	}
	if m := p.migration(id); m.State != migrate.Serving {
		t.Errorf("%s: %s", m.State, m.Reason)
	}
	if n := p.metric("helenus_cdc_unread_total", host); n != 0 {
		t.Errorf("%v could not be read", n)
	}
	if err := agent.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	ended = true
	if err := agent.Wait(); err != nil {
		t.Errorf("the agent ended with %v", err)
	}
}
