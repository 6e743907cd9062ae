package keyspace

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/gocql/gocql"

	"github.com/helenus-db/helenus/capture/store"
)

// kindAudit is the kind of the rows that hold the audit trail.
const kindAudit = "audit"

// attempts is how often a transaction is tried that others came before.
const attempts = 12

// Head returns what is known of the whole state now, by one small read.
func (s *Store) Head(ctx context.Context) (Head, error) { return s.readHead(ctx, gocql.Quorum) }

func (s *Store) readHead(ctx context.Context, c gocql.Consistency) (h Head, err error) {
	err = s.each(ctx, c, func(scan func(...any) error) error {
		var name string
		return scan(&name, &h.Form, &h.Epoch, &h.lines, &h.last)
	}, s.cql("SELECT DISTINCT part, form, epoch, lines, last FROM %s.state WHERE part = ?"), part)
	if err != nil {
		return h, fmt.Errorf("read the state in keyspace %s: %w", s.o.Keyspace, err)
	}
	return h, nil
}

// Epoch is the number of transactions so far that others are to know of.
func (s *Store) Epoch(ctx context.Context) (int64, error) {
	h, err := s.Head(ctx)
	return h.Epoch, err
}

// known are versions and head as they are known, or else as they are.
func (s *Store) known(ctx context.Context, keys map[store.Key]bool, again bool) (map[store.Key]int64, Head, error) {
	s.mu.Lock()
	have, head := map[store.Key]int64{}, s.head
	for k := range keys {
		if v, ok := s.versions[k]; ok {
			have[k] = v
		}
	}
	s.mu.Unlock()
	if head == nil || again {
		fresh, err := s.readHead(ctx, serial)
		if err != nil {
			return nil, fresh, err
		}
		head = &fresh
	}
	for k := range keys {
		if _, ok := have[k]; ok && !again {
			continue
		}
		_, version, _, err := s.row(ctx, k)
		if err != nil {
			return nil, *head, err
		}
		have[k] = version
	}
	return have, *head, nil
}

// row reads a document as it is; version 0: there is none.
func (s *Store) row(ctx context.Context, k store.Key) (d store.Document, version int64, mark string, err error) {
	return s.rowAt(ctx, serial, k)
}

// written reads a document as it was last known to be written: what is unheard at QUORUM, which makes nobody else's transaction on the partition begin anew, as each SERIAL read
// does. Every transaction that was acknowledged is seen; one that was not may be missed, and whoever writes upon what it replaced is refused, and reads again.
func (s *Store) written(ctx context.Context, k store.Key) (d store.Document, version int64, err error) {
	level := serial
	if slices.Contains(s.o.Unheard, k.Kind) {
		level = gocql.Quorum
	}
	d, version, _, err = s.rowAt(ctx, level, k)
	return d, version, err
}

func (s *Store) rowAt(ctx context.Context, c gocql.Consistency, k store.Key) (d store.Document, version int64, mark string, err error) {
	d.Kind, d.ID = k.Kind, k.ID
	err = s.each(ctx, c, func(scan func(...any) error) error {
		var at int64
		if err := scan(&d.Version, &at, (*[]byte)(&d.Raw), &mark); err != nil {
			return err
		}
		d.Updated = time.Unix(0, at).UTC()
		return nil
	}, s.cql("SELECT version, at, body, mark FROM %s.state WHERE part = ? AND kind = ? AND seq = 0 AND id = ?"), part, k.Kind, k.ID)
	return d, d.Version, mark, err
}

// learn remembers versions; forget has them read again.
func (s *Store) learn(versions map[store.Key]int64, head *Head) {
	s.mu.Lock()
	defer s.mu.Unlock()
	maps.Copy(s.versions, versions)
	if head != nil {
		s.head = head
	}
}

// Commit carries a change out, all of it or nothing, in one transaction.
func (s *Store) Commit(ctx context.Context, c store.Change) error {
	keys := map[store.Key]bool{}
	for k := range c.If {
		keys[k] = true
	}
	for i := range c.Save {
		d := &c.Save[i]
		if !json.Valid(d.Raw) {
			return fmt.Errorf("write to keyspace %s: %s %s is not valid JSON", s.o.Keyspace, d.Kind, d.ID)
		}
		if d.Kind == kindAudit {
			return fmt.Errorf("write to keyspace %s: no document can be of kind %s", s.o.Keyspace, kindAudit)
		}
		keys[store.Key{Kind: d.Kind, ID: d.ID}] = true
	}
	for _, k := range c.Delete {
		keys[k] = true
	}
	now := s.o.Now()
	for i := range c.Audit {
		c.Audit[i] = c.Audit[i].Bounded()
		if c.Audit[i].At.IsZero() {
			c.Audit[i].At = now
		}
	}
	for try := 0; try < attempts; try++ {
		versions, head, err := s.known(ctx, keys, try > 0)
		if err != nil {
			return fmt.Errorf("write to keyspace %s: %w", s.o.Keyspace, err)
		}
		if err := conflicts(c.If, versions); err != nil {
			if try > 0 {
				s.learn(versions, &head)
				return fmt.Errorf("write to keyspace %s: %w", s.o.Keyspace, err)
			}
			continue // by what was known; it is read again
		}
		applied, err := s.attempt(ctx, &c, versions, head)
		if err != nil {
			return fmt.Errorf("write to keyspace %s: %w", s.o.Keyspace, err)
		}
		if applied {
			if s.watch != nil && len(c.Audit) > 0 {
				s.watch(c.Audit)
			}
			return nil
		}
	}
	return fmt.Errorf("write to keyspace %s: %w: %d times others came before", s.o.Keyspace, store.ErrConflict, attempts)
}

func conflicts(want, have map[store.Key]int64) error {
	for k, version := range want {
		if have[k] != version {
			return fmt.Errorf("%w: of %s %s version %d, not %d", store.ErrConflict, k.Kind, k.ID, have[k], version)
		}
	}
	return nil
}

// heard reports whether others are to know of a change.
func (s *Store) heard(c *store.Change) bool {
	unheard := func(kind string) bool { return slices.Contains(s.o.Unheard, kind) }
	return len(c.Audit) > 0 || slices.ContainsFunc(c.Save, func(d store.Document) bool { return !unheard(d.Kind) }) ||
		slices.ContainsFunc(c.Delete, func(k store.Key) bool { return !unheard(k.Kind) })
}

// attempt tries a change once, for a state as it is thought to be; false: it is another.
func (s *Store) attempt(ctx context.Context, c *store.Change, versions map[store.Key]int64, head Head) (bool, error) {
	mark, next, after := newMark(), head, maps.Clone(versions)
	next.last = mark
	something := false
	apply := func(b *gocql.Batch) {
		conditioned := map[store.Key]bool{}
		for i := range c.Save {
			d := &c.Save[i]
			k := store.Key{Kind: d.Kind, ID: d.ID}
			after[k] = versions[k] + 1
			b.Query(s.cql("UPDATE %s.state SET version = ?, at = ?, body = ?, mark = ? WHERE part = ? AND kind = ? AND seq = 0 AND id = ? IF version = ?"),
				after[k], s.o.Now().UnixNano(), []byte(d.Raw), mark, part, d.Kind, d.ID, orNull(versions[k]))
			conditioned[k], something = true, true
		}
		for _, k := range c.Delete {
			if versions[k] == 0 || conditioned[k] {
				continue
			}
			after[k] = 0
			b.Query(s.cql("DELETE FROM %s.state WHERE part = ? AND kind = ? AND seq = 0 AND id = ? IF version = ?"), part, k.Kind, k.ID, versions[k])
			conditioned[k], something = true, true
		}
		for i := range c.Audit {
			next.lines++
			c.Audit[i].Seq = next.lines
			line, _ := json.Marshal(&c.Audit[i]) // strings, times and a number
			b.Query(s.cql("INSERT INTO %s.state (part, kind, seq, id, at, body, mark) VALUES (?, ?, ?, '', ?, ?, ?)"), part, kindAudit, next.lines, c.Audit[i].At.UnixNano(), line, mark)
			something = true
		}
		if s.heard(c) && something {
			next.Epoch++
		}
		if next.Epoch != head.Epoch || next.lines != head.lines {
			b.Query(s.cql("UPDATE %s.state SET epoch = ?, lines = ?, last = ? WHERE part = ? IF epoch = ? AND lines = ?"), next.Epoch, orNull(next.lines), mark, part, orNull(head.Epoch), orNull(head.lines))
		}
	}
	applied, err := s.transact(ctx, apply)
	if err != nil {
		if applied, err = s.decided(ctx, c, mark, after, err); err != nil {
			return false, err
		}
	}
	if applied {
		s.learn(after, &next)
	}
	return applied, nil
}

// transact runs a conditional batch; one without statements is nothing to do.
func (s *Store) transact(ctx context.Context, fill func(*gocql.Batch)) (applied bool, err error) {
	session, err := s.connected()
	if err != nil {
		return false, s.noted(err)
	}
	trying, cancel := context.WithTimeout(ctx, s.o.Patience)
	defer cancel()
	b := session.NewBatch(gocql.LoggedBatch).WithContext(trying).SerialConsistency(gocql.Serial).DefaultTimestamp(false)
	b.Cons = gocql.Quorum
	fill(b)
	if len(b.Entries) == 0 {
		return true, nil
	}
	applied, rows, err := session.MapExecuteBatchCAS(b, map[string]any{})
	if rows != nil {
		if closing := rows.Close(); err == nil {
			err = closing
		}
	}
	return applied, s.noted(err)
}

// decided finds out whether a transaction was carried out whose answer was lost: a SERIAL read completes it, or excludes it.
func (s *Store) decided(ctx context.Context, c *store.Change, mark string, after map[store.Key]int64, lost error) (bool, error) {
	if ctx.Err() != nil {
		return false, lost
	}
	head, err := s.readHead(ctx, serial)
	if err != nil {
		return false, lost
	}
	if head.last == mark {
		return true, nil
	}
	switch { // it was all or nothing: one of what it wrote says so
	case len(c.Save) > 0: // one that was written since by another has his mark, and is tried again: a conflict, if that matters
		_, _, have, err := s.row(ctx, store.Key{Kind: c.Save[0].Kind, ID: c.Save[0].ID})
		if err == nil {
			return have == mark, nil
		}
	case len(c.Audit) > 0:
		have := ""
		err := s.each(ctx, serial, func(scan func(...any) error) error { return scan(&have) },
			s.cql("SELECT mark FROM %s.state WHERE part = ? AND kind = ? AND seq = ?"), part, kindAudit, c.Audit[0].Seq)
		if err == nil {
			return have == mark, nil
		}
	case len(c.Delete) > 0:
		_, version, _, err := s.row(ctx, c.Delete[0])
		if err == nil {
			return version == after[c.Delete[0]], nil
		}
	}
	return false, lost
}

func newMark() string {
	var random [12]byte
	_, _ = rand.Read(random[:]) // never fails
	return hex.EncodeToString(random[:])
}

// Save stores v as JSON under a kind and an id, whatever is stored.
func (s *Store) Save(ctx context.Context, kind, id string, v any) error {
	return s.Decide(ctx, kind, id, v)
}

// Decide is Save with lines of the audit trail, all or nothing.
func (s *Store) Decide(ctx context.Context, kind, id string, v any, entries ...store.Entry) error {
	d, err := store.NewDocument(kind, id, v)
	if err != nil {
		return err
	}
	return s.Commit(ctx, store.Change{Save: []store.Document{d}, Audit: entries})
}

// Replace stores v if the version that is stored is the one given, 0 if none is, and returns the new one; else it is store.ErrConflict.
func (s *Store) Replace(ctx context.Context, kind, id string, version int64, v any, entries ...store.Entry) (int64, error) {
	d, err := store.NewDocument(kind, id, v)
	if err != nil {
		return 0, err
	}
	err = s.Commit(ctx, store.Change{If: map[store.Key]int64{{Kind: kind, ID: id}: version}, Save: []store.Document{d}, Audit: entries})
	return version + 1, err
}

// Remove removes a document under the condition of Replace.
func (s *Store) Remove(ctx context.Context, kind, id string, version int64, entries ...store.Entry) error {
	key := store.Key{Kind: kind, ID: id}
	return s.Commit(ctx, store.Change{If: map[store.Key]int64{key: version}, Delete: []store.Key{key}, Audit: entries})
}

// Delete removes a document. It is no error if there is none.
func (s *Store) Delete(ctx context.Context, kind, id string) error {
	return s.Commit(ctx, store.Change{Delete: []store.Key{{Kind: kind, ID: id}}})
}

// Append adds lines to the audit trail that are about no document.
func (s *Store) Append(ctx context.Context, entries ...store.Entry) error {
	return s.Commit(ctx, store.Change{Audit: entries})
}

// Load reads a document into v. The error is store.ErrNotFound if there is none.
func (s *Store) Load(ctx context.Context, kind, id string, v any) error {
	d, version, err := s.written(ctx, store.Key{Kind: kind, ID: id})
	switch {
	case err != nil:
		return fmt.Errorf("load %s %s from keyspace %s: %w", kind, id, s.o.Keyspace, err)
	case version == 0:
		return fmt.Errorf("load %s %s: %w", kind, id, store.ErrNotFound)
	}
	s.learn(map[store.Key]int64{{Kind: kind, ID: id}: version}, nil)
	if err := json.Unmarshal(d.Raw, v); err != nil {
		return fmt.Errorf("load %s %s from keyspace %s: %w", kind, id, s.o.Keyspace, err)
	}
	return nil
}

// Document reads one document as it is stored; nil if there is none.
func (s *Store) Document(ctx context.Context, kind, id string) (*store.Document, error) {
	d, version, err := s.written(ctx, store.Key{Kind: kind, ID: id})
	if err != nil {
		return nil, fmt.Errorf("read %s %s from keyspace %s: %w", kind, id, s.o.Keyspace, err)
	}
	s.learn(map[store.Key]int64{{Kind: kind, ID: id}: version}, nil)
	if version == 0 {
		return nil, nil //nolint:nilnil // there is none, which is no error
	}
	return &d, nil
}

// Versions are those of all documents of a kind, by id: to see which have changed.
func (s *Store) Versions(ctx context.Context, kind string) (map[string]int64, error) {
	out := map[string]int64{}
	err := s.each(ctx, serial, func(scan func(...any) error) error {
		var id string
		var version int64
		err := scan(&id, &version)
		out[id] = version
		return err
	}, s.cql("SELECT id, version FROM %s.state WHERE part = ? AND kind = ? AND seq = 0"), part, kind)
	if err != nil {
		return nil, fmt.Errorf("list %s from keyspace %s: %w", kind, s.o.Keyspace, err)
	}
	return out, nil
}

// List returns the documents of a kind by id.
func (s *Store) List(ctx context.Context, kind string) ([]store.Document, error) {
	out := []store.Document{}
	err := s.each(ctx, serial, func(scan func(...any) error) error {
		d, at := store.Document{Kind: kind}, int64(0)
		if err := scan(&d.ID, &d.Version, &at, (*[]byte)(&d.Raw)); err != nil {
			return err
		}
		d.Updated = time.Unix(0, at).UTC()
		out = append(out, d)
		return nil
	}, s.cql("SELECT id, version, at, body FROM %s.state WHERE part = ? AND kind = ? AND seq = 0"), part, kind)
	if err != nil {
		return nil, fmt.Errorf("list %s from keyspace %s: %w", kind, s.o.Keyspace, err)
	}
	versions := map[store.Key]int64{}
	for i := range out {
		versions[store.Key{Kind: kind, ID: out[i].ID}] = out[i].Version
	}
	s.learn(versions, nil)
	return out, nil
}

var errEnough = errors.New("enough was read")

// Audit reads the trail, the latest line first.
func (s *Store) Audit(ctx context.Context, q store.AuditQuery) ([]store.Entry, error) {
	limit := min(q.Limit, store.AuditLimit)
	if limit == 0 {
		limit = 100
	}
	before := q.Before
	if before <= 0 {
		before = 1 << 62
	}
	out := []store.Entry{}
	err := s.lines(ctx, "seq < ?", before, "DESC", func(e *store.Entry) error {
		if q.Matches(e) {
			out = append(out, *e)
		}
		if len(out) == limit {
			return errEnough
		}
		return nil
	})
	if err != nil && !errors.Is(err, errEnough) {
		return nil, fmt.Errorf("read the audit trail from keyspace %s: %w", s.o.Keyspace, err)
	}
	return out, nil
}

// lines reads lines of the trail in one order or the other.
func (s *Store) lines(ctx context.Context, where string, bound int64, order string, line func(*store.Entry) error) error {
	return s.each(ctx, gocql.Quorum, func(scan func(...any) error) error {
		var e store.Entry
		var seq int64
		var body []byte
		if err := scan(&seq, &body); err != nil {
			return err
		}
		if err := json.Unmarshal(body, &e); err != nil {
			return fmt.Errorf("line %d of the audit trail can not be read: %w", seq, err)
		}
		e.Seq, e.At = seq, e.At.UTC()
		return line(&e)
	}, s.cql("SELECT seq, body FROM %s.state WHERE part = ? AND kind = '"+kindAudit+"' AND "+where+" ORDER BY kind "+order+", seq "+order), part, bound)
}

// Trim removes the lines of the audit trail from before a time, and leaves one that says so, if there were any.
func (s *Store) Trim(ctx context.Context, before time.Time) (removed int64, err error) {
	through := int64(0)
	err = s.lines(ctx, "seq > ?", 0, "ASC", func(e *store.Entry) error {
		if !e.At.Before(before) {
			return errEnough
		}
		through = e.Seq
		removed++
		return nil
	})
	if err != nil && !errors.Is(err, errEnough) {
		return 0, fmt.Errorf("trim the audit trail in keyspace %s: %w", s.o.Keyspace, err)
	}
	if removed == 0 {
		return 0, nil
	}
	line := store.Entry{Action: "audit.trim", Target: "audit", Reason: fmt.Sprintf("%d lines from before %s are not kept any more (audit-keep)", removed, before.UTC().Format(time.RFC3339))}
	if err := s.Append(ctx, line.By(ctx, store.Self)); err != nil { // first: what is gone is told of
		return 0, err
	}
	session, err := s.connected()
	if err == nil {
		trimming, cancel := context.WithTimeout(ctx, s.o.Patience)
		defer cancel()
		err = session.Query(s.cql("DELETE FROM %s.state WHERE part = ? AND kind = ? AND seq <= ?"), part, kindAudit, through).
			WithContext(trimming).Consistency(gocql.Quorum).DefaultTimestamp(false).Exec()
	}
	if err != nil {
		return 0, s.noted(fmt.Errorf("trim the audit trail in keyspace %s: %w", s.o.Keyspace, err))
	}
	return removed, nil
}
