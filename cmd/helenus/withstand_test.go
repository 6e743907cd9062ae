package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gocql/gocql"

	"github.com/helenus-db/helenus/internal/admin"
	"github.com/helenus-db/helenus/internal/cassandra"
	"github.com/helenus-db/helenus/internal/cassandra/cassandratest"
	"github.com/helenus-db/helenus/internal/long"
	"github.com/helenus-db/helenus/rewrite/condition"
	"github.com/helenus-db/helenus/rewrite/migrate"
)

// The tests of this file run the whole product as a process against a Cassandra, and break both at every
// point of a change while eight writers work on the same keys. What must hold is invariant I1: no base row without
// its look-up entry; and that the application sees ordinary errors at most while something is down.

// cluster is one node of a test's own, which stops and starts it.
func cluster(t *testing.T) *cassandra.Cluster {
	t.Helper()
	cassandratest.ContactPoints(t)
	c, err := cassandra.Start(context.Background(), cassandra.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Stop(); err != nil {
			t.Error(err)
		}
	})
	return c
}

func session(t *testing.T, address string) *gocql.Session {
	t.Helper()
	var s *gocql.Session
	await(t, "a driver connects to "+address, func() (connected bool) { // Cassandra may just have come back
		var err error
		s, err = openSession(address)
		return err == nil
	})
	t.Cleanup(s.Close)
	return s
}

func openSession(address string) (*gocql.Session, error) {
	host, port, _ := strings.Cut(address, ":")
	c := gocql.NewCluster(host)
	if _, err := fmt.Sscan(port, &c.Port); err != nil {
		return nil, err
	}
	c.ProtoVersion, c.Timeout, c.ConnectTimeout = 4, 20*time.Second, 5*time.Second
	c.DisableInitialHostLookup = true
	c.ReconnectInterval = 200 * time.Millisecond
	c.Logger = silent{}
	return c.CreateSession()
}

func must(t *testing.T, s *gocql.Session, text string, values ...any) {
	t.Helper()
	if err := s.Query(text, values...).Exec(); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
}

const (
	orders    = 20_000 // rows at the start: a Cassandra that has run for a while scans 6,000 in 1.4 ms, and a look-up of two rows is reckoned at 1.5
	customers = 10_000 // values of the column that is asked by
	days      = 50     // partitions
	moving    = 40     // of them the writers use
	contended = 60     // keys that all writers fight for
)

// shop is an application's keyspace: orders asked for by customer with ALLOW FILTERING.
type shop struct {
	t        *testing.T
	keyspace string
	direct   *gocql.Session
}

func newShop(t *testing.T, direct *gocql.Session) *shop {
	t.Helper()
	return newReplicatedShop(t, direct, 1)
}

func newReplicatedShop(t *testing.T, direct *gocql.Session, replicas int) *shop {
	t.Helper()
	return newShopLike(t, direct, fmt.Sprintf("{'class': 'SimpleStrategy', 'replication_factor': %d}", replicas))
}

// newShopLike is newShop with a replication of one's own.
func newShopLike(t *testing.T, direct *gocql.Session, replication string) *shop {
	t.Helper()
	s := &shop{t, fmt.Sprintf("shop_%d", time.Now().UnixNano()), direct}
	must(t, direct, fmt.Sprintf("CREATE KEYSPACE %s WITH replication = %s", s.keyspace, replication))
	must(t, direct, "CREATE TABLE "+s.table()+" (day int, number int, customer text, total int, PRIMARY KEY ((day), number))")
	for day := range days {
		b := direct.NewBatch(gocql.UnloggedBatch)
		for i := day; i < orders; i += days {
			b.Query("INSERT INTO "+s.table()+" (day, number, customer, total) VALUES (?, ?, ?, ?)", day, i, customer(i), i)
		}
		if err := direct.ExecuteBatch(b); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func (s *shop) table() string { return s.keyspace + ".orders" }
func (s *shop) byCustomer() string {
	return "SELECT day, number, total FROM " + s.table() + " WHERE customer = ? ALLOW FILTERING"
}
func customer(i int) string { return fmt.Sprintf("customer %d", i%customers) }

// ask runs the filtering read often enough to be advised on.
func (s *shop) ask(through *gocql.Session, times int) {
	s.t.Helper()
	for i := range times {
		if err := through.Query(s.byCustomer(), customer(i)).Iter().Close(); err != nil {
			s.t.Fatal(err)
		}
	}
}

// write has eight writers insert, move and delete the same few rows, and readers read, until the function that it
// returns is called; that returns how many writes succeeded and failed.
func (s *shop) write(address string) (stop func() (written, failed int64)) {
	var (
		wait        sync.WaitGroup
		done        = make(chan struct{})
		good, wrong atomic.Int64
	)
	for w := range 8 {
		wait.Go(func() {
			random := rand.New(rand.NewPCG(uint64(w), 1)) //nolint:gosec // seeded on purpose
			var through *gocql.Session
			defer func() {
				if through != nil {
					through.Close()
				}
			}()
			for {
				select {
				case <-done:
					return
				default:
				}
				if through == nil {
					var err error
					if through, err = openSession(address); err != nil {
						wrong.Add(1)
						time.Sleep(50 * time.Millisecond)
						continue
					}
				}
				if err := s.one(through, random); err != nil {
					wrong.Add(1)
					time.Sleep(50 * time.Millisecond)
					if errors.Is(err, gocql.ErrNoConnections) { // the driver has given its one host up
						through.Close()
						through = nil
					}
				} else {
					good.Add(1)
				}
				time.Sleep(time.Duration(random.IntN(200)) * time.Millisecond) // what is tried is to have processors, too
			}
		})
	}
	return func() (int64, int64) {
		close(done)
		wait.Wait()
		return good.Load(), wrong.Load()
	}
}

// one does something of everything that touches the column, in every form that a client may send it.
func (s *shop) one(through *gocql.Session, random *rand.Rand) error {
	i := random.IntN(contended)
	day, number, who := i%days, i, customer(random.IntN(moving))
	if random.IntN(300) == 0 { // before it serves it reads the whole table, which takes fifty times as long as a write, and hundreds where processors are few
		return through.Query(s.byCustomer(), who).Iter().Close()
	}
	switch random.IntN(5) {
	case 0:
		return through.Query("INSERT INTO "+s.table()+" (day, number, customer, total) VALUES (?, ?, ?, ?)", day, number, who, i).Exec()
	case 1:
		return through.Query("UPDATE "+s.table()+" SET customer = ? WHERE day = ? AND number = ?", who, day, number).Exec()
	case 2:
		return through.Query("DELETE FROM "+s.table()+" WHERE day = ? AND number = ?", day, number).Exec()
	case 3:
		b := through.NewBatch(gocql.LoggedBatch)
		b.Query("UPDATE "+s.table()+" SET customer = ? WHERE day = ? AND number = ?", who, day, number)
		b.Query("UPDATE "+s.table()+" SET total = ? WHERE day = ? AND number = ?", i, day, number)
		return through.ExecuteBatch(b)
	default:
		return through.Query(fmt.Sprintf("UPDATE %s SET customer = '%s' WHERE day = %d AND number = %d", s.table(), who, day, number)).Exec()
	}
}

// missing counts base rows without their look-up entry.
func (s *shop) missing(lookUp string) (missing, rows int) {
	s.t.Helper()
	type key struct {
		customer    string
		day, number int
	}
	entries := map[key]bool{}
	var k key
	iter := s.direct.Query("SELECT customer, day, number FROM " + lookUp).Iter()
	for iter.Scan(&k.customer, &k.day, &k.number) {
		entries[k] = true
	}
	if err := iter.Close(); err != nil {
		s.t.Fatal(err)
	}
	iter = s.direct.Query("SELECT customer, day, number FROM " + s.table()).Iter()
	for iter.Scan(&k.customer, &k.day, &k.number) {
		if k.customer == "" {
			continue // a row without a customer has no entry
		}
		rows++
		if !entries[k] {
			missing++
			s.t.Logf("missing: %+v", k)
		}
		k.customer = ""
	}
	if err := iter.Close(); err != nil {
		s.t.Fatal(err)
	}
	return missing, rows
}

// same compares the answers for customers, all those that change among them, through Helenus with Cassandra's own, row by row, in order.
func (s *shop) same(through *gocql.Session) {
	s.t.Helper()
	read := func(session *gocql.Session, who string) (out []string) {
		var day, number int
		var total *int
		iter := session.Query(s.byCustomer(), who).Iter()
		for iter.Scan(&day, &number, &total) {
			text := "null"
			if total != nil {
				text = fmt.Sprint(*total)
			}
			out = append(out, fmt.Sprintf("%d/%d=%s", day, number, text))
			total = nil
		}
		if err := iter.Close(); err != nil {
			s.t.Fatal(err)
		}
		return out
	}
	for i := range moving + 10 {
		if got, want := read(through, customer(i)), read(s.direct, customer(i)); fmt.Sprint(got) != fmt.Sprint(want) {
			s.t.Errorf("%s: %v, want %v", customer(i), got, want)
		}
	}
}

// settings that give each state time to be broken in.
func (s *shop) process(contactPoint string, more ...string) *process {
	return newProcess(s.t, contactPoint, append([]string{
		"--keyspaces", s.keyspace, "--advise-every", "1h", "--min-saved", "1us", "--settle", "500ms", "--backfill-rate", "10000", "--backfill-ranges", "32",
		"--shadow-reads", "100", "--shadow-for", "2s", "--shadow-probes", "5",
	}, more...)...)
}

// propose starts helenus and returns the advice on orders by customer.
func (s *shop) propose(p *process) (id, lookUp string) {
	s.t.Helper()
	p.start()
	p.awaitReady()
	through := session(s.t, p.listen)
	s.ask(through, 60)
	r := p.advice()
	return r.ID, r.Rewrite.FullTable()
}

// serves checks that the plan answers now, and that it answers rightly.
func (s *shop) serves(p *process, lookUp string) {
	s.t.Helper()
	through := session(s.t, p.listen)
	s.same(through)
	metrics := p.metric(`helenus_change_reads_total{`, `result="served"`)
	if metrics == 0 {
		s.t.Error("nothing was answered from the look-up")
	}
	if missing, rows := s.missing(lookUp); missing != 0 {
		s.t.Errorf("%d of %d rows have no look-up entry", missing, rows)
	}
}

// TestWithstandAtEveryState: each state of a change is left by a breakage, while others write. `make test-long` breaks Cassandra, too.
func TestWithstandAtEveryState(t *testing.T) {
	c := cluster(t)
	address := c.ContactPoints()[0]
	breakages := map[string]func(*shop, *process, string){
		"kill -9 of helenus": func(_ *shop, p *process, _ string) {
			p.kill()
			p.start()
			p.awaitReady()
		},
		"Cassandra stopped and started": func(s *shop, p *process, id string) {
			if err := errors.Join(c.Node(0).Stop(), c.Node(0).Start(context.Background())); err != nil {
				s.t.Fatal(err)
			}
			p.awaitReady()
			s.direct = session(s.t, address) // the driver has given up the old one's only host
			p.resumeIfSuspended(id)
		},
	}
	if !long.Tests() {
		delete(breakages, "Cassandra stopped and started") // a dozen starts of it
	}
	states := []migrate.State{migrate.Approved, migrate.DualWrite, migrate.Backfill, migrate.Verify, migrate.Shadow, migrate.Serving}
	for name, breakage := range breakages {
		broken := func(states ...migrate.State) func(*testing.T) {
			return func(t *testing.T) {
				s := newShop(t, session(t, address))
				p := s.process(address)
				id, lookUp := s.propose(p)
				stop := s.write(p.listen)
				if err := p.approve(id); err != nil {
					t.Fatal(err)
				}
				for _, state := range states {
					t.Logf("broken in state %s", p.awaitReached(id, state))
					breakage(s, p, id)
				}
				p.awaitReached(id, migrate.Serving)
				written, failed := stop()
				t.Logf("%d writes, %d failed", written, failed)
				s.serves(p, lookUp)
				if code, out := command(t, p, "rollback", id); code != 0 {
					t.Errorf("rollback: %d %s", code, out)
				}
			}
		}
		each := os.Getenv("HELENUS_WITHSTAND") == "each"
		few := states
		if !each && strings.HasPrefix(name, "Cassandra") { // it takes long to start: where it is in the way, and where it is not noticed
			few = []migrate.State{migrate.Backfill, migrate.Serving}
		}
		t.Run(name, broken(few...)) // one change, broken again and again
		if each {
			for _, state := range states {
				t.Run(name+"/"+string(state), broken(state))
			}
		}
	}
}

// awaitReached waits until a change is in a state, or has passed it: some last milliseconds only. One that was suspended, as
// may be when Cassandra was away, is resumed.
func (p *process) awaitReached(id string, state migrate.State) migrate.State {
	p.t.Helper()
	order := map[migrate.State]int{
		migrate.Approved: 0, migrate.Created: 1, migrate.DualWrite: 2, migrate.Backfill: 3, migrate.Verify: 4, migrate.Shadow: 5, migrate.Serving: 6,
	}
	var m migrate.Change
	await(p.t, "the change is "+string(state), func() bool {
		m = p.migration(id)
		if at, ok := order[m.State]; ok {
			return at >= order[state]
		}
		switch m.State {
		case migrate.Suspended:
			p.resumeIfSuspended(id)
		case "":
		default:
			p.t.Fatalf("it is %s: %s", m.State, m.Reason)
		}
		return false
	})
	return m.State
}

// resumeIfSuspended: Cassandra's absence may have tripped a guard, which is as it should be; a person resumes.
func (p *process) resumeIfSuspended(id string) {
	if m := p.migration(id); m.State == migrate.Suspended {
		p.t.Logf("suspended: %s", m.Reason)
		if err := p.client().Post(context.Background(), "migrations/"+id+"/resume", admin.Decision{}, &m); err != nil {
			p.t.Fatal(err)
		}
	}
}

// metric adds up the samples whose line begins with a name and holds a text.
func (p *process) metric(begins, holds string) (sum float64) {
	p.t.Helper()
	code, text := httpGet(p.t, "http://"+p.admin+"/metrics")
	if code != http.StatusOK {
		p.t.Fatalf("metrics: %d", code)
	}
	for line := range strings.SplitSeq(text, "\n") {
		if strings.HasPrefix(line, begins) && strings.Contains(line, holds) {
			var v float64
			if _, err := fmt.Sscan(line[strings.LastIndexByte(line, ' ')+1:], &v); err != nil {
				p.t.Fatal(err)
			}
			sum += v
		}
	}
	return sum
}

func refusedWith(err error, text string) bool {
	var e *admin.Error
	return errors.As(err, &e) && e.Code == "refused" && strings.Contains(e.Message, text)
}

// TestRefusalsAndGuards walks through what must be refused, and what must turn reads back by itself.
func TestRefusalsAndGuards(t *testing.T) {
	address := cassandratest.ContactPoints(t)[0]
	direct := session(t, address)

	t.Run("schema changed after a recommendation", func(t *testing.T) {
		s := newShop(t, direct)
		p := s.process(address)
		id, _ := s.propose(p)
		must(t, direct, "ALTER TABLE "+s.table()+" ADD note text")
		await(t, "the approval is refused", func() bool {
			err := p.approve(id)
			if err == nil {
				t.Fatal("approved although the table was altered")
			}
			return refusedWith(err, "C20")
		})
		if code, out := command(t, p, "approve", id); code != exitRefused || !strings.Contains(out, condition.Schema.Name()) || !strings.Contains(out, condition.Schema.Link()) {
			t.Errorf("%d %s", code, out)
		}
	})

	t.Run("serving", func(t *testing.T) {
		s := newShop(t, direct)
		p := s.process(address, "--backfill-rate", "0")
		id, lookUp := s.propose(p)
		stop := s.write(p.listen)
		code, out := command(t, p, "approve", id)
		if code != 0 || !strings.Contains(out, "serves") {
			t.Fatalf("%d %s", code, out)
		}
		stop()
		s.serves(p, lookUp)
		if code, out := command(t, p, "approve", id); code != exitRefused || !strings.Contains(out, "approved") {
			t.Errorf("a second approval: %d %s", code, out)
		}
		if code, out := command(t, p, "drop", id); code != exitRefused {
			t.Errorf("a drop while serving: %d %s", code, out)
		}
		must(t, direct, "DROP TABLE "+lookUp)
		await(t, "the change is suspended", func() bool { return p.migration(id).State == migrate.Suspended })
		through := session(t, p.listen)
		s.same(through)
		must(t, through, "UPDATE "+s.table()+" SET customer = 'x' WHERE day = 1 AND number = 1")
		if code, out := command(t, p, "rollback", id); code != 0 {
			t.Errorf("rollback: %d %s", code, out)
		}
		p.awaitRolledBack(id)
		if code, out := command(t, p, "drop", "--yes", id); code != 0 {
			t.Errorf("drop of what is gone: %d %s", code, out)
		}
		if code, out := command(t, p, "migrations", "--json"); code != 0 {
			t.Errorf("%d %s", code, out)
		} else {
			var all []migrate.Change
			if jsonOf(t, out, &all); len(all) != 1 || all[0].State != migrate.Dropped {
				t.Errorf("%+v", all)
			}
		}
		if code, out := command(t, p, "rollback", "r-nothing"); code != exitNotFound {
			t.Errorf("%d %s", code, out)
		}
	})

	t.Run("a write that can not be followed", func(t *testing.T) {
		s := newShop(t, direct)
		p := s.process(address, "--backfill-rate", "0")
		id, lookUp := s.propose(p)
		stop := s.write(p.listen)
		if code, out := command(t, p, "approve", id); code != 0 {
			t.Fatalf("%d %s", code, out)
		}
		through := session(t, p.listen)
		// Rows that no writer fights for: they are there.
		applied, err := through.Query("UPDATE " + s.table() + " SET customer = 'y' WHERE day = 0 AND number = 100 IF EXISTS").MapScanCAS(map[string]any{})
		if err != nil || !applied {
			t.Fatal(applied, err)
		}
		must(t, through, "UPDATE "+s.table()+" SET customer = (text)'y' WHERE day = 0 AND number = 150")
		turned := func() bool {
			return slices.ContainsFunc(p.migration(id).Events, func(e migrate.Event) bool { return strings.Contains(e.Text, "turned back until verified") })
		}
		if turned() {
			t.Errorf("writes of known rows have turned reads back: %+v", p.migration(id).Events)
		}
		must(t, through, "UPDATE "+s.table()+" SET customer = 'y' WHERE day = 0 AND number = 199 + 1") // whose row is not known
		await(t, "reads are turned back until it is verified", turned)
		if m := p.migration(id); !strings.Contains(m.Reason, "C6") {
			t.Errorf("reason: %s", m.Reason)
		}
		p.awaitState(id, migrate.Serving)
		stop()
		s.serves(p, lookUp)
		found := 0
		for iter := through.Query(s.byCustomer(), "y").Iter(); ; found++ {
			var day, number, total int
			if !iter.Scan(&day, &number, &total) {
				if err := iter.Close(); err != nil {
					t.Fatal(err)
				}
				break
			}
		}
		if found != 3 {
			t.Errorf("%d rows are found of the three that were written", found)
		}
	})
}

func (p *process) awaitRolledBack(id string) {
	p.t.Helper()
	await(p.t, "it is rolled back", func() bool { return p.migration(id).State == migrate.RolledBack })
}

func httpGet(t *testing.T, url string) (int, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(context.Background(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	a, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = a.Body.Close() }()
	text, err := io.ReadAll(a.Body)
	if err != nil {
		t.Fatal(err)
	}
	return a.StatusCode, string(text)
}
