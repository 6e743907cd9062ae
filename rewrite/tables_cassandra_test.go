package rewrite

import (
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/datastax/go-cassandra-native-protocol/primitive"
	"github.com/gocql/gocql"

	"github.com/helenus-db/helenus/advisor/plan"
	"github.com/helenus-db/helenus/capture/cql"
	"github.com/helenus-db/helenus/internal/long"
	"github.com/helenus-db/helenus/rewrite/exec"
	"github.com/helenus-db/helenus/rewrite/lookup"
	"github.com/helenus-db/helenus/rewrite/migrate"
	"github.com/helenus-db/helenus/rewrite/twintest"
)

// TestCassandraRandomTables: over tables of random keys, columns, types and names, with random writes of every kind, one after the other and by
// several at once, answers are those of Cassandra, and the table is what it would be without Helenus. HELENUS_RANDOM_TABLES=7+40 has forty
// tables from seed 7 on; two are enough for each run.
func TestCassandraRandomTables(t *testing.T) {
	first, n := randomSeeds(t, 2)
	w := newTwin(t)
	for seed := first; seed < first+int64(n); seed++ {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			w.t, w.live.t = t, t
			s := &random{twin: w, Table: twintest.NewTable(fmt.Sprint("random_", seed), seed)}
			defer func() {
				if t.Failed() {
					t.Logf("%s; %s\n%s", s.Definition(), s.Index(), strings.Join(s.said, "\n"))
				}
			}()
			s.run(seed)
		})
	}
}

// randomSeeds are the first seed and how many, a few unless the environment says otherwise.
func randomSeeds(t *testing.T, few int) (first int64, n int) {
	t.Helper()
	first, n = 1, few
	if said := os.Getenv("HELENUS_RANDOM_TABLES"); said != "" {
		_, err := fmt.Sscanf(said, "%d+%d", &first, &n)
		must(t, err)
	} else if long.Tests() {
		n = 10 + 20*few
	}
	return first, n
}

// random is a twin with a table of its own.
type random struct {
	*twin
	*twintest.Table
	reads  []string
	mu     sync.Mutex
	said   []string // the writes so far, with their answers
	late   bool     // one was answered by a time-out: Cassandra may carry it out at any time after
	served int64
}

func (s *random) run(seed int64) {
	for _, keyspace := range []string{s.keyspace, s.keyspace + "_direct"} {
		s.do(strings.ReplaceAll(s.Definition(), "@", keyspace))
		if index := s.Index(); index != "" {
			s.do(strings.ReplaceAll(index, "@", keyspace))
		}
	}
	s.twin.read()
	for range 60 {
		s.write()
	}
	s.reads = s.Reads()
	s.approve()
	for range 3 {
		for range 40 {
			s.write()
		}
		s.compareAnswers()
	}
	alteration := s.Alteration()
	for _, keyspace := range []string{s.keyspace, s.keyspace + "_direct"} {
		s.do(strings.ReplaceAll(alteration, "@", keyspace))
	}
	s.twin.read()
	for range 40 {
		s.write()
	}
	s.compareAnswers()
	s.compareTables()
	for round := range int64(2) {
		s.writeTogether(seed*10 + round)
		s.compareAnswers()
	}
	if s.served += s.engine.active[s.Name].counts.served.Load(); s.served < 100 {
		s.t.Errorf("only %d reads were served", s.served)
	}
	must(s.t, s.engine.Rollback(s.t.Context(), s.Name, "ann"))
	for s.state().State != migrate.RolledBack {
		time.Sleep(10 * time.Millisecond)
	}
	must(s.t, s.engine.Drop(s.t.Context(), s.Name, "ann"))
}

// write says the same on both sides.
func (s *random) write() {
	s.t.Helper()
	st := s.Write()
	got, err := s.through.Do(st)
	must(s.t, err)
	want, err := s.direct.Do(st)
	must(s.t, err)
	s.said = append(s.said, fmt.Sprintf("%x %s", uint32(got.Code), st))
	if got.Code != want.Code || fmt.Sprint(got.Rows) != fmt.Sprint(want.Rows) {
		s.t.Errorf("%s: answered by %v %s %q, and without Helenus by %v %s %q", st, got.Code, got.Message, got.Rows, want.Code, want.Message, want.Rows)
	}
}

// writeTogether has several write at once, through Helenus alone.
func (s *random) writeTogether(seed int64) {
	var writers sync.WaitGroup
	for i := range int64(6) {
		own, c := s.As(seed*10+i), s.dial(s.server.Load().Addrs()[0], s.keyspace)
		writers.Go(func() {
			for range 25 {
				st := own.Write()
				got, err := c.Do(st)
				if err != nil {
					s.t.Error(err)
					return
				}
				s.mu.Lock()
				s.late = s.late || got.Code == primitive.ErrorCodeWriteTimeout
				s.said = append(s.said, fmt.Sprintf("writer %d: %x %s", i, uint32(got.Code), st))
				s.mu.Unlock()
			}
		})
	}
	writers.Wait()
}

func (s *random) approve() {
	s.t.Helper()
	s.approveBy(s.engine)
	s.serve()
}

func (s *random) approveBy(engine *Engine) {
	s.t.Helper()
	change := plan.Rewrite{Keyspace: s.keyspace, Base: s.Name, Column: s.LookedUp, Table: s.Name + "_looked_up",
		SchemaDigest: s.schema.Load().Table(s.keyspace, s.Name).Digest()}
	for _, text := range s.reads {
		print, normal, _, err := cql.FingerprintText(strings.ReplaceAll(text, "@", s.keyspace), "")
		must(s.t, err)
		change.Statements, change.Texts = append(change.Statements, print.String()), append(change.Texts, normal)
	}
	_, err := engine.Approve(s.t.Context(), s.Name, change, "ann")
	must(s.t, err)
}

func (s *random) state() migrate.Change {
	all := s.engine.Migrations()
	return all[slices.IndexFunc(all, func(m migrate.Change) bool { return m.ID == s.Name })]
}

// serve waits until the change serves, while the application reads.
func (s *random) serve() {
	s.t.Helper()
	for deadline := time.Now().Add(time.Minute); s.state().State != migrate.Serving; time.Sleep(10 * time.Millisecond) {
		m := s.state()
		late := time.Now().After(deadline)
		if late {
			s.readable()
		}
		if m.State == migrate.Failed || m.State == migrate.Suspended || late {
			s.t.Fatalf("%s: %s %+v %+v", m.State, m.Reason, m.Progress, m.Events)
		}
		for _, text := range s.reads {
			_, err := s.through.Do(s.Read(text))
			must(s.t, err)
		}
	}
}

// readable skips the rest where Cassandra can not read the table to its end, whoever asks: a change is verified then for as long as it can not. Which of the two ways fails differs.
func (s *random) readable() {
	s.t.Helper()
	all, err := s.beside.Do(twintest.Statement{Text: "SELECT * FROM @." + s.Name, Page: 1 << 20})
	must(s.t, err)
	if all.Code == primitive.ErrorCodeServerError {
		s.t.Skipf("Cassandra can not read its own table: %s", all.Message)
	}
	scan := exec.Query{Text: s.engine.active[s.Name].change.(*lookup.Fitted).ScanBase(), Consistency: gocql.One, PageSize: 1000,
		Values: [][]byte{exec.FromInt64(math.MinInt64), exec.FromInt64(math.MaxInt64)}}
	if err := s.engine.options.Session.Scan(s.t.Context(), scan, func([][]byte) error { return nil }); err != nil {
		s.t.Skipf("Cassandra can not read columns of its own table: %s", err)
	}
}

// compareAnswers holds answers against those of Cassandra, once the change serves.
func (s *random) compareAnswers() {
	s.t.Helper()
	s.serve()
	for _, text := range s.reads {
		for range 12 {
			s.compareAnswer(s.through, s.Read(text))
		}
	}
}

func (s *random) compareAnswer(through twintest.Doer, st twintest.Statement) {
	s.t.Helper()
	got, err := through.Do(st)
	must(s.t, err)
	want, err := s.beside.Do(st)
	must(s.t, err)
	if want.Code == primitive.ErrorCodeServerError || want.Code == primitive.ErrorCodeReadFailure { // a fault of its own: a scan that merges cells of a column just added or dropped (5.0.8, NullPointerException in Row$Merger)
		s.t.Logf("%s: Cassandra fails: %s", st, want.Message)
		return
	}
	if want.More && !got.More { // Cassandra says so of any full page, also of the last
		st.Page = 0
		want, err = s.beside.Do(st)
		must(s.t, err)
	}
	if got.Code != want.Code || got.More != want.More || !slices.Equal(got.Columns, want.Columns) || !exec.Equal(got.Rows, want.Rows) {
		again, err := through.Do(st)
		must(s.t, err)
		beside, err := s.beside.Do(st)
		must(s.t, err)
		s.t.Logf("again: %q, and without Helenus %q", again.Rows, beside.Rows)
		if s.late && exec.Equal(again.Rows, beside.Rows) {
			return
		}
		s.t.Fatalf("%s of %x, pages of %d: %v %s %q %q, and without Helenus %v %s %q %q", st, st.Values[0].Contents, st.Page, got.Code, got.Message, got.Columns, got.Rows, want.Code, want.Message, want.Columns, want.Rows)
	}
}

func (s *random) compareTables() {
	s.t.Helper()
	all := twintest.Statement{Text: "SELECT * FROM @." + s.Name, Page: 1 << 20}
	got, err := s.beside.Do(all)
	must(s.t, err)
	want, err := s.direct.Do(all)
	must(s.t, err)
	if !exec.Equal(got.Rows, want.Rows) {
		s.t.Errorf("the table has %d rows, and without Helenus %d, or they differ", len(got.Rows), len(want.Rows))
	}
}
