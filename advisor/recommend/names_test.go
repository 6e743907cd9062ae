package recommend

import (
	"testing"

	"github.com/helenus-db/helenus/capture/schema"
)

// TestLookUpNames: each look-up table has a name that no other has, nor the table beside another, however long they are.
func TestLookUpNames(t *testing.T) {
	k := &maker{Input: Input{Schema: &schema.Schema{}}}
	named := map[string]string{}
	for _, base := range []string{"orders", "Orders", "subscriptions_of_customers_of_2023", "subscriptions_of_customers_of_2024"} {
		for _, column := range []string{"status", "status_pending", "pending", "Status", "the_address_of_the_guest_who_came", "the_address_of_the_guest_who_went"} {
			name := k.lookUpName(&schema.Table{Keyspace: "shop", Name: base}, column)
			for _, table := range []string{name, name + schema.PendingSuffix} {
				what := base + " by " + column
				if len(table) > schema.MaxName {
					t.Errorf("%s: %s has %d letters", what, table, len(table))
				}
				if other, taken := named[table]; taken {
					t.Errorf("%s is of %s, and of %s", table, what, other)
				}
				named[table] = what
			}
		}
	}
	if name := k.lookUpName(&schema.Table{Keyspace: "shop", Name: "orders"}, "status"); name != "helenus_orders_by_status" {
		t.Errorf("a name that needs no hash is %s", name)
	}
}
