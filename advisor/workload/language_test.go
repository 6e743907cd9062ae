package workload_test

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/workload"
)

var update = flag.Bool("update", false, "write the golden files")

const company = `
entities:
- name: Employee
  count: 1000
  key: [id]
  attributes: [{name: id, type: uuid}, {name: name, type: text}, {name: salary, type: int}]
- name: Office
  count: 10
  key: [id]
  attributes: [{name: id, type: uuid}, {name: city, type: text}]
relationships:
- {name: manages, from: Employee, to: Employee, kind: "n:1", forward: manager, backward: reports, optional: true}
- {name: knows, from: Employee, to: Employee, kind: "m:n", forward: friends, backward: friend_of, degree: 5}
- {name: works_in, from: Employee, to: Office, kind: "n:1", forward: office, backward: staff}
`

func parseGraph(t testing.TB, text string) *model.Graph {
	t.Helper()
	var d model.Document
	if err := model.DecodeYAML("graph.yaml", []byte(text), &d); err != nil {
		t.Fatal(err)
	}
	g, err := d.Graph("graph.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func TestLanguage(t *testing.T) {
	graphs := map[string]*model.Graph{"rubis": load(t, "rubis.yaml").Graph, "company": parseGraph(t, company)}
	for _, c := range []struct{ name, graph, text, want string }{
		{"both names of a comment (limit 13)", "rubis", "SELECT comments.comment, comments.from_user.nickname, comments.to_user.nickname FROM comments WHERE comments.id = ?",
			"SELECT comments.comment, users.nickname, users#2.nickname FROM comments.from_user, comments.to_user AS users#2 WHERE comments.id = ?"},
		{"aliases", "rubis", "SELECT author.nickname, receiver.nickname FROM comments.from_user AS author, comments.to_user AS receiver WHERE comments.id = ?",
			"SELECT users.nickname, users#2.nickname FROM comments.from_user, comments.to_user AS users#2 WHERE comments.id = ?"},
		{"an alias within a path, and a path from an alias", "rubis", "SELECT c.name FROM items.seller AS s.region AS r, s.bids.item.category AS c WHERE r.id = ?",
			"SELECT categories.name FROM items.seller.region, items.seller.bids.item AS items#2.category WHERE regions.id = ?"},
		{"the same relationship twice", "rubis", "SELECT a.id, b.id FROM items.bids AS a, items.bids AS b WHERE items.id = ? AND a.bid > ?",
			"SELECT bids.id, bids#2.id FROM items.bids AS bids#1, items.bids AS bids#2 WHERE items.id = ? AND bids.bid > ?"},
		{"a self-relationship", "company", "SELECT Employee.manager.name FROM Employee WHERE Employee.id = ?",
			"SELECT Employee#2.name FROM Employee.manager AS Employee#2 WHERE Employee.id = ?"},
		{"and back", "company", "SELECT Employee.manager.reports.name FROM Employee WHERE Employee.id = ?",
			"SELECT Employee.name FROM Employee.manager AS Employee#2 WHERE Employee.id = ?"},
		{"colleagues", "company", "SELECT c.name FROM Employee.manager.reports AS c WHERE Employee.id = ?",
			"SELECT Employee#3.name FROM Employee.manager AS Employee#2.reports AS Employee#3 WHERE Employee.id = ?"},
		{"connect oneself", "company", "CONNECT Employee(?) TO manager(?)", ""},
		{"insert with two of one's own", "company", "INSERT INTO Employee SET id = ?, name = ? AND CONNECT TO manager(?), friends(?), office(?)", ""},
		{"IN with a list, != and <>", "rubis", "SELECT items.name FROM items WHERE items.id IN (?, ?, ?) AND items.quantity != 0 AND items.buy_now <> ?",
			"SELECT items.name FROM items WHERE items.id IN (?, ?, ?) AND items.quantity != 0 AND items.buy_now != ?"},
		{"IN with a parameter", "rubis", "SELECT items.name FROM items WHERE items.id IN ?ids AND items.quantity in ? items 25",
			"SELECT items.name FROM items WHERE items.id IN ?ids AND items.quantity IN ? ITEMS 25"},
		{"BETWEEN", "rubis", "SELECT items.name FROM items.category WHERE category.id = ? AND items.end_date BETWEEN ?from AND ?to",
			"SELECT items.name FROM items.category WHERE categories.id = ? AND items.end_date >= ?from AND items.end_date <= ?to"},
		{"LIKE", "rubis", "SELECT users.id FROM users WHERE users.nickname LIKE 'ab%' AND users.email LIKE ?", ""},
		{"mixed order, by keys too", "rubis", "SELECT items.name FROM items.category WHERE category.id = ? ORDER BY items.end_date DESC, items.name ASC, items.id",
			"SELECT items.name FROM items.category WHERE categories.id = ? ORDER BY items.end_date DESC, items.name, items.id"},
		{"per-parent limit", "rubis", "SELECT items.id, bids.bid FROM items.bids WHERE items.id IN (?, ?) ORDER BY bids.bid DESC LIMIT 3 PER items.id LIMIT 5", ""},
		{"no equality", "rubis", "SELECT items.name FROM items WHERE items.end_date > ?", ""},
		{"no WHERE (limit 10)", "rubis", "SELECT categories.id, categories.name FROM categories", ""},
		{"DISTINCT", "rubis", "SELECT DISTINCT users.nickname FROM items.bids.user WHERE items.id = ? ORDER BY users.nickname",
			"SELECT DISTINCT users.nickname FROM items.bids.user WHERE items.id = ? ORDER BY users.nickname"},
		{"groups and functions", "rubis", "SELECT items.id, COUNT(*), max(bids.bid), avg(bids.qty) FROM items.bids WHERE items.category.id = ? GROUP BY items.id ORDER BY items.id LIMIT 10",
			"SELECT items.id, count(*), max(bids.bid), avg(bids.qty) FROM items.bids, items.category WHERE categories.id = ? GROUP BY items.id ORDER BY items.id LIMIT 10"},
		{"one group", "rubis", "SELECT min(bids.bid), sum(bids.qty) FROM items.bids WHERE items.id = ?", ""},
		{"increments", "rubis", "UPDATE items SET nb_of_bids = nb_of_bids + 1, quantity = items.quantity -?, max_bid = ? WHERE items.id = ?",
			"UPDATE items FROM items SET max_bid = ?, nb_of_bids = nb_of_bids + ?, quantity = quantity + ? WHERE items.id = ?"},
		{"an update of one that a path leads to", "rubis", "UPDATE users#2 FROM comments.from_user, comments.to_user AS users#2 SET rating = rating + ? WHERE comments.id = ?", ""},
		{"a comment", "rubis", "SELECT items.* -- all of it\nFROM items -- 7", "SELECT items.id, items.name, items.description, items.initial_price, items.quantity, items.reserve_price, items.buy_now, items.nb_of_bids, items.max_bid, items.start_date, items.end_date FROM items"},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := graphs[c.graph]
			s, err := workload.Parse(g, c.text)
			if err != nil {
				t.Fatal(err)
			}
			want := c.want
			if want == "" {
				want = c.text
			}
			if got := s.String(); got != want {
				t.Fatalf("got  %s\nwant %s", got, want)
			}
			again, err := workload.Parse(g, s.String())
			if err != nil || again.String() != want {
				t.Errorf("does not parse back: %v, %v", again, err)
			}
		})
	}
}

// TestMessages compares all complaints about statements and files with golden/messages.txt.
func TestMessages(t *testing.T) {
	var got strings.Builder
	rubis, own := load(t, "rubis.yaml").Graph, parseGraph(t, company)
	for _, text := range []string{
		"SELECT itmes.name FROM items WHERE items.id = ?",
		"SELECT items.nmae FROM items WHERE items.id = ?",
		"SELECT items.name FROM items.sellr WHERE items.id = ?",
		"SELECT items.name FROM item WHERE items.id = ?",
		"SELECT items.name FROM items, users WHERE items.id = ?",
		"SELECT comments.id FROM comments.users WHERE users.id = ?",
		"SELECT items.name FROM items.seller AS s.region, items.bids.user AS s WHERE items.id = ?",
		"SELECT items.name FROM items.seller AS users#0 WHERE items.id = ?",
		"SELECT user.id FROM items.bids.user, items.bought_now AS b.buyer, items.bids AS c.user WHERE items.id = ?",
		"SELECT items.name FROM items WHERE items.id = ? OR items.id = ?",
		"SELECT items.name FROM items WHERE items.name LIKE '%abc'",
		"SELECT items.name FROM items WHERE items.name CONTAINS ?",
		"SELECT items.name FROM items WHERE items.name IN items.id",
		"SELECT items.name FROM items WHERE items.name IN ? ITEMS 0",
		"SELECT items.name FROM items WHERE items.id =",
		"SELECT median(items.quantity) FROM items",
		"SELECT items.name, count(*) FROM items.bids GROUP BY items.id",
		"SELECT items.id, count(*) FROM items.bids GROUP BY items.id ORDER BY bids.date",
		"SELECT DISTINCT items.id FROM items ORDER BY items.name",
		"SELECT items.id FROM items LIMIT 1.5",
		"SELECT items.id FROM items LIMIT 1 LIMIT 2",
		"SELECT items.id FROM items LIMIT 1 PER seller.id",
		"UPDATE items SET quantity = max_bid + ? WHERE items.id = ?",
		"UPDATE items SET id = id + 1 WHERE items.id = ?",
		"UPDATE items SET quantity = ?, quantity = quantity + ? WHERE items.id = ?",
		"INSERT INTO items SET quantity = quantity + ?",
		"DELETE items WHERE items.id = ?",
		"INSERT INTO bids SET id = ? AND CONNECT TO itme(?)",
		"SELECT items.name, items.description, items.initial_price, items.quantity, items.reserve_price, items.buy_now, items.nb_of_bids, items.max_bid, items.start FROM items WHERE items.id = ?",
	} {
		s, err := workload.Parse(rubis, text)
		complain(t, &got, s, err)
	}
	s, err := workload.Parse(own, "SELECT Employee.boss.name FROM Employee WHERE Employee.id = ?")
	complain(t, &got, s, err)
	s, err = workload.Parse(own, "SELECT Employee.name FROM Employee.Employee WHERE Employee.id = ?")
	complain(t, &got, s, err)

	good, err := os.ReadFile("testdata/good.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := workload.Read("good.yaml", good); err != nil {
		t.Fatal(err)
	}
	for _, c := range [][2]string{
		{"weight: 2\n", "weight: -2\n"}, {"weight: 2\n", "weight: .nan\n"}, {"weight: 2\n", "weight: .inf\n"}, {"weight: 2\n", "weight: often\n"},
		{"day: 3", "day: -3"}, {"day: 3", "dya: 3"}, {"mix: day", "mix: dya"}, {"steps: [1, 2, 3]", "steps: [1, 2]"}, {"steps: [1, 2, 3]", "steps: [1, 2, -3]"},
		{"steps: [1, 2, 3]", "steps: [1, 2, 3]\n  weight: 1"}, {"count: 50", "count: 0"}, {"count: 50", "count: .nan"}, {"count: 50", "cuont: 50"}, {"count: 50\n", "count: [50]\n"},
		{"key: [id]", "key: [idd]"}, {"key: [id]", "key: []"}, {"absent: 0.2", "absent: 1.2"}, {"size: 30", "size: -1"}, {"alternate: [[email]]", "alternate: [[mail]]"},
		{"owner: hotel", "owner: stays"}, {"from: Room", "from: Romo"}, {`kind: "n:1"`, `kind: "n:n"`}, {"degree: 4", "degree: -4"},
		{"most: 9", "most: 3"}, {"name: stays", "name: Hotel"}, {"consistency: QUORUM", "consistency: QUROUM"}, {"ceiling: 20", "ceiling: -20"},
		{"id: b\n", "id: a\n"}, {"FROM Hotel\n", "FROM Hotle\n"}, {"desc: [Room.number]", "desc: [Room.id]"}, {"static: [Hotel.name]", "static: [Room.beds]"},
		{"count: 16", "count: 0"}, {"paths: [Room.hotel]", "paths: [Room.hotle]"}, {"partition: [Hotel.id]", "partition: []"}, {"name: rooms\n", "name: hotels\n"}, {"name: good", "name: &a good\nmixes2: *a"},
		{"name: good", "name: !!str good"}, {"name: good", "name: good\n--- \nname: second"}, {"space_limit: 1000000", "space_limit: -1"},
	} {
		text := strings.Replace(string(good), c[0], c[1], 1)
		if text == string(good) {
			t.Errorf("%q is not in the file", c[0])
		}
		_, err := workload.Read("good.yaml", []byte(text))
		if err == nil {
			t.Errorf("%q instead of %q is accepted", c[1], c[0])
		}
		fmt.Fprintf(&got, "%v\n\n", err)
	}
	golden := "testdata/golden/messages.txt"
	if *update {
		if err := os.WriteFile(golden, []byte(got.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(filepath.Clean(golden))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got.String()); diff != "" {
		t.Error(diff)
	}
}

func complain(t *testing.T, b *strings.Builder, s *workload.Statement, err error) {
	t.Helper()
	var syntax *workload.SyntaxError
	if err == nil {
		t.Errorf("%s is accepted", s)
		return
	}
	if !errors.As(err, &syntax) {
		t.Errorf("%T is no *SyntaxError", err)
		return
	}
	fmt.Fprintf(b, "%v\n%s\n\n", err, syntax.Underlined())
}

// TestSavedAgain reads a file with everything in it, saves it, and reads that.
func TestSavedAgain(t *testing.T) {
	w, err := workload.Load("testdata/good.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var first, second bytes.Buffer
	if err := workload.Save(&first, w); err != nil {
		t.Fatal(err)
	}
	back, err := workload.Read("saved.yaml", first.Bytes())
	if err != nil {
		t.Fatalf("%v\n%s", err, first.String())
	}
	if err := workload.Save(&second, back); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(first.String(), second.String()); diff != "" {
		t.Error(diff)
	}
	for name, tables := range w.Schemas {
		for i, table := range tables {
			if got := back.Schemas[name][i].ID(); got != table.ID() {
				t.Errorf("%s, not %s", got, table.ID())
			}
		}
	}
}

// TestNothingIsAskedByADuration: Cassandra takes durations in no key and knows no order of them, so that there is no table for what is asked by one.
func TestNothingIsAskedByADuration(t *testing.T) {
	const tasks = `
entities:
- name: Task
  count: 10
  key: [id]
  attributes: [{name: id, type: uuid}, {name: takes, type: duration}, {name: at, type: timestamp}]
`
	g := parseGraph(t, tasks)
	for text, ok := range map[string]bool{
		"SELECT Task.takes FROM Task WHERE Task.at = ?":                           true,
		"UPDATE Task SET takes = ? WHERE Task.id = ?":                             true,
		"SELECT Task.id FROM Task WHERE Task.takes = ?":                           false,
		"SELECT Task.id FROM Task WHERE Task.at = ? AND Task.takes > ?":           false,
		"SELECT Task.id FROM Task WHERE Task.at = ? ORDER BY Task.takes":          false,
		"SELECT Task.id FROM Task WHERE Task.at = ? AND Task.takes IN (?)":        false,
		"DELETE FROM Task WHERE Task.takes = ?":                                   false,
		"UPDATE Task SET at = ? WHERE Task.id = ? AND Task.takes BETWEEN ? AND ?": false,
	} {
		_, err := workload.Parse(g, text)
		var wrong *workload.SyntaxError
		if ok && err != nil || !ok && (!errors.As(err, &wrong) || !strings.Contains(err.Error(), "Task.takes is a duration")) {
			t.Errorf("%s: %v", text, err)
		}
	}
	var d model.Document
	if err := model.DecodeYAML("graph.yaml", []byte(strings.Replace(tasks, "key: [id]", "key: [takes]", 1)), &d); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Graph("graph.yaml"); err == nil || !strings.Contains(err.Error(), "key attribute takes is a duration") {
		t.Errorf("a duration as a key: %v", err)
	}
}
