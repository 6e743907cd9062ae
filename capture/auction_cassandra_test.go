package capture

import (
	"fmt"
	"math"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/gocql/gocql"

	"github.com/helenus-db/helenus/capture/capturetest"
	"github.com/helenus-db/helenus/capture/feed"
	"github.com/helenus-db/helenus/internal/cassandra/cassandratest"
)

// The auction site of capture/feed's simulation, played for real: 32 threads of one application (gocql) read pages through the
// real proxy from a real Cassandra. All keys are dense integers from 1, so each is a key of every table.

const (
	auctionUsers, auctionItems, auctionRegions, auctionCategories = 600, 400, 60, 20

	auctionThreads = 32
)

// auctionTruth is the joins of the pages: column -> column, and how.
var auctionTruth = map[string]feed.Shape{
	"items_by_category.item -> items.id":        feed.NPlusOne,
	"items.seller -> users.id":                  feed.Single,
	"users.region -> regions.id":                feed.Single,
	"bids_by_item.bidder -> users.id":           feed.FanOut,
	"comments_by_user.author -> users.id":       feed.InList,
	"bids_by_user.item -> items.id":             feed.NPlusOne,
	"items_by_seller.item -> bids_by_item.item": feed.FanOut,
	"watchers.user -> inbox.user":               feed.NPlusOne,
}

// auctionSiblings is what pages ask two tables for at once: nothing else is an echo here.
var auctionSiblings = map[string]bool{
	"items.id, bids_by_item.item":                      true,
	"users.id, comments_by_user.to_user":               true,
	"users.id, bids_by_user.bidder":                    true,
	"items_by_seller.seller, comments_by_user.to_user": true,
	"bids_by_item.item, items.id":                      true,
	"comments_by_user.to_user, users.id":               true,
	"bids_by_user.bidder, users.id":                    true,
	"comments_by_user.to_user, items_by_seller.seller": true,
}

// dealt returns the i-th of some fixed pseudo-random numbers 1..n that belong to a row.
func dealt(row, i, salt, n int) int {
	r := rand.New(rand.NewPCG(uint64(row), uint64(i)<<8|uint64(salt)))
	return 1 + r.IntN(n)
}

type auction struct {
	t       *testing.T
	session *gocql.Session
}

func (a auction) run(text string, values ...any) {
	if err := a.session.Query(text, values...).Exec(); err != nil {
		a.t.Errorf("%s: %v", text, err)
	}
}

// column reads one column of all rows.
func (a auction) column(text string, values ...any) (out []int) {
	iter := a.session.Query(text, values...).Iter()
	row := map[string]any{}
	for iter.MapScan(row) {
		for _, name := range []string{"item", "seller", "region", "bidder", "author", "user", "id"} {
			if n, ok := row[name].(int); ok {
				out = append(out, n)
				break
			}
		}
		row = map[string]any{}
	}
	if err := iter.Close(); err != nil {
		a.t.Errorf("%s: %v", text, err)
	}
	return out
}

func (a auction) item(i int) []int { return a.column(`SELECT name, seller FROM items WHERE id = ?`, i) }
func (a auction) user(u int) []int { return a.column(`SELECT name, region FROM users WHERE id = ?`, u) }
func (a auction) bids(i int) []int {
	return a.column(`SELECT bidder FROM bids_by_item WHERE item = ?`, i)
}

// page reads one page. Threads think before they begin; within a page nobody waits for a person.
func (a auction) page(r *rand.Rand) {
	zipf := func(n int) int { return min(max(int(math.Exp(r.Float64()*math.Log(float64(n)))), 1), n) }
	together := func(list []int, f func(int)) {
		var all sync.WaitGroup
		for _, n := range list {
			all.Go(func() { f(n) })
		}
		all.Wait()
	}
	switch r.IntN(7) {
	case 0:
		a.column(`SELECT id, name FROM categories WHERE dummy = ?`, 1)
		for _, i := range a.column(`SELECT item FROM items_by_category WHERE category = ?`, zipf(auctionCategories)) {
			a.item(i)
		}
	case 1:
		for _, u := range a.item(zipf(auctionItems)) {
			for _, region := range a.user(u) {
				a.column(`SELECT name FROM regions WHERE id = ?`, region)
			}
		}
	case 2:
		i := zipf(auctionItems)
		a.item(i)
		together(a.bids(i), func(u int) { a.user(u) })
	case 3:
		u := zipf(auctionUsers)
		a.user(u)
		a.column(`SELECT name FROM users WHERE id IN ?`, a.column(`SELECT author FROM comments_by_user WHERE to_user = ?`, u))
	case 4:
		u := zipf(auctionUsers)
		a.user(u)
		for _, i := range a.column(`SELECT item FROM bids_by_user WHERE bidder = ?`, u) {
			a.item(i)
		}
	case 5:
		u := zipf(auctionUsers)
		together(a.column(`SELECT item FROM items_by_seller WHERE seller = ?`, u), func(i int) { a.bids(i) })
		a.column(`SELECT author FROM comments_by_user WHERE to_user = ?`, u)
	case 6:
		i, b := zipf(auctionItems), 1+r.IntN(20_000)
		a.run(`INSERT INTO bids (id, item, bidder) VALUES (?, ?, ?)`, b, i, zipf(auctionUsers))
		for _, u := range a.column(`SELECT user FROM watchers WHERE item = ?`, i) {
			a.run(`INSERT INTO inbox (user, bid) VALUES (?, ?)`, u, b)
		}
	}
}

// load makes the tables and fills them.
func (a auction) load() {
	for _, table := range []string{
		`categories (dummy int, id int, name text, PRIMARY KEY (dummy, id))`, `items_by_category (category int, item int, PRIMARY KEY (category, item))`,
		`items (id int PRIMARY KEY, name text, seller int)`, `users (id int PRIMARY KEY, name text, region int)`, `regions (id int PRIMARY KEY, name text)`,
		`bids_by_item (item int, id int, bidder int, PRIMARY KEY (item, id))`, `comments_by_user (to_user int, id int, author int, PRIMARY KEY (to_user, id))`,
		`bids_by_user (bidder int, item int, PRIMARY KEY (bidder, item))`, `items_by_seller (seller int, item int, PRIMARY KEY (seller, item))`,
		`watchers (item int, user int, PRIMARY KEY (item, user))`, `bids (id int PRIMARY KEY, item int, bidder int)`, `inbox (user int, bid int, PRIMARY KEY (user, bid))`,
	} {
		a.run(`CREATE TABLE ` + table)
	}
	var rows []func()
	add := func(text string, values ...any) { rows = append(rows, func() { a.run(text, values...) }) }
	several := func(of, row, salt int) int { return 2 + dealt(row, 99, salt, of) }
	for c := 1; c <= auctionCategories; c++ {
		add(`INSERT INTO categories (dummy, id, name) VALUES (1, ?, ?)`, c, fmt.Sprint("name ", c))
		for j := range several(5, c, 1) {
			add(`INSERT INTO items_by_category (category, item) VALUES (?, ?)`, c, dealt(c, j, 1, auctionItems))
		}
	}
	for n := 1; n <= auctionRegions; n++ {
		add(`INSERT INTO regions (id, name) VALUES (?, ?)`, n, fmt.Sprint("name ", n))
	}
	for i := 1; i <= auctionItems; i++ {
		add(`INSERT INTO items (id, name, seller) VALUES (?, ?, ?)`, i, fmt.Sprint("name ", i), dealt(i, 0, 2, auctionUsers))
		for j := range several(4, i, 3) {
			add(`INSERT INTO bids_by_item (item, id, bidder) VALUES (?, ?, ?)`, i, dealt(i, j, 4, 20_000), dealt(i, j, 3, auctionUsers))
			add(`INSERT INTO watchers (item, user) VALUES (?, ?)`, i, dealt(i, j, 5, auctionUsers))
		}
	}
	for u := 1; u <= auctionUsers; u++ {
		add(`INSERT INTO users (id, name, region) VALUES (?, ?, ?)`, u, fmt.Sprint("name ", u), dealt(u, 0, 6, auctionRegions))
		for j := range several(3, u, 7) {
			add(`INSERT INTO comments_by_user (to_user, id, author) VALUES (?, ?, ?)`, u, dealt(u, j, 8, 20_000), dealt(u, j, 7, auctionUsers))
			add(`INSERT INTO bids_by_user (bidder, item) VALUES (?, ?)`, u, dealt(u, j, 9, auctionItems))
			add(`INSERT INTO items_by_seller (seller, item) VALUES (?, ?)`, u, dealt(u, j, 10, auctionItems))
		}
	}
	var all sync.WaitGroup
	for k := range 16 {
		all.Go(func() {
			for i := k; i < len(rows); i += 16 {
				rows[i]()
			}
		})
	}
	all.Wait()
}

// TestFeedsThroughTheProxy: D-14 and the captured half of B-8. Precision 1.00 and recall 1.00 on the auction site, as in the simulation, at the
// default settings.
func TestFeedsThroughTheProxy(t *testing.T) {
	contact := cassandratest.ContactPoints(t)[0]
	loader, keyspace := cassandratest.Keyspace(t)
	auction{t, loader}.load()
	r := New(Options{})
	t.Cleanup(r.Close) // after the proxy
	cluster := cassandratest.Config(t, capturetest.Proxy(t, contact, r))
	cluster.Keyspace = keyspace
	session, err := cluster.CreateSession()
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	site := auction{t, session}
	var threads sync.WaitGroup
	end := make(chan struct{})
	for k := range auctionThreads {
		threads.Go(func() {
			r := rand.New(rand.NewPCG(uint64(k), 11))
			for {
				select {
				case <-end:
					return
				case <-time.After(time.Duration(r.ExpFloat64() * 120e6)): // think
				}
				site.page(r)
			}
		})
	}
	// Until everything is found, and then as long again, so that what is wrong has its chance too.
	var right, wrong int
	var report []string
	began, again := time.Now(), time.Duration(0)
	for deadline := began.Add(4 * time.Minute); time.Now().Before(deadline); {
		time.Sleep(2 * time.Second)
		right, wrong, report = judgeAuction(r.Windows().Feeds())
		if elapsed := time.Since(began); right == len(auctionTruth) {
			if again == 0 {
				again = elapsed
			}
			if elapsed > 2*again {
				break
			}
		}
	}
	close(end)
	threads.Wait()
	s := r.Windows().Statistics()
	t.Logf("%d joins of %d found, %d wrong ones; all after %v; %d exchanges looked at, %d dropped, %d columns", right, len(auctionTruth), wrong, again, s.Observed, s.Dropped, s.Columns)
	if right != len(auctionTruth) || wrong != 0 {
		t.Errorf("feeds: %q", report)
	}
	for _, f := range r.Snapshot().Echoes {
		name := fmt.Sprintf("%s.%s, %s.%s", f.From.Table, f.From.Column, f.To.Table, f.To.Column)
		if f.Shape != feed.Sibling || !auctionSiblings[name] {
			t.Errorf("an echo, where nothing is checked nor changed, and which no page asks for the same: %s %+v", name, f)
		}
	}
	for _, f := range r.Snapshot().Flows() {
		if f.FromText == "" || f.ToText == "" || f.ToCalls == 0 {
			t.Errorf("flow: %+v", f)
		}
	}
}

func judgeAuction(feeds []feed.Feed) (right, wrong int, report []string) {
	found := map[string]bool{}
	for _, f := range feeds {
		name := fmt.Sprintf("%s.%s -> %s.%s", f.From.Table, f.From.Column, f.To.Table, f.To.Column)
		report = append(report, fmt.Sprintf("%s %s %d/%d of %d", name, f.Shape, f.Hits, f.Decoys, f.Executions))
		if _, ok := auctionTruth[name]; !ok {
			wrong++
		} else if !found[name] {
			found[name] = true
			right++
		}
	}
	return right, wrong, report
}
