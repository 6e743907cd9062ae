package migrate

import (
	"context"
	"errors"
	"fmt"
	"maps"

	"github.com/gocql/gocql"

	"github.com/helenus-db/helenus/advisor/plan"
	"github.com/helenus-db/helenus/capture/schema"
	"github.com/helenus-db/helenus/rewrite/exec"
)

// Where tables of ours lie. Grants on a keyspace of the application must not reach them, so they have one of their own for each of the
// application's (docs/decisions/057), and it is replicated as that is: an entry is then found wherever, and as long as, its row is.
//
//	approval    the keyspace is made, if it is not there; who may not is told what an administrator has to say
//	follow      the replication of the base, or of our keyspace, is another than when the tables were filled: reads run as written at
//	            once, ours is altered to be as the base's, and the tables are filled and verified anew
//	fill        rows of the base are read at ALL: a replica that is new has none until somebody repairs
//	drop        the keyspace stays, with the grants that an administrator gave on it
//
// Tables from before there were such keyspaces lie in that of their base (plan.Rewrite.Home).

// ErrKeyspace says that a keyspace of ours can not be made, or altered, and what an administrator has to say.
type ErrKeyspace struct {
	Keyspace string
	Say      []string // CQL
	Err      error    // Cassandra's
}

// Error implements error.
func (e *ErrKeyspace) Error() string {
	text := fmt.Sprintf("keyspace %s, in which tables of Helenus are to lie, can not be made or altered by its role (%v). Have an administrator say:", e.Keyspace, e.Err)
	for _, s := range e.Say {
		text += " " + s
	}
	return text
}

// Unwrap gives what Cassandra said.
func (e *ErrKeyspace) Unwrap() error { return e.Err }

// replicate has the keyspace of a change's tables be there, and be replicated as that of its base. Where the schema at hand is older than what
// there is, nothing happens, or the same once more.
func (m *Manager) replicate(ctx context.Context, c *plan.Rewrite) error {
	home := c.Home()
	if c.Table == "" || home == c.Keyspace {
		return nil
	}
	s := m.Schema()
	base := s.Keyspace(c.Keyspace)
	if base == nil {
		return fmt.Errorf("keyspace %s is not in the schema: %w", c.Keyspace, exec.ErrNoConnection)
	}
	text := base.CreateLike(home)
	if have := s.Keyspace(home); have != nil {
		if have.ReplicatedAs(base) {
			return nil
		}
		text = base.AlterLike(home)
	}
	_, err := m.Session.Query(ctx, exec.Query{Text: text, Consistency: gocql.Quorum})
	var refused gocql.RequestError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &refused) && refused.Code() == gocql.ErrCodeUnauthorized:
		return &ErrKeyspace{home, []string{text + ";", schema.GrantAll(home, m.Role) + ";"}, err}
	}
	return fmt.Errorf("%s: %w", text, err)
}

// Prepare has what a change needs be there before anybody decides on it: the keyspace of its tables. An *ErrKeyspace says that it can not be; that
// Cassandra is away is no reason to refuse.
func (m *Manager) Prepare(ctx context.Context, c *plan.Rewrite) error {
	if err := m.replicate(ctx, c); err != nil && !exec.Down(err) {
		return err
	}
	return nil
}

// moved says how the replication of a change's base, or of its own keyspace, differs from what it was filled under; "" if it does not.
func moved(have *Change, s *schema.Schema) string {
	base := s.Keyspace(have.Rewrite.Keyspace)
	if base == nil || have.Replication == nil || have.Rewrite.Table == "" {
		return ""
	}
	if !maps.Equal(base.Replication, have.Replication) {
		return fmt.Sprintf("the replication of keyspace %s was %s and is %s", base.Name, schema.ReplicationText(have.Replication), schema.ReplicationText(base.Replication))
	}
	if home := s.Keyspace(have.Rewrite.Home()); home != nil && !home.ReplicatedAs(base) {
		return fmt.Sprintf("the replication of keyspace %s, which holds what Helenus keeps of %s, is %s and not %s", home.Name, base.Name,
			schema.ReplicationText(home.Replication), schema.ReplicationText(base.Replication))
	}
	return ""
}

// replicationOf is how a keyspace is replicated, nil if that is not known.
func replicationOf(s *schema.Schema, keyspace string) map[string]string {
	if k := s.Keyspace(keyspace); k != nil {
		return maps.Clone(k.Replication)
	}
	return nil
}
