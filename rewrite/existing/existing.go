package existing

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/helenus-db/helenus/advisor/plan"
	"github.com/helenus-db/helenus/capture/cql"
	"github.com/helenus-db/helenus/capture/schema"
	"github.com/helenus-db/helenus/rewrite/condition"
	"github.com/helenus-db/helenus/rewrite/kind"
	"github.com/helenus-db/helenus/rewrite/lookup"
	"github.com/helenus-db/helenus/rewrite/lookup/match"
)

// Kind implements kind.Kind. Its settings are those of look-ups, which read in the same way.
type Kind struct{ Settings lookup.Settings }

// Name implements kind.Kind.
func (Kind) Name() string { return plan.Existing }

// Noun implements kind.Kind.
func (Kind) Noun() string { return "existing table" }

// Title implements kind.Kind.
func (Kind) Title(c *plan.Rewrite) string {
	if copied, err := plan.ReadCopied(c); err == nil {
		return fmt.Sprintf("find %s by %s, which the application keeps", c.Base, copied.As.Name)
	}
	return fmt.Sprintf("find %s by a table that the application keeps", c.Base)
}

// Open implements kind.Kind.
func (k Kind) Open(p kind.Parts) kind.Runner {
	s := k.Settings.Defaults()
	return &runner{parts: p, settings: s, apart: apart, reader: &lookup.Reader{Session: p.Session, Entries: s.Entries, Parallel: s.Parallel}}
}

// runner carries changes of this kind out.
type runner struct {
	parts    kind.Parts
	settings lookup.Settings
	reader   *lookup.Reader
	apart    time.Duration // between looks at a row that was not found
}

// Fit implements kind.Runner. The application's table is taken as it is now; before a schema was read, when nothing is served, as it was.
func (r *runner) Fit(c plan.Rewrite, base *schema.Table) (kind.Fitted, *condition.Refusal) {
	o, refusal := open(c, base, r.parts.Schema())
	if refusal != nil {
		return nil, refusal
	}
	return &fitted{opened: o, runner: r}, nil
}

// opened is a change over both of its tables.
type opened struct {
	*match.LookUp
	keys match.Keys
	is   *schema.Table // the application's table
}

// open looks at both tables of a change, or says which condition forbids it. s may be nil: it is not known yet.
func open(c plan.Rewrite, base *schema.Table, s *schema.Schema) (*opened, *condition.Refusal) {
	copied, err := plan.ReadCopied(&c)
	if err != nil {
		return nil, condition.Schema.Refuse("%v", err)
	}
	was, is := &copied.As, &copied.As
	name := cql.TableRef{Keyspace: was.Keyspace, Table: was.Name}
	if s != nil {
		if is = s.Table(was.Keyspace, was.Name); is == nil {
			return nil, condition.Schema.Refuse("table %s, by which rows are found, is gone", name)
		}
		if is.ID != was.ID {
			return nil, condition.Schema.Refuse("table %s was dropped and made again since the advice was made (id %s, was %s)", name, is.ID, was.ID)
		}
	}
	keys, refusal := keysOf(copied, is, base)
	if refusal != nil {
		return nil, refusal
	}
	l, refusal := match.Over(c, base, keys)
	if refusal != nil {
		return nil, refusal
	}
	outside := slices.ContainsFunc(l.Asked, func(a schema.Column) bool { return a.Kind != schema.PartitionKey && a.Kind != schema.Clustering })
	for _, x := range base.Columns {
		if x.Kind == schema.Static && !outside {
			return nil, condition.Statics.Refuse("%s.%s has static columns, and is asked by its key alone: of a partition without rows the statement has an answer, and %s has nothing",
				base.Keyspace, base.Name, name)
		}
	}
	if is.DefaultTTL > 0 && (base.DefaultTTL == 0 || base.DefaultTTL > is.DefaultTTL) {
		return nil, condition.Copies.Refuse("rows of %s go after %d s by themselves, before those of %s.%s do", name, is.DefaultTTL, base.Keyspace, base.Name)
	}
	return &opened{l, keys, is}, nil
}

// keysOf says where an application's table has the keys of the base.
func keysOf(copied *plan.Copied, is, base *schema.Table) (match.Keys, *condition.Refusal) {
	name := cql.TableRef{Keyspace: is.Keyspace, Table: is.Name}
	keys := match.Keys{Table: name}
	if base == nil {
		return keys, condition.Schema.Refuse("the table is not in the schema")
	}
	if base.Keyspace == is.Keyspace && base.Name == is.Name {
		return keys, condition.Schema.Refuse("%s is the table itself", name)
	}
	take := func(own, of string) *condition.Refusal {
		x, y := is.Column(own), base.Column(of)
		switch {
		case x == nil || y == nil:
			return condition.Schema.Refuse("%s.%s is to hold %s.%s, and one of the two is not there", name, own, base.Name, of)
		case x.Type != y.Type:
			return condition.Schema.Refuse("%s.%s is of type %s, %s.%s of %s", name, own, x.Type, base.Name, of, y.Type)
		case x.Masked:
			return condition.Masks.Refuse("%s.%s is masked: which rows are found depends on who asks", name, own)
		}
		return nil
	}
	for _, p := range is.PartitionKey() {
		of := copied.Columns[p.Name]
		if of == "" {
			return keys, condition.Columns.Refuse("%s is keyed by %s, which %s does not have", name, p.Name, base.Name)
		}
		if refusal := take(p.Name, of); refusal != nil {
			return keys, refusal
		}
		keys.Partition, keys.Asked = append(keys.Partition, p.Name), append(keys.Asked, of)
	}
	for _, k := range base.PrimaryKey() {
		own := copied.Column(k.Name)
		if i := slices.Index(keys.Asked, k.Name); i >= 0 { // of two columns that hold it the one that is asked by
			own = keys.Partition[i]
		}
		if own == "" {
			return keys, condition.Columns.Refuse("%s does not hold %s, a part of the primary key of %s", name, k.Name, base.Name)
		}
		if refusal := take(own, k.Name); refusal != nil {
			return keys, refusal
		}
		keys.Key = append(keys.Key, own)
	}
	keys.Sorted = sorted(&keys, is, base)
	return keys, nil
}

// sorted tells whether rows of one value and of one partition of the base are in the base's order, each once: what is left of the clustering key, without
// what they have in common, is that of the base.
func sorted(keys *match.Keys, is, base *schema.Table) bool {
	type place struct {
		column     string // of the base, "" if it has none like it
		descending bool
	}
	common := map[string]bool{}
	for _, c := range base.PartitionKey() {
		common[c.Name] = true
	}
	for _, name := range keys.Asked {
		common[name] = true
	}
	left := func(t *schema.Table, of func(string) string) (list []place) {
		for _, c := range t.ClusteringKey() {
			if name := of(c.Name); !common[name] {
				list = append(list, place{name, c.Descending})
			}
		}
		return list
	}
	own := map[string]string{} // columns of the key, by those that hold them
	for i, k := range base.PrimaryKey() {
		own[keys.Key[i]] = k.Name
	}
	return slices.Equal(left(is, func(name string) string { return own[name] }), left(base, func(name string) string { return name }))
}

// nameOf names a table as people read it.
func nameOf(t *schema.Table) string { return strings.Join([]string{t.Keyspace, t.Name}, ".") }
