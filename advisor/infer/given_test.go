package infer_test

import (
	"strings"
	"testing"

	"github.com/helenus-db/helenus/advisor/infer"
	"github.com/helenus-db/helenus/advisor/infer/infertest"
	"github.com/helenus-db/helenus/capture/feed"
	"github.com/helenus-db/helenus/capture/schema"
)

// Numbers are those of a tenant, who is before them in every key and comes with the session: no answer tells it again. That a ticket's row brings the number of a user is
// enough where both statements are asked for the tenant, and where both tables have one; of tables without tenants it is not.
func TestKeysWithinATenant(t *testing.T) {
	for _, c := range []struct {
		name            string
		reads, relation string
		tenants         bool
		want            bool
	}{
		{"both asked for the tenant", "SELECT reporter FROM tickets WHERE tenant_id = ? AND ticket_no = ?", "Ticket.user -> User", true, true},
		{"the ticket asked for by a text", "SELECT reporter FROM tickets WHERE title = ? ALLOW FILTERING", "Ticket.user -> User", true, false},
		{"no tenants", "SELECT reporter FROM tickets WHERE tenant_id = ? AND ticket_no = ?", "Ticket.user -> User", false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			tables := []schema.Table{
				infertest.Table("ks", "users", "tenant_id text", "user_id int", "name text"),
				infertest.Table("ks", "tickets", "tenant_id text", "ticket_no int", "reporter int", "title text"),
			}
			stats := []schema.Stats{
				infertest.Measured("ks", "users", 1600, 60, "tenant_id 60 8", "user_id 45 4", "name 1600 12"),
				infertest.Measured("ks", "tickets", 4000, 60, "tenant_id 60 8", "ticket_no 90 4", "reporter 45 4", "title 4000 20"),
			}
			if c.tenants {
				tables, stats = append(tables, infertest.Table("ks", "tenants", "tenant_id text", "", "name text")), append(stats, infertest.Measured("ks", "tenants", 60, 60, "tenant_id 60 8", "name 60 12"))
			}
			traffic := &infertest.Traffic{Keyspace: "ks", Seconds: 100}
			ticket := traffic.Say(c.reads, 1000, 900, 1)
			user := traffic.Say("SELECT name FROM users WHERE tenant_id = ? AND user_id = ?", 1000, 900, 1)
			traffic.Feed(ticket, "tickets", "reporter", user, "users", "user_id", all(1, feed.Single))
			m, err := infer.Infer(traffic.Snapshot(), single("ks", tables...), stats)
			if err != nil {
				t.Fatal(err)
			}
			conserved(t, m, traffic.Snapshot())
			if got := strings.Contains(related(m), c.relation); got != c.tenants {
				t.Errorf("relationships %s", related(m))
			}
			if got := len(m.Joins) == 1 && m.Joins[0].Accepted && len(m.Workload.Statements) == 1; got != c.want {
				t.Errorf("joins %+v, workload %s", m.Joins, texts(m))
			}
			if c.want && strings.Count(texts(m), "= ?") != 2 { // the tenant is asked for once
				t.Errorf("workload %s", texts(m))
			}
		})
	}
}
