package main

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"

	"github.com/gocql/gocql"

	"github.com/helenus-db/helenus/bench/contest"
	"github.com/helenus-db/helenus/bench/data"
	"github.com/helenus-db/helenus/bench/verify"
	"github.com/helenus-db/helenus/internal/cassandra"
	"github.com/helenus-db/helenus/internal/cassandra/cassandratest"
	"github.com/helenus-db/helenus/rewrite/scratch"
)

// TestKilled kills a Cassandra (kill -9, so that what is not on disk is gone) in the middle of filling tables, and starts it again: of the
// benchmark, on a node of somebody else's and on its own, and of the comparison. All rows are there in the end, and no keyspace is left, not
// even if Cassandra is away when they are to be dropped.
func TestKilled(t *testing.T) {
	cassandratest.ContactPoints(t)
	cluster, err := cassandra.Start(t.Context(), cassandra.Options{Extra: settings})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := cluster.Stop(); err != nil {
			t.Error(err)
		}
	})
	node, point := cluster.Node(0), cluster.ContactPoints()[0]
	kill := func() {
		if err := node.Kill(); err != nil {
			t.Error(err)
		}
	}
	start := func() {
		if err := node.Start(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	}
	t.Run("benchmark, its node", func(t *testing.T) {
		killedFilling(t, &bench{arena: arena(t, point, node, cluster.Dir()), cluster: cluster}, kill, func() {})
	})
	t.Run("benchmark, a node of others", func(t *testing.T) { killedFilling(t, &bench{arena: arena(t, point, nil, "")}, kill, start) })
	t.Run("comparison", func(t *testing.T) {
		done := make(chan struct{})
		go func() {
			defer close(done)
			awaitRows(t, point, "helenus_verify_")
			kill()
			start()
		}()
		report, err := verify.Run(t.Context(), verify.Options{Cluster: cassandratest.Config(t, point), Names: []string{"../../examples/designs/rubis.yaml"},
			Designs: []string{"expert"}, Rows: 3000, Draws: 2, Updates: 4, Every: 2, Wait: 3 * time.Minute})
		<-done
		if err != nil || !report.Clean() || report.Answers == 0 {
			t.Fatalf("%v: %+v", err, report)
		}
		none(t, point, "helenus_verify_")
	})
	t.Run("away at the end", func(t *testing.T) {
		a, err := contest.Open(point, prefix)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := a.Create(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		kill()
		back := make(chan struct{})
		go func() { defer close(back); start() }()
		if err := a.Close(); err != nil {
			t.Error(err)
		}
		<-back
		none(t, point, prefix)
	})
}

func arena(t *testing.T, point string, node *cassandra.Node, dir string) *contest.Arena {
	t.Helper()
	a, err := contest.Open(point, prefix)
	if err != nil {
		t.Fatal(err)
	}
	a.Node, a.Dir = node, dir
	return a
}

// killedFilling fills the tables of the expert's, and counts what there is after a kill in the middle.
func killedFilling(t *testing.T, b *bench, kill, start func()) {
	ctx := t.Context()
	var out bytes.Buffer
	b.options, b.out, b.begun = options{files: "../../examples/designs", seed: 1}, &out, time.Now()
	w, err := b.load(cases[0], 0.1)
	if err != nil {
		t.Fatal(err)
	}
	world, err := data.New(w.Graph, data.Options{Seed: 1, Workload: w})
	if err != nil {
		t.Fatal(err)
	}
	tables := w.Schemas["rubis_expert"]
	keyspace, err := b.arena.Create(ctx, tables)
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		awaitRows(t, b.arena.Point, keyspace)
		kill()
		start()
	}()
	loaded, err := b.put(ctx, keyspace, tables, world)
	<-done
	if err != nil || !strings.Contains(out.String(), "stopped at") {
		t.Fatalf("%v: %s", err, out.String())
	}
	for _, x := range tables {
		n := 0
		if err := b.arena.Session.Query("SELECT count(*) FROM " + keyspace + "." + x.Name).Consistency(gocql.One).Scan(&n); err != nil || n != loaded[x.Name].Rows || n == 0 {
			t.Errorf("%s has %d rows of %d: %v", x.Name, n, loaded[x.Name].Rows, err)
		}
	}
	if err := b.arena.Close(); err != nil {
		t.Error(err)
	}
	none(t, b.arena.Point, prefix)
}

// awaitRows waits until a table of a keyspace whose name begins so has rows, and a little longer.
func awaitRows(t *testing.T, point, begins string) {
	session, err := contest.Connect(point)
	if err != nil {
		t.Error(err)
		return
	}
	defer session.Close()
	for began := time.Now(); time.Since(began) < time.Minute; time.Sleep(20 * time.Millisecond) {
		iter := session.Query("SELECT keyspace_name, table_name FROM system_schema.tables").Iter()
		for keyspace, table := "", ""; iter.Scan(&keyspace, &table); {
			if strings.HasPrefix(keyspace, begins) && table != scratch.Pulse && session.Query("SELECT * FROM "+keyspace+"."+table+" LIMIT 1").Iter().NumRows() > 0 {
				_ = iter.Close()
				time.Sleep(200 * time.Millisecond)
				return
			}
		}
		_ = iter.Close()
	}
	t.Errorf("nothing was filled in %s", begins)
}

func none(t *testing.T, point, begins string) {
	t.Helper()
	session, err := contest.Connect(point)
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	iter := session.Query("SELECT keyspace_name FROM system_schema.keyspaces").Iter()
	for name := ""; iter.Scan(&name); {
		if strings.HasPrefix(name, begins) {
			t.Errorf("keyspace %s is left behind", name)
		}
	}
	if err := iter.Close(); err != nil {
		t.Error(err)
	}
}
