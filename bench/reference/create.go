package reference

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/bench/data"

	_ "modernc.org/sqlite" // the driver
)

// Reference is a copy of an application's data. It is used by one goroutine at a time.
type Reference struct {
	graph    *model.Graph
	world    *data.World
	database *sql.DB
	next     map[*model.Entity]int // the number of the next entity that is inserted
}

// Progress is called now and then with how many rows of how many are there.
type Progress func(what string, done, all int)

// Create makes a reference copy of a world in a file, which must not be there; "" is in memory.
func Create(path string, w *data.World) (*Reference, error) { return Load(path, w, nil) }

// Load is Create that says how far it is.
func Load(path string, w *data.World, progress Progress) (*Reference, error) {
	if progress == nil {
		progress = func(string, int, int) {}
	}
	r := &Reference{graph: w.Graph(), world: w, next: map[*model.Entity]int{}}
	if path == "" {
		path = ":memory:"
	}
	var err error
	if r.database, err = sql.Open("sqlite", path); err != nil {
		return nil, fmt.Errorf("reference %s: %w", path, err)
	}
	r.database.SetMaxOpenConns(1) // one connection: in memory each would have data of its own
	if err := r.load(progress); err != nil {
		return nil, errors.Join(fmt.Errorf("reference %s: %w", path, err), r.database.Close())
	}
	return r, nil
}

// Close ends the use of the copy. One in memory is gone then.
func (r *Reference) Close() error { return r.database.Close() }

// chunk is how many rows a transaction has.
const chunk = 200_000

func (r *Reference) load(progress Progress) error {
	for _, pragma := range []string{"journal_mode=OFF", "synchronous=OFF", "cache_size=-200000", "temp_store=MEMORY"} {
		if _, err := r.database.Exec("PRAGMA " + pragma); err != nil {
			return err
		}
	}
	for _, e := range r.graph.Entities {
		if err := r.loadEntity(e, progress); err != nil {
			return fmt.Errorf("entity %s: %w", e.Name, err)
		}
	}
	for _, x := range r.graph.Relationships {
		if err := r.loadRelationship(x, progress); err != nil {
			return fmt.Errorf("relationship %s: %w", x.Name, err)
		}
	}
	_, err := r.database.Exec("ANALYZE")
	return err
}

func (r *Reference) loadEntity(e *model.Entity, progress Progress) error {
	columns := []string{"n INTEGER PRIMARY KEY"}
	values := make([]func(int) any, len(e.Attributes))
	for i, a := range e.Attributes {
		k, ok := kindOf(a.Type)
		if !ok {
			return &ValueError{e.Name + "." + a.Name, a.Type, nil}
		}
		columns = append(columns, column(e, a)+" "+k.sql)
		values[i] = r.world.Values(model.Field{Entity: e, Attribute: a})
	}
	if _, err := r.database.Exec("CREATE TABLE " + r.entity(e) + " (" + strings.Join(columns, ", ") + ")"); err != nil {
		return err
	}
	count := r.world.Count(e)
	r.next[e] = count
	row := make([]any, len(columns))
	err := r.bulk("INSERT INTO "+r.entity(e)+" VALUES (?"+strings.Repeat(", ?", len(e.Attributes))+")", e.Name, count, progress, func(insert func(...any) error) error {
		for n := range count {
			row[0] = int64(n)
			for i, a := range e.Attributes {
				var err error
				if row[i+1], err = put(e.Name+"."+a.Name, a.Type, values[i](n)); err != nil {
					return err
				}
			}
			if err := insert(row...); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	for i, key := range append([][]*model.Attribute{e.Key}, e.Alternate...) {
		var names []string
		for _, a := range key {
			names = append(names, column(e, a))
		}
		if _, err := r.database.Exec(fmt.Sprintf("CREATE UNIQUE INDEX %s ON %s (%s)", quote(fmt.Sprintf("key %d of %s", i, e.Name)), r.entity(e), strings.Join(names, ", "))); err != nil {
			return err
		}
	}
	return nil
}

func (r *Reference) loadRelationship(x *model.Relationship, progress Progress) error {
	if _, err := r.database.Exec("CREATE TABLE " + r.relationship(x) + " (f INTEGER NOT NULL, t INTEGER NOT NULL, PRIMARY KEY (f, t)) WITHOUT ROWID"); err != nil {
		return err
	}
	err := r.bulk("INSERT INTO "+r.relationship(x)+" VALUES (?, ?)", x.Name, r.world.PairCount(x), progress, func(insert func(...any) error) error {
		return r.world.Pairs(x, func(from, to int) error { return insert(int64(from), int64(to)) })
	})
	if err != nil {
		return err
	}
	_, err = r.database.Exec("CREATE INDEX " + quote("back over "+x.Name) + " ON " + r.relationship(x) + " (t, f)")
	return err
}

// bulk inserts rows in large transactions.
func (r *Reference) bulk(statement, what string, all int, progress Progress, rows func(insert func(...any) error) error) (err error) {
	var tx *sql.Tx
	var insert *sql.Stmt
	done, told := 0, time.Now()
	commit := func() error {
		if tx == nil {
			return nil
		}
		progress(what, done, all)
		err := errors.Join(insert.Close(), tx.Commit())
		tx = nil
		return err
	}
	defer func() {
		if tx != nil {
			err = errors.Join(err, tx.Rollback())
		}
	}()
	err = rows(func(values ...any) error {
		if tx == nil {
			if tx, err = r.database.Begin(); err != nil {
				return err
			}
			if insert, err = tx.Prepare(statement); err != nil { //nolint:sqlclosecheck // commit closes it
				return err
			}
		}
		if _, err := insert.ExecContext(context.Background(), values...); err != nil {
			return err
		}
		if done++; done%chunk == 0 {
			return commit()
		}
		if done%1024 == 0 && time.Since(told) > time.Second {
			told = time.Now()
			progress(what, done, all)
		}
		return nil
	})
	if err != nil {
		return err
	}
	return commit()
}

// entity is the name of an entity's table.
func (r *Reference) entity(e *model.Entity) string { return quote("entity " + e.Base().Name) }

// relationship is the name of a relationship's table.
func (r *Reference) relationship(x *model.Relationship) string {
	return quote("relationship " + x.Base().Name)
}

// column is the name of an attribute's column: numbered, as SQLite does not tell upper case from lower.
func column(e *model.Entity, a *model.Attribute) string {
	for i, x := range e.Base().Attributes {
		if x == a {
			return quote(fmt.Sprintf("%d %s", i, a.Name))
		}
	}
	return quote(a.Name) // not one of the entity's: SQLite says so
}

func quote(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }
