package options

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/helenus-db/helenus/advisor/workload"
)

// customer is Table I of seed 000. The customer's own key is ours: the seed does not name it.
const customer = `name: customer
model:
  entities:
  - {name: customer, count: 1000, key: [id], attributes: [{name: id, type: uuid}, {name: fname, type: text}, {name: lname, type: text}, {name: age, type: int}, {name: address, type: text}]}
statements:
`

const (
	q1 = `- {id: q1, text: "SELECT customer.fname, customer.lname FROM customer WHERE customer.fname = ?", weight: 9}` + "\n"
	q2 = `- {id: q2, text: "SELECT customer.fname, customer.lname FROM customer WHERE customer.age = ? AND customer.address = ? AND customer.lname = ?", weight: 9}` + "\n"
	q3 = `- {id: q3, text: "SELECT customer.fname, customer.lname, customer.address FROM customer WHERE customer.fname = ?", weight: 9}` + "\n"
	q4 = `- {id: q4, text: "UPDATE customer SET lname = ? WHERE customer.fname = ?", weight: 1}` + "\n"
	q5 = `- {id: q5, text: "INSERT INTO customer SET fname = ?, lname = ?, age = ?, address = ?", weight: 1}` + "\n"
)

func read(t testing.TB, text string) *workload.Workload {
	t.Helper()
	w, err := workload.Read("test.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func find(t testing.TB, w *workload.Workload, c Config) *Report {
	t.Helper()
	r, err := Find(context.Background(), w, c)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func twissandra(t testing.TB) *workload.Workload {
	t.Helper()
	w, err := workload.Load("../../examples/designs/twissandra.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// schema writes tables in short: without names of entities where a field's own is clear.
func schema(list []*Table) string {
	var lines []string
	for _, t := range list {
		lines = append(lines, t.String())
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// TestVariantsB14 is Table II of the seed (B-14; B-10, B-12, B-17).
func TestVariantsB14(t *testing.T) {
	r := find(t, read(t, customer+q2), Config{Indexes: 1})
	var got []string
	for _, v := range r.Queries[0].Variants {
		got = append(got, strings.ReplaceAll(v.String(), "customer.", ""))
	}
	want := []string{
		"key age_address_lname | index - | fname",
		"key age_address | index lname | fname",
		"key age_lname | index address | fname",
		"key address_lname | index age | fname",
		"key lname | index age_address | fname",
		"key address | index age_lname | fname",
		"key age | index address_lname | fname",
		"key - | index age_address_lname | fname",
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("variants of q2:\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// B-13 and B-15: how many variants k filter fields have with s indexes.
func TestVariantCountsB15(t *testing.T) {
	for _, c := range []struct{ k, s, want int }{
		{1, 0, 1}, {1, 1, 2}, {1, 2, 2}, {2, 1, 4}, {3, 0, 1}, {3, 1, 8}, {3, 2, 14}, {3, 3, 15}, {3, 4, 15}, {4, 1, 16}, {6, 1, 64}, {4, 4, 52},
	} {
		var attributes, where []string
		for i := range c.k {
			attributes = append(attributes, fmt.Sprintf("{name: f%d, type: text}", i))
			where = append(where, fmt.Sprintf("E.f%d = ?", i))
		}
		text := fmt.Sprintf(`name: k
model:
  entities:
  - {name: E, count: 10, key: [id], attributes: [{name: id, type: uuid}, %s]}
statements:
- {id: q, text: "SELECT E.id FROM E WHERE %s", weight: 1}
`, strings.Join(attributes, ", "), strings.Join(where, " AND "))
		r := find(t, read(t, text), Config{Indexes: c.s})
		if got := len(r.Queries[0].Variants); got != c.want || assignments(c.k, c.s) != float64(c.want) {
			t.Errorf("%d fields, %d indexes: %d variants, counted %g, want %d", c.k, c.s, got, assignments(c.k, c.s), c.want)
		}
		seen := map[string]bool{}
		for _, v := range r.Queries[0].Variants {
			if seen[v.id] || !v.Answers(r.Queries[0]) || len(v.indexes) > c.s {
				t.Errorf("%d fields, %d indexes: variant %s is there twice, has too many indexes, or does not answer", c.k, c.s, v)
			}
			seen[v.id] = true
		}
	}
}

func TestProductB18(t *testing.T) {
	if r := find(t, read(t, customer+q1+q2+q4), Config{Indexes: 1}); r.Combined != 16 || r.Looked != 16 {
		t.Errorf("%g combinations, %g looked at, want 16 (B-18)", r.Combined, r.Looked)
	}
}

// figure3 and figure4 are Twissandra's schemas in the seed.
const (
	figure3 = `key Tweet.tweet_id | index - | Tweet.body, Tweet.time, Tweet.user
key User.user | index - | Follower.follower
key User.user | index - | Friend.friend
key User.user | index - | Tweet.time, Tweet.tweet_id
key User.user | index - | User.password
key User.user_Tweet.time | index - | Tweet.tweet_id`
	figure4 = `key User.user | index - | Follower.follower
key User.user | index - | Friend.friend
key User.user | index - | Tweet.body, Tweet.time, Tweet.tweet_id
key User.user | index - | User.password
key User.user_Tweet.time | index - | Tweet.body, Tweet.tweet_id`
)

// B-48 to B-50, B-45 and B-44.
func TestTwissandraB48B49B50(t *testing.T) {
	r := find(t, twissandra(t), Config{Indexes: 1})
	if r.Combined != 128 || r.Merged != 128 || len(r.Options) != 128 {
		t.Errorf("%g combinations, %g merged, %d options, want 128 of each (B-48, B-49)", r.Combined, r.Merged, len(r.Options))
	}
	if len(r.Cut)+len(r.Unsupported) > 0 {
		t.Errorf("cut %q, unsupported %q", r.Cut, r.Unsupported)
	}
	best, second := r.Options[0], r.Options[1]
	if got := schema(best.Tables); got != figure3 {
		t.Errorf("the best option is\n%s\nwant figure 3 (B-50):\n%s", got, figure3)
	}
	if r.Fields != 12 || best.Score != 1.25 || best.Metrics.Columns != 15 || second.Score <= best.Score {
		t.Errorf("score %g of %d columns over %d fields, the second %g; want 15 / 12 = 1.25, the only minimum (B-44, B-45)", best.Score, best.Metrics.Columns, r.Fields, second.Score)
	}
	if last := r.Options[127]; last.Score < second.Score {
		t.Errorf("not ascending: %g after %g", last.Score, second.Score)
	}
}

// inlined is Twissandra with t2 and t3 returning whole tweets, and without t1 (B-51). more fields are given to the model.
func inlined(t *testing.T, more string) *workload.Workload {
	w := twissandra(t)
	var b strings.Builder
	if err := workload.Save(&b, w); err != nil {
		t.Fatal(err)
	}
	text := strings.NewReplacer("SELECT Tweet.time, Tweet.tweet_id FROM", "SELECT Tweet.* FROM", "SELECT Tweet.tweet_id, Tweet.time FROM", "SELECT Tweet.* FROM").Replace(b.String())
	w = read(t, text)
	w.Statements = slices.DeleteFunc(w.Statements, func(s *workload.Statement) bool { return s.ID == "t1" })
	if more != "" {
		e := w.Graph.Entity("Friend")
		a := *e.Attribute("since")
		a.Name = more
		e.Attributes = append(e.Attributes, &a)
	}
	return w
}

// TestLiteralT3B53: t3 is as table IV writes it, the user's own tweets at a time, and not those of whom the user follows.
func TestLiteralT3B53(t *testing.T) {
	w := twissandra(t)
	q := w.Statement("t3").Query
	if q == nil || q.Tree.Path() != "Tweet.author" || len(q.Where) != 2 || q.Where[0].Field.String() != "User.user" || q.Where[1].Field.String() != "Tweet.time" {
		t.Errorf("%s", w.Statement("t3"))
	}
}

func TestFigure4B51(t *testing.T) {
	for _, c := range []struct {
		more string
		ties int // of the best score
	}{{"", 5}, {"note", 1}} {
		r := find(t, inlined(t, c.more), Config{Indexes: 1})
		if r.Combined != 64 || len(r.Options) != 64 {
			t.Errorf("%g combinations, %d options, want 64", r.Combined, len(r.Options))
		}
		if got := schema(r.Options[0].Tables); got != figure4 {
			t.Errorf("%d fields: the best option is\n%s\nwant figure 4:\n%s", r.Fields, got, figure4)
		}
		ties := 0
		for _, o := range r.Options {
			if fmt.Sprintf("%.6f", o.Score) == fmt.Sprintf("%.6f", r.Options[0].Score) {
				ties++
			}
		}
		if ties != c.ties {
			t.Errorf("%d fields: %d options share the best score %g, want %d", r.Fields, ties, r.Options[0].Score, c.ties)
		}
	}
}

// TestLocalIdentityB20 (B-20): with each query over one entity alone, t2 and t3 are part of tweets, and the order of merging decides:
// 128 combinations have 192 different fix-points.
func TestLocalIdentityB20(t *testing.T) {
	var b strings.Builder
	if err := workload.Save(&b, twissandra(t)); err != nil {
		t.Fatal(err)
	}
	text := strings.NewReplacer("FROM Tweet.author WHERE User.user", "FROM Tweet WHERE Tweet.user", "FROM Friend.of WHERE User.user", "FROM Friend WHERE Friend.user", "FROM Follower.of WHERE User.user", "FROM Follower WHERE Follower.user").Replace(b.String())
	r := find(t, read(t, text), Config{Indexes: 1})
	if r.Combined != 128 || r.Merged != 192 {
		t.Errorf("%g combinations, %g fix-points, want 128 and 192", r.Combined, r.Merged)
	}
}

// twelve queries with four filter fields each, on one entity or on four.
func many(entities int) string {
	var b strings.Builder
	b.WriteString("name: many\nmodel:\n  entities:\n")
	for e := range entities {
		fmt.Fprintf(&b, "  - {name: E%d, count: 1000, key: [id], attributes: [{name: id, type: uuid}", e)
		for i := range 12 {
			fmt.Fprintf(&b, ", {name: f%d, type: text}", i)
		}
		b.WriteString("]}\n")
	}
	b.WriteString("statements:\n")
	for q := range 12 {
		e := q % entities
		fmt.Fprintf(&b, "- {id: q%d, text: \"SELECT E%d.f%d FROM E%d WHERE E%d.f%d = ? AND E%d.f%d = ? AND E%d.f%d = ? AND E%d.f%d = ?\", weight: 1}\n",
			q, e, (q+7)%12, e, e, q, e, (q+1)%12, e, (q+2)%12, e, (q+3)%12)
	}
	b.WriteString("- {id: w, text: \"UPDATE E0 SET f0 = ? WHERE E0.f1 = ?\", weight: 1}\n")
	return b.String()
}

// TestManyQueries: twelve queries of four filters end, and what was not enumerated is said; all that is there answers (B-3).
func TestManyQueries(t *testing.T) {
	for _, entities := range []int{1, 4} {
		r := find(t, read(t, many(entities)), Config{Indexes: 1})
		if r.Combined != 281474976710656 {
			t.Errorf("%g combinations, want 16^12", r.Combined)
		}
		if len(r.Cut) == 0 || len(r.Options) < 1000 {
			t.Errorf("%d options, cut: %q", len(r.Options), r.Cut)
		}
		t.Logf("%d entities: %d options, %g looked at, cut %q, best %g", entities, len(r.Options), r.Looked, r.Cut, r.Options[0].Score)
		answered(t, r)
	}
}

// answered holds every option to the read guarantee, over the tables that Cassandra would have (B-3).
func answered(t testing.TB, r *Report) {
	t.Helper()
	for _, o := range r.Options {
		if o.Given {
			continue
		}
		for _, q := range r.Queries {
			if !slices.ContainsFunc(o.Tables, func(x *Table) bool { return oneRequest(x, q) }) {
				t.Errorf("%s: no table answers %s by one request:\n%s", o.Name, q.ID, schema(o.Tables))
			}
		}
		for _, x := range o.Tables {
			if err := x.Physical().Validate(); err != nil {
				t.Errorf("%s: %v", o.Name, err)
			}
			if len(x.indexes) > r.Indexes {
				t.Errorf("%s: %s has more than %d indexes", o.Name, x, r.Indexes)
			}
		}
	}
}

// oneRequest looks at a table as Cassandra has it: all that the query names is there; the partition or an indexed field is
// given, and every condition is on the primary key or on an index.
func oneRequest(x *Table, q *Query) bool {
	p := x.Physical()
	begins := true
	for _, f := range p.Partition {
		begins = begins && slices.Contains(q.Filters, f)
	}
	for _, f := range q.Filters {
		begins = begins || p.HasIndex(f)
		if !p.Has(f) || !p.InKey(f) && !p.HasIndex(f) {
			return false
		}
	}
	for _, f := range q.Selected {
		if !p.Has(f) {
			return false
		}
	}
	return begins && x.Purpose != Helper
}

// TestRangesAloneB06: operators are taken for supported (B-6), so a query by ranges alone has a row key; the table that Cassandra has puts a
// bucket before it, without which no request reads it.
func TestRangesAloneB06(t *testing.T) {
	w, err := workload.Read("ranges.yaml", []byte(`name: ranges
model:
  entities:
  - {name: A, count: 10, key: [id], attributes: [{name: id, type: uuid}, {name: x, type: int}]}
statements:
- {id: range, weight: 1, text: "SELECT A.id FROM A WHERE A.x > ?"}
`))
	if err != nil {
		t.Fatal(err)
	}
	r := find(t, w, Config{Indexes: 1})
	if len(r.Options) != 2 {
		t.Fatalf("%d options", len(r.Options))
	}
	keyed := 0
	for _, o := range r.Options {
		p := o.Tables[0].Physical()
		if o.Tables[0].key.empty() {
			continue
		}
		keyed++
		if p.Bucket == nil || len(p.Partition) > 0 || !p.Identifies() || !strings.Contains(p.CQL("", "t"), "PRIMARY KEY ((bucket), x, id)") {
			t.Errorf("%s: %s", p, p.CQL("", "t"))
		}
	}
	if keyed != 1 || !slices.ContainsFunc(r.Remarks, func(x Remark) bool { return x.ID == "range" && strings.Contains(x.Text, "behind a bucket") }) {
		t.Errorf("%d with a row key; %v", keyed, r.Remarks)
	}
}
