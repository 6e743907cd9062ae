package main

import (
	"context"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gocql/gocql"

	"github.com/helenus-db/helenus/internal/cassandra"
	"github.com/helenus-db/helenus/internal/cassandra/cassandratest"
	"github.com/helenus-db/helenus/internal/long"
	"github.com/helenus-db/helenus/rewrite/migrate"
)

// nodes starts three nodes and a session straight to them, whose every statement is at QUORUM.
func nodes(t *testing.T) (*cassandra.Cluster, *gocql.Session) {
	t.Helper()
	cassandratest.ContactPoints(t)
	long.Only(t, "three nodes take minutes to start")
	c, err := cassandra.Start(context.Background(), cassandra.Options{Nodes: 3})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Stop(); err != nil {
			t.Error(err)
		}
	})
	config := gocql.NewCluster(c.ContactPoints()...)
	config.ProtoVersion, config.Timeout, config.ConnectTimeout, config.Consistency = 4, 20*time.Second, 5*time.Second, gocql.Quorum
	config.ReconnectInterval, config.Logger = 200*time.Millisecond, silent{}
	config.RetryPolicy = &gocql.SimpleRetryPolicy{NumRetries: 5}
	direct, err := config.CreateSession()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(direct.Close)
	return c, direct
}

// TestWithstandNodes breaks one node of three, in each state of a change: at three replicas and QUORUM the application must not notice, no
// answer may be wrong, and no state may last for longer than a minute after the fault has ended.
func TestWithstandNodes(t *testing.T) {
	c, direct := nodes(t)
	points := strings.Join(c.ContactPoints(), ",")
	fatal := func(t *testing.T, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	states := []migrate.State{migrate.Approved, migrate.DualWrite, migrate.Backfill, migrate.Verify, migrate.Shadow, migrate.Serving}
	for name, breakage := range map[string]func(t *testing.T, n *cassandra.Node){
		"stopped and started": func(t *testing.T, n *cassandra.Node) {
			t.Helper()
			fatal(t, n.Stop())
			fatal(t, n.Start(context.Background()))
		},
		"killed and started": func(t *testing.T, n *cassandra.Node) {
			t.Helper()
			fatal(t, n.Kill())
			fatal(t, n.Start(context.Background()))
		},
		"frozen for ten seconds": func(t *testing.T, n *cassandra.Node) {
			t.Helper()
			fatal(t, syscall.Kill(n.Pid(), syscall.SIGSTOP))
			time.Sleep(10 * time.Second)
			fatal(t, syscall.Kill(n.Pid(), syscall.SIGCONT))
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newReplicatedShop(t, direct, 3)
			p := s.process(points)
			id, lookUp := s.propose(p)
			stop := s.write(p.listen)
			fatal(t, p.approve(id))
			for i, state := range states {
				t.Logf("node %d is broken in state %s", i%3, p.awaitReached(id, state))
				breakage(t, c.Node(i%3))
			}
			ended := time.Now()
			p.awaitReached(id, migrate.Serving)
			if took := time.Since(ended); took > time.Minute {
				t.Errorf("it serves %v after the last fault has ended", took.Round(time.Second))
			}
			written, failed := stop()
			t.Logf("%d writes, %d failed", written, failed)
			s.serves(p, lookUp)
			for _, e := range p.migration(id).Events {
				t.Logf("%s %s %s", e.Time.Format(time.TimeOnly), e.State, e.Text)
			}
			if code, out := command(t, p, "rollback", id); code != 0 {
				t.Errorf("rollback: %d %s", code, out)
			}
			p.awaitRolledBack(id)
		})
	}
	t.Run("approved while a node is down", func(t *testing.T) {
		s := newReplicatedShop(t, direct, 3)
		p := s.process(points)
		id, lookUp := s.propose(p)
		fatal(t, c.Node(2).Stop())
		fatal(t, p.approve(id))
		stop := s.write(p.listen)
		var reason string
		await(t, "why it waits is shown, or it does not wait", func() bool {
			m := p.migration(id)
			reason = m.Waits()
			return reason != "" || m.State == migrate.Serving
		})
		_, out := command(t, p, "migrations")
		t.Logf("%s\n%s", reason, out)
		if reason != "" && !strings.Contains(out, reason[:min(len(reason), 20)]) {
			t.Errorf("the reason %q is not in the list", reason)
		}
		fatal(t, c.Node(2).Start(context.Background()))
		ended := time.Now()
		p.awaitReached(id, migrate.Serving)
		if took := time.Since(ended); took > time.Minute {
			t.Errorf("it serves %v after the node is back", took)
		}
		stop()
		s.serves(p, lookUp)
	})
}
