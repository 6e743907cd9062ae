package capture

import (
	"bytes"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/helenus-db/helenus/proxy"
)

// slowly makes a registry in which everything from 1 ms on is slow, and returns a function that ends it and returns its log,
// without times.
func slowly(t interface{ Helper() }) (*Registry, func() string) {
	t.Helper()
	var b bytes.Buffer
	log := slog.New(slog.NewTextHandler(&b, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}}))
	o := Options{Slow: time.Millisecond, Log: log}
	o.Windows.Off = true
	r := New(o)
	return r, func() string {
		r.Close()
		return b.String()
	}
}

func TestSlowRequests(t *testing.T) {
	r, end := slowly(t)
	who := &proxy.Client{Address: "10.0.0.1:4711", Node: "10.0.1.1:9042", Application: "shop", ApplicationVersion: "1.2",
		Driver: "gocql", Role: "ann"}
	done := func(x proxy.Record, us int64, change func(*proxy.Exchange)) {
		e := exchange(us)
		e.Client = who
		if change != nil {
			change(e)
		}
		x.Done([]proxy.Exchange{*e})
	}
	guest := r.Statement("hotel", "SELECT * FROM guests WHERE id = 4711")
	update := r.Statement("hotel", "UPDATE rooms SET state = 'x' WHERE id = ?").(*record)
	insert := r.Statement("hotel", "INSERT INTO rooms (id) VALUES (1)").(*record)
	done(guest, 999, nil)
	done(guest, 1000, nil)
	done(guest, 2000, func(x *proxy.Exchange) {
		x.Failed, x.ErrorCode, x.Rows, x.Paged, x.MorePages, x.Rewritten, x.Opcode = true, 0x1200, -1, true, true, true, proxy.OpQuery
	})
	done(guest, 5000, func(x *proxy.Exchange) { x.InBatch = true })
	done(r.Batch(0, []proxy.Record{update, insert, update}), 3000, func(x *proxy.Exchange) { x.Opcode, x.Children, x.Rows = proxy.OpBatch, 3, -1 })
	done(r.other, 4000, func(x *proxy.Exchange) { x.Client = &proxy.Client{Address: "10.0.0.2:1"} })

	print := guest.(*record).description.Load().fingerprint
	batch := r.Batch(0, []proxy.Record{update, insert}).(*record).description.Load().fingerprint
	from := `node=10.0.1.1:9042 client=10.0.0.1:4711 application="shop 1.2" driver=gocql role=ann request_bytes=100 response_bytes=1000`
	want := fmt.Sprintf(`level=WARN msg="slow request" latency=1ms fingerprint=%[1]s kind=select statement="SELECT * FROM hotel.guests WHERE id = ?" keyspace=hotel table=guests opcode=EXECUTE %[2]s rows=2 consistency=LOCAL_QUORUM
level=WARN msg="slow request" latency=2ms fingerprint=%[1]s kind=select statement="SELECT * FROM hotel.guests WHERE id = ?" keyspace=hotel table=guests opcode=QUERY %[2]s consistency=LOCAL_QUORUM error=read_timeout paged=true more_pages=true rewritten=true
level=WARN msg="slow request" latency=3ms fingerprint=%[3]s kind=batch statement="%[5]s" keyspace=hotel table=rooms children=3 parts="[%[4]s %[6]s]" opcode=BATCH %[2]s consistency=LOCAL_QUORUM
level=WARN msg="slow request" latency=4ms fingerprint=other kind=other opcode=EXECUTE node="" client=10.0.0.2:1 request_bytes=100 response_bytes=1000 rows=2 consistency=LOCAL_QUORUM
`, print, from, batch, update.description.Load().fingerprint, r.Batch(0, []proxy.Record{update, insert}).(*record).description.Load().text, insert.description.Load().fingerprint)
	if got := end(); got != want {
		t.Errorf("logged\n%s\nwant\n%s", got, want)
	}
	if seen, unlogged := r.slow.Counts(); seen != 4 || unlogged != 0 {
		t.Errorf("%d slow, %d not logged", seen, unlogged)
	}
}

// TestNothingIsSlowWithoutALimit: no log, no goroutine.
func TestNothingIsSlowWithoutALimit(t *testing.T) {
	r := registry(t, Options{})
	r.Statement("", "SELECT * FROM k.t").Done([]proxy.Exchange{*exchange(1e9)})
	if r.slow != nil {
		t.Error("there is a log")
	}
}

// secrets are values, each as CQL writes it somewhere; every one has one of the marks.
var (
	marks   = []string{"5ec3e7", "hunter", "73577357"}
	secrets = []string{
		"'hunter2'", "'it''s hunter2'", "'hunter2''s'", "$$hunter2$$", "$$it's hunter2$$", "''''||'hunter2'", "hunter2",
		"0x5ec3e7", "0X5EC3E7aa", "5ec3e700-1234-11ee-8000-5ec3e7000000", "73577357", "-73577357", "7357.73577357", "73577357e2",
		"73577357ms", "P73577357D", "1y73577357s", "{'hunter2': 'hunter3'}", "['hunter2', 'b']", "{'hunter2'}", "('hunter2', 73577357)",
		"[73577357, 1]", "{a: 'hunter2'}", "(text)'hunter2'", "toJson('hunter2')", "-- hunter2\n1", "1 /* hunter2 */", "1 // hunter2\n",
		`"unfinished hunter2`, "'unfinished hunter2", "$$unfinished hunter2", "/* unfinished hunter2", "hunter2@example.com", "hunter2.com/73577357",
		"\xff'hunter2'", "'hunter2\x00'", "?:hunter2", "NaN 'hunter2'", "null, 'hunter2'",
	}
	templates = []string{
		"SELECT * FROM k.t WHERE a = %s", "SELECT * FROM k.t WHERE a IN (%s, %s) AND b > %s LIMIT 5 ALLOW FILTERING",
		"SELECT * FROM k.t WHERE token(a) > token(%s) AND m[%s] = %s", "SELECT f(%s), a FROM k.t WHERE a = 1 LIMIT %s", "SELECT (text)%s FROM k.t",
		"SELECT * FROM k.t WHERE a LIKE %s", "SELECT * FROM k.t WHERE expr(idx, %s)", "SELECT * FROM k.t ORDER BY v ANN OF %s LIMIT 3",
		"INSERT INTO k.t (a, b) VALUES (%s, %s) IF NOT EXISTS USING TTL %s", "INSERT INTO k.t JSON %s DEFAULT UNSET", "INSERT INTO k.t JSON '{\"a\": \"hunter2\"}'",
		"UPDATE k.t USING TTL %s AND TIMESTAMP %s SET a = %s, l[%s] = %s, s = s + %s WHERE k = %s IF a = %s", "UPDATE k.t SET a = %s WHERE k IN (%s)",
		"DELETE m[%s] FROM k.t USING TIMESTAMP %s WHERE k = %s IF b IN (%s)", "TRUNCATE k.t %s",
		"BEGIN BATCH USING TIMESTAMP %s INSERT INTO k.t (a) VALUES (%s); UPDATE k.t SET a = %s WHERE k = %s; APPLY BATCH",
		"CREATE ROLE bob WITH PASSWORD = %s AND LOGIN = true", "CREATE USER bob WITH PASSWORD %s", "ALTER ROLE bob WITH OPTIONS = {'a': %s}",
		"CREATE USER bob PASSWORD %s", "ALTER USER bob %s", "ADD IDENTITY %s TO ROLE 'bob'", "GRANT SELECT ON k.t TO %s", "LIST ROLES OF %s",
		"CREATE TABLE k.t (a int PRIMARY KEY) WITH comment = %s", "CREATE FUNCTION k.f (a int) CALLED ON NULL INPUT RETURNS int LANGUAGE java AS %s",
		"CREATE AGGREGATE k.g (int) SFUNC f STYPE int INITCOND %s", "CREATE CUSTOM INDEX ON k.t (a) USING %s WITH OPTIONS = {'x': %s}", "%s", "what is this %s", "SELECT %s %s",
		"EXPLAIN SELECT * FROM k.t WHERE a = %s", "DESCRIBE TABLE k.t %s",
	}
)

// TestNoValueIsLogged puts values into all kinds of statements, cuts and splices them, and reads the log. What is broken is
// answered as Cassandra answers it; a word that stands unquoted in a statement that is accepted is a name, not a value.
func TestNoValueIsLogged(t *testing.T) {
	check := func(t interface {
		Helper()
		Errorf(string, ...any)
	}, batch bool, texts ...string) {
		t.Helper()
		r, end := slowly(t)
		var children []proxy.Record
		for _, text := range texts {
			x := exchange(5000)
			x.Client = &proxy.Client{}
			if strings.Contains(text, "hunter2") && !strings.ContainsAny(text, "'$") { // unquoted: an error
				x.Failed, x.ErrorCode = true, 0x2000
			}
			rec := r.Statement("k", text)
			rec.Done([]proxy.Exchange{*x})
			children = append(children, rec)
		}
		if batch {
			x := exchange(5000)
			x.Opcode = proxy.OpBatch
			r.Batch(1, children).Done([]proxy.Exchange{*x})
		}
		log := strings.ToLower(end())
		if log == "" {
			t.Errorf("%q is not logged", texts)
		}
		for _, mark := range marks {
			if strings.Contains(log, mark) {
				t.Errorf("%q\nis logged as\n%s", texts, log)
			}
		}
	}
	for _, template := range templates {
		for _, secret := range secrets {
			check(t, true, strings.ReplaceAll(template, "%s", secret))
		}
	}
	if t.Failed() {
		return
	}
	rapid.Check(t, func(t *rapid.T) {
		text := func() string {
			s := rapid.SampledFrom(templates).Draw(t, "template")
			for strings.Contains(s, "%s") {
				s = strings.Replace(s, "%s", rapid.SampledFrom(secrets).Draw(t, "secret"), 1)
			}
			if rapid.Bool().Draw(t, "cut") {
				at := rapid.IntRange(0, len(s)).Draw(t, "at")
				s = s[:at]
			}
			return s
		}
		check(t, rapid.Bool().Draw(t, "batch"), text(), text())
	})
}
