package main

import (
	"bytes"
	"errors"
	"fmt"
	"math/big"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	gocql "github.com/apache/cassandra-gocql-driver/v2"

	"github.com/helenus-db/helenus/internal/drivers/part"
)

func (p *program) connect(r *part.Result) error {
	var version string
	if err := p.session.Query("SELECT release_version FROM system.local").Scan(&version); err != nil {
		return err
	}
	r.Detail = "Cassandra " + version
	for _, h := range p.session.GetHosts() {
		r.Hosts = append(r.Hosts, net.JoinHostPort(h.ConnectAddress().String(), strconv.Itoa(h.Port())))
	}
	slices.Sort(r.Hosts)
	return nil
}

func (p *program) prepared(*part.Result) error {
	if err := p.all(`CREATE TABLE IF NOT EXISTS scalars (id int PRIMARY KEY, a ascii, b bigint, c blob, d boolean, e date, f decimal,
		g double, h duration, i float, j inet, k smallint, l text, m time, n timestamp, o timeuuid, p tinyint, q uuid, r varint)`); err != nil {
		return err
	}
	at := time.Date(2026, 2, 3, 4, 5, 6, 7e6, time.UTC)
	uuid := gocql.TimeUUID()
	for i := range 100 {
		if err := p.exec("INSERT INTO scalars (id, a, b, c, d, g, h, i, k, l, n, o, p, q, r) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
			i, "plain", int64(i)<<40, []byte{0, 1, byte(i)}, i%2 == 0, float64(i)/3, gocql.Duration{Months: 1, Days: 2, Nanoseconds: int64(i)}, float32(i)/3,
			int16(i), "käse 🧀", at, uuid, int8(i), uuid, big.NewInt(int64(i)).Lsh(big.NewInt(1), 100)); err != nil {
			return err
		}
	}
	for i := range 100 {
		var b int64
		var c []byte
		var g float64
		var l string
		var n time.Time
		var q gocql.UUID
		var j *string
		if err := p.session.Query("SELECT b, c, g, j, l, n, q FROM scalars WHERE id = ?", i).Scan(&b, &c, &g, &j, &l, &n, &q); err != nil {
			return err
		}
		if b != int64(i)<<40 || !bytes.Equal(c, []byte{0, 1, byte(i)}) || g != float64(i)/3 || j != nil || l != "käse 🧀" || !n.Equal(at) || q != uuid {
			return fmt.Errorf("row %d came back changed: %v %v %v %v %v %v %v", i, b, c, g, j, l, n, q)
		}
	}
	if p.session.Query("SELECT l FROM scalars WHERE id = ?", 0).Consistency(gocql.One).Exec() != nil {
		return errors.New("at consistency ONE")
	}
	if err := p.exec("INSERT INTO scalars (id, l) VALUES (?, ?)", 0, gocql.UnsetValue); err != nil && p.options.Protocol != 3 {
		return err
	}
	if err := p.exec("INSERT INTO scalars (id, a) VALUES (?, ?)", 0, nil); err != nil {
		return err
	}
	var a *string
	var l string
	if err := p.session.Query("SELECT a, l FROM scalars WHERE id = 0").Scan(&a, &l); err != nil {
		return err
	}
	if a != nil || l != "käse 🧀" && p.options.Protocol != 3 {
		return fmt.Errorf("null and unset: got %v, %q", a, l)
	}
	return nil
}

func (p *program) batch(*part.Result) error {
	if err := p.all("CREATE TABLE IF NOT EXISTS batches (id int PRIMARY KEY, v text)", "CREATE TABLE IF NOT EXISTS counters (id int PRIMARY KEY, n counter)",
		"TRUNCATE batches", "TRUNCATE counters"); err != nil {
		return err
	}
	for _, kind := range []gocql.BatchType{gocql.LoggedBatch, gocql.UnloggedBatch} {
		b := p.session.Batch(kind)
		for i := range 5 {
			b.Query("INSERT INTO batches (id, v) VALUES (?, ?)", int(kind)*10+i, "prepared")
		}
		b.Query("INSERT INTO batches (id, v) VALUES (" + strconv.Itoa(int(kind)*10+5) + ", 'text')")
		if err := b.Exec(); err != nil {
			return err
		}
	}
	c := p.session.Batch(gocql.CounterBatch)
	c.Query("UPDATE counters SET n = n + ? WHERE id = ?", int64(3), 1)
	c.Query("UPDATE counters SET n = n + ? WHERE id = ?", int64(4), 1)
	if err := c.Exec(); err != nil {
		return err
	}
	var rows int
	var n int64
	if err := p.session.Query("SELECT count(*) FROM batches").Scan(&rows); err != nil {
		return err
	}
	if err := p.session.Query("SELECT n FROM counters WHERE id = 1").Scan(&n); err != nil {
		return err
	}
	return differ("rows and counter", []int64{int64(rows), n}, []int64{12, 7})
}

func (p *program) paging(*part.Result) error {
	if err := p.all("CREATE TABLE IF NOT EXISTS pages (k int, c int, v text, PRIMARY KEY (k, c))"); err != nil {
		return err
	}
	for from := 0; from < 1000; from += 100 {
		b := p.session.Batch(gocql.UnloggedBatch)
		for i := from; i < from+100; i++ {
			b.Query("INSERT INTO pages (k, c, v) VALUES (1, ?, ?)", i, strings.Repeat("x", i%50))
		}
		if err := b.Exec(); err != nil {
			return err
		}
	}
	next, c := 0, 0
	iter := p.session.Query("SELECT c FROM pages WHERE k = ?", 1).PageSize(77).Iter()
	for iter.Scan(&c) {
		if c != next {
			return fmt.Errorf("row %d came in the place of %d", c, next)
		}
		next++
	}
	if err := iter.Close(); err != nil {
		return err
	}
	if err := differ("rows", next, 1000); err != nil {
		return err
	}
	var state []byte
	pages, next := 0, 0
	for {
		iter := p.session.Query("SELECT c FROM pages WHERE k = ?", 1).PageSize(300).PageState(state).Iter()
		state = slices.Clone(iter.PageState())
		for range iter.NumRows() {
			iter.Scan(&c)
			if c != next {
				return fmt.Errorf("by hand, row %d came in the place of %d", c, next)
			}
			next++
		}
		if err := iter.Close(); err != nil {
			return err
		}
		if pages++; len(state) == 0 {
			break
		}
	}
	return differ("rows and pages by hand", []int{next, pages}, []int{1000, 4})
}

func (p *program) collections(*part.Result) error {
	if err := p.all(`CREATE TABLE IF NOT EXISTS collected (id int PRIMARY KEY, l list<int>, s set<text>, m map<text, bigint>,
		n map<int, frozen<list<text>>>, t tuple<int, text>, e set<int>)`); err != nil {
		return err
	}
	l, s, m := []int{3, 1, 2}, []string{"a", "b"}, map[string]int64{"x": 1, "y": 1 << 40}
	n := map[int][]string{1: {"one", "eins"}, 2: {"two"}}
	if err := p.exec("INSERT INTO collected (id, l, s, m, n, t, e) VALUES (1, ?, ?, ?, ?, (?, ?), ?)", l, s, m, n, 7, "seven", []int{}); err != nil {
		return err
	}
	var gotL, gotE []int
	var gotS []string
	var gotM map[string]int64
	var gotN map[int][]string
	var t0 int
	var t1 string
	if err := p.session.Query("SELECT l, s, m, n, t, e FROM collected WHERE id = ?", 1).Scan(&gotL, &gotS, &gotM, &gotN, &t0, &t1, &gotE); err != nil {
		return err
	}
	return errors.Join(differ("list", gotL, l), differ("set", gotS, s), differ("map", gotM, m), differ("nested", gotN, n),
		differ("tuple", []any{t0, t1}, []any{7, "seven"}), differ("empty set", len(gotE), 0))
}

type address struct {
	Street string            `cql:"street"`
	Number int               `cql:"number"`
	Phones map[string]string `cql:"phones"`
}

func (p *program) udt(*part.Result) error {
	if err := p.all("CREATE TYPE IF NOT EXISTS address (street text, number int, phones frozen<map<text, text>>)",
		"CREATE TABLE IF NOT EXISTS people (id int PRIMARY KEY, home frozen<address>, others list<frozen<address>>)"); err != nil {
		return err
	}
	home := address{"Long Street", 12, map[string]string{"home": "1234"}}
	others := []address{{"Short Street", 1, map[string]string{}}, home}
	if err := p.exec("INSERT INTO people (id, home, others) VALUES (?, ?, ?)", 1, home, others); err != nil {
		return err
	}
	var gotHome address
	var gotOthers []address
	if err := p.session.Query("SELECT home, others FROM people WHERE id = ?", 1).Scan(&gotHome, &gotOthers); err != nil {
		return err
	}
	if err := differ("type", gotHome, home); err != nil {
		return err
	}
	return differ("list of types", fmt.Sprint(gotOthers), fmt.Sprint(others))
}

func (p *program) vector(*part.Result) error {
	if err := p.all("CREATE TABLE IF NOT EXISTS vectors (id int PRIMARY KEY, v vector<float, 3>, w vector<text, 2>)"); err != nil {
		return err
	}
	v, w := []float32{1.5, 2.5, -3}, []string{"one", "two"}
	if err := p.exec("INSERT INTO vectors (id, v, w) VALUES (?, ?, ?)", 1, v, w); err != nil {
		return err
	}
	var gotV []float32
	var gotW []string
	if err := p.session.Query("SELECT v, w FROM vectors WHERE id = ?", 1).Scan(&gotV, &gotW); err != nil {
		return err
	}
	return errors.Join(differ("floats", gotV, v), differ("texts", gotW, w))
}

func (p *program) lwt(*part.Result) error {
	if err := p.all("CREATE TABLE IF NOT EXISTS locks (id int PRIMARY KEY, owner text)", "DELETE FROM locks WHERE id = 1"); err != nil {
		return err
	}
	for _, want := range []bool{true, false} {
		var id int
		var owner string
		applied, err := p.session.Query("INSERT INTO locks (id, owner) VALUES (?, ?) IF NOT EXISTS", 1, "me").ScanCAS(&id, &owner)
		if err != nil {
			return err
		}
		if applied != want || !want && owner != "me" {
			return fmt.Errorf("IF NOT EXISTS: applied is %v, owner %q", applied, owner)
		}
	}
	var owner string
	applied, err := p.session.Query("UPDATE locks SET owner = ? WHERE id = ? IF owner = ?", "you", 1, "me").ScanCAS(&owner)
	if err != nil || !applied {
		return fmt.Errorf("UPDATE IF: applied is %v: %w", applied, err)
	}
	if err := p.session.Query("SELECT owner FROM locks WHERE id = 1").Consistency(gocql.Serial).Scan(&owner); err != nil {
		return err
	}
	return differ("owner, read at SERIAL", owner, "you")
}

// traced is the tracer that keeps the id.
type traced struct{ id []byte }

func (t *traced) Trace(id []byte) { t.id = slices.Clone(id) }

// coordinator reads who coordinated a traced request; Cassandra writes traces a little later than it answers.
func (p *program) coordinator(id []byte) (string, error) {
	var coordinator net.IP
	var duration *int
	err := part.Poll("the trace is complete", func() bool {
		err := p.session.Query("SELECT coordinator, duration FROM system_traces.sessions WHERE session_id = ?", id).Consistency(gocql.One).Scan(&coordinator, &duration)
		return err == nil && coordinator != nil
	})
	return coordinator.String(), err
}

func (p *program) tracing(r *part.Result) error {
	t := &traced{}
	if err := p.session.Query("SELECT release_version FROM system.local").Trace(t).Exec(); err != nil {
		return err
	}
	who, err := p.coordinator(t.id)
	if err != nil {
		return err
	}
	events := 0
	for range 300 { // Cassandra writes them beside the session
		if err := p.session.Query("SELECT count(*) FROM system_traces.events WHERE session_id = ?", t.id).Consistency(gocql.One).Scan(&events); err != nil {
			return err
		}
		if events > 0 {
			break
		}
		time.Sleep(200 * time.Millisecond)
	}
	r.Detail = fmt.Sprintf("coordinator %s, %d events", who, events)
	if events == 0 {
		return errors.New("the trace has no events")
	}
	return nil
}

func (p *program) warnings(r *part.Result) error {
	if err := p.all("CREATE TABLE IF NOT EXISTS batches (id int PRIMARY KEY, v text)"); err != nil {
		return err
	}
	text := "BEGIN UNLOGGED BATCH "
	for i := range 20 {
		text += fmt.Sprintf("INSERT INTO %s.batches (id, v) VALUES (%d, 'w'); ", p.options.Keyspace, 1000+i)
	}
	iter := p.session.Query(text + "APPLY BATCH").Iter()
	defer func() { _ = iter.Close() }()
	r.Detail = fmt.Sprintf("%.60q", iter.Warnings())
	if len(iter.Warnings()) == 0 && p.options.Protocol != 3 {
		return errors.New("an unlogged batch over 20 partitions came without a warning")
	}
	return nil
}

// lookedUp asks for rows by a column that is no key, as often as part says.
func (p *program) lookedUp(*part.Result) error { return p.orders(part.Note) }

// masked asks for the same, and is not told what stands beside the ids.
func (p *program) masked(*part.Result) error { return p.orders(part.Mask) }

func (p *program) orders(noted func(id int) string) error {
	for i := range part.LookedUp {
		var got []int
		var id int
		var note string
		iter := p.session.Query(part.ByOwner, part.Owner(i)).Iter()
		for iter.Scan(&id, &note) {
			if note != noted(id) {
				return fmt.Errorf("row %d came with the note %q", id, note)
			}
			got = append(got, id)
		}
		if err := iter.Close(); err != nil {
			return err
		}
		slices.Sort(got)
		if want := part.Owned(i); !slices.Equal(got, want) {
			return fmt.Errorf("%s has the rows %v, want %v", part.Owner(i), got, want)
		}
	}
	return nil
}

// notAllowed asks for the same, and is refused each time.
func (p *program) notAllowed(r *part.Result) error {
	var failure gocql.RequestError
	for i := range part.LookedUp {
		if err := p.session.Query(part.ByOwner, part.Owner(i)).Exec(); !errors.As(err, &failure) || failure.Code() != gocql.ErrCodeUnauthorized {
			return fmt.Errorf("%s: %w", part.Owner(i), err)
		}
	}
	r.Detail = failure.Message()
	return nil
}

func (p *program) errors(*part.Result) error {
	var failure gocql.RequestError
	for statement, code := range map[string]int{
		"SELEKT": gocql.ErrCodeSyntax, "SELECT x FROM nosuchtable": gocql.ErrCodeInvalid, "CREATE KEYSPACE " + p.options.Keyspace +
			" WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}": gocql.ErrCodeAlreadyExists,
	} {
		if err := p.session.Query(statement).Exec(); !errors.As(err, &failure) || failure.Code() != code {
			return fmt.Errorf("%s: %w", statement, err)
		}
	}
	return p.exec("SELECT release_version FROM system.local")
}

// use opens a session in another keyspace: the driver refuses to send USE for an application, and does on each new connection.
func (p *program) use(*part.Result) error {
	quoted := strings.ToUpper(p.options.Keyspace[:1]) + p.options.Keyspace[1:] + "_Use"
	if err := p.all(fmt.Sprintf(`CREATE KEYSPACE IF NOT EXISTS %q WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}`, quoted),
		fmt.Sprintf("CREATE TABLE IF NOT EXISTS %q.only_here (id int PRIMARY KEY)", quoted)); err != nil {
		return err
	}
	cfg, err := config(p.options)
	if err != nil {
		return err
	}
	cfg.Keyspace = quoted
	other, err := cfg.CreateSession()
	if err != nil {
		return err
	}
	defer other.Close()
	if err := other.Query("INSERT INTO only_here (id) VALUES (?)", 1).Exec(); err != nil {
		return err
	}
	if err := p.exec("SELECT * FROM only_here"); err == nil {
		return errors.New("the first session is in the second's keyspace")
	}
	return nil
}

func (p *program) large(*part.Result) error {
	if err := p.all("CREATE TABLE IF NOT EXISTS large (id int PRIMARY KEY, v blob)"); err != nil {
		return err
	}
	for i, size := range []int{100, 130_000, 140_000, 1 << 20, 3 << 20} {
		v := bytes.Repeat([]byte{byte(i), 1, 2, 3, 5, 8, 13}, size/7)
		if err := p.exec("INSERT INTO large (id, v) VALUES (?, ?)", i, v); err != nil {
			return err
		}
		var got []byte
		if err := p.session.Query("SELECT v FROM large WHERE id = ?", i).Scan(&got); err != nil {
			return err
		}
		if !bytes.Equal(got, v) {
			return fmt.Errorf("a blob of %d bytes came back changed, %d bytes", len(v), len(got))
		}
	}
	return nil
}

func (p *program) concurrent(*part.Result) error {
	if err := p.all("CREATE TABLE IF NOT EXISTS many (id int PRIMARY KEY, v text)"); err != nil {
		return err
	}
	const goroutines, each = 64, 40
	errs := make([]error, goroutines)
	var wait sync.WaitGroup
	for g := range goroutines {
		wait.Go(func() {
			for i := range each {
				id, v := g*each+i, ""
				want := fmt.Sprintf("value %d", id)
				if errs[g] = p.session.Query("INSERT INTO many (id, v) VALUES (?, ?)", id, want).Exec(); errs[g] != nil {
					return
				}
				if errs[g] = p.session.Query("SELECT v FROM many WHERE id = ?", id).Scan(&v); errs[g] == nil {
					errs[g] = differ("value", v, want)
				}
				if errs[g] != nil {
					return
				}
			}
		})
	}
	wait.Wait()
	return errors.Join(errs...)
}

func (p *program) payload(*part.Result) error {
	var version string
	q := p.session.Query("SELECT release_version FROM system.local").CustomPayload(map[string][]byte{"who": []byte("helenus")})
	return q.Scan(&version)
}

func (p *program) speculative(*part.Result) error {
	if err := p.all("CREATE TABLE IF NOT EXISTS many (id int PRIMARY KEY, v text)", "INSERT INTO many (id, v) VALUES (-1, 'speculated')"); err != nil {
		return err
	}
	for range 200 {
		var v string
		q := p.session.Query("SELECT v FROM many WHERE id = ?", -1).Idempotent(true).
			SetSpeculativeExecutionPolicy(&gocql.SimpleSpeculativeExecution{NumAttempts: 2, TimeoutDelay: 200 * time.Microsecond})
		if err := q.Scan(&v); err != nil {
			return err
		}
		if err := differ("value", v, "speculated"); err != nil {
			return err
		}
	}
	return nil
}

func (p *program) describe(*part.Result) error {
	if err := p.all("CREATE TABLE IF NOT EXISTS batches (id int PRIMARY KEY, v text)"); err != nil {
		return err
	}
	row := map[string]any{}
	if err := p.session.Query("DESCRIBE TABLE " + p.options.Keyspace + ".batches").MapScan(row); err != nil {
		return err
	}
	if text := fmt.Sprint(row["create_statement"]); !strings.Contains(text, "CREATE TABLE "+p.options.Keyspace+".batches") {
		return fmt.Errorf("it says %.200s", text)
	}
	return nil
}

func (p *program) metadata(*part.Result) error {
	if err := p.all("CREATE TABLE IF NOT EXISTS described (a int, b text, c text, v bigint, PRIMARY KEY ((a, b), c))"); err != nil {
		return err
	}
	return part.Poll("the table's description is right", func() bool {
		k, err := p.session.KeyspaceMetadata(p.options.Keyspace)
		if err != nil {
			return false
		}
		t := k.Tables["described"]
		return t != nil && len(t.PartitionKey) == 2 && len(t.ClusteringColumns) == 1 && len(t.Columns) == 4
	})
}
