package reference

import (
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/workload"
)

// ErrPartner says that the connection of a new entity would give another one more partners than the kind of the relationship
// allows. (CONNECT replaces the partner.)
var ErrPartner = errors.New("there is a partner already, and the relationship allows one")

// MissingError tells of an entity that a write names by its key and that is not there.
type MissingError struct {
	Entity string
	Key    []any
}

func (e *MissingError) Error() string {
	return fmt.Sprintf("there is no %s with the key %v", e.Entity, e.Key)
}

// Apply applies a write, all of it or, if there is an error, nothing. INSERT of a key that is there is an error, and so is a
// connection to what is not there (*MissingError); an INSERT's, too, that the relationship does not allow (ErrPartner), while
// CONNECT takes away the partner that a to-one end has. DELETE takes an entity's relationships with it, no other entities. UPDATE, DELETE and DISCONNECT of nothing are none.
func (r *Reference) Apply(w *workload.Write, with Parameters) error {
	tx, err := r.database.Begin()
	if err != nil {
		return fmt.Errorf("reference: %w", err)
	}
	a := &application{r, tx, with}
	switch w.Kind {
	case workload.Insert:
		err = a.insert(w)
	case workload.Update:
		err = a.update(w)
	case workload.Delete:
		err = a.remove(w)
	default:
		err = a.connect(w)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("reference: %s: %w", w, err), tx.Rollback())
	}
	if err := tx.Commit(); err != nil {
		return fmt.Errorf("reference: %w", err)
	}
	if w.Kind == workload.Insert {
		r.next[w.Entity.Base()]++
	}
	return nil
}

// application is one write that is being applied.
type application struct {
	*Reference
	tx   *sql.Tx
	with Parameters
}

func (a *application) one(name string, f model.Field, nth int) (any, error) {
	return a.with.one(name, f, nth)
}

// one is the nth value of a parameter, as stored.
func (with Parameters) one(name string, f model.Field, nth int) (any, error) {
	list := with[name]
	if nth >= len(list) {
		return nil, fmt.Errorf("parameter %q has %d values", name, len(list))
	}
	return put(name, f.Attribute.Type, list[nth])
}

func (a *application) insert(w *workload.Write) error {
	n := a.next[w.Entity.Base()]
	columns, marks, values := []string{"n"}, "?", []any{n}
	for _, f := range w.Set {
		v, err := a.one(workload.SetName(f), f, 0)
		if err != nil {
			return err
		}
		if v == nil && f.IsKey() {
			return fmt.Errorf("%s is part of the key and has no value", f)
		}
		columns, marks, values = append(columns, column(f.Entity, f.Attribute)), marks+", ?", append(values, v)
	}
	if _, err := a.tx.Exec("INSERT INTO "+a.entity(w.Entity)+" ("+strings.Join(columns, ", ")+") VALUES ("+marks+")", values...); err != nil { // #nosec G202 -- names are quoted, values bound
		return err
	}
	for i := range w.Connections {
		other, err := a.other(w, i)
		if err != nil {
			return err
		}
		if err := a.pair(w, i, n, other); err != nil {
			return err
		}
	}
	return nil
}

// other is the number of the entity that a connection names.
func (a *application) other(w *workload.Write, i int) (int, error) {
	c := w.Connections[i]
	return a.named(a.tx, c.Entity, a.with, func(f model.Field) (string, int) { return connection(w, i, f) })
}

// connection is the name of the parameter for a part of a connection's key, and which of its values that is.
func connection(w *workload.Write, i int, f model.Field) (name string, nth int) {
	role := w.Connections[i].Edge.Role(w.Entity)
	for _, before := range w.Connections[:i] {
		if before.Edge.Role(w.Entity) == role {
			nth++
		}
	}
	return workload.ConnectionName(w, i, f.Attribute), nth
}

// rower is a database or a transaction.
type rower interface {
	QueryRow(text string, values ...any) *sql.Row
}

// named finds an entity by its key.
func (r *Reference) named(by rower, e *model.Entity, with Parameters, name func(model.Field) (string, int)) (int, error) {
	var where []string
	var key []any
	for _, f := range e.KeyFields() {
		parameter, nth := name(f)
		v, err := with.one(parameter, f, nth)
		if err != nil {
			return 0, err
		}
		where, key = append(where, column(e, f.Attribute)+" = ?"), append(key, v)
	}
	var n int
	err := by.QueryRow("SELECT n FROM "+r.entity(e)+" WHERE "+strings.Join(where, " AND "), key...).Scan(&n)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, &MissingError{e.Name, key}
	}
	return n, err
}

// pair relates two entities by a write's connection.
func (a *application) pair(w *workload.Write, i, n, other int) error {
	edge := w.Connections[i].Edge
	from, to := n, other
	if edge.From != w.Entity {
		from, to = other, n
	}
	var same, ofFrom, ofTo int
	err := a.tx.QueryRow("SELECT (SELECT count(*) FROM "+a.relationship(edge)+" WHERE f = ?1 AND t = ?2), (SELECT count(*) FROM "+
		a.relationship(edge)+" WHERE f = ?1), (SELECT count(*) FROM "+a.relationship(edge)+" WHERE t = ?2)", from, to).Scan(&same, &ofFrom, &ofTo)
	if err != nil || same > 0 {
		return err
	}
	one := edge.Kind == model.OneToOne
	if (one || edge.Kind == model.ManyToOne) && ofFrom > 0 || (one || edge.Kind == model.OneToMany) && ofTo > 0 {
		return fmt.Errorf("%s: %w", edge.Name, ErrPartner)
	}
	_, err = a.tx.Exec("INSERT INTO "+a.relationship(edge)+" VALUES (?, ?)", from, to) // #nosec G202 -- names are quoted, values bound
	return err
}

func (a *application) connect(w *workload.Write) error {
	n, err := a.named(a.tx, w.Entity, a.with, func(f model.Field) (string, int) { return workload.KeyName(f), 0 })
	if err != nil {
		return err
	}
	other, err := a.other(w, 0)
	if err != nil {
		return err
	}
	edge := w.Connections[0].Edge
	from, to := n, other
	if edge.From != w.Entity {
		from, to = other, n
	}
	if w.Kind == workload.Connect {
		for _, end := range []struct {
			one    bool
			column string
			n      int
		}{{edge.ToOne(edge.From), "f", from}, {edge.ToOne(edge.To), "t", to}} {
			if !end.one {
				continue
			}
			if _, err := a.tx.Exec("DELETE FROM "+a.relationship(edge)+" WHERE "+end.column+" = ?", end.n); err != nil { // #nosec G202 -- names are quoted, values bound
				return err
			}
		}
		return a.pair(w, 0, n, other)
	}
	_, err = a.tx.Exec("DELETE FROM "+a.relationship(edge)+" WHERE f = ? AND t = ?", from, to) // #nosec G202 -- names are quoted, values bound
	return err
}

// chosen is a query for the numbers of the entities that an update or delete speaks of.
func (a *application) chosen(w *workload.Write) (*query, error) {
	text, from := &query{}, &query{}
	alias := a.from(from, w.Tree)
	text.WriteString("SELECT DISTINCT " + alias[w.Entity] + ".n AS n" + from.String())
	return text, a.where(text, alias, w.Where, a.with)
}

func (a *application) update(w *workload.Write) error {
	var sets []string
	var values []any
	for _, f := range w.Set {
		v, err := a.one(workload.SetName(f), f, 0)
		if err != nil {
			return err
		}
		if v == nil && f.IsKey() {
			return fmt.Errorf("%s is part of the key and gets no value", f)
		}
		sets, values = append(sets, column(f.Entity, f.Attribute)+" = ?"), append(values, v)
	}
	for _, f := range w.Increments {
		v, err := a.one(workload.AddName(f), f, 0)
		if err != nil {
			return err
		}
		if k, _ := kindOf(f.Attribute.Type); !k.number {
			return fmt.Errorf("%s is %s: nothing can be added to it", f, f.Attribute.Type)
		}
		sets, values = append(sets, column(f.Entity, f.Attribute)+" = "+column(f.Entity, f.Attribute)+" + ?"), append(values, v)
	}
	chosen, err := a.chosen(w)
	if err != nil {
		return err
	}
	_, err = a.tx.Exec("UPDATE "+a.entity(w.Entity)+" SET "+strings.Join(sets, ", ")+" WHERE n IN ("+chosen.String()+")", append(values, chosen.values...)...) // #nosec G202 -- names are quoted, values bound
	return err
}

func (a *application) remove(w *workload.Write) error {
	chosen, err := a.chosen(w)
	if err != nil {
		return err
	}
	// The numbers first: what says which they are goes too.
	if _, err := a.tx.Exec("CREATE TEMP TABLE gone AS "+chosen.String(), chosen.values...); err != nil {
		return err
	}
	for _, x := range a.graph.Relationships {
		for end, e := range map[string]*model.Entity{"f": x.From, "t": x.To} {
			if e == w.Entity.Base() {
				if _, err := a.tx.Exec("DELETE FROM " + a.relationship(x) + " WHERE " + end + " IN (SELECT n FROM gone)"); err != nil { // #nosec G202 -- names are quoted, values bound
					return err
				}
			}
		}
	}
	if _, err := a.tx.Exec("DELETE FROM " + a.entity(w.Entity) + " WHERE n IN (SELECT n FROM gone)"); err != nil { // #nosec G202 -- names are quoted, values bound
		return err
	}
	_, err = a.tx.Exec("DROP TABLE gone")
	return err
}
