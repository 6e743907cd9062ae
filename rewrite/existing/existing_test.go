package existing

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/helenus-db/helenus/advisor/plan"
	"github.com/helenus-db/helenus/capture"
	"github.com/helenus-db/helenus/capture/burst"
	"github.com/helenus-db/helenus/capture/cql"
	"github.com/helenus-db/helenus/capture/schema"
	"github.com/helenus-db/helenus/proxy"
	"github.com/helenus-db/helenus/rewrite/condition"
	"github.com/helenus-db/helenus/rewrite/exec"
	"github.com/helenus-db/helenus/rewrite/exec/exectest"
	"github.com/helenus-db/helenus/rewrite/kind"
	"github.com/helenus-db/helenus/rewrite/lookup"
	"github.com/helenus-db/helenus/rewrite/lookup/verify"
)

func column(name string, kind schema.ColumnKind, position int, cqlType string) schema.Column {
	return schema.Column{Name: name, Kind: kind, Position: position, Type: cqlType}
}

// lines are order lines by order; byPart has them by part, under other names, with a column of its own in its key if odd.
func lines() *schema.Table {
	return &schema.Table{Keyspace: "shop", Name: "lines", ID: "1", Columns: []schema.Column{
		column("order_id", schema.PartitionKey, 0, "text"), column("line", schema.Clustering, 0, "int"),
		column("part", schema.Regular, -1, "text"), column("n", schema.Regular, -1, "int")}}
}

func byPart(odd bool) *schema.Table {
	t := &schema.Table{Keyspace: "shop", Name: "part_usage", ID: "2", Columns: []schema.Column{column("part_no", schema.PartitionKey, 0, "text")}}
	if odd {
		t.Columns = append(t.Columns, column("at", schema.Clustering, 0, "int"))
	}
	n := len(t.Columns) - 1
	return &schema.Table{Keyspace: t.Keyspace, Name: t.Name, ID: t.ID, Columns: append(t.Columns,
		column("ordr", schema.Clustering, n, "text"), column("pos", schema.Clustering, n+1, "int"))}
}

var held = map[string]string{"part_no": "part", "ordr": "order_id", "pos": "line"}

func own(t testing.TB, as *schema.Table, columns map[string]string) json.RawMessage {
	t.Helper()
	raw, err := json.Marshal(plan.Copied{As: *as, Columns: columns, Coverage: 1})
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

const byPartText = "SELECT order_id, line, n FROM shop.lines WHERE part = ? LIMIT ? ALLOW FILTERING"

func change(t testing.TB, base, as *schema.Table, texts ...string) plan.Rewrite {
	t.Helper()
	c := plan.Rewrite{Kind: plan.Existing, Keyspace: base.Keyspace, Base: base.Name, Column: "part", SchemaDigest: base.Digest(), Own: own(t, as, held)}
	for _, text := range texts {
		print, normal, _, err := cql.FingerprintText(text, "")
		if err != nil {
			t.Fatal(err)
		}
		c.Statements, c.Texts = append(c.Statements, print.String()), append(c.Texts, normal)
	}
	return c
}

// opens fits a change over a database in memory.
func opens(t testing.TB, db *exectest.Memory, c plan.Rewrite, base *schema.Table) *fitted {
	t.Helper()
	run := Kind{lookup.Settings{Entries: 100, Verify: verify.Settings{Ranges: 2, Workers: 1, Collect: 3}}}.Open(kind.Parts{Session: db, Schema: db.Schema})
	f, refusal := run.Fit(c, base)
	if refusal != nil {
		t.Fatal(refusal)
	}
	f.(*fitted).runner.apart = time.Millisecond
	return f.(*fitted)
}

func reads(t testing.TB, f *fitted, text string) *read {
	t.Helper()
	st, err := cql.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	r, refusal := f.Read(st, "")
	if refusal != nil {
		t.Fatal(refusal)
	}
	return r.(*read)
}

// Whatever the application's table lacks, has twice or has too much: an answer has no row that the original's has not, in its order; and one that lacks a
// row does so because of a row that verification finds missing. Answers of a table that lacks nothing are the original's.
func TestAnswersLackWhatVerificationFinds(t *testing.T) {
	differed := 0
	rapid.Check(t, func(r *rapid.T) {
		ctx, odd := t.Context(), rapid.Bool().Draw(r, "odd")
		db, base, as := exectest.New(), lines(), byPart(odd)
		db.Add(*base)
		db.Add(*as)
		lacks := map[string]bool{} // parts
		at := int64(0)
		part := rapid.SampledFrom([]string{"a", "b", "c"})
		for range rapid.IntRange(0, 25).Draw(r, "writes") {
			at++
			order, line := []byte(fmt.Sprint("o", rapid.IntRange(0, 4).Draw(r, "order"))), exec.FromInt32(int32(rapid.IntRange(-2, 2).Draw(r, "line")))
			v := []byte(part.Draw(r, "part"))
			if err := db.Write("INSERT INTO shop.lines (order_id, line, part, n) VALUES (?, ?, ?, ?)", [][]byte{order, line, v, exec.FromInt32(int32(at))}, at); err != nil {
				r.Fatal(err)
			}
			copies := rapid.SampledFrom([]int{0, 1, 1, 1, 2}).Draw(r, "copies") // former values stay: they are what is too much
			for n := range copies {
				text, values := "INSERT INTO shop.part_usage (part_no, ordr, pos) VALUES (?, ?, ?)", [][]byte{v, order, line}
				if odd {
					text, values = "INSERT INTO shop.part_usage (part_no, at, ordr, pos) VALUES (?, ?, ?, ?)", [][]byte{v, exec.FromInt32(int32(n)), order, line}
				}
				if err := db.Write(text, values, at); err != nil {
					r.Fatal(err)
				}
			}
		}
		f := opens(t, db, change(t, base, as, byPartText), base)
		found, err := f.Pass(ctx, func(context.Context) error { return nil }, func(int, int) {})
		if err != nil {
			r.Fatal(err)
		}
		for _, s := range found.Sample {
			of, _, _ := strings.Cut(s, ", ")
			lacks[of] = true
		}
		if (found.Missing > 0) != (len(lacks) > 0) {
			r.Fatalf("%+v", found)
		}
		one := reads(t, f, byPartText)
		for _, v := range []string{"a", "b", "c"} {
			q := kind.Request{Values: kind.Values{Values: []proxy.Value{{Bytes: []byte(v)}, {Bytes: exec.FromInt32(int32(rapid.IntRange(1, 9).Draw(r, "limit")))}}}}
			want, err := one.Original(ctx, q)
			if err != nil {
				r.Fatal(err)
			}
			got, err := one.Answer(ctx, q)
			if odd && errors.Is(err, kind.ErrUnsuited) {
				continue // two rows of one order, whose order that table does not have
			}
			if err != nil {
				r.Fatal(err)
			}
			scanned, err := one.Scan(ctx, []kind.Request{q}, exec.Ring(3), 1)
			if err != nil || !exec.Equal(scanned[0], want) {
				r.Fatalf("scanned %q, %v, not %q", scanned, err, want)
			}
			if exec.Equal(got, want) {
				continue
			}
			differed++
			if !lacks[fmt.Sprintf("token(part) = %d", exec.TokenOf([]byte(v)))] {
				r.Fatalf("part %s: %q, not %q, and verification found %+v", v, got, want, found)
			}
			all := q
			all.Values.Values = slices.Clone(q.Values.Values)
			all.Values.Values[1].Bytes = exec.FromInt32(1000)
			whole, err := one.Original(ctx, all)
			if err != nil {
				r.Fatal(err)
			}
			for _, row := range got { // each further along in the original's
				i := slices.IndexFunc(whole, func(w [][]byte) bool { return exec.Equal(proxy.Rows{w}, proxy.Rows{row}) })
				if i < 0 {
					r.Fatalf("part %s: %q is not among %q", v, row, whole)
				}
				whole = whole[i+1:]
			}
		}
	})
	if differed == 0 {
		t.Error("no answer lacked a row: nothing was tried")
	}
}

// A row that comes a moment after the base's is not missing.
func TestPassWaitsForTheOtherWrite(t *testing.T) {
	db, base, as := exectest.New(), lines(), byPart(false)
	db.Add(*base)
	db.Add(*as)
	if err := db.Write("INSERT INTO shop.lines (order_id, line, part) VALUES ('o', 1, 'a')", nil, 1); err != nil {
		t.Fatal(err)
	}
	f := opens(t, db, change(t, base, as, byPartText), base)
	asked := 0
	db.Before.Set(func(_ context.Context, q exec.Query) error {
		if q.Text == f.Find() {
			if asked++; asked == 2 {
				return db.Write("INSERT INTO shop.part_usage (part_no, ordr, pos) VALUES ('a', 'o', 1)", nil, 2)
			}
		}
		return nil
	})
	began := time.Now()
	found, err := f.Pass(t.Context(), func(context.Context) error { return nil }, func(int, int) {})
	if err != nil || found.Missing != 0 || found.Rows != 1 || asked != 2 {
		t.Errorf("%+v, %v after %d looks and %v", found, err, asked, time.Since(began))
	}
}

// TestJudge: each write that needs a row in the application's table is named, with how it was seen to be accompanied, and refuses until a person overrules it.
func TestJudge(t *testing.T) {
	base, as := lines(), byPart(false)
	c := change(t, base, as, byPartText, "SELECT JSON * FROM shop.lines WHERE part = ? ALLOW FILTERING")
	seen := &capture.Snapshot{}
	say := func(text string) string {
		print, normal, st, err := cql.FingerprintText(text, "")
		if err != nil {
			t.Fatal(err)
		}
		seen.Statements = append(seen.Statements, capture.Statement{Fingerprint: print.String(), Text: normal, Keyspace: "shop", Kind: st.Kind().String(), Count: 10})
		return print.String()
	}
	put := say("INSERT INTO shop.lines (order_id, line, part, n) VALUES (?, ?, ?, ?)")
	move := say("UPDATE shop.lines SET part = ? WHERE order_id = ? AND line = ?")
	say("UPDATE shop.lines SET n = ? WHERE order_id = ? AND line = ?")
	say("DELETE FROM shop.lines WHERE order_id = ?")
	too := say("INSERT INTO shop.part_usage (part_no, ordr, pos) VALUES (?, ?, ?)")
	seen.Bursts = []burst.Pair{{From: put, To: too, Writes: 100, Accompanied: 99, Batched: 99}, {From: too, To: put, Writes: 99, Accompanied: 99, Batched: 99}}
	tables := &schema.Schema{Keyspaces: []schema.Keyspace{{Name: "shop", Tables: []schema.Table{*base, *as}}}}
	causes := map[string]string{}
	answered := map[string]bool{}
	for _, v := range (Kind{}).Judge(c, seen, tables) {
		switch {
		case v.Cause != "":
			if v.Condition != condition.Copies.ID || !v.Overrulable() {
				t.Errorf("%+v", v)
			}
			causes[v.Cause] = v.Reason
		case v.Statement != "":
			answered[v.Statement] = !v.Refused
		case v.Refused:
			t.Errorf("%+v", v)
		}
	}
	if len(causes) != 2 || !strings.Contains(causes[put], "99 of 100 times") || !strings.Contains(causes[put], "always in one batch") || !strings.Contains(causes[move], "not seen to go together") {
		t.Errorf("%q", causes)
	}
	if len(answered) != 2 || !answered[c.Statements[0]] || answered[c.Statements[1]] {
		t.Errorf("%v", answered)
	}
	if list := (Kind{}).Judge(c, &capture.Snapshot{}, tables); !list[len(list)-1].Overrulable() || list[len(list)-1].Cause != c.Statements[0] {
		t.Errorf("no write was seen: %+v", list)
	}
}

// What the application's table must be, as it is now.
func TestFit(t *testing.T) {
	for _, x := range []struct {
		name  string
		alter func(c *plan.Rewrite, base, as *schema.Table)
		want  condition.ID
	}{
		{"as it was", func(*plan.Rewrite, *schema.Table, *schema.Table) {}, ""},
		{"one more column", func(_ *plan.Rewrite, _, as *schema.Table) {
			as.Columns = append(as.Columns, column("x", schema.Regular, -1, "int"))
		}, ""},
		{"made again", func(_ *plan.Rewrite, _, as *schema.Table) { as.ID = "3" }, condition.Schema.ID},
		{"gone", func(_ *plan.Rewrite, _, as *schema.Table) { as.Name = "others" }, condition.Schema.ID},
		{"another type", func(_ *plan.Rewrite, _, as *schema.Table) { as.Columns[2].Type = "bigint" }, condition.Schema.ID},
		{"masked", func(_ *plan.Rewrite, _, as *schema.Table) { as.Columns[1].Masked = true }, condition.Masks.ID},
		{"the base is masked", func(_ *plan.Rewrite, base, _ *schema.Table) { base.Columns[2].Masked = true }, condition.Masks.ID},
		{"a part of the key is not held", func(c *plan.Rewrite, _, as *schema.Table) {
			c.Own = own(t, as, map[string]string{"part_no": "part", "ordr": "order_id"})
		}, condition.Columns.ID},
		{"keyed by what the base has not", func(c *plan.Rewrite, _, as *schema.Table) {
			c.Own = own(t, as, map[string]string{"ordr": "order_id", "pos": "line"})
		}, condition.Columns.ID},
		{"rows expire", func(_ *plan.Rewrite, _, as *schema.Table) { as.DefaultTTL = 60 }, condition.Copies.ID},
		{"equal values of other bytes", func(_ *plan.Rewrite, base, as *schema.Table) {
			base.Columns[2].Type, as.Columns[0].Type = "decimal", "decimal"
		}, condition.Types.ID},
	} {
		base, as := lines(), byPart(false)
		c := change(t, base, as, byPartText)
		x.alter(&c, base, as)
		db := exectest.New()
		db.Add(*base)
		db.Add(*as)
		_, refusal := Kind{}.Open(kind.Parts{Session: db, Schema: db.Schema}).Fit(c, base)
		if refusal != nil {
			if refusal.Condition != x.want {
				t.Errorf("%s: %v, want %q", x.name, refusal, x.want)
			}
		} else if x.want != "" {
			t.Errorf("%s: it fits, want %s", x.name, x.want)
		}
	}
}

// A statement that asks by a part of the primary key, which a filter can not be combined with elsewhere, is answered if the table is keyed by it.
func TestAskedByPartOfTheKey(t *testing.T) {
	base := &schema.Table{Keyspace: "shop", Name: "members", ID: "1", Columns: []schema.Column{column("guild", schema.PartitionKey, 0, "text"),
		column("member", schema.Clustering, 0, "text"), column("rank", schema.Regular, -1, "int")}}
	as := &schema.Table{Keyspace: "shop", Name: "guilds_of", ID: "2", Columns: []schema.Column{column("who", schema.PartitionKey, 0, "text"), column("guild", schema.Clustering, 0, "text")}}
	db := exectest.New()
	db.Add(*base)
	db.Add(*as)
	for i, x := range [][2]string{{"g1", "ann"}, {"g2", "ann"}, {"g1", "bob"}, {"g3", "ann"}} {
		values := [][]byte{[]byte(x[0]), []byte(x[1])}
		if err := errors.Join(db.Write("INSERT INTO shop.members (guild, member, rank) VALUES (?, ?, 1)", values, int64(i+1)),
			db.Write("INSERT INTO shop.guilds_of (guild, who) VALUES (?, ?)", values, int64(i+1))); err != nil {
			t.Fatal(err)
		}
	}
	const text = "SELECT guild, rank FROM shop.members WHERE member = ? AND rank > ? ALLOW FILTERING"
	c := change(t, base, as, text)
	c.Own = own(t, as, map[string]string{"who": "member", "guild": "guild"})
	f := opens(t, db, c, base)
	for _, rank := range []int32{0, 1} {
		q := kind.Request{Values: kind.Values{Values: []proxy.Value{{Bytes: []byte("ann")}, {Bytes: exec.FromInt32(rank)}}}}
		one := reads(t, f, text)
		want, err := one.Original(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		got, err := one.Answer(t.Context(), q)
		if err != nil || !exec.Equal(got, want) || len(want) != int(3-3*rank) {
			t.Errorf("rank > %d: %q, %v, want %q", rank, got, err, want)
		}
	}
}
