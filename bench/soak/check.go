package main

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/helenus-db/helenus/rewrite/twintest"
)

// check compares, now that nobody writes, the base with the twin, the look-ups with the base, and the answers with it.
func (w *world) check(ctx context.Context) error {
	w.say("comparing")
	time.Sleep(2 * time.Second) // what lives for a second is gone on both sides
	through, direct := twintest.NewSide(newPatient(w, w.direct, keyspace)), twintest.NewSide(newPatient(w, w.direct, twin))
	made, leftOut := map[string]bool{}, map[string]bool{}
	for _, a := range w.all {
		through.Join(a.through)
		direct.Join(a.direct)
		for room := range a.made {
			made[room] = a.made[room]
		}
		for room := range a.leftOut {
			leftOut[room] = true
		}
		a.app.close()
		a.twin.close()
	}
	w.counts.leftOut.Store(int64(len(leftOut)))
	found, cells, err := twintest.Compare(through, direct, func(room string) bool { return made[room] })
	if err != nil {
		return err
	}
	w.counts.cells.Store(int64(cells))
	for _, d := range found {
		if !leftOut[d.Room] {
			w.counts.differences.Add(1)
			w.note("%v", d)
		}
	}
	if err := w.await(ctx, "serving", 2*time.Minute); err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		w.note("%v", err)
	}
	for _, id := range w.ids {
		if err := w.ask(ctx, http.MethodPost, "/api/v1/migrations/"+id+"/verify", nil); err != nil {
			w.counts.unverified.Add(1)
			w.note("verify %s: %v", id, err)
		}
	}
	serves := map[string]bool{}
	list, err := w.changes(ctx)
	if err != nil {
		return err
	}
	for _, c := range list {
		serves[w.tables[c.ID]] = c.State == "serving"
	}
	app := newPatient(w, w.through, keyspace)
	defer app.close()
	for _, l := range twintest.LookUps {
		table := w.table(l)
		if err := w.checkEntries(through, l, table); err != nil {
			return err
		}
		if err := w.checkAnswers(ctx, app, through, l, serves[table]); err != nil {
			return err
		}
	}
	w.sample(ctx)
	return nil
}

// table is the table of a look-up.
func (w *world) table(l twintest.LookUp) string {
	for _, name := range w.tables {
		if strings.Contains(name, l.Table) && strings.Contains(name, l.Column) {
			return name
		}
	}
	return ""
}

// whole reads all rows of a text, which come in the order in which a filtering read of some of them has them.
func whole(d twintest.Doer, text string) (twintest.Answer, error) {
	a, err := d.Do(twintest.Statement{Text: text, Page: 1 << 22})
	if err == nil && a.Failed() {
		err = fmt.Errorf("%s: %s", text, a.Message)
	}
	return a, err
}

// mostAsked is how many values of a column are asked for at the end, fewAsked how many if it does not serve, so that the
// answers are Cassandra's own, each by reading the whole table.
const (
	mostAsked = 4000
	fewAsked  = 50
)

// checkAnswers asks for values through Helenus, those written during the soak first, and compares with a scan of the base.
func (w *world) checkAnswers(ctx context.Context, app, base twintest.Doer, l twintest.LookUp, serves bool) error {
	scan, _, _ := strings.Cut(l.Text, " WHERE ")
	all, err := whole(base, scan)
	if err != nil {
		return err
	}
	column := slices.Index(all.Columns, l.Column)
	want := map[string][][][]byte{}
	var values []string
	for _, r := range all.Rows {
		if r[column] == nil || len(r[column]) > 60_000 {
			continue
		}
		v := string(r[column])
		if want[v] == nil {
			values = append(values, v)
		}
		want[v] = append(want[v], r)
	}
	slices.SortStableFunc(values, func(a, b string) int { return seeded(a) - seeded(b) })
	most := fewAsked
	if serves {
		most = mostAsked
	}
	for _, v := range values[:min(len(values), most)] {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		got, err := app.Do(twintest.Statement{Way: twintest.Execute, Text: l.Text, Values: []twintest.Value{twintest.Text(v)}})
		if err != nil {
			return err
		}
		w.counts.asked.Add(1)
		if got.Failed() || fmt.Sprint(got.Rows) != fmt.Sprint(want[v]) {
			w.counts.askedWrong.Add(1)
			w.note("%s for %q: %d rows (%v %s), of the base %d", l.Text, v, len(got.Rows), got.Code, got.Message, len(want[v]))
		}
	}
	return nil
}

// seeded puts what was there from the start behind what was written.
func seeded(v string) int {
	if strings.HasPrefix(v, "seed ") || len(v) == 16 && v[0] == 0 {
		return 1
	}
	return 0
}

// checkEntries reads base and look-up whole: each row needs its entry.
func (w *world) checkEntries(d twintest.Doer, l twintest.LookUp, table string) error {
	key := "room, day, n"
	if l.Table == "fleeting" {
		key = "room, n"
	}
	base, err := whole(d, "SELECT "+l.Column+", "+key+" FROM @."+l.Table)
	if err != nil {
		return err
	}
	entries, err := whole(d, "SELECT "+l.Column+", "+key+" FROM "+table)
	if err != nil {
		return err
	}
	have := map[string]bool{}
	for _, r := range entries.Rows {
		have[fmt.Sprintf("%q", r)] = true
	}
	for _, r := range base.Rows {
		if len(r[0]) == 0 || len(r[0]) > 65535 {
			continue
		}
		one := fmt.Sprintf("%q", r)
		if !have[one] {
			w.counts.missing.Add(1)
			w.note("%s has no entry of %.200s", table, one)
		}
		delete(have, one)
	}
	w.counts.orphans.Add(int64(len(have)))
	return nil
}
