package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/gocql/gocql"

	"github.com/helenus-db/helenus/bench/product"
	"github.com/helenus-db/helenus/internal/cassandra"
	"github.com/helenus-db/helenus/rewrite/scratch"
)

// schemas are what comments are kept with.
var schemas = []string{article, user}

const (
	article = "article" // one partition for all writes of a round
	user    = "user"    // one partition for each writer
)

// way is a way to write.
type way struct {
	name       string
	optimistic bool
	atOnce     int // writes in flight; 0: all
	text       string
}

var ways = []way{
	{name: "blind", text: "INSERT … IF NOT EXISTS, all at once"},
	{name: "optimistic", optimistic: true, text: "version read, then committed IF it is still the same, all at once"},
	{name: "browser", optimistic: true, atOnce: 6, text: "the same, six at a time"},
}

// bench is a run.
type bench struct {
	settings
	session  *gocql.Session
	place    *scratch.Run
	keyspace string
	say      func(string, ...any)
	result   *result
	round    int // numbers the articles and users: no round meets another's
}

// run measures and writes the report, also if it comes to no good end.
func run(ctx context.Context, s settings, say func(string, ...any)) (err error) {
	b := &bench{settings: s, say: say, result: &result{
		Command: s.command, Started: time.Now().UTC(), Processors: runtime.NumCPU(), Heap: s.heap, Load: product.LoadAverage(),
	}}
	point := s.point
	if point == "" {
		cluster, failed := cassandra.Start(ctx, cassandra.Options{Heap: s.heap, Progress: func(line string) { say("%s", line) }})
		if failed != nil {
			return failed
		}
		defer func() { err = errors.Join(err, cluster.Stop()) }()
		point = cluster.ContactPoints()[0]
	} else {
		b.result.Heap = ""
	}
	if b.session, err = connect(point); err != nil {
		return err
	}
	defer b.session.Close()
	b.place, err = scratch.Begin(ctx, scratch.Options{Prefix: "helenus_safety", Connect: func() (*gocql.Session, error) { return connect(point) }})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.place.End()) }()
	if err := b.create(ctx); err != nil {
		return err
	}
	err = b.measure(ctx)
	if err != nil {
		b.result.Incomplete = err.Error()
	}
	b.result.Seconds = time.Since(b.result.Started).Seconds()
	if len(b.result.Cells) == 0 {
		return err
	}
	return errors.Join(err, b.result.write(s.out))
}

func connect(point string) (*gocql.Session, error) {
	host, text, err := net.SplitHostPort(point)
	if err != nil {
		return nil, fmt.Errorf("contact point %q: %w", point, err)
	}
	port, err := strconv.Atoi(text)
	if err != nil {
		return nil, fmt.Errorf("contact point %q: its port is no number", point)
	}
	c := gocql.NewCluster(host)
	c.Port, c.ProtoVersion, c.NumConns = port, 4, 2
	c.Timeout, c.ConnectTimeout = time.Minute, 30*time.Second // it is the server that is to give up
	c.Consistency, c.SerialConsistency = gocql.Quorum, gocql.Serial
	c.DisableInitialHostLookup, c.WriteCoalesceWaitTime = true, 0
	return c.CreateSession()
}

// table is that of a schema.
func (b *bench) table(schema string) string { return b.keyspace + ".comments_by_" + schema }

func (b *bench) create(ctx context.Context) (err error) {
	if b.keyspace, err = b.place.Create(ctx, ""); err != nil {
		return err
	}
	var texts []string
	for _, s := range schemas {
		texts = append(texts, "CREATE TABLE "+b.table(s)+" (keeper text, comment int, author text, text text, version int static, PRIMARY KEY (keeper, comment))")
	}
	for _, t := range texts {
		if err := b.session.Query(t).WithContext(ctx).Exec(); err != nil {
			return fmt.Errorf("making the tables: %w", err)
		}
	}
	return b.session.Query("SELECT release_version FROM system.local").WithContext(ctx).Scan(&b.result.Cassandra)
}

// measure warms up, and lets the ways and schemas take turns until each has written enough.
func (b *bench) measure(ctx context.Context) error {
	for _, w := range ways {
		for _, s := range schemas {
			if _, err := b.send(ctx, w, s, min(100, b.sizes[len(b.sizes)-1])); err != nil {
				return err
			}
		}
	}
	for _, size := range b.sizes {
		rounds := (b.writes + size - 1) / size
		for n := range rounds {
			for _, w := range ways {
				order := slices.Clone(schemas)
				if n%2 == 1 {
					slices.Reverse(order)
				}
				for _, s := range order {
					got, err := b.send(ctx, w, s, size)
					if err != nil {
						return err
					}
					b.result.cell(w.name, s, size).add(got)
				}
			}
		}
		for _, w := range ways {
			a, u := b.result.cell(w.name, article, size), b.result.cell(w.name, user, size)
			b.say("%4d writes, %-10s  one partition %5.1f %%, one per user %5.1f %%", size, w.name, 100*a.share(), 100*u.share())
		}
	}
	return nil
}

// outcome is what became of one write.
type outcome struct {
	ok   bool
	kind string // of a failure
	took time.Duration
}

// send writes a round: so many comments, each by a user of its own.
func (b *bench) send(ctx context.Context, w way, schema string, size int) ([]outcome, error) {
	b.round++
	keeper := func(n int) string {
		if schema == article {
			return fmt.Sprint("round ", b.round)
		}
		return fmt.Sprintf("round %d user %d", b.round, n)
	}
	for n := range size { // what is there before: the article, or the users
		if n > 0 && schema == article {
			break
		}
		if err := b.session.Query("INSERT INTO "+b.table(schema)+" (keeper, version) VALUES (?, 0)", keeper(n)).WithContext(ctx).Exec(); err != nil {
			return nil, fmt.Errorf("preparing a round: %w", err)
		}
	}
	list := make([]outcome, size)
	var (
		work  sync.WaitGroup
		begin = make(chan struct{})
		slots = make(chan struct{}, size)
	)
	if w.atOnce > 0 {
		slots = make(chan struct{}, w.atOnce)
	}
	for n := range size {
		work.Go(func() {
			<-begin
			slots <- struct{}{}
			defer func() { <-slots }()
			began := time.Now()
			ok, err := b.write(ctx, w, schema, keeper(n), n)
			list[n] = outcome{ok: ok && err == nil, took: time.Since(began)}
			if !list[n].ok {
				list[n].kind = kindOf(err)
			}
		})
	}
	close(begin)
	work.Wait()
	return list, ctx.Err()
}

// write writes one comment, once.
func (b *bench) write(ctx context.Context, w way, schema, keeper string, n int) (bool, error) {
	author := fmt.Sprint("user ", n)
	if !w.optimistic {
		return b.session.Query("INSERT INTO "+b.table(schema)+" (keeper, comment, author, text) VALUES (?, ?, ?, 'so it is') IF NOT EXISTS",
			keeper, n, author).WithContext(ctx).MapScanCAS(map[string]any{})
	}
	var version int
	if err := b.session.Query("SELECT version FROM "+b.table(schema)+" WHERE keeper = ? LIMIT 1", keeper).WithContext(ctx).Scan(&version); err != nil {
		return false, err
	}
	batch := b.session.NewBatch(gocql.LoggedBatch).WithContext(ctx)
	batch.Query("UPDATE "+b.table(schema)+" SET version = ? WHERE keeper = ? IF version = ?", version+1, keeper, version)
	batch.Query("INSERT INTO "+b.table(schema)+" (keeper, comment, author, text) VALUES (?, ?, ?, 'so it is')", keeper, n, author)
	applied, rows, err := b.session.MapExecuteBatchCAS(batch, map[string]any{})
	if rows != nil {
		err = errors.Join(err, rows.Close())
	}
	return applied, err
}

// kindOf names a failure.
func kindOf(err error) string {
	var (
		unknown *gocql.RequestErrCASWriteUnknown
		timeout *gocql.RequestErrWriteTimeout
	)
	switch {
	case err == nil:
		return "somebody else was first"
	case errors.As(err, &unknown), errors.As(err, &timeout):
		return "Paxos gave up (timeout)"
	}
	return "other: " + err.Error()
}
