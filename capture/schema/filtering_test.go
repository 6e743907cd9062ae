package schema

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/gocql/gocql"

	"github.com/helenus-db/helenus/capture/cql"
)

// filteringTables are what the differential test asks about.
var filteringTables = []string{
	`CREATE TABLE %s.a (k int, c int, d int, e text, s int static, v int, w text, PRIMARY KEY (k, c, d, e)) WITH CLUSTERING ORDER BY (c ASC, d DESC, e ASC)`,
	`CREATE TABLE %s.b (k int, l int, c int, d int, s int static, v int, w int, m map<text, int>, g set<int>, h list<int>, f frozen<list<int>>, PRIMARY KEY ((k, l), c, d))`,
	`CREATE INDEX ON %s.b (v)`, `CREATE INDEX ON %s.b (g)`, `CREATE INDEX ON %s.b (keys(m))`, `CREATE INDEX ON %s.b (w)`,
	`CREATE TABLE %s.n (k int, c int, d int, v int, w text, m map<text, int>, g set<int>, x int, PRIMARY KEY (k, c, d))`,
	`CREATE CUSTOM INDEX ON %s.n (v) USING 'StorageAttachedIndex'`, `CREATE CUSTOM INDEX ON %s.n (w) USING 'StorageAttachedIndex'`,
	`CREATE CUSTOM INDEX ON %s.n (entries(m)) USING 'StorageAttachedIndex'`, `CREATE CUSTOM INDEX ON %s.n (g) USING 'StorageAttachedIndex'`,
	`CREATE CUSTOM INDEX ON %s.n (d) USING 'StorageAttachedIndex'`,
	`CREATE TABLE %s.p (k int PRIMARY KEY, v int, m map<text, int>, w text)`, `CREATE INDEX ON %s.p (entries(m))`,
	`CREATE TABLE %s.r (k int, l int, c int, v vector<float, 2>, w int, x int, PRIMARY KEY ((k, l), c))`,
	`CREATE CUSTOM INDEX ON %s.r (v) USING 'StorageAttachedIndex'`, `CREATE CUSTOM INDEX ON %s.r (w) USING 'StorageAttachedIndex'`,
	`CREATE TABLE %s.q (k int, c int, d int, v int, PRIMARY KEY (k, c, d))`, `CREATE INDEX ON %s.q (c)`, `CREATE INDEX ON %s.q (d)`,
}

// TestFilteringAgreesWithCassandra asks a real server about generated SELECTs, with and without ALLOW FILTERING. Their number
// is HELENUS_FILTERING, by default few.
func TestFilteringAgreesWithCassandra(t *testing.T) {
	session, keyspace := connect(t)
	for _, ddl := range append(slices.Clone(filteringTables), groupedTable) {
		run(t, session, fmt.Sprintf(ddl, keyspace))
	}
	// SASI finds what is LIKE something. Servers have it switched off unless told otherwise.
	for _, ddl := range []string{`CREATE TABLE %s.z (k int PRIMARY KEY, w text, x text, v int)`, `CREATE CUSTOM INDEX ON %s.z (w) USING 'org.apache.cassandra.index.sasi.SASIIndex'`,
		`CREATE CUSTOM INDEX ON %s.z (x) USING 'org.apache.cassandra.index.sasi.SASIIndex' WITH OPTIONS = {'mode': 'CONTAINS'}`, `CREATE CUSTOM INDEX ON %s.z (v) USING 'org.apache.cassandra.index.sasi.SASIIndex'`} {
		if err := session.Query(fmt.Sprintf(ddl, keyspace)).Exec(); err != nil {
			t.Logf("without SASI: %v", err)
		}
	}
	live, err := Read(context.Background(), session, keyspace)
	if err != nil {
		t.Fatal(err)
	}
	n, err := strconv.Atoi(os.Getenv("HELENUS_FILTERING"))
	if err != nil {
		n = 300
	}
	random := rand.New(rand.NewPCG(7, uint64(n)))
	count := map[Filtering]int{}
	wrong := 0
	verdict := func(text string) (want Filtering, why, whyToo string) {
		without, why := asked(session, text)
		with, whyToo := asked(session, text+" ALLOW FILTERING")
		switch {
		case without && with:
			return FilteringNotNeeded, why, whyToo
		case with:
			return FilteringNeeded, why, whyToo
		}
		return FilteringRefused, why, whyToo
	}
	for text, want := range grouped {
		text = fmt.Sprintf(text, keyspace)
		if got, why, whyToo := verdict(text); got != want {
			t.Errorf("%s: the server says %s (%s; %s), the table %s", text, got, why, whyToo, want)
		}
	}
	for range n {
		k := live.Keyspace(keyspace)
		table := &k.Tables[random.IntN(len(k.Tables))]
		if only := os.Getenv("HELENUS_FILTERING_TABLE"); only != "" {
			table = k.Table(only)
		}
		text := randomSelect(table, random)
		st, err := cql.Parse(text)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		want, why, whyToo := verdict(text)
		got, reason := VerdictOf(table, st.(*cql.Select))
		count[want]++
		if got != want {
			if wrong++; wrong < 40 {
				t.Errorf("%s\nserver: %s (%s; %s)\nours:   %s (%s)", text, want, why, whyToo, got, reason)
			}
		}
	}
	t.Logf("%d statements: %v; %d disagreements", n, count, wrong)
}

// asked reports whether the server takes a statement; only a refusal of it as invalid counts.
func asked(session *gocql.Session, text string) (bool, string) {
	err := session.Query(text).PageSize(0).Exec() // with pages, ORDER BY does not go with IN
	if err == nil {
		return true, ""
	}
	return false, err.Error()
}

// randomSelect draws a SELECT on the columns of a table.
func randomSelect(t *Table, random *rand.Rand) string {
	var relations []string
	for _, c := range t.Columns {
		if strings.HasPrefix(c.Type, "vector") {
			continue
		}
		chance := 3
		if c.Kind == PartitionKey {
			chance = 2
		}
		if random.IntN(chance+len(t.Columns)/3) < 2 {
			relations = append(relations, randomRelation(&c, random))
		}
		if random.IntN(25) == 0 {
			relations = append(relations, randomRelation(&c, random))
		}
	}
	if random.IntN(8) == 0 {
		var names, values []string
		for _, c := range t.PartitionKey() {
			names, values = append(names, c.Name), append(values, "1")
		}
		relations = append(relations, fmt.Sprintf("token(%s) %s token(%s)", strings.Join(names, ", "), []string{">", "<=", "="}[random.IntN(3)], strings.Join(values, ", ")))
	}
	if key := t.ClusteringKey(); len(key) > 1 && random.IntN(8) == 0 {
		from := random.IntN(len(key) - 1)
		row := fmt.Sprintf([]string{"(%s, %s) %s (%s, %s)", "(%s, %s) IN /*%s*/ ((%s, %s))"}[random.IntN(4)/3], key[from].Name, key[from+1].Name, []string{"=", ">", "<="}[random.IntN(3)], constant(key[from].Type), constant(key[from+1].Type))
		relations = append(relations, row)
	}
	random.Shuffle(len(relations), func(i, j int) { relations[i], relations[j] = relations[j], relations[i] })
	selected, groups := randomSelection(t, random)
	text := "SELECT " + selected + " FROM " + t.Keyspace + "." + t.Name
	if len(relations) > 0 {
		text += " WHERE " + strings.Join(relations, " AND ")
	}
	text += groups
	if key := t.ClusteringKey(); len(key) > 0 && random.IntN(6) == 0 {
		text += " ORDER BY " + key[random.IntN(len(key))].Name + []string{"", " DESC"}[random.IntN(2)]
	}
	if t.Column("v") != nil && strings.HasPrefix(t.Column("v").Type, "vector") && random.IntN(2) == 0 {
		if !strings.Contains(text, "ORDER BY") {
			text += " ORDER BY v ANN OF [1, 2]" + []string{"", "", "", "", "", " DESC", ", c"}[random.IntN(7)]
		}
		return text + []string{" PER PARTITION LIMIT 2 LIMIT 3", "", " LIMIT 1000", " LIMIT 5", " LIMIT 5", " LIMIT 1001", " LIMIT 5"}[random.IntN(7)]
	}
	if random.IntN(4) == 0 {
		text += " LIMIT 10"
	} else if random.IntN(8) == 0 {
		text += " PER PARTITION LIMIT 2"
	}
	return text
}

// randomSelection draws what is selected, and how it is grouped: half of the time everything, as it is.
func randomSelection(t *Table, random *rand.Rand) (selected, groups string) {
	if random.IntN(2) == 0 {
		return "*", ""
	}
	var names []string
	for _, c := range t.Columns {
		chance := map[ColumnKind]int{PartitionKey: 1, Static: 2, Clustering: 5, Regular: 7}[c.Kind]
		if random.IntN(chance+1) == 0 || c.Kind == PartitionKey && random.IntN(4) > 0 {
			names = append(names, c.Name)
		}
	}
	selected = strings.Join(names, ", ")
	switch {
	case len(names) == 0 || random.IntN(6) == 0:
		selected = []string{"count(*)", "*", "max(" + t.Columns[random.IntN(len(t.Columns))].Name + ")", "count(*), " + t.Columns[0].Name}[random.IntN(4)]
	case random.IntN(3) == 0:
		selected = "DISTINCT " + selected
	}
	if key := t.PrimaryKey(); random.IntN(2) == 0 {
		var by []string
		from := random.IntN(2) * random.IntN(len(key))
		for _, c := range key[from : from+1+random.IntN(len(key)-from)] {
			if random.IntN(8) > 0 {
				by = append(by, c.Name)
			}
		}
		if random.IntN(12) == 0 {
			by = append(by, t.Columns[random.IntN(len(t.Columns))].Name)
		}
		if len(by) > 0 {
			groups = " GROUP BY " + strings.Join(by, ", ")
		}
	}
	return selected, groups
}

func constant(typ string) string {
	switch {
	case typ == "text":
		return "'a'"
	case strings.HasPrefix(typ, "frozen<list"):
		return "[1]"
	case strings.HasPrefix(typ, "map"):
		return "{'a': 1}"
	case strings.HasPrefix(typ, "set"):
		return "{1}"
	case strings.HasPrefix(typ, "list"):
		return "[1]"
	}
	return "1"
}

func randomRelation(c *Column, random *rand.Rand) string {
	value := constant(c.Type)
	if collectionOf(c.Type) != "" {
		switch random.IntN(6) {
		case 0:
			return c.Name + " = " + value
		case 1:
			if strings.HasPrefix(c.Type, "map") {
				return c.Name + "['a'] = 1"
			}
		case 2:
			if strings.HasPrefix(c.Type, "map") {
				return c.Name + " CONTAINS KEY 'a'"
			}
		}
		return c.Name + " CONTAINS 1"
	}
	switch random.IntN(12) {
	case 0:
		return c.Name + " > " + value
	case 5:
		if strings.HasPrefix(value, "'") || random.IntN(10) == 0 {
			return c.Name + " LIKE " + []string{"'a%'", "'a'", "'%a'", "'%a%'", "'%'"}[random.IntN(5)]
		}
	case 1:
		return c.Name + " <= " + value
	case 6:
		return c.Name + " IN (" + value + ")"
	case 2, 3:
		return c.Name + " IN (" + value + ", " + value + ")"
	case 4:
		upper := strings.NewReplacer("1", "2", "a", "b").Replace(value) // a range that is empty is not even asked for
		return c.Name + " >= " + value + " AND " + c.Name + " < " + upper
	}
	return c.Name + " = " + value
}
