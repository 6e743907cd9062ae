package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/helenus-db/helenus/advisor/infer/infertest"
	"github.com/helenus-db/helenus/capture"
	"github.com/helenus-db/helenus/capture/feed"
	"github.com/helenus-db/helenus/capture/schema"
)

// size is that of a made-up cluster.
type size struct {
	statements, tables, keyspaces int
	seed                          uint64
	composed                      bool // keys are made of others: a tenant is in each, and lists number what is in them
}

// thing is a table of the made-up cluster.
type thing struct {
	keyspace, name, key string
	sub                 string // clustering column, "" if there is none
	refs                []ref  // columns with keys of others
	plain               []string
	indexed             string
	rows                float64
	byKey, insert       string // fingerprints
	tenant              *thing // whose key comes first in its own, nil if there is none
	numbered            bool   // sub is a number within the list
}

// ref is a column that holds the key of another table.
type ref struct {
	column string
	of     *thing
	number string // column with the number of a list's member, whose list column holds; "" if it holds a key by itself
}

// The words that tables are called by: areas of a business, and what there is in each.
var (
	areas  = strings.Fields("billing catalog chat crm delivery forum fraud hr inventory ledger mail media order payment plan quiz rental search ship support tax ticket track travel vote")
	things = strings.Fields("account address album alert author batch branch bundle campaign claim comment contact coupon courier device document event folder group invoice")
	plains = strings.Fields("title status email phone note amount city country color state kind label source priority version")
)

// cluster makes a schema, what is measured of it and the traffic of an hour over it, as one process of Helenus holds them: reads by key, lists, reads that filter
// or use an index, joins by hand, and writes, a few of them to two tables at once. The same size makes the same.
func (s size) cluster() (*capture.Snapshot, *schema.Schema, []schema.Stats) {
	r := rand.New(rand.NewPCG(s.seed, uint64(s.statements))) // #nosec G404 G115 -- made-up data
	all := s.things(r)
	sc, stats := describe(all)
	traffic := map[string]*infertest.Traffic{}
	for n := range s.keyspaces {
		name := keyspaceName(n)
		traffic[name] = &infertest.Traffic{Keyspace: name, Seconds: 3600}
	}
	most := s.statements / len(all)
	for i, t := range all {
		n := most
		if i < s.statements-most*len(all) {
			n++
		}
		t.say(r, traffic[t.keyspace], n)
	}
	for i, t := range all {
		t.join(r, traffic[t.keyspace])
		if i > 0 && all[i-1].keyspace == t.keyspace && r.IntN(20) == 0 && t.insert != "" && all[i-1].insert != "" {
			traffic[t.keyspace].Together(t.insert, all[i-1].insert, [2]int{0, 0})
		}
	}
	out := &capture.Snapshot{From: infertest.Start, To: infertest.Start.Add(time.Hour), Profiles: s.profiles(r, all)}
	for n := range s.keyspaces {
		one := traffic[keyspaceName(n)].Snapshot()
		out.Statements = append(out.Statements, one.Statements...)
		out.Feeds = append(out.Feeds, one.Feeds...)
		out.Bursts = append(out.Bursts, one.Bursts...)
		out.Templates = append(out.Templates, one.Templates...)
	}
	sort.Slice(out.Statements, func(i, j int) bool { return out.Statements[i].Fingerprint < out.Statements[j].Fingerprint })
	return out, sc, stats
}

func keyspaceName(n int) string { return fmt.Sprintf("app%d", n) }

// things makes the tables. Each refers to a few that were made before it in its keyspace, most of them by the name of their key.
func (s size) things(r *rand.Rand) []*thing {
	var all []*thing
	of := map[string][]*thing{}
	for i := range s.tables {
		name := areas[i/len(things)%len(areas)] + "_" + things[i%len(things)]
		if i >= len(areas)*len(things) {
			name += fmt.Sprint(i / (len(areas) * len(things)))
		}
		t := &thing{keyspace: keyspaceName(i * s.keyspaces / s.tables), name: name + "s", key: name + "_id", rows: float64(1000 * (1 + r.IntN(500)))}
		if r.IntN(4) == 0 {
			t.key = "id"
		}
		before := of[t.keyspace]
		if len(before) > 0 {
			for _, j := range r.Perm(len(before))[:min(len(before), 1+r.IntN(3))] {
				other := before[j]
				column := strings.TrimSuffix(other.name, "s") + "_id"
				if r.IntN(4) == 0 {
					column = "ref_" + plains[j%len(plains)]
				}
				t.refs = append(t.refs, ref{column: column, of: other})
			}
			if r.IntN(3) == 0 { // a list of another's
				t.sub, t.key = t.key, t.refs[0].column
				if t.sub == t.key {
					t.sub = "seq"
				}
				t.refs[0].column = t.key
			}
		}
		for _, j := range r.Perm(len(plains))[:3+r.IntN(6)] {
			t.plain = append(t.plain, plains[j])
		}
		if r.IntN(4) == 0 {
			t.indexed = t.plain[0]
		}
		all, of[t.keyspace] = append(all, t), append(before, t)
	}
	if s.composed {
		compose(all)
	}
	return all
}

// compose makes the keys of tables of others: the first of a keyspace that is no list is the tenant, whose key goes before that of all after it; every other list
// numbers its members, and whoever refers to one of these does so by the list and the number.
func compose(all []*thing) {
	tenants := map[string]*thing{}
	lists := 0
	for _, t := range all {
		if t.tenant = tenants[t.keyspace]; t.tenant == nil && t.sub == "" && len(t.refs) == 0 {
			t.rows, tenants[t.keyspace] = 200, t
		}
		if t.sub != "" {
			if lists++; lists%2 == 0 {
				t.sub, t.numbered = "no", true
			}
		}
		if t.tenant != nil {
			t.refs = slices.DeleteFunc(t.refs, func(x ref) bool { return x.of == t.tenant && x.column != t.key })
			if t.sub != "" && t.refs[0].of == t.tenant { // it is in its key already
				t.tenant = nil
			}
		}
		for i := range t.refs {
			if x := &t.refs[i]; x.of.numbered && (i > 0 || t.sub == "") {
				x.number = x.column + "_no"
			}
		}
	}
}

// tenantColumn is what the tenant's key is called in the keys of others.
const tenantColumn = "tenant_id"

// describe makes the schema of the tables, and what is measured of them.
func describe(all []*thing) (*schema.Schema, []schema.Stats) {
	sc := &schema.Schema{}
	var stats []schema.Stats
	for _, t := range all {
		if n := len(sc.Keyspaces); n == 0 || sc.Keyspaces[n-1].Name != t.keyspace {
			sc.Keyspaces = append(sc.Keyspaces, schema.Keyspace{Name: t.keyspace, Replication: map[string]string{"class": "SimpleStrategy", "replication_factor": "3"}})
		}
		partitions, partition := t.rows, t.key+" uuid"
		measured := []string{fmt.Sprintf("%s %.0f 16", t.key, t.rows)}
		clustering := ""
		if t.sub != "" {
			clustering, partitions = t.sub+" uuid", drawn(t.rows, t.refs[0].of.rows)
			measured = []string{fmt.Sprintf("%s %.0f 16", t.key, partitions), fmt.Sprintf("%s %.0f 16", t.sub, t.rows)}
			if t.numbered {
				clustering, measured[1] = t.sub+" int", fmt.Sprintf("%s %d 4", t.sub, inList)
			}
		}
		if t.tenant != nil {
			partition, measured = tenantColumn+" uuid, "+partition, append(measured, fmt.Sprintf("%s %.0f 16", tenantColumn, t.tenant.rows))
		}
		var columns []string
		for i, ref := range t.refs {
			if i > 0 || t.sub == "" {
				columns = append(columns, ref.column+" uuid")
				measured = append(measured, fmt.Sprintf("%s %.0f 16", ref.column, drawn(t.rows, ref.of.rows)))
			}
			if ref.number != "" {
				columns, measured = append(columns, ref.number+" int"), append(measured, fmt.Sprintf("%s %d 4", ref.number, inList))
			}
		}
		for i, c := range t.plain {
			columns = append(columns, c+" text")
			measured = append(measured, fmt.Sprintf("%s %.0f 12", c, min(t.rows, float64(10*(1+i*i*i*50)))))
		}
		table := infertest.Table(t.keyspace, t.name, partition, clustering, columns...)
		if t.indexed != "" {
			table.Indexes = append(table.Indexes, schema.Index{Name: t.name + "_" + t.indexed, Kind: "COMPOSITES", Column: t.indexed, On: "values"})
		}
		last := &sc.Keyspaces[len(sc.Keyspaces)-1]
		last.Tables = append(last.Tables, table)
		stats = append(stats, infertest.Measured(t.keyspace, t.name, t.rows, partitions, measured...))
	}
	for i := range sc.Keyspaces {
		k := &sc.Keyspaces[i]
		sort.Slice(k.Tables, func(a, b int) bool { return k.Tables[a].Name < k.Tables[b].Name })
	}
	return sc, stats
}

// drawn is how many different ones of so many are referred to by rows that each refer to any of them. Were it as many as there are rows, each would be
// referred to once, which makes of a list another table of the same thing.
func drawn(rows, of float64) float64 { return math.Round(of * -math.Expm1(-rows/of)) }

// columns lists what a table has beside its key.
func (t *thing) columns() []string {
	out := append([]string(nil), t.plain...)
	for i, ref := range t.refs {
		if i > 0 || t.sub == "" {
			out = append(out, ref.column)
		}
		if ref.number != "" {
			out = append(out, ref.number)
		}
	}
	return out
}

// say says n statements about a table: half of them reads by key, a quarter lists and reads that filter, a quarter writes.
func (t *thing) say(r *rand.Rand, to *infertest.Traffic, n int) {
	said := map[string]bool{}
	columns := t.columns()
	some := func() []string {
		var out []string
		for _, i := range r.Perm(len(columns))[:1+r.IntN(len(columns))] {
			out = append(out, columns[i])
		}
		sort.Strings(out)
		return out
	}
	whole := t.key + " = ?"
	if t.tenant != nil {
		whole = tenantColumn + " = ? AND " + whole
	}
	one := whole // partition
	if t.sub != "" {
		whole += " AND " + t.sub + " = ?"
	}
	for tries := 0; len(said) < n; tries++ {
		list := some()
		count, latency, rows := uint64(20+r.IntN(2000)/(1+r.IntN(50))), uint64(700+r.IntN(400)), uint64(1) // #nosec G115 -- small
		var text string
		switch {
		case len(said) == 0: // what joins follow
			text = fmt.Sprintf("SELECT %s FROM %s WHERE %s", strings.Join(columns, ", "), t.name, one)
			count = 2000
		case len(said)%8 == 1:
			text = fmt.Sprintf("SELECT * FROM %s WHERE %s = ? ALLOW FILTERING", t.name, columns[r.IntN(len(columns))])
			latency, rows = 5_000+uint64(t.rows), uint64(3+r.IntN(20)) // #nosec G115 -- small
		case len(said)%8 == 2 && t.indexed != "":
			text = fmt.Sprintf("SELECT %s FROM %s WHERE %s = ?", strings.Join(list, ", "), t.name, t.indexed)
			latency, rows = 2_500, 12
		case len(said)%8 == 3:
			text = fmt.Sprintf("INSERT INTO %s (%s, %s) VALUES (?%s)", t.name, strings.ReplaceAll(strings.ReplaceAll(whole, " = ?", ""), " AND ", ", "), strings.Join(columns, ", "), strings.Repeat(", ?", len(columns)+strings.Count(whole, "AND")))
			if tries > 20 {
				text = fmt.Sprintf("DELETE FROM %s WHERE %s", t.name, whole)
			}
		case len(said)%8 == 4:
			text = fmt.Sprintf("UPDATE %s SET %s = ? WHERE %s", t.name, strings.Join(list, " = ?, "), whole)
		case len(said)%8 == 5 && t.sub != "":
			text = fmt.Sprintf("SELECT %s FROM %s WHERE %s ORDER BY %s DESC LIMIT 10", strings.Join(list, ", "), t.name, one, t.sub)
			rows = 10
		default:
			text = fmt.Sprintf("SELECT %s FROM %s WHERE %s", strings.Join(list, ", "), t.name, whole)
		}
		if said[text] {
			if tries > 50*n {
				text = strings.Replace(text, "SELECT ", fmt.Sprintf("SELECT ttl(%s), ", t.plain[0]), 1) + fmt.Sprintf(" LIMIT %d", tries)
			} else {
				continue
			}
		}
		fingerprint := to.Say(text, count, latency, rows)
		if len(said) == 0 {
			t.byKey = fingerprint
		}
		if strings.HasPrefix(text, "INSERT") {
			t.insert = fingerprint
		}
		said[text] = true
	}
}

// join has the application follow each key that the first read of a table returns, to the first read of the other one.
func (t *thing) join(r *rand.Rand, to *infertest.Traffic) {
	for i, ref := range t.refs {
		if i == 0 && t.sub != "" || r.IntN(3) == 0 {
			continue
		}
		shape, each := feed.Single, 1.0
		if t.sub != "" {
			shape, each = feed.FanOut, 8
		}
		to.Feed(t.byKey, t.name, ref.column, ref.of.byKey, ref.of.name, ref.of.key, feed.Feed{
			Executions: 400, Hits: 396, Decoys: 2, Share: 0.2, Producers: 300, Followed: 0.2, PerExecution: each, LagP50: 300, LagP99: 2_000, Shape: shape, Confidence: 0.99,
		})
	}
}
