package feed

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"sort"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/helenus-db/helenus/capture/trace"
	"github.com/helenus-db/helenus/proxy"
)

// The second simulation: an application with the habits that the shapes of docs/design/mapping.md 2.5 D3 stand for, each on tables of its own,
// and next to each one that looks like it and is none. All threads are of one process.

const (
	tBoolean = 0x0004
	tDouble  = 0x0007
)

// habits is that application: said by page, as site.
type habits struct {
	*site
	names map[int]bool // of accounts
	n     int
	blind bool // whether a row is there has nothing to do with what is said next
}

func newHabits(ids uint16, seed uint64) *habits {
	h := &habits{site: &site{ids: ids, r: rand.New(rand.NewPCG(seed, 9)), statements: map[string]*trace.Statement{}, client: &proxy.Client{ID: 1, Address: "10.0.0.8:4711"}}, names: map[int]bool{}}
	k := func(t, n string) proxy.Column { return col(t, n, true, ids) }
	typed := func(t, n string, code uint16) proxy.Column {
		c := k(t, n)
		c.Type.Code = code
		return c
	}
	read := func(table, name string, key []string, binds, cells []proxy.Column) *trace.Statement {
		st := &trace.Statement{Fingerprint: name, Keyspace: "auction", Table: table, Key: key, Variables: binds, Results: cells}
		h.statements[name] = st
		return st
	}
	write := func(table, name string, key, sets []string, binds ...proxy.Column) *trace.Statement {
		st := &trace.Statement{Fingerprint: name, Keyspace: "auction", Table: table, Write: true, Key: key, Sets: sets, Variables: binds}
		h.statements[name] = st
		return st
	}
	key := func(t string) []proxy.Column { return []proxy.Column{k(t, "id")} }
	id := []string{"id"}
	for _, t := range []string{"account", "article", "always"} {
		read(t, t, id, key(t), []proxy.Column{typed(t, "title", tText)})
	}
	write("account", "insert_account", nil, []string{"id", "title"}, k("account", "id"), typed("account", "title", tText))
	read("remark", "remarks", id, key("remark"), []proxy.Column{typed("remark", "text", tText)})
	read("friend", "friends", id, key("friend"), []proxy.Column{typed("friend", "text", tText)})
	for _, t := range []string{"wallet", "seat", "hit", "touch", "ratio"} {
		code := uint16(tInt)
		if t == "ratio" {
			code = tDouble
		}
		read(t, t, id, key(t), []proxy.Column{typed(t, "value", code)})
		st := write(t, "update_"+t, id, []string{"value"}, typed(t, "value", code), k(t, "id"))
		switch t {
		case "seat":
			st.Conditional = true
		case "hit":
			st.Sets = nil // value = value + ?
		}
	}
	read("profile", "profile", id, key("profile"), []proxy.Column{k("profile", "id"), typed("profile", "age", tInt)})
	write("profile", "insert_profile", nil, []string{"id", "age"}, k("profile", "id"), typed("profile", "age", tInt))
	read("log", "log", id, key("log"), []proxy.Column{k("log", "at"), typed("log", "text", tText)})
	read("log", "log_last", id, key("log"), []proxy.Column{k("log", "at"), typed("log", "text", tText)}).Limited = true
	write("log", "insert_log", nil, []string{"id", "at", "text"}, k("log", "id"), k("log", "at"), typed("log", "text", tText))
	read("mail", "mail_by_address", []string{"address"}, []proxy.Column{k("mail", "address")}, []proxy.Column{k("mail", "id"), typed("mail", "state", tText)})
	write("mail", "update_mail", id, []string{"state"}, typed("mail", "state", tText), k("mail", "id"))
	for _, t := range []string{"by_state", "by_price", "by_flag", "head", "random", "whole"} {
		read(t, t, id, key(t), []proxy.Column{k(t, "part"), typed(t, "state", tText), typed(t, "price", tInt), typed(t, "flag", tBoolean), typed(t, "note", tText)})
		read("part_"+t, "part_"+t, id, key("part_"+t), []proxy.Column{typed("part_"+t, "name", tText)})
	}
	return h
}

func (h *habits) key(kind string, n int) []byte { return h.id(kind, n) }
func number(n int) []byte                       { return binary.BigEndian.AppendUint32(nil, uint32(n)) }

const pause = 100_000

// page is one request of the application.
func (h *habits) page(t int64) int64 {
	h.n++
	i := h.zipf(2000)
	switch kind := h.r.IntN(14); kind {
	case 0: // a new account, if the name is free
		i = h.r.IntN(4000)
		taken := h.names[i]
		var rows [][][]byte
		if taken && !h.blind || h.blind && h.r.IntN(2) == 0 {
			rows = [][][]byte{{text8(i)}}
		}
		t = h.say(t, "account", rows, h.key("account", i)) + pause
		if !taken {
			h.names[i] = true
			t = h.say(t, "insert_account", nil, h.key("account", i), text8(i))
		}
	case 1: // an article with what was remarked on it, if it is there; every third is not
		there := derived(i, 0, 20, 3) > 1
		var rows [][][]byte
		if there && !h.blind || h.blind && h.r.IntN(2) == 0 {
			rows = [][][]byte{{text8(i)}}
		}
		t = h.say(t, "article", rows, h.key("article", i)) + pause
		if there {
			t = h.say(t, "remarks", [][][]byte{{text8(1)}, {text8(2)}}, h.key("article", i))
		}
	case 2: // a row that is always there says nothing of what would be if it were not
		t = h.say(t, "always", [][][]byte{{text8(i)}}, h.key("friend", i)) + pause
		t = h.say(t, "friends", [][][]byte{{text8(1)}}, h.key("friend", i))
	case 3, 4, 5, 6, 7: // read, reckon, write: a number, one guarded by IF, a counter, one that stays as it was, and numbers that are not compared
		table := []string{"wallet", "seat", "hit", "touch", "ratio"}[kind-3]
		was := h.r.IntN(1_000_000)
		next := was + 1 + h.r.IntN(100)
		if table == "touch" {
			next = was
		}
		before, after := number(was), number(next)
		if table == "ratio" {
			before, after = append(number(was), 0, 0, 0, 0), append(number(next), 0, 0, 0, 0)
		}
		t = h.say(t, table, [][][]byte{{before}}, h.key(table, i)) + pause
		t = h.say(t, "update_"+table, nil, after, h.key(table, i))
	case 8: // an INSERT over the row that was read; it is there or not
		var rows [][][]byte
		if h.r.IntN(3) > 0 {
			rows = [][][]byte{{h.key("profile", i), number(h.r.IntN(60))}}
		}
		t = h.say(t, "profile", rows, h.key("profile", i)) + pause
		t = h.say(t, "insert_profile", nil, h.key("profile", i), number(60+h.r.IntN(60)))
	case 9: // another row of the partition that was read, whole or its last row
		name := []string{"log", "log_last"}[h.r.IntN(2)]
		rows := [][][]byte{{h.key("at", h.n), text8(1)}, {h.key("at", h.n+1), text8(2)}}
		if name == "log_last" {
			rows = rows[:1]
		}
		t = h.say(t, name, rows, h.key("log", i)) + pause
		t = h.say(t, "insert_log", nil, h.key("log", i), h.key("at", 100_000+h.n), text8(3))
	case 10: // found by one column, changed by its key
		t = h.say(t, "mail_by_address", [][][]byte{{h.key("mail", derived(i, 0, 30, 3000)), text8(h.n)}}, h.key("address", i)) + pause
		t = h.say(t, "update_mail", nil, text8(-h.n), h.key("mail", derived(i, 0, 30, 3000)))
	default:
		t = h.parts(t, i)
	}
	return t
}

// parts reads a list, then some of its parts one by one.
func (h *habits) parts(t int64, i int) int64 {
	name := []string{"by_state", "by_price", "by_flag", "head", "random", "whole"}[h.r.IntN(6)]
	var rows [][][]byte
	var follow [][]byte
	for j := range 6 {
		part := h.key("part", 1+h.r.IntN(3000))
		state, price, flag := h.r.IntN(4), h.r.IntN(1000), byte(h.r.IntN(2))
		note := []byte(nil)
		if h.r.IntN(2) == 0 {
			note = text8(h.r.IntN(3))
		}
		rows = append(rows, [][]byte{part, text8(state), number(price), {flag}, note})
		if map[string]bool{"by_state": state == 2, "by_price": price >= 600, "by_flag": flag == 1, "head": j < 3, "random": h.r.IntN(2) == 0, "whole": true}[name] {
			follow = append(follow, part)
		}
	}
	t = h.say(t, name, rows, h.key("list", i)) + pause
	for n, part := range follow {
		t = h.say(t, "part_"+name, [][][]byte{{text8(1)}}, part) + pause
		if name == "whole" && n == 0 { // asked for again, though it was fetched a moment ago
			t = h.say(t, "part_"+name, [][][]byte{{text8(1)}}, part) + pause
		}
	}
	return t
}

func (h *habits) run(threads, statements int, think time.Duration) []said {
	at := make([]int64, threads)
	for i := range at {
		at[i] = int64(h.r.Float64() * float64(think+1e6))
	}
	for len(h.out) < statements {
		next := 0
		for i := range at {
			if at[i] < at[next] {
				next = i
			}
		}
		at[next] = h.page(at[next]) + int64(h.r.ExpFloat64()*float64(think)) + 1
	}
	sort.SliceStable(h.out, func(i, j int) bool { return h.out[i].x.End < h.out[j].x.End })
	return h.out
}

// threadsOf takes fewer numbers of threads for UUIDs, which are easier than dense integers, if the tests are to be quick.
func threadsOf(ids uint16, list ...int) []int {
	if ids == tUUID && size(1) == 1 {
		return list[1:2]
	}
	return list
}

func named(f *Feed) string { return f.From.Fingerprint + " -> " + f.To.Fingerprint }

// TestEchoes: existence checks and read-modify-writes are found, and nothing that looks like them: a row that is always there, a counter,
// a value that stays as it was, another row of the partition that was read. Two tables that are always read one after the other are siblings.
func TestEchoes(t *testing.T) {
	want := map[string]string{
		"account -> insert_account": "check, no row, race", "article -> remarks": "check, row", "wallet -> update_wallet": "read-modify-write of value, race",
		"seat -> update_seat": "read-modify-write of value", "ratio -> update_ratio": "read-modify-write of value, race", "profile -> insert_profile": "read-modify-write of age, race",
		"always -> friends": "sibling",
	}
	for _, ids := range []uint16{tInt, tUUID} {
		for _, threads := range threadsOf(ids, 1, 8, 64) {
			m := mine(newHabits(ids, uint64(threads)).run(threads, size(20_000), 20*time.Millisecond), nil)
			feeds, echoes := m.Find()
			got := map[string]string{}
			for i := range echoes {
				got[named(&echoes[i])] = said2(&echoes[i])
				if f := &echoes[i]; !f.From.Bound || f.From.Column != "id" || f.To.Column != "id" || f.LagP50 <= 0 || f.Hits == 0 || f.Confidence < 0.7 {
					t.Errorf("%+v", f)
				}
			}
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("ids %#x, %d threads: %s", ids, threads, d)
			}
			for i := range feeds {
				f := &feeds[i]
				if changes := f.Change != nil; changes != (named(f) == "mail_by_address -> update_mail") || changes && (!f.Race || f.Change.Changed < 0.9 || !slices.Equal(f.Change.Columns, []string{"state"})) {
					t.Errorf("ids %#x, %d threads: %s: %+v", ids, threads, named(f), f.Change)
				}
			}
		}
	}
}

// said2 puts an echo into words.
func said2(f *Feed) string {
	out := string(f.Shape)
	if f.Outcome != nil {
		out += ", " + f.Outcome.When
	}
	if f.Change != nil {
		out += " of " + strings.Join(f.Change.Columns, ", ")
	}
	if f.Race {
		out += ", race"
	}
	return out
}

// TestUses: which rows of an answer are followed.
func TestUses(t *testing.T) {
	want := map[string]string{"by_state": "subset state", "by_price": "subset price", "by_flag": "subset flag", "head": "first ", "random": "some ", "whole": "all "}
	for _, ids := range []uint16{tInt, tUUID} {
		for _, threads := range threadsOf(ids, 1, 8, 64) {
			feeds := mine(newHabits(ids, 40+uint64(threads)).run(threads, size(30_000), 20*time.Millisecond), nil).Feeds()
			got := map[string]string{}
			for i := range feeds {
				f := &feeds[i]
				if !strings.HasPrefix(f.To.Fingerprint, "part_") || f.From.Column != "part" {
					continue
				}
				got[f.From.Fingerprint] = string(f.Use) + " " + f.By
				rows := map[string]float64{"by_state": 0.3, "by_price": 0.4, "by_flag": 0.5, "head": 0.5, "random": 0.5, "whole": 1}[f.From.Fingerprint]
				again := map[string]float64{"whole": 1.0 / 7}[f.From.Fingerprint]
				if f.RowsFollowed < rows-0.1 || f.RowsFollowed > rows+0.1 || f.Repeated < again-0.05 || f.Repeated > again+0.05 {
					t.Errorf("ids %#x, %d threads: %s: %.2f of the rows, %.2f again", ids, threads, f.From.Fingerprint, f.RowsFollowed, f.Repeated)
				}
			}
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("ids %#x, %d threads: %s", ids, threads, d)
			}
		}
	}
}

// TestAuctionHasNoEchoes: the mix that the precision of feeds is measured on reads nothing to see whether it is there, and changes nothing
// that it read; its pages follow all rows.
func TestAuctionHasNoEchoes(t *testing.T) {
	for _, ids := range []uint16{tInt, tUUID} {
		for _, threads := range threadsOf(ids, 1, 128, 512) {
			feeds, echoes := mine(newSite(ids, 23).run(threads, size(12_000), 100*time.Millisecond), nil).Find()
			if len(echoes) != 0 {
				t.Errorf("ids %#x, %d threads: %+v", ids, threads, echoes)
			}
			for i := range feeds {
				if f := &feeds[i]; f.Use != UseAll && f.Use != "" && threads <= 128 {
					t.Errorf("ids %#x, %d threads: %s: %s %s, %.2f of the rows", ids, threads, named(f), f.Use, f.By, f.RowsFollowed)
				}
			}
		}
	}
}

// TestChanceIsNoCheck: if whether a row is found has nothing to do with what is said next there is no check.
func TestChanceIsNoCheck(t *testing.T) {
	for seed := range uint64(size(12)) {
		h := newHabits([]uint16{tInt, tUUID}[seed%2], seed)
		h.blind = true
		_, echoes := mine(h.run([]int{1, 4, 32}[seed%3], 8_000, 20*time.Millisecond), nil).Find()
		for i := range echoes {
			if echoes[i].Shape == Check {
				t.Errorf("seed %d: %s: %+v", seed, named(&echoes[i]), echoes[i].Outcome)
			}
		}
	}
}

// TestPredictor: a column that chooses the rows is found whatever the rule, and none in rows that are chosen by nothing that is there.
func TestPredictor(t *testing.T) {
	st := &trace.Statement{Results: []proxy.Column{col("t", "fed", true, tInt), col("t", "a", true, tInt), col("t", "b", true, tInt)}}
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		rule := rapid.IntRange(0, 3).Draw(t, "rule") // by a value of a, by a limit on b, by whether b is null, by nothing
		var a answer
		var examples []example
		for i := range uint16(rapid.IntRange(150, 400).Draw(t, "rows")) {
			x, y, null := r.IntN(5), r.IntN(100_000), r.IntN(3) == 0
			a.cells = append(a.cells, cell{row: i, column: 1, hash: uint64(x) + 1, numeric: true, number: int64(x)})
			if null {
				a.cells = append(a.cells, cell{row: i, column: 2, null: true})
			} else {
				a.cells = append(a.cells, cell{row: i, column: 2, hash: uint64(y) + 1, numeric: true, number: int64(y)})
			}
			followed := []bool{x == 2 || x == 4, !null && y < 60_000, null, r.IntN(2) == 0}[rule]
			examples = append(examples, example{&a, i, followed})
		}
		want := []int{1, 2, 2, -1}[rule]
		if got := predictor(examples, st, 0); got != want {
			t.Fatalf("rule %d: column %d", rule, got)
		}
	})
}

// TestAnswersAreBounded: however many reads there are, and however long their answers.
func TestAnswersAreBounded(t *testing.T) {
	cells := func(n int) (out [][][]byte) {
		for i := range n {
			out = append(out, [][]byte{number(i), number(i)})
		}
		return out
	}
	var all []said
	for i := range 3 * maxReads {
		st := &trace.Statement{Fingerprint: fmt.Sprint(i), Results: []proxy.Column{col("t", "a", true, tInt), col("t", "b", true, tInt)}}
		for n := range 4 {
			all = append(all, said{proxy.Exchange{Client: &proxy.Client{}, Start: int64(i), End: int64(i) + 1, Rows: 32, Response: body(2, cells(8*n))}, st})
		}
	}
	m := mine(all, nil)
	total := 0
	for _, of := range m.answers {
		size := 0
		for i := range of.list {
			size += of.list[i].size()
		}
		if size != of.size || len(of.list) > plenty {
			t.Fatalf("%d cells are said to be %d", size, of.size)
		}
		total += size
	}
	if len(m.answers) != maxReads || total > 2*maxKept {
		t.Errorf("%d reads, %d cells", len(m.answers), total)
	}
}
