package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/helenus-db/helenus/capture"
	"github.com/helenus-db/helenus/capture/report"
	"github.com/helenus-db/helenus/internal/cassandra/cassandratest"
)

// TestSkew: of several answers the least uncertain tells, and clocks that agree as far as can be told are left alone.
func TestSkew(t *testing.T) {
	const off = 10 * time.Minute
	for name, c := range map[string]struct {
		offsets, uncertain []time.Duration
		want               time.Duration
	}{
		"apart":     {[]time.Duration{off + 300*time.Millisecond, off, off - time.Second}, []time.Duration{400 * time.Millisecond, time.Millisecond, 2 * time.Second}, off},
		"behind":    {[]time.Duration{-off}, []time.Duration{time.Millisecond}, -off},
		"agreed":    {[]time.Duration{time.Millisecond, 40 * time.Millisecond}, []time.Duration{200 * time.Millisecond, 300 * time.Millisecond}, 0},
		"no answer": {nil, nil, 0},
	} {
		asked := 0
		k := &skew{clock: func(context.Context) (time.Time, time.Duration, error) {
			i := asked
			asked++
			if i >= len(c.offsets) {
				return time.Time{}, 0, errors.New("no node answers")
			}
			return time.Now().Add(c.offsets[i]), c.uncertain[i], nil
		}}
		if got := k.now(); (got - c.want).Abs() > 100*time.Millisecond {
			t.Errorf("%s: %v, not %v", name, got, c.want)
		}
		before := asked
		if k.now(); asked != before {
			t.Errorf("%s: the clock is asked again at once", name)
		}
	}
}

// importHour puts an hour that another process has counted into a history.
func importHour(t *testing.T, dir string, hour time.Time) {
	t.Helper()
	window, err := json.Marshal(&capture.Snapshot{From: hour, To: hour.Add(time.Hour), Watched: time.Hour, Other: capture.Statement{Count: 7}})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "history.jsonl")
	text := fmt.Sprintf(`{"format":"helenus-history","version":1}
{"level":1,"origin":"elsewhere","at":%q,"snapshot":%s}
{"windows":1}
`, hour.Format(time.RFC3339), window)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err, code := executed(t, "history", "import", file, "--state-dir", dir); code != 0 {
		t.Fatal(err)
	}
}

// TestMembersLearnTogether: what is said through two members is counted at either as if it was said through one, also when one of them is gone; hours of the history
// that one of them knows the other knows, too.
func TestMembersLearnTogether(t *testing.T) {
	address := cassandratest.ContactPoints(t)[0]
	s := newShop(t, session(t, address))
	another := s.members(address, "--advise-every", "1s")
	all := []*process{another(), another()}
	hour := time.Now().UTC().Add(-2 * time.Hour).Truncate(time.Hour)
	importHour(t, all[0].state, hour)
	for i, p := range all {
		p.start()
		p.awaitReady()
		if i == 0 {
			await(t, "a member has left its hours", func() bool {
				n := 0
				err := s.direct.Query(`SELECT COUNT(*) FROM ` + strings.Replace(s.keyspace, "shop", "state", 1) + `.snapshots WHERE member = 'hours'`).Scan(&n)
				return err == nil && n == 1
			})
		}
	}
	await(t, "the other knows them", func() bool {
		text, _, code := executed(t, "history", "export", "-", "--state-dir", all[1].state)
		return code == 0 && strings.Contains(text, `"level":1,"origin":"elsewhere","at":"`+hour.Format(time.RFC3339)+`"`)
	})
	const each = 40
	for _, p := range all {
		s.ask(session(t, p.listen), each)
	}
	counted := func(p *process) (n uint64) {
		var r report.Statements
		if err := p.client().Get(context.Background(), "statements?limit=1000", &r); err != nil {
			return 0
		}
		for i := range r.Statements {
			if text := r.Statements[i].Text; strings.HasPrefix(text, "SELECT ") && strings.Contains(text, s.table()) {
				n += r.Statements[i].Count
			}
		}
		return n
	}
	for _, p := range all {
		await(t, "a member knows what was said through both", func() bool { return counted(p) >= 2*each })
	}
	before := counted(all[0])
	all[1].stop()
	await(t, "the other leads", func() bool { return all[0].fleet().Role == "leader" })
	time.Sleep(3 * time.Second) // a few exchanges
	if n := counted(all[0]); n != before {
		t.Errorf("when a member had gone %d executions were known, before %d", n, before)
	}
}
