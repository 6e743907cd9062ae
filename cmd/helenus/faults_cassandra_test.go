package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/gocql/gocql"

	"github.com/helenus-db/helenus/internal/cassandra"
	"github.com/helenus-db/helenus/internal/cassandra/cassandratest"
	"github.com/helenus-db/helenus/internal/long"
	"github.com/helenus-db/helenus/rewrite/exec"
	"github.com/helenus-db/helenus/rewrite/migrate"
)

// load adds rows that nobody writes to while others do, a hundred in each partition, each with a customer of its own.
func (s *shop) load(rows int) {
	s.t.Helper()
	const each, loaders = 100, 16
	var wait sync.WaitGroup
	failed := make(chan error, loaders)
	for l := range loaders {
		wait.Go(func() {
			for day := days + l; (day-days)*each < rows; day += loaders {
				b := s.direct.NewBatch(gocql.UnloggedBatch)
				for i := (day - days) * each; i < min((day-days+1)*each, rows); i++ {
					b.Query("INSERT INTO "+s.table()+" (day, number, customer, total) VALUES (?, ?, ?, ?)", day, orders+i, fmt.Sprint("loaded ", i), i)
				}
				if err := s.direct.ExecuteBatch(b); err != nil {
					failed <- err
					return
				}
			}
		})
	}
	wait.Wait()
	close(failed)
	for err := range failed {
		s.t.Fatal(err)
	}
}

// filling is how far the table of a change is filled, as it stands in the keyspace of the fleet.
type filling struct {
	Total int
	Rows  int64
	Left  []struct {
		exec.Range
		Owner string
	}
}

func (f filling) done() int { return f.Total - len(f.Left) }

// begun are the parts that members have begun, by whom.
func (f filling) begun() map[exec.Range]string {
	begun := map[exec.Range]string{}
	for _, p := range f.Left {
		if p.Owner != "" {
			begun[p.Range] = p.Owner
		}
	}
	return begun
}

func (s *shop) filled(state, id string) (f filling) {
	s.t.Helper()
	var body []byte
	if err := s.direct.Query("SELECT body FROM "+state+".state WHERE part = ? AND kind = ? AND seq = 0 AND id = ?", "1", migrate.KindBackfill, id).Scan(&body); err != nil {
		s.t.Fatal(err)
	}
	if err := json.Unmarshal(body, &f); err != nil {
		s.t.Fatal(err)
	}
	return f
}

// TestLeaderKilledWhileFilling: of two members that fill a table the one that leads is killed in the midst. The other goes on from the checkpoint within 15 s, and the change is verified and
// serves. HELENUS_FILL_ROWS says how many rows (docs/results/faults.md has five millions).
func TestLeaderKilledWhileFilling(t *testing.T) {
	long.Only(t, "it takes minutes: `make test-long` runs this")
	rows := 200_000
	if text := os.Getenv("HELENUS_FILL_ROWS"); text != "" {
		var err error
		if rows, err = strconv.Atoi(text); err != nil || rows < 1 {
			t.Fatalf("HELENUS_FILL_ROWS=%q: it is a number of rows", text)
		}
	}
	address := cassandratest.ContactPoints(t)[0]
	s := newShop(t, session(t, address))
	another := s.members(address, "--backfill-ranges", "256", "--backfill-rate", "20000", "--serving-lease", "4s") // the default, of which a member is taken for gone after twice as long
	a := another()
	id, lookUp := s.propose(a)
	b := another()
	b.start()
	b.awaitReady()
	loading := time.Now()
	s.load(rows)
	t.Logf("%d rows were loaded in %v", rows, time.Since(loading).Round(time.Second))
	rows += orders
	if err := a.approve(id); err != nil {
		t.Fatal(err)
	}
	leader, state := leaderOf(t, a, b), strings.Replace(s.keyspace, "shop", "state", 1)
	follower := map[*process]*process{a: b, b: a}[leader]
	awaitFor(t, 10*time.Minute, "a third is filled", func() bool {
		m := leader.migration(id)
		return m.State == migrate.Backfill && m.Progress.Ratio > 0.33
	})
	leader.kill()
	killed := time.Now()
	was := s.filled(state, id)
	begun := was.begun()
	t.Logf("the leader is killed when %d of %d parts are filled, %d of %d rows, and %d parts are being filled by both", was.done(), was.Total, was.Rows, rows, len(begun))
	if was.done() == 0 || was.done() == was.Total {
		t.Fatal("it was not in the midst")
	}
	var leads, goesOn, more time.Duration
	await(t, "the other leads, has taken on a part of the one that is gone, and more is filled than the two had begun", func() bool {
		since := time.Since(killed)
		if leads == 0 && follower.fleet().Role == "leader" {
			leads = since
		}
		now := s.filled(state, id)
		for part, owner := range now.begun() {
			if before := begun[part]; goesOn == 0 && before != "" && before != owner {
				goesOn = since
			}
		}
		if more == 0 && now.done() > was.done()+len(begun) {
			more = since
		}
		time.Sleep(50 * time.Millisecond)
		return leads > 0 && goesOn > 0 && more > 0
	})
	if now := s.filled(state, id).done(); now < was.done() {
		t.Errorf("%d parts are filled, %d were", now, was.done())
	}
	t.Logf("the other leads after %v, has taken on a part that the one that is gone had begun after %v, and has filled more than both had begun after %v; at most %d of %d parts were filled again",
		leads.Round(100*time.Millisecond), goesOn.Round(100*time.Millisecond), more.Round(100*time.Millisecond), len(begun), was.Total)
	if max(leads, goesOn) > 15*time.Second {
		t.Error("that is more than 15 s")
	}
	awaitFor(t, 30*time.Minute, "it serves", func() bool { return follower.migration(id).State == migrate.Serving })
	m := follower.migration(id)
	t.Logf("it serves %v after the leader was killed; the last pass compared %d rows with %d entries", time.Since(killed).Round(time.Second), m.Last.Rows, m.Last.Entries)
	if m.Entries != int64(rows) || m.Last.Rows != int64(rows) || m.Last.Missing != 0 {
		t.Errorf("%d rows are counted as filled of %d; the last pass: %+v", m.Entries, rows, m.Last)
	}
	s.answering(follower, id)
	if rows <= 500_000 { // more can not be asked for by filtering
		s.serves(follower, lookUp)
	}
}

// blow is one fault of TestMembersWithstand while it serves: it has ended when it returns.
func blow(t *testing.T, n int, c *cassandra.Cluster, all []*process) string {
	t.Helper()
	leader := leaderOf(t, all...)
	follower := all[(slices.Index(all, leader)+1)%len(all)]
	node := c.Node(n / 6 % 3)
	freeze := func(pid int) {
		if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
			t.Fatal(err)
		}
		time.Sleep(15 * time.Second)
		if err := syscall.Kill(pid, syscall.SIGCONT); err != nil {
			t.Fatal(err)
		}
	}
	kill := func(p *process) {
		p.kill()
		p.start()
		p.awaitReady()
	}
	switch n % 6 {
	case 0:
		kill(leader)
		return "the leader was killed"
	case 1:
		freeze(follower.cmd.Process.Pid)
		return "a follower stood still"
	case 2:
		freeze(node.Pid())
		return "a node stood still"
	case 3:
		freeze(leader.cmd.Process.Pid)
		return "the leader stood still"
	case 4:
		kill(follower)
		return "a follower was killed"
	default:
		if err := node.Kill(); err != nil {
			t.Fatal(err)
		}
		if err := node.Start(context.Background()); err != nil {
			t.Fatal(err)
		}
		return "a node was killed"
	}
}
