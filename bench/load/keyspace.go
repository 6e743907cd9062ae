package load

import (
	"context"
	"fmt"
	"regexp"

	"github.com/gocql/gocql"

	"github.com/helenus-db/helenus/advisor/model"
)

// name is what keyspaces and tables may be called here.
var name = regexp.MustCompile(`^[a-z][a-z0-9_]{0,47}$`)

// Create makes a keyspace; it must not be there. Replication is the number of copies of each row; SimpleStrategy, as on
// clusters for benchmarks.
func Create(ctx context.Context, s *gocql.Session, keyspace string, replication int) error {
	if !name.MatchString(keyspace) || replication < 1 {
		return fmt.Errorf("load: keyspace %q with replication %d: a name has small letters, digits and _, and there is one copy at least", keyspace, replication)
	}
	text := fmt.Sprintf("CREATE KEYSPACE %s WITH replication = {'class': 'SimpleStrategy', 'replication_factor': %d}", keyspace, replication)
	if err := s.Query(text).WithContext(ctx).Exec(); err != nil {
		return fmt.Errorf("load: keyspace %s: %w", keyspace, err)
	}
	return agree(ctx, s)
}

// Drop takes a keyspace away with all that is in it. It is no error if it is not there.
func Drop(ctx context.Context, s *gocql.Session, keyspace string) error {
	if !name.MatchString(keyspace) {
		return fmt.Errorf("load: %q is no name of a keyspace", keyspace)
	}
	if err := s.Query("DROP KEYSPACE IF EXISTS " + keyspace).WithContext(ctx).Exec(); err != nil {
		return fmt.Errorf("load: dropping keyspace %s: %w", keyspace, err)
	}
	return agree(ctx, s)
}

// Define makes tables and their indexes in a keyspace, and waits until all nodes know them.
func Define(ctx context.Context, s *gocql.Session, keyspace string, tables []*model.Table) error {
	for _, t := range tables {
		if !name.MatchString(t.Name) {
			return fmt.Errorf("load: table %s has the name %q: a name has small letters, digits and _", t, t.Name)
		}
		if err := s.Query(t.CQL(keyspace, t.Name)).WithContext(ctx).Exec(); err != nil {
			return fmt.Errorf("load: table %s.%s: %w", keyspace, t.Name, err)
		}
		for _, i := range t.Indexes {
			using := ""
			if i.SAI {
				using = " USING 'sai'"
			}
			text := fmt.Sprintf("CREATE INDEX ON %s.%s (%s)%s", keyspace, t.Name, model.Quote(t.ColumnName(i.Field)), using)
			if err := s.Query(text).WithContext(ctx).Exec(); err != nil {
				return fmt.Errorf("load: index of %s.%s on %s: %w", keyspace, t.Name, i.Field, err)
			}
		}
	}
	return agree(ctx, s)
}

func agree(ctx context.Context, s *gocql.Session) error {
	if err := s.AwaitSchemaAgreement(ctx); err != nil {
		return fmt.Errorf("load: the nodes do not agree on the schema: %w", err)
	}
	return nil
}
