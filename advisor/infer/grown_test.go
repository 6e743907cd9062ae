package infer_test

import (
	"strings"
	"testing"

	"github.com/helenus-db/helenus/advisor/infer"
	"github.com/helenus-db/helenus/advisor/infer/infertest"
	"github.com/helenus-db/helenus/capture/feed"
	"github.com/helenus-db/helenus/capture/profile"
	"github.com/helenus-db/helenus/capture/schema"
	"github.com/helenus-db/helenus/capture/sketch"
)

// What applications are like that have grown over the years.

// A table that finds members by their login is no base of the members, though its primary key is one column and theirs begins with a tenant's: what refers to
// members refers to their id.
func TestLookUpIsNoBase(t *testing.T) {
	s := single("ks",
		infertest.Table("ks", "docs", "doc_id uuid", "", "title text", "owner_id uuid"),
		infertest.Table("ks", "member_logins", "login text", "", "member_id uuid", "tenant_id uuid"),
		infertest.Table("ks", "members", "tenant_id uuid", "member_id uuid", "mail text", "name text"),
		infertest.Table("ks", "tenants", "tenant_id uuid", "", "company text"))
	traffic := &infertest.Traffic{Keyspace: "ks", Seconds: 100}
	docs := traffic.Say("SELECT title, owner_id FROM docs WHERE doc_id = ?", 1000, 900, 1)
	member := traffic.Say("SELECT name FROM members WHERE tenant_id = ? AND member_id = ?", 1000, 900, 1)
	traffic.Feed(docs, "docs", "owner_id", member, "members", "member_id", feed.Feed{Executions: 1000, Hits: 1000, Producers: 1000, Followed: 1, PerExecution: 1, Confidence: 1})
	m := inferred(t, traffic, s,
		infertest.Measured("ks", "docs", 4000, 4000, "doc_id 4000 16", "title 4000 20", "owner_id 1400 16"),
		infertest.Measured("ks", "member_logins", 1500, 1500, "login 1500 20", "member_id 1500 16", "tenant_id 40 16"),
		infertest.Measured("ks", "members", 1500, 40, "tenant_id 40 16", "member_id 1500 16", "mail 1500 20", "name 1500 20"),
		infertest.Measured("ks", "tenants", 40, 40, "tenant_id 40 16", "company 40 20"))
	if e := entity(m, "Member"); e == nil || strings.Join(e.Key, " ") != "member_id" || strings.Join(e.Tables, " ") != "ks.members ks.member_logins" || strings.Join(e.Alternate, " ") != "login" {
		t.Errorf("entities %+v", m.Entities)
	}
	if got := related(m); got != "Doc.owner -> Member, Member.tenant -> Tenant" {
		t.Errorf("relationships %s", got)
	}
}

// What has something of its own to say is no look-up, and neither is what is found by an id.
func TestNoLookUp(t *testing.T) {
	for _, other := range []struct{ key, value string }{{"passport_no text", "issued timestamp"}, {"badge_id uuid", "person_id uuid"}} {
		columns := []string{"person_id uuid"}
		if other.value != columns[0] {
			columns = append(columns, other.value)
		}
		s := single("ks",
			infertest.Table("ks", "passports", other.key, "", columns...),
			infertest.Table("ks", "persons", "person_id uuid", "", "name text"))
		key, _, _ := strings.Cut(other.key, " ")
		m := inferred(t, &infertest.Traffic{Keyspace: "ks", Seconds: 10}, s,
			infertest.Measured("ks", "passports", 1000, 1000, key+" 1000 16", "person_id 1000 16", "issued 1000 8"),
			infertest.Measured("ks", "persons", 1000, 1000, "person_id 1000 16", "name 900 20"))
		if len(m.Entities) != 2 {
			t.Errorf("%s: entities %+v", other.key, m.Entities)
		}
	}
}

// That two tables have the same titles does not make a title the key of one of them: only numbers, whose values say nothing, are helped by what is beside them.
func TestTitleIsNoKey(t *testing.T) {
	s := single("ks",
		infertest.Table("ks", "listings", "shop_id bigint", "listing_no bigint", "title text"),
		infertest.Table("ks", "search", "ref text", "", "heading text"))
	column := func(of, name string, first, count uint64) profile.Column {
		values := sketch.New(256)
		for n := range count {
			values.Add((first + n) * 0x9E3779B97F4A7C15)
		}
		return profile.Column{Keyspace: "ks", Table: of, Name: name, Values: values}
	}
	snapshot := (&infertest.Traffic{Keyspace: "ks", Seconds: 10}).Snapshot()
	snapshot.Profiles = &profile.Document{Epochs: []profile.Epoch{{ID: 1, Source: 1, Columns: []profile.Column{
		column("listings", "title", 1, 1000), column("search", "heading", 1, 1000), column("search", "ref", 1_000_000, 300), // a part of the references was seen
	}}}}
	m, err := infer.Infer(snapshot, s, []schema.Stats{
		infertest.Measured("ks", "listings", 1000, 50, "shop_id 50 8", "listing_no 40 8", "title 1000 20"),
		infertest.Measured("ks", "search", 1000, 1000, "ref 1000 20", "heading 1000 20"),
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(m.Entities) != 2 {
		t.Errorf("entities %+v", m.Entities)
	}
}

// An order's buyer and its seller are asked for by the same statement: neither's share is the other's.
func TestTwoRolesOfOneStatement(t *testing.T) {
	s := single("ks",
		infertest.Table("ks", "orders", "order_id uuid", "", "buyer_id uuid", "seller_id uuid"),
		infertest.Table("ks", "users", "user_id uuid", "", "name text"))
	traffic := &infertest.Traffic{Keyspace: "ks", Seconds: 100}
	order := traffic.Say("SELECT buyer_id, seller_id FROM orders WHERE order_id = ?", 500, 900, 1)
	user := traffic.Say("SELECT name FROM users WHERE user_id = ?", 1000, 900, 1)
	for _, role := range []string{"buyer_id", "seller_id"} {
		traffic.Feed(order, "orders", role, user, "users", "user_id",
			feed.Feed{Executions: 1000, Hits: 500, Share: 0.5, Producers: 500, Followed: 1, PerExecution: 1, Shape: feed.Single, Confidence: 1})
	}
	m := inferred(t, traffic, s)
	for _, j := range m.Joins {
		if !j.Accepted {
			t.Errorf("%s -> %s is not used: %s", j.From, j.To, j.Reason)
		}
	}
	if len(m.Workload.Statements) != 1 || strings.Count(texts(m), ".name") != 2 {
		t.Errorf("workload\n%s", texts(m))
	}
	conserved(t, m, traffic.Snapshot())
}

// Ids that a copy delivers are those of what it is a copy of.
func TestCopiesDeliverKeys(t *testing.T) {
	s := single("ks",
		infertest.Table("ks", "lines", "val bigint", "line_no bigint", "quantity int"),
		infertest.Table("ks", "orders", "order_id bigint", "", "state text", "user_id bigint"),
		infertest.Table("ks", "orders_by_user", "user_id bigint", "order_id bigint", "state text"))
	traffic := &infertest.Traffic{Keyspace: "ks", Seconds: 100}
	list := traffic.Say("SELECT order_id, state FROM orders_by_user WHERE user_id = ?", 100, 900, 10)
	lines := traffic.Say("SELECT quantity FROM lines WHERE val = ?", 1000, 900, 3)
	traffic.Feed(list, "orders_by_user", "order_id", lines, "lines", "val", feed.Feed{Executions: 1000, Hits: 1000, Producers: 100, Followed: 1, PerExecution: 10, Shape: feed.NPlusOne, Confidence: 1})
	m := inferred(t, traffic, s)
	if got := related(m); got != "Line.val -> Order" {
		t.Errorf("relationships %s", got)
	}
	if len(m.Joins) != 1 || !m.Joins[0].Accepted {
		t.Errorf("joins %+v", m.Joins)
	}
}
