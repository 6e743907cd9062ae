package keyspace

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"net"

	"github.com/gocql/gocql"
	"github.com/google/go-cmp/cmp"

	"github.com/helenus-db/helenus/capture/store"
)

// state is what is asked of a state, wherever it is kept.
type state interface {
	Save(ctx context.Context, kind, id string, v any) error
	Decide(ctx context.Context, kind, id string, v any, entries ...store.Entry) error
	Load(ctx context.Context, kind, id string, v any) error
	List(ctx context.Context, kind string) ([]store.Document, error)
	Replace(ctx context.Context, kind, id string, version int64, v any, entries ...store.Entry) (int64, error)
	Remove(ctx context.Context, kind, id string, version int64, entries ...store.Entry) error
	Delete(ctx context.Context, kind, id string) error
	Append(ctx context.Context, entries ...store.Entry) error
	Commit(ctx context.Context, c store.Change) error
	Audit(ctx context.Context, q store.AuditQuery) ([]store.Entry, error)
	Trim(ctx context.Context, before time.Time) (int64, error)
	Watch(f func([]store.Entry))
	Dump(ctx context.Context) (store.Dump, error)
	Fill(ctx context.Context, d store.Dump) error
}

var (
	_ state = (*store.Store)(nil)
	_ state = (*Store)(nil)
)

// connectTest opens a session to the Cassandra of the tests, and skips without one.
func connectTest(t *testing.T) func() (*gocql.Session, error) {
	t.Helper()
	address := os.Getenv("HELENUS_TEST_CASSANDRA")
	if address == "" {
		t.Skip("HELENUS_TEST_CASSANDRA is not set: no Cassandra to test against")
	}
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		t.Fatal(err)
	}
	return func() (*gocql.Session, error) {
		c := gocql.NewCluster(host)
		c.Port, _ = strconv.Atoi(port)
		c.ProtoVersion = 4
		c.Timeout, c.ConnectTimeout = 20*time.Second, 10*time.Second
		c.DisableInitialHostLookup = true
		return c.CreateSession()
	}
}

var keyspaces int

// fresh makes a state in a keyspace of its own, and returns how another process opens it.
func fresh(t *testing.T) (*Store, func(o Options) *Store) {
	t.Helper()
	connect := connectTest(t)
	keyspaces++
	name := fmt.Sprintf("state_%d_%d", os.Getpid(), keyspaces)
	open := func(o Options) *Store {
		o.Connect, o.Keyspace, o.Unheard, o.Patience = connect, name, []string{"quiet"}, 20*time.Second
		s, err := New(o)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = s.Close() })
		return s
	}
	s := open(Options{})
	if err := s.Prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		session, err := connect()
		if err != nil {
			t.Fatal(err)
		}
		defer session.Close()
		if err := session.Query("DROP KEYSPACE " + name).Exec(); err != nil {
			t.Error(err)
		}
	})
	return s, open
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

type note struct {
	Text string `json:"text"`
	N    int    `json:"n"`
}

// The same of every state.
func TestContract(t *testing.T) {
	for name, open := range map[string]func(*testing.T) state{
		"SQLite": func(t *testing.T) state {
			s, err := store.Open(t.TempDir())
			must(t, err)
			t.Cleanup(func() { _ = s.Close() })
			return s
		},
		"Cassandra": func(t *testing.T) state { s, _ := fresh(t); return s },
	} {
		t.Run(name, func(t *testing.T) {
			s := open(t)
			t.Run("documents", func(t *testing.T) { documents(t, s) })
			t.Run("versions", func(t *testing.T) { versions(t, s) })
			t.Run("all or nothing", func(t *testing.T) { allOrNothing(t, s) })
			t.Run("writers", func(t *testing.T) { writers(t, s) })
			t.Run("trail", func(t *testing.T) { trail(t, open(t)) })
			t.Run("trim", func(t *testing.T) { trim(t, open(t)) })
			t.Run("move", func(t *testing.T) { move(t, s, open(t)) })
		})
	}
}

func documents(t *testing.T, s state) {
	ctx := t.Context()
	must(t, s.Save(ctx, "note", "b", note{"second", 1}))
	must(t, s.Save(ctx, "note", "b", note{"second", 2}))
	must(t, s.Save(ctx, "note", "a", note{"first", 1}))
	must(t, s.Save(ctx, "other", "a", 7))
	var got note
	if err := s.Load(ctx, "note", "b", &got); err != nil || got != (note{"second", 2}) {
		t.Errorf("loaded %v, %v", got, err)
	}
	if err := s.Load(ctx, "note", "c", &got); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("what is not there: %v", err)
	}
	list, err := s.List(ctx, "note")
	must(t, err)
	var is []string
	for _, d := range list {
		if time.Since(d.Updated).Abs() > time.Hour {
			t.Errorf("%s was updated at %v", d.ID, d.Updated)
		}
		is = append(is, fmt.Sprintf("%s %s %d %s", d.Kind, d.ID, d.Version, d.Raw))
	}
	if d := cmp.Diff([]string{`note a 1 {"text":"first","n":1}`, `note b 2 {"text":"second","n":2}`}, is); d != "" {
		t.Error(d)
	}
	must(t, s.Delete(ctx, "note", "a"))
	must(t, s.Delete(ctx, "note", "a"))
	must(t, s.Save(ctx, "note", "a", note{"again", 1}))
	if err := s.Load(ctx, "note", "a", &got); err != nil || got.Text != "again" {
		t.Errorf("loaded %v, %v", got, err)
	}
	if list, err := s.List(ctx, "nothing"); err != nil || len(list) > 0 {
		t.Errorf("a kind without documents: %v, %v", list, err)
	}
}

func versions(t *testing.T, s state) {
	ctx := t.Context()
	one, err := s.Replace(ctx, "v", "x", 0, 1, store.Entry{Action: "one", Target: "x"})
	must(t, err)
	two, err := s.Replace(ctx, "v", "x", one, 2)
	must(t, err)
	for _, wrong := range []int64{0, one, two + 1} {
		if _, err := s.Replace(ctx, "v", "x", wrong, 3, store.Entry{Action: "never", Target: "x"}); !errors.Is(err, store.ErrConflict) {
			t.Errorf("replaced version %d where %d is: %v", wrong, two, err)
		}
		if err := s.Remove(ctx, "v", "x", wrong, store.Entry{Action: "never"}); !errors.Is(err, store.ErrConflict) {
			t.Errorf("removed version %d where %d is: %v", wrong, two, err)
		}
	}
	must(t, s.Remove(ctx, "v", "x", two, store.Entry{Action: "gone", Target: "x"}))
	if _, err := s.Replace(ctx, "v", "x", two, 3); !errors.Is(err, store.ErrConflict) {
		t.Errorf("replaced what is gone: %v", err)
	}
	_, err = s.Replace(ctx, "v", "x", 0, 4)
	must(t, err)
	all, err := s.Audit(ctx, store.AuditQuery{Action: "never"})
	if err != nil || len(all) > 0 {
		t.Errorf("the trail tells of what did not happen: %v, %v", all, err)
	}
}

func allOrNothing(t *testing.T, s state) {
	ctx := t.Context()
	good, _ := store.NewDocument("pair", "good", 1)
	if err := s.Commit(ctx, store.Change{Save: []store.Document{good, {Kind: "pair", ID: "bad", Raw: json.RawMessage("{")}}, Audit: []store.Entry{{Action: "half"}}}); err == nil {
		t.Error("broken JSON was stored")
	}
	if list, _ := s.List(ctx, "pair"); len(list) > 0 {
		t.Errorf("half a change was stored: %v", list)
	}
	if err := s.Commit(ctx, store.Change{If: map[store.Key]int64{{Kind: "pair", ID: "other"}: 4}, Save: []store.Document{good, {Kind: "pair", ID: "other", Raw: []byte("1")}}}); !errors.Is(err, store.ErrConflict) {
		t.Errorf("a condition that does not hold: %v", err)
	}
	if list, _ := s.List(ctx, "pair"); len(list) > 0 {
		t.Errorf("half a change was stored: %v", list)
	}
	other, _ := store.NewDocument("pair", "other", 2)
	must(t, s.Commit(ctx, store.Change{Save: []store.Document{good, other}, Audit: []store.Entry{{Action: "pair.a"}, {Action: "pair.b"}}}))
	must(t, s.Commit(ctx, store.Change{Save: []store.Document{good}, Delete: []store.Key{{Kind: "pair", ID: "other"}, {Kind: "pair", ID: "never"}}}))
	if list, _ := s.List(ctx, "pair"); len(list) != 1 || list[0].Version != 2 {
		t.Errorf("after saving one and deleting one: %v", list)
	}
	lines, err := s.Audit(ctx, store.AuditQuery{Action: "pair"})
	if err != nil || len(lines) != 2 || lines[0].Action != "pair.b" || lines[0].Seq != lines[1].Seq+1 {
		t.Errorf("lines %v, %v", lines, err)
	}
}

// Writers that compare and set lose nothing, and each line of theirs is there once.
func writers(t *testing.T, s state) {
	ctx := t.Context()
	const each, of = 5, 3
	var wait sync.WaitGroup
	failed := make([]error, of)
	for w := range of {
		wait.Add(1)
		go func() {
			defer wait.Done()
			for done := 0; done < each && failed[w] == nil; {
				var n int
				list, err := s.List(ctx, "count")
				if err != nil {
					failed[w] = err
					return
				}
				version := int64(0)
				if len(list) == 1 {
					version = list[0].Version
					_ = json.Unmarshal(list[0].Raw, &n)
				}
				switch _, err := s.Replace(ctx, "count", "c", version, n+1, store.Entry{Action: "count", Reason: fmt.Sprint(n + 1)}); {
				case err == nil:
					done++
				case !errors.Is(err, store.ErrConflict):
					failed[w] = err
				}
			}
		}()
	}
	wait.Wait()
	must(t, errors.Join(failed...))
	var n int
	must(t, s.Load(ctx, "count", "c", &n))
	lines, err := s.Audit(ctx, store.AuditQuery{Action: "count"})
	must(t, err)
	if n != each*of || len(lines) != each*of {
		t.Errorf("counted to %d, with %d lines, not %d", n, len(lines), each*of)
	}
	for i, e := range lines {
		if want := fmt.Sprint(each*of - i); e.Reason != want {
			t.Errorf("line %d of the trail says %s, not %s", i, e.Reason, want)
		}
	}
}

func trail(t *testing.T, s state) {
	ctx := t.Context()
	var told []string
	s.Watch(func(all []store.Entry) {
		for _, e := range all {
			told = append(told, e.Action)
		}
	})
	at := time.Unix(1000, 0).UTC()
	for i := range 6 {
		at = at.Add(time.Minute)
		must(t, s.Decide(ctx, "note", "n", i, store.Entry{At: at, Actor: []string{"ann", "bob"}[i%2], Action: []string{"approve", "token.create", "tokens"}[i%3],
			Target: []string{"r-1", "r-1.2", "r-10"}[i%3], Before: "open", After: fmt.Sprint(i), Despite: []string{"C6:77e0"}}))
	}
	if got := strings.Join(told, " "); got != "approve token.create tokens approve token.create tokens" {
		t.Errorf("told of %s", got)
	}
	for name, c := range map[string]struct {
		q    store.AuditQuery
		want string
	}{
		"all":              {store.AuditQuery{}, "5 4 3 2 1 0"},
		"a page":           {store.AuditQuery{Limit: 2}, "5 4"},
		"a change's parts": {store.AuditQuery{Change: "r-1"}, "4 3 1 0"},
		"an actor":         {store.AuditQuery{Actor: "bob"}, "5 3 1"},
		"an action":        {store.AuditQuery{Action: "approve"}, "3 0"},
		"a family":         {store.AuditQuery{Action: "token"}, "4 1"},
		"from and to":      {store.AuditQuery{From: time.Unix(1000, 0).Add(3 * time.Minute), To: time.Unix(1000, 0).Add(5 * time.Minute)}, "3 2"},
		"two things":       {store.AuditQuery{Actor: "bob", Change: "r-1"}, "3 1"},
	} {
		got, err := s.Audit(ctx, c.q)
		must(t, err)
		var is []string
		for _, e := range got {
			is = append(is, e.After)
		}
		if strings.Join(is, " ") != c.want {
			t.Errorf("%s: lines %v, not %s", name, is, c.want)
		}
	}
	page, err := s.Audit(ctx, store.AuditQuery{Limit: 2})
	must(t, err)
	next, err := s.Audit(ctx, store.AuditQuery{Limit: 2, Before: page[1].Seq})
	if err != nil || len(next) != 2 || next[0].After != "3" {
		t.Errorf("the next page: %v, %v", next, err)
	}
	want := store.Entry{Seq: page[0].Seq, At: time.Unix(1360, 0).UTC(), Actor: "bob", Action: "tokens", Target: "r-10", Before: "open", After: "5", Despite: []string{"C6:77e0"}}
	if d := cmp.Diff(want, page[0]); d != "" {
		t.Error(d)
	}
	must(t, s.Append(ctx, store.Entry{Action: "long", Reason: strings.Repeat("ü", 5000)}))
	if list, err := s.Audit(ctx, store.AuditQuery{Action: "long"}); err != nil || len(list[0].Reason) > 4100 || !strings.HasSuffix(list[0].Reason, "ü…") {
		t.Errorf("a long reason: %v", err)
	}
}

func trim(t *testing.T, s state) {
	ctx, now := t.Context(), time.Now()
	for i, age := range []time.Duration{30 * time.Hour, 20 * time.Hour, time.Hour} {
		must(t, s.Append(ctx, store.Entry{At: now.Add(-age), Action: "a", Reason: fmt.Sprint(i)}))
	}
	if n, err := s.Trim(ctx, now.Add(-40*time.Hour)); err != nil || n != 0 {
		t.Errorf("nothing is that old: %d, %v", n, err)
	}
	if n, err := s.Trim(ctx, now.Add(-10*time.Hour)); err != nil || n != 2 {
		t.Errorf("removed %d, %v", n, err)
	}
	lines, err := s.Audit(ctx, store.AuditQuery{})
	must(t, err)
	if len(lines) != 2 || lines[0].Action != "audit.trim" || lines[1].Reason != "2" {
		t.Errorf("after trimming: %v", lines)
	}
}

// A state that was moved is the same, there and back.
func move(t *testing.T, from, to state) {
	ctx := t.Context()
	must(t, to.Save(ctx, "stale", "s", 1))
	all, err := from.Dump(ctx)
	must(t, err)
	if len(all.Documents) < 4 || len(all.Audit) < 4 {
		t.Fatalf("%d documents and %d lines are too few to see anything", len(all.Documents), len(all.Audit))
	}
	must(t, to.Fill(ctx, all))
	must(t, to.Fill(ctx, all)) // it was cut off, and is said again
	there, err := to.Dump(ctx)
	must(t, err)
	if d := cmp.Diff(plain(all), plain(there)); d != "" {
		t.Error(d)
	}
	must(t, from.Fill(ctx, there))
	back, err := from.Dump(ctx)
	must(t, err)
	if d := cmp.Diff(plain(all), plain(back)); d != "" {
		t.Errorf("and back: %s", d)
	}
}

// plain is what of a dump has to be the same elsewhere: not versions, which each state has its own.
func plain(d store.Dump) (out []string) {
	for _, one := range d.Documents {
		out = append(out, one.Kind+" "+one.ID+" "+string(one.Raw))
	}
	slices.Sort(out)
	for _, e := range d.Audit {
		e.Seq = 0
		line, _ := json.Marshal(e)
		out = append(out, string(line))
	}
	return out
}
