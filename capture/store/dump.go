package store

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
)

// Dump is all that a state holds: what is moved from one store to another.
type Dump struct {
	Documents []Document
	Audit     []Entry // by Seq, the oldest first
}

// Moved is what a state says that is not to be used: it was moved elsewhere, or is on its way here and not whole. Whoever opens a state looks
// for it (Usable) before anything else.
type Moved struct {
	To       string    `json:"to"` // where it is, or is coming from
	At       time.Time `json:"at"`
	Arriving bool      `json:"arriving,omitempty"` // it is not whole yet
}

// KindMoved is the kind, and the id, of the document that says so.
const KindMoved = "moved"

// ErrMoved says that a state was moved away, or is not whole.
var ErrMoved = errors.New("the state is not here")

// Usable returns an ErrMoved if a state says that it is not to be used.
func Usable(ctx context.Context, s interface {
	Load(ctx context.Context, kind, id string, v any) error
},
) error {
	var m Moved
	switch err := s.Load(ctx, KindMoved, KindMoved, &m); {
	case errors.Is(err, ErrNotFound):
		return nil
	case err != nil:
		return err
	case m.Arriving:
		return fmt.Errorf("%w: moving it from %s began at %s and did not end; run `helenus state move` again", ErrMoved, m.To, m.At.Format(time.RFC3339))
	}
	return fmt.Errorf("%w: it was moved to %s at %s; run with that state, or move it back with `helenus state move`", ErrMoved, m.To, m.At.Format(time.RFC3339))
}

// Matches reports whether a line of the trail is asked for, its place among others aside (Limit).
func (q *AuditQuery) Matches(e *Entry) bool {
	switch {
	case q.Change != "" && e.Target != q.Change && !strings.HasPrefix(e.Target, q.Change+"."):
	case q.Actor != "" && e.Actor != q.Actor:
	case q.Action != "" && e.Action != q.Action && e.Action != cmp.Or(renamed[q.Action], q.Action) && !strings.HasPrefix(e.Action, q.Action+"."):
	case !q.From.IsZero() && e.At.Before(q.From):
	case !q.To.IsZero() && !e.At.Before(q.To):
	case q.Before > 0 && e.Seq >= q.Before:
	default:
		return true
	}
	return false
}

// Bounded cuts the reason of a line to what is kept of it.
func (e Entry) Bounded() Entry {
	if len(e.Reason) > maxReason {
		e.Reason = strings.ToValidUTF8(e.Reason[:maxReason], "") + "…"
	}
	return e
}

// Dump reads all documents and the whole trail.
func (s *Store) Dump(ctx context.Context) (d Dump, err error) {
	err = s.each(ctx, func(rows *sql.Rows) error {
		var one Document
		var updated int64
		var sum string
		if err := rows.Scan(&one.Kind, &one.ID, &one.Version, &updated, (*[]byte)(&one.Raw), &sum); err != nil {
			return err
		}
		one.Updated = time.Unix(0, updated).UTC()
		d.Documents = append(d.Documents, one)
		return one.check(sum)
	}, `SELECT kind, id, version, updated, body, sum FROM documents ORDER BY kind, id`)
	if err != nil {
		return d, fmt.Errorf("read all of %s: %w", s.path, err)
	}
	for before := int64(0); ; {
		page, err := s.Audit(ctx, AuditQuery{Before: before, Limit: AuditLimit})
		if err != nil {
			return d, err
		}
		for _, e := range page {
			d.Audit = append(d.Audit, e)
			before = e.Seq
		}
		if len(page) < AuditLimit {
			break
		}
	}
	reverse(d.Audit)
	return d, nil
}

func reverse(list []Entry) {
	for i, j := 0, len(list)-1; i < j; i, j = i+1, j-1 {
		list[i], list[j] = list[j], list[i]
	}
}

// Fill stores a dump in place of all documents that are here; what the trail has here already stays before what comes, unless it is the beginning of
// just that. Nobody else may use the store meanwhile.
func (s *Store) Fill(ctx context.Context, d Dump) error {
	err := s.write(ctx, func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, `DELETE FROM documents`); err != nil {
			return err
		}
		for _, one := range d.Documents {
			if !json.Valid(one.Raw) {
				return fmt.Errorf("%s %s is not valid JSON", one.Kind, one.ID)
			}
			if _, err := tx.ExecContext(ctx, `INSERT INTO documents (kind, id, version, updated, body, sum) VALUES (?, ?, ?, ?, ?, ?)`,
				one.Kind, one.ID, one.Version, one.Updated.UnixNano(), []byte(one.Raw), one.sum()); err != nil {
				return err
			}
		}
		known, err := lines(ctx, tx)
		if err != nil {
			return err
		}
		for _, e := range d.Audit {
			if known[e.identity()] {
				continue
			}
			if err := appendEntry(ctx, tx, e, e.At); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("fill %s: %w", s.path, err)
	}
	return nil
}

// identity tells lines apart that came from another state.
func (e Entry) identity() string {
	return fmt.Sprintf("%d %q %q %q %q %q", e.At.UnixNano(), e.Actor, e.Action, e.Target, e.Before, e.After)
}

// Identities are those of lines: what Fill has already.
func Identities(list []Entry) map[string]bool {
	known := make(map[string]bool, len(list))
	for _, e := range list {
		known[e.identity()] = true
	}
	return known
}

// New are the lines of a list that are not among those known.
func New(list []Entry, known map[string]bool) (fresh []Entry) {
	for _, e := range list {
		if !known[e.identity()] {
			fresh = append(fresh, e)
		}
	}
	return fresh
}

func lines(ctx context.Context, tx *sql.Tx) (map[string]bool, error) {
	rows, err := tx.QueryContext(ctx, "SELECT at, actor, action, target, before, after FROM audit")
	if err != nil {
		return nil, err
	}
	var list []Entry
	err = scan(rows, func(rows *sql.Rows) error {
		var e Entry
		var at int64
		err := rows.Scan(&at, &e.Actor, &e.Action, &e.Target, &e.Before, &e.After)
		e.At = time.Unix(0, at)
		list = append(list, e)
		return err
	})
	return Identities(list), err
}
