package feed

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"sort"
	"testing"
	"time"

	"github.com/helenus-db/helenus/capture/trace"
	"github.com/helenus-db/helenus/capture/value"
	"github.com/helenus-db/helenus/proxy"
)

// The simulation: a RUBiS-like application (an auction site) whose pages read one table after the other, run by many threads of
// one process over shared connections. All keys of all tables are dense integers 1..N in overlapping ranges, or UUIDs, and
// access follows Zipf's law. What the miner must find is known, because the pages are written down here.

const (
	tInt  = 0x0009
	tUUID = 0x000C
	tText = 0x000D
	tList = 0x0020
)

func col(table, name string, key bool, ids uint16) proxy.Column {
	t := proxy.Type{Code: tText}
	if key {
		t.Code = ids
	}
	return proxy.Column{Keyspace: "auction", Table: table, Name: name, Type: t}
}

func inCol(table, name string, ids uint16) proxy.Column {
	c := col(table, "in("+name+")", true, ids)
	c.Type = proxy.Type{Code: tList, Elements: []proxy.Type{{Code: ids}}}
	return c
}

// site is the simulated application and its data.
type site struct {
	ids        uint16
	r          *rand.Rand
	statements map[string]*trace.Statement
	users      int
	items      int
	out        []said
	client     *proxy.Client
}

type said struct {
	x  proxy.Exchange
	st *trace.Statement
}

func newSite(ids uint16, seed uint64) *site {
	s := &site{ids: ids, r: rand.New(rand.NewPCG(seed, 7)), statements: map[string]*trace.Statement{}, users: 5000, items: 3000,
		client: &proxy.Client{ID: 1, Address: "10.0.0.7:4711", Driver: "sim"}}
	def := func(table, name string, write bool, binds, cells []proxy.Column) {
		s.statements[name] = &trace.Statement{Fingerprint: name, Write: write, Variables: binds, Results: cells}
	}
	k := func(t, n string) proxy.Column { return col(t, n, true, ids) }
	a := func(t, n string) proxy.Column { return col(t, n, false, ids) }
	def("categories", "categories", false, []proxy.Column{{Keyspace: "auction", Table: "categories", Name: "dummy", Type: proxy.Type{Code: tInt}}}, []proxy.Column{k("categories", "id"), a("categories", "name")})
	def("items_by_category", "items_by_category", false, []proxy.Column{k("items_by_category", "category")}, []proxy.Column{k("items_by_category", "item"), a("items_by_category", "name")})
	def("items", "items", false, []proxy.Column{k("items", "id")}, []proxy.Column{a("items", "name"), k("items", "seller")})
	def("users", "users", false, []proxy.Column{k("users", "id")}, []proxy.Column{a("users", "name"), k("users", "region")})
	def("regions", "regions", false, []proxy.Column{k("regions", "id")}, []proxy.Column{a("regions", "name")})
	def("bids_by_item", "bids_by_item", false, []proxy.Column{k("bids_by_item", "item")}, []proxy.Column{k("bids_by_item", "id"), k("bids_by_item", "bidder")})
	def("comments_by_user", "comments_by_user", false, []proxy.Column{k("comments_by_user", "to_user")}, []proxy.Column{k("comments_by_user", "id"), k("comments_by_user", "author")})
	def("users", "users_in", false, []proxy.Column{inCol("users", "id", ids)}, []proxy.Column{k("users", "id"), a("users", "name")})
	def("bids_by_user", "bids_by_user", false, []proxy.Column{k("bids_by_user", "bidder")}, []proxy.Column{k("bids_by_user", "item")})
	def("items_by_seller", "items_by_seller", false, []proxy.Column{k("items_by_seller", "seller")}, []proxy.Column{k("items_by_seller", "item")})
	def("bids", "insert_bid", true, []proxy.Column{k("bids", "id"), k("bids", "item"), k("bids", "bidder")}, nil)
	def("watchers", "watchers", false, []proxy.Column{k("watchers", "item")}, []proxy.Column{k("watchers", "user")})
	def("inbox", "insert_inbox", true, []proxy.Column{k("inbox", "user"), k("inbox", "bid")}, nil)
	return s
}

// truth is the joins of the pages below: producer.column -> consumer.variable.
var truth = map[string]Shape{
	"items_by_category.item -> items.id":        NPlusOne,
	"items.seller -> users.id":                  Single,
	"users.region -> regions.id":                Single,
	"bids_by_item.bidder -> users.id":           FanOut,
	"comments_by_user.author -> users_in.id":    InList,
	"bids_by_user.item -> items.id":             NPlusOne,
	"items_by_seller.item -> bids_by_item.item": FanOut,
	"watchers.user -> insert_inbox.user":        NPlusOne,
}

func (s *site) zipf(n int) int {
	// Inverse of a bounded Zipf(1) distribution.
	v := int(math.Exp(s.r.Float64() * math.Log(float64(n))))
	return min(max(v, 1), n)
}

func (s *site) id(table string, n int) []byte {
	if s.ids == tInt {
		return binary.BigEndian.AppendUint32(nil, uint32(n))
	}
	b := make([]byte, 16)
	r := rand.NewPCG(uint64(n), uint64(len(table))<<32|uint64(table[0]))
	binary.BigEndian.PutUint64(b, r.Uint64())
	binary.BigEndian.PutUint64(b[8:], r.Uint64())
	return b
}

func (s *site) latency() int64 {
	return int64(math.Exp(s.r.NormFloat64()*0.4) * 800_000) // 0.8 ms, log-normal
}

// say lets the application say a statement at time t and returns when the answer is there.
func (s *site) say(t int64, name string, rows [][][]byte, binds ...[]byte) int64 {
	st := s.statements[name]
	end := t + s.latency()
	x := proxy.Exchange{Client: s.client, Opcode: proxy.OpExecute, Start: t, End: end, Rows: len(rows)}
	for _, b := range binds {
		x.Values = append(x.Values, proxy.Value{Bytes: b})
	}
	if len(st.Results) > 0 {
		x.Response = body(len(st.Results), rows)
	}
	s.out = append(s.out, said{x, st})
	return end
}

// body is a RESULT Rows body without metadata.
func body(columns int, rows [][][]byte) []byte {
	b := binary.BigEndian.AppendUint32(nil, 2)
	b = binary.BigEndian.AppendUint32(b, 4)
	b = binary.BigEndian.AppendUint32(b, uint32(columns))
	b = binary.BigEndian.AppendUint32(b, uint32(len(rows)))
	for _, row := range rows {
		for _, cell := range row {
			if cell == nil {
				b = binary.BigEndian.AppendUint32(b, math.MaxUint32)
				continue
			}
			b = binary.BigEndian.AppendUint32(b, uint32(len(cell)))
			b = append(b, cell...)
		}
	}
	return b
}

func list(values [][]byte) []byte {
	b := binary.BigEndian.AppendUint32(nil, uint32(len(values)))
	for _, v := range values {
		b = binary.BigEndian.AppendUint32(b, uint32(len(v)))
		b = append(b, v...)
	}
	return b
}

// derived returns the i-th of some fixed pseudo-random numbers 1..n that belong to a row.
func derived(row, i, salt, n int) int {
	x := uint64(row)<<24 | uint64(i)<<8 | uint64(salt)
	for range 2 { // splitmix64
		x += 0x9E3779B97F4A7C15
		x = (x ^ x>>30) * 0xBF58476D1CE4E5B9
		x = (x ^ x>>27) * 0x94D049BB133111EB
		x ^= x >> 31
	}
	return int(x%uint64(n)) + 1
}

func (s *site) user(n int) []byte  { return s.id("user", n) }
func (s *site) item(n int) []byte  { return s.id("item", n) }
func (s *site) sellerOf(i int) int { return derived(i, 0, 1, s.users) }
func (s *site) regionOf(u int) int { return derived(u, 0, 2, 60) }
func text8(n int) []byte           { return []byte(fmt.Sprintf("name %d", n)) }

func (s *site) readItem(t int64, i int) int64 {
	return s.say(t, "items", [][][]byte{{text8(i), s.user(s.sellerOf(i))}}, s.item(i))
}

func (s *site) readUser(t int64, u int) int64 {
	return s.say(t, "users", [][][]byte{{text8(u), s.id("region", s.regionOf(u))}}, s.user(u))
}

// page is one request of the application, starting at t. It returns when it is done.
func (s *site) page(t int64) int64 {
	switch s.r.IntN(7) {
	case 0: // browse: a category, its items one by one
		s.say(t, "categories", [][][]byte{{s.id("category", 1), text8(1)}, {s.id("category", 2), text8(2)}}, s.id("dummy", 1))
		c := s.zipf(20)
		var rows [][][]byte
		n := 3 + s.r.IntN(6)
		for j := range n {
			i := derived(c*31+s.r.IntN(40), j, 3, s.items)
			rows = append(rows, [][]byte{s.item(i), text8(i)})
		}
		t = s.say(t, "items_by_category", rows, s.id("category", c))
		for _, row := range rows {
			i := s.find(row[0], "item", s.items)
			t = s.readItem(t+100_000, i)
		}
	case 1: // an item, its seller, the seller's region
		i := s.zipf(s.items)
		t = s.readItem(t, i) + 100_000
		u := s.sellerOf(i)
		t = s.readUser(t, u) + 100_000
		t = s.say(t, "regions", [][][]byte{{text8(1)}}, s.id("region", s.regionOf(u)))
	case 2: // an item's bids, all bidders at once; the item's id is from outside, and bound twice
		i := s.zipf(s.items)
		t = s.readItem(t, i) + 100_000
		var rows [][][]byte
		var bidders []int
		for j := range 2 + s.r.IntN(6) {
			b := derived(i, j, 4, s.users)
			bidders = append(bidders, b)
			rows = append(rows, [][]byte{s.id("bid", derived(i, j, 5, 20000)), s.user(b)})
		}
		t = s.say(t, "bids_by_item", rows, s.item(i)) + 100_000
		end := t
		for k, b := range bidders {
			end = max(end, s.readUser(t+int64(k)*10_000, b))
		}
		t = end
	case 3: // a user's comments, the authors in one list
		u := s.zipf(s.users)
		t = s.readUser(t, u) + 100_000
		var rows [][][]byte
		var authors [][]byte
		for j := range 2 + s.r.IntN(5) {
			a := s.user(derived(u, j, 6, s.users))
			authors = append(authors, a)
			rows = append(rows, [][]byte{s.id("comment", derived(u, j, 7, 20000)), a})
		}
		t = s.say(t, "comments_by_user", rows, s.user(u)) + 100_000
		var names [][][]byte
		for _, a := range authors {
			names = append(names, [][]byte{a, text8(1)})
		}
		t = s.say(t, "users_in", names, list(authors))
	case 4: // about me: a user from outside, the items that the user bid for. Echo trap: own id bound again and again
		u := s.zipf(s.users)
		t = s.readUser(t, u) + 100_000
		var rows [][][]byte
		for j := range 2 + s.r.IntN(4) {
			rows = append(rows, [][]byte{s.item(derived(u, j, 8, s.items))})
		}
		t = s.say(t, "bids_by_user", rows, s.user(u)) + 100_000
		for _, row := range rows {
			t = s.readItem(t, s.find(row[0], "item", s.items)) + 100_000
		}
	case 5: // my sales: echo trap: items' seller is the very user that the page started from
		u := s.zipf(s.users)
		var rows [][][]byte
		for j := range 2 + s.r.IntN(4) {
			rows = append(rows, [][]byte{s.item(derived(u, j, 9, s.items))})
		}
		t = s.say(t, "items_by_seller", rows, s.user(u)) + 100_000
		end := t
		for k, row := range rows {
			i := s.find(row[0], "item", s.items)
			e := s.say(t+int64(k)*10_000, "bids_by_item", [][][]byte{{s.id("bid", derived(i, 0, 5, 20000)), s.user(derived(i, 0, 4, s.users))}}, row[0])
			end = max(end, e)
		}
		t = end + 100_000
		t = s.say(t, "comments_by_user", nil, s.user(u))
	case 6: // bid: new bid id, told to every watcher (the read serves a write)
		i, u, b := s.zipf(s.items), s.zipf(s.users), 1+s.r.IntN(20000)
		t = s.say(t, "insert_bid", nil, s.id("bid", b), s.item(i), s.user(u)) + 100_000
		var rows [][][]byte
		for j := range 2 + s.r.IntN(4) {
			rows = append(rows, [][]byte{s.user(derived(i, j, 10, s.users))})
		}
		t = s.say(t, "watchers", rows, s.item(i)) + 100_000
		for _, row := range rows {
			t = s.say(t, "insert_inbox", nil, row[0], s.id("bid", b)) + 100_000
		}
	}
	return t
}

func (s *site) find(id []byte, kind string, n int) int {
	if s.ids == tInt {
		return int(binary.BigEndian.Uint32(id))
	}
	m := reverse[kind]
	if m == nil {
		m = map[string]int{}
		for i := 1; i <= n; i++ {
			m[string(s.id(kind, i))] = i
		}
		reverse[kind] = m
	}
	return m[string(id)]
}

var reverse = map[string]map[string]int{}

// run simulates threads until statements have been said, and returns what was said in order of its end.
func (s *site) run(threads, statements int, think time.Duration) []said {
	at := make([]int64, threads)
	for i := range at {
		at[i] = int64(s.r.Float64() * float64(think+1e6))
	}
	for len(s.out) < statements {
		next := 0
		for i := range at {
			if at[i] < at[next] {
				next = i
			}
		}
		at[next] = s.page(at[next]) + int64(s.r.ExpFloat64()*float64(think)) + 1
	}
	sort.SliceStable(s.out, func(i, j int) bool { return s.out[i].x.End < s.out[j].x.End })
	return s.out
}

// hashed does what capture/window does with an exchange, short of everything that is not needed here.
func hashed(h *value.Hasher, x *proxy.Exchange, st *trace.Statement) *trace.Execution {
	e := &trace.Execution{Statement: st, Start: x.Start, End: x.End, Process: uint64(len(x.Client.Address)), Rows: x.Rows, Failed: x.Failed}
	places := trace.Places(st)
	for i, v := range x.Values {
		h.Each(&st.Variables[i].Type, v.Bytes, func(v value.Value) {
			v.Index = uint16(places[i])
			e.Binds = append(e.Binds, v)
		})
	}
	value.Rows(x.Response, st.Results, func(row, c int, cell []byte) {
		if cell == nil {
			e.Cells = append(e.Cells, value.Value{Index: uint16(c), Row: uint16(row), Null: true})
		}
		h.Each(&st.Results[c].Type, cell, func(v value.Value) {
			v.Index, v.Row = uint16(c), uint16(row)
			e.Cells = append(e.Cells, v)
		})
	})
	return e
}

// mine gives exchanges to a miner, those with keep only.
func mine(all []said, keep func(x *proxy.Exchange) bool) *Miner {
	m := New(Options{Seed: 11})
	h := &value.Hasher{K0: 11, K1: 12}
	for i := range all {
		if keep == nil || keep(&all[i].x) {
			m.Add(hashed(h, &all[i].x, all[i].st))
		}
	}
	return m
}

// judge compares feeds with the truth.
func judge(feeds []Feed) (precision, recall float64, wrong, missing []string) {
	found := map[string]bool{}
	right := 0
	for _, f := range feeds {
		name := fmt.Sprintf("%s.%s -> %s.%s", f.From.Fingerprint, f.From.Column, f.To.Fingerprint, f.To.Column)
		found[name] = true
		if _, ok := truth[name]; ok {
			right++
		} else {
			wrong = append(wrong, fmt.Sprintf("%s hits %d decoys %d of %d", name, f.Hits, f.Decoys, f.Executions))
		}
	}
	for name := range truth {
		if !found[name] {
			missing = append(missing, name)
		}
	}
	sort.Strings(missing)
	precision = 1
	if len(feeds) > 0 {
		precision = float64(right) / float64(len(feeds))
	}
	return precision, float64(len(truth)-len(missing)) / float64(len(truth)), wrong, missing
}

func TestFeedsOfSimulatedTraffic(t *testing.T) {
	for _, c := range []struct {
		name       string
		ids        uint16
		threads    int
		statements int
		think      time.Duration
		keep       func(x *proxy.Exchange) bool
	}{
		{"hardly a pause, 1 thread", tInt, 1, 20_000, 5 * time.Millisecond, nil},
		{"hardly a pause, 8 threads", tInt, 8, 15_000, 5 * time.Millisecond, nil},
		{"hardly a pause, UUIDs, 8 threads", tUUID, 8, 15_000, 5 * time.Millisecond, nil},
		{"only a few thousand statements", tInt, 4, 6_000, 20 * time.Millisecond, nil},
		{"windows of 2 s in 10 s", tInt, 16, 40_000, 20 * time.Millisecond, func(x *proxy.Exchange) bool {
			return x.Start%(10*second) < 2*second
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			all := newSite(c.ids, 3).run(c.threads, c.statements, c.think)
			feeds := mine(all, c.keep).Feeds()
			precision, recall, wrong, missing := judge(feeds)
			if precision != 1 || recall != 1 {
				t.Errorf("precision %.2f, recall %.2f\nwrong: %q\nmissing: %q", precision, recall, wrong, missing)
			}
		})
	}
}
