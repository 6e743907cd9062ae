package store

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
)

// The audit trail tells who decided what, in the order in which it was decided. It is only ever added to: the file itself refuses to
// change a line of it, or to remove one that is not older than is to be kept (triggers, see Trim). What decides writes its line in the transaction of the decision,
// so that neither is there without the other.

// Who Helenus itself is in the trail: what it does because it was told to, or because its work is done, and what it does to
// protect the application's data, against the wishes of whoever approved it.
const (
	Self  = "helenus"
	Guard = "guard"
)

// Entry is one line of the audit trail.
type Entry struct {
	Seq     int64     `json:"seq"`               // by which they are ordered; set by the store
	At      time.Time `json:"time"`              // set by the store if it is zero
	Actor   string    `json:"actor"`             // a person or a program, by the name of the token; or Self, or Guard
	Role    string    `json:"role,omitempty"`    // that was had then
	Via     string    `json:"via,omitempty"`     // how it is known who it was: token, session, header; bootstrap: the name is only claimed
	From    string    `json:"from"`              // remote address; or Self, or Guard
	Action  string    `json:"action"`            // approve, reject, rollback, token.create ...
	Target  string    `json:"target"`            // id of the change; name of a token
	Reason  string    `json:"reason,omitempty"`  // as it was given
	Before  string    `json:"before,omitempty"`  // state
	After   string    `json:"after,omitempty"`   // state
	Despite []string  `json:"despite,omitempty"` // conditions that were overruled
}

// maxReason bounds what an error may say in the trail, bytes.
const maxReason = 4096

// Actor is who gives an order, and how that is known.
type Actor struct{ Name, Role, Via, From string }

type actorKey struct{}

// As returns a context in which an actor gives orders.
func As(ctx context.Context, a Actor) context.Context { return context.WithValue(ctx, actorKey{}, a) }

// By completes an entry with who acts: Self, Guard, or else whoever gives the orders of ctx, under the name given.
func (e Entry) By(ctx context.Context, actor string) Entry {
	e.Actor, e.From = actor, Self
	if actor == Self || actor == Guard {
		who, _ := ctx.Value(actorKey{}).(Actor)
		if who.Name != actor { // somebody may be called so
			e.From = actor
			return e
		}
	}
	if who, ok := ctx.Value(actorKey{}).(Actor); ok {
		e.Role, e.Via, e.From = who.Role, who.Via, who.From
		e.Actor = cmp.Or(actor, who.Name)
	}
	e.Actor = cmp.Or(e.Actor, Self)
	return e
}

// Decide stores v as JSON under a kind and an id, along with the lines of the audit trail that say who wants it so.
func (s *Store) Decide(ctx context.Context, kind, id string, v any, entries ...Entry) error {
	d, err := NewDocument(kind, id, v)
	if err != nil {
		return err
	}
	return s.Commit(ctx, Change{Save: []Document{d}, Audit: entries})
}

// Watch has f told of lines of the audit trail once they are written, before the store is used by others. f must not block: it is called by
// whoever decides, who may hold locks.
func (s *Store) Watch(f func([]Entry)) { s.watch = f }

// auditTable refuses what would rewrite the past.
const auditTable = `
	CREATE TABLE audit (seq INTEGER PRIMARY KEY AUTOINCREMENT, at INTEGER NOT NULL, actor TEXT NOT NULL, role TEXT NOT NULL, via TEXT NOT NULL,
		origin TEXT NOT NULL, action TEXT NOT NULL, target TEXT NOT NULL, reason TEXT NOT NULL, before TEXT NOT NULL, after TEXT NOT NULL, despite TEXT NOT NULL);
	CREATE INDEX audit_of ON audit (target, seq);
	CREATE TRIGGER audit_update BEFORE UPDATE ON audit BEGIN SELECT RAISE(ABORT, 'the audit trail is append-only'); END;
	CREATE TRIGGER audit_replace BEFORE INSERT ON audit WHEN EXISTS (SELECT 1 FROM audit WHERE seq = NEW.seq) BEGIN SELECT RAISE(ABORT, 'the audit trail is append-only'); END;
	CREATE TRIGGER audit_delete BEFORE DELETE ON audit BEGIN SELECT RAISE(ABORT, 'the audit trail is append-only'); END;
`

func appendEntry(ctx context.Context, tx *sql.Tx, e Entry, now time.Time) error {
	if e.At.IsZero() {
		e.At = now
	}
	if len(e.Reason) > maxReason {
		e.Reason = strings.ToValidUTF8(e.Reason[:maxReason], "") + "…"
	}
	_, err := tx.ExecContext(ctx, `INSERT INTO audit (at, actor, role, via, origin, action, target, reason, before, after, despite) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		e.At.UnixNano(), e.Actor, e.Role, e.Via, e.From, e.Action, e.Target, e.Reason, e.Before, e.After, strings.Join(e.Despite, ","))
	return err
}

// AuditQuery says which lines of the trail are wanted; a zero field asks for nothing.
type AuditQuery struct {
	Change   string // this id, and those that are parts of it (r-1 and r-1.2)
	Actor    string
	Action   string // this one, or all that begin so and a dot (token, token.create)
	From, To time.Time
	Before   int64 // of lower Seq only: the next page
	Limit    int   // 0: 100
}

// renamed are actions that had other names until version 3, both ways: lines are as they were written.
var renamed = map[string]string{"dismiss": "reject", "reject": "dismiss"}

// AuditLimit is how many lines are read at most at a time.
const AuditLimit = 1000

// Audit reads the trail, the latest line first.
func (s *Store) Audit(ctx context.Context, q AuditQuery) ([]Entry, error) {
	where, args := []string{"1"}, []any{}
	add := func(condition string, values ...any) {
		where, args = append(where, condition), append(args, values...)
	}
	if q.Change != "" {
		add("(target = ? OR target > ? AND target < ?)", q.Change, q.Change+".", q.Change+"/") // '/' comes after '.'
	}
	if q.Actor != "" {
		add("actor = ?", q.Actor)
	}
	if q.Action != "" {
		add("(action = ? OR action = ? OR action > ? AND action < ?)", q.Action, cmp.Or(renamed[q.Action], q.Action), q.Action+".", q.Action+"/")
	}
	if !q.From.IsZero() {
		add("at >= ?", q.From.UnixNano())
	}
	if !q.To.IsZero() {
		add("at < ?", q.To.UnixNano())
	}
	if q.Before > 0 {
		add("seq < ?", q.Before)
	}
	limit := cmp.Or(q.Limit, 100)
	args = append(args, min(limit, AuditLimit))
	out := []Entry{}
	err := s.each(ctx, func(rows *sql.Rows) error {
		var e Entry
		var at int64
		var despite string
		err := rows.Scan(&e.Seq, &at, &e.Actor, &e.Role, &e.Via, &e.From, &e.Action, &e.Target, &e.Reason, &e.Before, &e.After, &despite)
		e.At = time.Unix(0, at).UTC()
		if despite != "" {
			e.Despite = strings.Split(despite, ",")
		}
		out = append(out, e)
		return err
	}, "SELECT seq, at, actor, role, via, origin, action, target, reason, before, after, despite FROM audit WHERE "+
		strings.Join(where, " AND ")+" ORDER BY seq DESC LIMIT ?", args...) //nolint:gosec // the conditions are above, what is asked for is bound
	if err != nil {
		return nil, fmt.Errorf("read the audit trail from %s: %w", s.path, err)
	}
	return out, nil
}

// Earlier is where lines come from that were put together from what an earlier version kept: it overwrote the actors of some.
const Earlier = "earlier version"

// past is what documents of earlier versions say of who decided: histories of migrations and calendars, the last decision on a
// recommendation, and on the kill-switch. It is read by the names that these had in version 2, whatever their writers call them since.
type past struct {
	Events []struct {
		Time               time.Time
		State, Actor, Text string
	}
	Entries []struct {
		ID, State, Actor string
		Reason           string    `json:"state_reason"`
		Since            time.Time `json:"state_since"`
	}
	On    bool
	Actor string
	Since time.Time
}

// carryOver begins the trail with what is known from before there was one.
func carryOver(ctx context.Context, tx *sql.Tx) error {
	var found []Entry
	add := func(at time.Time, actor, target, reason, before, after string) {
		found = append(found, Entry{At: at, Actor: cmp.Or(actor, Self), From: Earlier, Action: "history", Target: target, Reason: reason, Before: before, After: after})
	}
	events, err := tx.QueryContext(ctx, "SELECT at, actor, id, text FROM events ORDER BY seq")
	if err != nil {
		return err
	}
	if err := scan(events, func(rows *sql.Rows) error {
		var at int64
		var actor, id, text string
		err := rows.Scan(&at, &actor, &id, &text)
		add(time.Unix(0, at), actor, id, text, "", "")
		return err
	}); err != nil {
		return err
	}
	rows, err := tx.QueryContext(ctx, "SELECT kind, id, body FROM documents ORDER BY kind, id")
	if err != nil {
		return err
	}
	if err := scan(rows, func(rows *sql.Rows) error {
		var kind, id string
		var body []byte
		var p past
		if err := rows.Scan(&kind, &id, &body); err != nil {
			return err
		}
		if json.Unmarshal(body, &p) != nil {
			return nil //nolint:nilerr // another form, without decisions; what is damaged is found by its sum
		}
		before := ""
		for _, e := range p.Events {
			add(e.Time, e.Actor, id, e.Text, before, e.State)
			before = e.State
		}
		for _, r := range p.Entries {
			if r.Actor != "" {
				add(r.Since, r.Actor, r.ID, r.Reason, "", r.State)
			}
		}
		if kind == "bypass" && !p.Since.IsZero() {
			add(p.Since, p.Actor, kind, "", "", map[bool]string{true: "on", false: "off"}[p.On])
		}
		return nil
	}); err != nil {
		return err
	}
	slices.SortStableFunc(found, func(a, b Entry) int { return a.At.Compare(b.At) })
	for _, e := range found {
		if e.At.IsZero() || e.At.Year() < 1970 {
			e.At = time.Unix(0, 0) // nobody noted when
		}
		if err := appendEntry(ctx, tx, e, e.At); err != nil {
			return err
		}
	}
	_, err = tx.ExecContext(ctx, "DROP TABLE events")
	return err
}
