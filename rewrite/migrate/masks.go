package migrate

import (
	"context"
	"fmt"

	"github.com/gocql/gocql"

	"github.com/helenus-db/helenus/capture/cql"
	"github.com/helenus-db/helenus/capture/schema"
	"github.com/helenus-db/helenus/internal/guard"
	"github.com/helenus-db/helenus/rewrite/exec"
	"github.com/helenus-db/helenus/rewrite/kind"
)

// A column of the base may be masked when tables of ours hold its values already. The change is suspended by that (condition.Masks), but its tables stay until
// somebody drops them, and roles that may read all keyspaces, though not unmask, would see in them what the base hides from now on. So the same
// columns are masked in them, too, until the tables are dropped.

// exposed are the columns of a change's tables, as the schema shows them, that are masked in the base and not there.
func exposed(have *Change, s *schema.Schema) (out []exposure) {
	base, home := s.Table(have.Rewrite.Keyspace, have.Rewrite.Base), s.Keyspace(have.Rewrite.Home())
	if base == nil || home == nil || have.Rewrite.Table == "" || have.Owner == "" {
		return nil
	}
	held := append([]schema.Column{}, base.PrimaryKey()...)
	if c := base.Column(have.Rewrite.Column); c != nil {
		held = append(held, *c)
	}
	for i := range home.Tables {
		t := &home.Tables[i]
		if comment, _ := cutMark(t.Comment); comment != kind.Comment(signature(have.ID, have.Owner)) {
			continue
		}
		for _, c := range held {
			if own := t.Column(c.Name); c.Masked && own != nil && !own.Masked {
				out = append(out, exposure{cql.TableRef{Keyspace: t.Keyspace, Table: t.Name}, c.Name})
			}
		}
	}
	return out
}

type exposure struct {
	table  cql.TableRef
	column string
}

// mask masks what is exposed, in the background: what fails is tried again at the next look at the schema.
func (m *Manager) mask(ctx context.Context, r *run, s *schema.Schema) {
	have := r.get()
	found := exposed(&have, s)
	if len(found) == 0 || have.State == Dropped {
		return
	}
	guard.Go(guard.Migrations, func() {
		for _, x := range found {
			text := fmt.Sprintf("ALTER TABLE %s ALTER %s MASKED WITH DEFAULT", x.table, &cql.ColumnRef{Name: x.column})
			if _, err := m.Session.Query(ctx, exec.Query{Text: text, Consistency: gocql.Quorum}); err != nil {
				m.Log.Error("a column that was masked in the base is not masked yet in a table of ours; drop that", "change_id", have.ID, "table", x.table.String(), "column", x.column, "err", err)
				continue
			}
			m.Log.Warn("a column that was masked in the base is masked in a table of ours as well", "change_id", have.ID, "table", x.table.String(), "column", x.column)
		}
	}, nil)
}
