package writers

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/helenus-db/helenus/advisor/safety"
	"github.com/helenus-db/helenus/capture/feed"
	"github.com/helenus-db/helenus/capture/schema"
)

// column is a column of a table.
type column struct{ keyspace, table, name string }

func (c column) String() string { return c.keyspace + "." + c.table + "." + c.name }

// domains are sets of columns between which values travel: what is read from, or bound to, one is bound to another.
type domains struct{ parent map[column]column }

func (d *domains) find(c column) column {
	p, ok := d.parent[c]
	if !ok || p == c {
		return c
	}
	root := d.find(p)
	d.parent[c] = root
	return root
}

func (d *domains) join(a, b column) {
	x, y := d.find(a), d.find(b)
	if x == y {
		return
	}
	if y.String() < x.String() {
		x, y = y, x
	}
	d.parent[y] = x
}

func (d *domains) same(a, b column) bool { return d.find(a) == d.find(b) }

// confident is how sure a feed must be to tell that two columns hold the same things.
const confident = 0.5

// joinFeeds joins the columns that feeds and echoes connect.
func (d *domains) joinFeeds(feeds []feed.Feed) {
	for i := range feeds {
		if f := &feeds[i]; f.Shape != feed.Pagination && f.Shape != feed.Faint && f.Confidence >= confident {
			d.join(endOf(f.From), endOf(f.To))
		}
	}
}

func endOf(e feed.End) column { return column{e.Keyspace, e.Table, e.Column} }

// keyOf is the one column that is the whole primary key of a table.
func keyOf(t *schema.Table) (column, bool) {
	key := t.PrimaryKey()
	if len(key) != 1 {
		return column{}, false
	}
	return column{t.Keyspace, t.Name, key[0].Name}, true
}

// candidate is a domain whose members may be the writers.
type candidate struct {
	key   column
	score float64
}

// guessPrincipal guesses the column that names the users: the key of a table by itself whose values many writes bear. A table that is
// called as users are counts most, then values that were known to the application before the write (echoes), then in how many
// templates they are, times how exclusive they are: how seldom two writes to one partition of theirs are under way at once.
func (m *maker) guessPrincipal() (column, bool) {
	var all []candidate
	for k := range m.Schema.Keyspaces {
		for i := range m.Schema.Keyspaces[k].Tables {
			t := &m.Schema.Keyspaces[k].Tables[i]
			key, ok := keyOf(t)
			if !ok {
				continue
			}
			c := candidate{key: key}
			for _, w := range m.templates {
				for _, name := range w.allColumns() {
					if at := (column{w.table.Keyspace, w.table.Name, name}); at != key && m.domains.same(at, key) {
						c.score += 1 + m.echoShare(w, name)
						break
					}
				}
			}
			c.score *= m.exclusivity(key)
			if safety.Role(t.Name) {
				c.score = 10 * (1 + c.score)
			}
			if c.score > 0 {
				all = append(all, c)
			}
		}
	}
	if len(all) == 0 {
		return column{}, false
	}
	best := slices.MaxFunc(all, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.score, b.score), strings.Compare(b.key.String(), a.key.String()))
	})
	return best.key, true
}

// echoShare is the share of a statement's executions whose value of a column the application had from an earlier statement.
func (m *maker) echoShare(w *template, name string) float64 {
	share := 0.0
	for _, list := range [][]feed.Feed{m.Snapshot.Feeds, m.Snapshot.Echoes} {
		for i := range list {
			f := &list[i]
			if f.To.Fingerprint == w.statement.Fingerprint && f.To.Column == name && f.Executions > 0 {
				share = max(share, float64(f.Hits)/float64(f.Executions))
			}
		}
	}
	return share
}

// exclusivity is 1 less the share of writes that met another on a partition which one value of the domain names.
func (m *maker) exclusivity(key column) float64 {
	met, writes := uint64(0), uint64(0)
	for _, name := range slices.SortedFunc(maps.Keys(m.profiles), func(a, b column) int { return strings.Compare(a.String(), b.String()) }) {
		p, t := m.profiles[name], m.Schema.Table(name.keyspace, name.table)
		if t == nil || len(t.PartitionKey()) != 1 || !m.domains.same(column{name.keyspace, name.table, t.PartitionKey()[0].Name}, key) {
			continue
		}
		met, writes = met+p.Met.Partition, writes+p.Writes
	}
	if writes == 0 {
		return 1
	}
	return max(0, 1-float64(met)/float64(writes))
}

// principalColumns returns the columns of a template that hold principals. With no feeds to tell, a column that is called like the key of
// the principals, or like their table and it (user_id), and has its type, is one.
func (m *maker) principalColumns(w *template, names []string) []string {
	if !m.known {
		return nil
	}
	var list []string
	for _, name := range names {
		if m.holdsPrincipal(w.table, name) {
			list = append(list, name)
		}
	}
	return list
}

// holdsPrincipal reports whether a column holds principals.
func (m *maker) holdsPrincipal(t *schema.Table, name string) bool {
	at := column{t.Keyspace, t.Name, name}
	if m.domains.same(at, m.users) {
		return true
	}
	base := m.Schema.Table(m.users.keyspace, m.users.table)
	if base == nil || t.Keyspace != m.users.keyspace {
		return false
	}
	a, b := t.Column(name), base.Column(m.users.name)
	if a == nil || b == nil || a.Type != b.Type {
		return false
	}
	plain := func(s string) string { return strings.ReplaceAll(strings.ToLower(s), "_", "") }
	entity := strings.TrimSuffix(plain(base.Name), "s")
	key := plain(b.Name)
	if !strings.HasPrefix(key, entity) && (key == "id" || key == "uuid") {
		return plain(name) == entity+key
	}
	return plain(name) == key || plain(name) == entity+key
}
