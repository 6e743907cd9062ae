package keyspace

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/gocql/gocql"

	"github.com/helenus-db/helenus/capture/store"
)

// Beat stores what a member says of itself, unless a beat with a larger counter is stored.
func (s *Store) Beat(ctx context.Context, member string, counter int64, v any) error {
	body, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("encode the beat of member %s: %w", member, err)
	}
	session, err := s.connected()
	if err == nil {
		saying, cancel := context.WithTimeout(ctx, s.o.Patience)
		defer cancel()
		err = session.Query(s.cql("INSERT INTO %s.beats (part, member, counter, body) VALUES (?, ?, ?, ?)"), part, member, counter, body).
			WithContext(saying).Consistency(gocql.Quorum).WithTimestamp(counter).Exec()
	}
	if err != nil {
		return s.noted(fmt.Errorf("store the beat of member %s: %w", member, err))
	}
	return nil
}

// Beats are those of all members that there were, by member.
func (s *Store) Beats(ctx context.Context) (map[string]json.RawMessage, error) {
	out := map[string]json.RawMessage{}
	err := s.each(ctx, gocql.Quorum, func(scan func(...any) error) error {
		var member string
		var body []byte
		err := scan(&member, &body)
		out[member] = body
		return err
	}, s.cql("SELECT member, body FROM %s.beats WHERE part = ?"), part)
	if err != nil {
		return nil, fmt.Errorf("read the beats of the members: %w", err)
	}
	return out, nil
}

// Silence forgets the beats of a member up to a counter.
func (s *Store) Silence(ctx context.Context, member string, counter int64) error {
	session, err := s.connected()
	if err == nil {
		saying, cancel := context.WithTimeout(ctx, s.o.Patience)
		defer cancel()
		err = session.Query(s.cql("DELETE FROM %s.beats WHERE part = ? AND member = ?"), part, member).WithContext(saying).Consistency(gocql.Quorum).WithTimestamp(counter).Exec()
	}
	return s.noted(err)
}

// Snapshot is what a member learned in a window, as it wrote it.
type Snapshot struct {
	Member, Window string
	At             time.Time
	Body           []byte
}

// PutSnapshot stores what a member learned in a window, in place of what it said of that window before.
func (s *Store) PutSnapshot(ctx context.Context, member, window string, body []byte) error {
	session, err := s.connected()
	if err == nil {
		saying, cancel := context.WithTimeout(ctx, s.o.Patience)
		defer cancel()
		err = session.Query(s.cql(`INSERT INTO %s.snapshots (member, "window", at, body) VALUES (?, ?, ?, ?)`), member, window, s.o.Now().UnixNano(), body).
			WithContext(saying).Consistency(gocql.Quorum).Exec()
	}
	if err != nil {
		return s.noted(fmt.Errorf("store the snapshot %s of member %s: %w", window, member, err))
	}
	return nil
}

// Snapshots are those of all members, in no order.
func (s *Store) Snapshots(ctx context.Context) (out []Snapshot, err error) {
	err = s.each(ctx, gocql.Quorum, func(scan func(...any) error) error {
		var one Snapshot
		var at int64
		err := scan(&one.Member, &one.Window, &at, &one.Body)
		one.At = time.Unix(0, at).UTC()
		out = append(out, one)
		return err
	}, s.cql(`SELECT member, "window", at, body FROM %s.snapshots`))
	if err != nil {
		return nil, fmt.Errorf("read the snapshots of the members: %w", err)
	}
	return out, nil
}

// DropSnapshot forgets a snapshot; "" as window: all of a member.
func (s *Store) DropSnapshot(ctx context.Context, member, window string) error {
	session, err := s.connected()
	if err == nil {
		saying, cancel := context.WithTimeout(ctx, s.o.Patience)
		defer cancel()
		text, values := `DELETE FROM %s.snapshots WHERE member = ?`, []any{member}
		if window != "" {
			text, values = text+` AND "window" = ?`, append(values, window)
		}
		err = session.Query(s.cql(text), values...).WithContext(saying).Consistency(gocql.Quorum).Exec()
	}
	if err != nil {
		return s.noted(fmt.Errorf("forget the snapshot %s of member %s: %w", window, member, err))
	}
	return nil
}

// Dump reads all documents and the whole trail.
func (s *Store) Dump(ctx context.Context) (d store.Dump, err error) {
	err = s.each(ctx, serial, func(scan func(...any) error) error {
		var one store.Document
		var seq, at int64
		if err := scan(&one.Kind, &seq, &one.ID, &one.Version, &at, (*[]byte)(&one.Raw)); err != nil {
			return err
		}
		one.Updated = time.Unix(0, at).UTC()
		if one.Kind == kindAudit {
			e := store.Entry{}
			if err := json.Unmarshal(one.Raw, &e); err != nil {
				return fmt.Errorf("line %d of the audit trail can not be read: %w", seq, err)
			}
			e.Seq, e.At = seq, e.At.UTC()
			d.Audit = append(d.Audit, e)
			return nil
		}
		if one.ID != "" || one.Version > 0 {
			d.Documents = append(d.Documents, one)
		}
		return nil
	}, s.cql("SELECT kind, seq, id, version, at, body FROM %s.state WHERE part = ?"), part)
	if err != nil {
		return d, fmt.Errorf("read all of keyspace %s: %w", s.o.Keyspace, err)
	}
	return d, nil
}

// fillAtOnce is how many lines or documents are stored in one transaction while the state is filled.
const fillAtOnce = 20

// Fill stores a dump in place of all documents that are here; lines of the trail that are here already are not added again. Nobody else may use the state meanwhile.
func (s *Store) Fill(ctx context.Context, d store.Dump) error {
	have, err := s.Dump(ctx)
	if err != nil {
		return err
	}
	keep := map[store.Key]bool{}
	for _, one := range d.Documents {
		keep[store.Key{Kind: one.Kind, ID: one.ID}] = true
	}
	for _, one := range have.Documents {
		if k := (store.Key{Kind: one.Kind, ID: one.ID}); !keep[k] {
			if err := s.Delete(ctx, k.Kind, k.ID); err != nil {
				return err
			}
		}
	}
	for list := d.Documents; len(list) > 0; {
		n := 1 // one may be large
		if err := s.Commit(ctx, store.Change{Save: list[:n]}); err != nil {
			return err
		}
		list = list[n:]
	}
	for list := store.New(d.Audit, store.Identities(have.Audit)); len(list) > 0; {
		n := min(fillAtOnce, len(list))
		if err := s.Append(ctx, list[:n]...); err != nil {
			return err
		}
		list = list[n:]
	}
	return nil
}
