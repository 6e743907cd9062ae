package check

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// sound is a cluster with nothing in the way.
func sound() *Facts {
	node := func(address string) Node {
		return Node{Address: address, Version: "5.0.8", Partitioner: "org.apache.cassandra.dht.Murmur3Partitioner", DC: "dc1", Doubt: time.Millisecond,
			Settings: map[string]string{"allow_filtering_enabled": "true", "tables_fail_threshold": "-1", "minimum_timestamp_fail_threshold": "null", "permissions_validity": "2s",
				"read_consistency_levels_disallowed": "[]"}}
	}
	return &Facts{Role: "helenus", Nodes: []Node{node("10.0.0.1:9042"), node("10.0.0.2:9042")},
		Rights: Rights{Grants: []Grant{{"<keyspace shop>", "SELECT"}, {"<keyspace ours_shop>", "CREATE"}, {"<keyspace ours_shop>", "ALTER"}, {"<keyspace ours_shop>", "DROP"},
			{"<keyspace ours_shop>", "SELECT"}, {"<keyspace ours_shop>", "MODIFY"}}},
		Keyspaces: []Keyspace{{Name: "shop", Replication: map[string]string{"class": "org.apache.cassandra.locator.NetworkTopologyStrategy", "dc1": "2"}, Tables: 3,
			Data: Data{"ours_shop", map[string]string{"class": "org.apache.cassandra.locator.NetworkTopologyStrategy", "dc1": "2"}, "CREATE KEYSPACE ours_shop", "ALTER KEYSPACE ours_shop"}}},
		Owners: []string{"one"}, Wants: Wants{Permissions: 2 * time.Second, Entries: 1000, Topology: "mirror"}}
}

func TestNothingInTheWay(t *testing.T) {
	for _, x := range All(sound()) {
		if x.Level != Fine {
			t.Errorf("%+v", x)
		}
	}
}

// TestEachIsFound: whatever is wrong is found under its name, says so, and says what helps.
func TestEachIsFound(t *testing.T) {
	setting := func(name, value string) func(*Facts) {
		return func(f *Facts) { f.Nodes[1].Settings[name] = value }
	}
	for name, c := range map[string]struct {
		change func(*Facts)
		check  string
		level  Level
		says   string
		do     string
	}{
		"a node down":      {func(f *Facts) { f.Nodes[1].Failed = "refused" }, "nodes", Warns, "10.0.0.2:9042 could not be asked", "start it"},
		"an old version":   {func(f *Facts) { f.Nodes[0].Version = "4.0.11" }, "version", Blocks, "4.0.11", "upgrade"},
		"two versions":     {func(f *Facts) { f.Nodes[0].Version = "4.1.10" }, "version", Warns, "4.1.10, 5.0.8", "finish"},
		"beta":             {func(f *Facts) { f.Nodes[0].Version = "3.11-beta1" }, "version", Blocks, "3.11", "upgrade"},
		"partitioner":      {func(f *Facts) { f.Nodes[1].Partitioner = "org.apache.cassandra.dht.RandomPartitioner" }, "partitioner", Blocks, "Random", "none"},
		"no right":         {func(f *Facts) { f.Rights.Grants = nil }, "permissions", Blocks, "no SELECT on keyspace shop", "GRANT SELECT ON KEYSPACE shop TO helenus;"},
		"no right to make": {func(f *Facts) { f.Rights.Grants = f.Rights.Grants[:1] }, "permissions", Warns, "no CREATE, ALTER, DROP, SELECT, MODIFY on keyspace ours_shop", "GRANT ALL PERMISSIONS ON KEYSPACE ours_shop TO helenus;"},
		"no keyspace": {func(f *Facts) { f.Keyspaces[0].Data.Replication = nil }, "permissions", Warns, "ours_shop, which look-up tables over shop lie in, is not there",
			"CREATE KEYSPACE ours_shop; GRANT ALL PERMISSIONS ON KEYSPACE ours_shop TO helenus;"},
		"other replication": {func(f *Facts) { f.Keyspaces[0].Data.Replication["dc1"] = "1" }, "replication", Warns, "ours_shop is not replicated as shop is", "ALTER KEYSPACE ours_shop;"},
		"no state": {func(f *Facts) { f.State = &State{Name: "helenus", Make: "CREATE KEYSPACE helenus"} }, "state", Blocks, "keyspace helenus, in which members of a fleet keep their state, is not there",
			"CREATE KEYSPACE helenus; GRANT ALL PERMISSIONS ON KEYSPACE helenus TO helenus;"},
		"no right to the state": {func(f *Facts) { f.State = &State{Name: "helenus"} }, "state", Blocks, "no SELECT, MODIFY on keyspace helenus", "GRANT ALL PERMISSIONS ON KEYSPACE helenus TO helenus;"},
		"no right to make the state's tables": {func(f *Facts) {
			f.State = &State{Name: "helenus", Bare: true}
			f.Rights.Grants = append(f.Rights.Grants, Grant{"<keyspace helenus>", "SELECT"}, Grant{"<all tables in helenus>", "MODIFY"})
		}, "state", Blocks, "no CREATE on keyspace helenus", "GRANT ALL PERMISSIONS ON KEYSPACE helenus TO helenus;"},
		"one copy of the state": {func(f *Facts) {
			f.State = &State{Name: "helenus", Replication: map[string]string{"class": "NetworkTopologyStrategy", "dc1": "1"}}
		}, "replication", Warns, "has 1 copy", "ALTER KEYSPACE helenus"},
		"a slip of the pen": {func(f *Facts) { f.Named = []string{"shop", "shpo"} }, "keyspaces", Blocks, "keyspace shpo, which", "system_schema.keyspaces"},
		"a reserved word":   {func(f *Facts) { f.Rights.Grants, f.Keyspaces[0].Name = nil, "order" }, "permissions", Blocks, "keyspace order", `GRANT SELECT ON KEYSPACE "order" TO helenus;`},
		"no right to alter": {func(f *Facts) { f.Rights.Grants[2].Resource = "<all tables in ours_shop>" }, "permissions", Warns, "no ALTER on keyspace ours_shop", "GRANT ALL"},
		"odd names":         {func(f *Facts) { f.Rights.Grants, f.Role, f.Keyspaces[0].Name = nil, `He"l`, "Shop" }, "permissions", Blocks, "Shop", `GRANT SELECT ON KEYSPACE "Shop" TO "He""l";`},
		"right on a table":  {func(f *Facts) { f.Rights.Grants[0].Resource = "<table shop.orders>" }, "permissions", Blocks, "no SELECT", "GRANT"},
		"superuser":         {func(f *Facts) { f.Rights = Rights{Super: true} }, "permissions", Warns, "superuser", "step 3"},
		"not listed":        {func(f *Facts) { f.Rights = Rights{Failed: "no"} }, "permissions", Warns, "can not be listed", "LIST ALL"},
		"clients unseen":    {func(f *Facts) { f.Unreadable = []string{"system_views.clients"} }, "system tables", Warns, "who else is connected", "GRANT SELECT ON system_views.clients TO helenus;"},
		"no filtering":      {setting("allow_filtering_enabled", "false"), "guardrails", Blocks, "10.0.0.2:9042", "allow_filtering_enabled: true"},
		"few tables":        {setting("tables_fail_threshold", "4"), "guardrails", Blocks, "too many", "raise"},
		"timestamps":        {setting("minimum_timestamp_fail_threshold", "30d"), "guardrails", Blocks, "timestamps 1 and 2", "unset"},
		"levels":            {setting("write_consistency_levels_disallowed", "[ANY, ALL]"), "guardrails", Blocks, "filled at ALL", "off the list"},
		"pages":             {setting("page_size_fail_threshold", "500"), "guardrails", Blocks, "one page", "max-entries"},
		"keys":              {setting("partition_keys_in_select_fail_threshold", "5"), "guardrails", Warns, "one by one", "16"},
		"cdc blocks": {func(f *Facts) {
			f.Nodes[1].Settings["cdc_enabled"], f.Nodes[1].Settings["cdc_block_writes"] = "true", "true"
		}, "cdc", Warns, "10.0.0.2:9042", "cdc_block_writes: false"},
		"permissions older": {func(f *Facts) { f.Wants.Permissions = 5 * time.Second }, "permissions validity", Warns, "for 2s", "permissions-validity: 2s"},
		"simple strategy":   {func(f *Facts) { f.Keyspaces[0].Replication["class"], f.Nodes[1].DC = "SimpleStrategy", "dc2" }, "replication", Warns, "2 data centres", "NetworkTopologyStrategy"},
		"one replica":       {func(f *Facts) { f.Keyspaces[0].Replication["replication_factor"] = "1" }, "replication", Warns, "one replica", "raise"},
		"clocks apart":      {func(f *Facts) { f.Nodes[1].Offset = 200 * time.Millisecond }, "clocks", Warns, "10.0.0.2:9042 is 200ms ahead", "chrony"},
		"clocks off":        {func(f *Facts) { f.Nodes[0].Offset, f.Nodes[1].Offset = -time.Minute, -time.Minute }, "clocks", Warns, "off that of this machine", "chrony"},
		"two states":        {func(f *Facts) { f.Owners = []string{"one", "two"} }, "other writers", Blocks, "one, two", "one state"},
		"an application":    {func(f *Facts) { f.Clients = []Client{{"app", "Java", "10.0.0.9", 3}} }, "other writers", Warns, "user app with driver Java", "through Helenus"},
		"a job at night": {func(f *Facts) {
			f.Seen = []Seen{{Client{"etl", "Spark", "10.0.0.8", 2}, time.Date(2026, 11, 1, 2, 0, 0, 0, time.UTC), time.Date(2026, 11, 26, 2, 5, 0, 0, time.UTC), 75}}
		}, "other writers", Warns, "user etl with driver Spark was connected from 10.0.0.8 past Helenus, last at 2026-11-26 02:05 (in 75 looks since 2026-11-01)", "through Helenus"},
		"unseen": {func(f *Facts) { f.Unseen = "node x" }, "other writers", Warns, "node x", ""},
		"gocql":  {func(f *Facts) { f.Clients = []Client{{"app", "github.com/gocql/gocql", "10.0.0.9", 3}} }, "routing", Warns, "in turn", "TokenAwareHostPolicy"},
		"single": {func(f *Facts) { f.Wants.Topology = "single" }, "routing", Warns, "one node of 2", "mirror"},
	} {
		t.Run(name, func(t *testing.T) {
			f := sound()
			c.change(f)
			all := All(f)
			if !slices.ContainsFunc(all, func(x Finding) bool {
				return x.Check == c.check && x.Level == c.level && strings.Contains(x.Says, c.says) && strings.Contains(x.Do, c.do)
			}) {
				t.Errorf("not found among %+v", all)
			}
			if i := slices.IndexFunc(all, func(x Finding) bool { return x.Level == Blocks }); i > 0 {
				t.Errorf("what blocks comes after %+v", all[0])
			}
		})
	}
}

// TestAllTables: a right on all tables of a keyspace is one to read and write them, and to make and drop some.
func TestAllTables(t *testing.T) {
	f := sound()
	for i, g := range f.Rights.Grants {
		if g.Permission != "ALTER" {
			f.Rights.Grants[i].Resource = strings.Replace(g.Resource, "<keyspace ", "<all tables in ", 1)
		}
	}
	for _, x := range All(f) {
		if x.Level != Fine {
			t.Errorf("%+v", x)
		}
	}
}

// TestUncheckedClusters have no permissions to lack.
func TestUncheckedClusters(t *testing.T) {
	f := sound()
	f.Role, f.Rights = "", Rights{Unchecked: true}
	for _, x := range All(f) {
		if x.Level != Fine {
			t.Errorf("%+v", x)
		}
	}
}
