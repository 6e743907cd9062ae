package migrate

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"regexp"

	"github.com/gocql/gocql"

	"github.com/helenus-db/helenus/capture/schema"
	"github.com/helenus-db/helenus/capture/store"
	"github.com/helenus-db/helenus/rewrite/exec"
	"github.com/helenus-db/helenus/rewrite/kind"
)

// Whose a table is. A change has the id of its advice, and two processes that saw the same statements give the same advice the
// same id. So each state store has an owner id, random, made once, and the comment of each table of ours names both:
//
//	helenus r-46cc57 owner 5f0c2d4e9a8b7c6d5e4f3a2b1c0d9e8f
//
// A table whose comment names another owner is never written to, altered or dropped. Cassandra has no conditional DDL: between
// the reading of the comment and the statement that follows somebody may still put another table there; that is all that is left open.
//
// Tables made before there were owners say "helenus r-46cc57". They are this process's if its own store says that it made one
// (such a Change has no Owner), and get the new comment as soon as it is there to give it.

// KindOwner is the kind, and the id, of the document that holds the owner id.
const KindOwner = "owner"

type owner struct {
	ID string `json:"id"`
}

// Owner returns the owner id of the store, which is made, and saved, when it is first asked for.
func Owner(ctx context.Context, s Store) (string, error) {
	id, err := madeOwner(ctx, s)
	if err != nil || id != "" {
		return id, err
	}
	var random [16]byte
	_, _ = rand.Read(random[:]) // never fails
	id = hex.EncodeToString(random[:])
	switch _, err := s.Replace(ctx, KindOwner, KindOwner, 0, &owner{id}); {
	case errors.Is(err, store.ErrConflict): // another process was first
		return madeOwner(ctx, s)
	case err != nil:
		return "", fmt.Errorf("save the owner id of the state: %w", err)
	}
	return id, nil
}

// madeOwner returns the owner id of the store, "" if none was made yet.
func madeOwner(ctx context.Context, s Store) (string, error) {
	var o owner
	if err := s.Load(ctx, KindOwner, KindOwner, &o); err != nil && !errors.Is(err, store.ErrNotFound) {
		return "", fmt.Errorf("read the owner id of the state: %w", err)
	}
	return o.ID, nil
}

// signature is how the comment of a change's table names it.
func signature(id, owner string) string { return id + " owner " + owner }

var signed = regexp.MustCompile(`^` + schema.OwnComment + `\S+ owner ([0-9a-f]{32})$`)

// OwnerOf returns the owner that a table's comment names, "" if it names none.
func OwnerOf(comment string) string {
	comment, _ = cutMark(comment)
	if m := signed.FindStringSubmatch(comment); m != nil {
		return m[1]
	}
	return ""
}

// unmarked tells whether a comment is that of a change's table from before there were owners.
func (m *Change) unmarked(comment string) bool {
	return m.Owner == "" && comment == kind.Comment(m.ID)
}

// owns tells whether a comment says that a table is a change's.
func (m *Manager) owns(ctx context.Context, x *Change, comment string) (bool, error) {
	comment, _ = cutMark(comment)
	id := x.Owner
	if id == "" { // its table may be marked already, if that could not be noted
		if x.unmarked(comment) {
			return true, nil
		}
		var err error
		if id, err = madeOwner(ctx, m.Store); err != nil || id == "" {
			return false, err
		}
	}
	return comment == kind.Comment(signature(x.ID, id)), nil
}

// found is a table as it is now.
type found struct {
	comment string
	id      string // as in schema.Table
}

// first reads which table stands where the first of a change's own is to be; nil if there is none, or the change has none.
func (m *Manager) first(ctx context.Context, r *run) (*found, error) {
	tables := r.tables()
	if len(tables) == 0 {
		return nil, nil
	}
	return m.look(ctx, &tables[0])
}

// look reads which table stands where one of a change's own is to be; nil if there is none.
func (m *Manager) look(ctx context.Context, t *kind.Table) (*found, error) {
	a, err := m.Session.Query(ctx, exec.Query{
		Text:        "SELECT comment, id FROM system_schema.tables WHERE keyspace_name = ? AND table_name = ?",
		Values:      [][]byte{[]byte(t.Keyspace), []byte(t.Name)},
		Consistency: gocql.One,
	})
	if err != nil {
		return nil, fmt.Errorf("look for the table %s: %w", t, err)
	}
	if len(a.Rows) == 0 {
		return nil, nil
	}
	id, err := gocql.UUIDFromBytes(a.Rows[0][1])
	if err != nil {
		return nil, fmt.Errorf("the id of %s can not be read: %w", t, err)
	}
	return &found{string(a.Rows[0][0]), id.String()}, nil
}

// owned returns the first of a change's own tables if it exists, and an *ErrOwnership if it is not this change's.
func (m *Manager) owned(ctx context.Context, r *run) (*found, error) {
	table, err := m.first(ctx, r)
	if err != nil || table == nil {
		return nil, err
	}
	if err := m.mine(ctx, r, &r.tables()[0], table); err != nil {
		return nil, err
	}
	return table, nil
}

// mine is an *ErrOwnership if a table that was found in the place of one of a change's own is not this change's.
func (m *Manager) mine(ctx context.Context, r *run, t *kind.Table, table *found) error {
	have := r.get()
	ok, err := m.owns(ctx, &have, table.comment)
	if err == nil && !ok {
		err = &ErrOwnership{t.String(), table.comment}
	}
	return err
}

// besides are those of a change's own tables, the first aside, that are there and this change's; others is an *ErrOwnership if there is one that is not.
// (Its name may have been cut to that of another change's. One from before there were owners was given none.)
func (m *Manager) besides(ctx context.Context, r *run) (own []kind.Table, others, err error) {
	before := kind.Comment(r.id)
	for i, t := range r.tables() {
		if i == 0 {
			continue
		}
		table, err := m.look(ctx, &t)
		if err != nil {
			return nil, nil, err
		}
		if table == nil {
			continue
		}
		switch err := m.mine(ctx, r, &t, table); {
		case err == nil, table.comment == before:
			own = append(own, t)
		case errors.As(err, new(*ErrOwnership)):
			others = err
		default:
			return nil, nil, err
		}
	}
	return own, others, nil
}

// claim gives a change from before there were owners one, and puts it into its table's comment.
func (m *Manager) claim(ctx context.Context, r *run) error {
	have := r.get()
	if have.Owner != "" || !have.Active() || have.State == RollingBack || r.fitted() == nil { // a roll-back waits for nothing
		return nil
	}
	id, err := Owner(ctx, m.Store)
	if err != nil {
		return err
	}
	table, err := m.first(ctx, r)
	if err != nil {
		return err
	}
	if table != nil && have.unmarked(table.comment) {
		text := r.tables()[0].Comments(kind.Comment(signature(have.ID, id)))
		if _, err := m.Session.Query(ctx, exec.Query{Text: text, Consistency: gocql.Quorum}); err != nil {
			return fmt.Errorf("name the owner of %s: %w", &r.tables()[0], err)
		}
		table.comment = kind.Comment(signature(have.ID, id))
	}
	return m.update(ctx, r, func(x *Change) {
		x.Owner = id
		if table != nil && table.comment == kind.Comment(signature(have.ID, id)) && x.State != Approved {
			x.TableID = table.id // else whose it is, is found when the schema is compared
		}
	})
}

// Note writes a line into the history of a change.
func (m *Manager) Note(ctx context.Context, id, text string) (Change, error) {
	r, err := m.find(id)
	if err != nil {
		return Change{}, err
	}
	err = m.update(ctx, r, func(x *Change) { x.note(m.Now(), "", text) })
	return m.shown(r), err
}
