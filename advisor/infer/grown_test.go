package infer_test

import (
	"strings"
	"testing"

	"github.com/helenus-db/helenus/advisor/infer/infertest"
	"github.com/helenus-db/helenus/capture/feed"
)

// What applications are like that have grown over the years.

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
