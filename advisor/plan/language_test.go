package plan_test

import (
	"strings"
	"testing"

	"github.com/helenus-db/helenus/advisor/model"
)

// TestLanguage shows how each part of the language is planned: what each step says, without estimates. That the steps are
// right is for TestEveryPlanAnswers to tell.
func TestLanguage(t *testing.T) {
	g := load(t, "nose-hotel.yaml").Graph
	field := func(name string) model.Field {
		f, err := g.Field(name)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	for _, c := range []struct {
		name, query, paths, table string
		change                    func(*model.Table)
		want                      string
	}{
		{name: "IN on the partition key is one get for each value", query: "SELECT Hotel.HotelName FROM Hotel WHERE Hotel.HotelID IN ? ITEMS 20",
			table: "Hotel.HotelID||Hotel.HotelName", want: "get T by HotelID IN ? (20 requests"},
		{name: "IN on a clustering column is one request", query: "SELECT Hotel.HotelName FROM Hotel WHERE Hotel.HotelCity = ? AND Hotel.HotelID IN ? ITEMS 20",
			table: "Hotel.HotelCity|Hotel.HotelID|Hotel.HotelName", want: "get T by HotelCity = ?, HotelID IN ? (1 request"},
		{name: "!= is a filter", query: "SELECT Hotel.HotelName FROM Hotel WHERE Hotel.HotelCity = ? AND Hotel.HotelName != ?",
			table: "Hotel.HotelCity|Hotel.HotelName Hotel.HotelID|", want: "get T by HotelCity = ? (|filter by HotelName != ?"},
		{name: "W-52 LIKE is a range", query: "SELECT Hotel.HotelID FROM Hotel WHERE Hotel.HotelCity = ? AND Hotel.HotelName LIKE ?",
			table: "Hotel.HotelCity|Hotel.HotelName Hotel.HotelID|", want: "get T by HotelCity = ?, HotelName LIKE ? ("},
		{name: "LIKE is a filter", query: "SELECT Hotel.HotelID FROM Hotel WHERE Hotel.HotelCity = ? AND Hotel.HotelName LIKE ?",
			table: "Hotel.HotelCity|Hotel.HotelID|Hotel.HotelName", want: "get T by HotelCity = ? (|filter by HotelName LIKE ?"},
		{name: "N-28 descending by reading in reverse", query: "SELECT Hotel.HotelID FROM Hotel WHERE Hotel.HotelCity = ? ORDER BY Hotel.HotelName DESC LIMIT 3",
			table: "Hotel.HotelCity|Hotel.HotelName Hotel.HotelID|", want: "get T by HotelCity = ?, in reverse, first 3 ("},
		{name: "N-28 mixed directions", query: "SELECT Hotel.HotelID FROM Hotel WHERE Hotel.HotelCity = ? ORDER BY Hotel.HotelName DESC, Hotel.HotelID",
			table: "Hotel.HotelCity|Hotel.HotelName Hotel.HotelID|", change: func(x *model.Table) { x.Desc = []model.Field{field("Hotel.HotelID")} }, want: "get T by HotelCity = ?, in reverse ("},
		{name: "N-28 mixed directions against the table's", query: "SELECT Hotel.HotelID FROM Hotel WHERE Hotel.HotelCity = ? ORDER BY Hotel.HotelName DESC, Hotel.HotelID",
			table: "Hotel.HotelCity|Hotel.HotelName Hotel.HotelID|", want: "get T by HotelCity = ? (|sort by HotelName descending, HotelID"},
		{name: "N-28 what follows a key in ORDER BY changes nothing", query: "SELECT Hotel.HotelName FROM Hotel WHERE Hotel.HotelCity = ? ORDER BY Hotel.HotelCity, Hotel.HotelID, Hotel.HotelName DESC",
			table: "Hotel.HotelCity|Hotel.HotelID|Hotel.HotelName", want: "get T by HotelCity = ? ("},
		{name: "limits of several requests are merged", query: "SELECT Hotel.HotelID FROM Hotel WHERE Hotel.HotelCity IN ? ITEMS 2 ORDER BY Hotel.HotelName LIMIT 3",
			table: "Hotel.HotelCity|Hotel.HotelName Hotel.HotelID|", want: "get T by HotelCity IN ?, first 3 (2 requests|sort by HotelName|keep the first 3"},
		{name: "DISTINCT", query: "SELECT DISTINCT Hotel.HotelName FROM Hotel WHERE Hotel.HotelCity = ?",
			table: "Hotel.HotelCity|Hotel.HotelID|Hotel.HotelName", want: "get T by HotelCity = ? (|keep one of each HotelName"},
		{name: "DISTINCT of what has a key", query: "SELECT DISTINCT Hotel.HotelID, Hotel.HotelName FROM Hotel WHERE Hotel.HotelCity = ?",
			table: "Hotel.HotelCity|Hotel.HotelID|Hotel.HotelName", want: "get T by HotelCity = ? ("},
		{name: "groups by the server", query: "SELECT Hotel.HotelID, count(*) FROM Room.Hotel WHERE Hotel.HotelCity = ? GROUP BY Hotel.HotelID", paths: "Room.Hotel",
			table: "Hotel.HotelCity|Hotel.HotelID Room.RoomID|", want: "get T by HotelCity = ?, group by HotelID: count(*) ("},
		{name: "groups by the client", query: "SELECT Hotel.HotelID, count(*) FROM Room.Hotel WHERE Hotel.HotelCity = ? GROUP BY Hotel.HotelID", paths: "Room.Hotel",
			table: "Hotel.HotelCity|Room.RoomID Hotel.HotelID|", want: "get T by HotelCity = ? (|group by HotelID: count(*)"},
		{name: "no equality: a constant partition", query: "SELECT Hotel.HotelName FROM Hotel", table: "Hotel.HotelID||Hotel.HotelName",
			change: func(x *model.Table) {
				x.Partition, x.Clustering, x.Bucket = nil, []model.Field{field("Hotel.HotelID")}, &model.Bucket{Count: 1}
			}, want: "get T (1 request"},
		{name: "no equality: all buckets", query: "SELECT Hotel.HotelName FROM Hotel", table: "Hotel.HotelID||Hotel.HotelName",
			change: func(x *model.Table) {
				x.Partition, x.Clustering, x.Bucket = nil, []model.Field{field("Hotel.HotelID")}, &model.Bucket{Of: field("Hotel.HotelID"), Count: 16}
			}, want: "get T, in all 16 buckets (16 requests"},
		{name: "a bucket that is told", query: "SELECT Hotel.HotelName FROM Hotel WHERE Hotel.HotelID = ?", table: "Hotel.HotelID||Hotel.HotelName",
			change: func(x *model.Table) {
				x.Partition, x.Clustering, x.Bucket = nil, []model.Field{field("Hotel.HotelID")}, &model.Bucket{Of: field("Hotel.HotelID"), Count: 16}
			}, want: "get T by HotelID = ?, in the buckets of HotelID = ? (1 request"},
		{name: "no equality: a scan", query: "SELECT Hotel.HotelName FROM Hotel", table: "Hotel.HotelID||Hotel.HotelName",
			change: func(x *model.Table) { x.ScanAllowed = true }, want: "scan T (1 request"},
		{name: "an index of a candidate", query: "SELECT Hotel.HotelName FROM Hotel WHERE Hotel.HotelCity = ?", table: "Hotel.HotelID||Hotel.HotelName Hotel.HotelCity",
			change: func(x *model.Table) {
				x.Indexes = []model.Index{{Name: "i", Field: field("Hotel.HotelCity"), SAI: true}}
			}, want: "read T by its secondary index on HotelCity = ? (1 request"},
		{name: "Cassandra takes the index where filtering is allowed, too", query: "SELECT Hotel.HotelName FROM Hotel WHERE Hotel.HotelCity = ?", table: "Hotel.HotelID||Hotel.HotelName Hotel.HotelCity",
			change: func(x *model.Table) {
				x.ScanAllowed, x.Indexes = true, []model.Index{{Name: "i", Field: field("Hotel.HotelCity")}}
			}, want: "read T by its secondary index on HotelCity = ? (1 request"},
	} {
		t.Run(c.name, func(t *testing.T) {
			x := table(t, g, c.paths, c.table)
			if c.change != nil {
				c.change(x)
			}
			plans := space(t, parse(t, g, c.query).Query, x)
			if len(plans) != 1 {
				t.Fatalf("%d plans, want 1", len(plans))
			}
			want := strings.Split(c.want, "|")
			if len(plans[0].Steps) != len(want) {
				t.Fatalf("got\n%s\nwant %s", plans[0], c.want)
			}
			for i := range want {
				if got := plans[0].Steps[i].Text(func(*model.Table) string { return "T" }); !strings.HasPrefix(got, want[i]) {
					t.Errorf("got %q, want %q", got, want[i])
				}
			}
		})
	}
}

// TestOccurrences reads one table of users for either user of a query, and tells the columns of each.
func TestOccurrences(t *testing.T) {
	w := load(t, "rubis.yaml")
	g := w.Graph
	q := parse(t, g, "SELECT users.nickname FROM comments.from_user WHERE comments.id = ?").Query
	comments, sender := g.Entity("comments"), g.Entity("users")
	receiver := g.Occurrence(sender, 2)
	q.Tree.Entities = append(q.Tree.Entities, receiver)
	q.Tree.Edges = append(q.Tree.Edges, g.Between(g.Relationship("comments_to_user"), comments, receiver))
	nickname := receiver.Field("nickname")
	q.Select = append(q.Select, nickname)
	both := &model.Table{Tree: q.Tree, Partition: comments.KeyFields(), Clustering: []model.Field{sender.Field("id"), receiver.Field("id")}}
	users := table(t, g, "", "users.id||users.nickname")
	plans := space(t, q, both, users)
	if len(plans) != 2 { // the sender's name first, or the receiver's
		t.Fatalf("%d plans, want 2", len(plans))
	}
	for _, p := range plans {
		seen := map[model.Field]bool{}
		for i := range p.Steps {
			s := &p.Steps[i]
			for _, f := range s.Fields {
				seen[f] = true
				if column := s.As.Column(f); !s.Table.Has(column) || s.As.Field(column) != f {
					t.Errorf("%s is in column %s of %s", f, column, s)
				}
			}
		}
		if !seen[nickname] || !seen[sender.Field("nickname")] {
			t.Errorf("names are missing:\n%s", p)
		}
	}
}
