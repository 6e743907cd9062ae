package store

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Before a file is brought from the version of another release to this one's, a copy of it is put aside, as helenus.db.v3 and so on: an older
// helenus opens that, and nothing else of ours. The copy is whole before the file is touched, and the file is touched in one transaction, so
// a process that is killed anywhere leaves the one or the other, and the next one does it again.

// Former is where the copy of a file of a former version is put.
func Former(path string, version int) string { return fmt.Sprintf("%s.v%d", path, version) }

// keepFormer puts a copy of a file aside that another release wrote.
func (s *Store) keepFormer() error {
	ctx := context.Background()
	var version, mark int
	for query, into := range map[string]*int{"PRAGMA user_version": &version, "PRAGMA application_id": &mark} {
		if err := s.db.QueryRowContext(ctx, query).Scan(into); err != nil {
			return err
		}
	}
	if mark != application || version < 1 || version >= Version {
		return nil // new, or not ours to bring forward
	}
	to := Former(s.path, version)
	part := to + ".part"
	if err := os.Remove(part); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("put a copy of the former state aside: %w", err)
	}
	empty, err := os.OpenFile(part, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600) // SQLite would make it readable for all
	if err != nil {
		return fmt.Errorf("put a copy of the former state aside: %w", err)
	}
	if err := empty.Close(); err != nil {
		return fmt.Errorf("put a copy of the former state aside: %w", err)
	}
	if _, err := s.db.ExecContext(ctx, "VACUUM INTO ?", part); err != nil {
		return fmt.Errorf("put a copy of the former state aside: %w", err)
	}
	if err := synced(part); err != nil {
		return fmt.Errorf("put a copy of the former state aside: %w", err)
	}
	if err := os.Rename(part, to); err != nil {
		return fmt.Errorf("put a copy of the former state aside: %w", err)
	}
	return synced(filepath.Dir(to))
}

// synced waits until a file, or a folder, is on the disk.
func synced(path string) error {
	f, err := os.Open(path) //nolint:gosec // of the state directory
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// one is a change as version 4 keeps it (internal/change), of which this package knows the names alone.
type one struct {
	ID       string          `json:"id"`
	Form     int             `json:"form"`
	State    string          `json:"state"`
	Since    time.Time       `json:"since"`
	Part     string          `json:"part,omitempty"`
	Last     *oneDecision    `json:"decision,omitempty"`
	Advice   json.RawMessage `json:"advice,omitempty"`
	Work     json.RawMessage `json:"work,omitempty"`
	Calendar json.RawMessage `json:"calendar,omitempty"`
}

type oneDecision struct {
	At     time.Time `json:"at"`
	Actor  string    `json:"actor,omitempty"`
	Reason string    `json:"reason,omitempty"`
}

// former are the documents of version 3 that became one record, by the names that these had then.
type former struct {
	ID     string    `json:"id"`
	State  string    `json:"state"`
	Actor  string    `json:"actor"`
	Reason string    `json:"state_reason"` // of a recommendation
	Since  time.Time `json:"state_since"`

	Progress struct {
		Started time.Time `json:"started"`
	} `json:"progress"` // of a migration
	Approved time.Time `json:"approved"`
}

// formerStates say what states of version 3 are called since.
var (
	adviceStates   = map[string]string{"open": "proposed", "approved": "approved", "rejected": "dismissed", "superseded": "superseded", "expired": "expired"}
	calendarStates = map[string]string{"following": "serving", "paused": "suspended", "withdrawing": "rolling-back", "withdrawn": "dropped"}
)

// neverBegun is why what was approved is proposed again.
const neverBegun = "it was approved, but the process ended before it began: approve it again"

// oneRecord makes one record of what version 3 kept of a change in three: the recommendation, the migration that carries it out, and the calendar.
func oneRecord(ctx context.Context, tx *sql.Tx) error {
	all := map[string]*one{}
	of := func(id string) *one {
		if all[id] == nil {
			all[id] = &one{ID: id, Form: 1}
		}
		return all[id]
	}
	for _, step := range []struct {
		kind string
		take func(of func(string) *one, raw json.RawMessage, d *former) error
	}{{"recommendations", takeBook}, {"migration", takeMigration}, {"calendar", takeCalendar}} {
		rows, err := tx.QueryContext(ctx, "SELECT id, version, body, sum FROM documents WHERE kind = ? ORDER BY id", step.kind)
		if err != nil {
			return err
		}
		if err := scan(rows, func(rows *sql.Rows) error {
			d := Document{Kind: step.kind}
			var sum string
			if err := rows.Scan(&d.ID, &d.Version, (*[]byte)(&d.Raw), &sum); err != nil {
				return err
			}
			if err := d.check(sum); err != nil { // else it would get a new one
				return err
			}
			var f former
			err := json.Unmarshal(d.Raw, &f)
			if err == nil {
				err = step.take(of, d.Raw, &f)
			}
			if err != nil {
				return fmt.Errorf("%w: %s %s: %w", ErrCorrupt, step.kind, d.ID, err)
			}
			return nil
		}); err != nil {
			return err
		}
	}
	for _, id := range sortedKeys(all) {
		if err := all[id].settle(ctx, tx); err != nil {
			return err
		}
	}
	_, err := tx.ExecContext(ctx, "DELETE FROM documents WHERE kind IN ('recommendations', 'migration', 'calendar')")
	return err
}

func sortedKeys(all map[string]*one) []string {
	keys := make([]string, 0, len(all))
	for id := range all {
		keys = append(keys, id)
	}
	slices.Sort(keys)
	return keys
}

// takeBook takes what was advised and decided.
func takeBook(of func(string) *one, book json.RawMessage, _ *former) error {
	var list struct {
		Entries []json.RawMessage `json:"entries"`
	}
	if err := json.Unmarshal(book, &list); err != nil {
		return err
	}
	for _, raw := range list.Entries {
		var r former
		if err := json.Unmarshal(raw, &r); err != nil {
			return err
		}
		state := adviceStates[r.State]
		if r.ID == "" || state == "" {
			return fmt.Errorf("recommendation %q is %q", r.ID, r.State)
		}
		x := of(r.ID)
		x.State, x.Since, x.Advice = state, r.Since, raw
		x.Last = &oneDecision{At: r.Since, Actor: r.Actor, Reason: r.Reason}
	}
	return nil
}

// takeMigration takes how a change is carried out, or was: whatever the book says, that is its state, unless it is over.
func takeMigration(of func(string) *one, raw json.RawMessage, m *former) error {
	if m.ID == "" || m.State == "" {
		return fmt.Errorf("migration %q is %q", m.ID, m.State)
	}
	x := of(m.ID)
	x.Work = raw
	if m.State != "dropped" || x.State == "" || x.State == "approved" {
		x.State, x.Since = m.State, m.Progress.Started
	}
	return nil
}

// takeCalendar takes how a calendar is followed, and which changes are parts of it.
func takeCalendar(of func(string) *one, raw json.RawMessage, c *former) error {
	state := calendarStates[c.State]
	if c.ID == "" || state == "" {
		return fmt.Errorf("calendar %q is %q", c.ID, c.State)
	}
	x := of(c.ID)
	x.Calendar = raw
	if state != "dropped" || x.State == "" || x.State == "approved" {
		x.State, x.Since = state, c.Approved
	}
	return nil
}

// settle stores a record.
func (x *one) settle(ctx context.Context, tx *sql.Tx) error {
	if x.State == "approved" && x.Work == nil { // a process that was killed between two documents
		now := time.Now().UTC()
		e := Entry{Action: "propose", Target: x.ID, Reason: neverBegun, Before: "approved", After: "proposed"}.By(ctx, Self)
		if err := appendEntry(ctx, tx, e, now); err != nil {
			return err
		}
		x.State, x.Since, x.Last = "proposed", now, &oneDecision{At: now, Reason: neverBegun}
	}
	if of, _, ok := strings.Cut(x.ID, "."); ok && x.Advice == nil && x.Calendar == nil {
		x.Part = of
	}
	x.Since = cmp.Or(x.Since, time.Unix(0, 0).UTC())
	d, err := NewDocument("change", x.ID, x)
	if err != nil {
		return err
	}
	d.Version = 1
	_, err = tx.ExecContext(ctx, `INSERT INTO documents (kind, id, version, updated, body, sum) VALUES (?, ?, ?, ?, ?, ?)`,
		d.Kind, d.ID, d.Version, time.Now().UnixNano(), []byte(d.Raw), d.sum())
	return err
}
