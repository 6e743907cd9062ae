package main

import (
	"context"
	"fmt"
	"maps"
	"net"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/gocql/gocql"

	"github.com/helenus-db/helenus/capture/schema"
	"github.com/helenus-db/helenus/internal/cassandra"
	"github.com/helenus-db/helenus/internal/cassandra/cassandratest"
	"github.com/helenus-db/helenus/internal/long"
	"github.com/helenus-db/helenus/rewrite/migrate"
)

// put writes an order through a session at a level, and tells whether it was acknowledged.
func (s *shop) put(session *gocql.Session, level gocql.Consistency, number int, customer string) error {
	return session.Query("INSERT INTO "+s.table()+" (day, number, customer, total) VALUES (?, ?, ?, ?)", number%days, number, customer, number).Consistency(level).Exec()
}

// finds tells whether a read by customer at a level has an order.
func (s *shop) finds(session *gocql.Session, level gocql.Consistency, number int, customer string) (bool, error) {
	iter := session.Query(s.byCustomer(), customer).Consistency(level).Iter()
	var day, got, total int
	found := false
	for iter.Scan(&day, &got, &total) {
		found = found || got == number
	}
	return found, iter.Close()
}

// certain is docs/how-it-works.md's table of how fresh answers are, for one data centre with several replicas.
func certain(write, read gocql.Consistency) bool {
	return write == gocql.All || read != gocql.One && read != gocql.LocalOne
}

// TestConsistencies has rows written and read at each consistency, on three nodes with three replicas: what is promised holds at once, all else in a moment.
func TestConsistencies(t *testing.T) {
	c, direct := nodes(t)
	s := newReplicatedShop(t, direct, 3)
	p := s.process(strings.Join(c.ContactPoints(), ","))
	id, lookUp := s.propose(p)
	if err := p.approve(id); err != nil {
		t.Fatal(err)
	}
	p.awaitReached(id, migrate.Serving)
	through := session(t, p.listen)
	if text := fmt.Sprint(p.migration(id).Events); !strings.Contains(text, "Freshness, with 3 replicas: reads at LOCAL_QUORUM, QUORUM, EACH_QUORUM and ALL find every row") {
		t.Errorf("the freshness that holds is not stated at approval: %s", text)
	}
	number := 10 * orders
	before := p.served()
	asked := 0
	for _, write := range []gocql.Consistency{gocql.One, gocql.LocalOne, gocql.Two, gocql.LocalQuorum, gocql.Quorum, gocql.EachQuorum, gocql.All} {
		for _, read := range []gocql.Consistency{gocql.One, gocql.LocalOne, gocql.LocalQuorum, gocql.Quorum, gocql.EachQuorum, gocql.All} {
			late := 0
			for range 40 {
				number++
				name := fmt.Sprint("fresh ", number)
				if err := s.put(through, write, number, name); err != nil {
					t.Fatalf("written at %s: %v", write, err)
				}
				asked++
				found, err := s.finds(through, read, number, name)
				switch {
				case err != nil:
					t.Fatalf("read at %s: %v", read, err)
				case found:
				case certain(write, read):
					t.Errorf("written at %s and not found at %s", write, read)
				default:
					late++
					await(t, "it is found in a moment", func() bool { found, err := s.finds(through, read, number, name); return err == nil && found })
				}
			}
			if late > 0 {
				t.Logf("written at %s, read at %s: %d of 40 a moment later", write, read, late)
			}
		}
	}
	if served := p.served() - before; served < float64(asked)*0.9 {
		t.Errorf("%g of %d reads were served", served, asked)
	}
	_, wrong := s.finds(through, gocql.Any, 1, "nobody")
	_, says := s.finds(direct, gocql.Any, 1, "nobody")
	if wrong == nil || says == nil || wrong.Error() != says.Error() {
		t.Errorf("read at ANY: %v, and without helenus %v", wrong, says)
	}
	// The replication is altered while it serves: reads run as written, the tables are filled anew, and it serves again, with every entry.
	must(t, direct, "ALTER KEYSPACE "+s.keyspace+" WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 2}")
	await(t, "ours follows", func() bool { return s.follows(direct) })
	p.awaitReached(id, migrate.Serving)
	s.serves(p, lookUp)
	// A node goes for good, and another comes in its place.
	if err := c.Node(2).Decommission(context.Background()); err != nil {
		t.Fatal(err)
	}
	s.serves(p, lookUp)
	if _, err := c.Add(context.Background()); err != nil {
		t.Fatal(err)
	}
	s.serves(p, lookUp)
}

// follows tells whether the application's keyspace and ours are replicated alike.
func (s *shop) follows(direct *gocql.Session) bool {
	of := func(keyspace string) (r map[string]string) {
		_ = direct.Query("SELECT replication FROM system_schema.keyspaces WHERE keyspace_name = ?", keyspace).Scan(&r)
		return r
	}
	ours := of(schema.DataKeyspace("helenus_data", s.keyspace))
	return ours != nil && maps.Equal(of(s.keyspace), ours)
}

// TestDataCentres has clients write at LOCAL_QUORUM in two data centres at once, through one helenus: each finds at once what was written in its own, also while the
// other is not there; in the end base and entries are equal.
func TestDataCentres(t *testing.T) {
	cassandratest.ContactPoints(t)
	long.Only(t, "two nodes take minutes to start")
	c, err := cassandra.Start(context.Background(), cassandra.Options{Nodes: 2, DataCentres: []string{"dc1", "dc2"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Stop(); err != nil {
			t.Error(err)
		}
	})
	direct := session(t, c.ContactPoints()[0])
	s := newShopLike(t, direct, "{'class': 'NetworkTopologyStrategy', 'dc1': 1, 'dc2': 1}")
	p := s.process(strings.Join(c.ContactPoints(), ","))
	id, lookUp := s.propose(p)
	if err := p.approve(id); err != nil {
		t.Fatal(err)
	}
	p.awaitReached(id, migrate.Serving)
	if text := fmt.Sprint(p.migration(id).Events); !strings.Contains(text, "Freshness, with replicas 1 in dc1, 1 in dc2") {
		t.Errorf("the freshness that holds is not stated at approval: %s", text)
	}
	if !s.follows(direct) {
		t.Error("our keyspace is not replicated as the application's")
	}
	host, text, _ := net.SplitHostPort(p.listen)
	port, _ := strconv.Atoi(text)
	clients := map[string]*gocql.Session{}
	for i := range 2 {
		client := only(t, net.JoinHostPort(host, strconv.Itoa(port+i)))
		var dc string
		if err := client.Query("SELECT data_center FROM system.local").Scan(&dc); err != nil {
			t.Fatal(err)
		}
		clients[dc] = client
	}
	if len(clients) != 2 {
		t.Fatalf("both listeners lead to %v", clients)
	}
	// work writes in both at once: rows of its own, which it then reads, and rows that both write.
	work := func(rounds, from int, dcs ...string) {
		var wait sync.WaitGroup
		for k, dc := range dcs {
			wait.Add(1)
			go func() {
				defer wait.Done()
				client := clients[dc]
				for i := range rounds {
					number := from + (2*i+k)*days
					name := fmt.Sprintf("%s %d", dc, number)
					if err := s.put(client, gocql.LocalQuorum, number, name); err != nil {
						t.Errorf("%s: %v", dc, err)
						return
					}
					if found, err := s.finds(client, gocql.LocalQuorum, number, name); err != nil || !found {
						t.Errorf("%s: what was written here at LOCAL_QUORUM is not found here at LOCAL_QUORUM (%v)", name, err)
					}
					if err := s.put(client, gocql.LocalQuorum, i%contended, name); err != nil {
						t.Errorf("%s: %v", dc, err)
						return
					}
				}
			}()
		}
		wait.Wait()
	}
	before := p.served()
	work(400, 10*orders, "dc1", "dc2")
	if served := p.served() - before; served < 700 {
		t.Errorf("%g of 800 reads were served", served)
	}
	// The other data centre is not there for a while: nothing is noticed here.
	var other *cassandra.Node
	for i := range 2 {
		var dc string
		if err := only(t, c.ContactPoints()[i]).Query("SELECT data_center FROM system.local").Scan(&dc); err != nil {
			t.Fatal(err)
		}
		if dc == "dc2" {
			other = c.Node(i)
		}
	}
	if err := syscall.Kill(other.Pid(), syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	before = p.served()
	work(100, 20*orders, "dc1")
	t.Logf("100 writes and reads in dc1 without dc2 took %v, %g were served", time.Since(began), p.served()-before)
	if err := syscall.Kill(other.Pid(), syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	if t.Failed() {
		t.FailNow()
	}
	work(50, 30*orders, "dc1", "dc2")
	p.awaitReached(id, migrate.Serving)
	await(t, "base and entries are equal", func() bool { missing, _ := s.missing(lookUp); return missing == 0 })
	if code, out := command(t, p, "verify", id); code != 0 {
		t.Errorf("verify: %d %s", code, out)
	}
	for dc, client := range clients { // and what the other wrote is found
		for name := range map[string]bool{"dc1": true, "dc2": true} {
			number := 10*orders + map[string]int{"dc1": 0, "dc2": 1}[name]*days
			await(t, name+"'s row is found in "+dc, func() bool {
				found, err := s.finds(client, gocql.LocalQuorum, number, fmt.Sprintf("%s %d", name, number))
				return err == nil && found
			})
		}
	}
	for _, e := range p.migration(id).Events {
		t.Logf("%s %s %s", e.Time.Format(time.TimeOnly), e.State, e.Text)
	}
}

// only is a session at one address, whoever else there is.
func only(t *testing.T, at string) *gocql.Session {
	t.Helper()
	host, port, _ := net.SplitHostPort(at)
	config := gocql.NewCluster(host)
	config.Port, _ = strconv.Atoi(port)
	config.ProtoVersion, config.Timeout, config.ConnectTimeout, config.NumConns = 4, 20*time.Second, 10*time.Second, 1
	config.DisableInitialHostLookup, config.Logger = true, silent{}
	s, err := config.CreateSession()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// served is how many reads were answered by changes.
func (p *process) served() (sum float64) {
	for line := range strings.SplitSeq(p.page("/metrics"), "\n") {
		if strings.HasPrefix(line, "helenus_change_reads_total{") && strings.Contains(line, `result="served"`) {
			v, _ := strconv.ParseFloat(line[strings.LastIndexByte(line, ' ')+1:], 64)
			sum += v
		}
	}
	return sum
}
