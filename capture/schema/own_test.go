package schema

import (
	"strings"
	"testing"
)

// No two keyspaces of the application share one of ours, whatever they are called, and each name is one that Cassandra takes.
func TestDataKeyspace(t *testing.T) {
	long := strings.Repeat("k", 48)
	seen := map[string]string{}
	for _, base := range []string{"shop", "Shop", "SHOP", "shop_2", "shop-2", "shop 2", long, long[:47] + "l", strings.ToUpper(long), "käse", "k_se", "k__se"} {
		got := DataKeyspace("helenus_data", base)
		if other := seen[got]; other != "" {
			t.Errorf("%q and %q share %s", base, other, got)
		}
		seen[got] = base
		if len(got) > 48 || !strings.HasPrefix(got, "helenus_data_") || strings.Trim(got, "abcdefghijklmnopqrstuvwxyz0123456789_") != "" {
			t.Errorf("that of %q is to be %q", base, got)
		}
	}
	if got := DataKeyspace("helenus_data", "shop"); got != "helenus_data_shop" {
		t.Error(got)
	}
	if got := DataKeyspace("", "shop"); got != "shop" {
		t.Errorf("without a prefix: %s", got)
	}
}

// What is shown as the application's leaves out what is ours, and nothing else.
func TestWithoutOwn(t *testing.T) {
	own := Table{Name: "stays_by_guest", Comment: "helenus r-1 owner 0123"}
	s := &Schema{Keyspaces: []Keyspace{
		{Name: "empty"},
		{Name: "helenus", Tables: []Table{{Name: "state", Comment: "helenus state; see docs/fleet.md"}}}, // of a fleet
		{Name: "helenus_data_hotel", Tables: []Table{own}},
		{Name: "helenus_data_odd", Tables: []Table{own, {Name: "theirs"}}}, // somebody's own of such a name
		{Name: "helenus_data_shop"},
		{Name: "hotel", Tables: []Table{own, {Name: "stays"}}}, // from before there were keyspaces of ours
		{Name: "shop", Tables: []Table{{Name: "orders"}}},
	}}
	var got []string
	for _, k := range s.WithoutOwn("helenus_data").Keyspaces {
		name := k.Name
		for _, table := range k.Tables {
			name += " " + table.Name
		}
		got = append(got, name)
	}
	if want := "empty, helenus_data_odd theirs, hotel stays, shop orders"; strings.Join(got, ", ") != want {
		t.Errorf("%q, want %q", strings.Join(got, ", "), want)
	}
	if len(s.Keyspaces[5].Tables) != 2 {
		t.Error("the schema itself was changed")
	}
}

func TestReplicationIsWrittenAsRead(t *testing.T) {
	k := &Keyspace{Name: "shop", Replication: map[string]string{"dc2": "2", "class": "org.apache.cassandra.locator.NetworkTopologyStrategy", "dc'1": "3/1"}}
	const want = `{'class': 'org.apache.cassandra.locator.NetworkTopologyStrategy', 'dc''1': '3/1', 'dc2': '2'}`
	if got := k.CreateLike("Ours"); got != `CREATE KEYSPACE IF NOT EXISTS "Ours" WITH replication = `+want {
		t.Error(got)
	}
	if got := k.AlterLike("ours"); got != "ALTER KEYSPACE ours WITH replication = "+want {
		t.Error(got)
	}
	if got := GrantAll("ours", "He"); got != `GRANT ALL PERMISSIONS ON KEYSPACE ours TO "He"` {
		t.Error(got)
	}
}
