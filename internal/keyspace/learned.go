package keyspace

import (
	"context"
	"fmt"
	"time"

	"github.com/gocql/gocql"
)

// What members learned are rows of snapshots, of which the partition is named after their kind: each is read by itself. They may be large, so they are read a few at a time, and
// written with more patience than a beat; that they can not be had says nothing of the state, so it is not noted.

// learnedPatience bounds one question.
const learnedPatience = 30 * time.Second

// PutLearned stores a row of what was learned in place of the one of its kind and key. It vanishes after keep.
func (s *Store) PutLearned(ctx context.Context, kind, key string, body []byte, keep time.Duration) error {
	session, err := s.connected()
	if err == nil {
		saying, cancel := context.WithTimeout(ctx, learnedPatience)
		defer cancel()
		err = session.Query(s.cql(`INSERT INTO %s.snapshots (member, "window", at, body) VALUES (?, ?, ?, ?) USING TTL ?`), kind, key, s.o.Now().UnixNano(), body, int(keep/time.Second)+1).
			WithContext(saying).Consistency(gocql.Quorum).Exec()
	}
	if err != nil {
		return fmt.Errorf("store %s %s in keyspace %s: %w", kind, key, s.o.Keyspace, err)
	}
	return nil
}

// Learned are the rows of a kind: each with its key as Window.
func (s *Store) Learned(ctx context.Context, kind string) (out []Snapshot, err error) {
	session, err := s.connected()
	if err == nil {
		asking, cancel := context.WithTimeout(ctx, learnedPatience)
		defer cancel()
		rows := session.Query(s.cql(`SELECT "window", at, body FROM %s.snapshots WHERE member = ?`), kind).WithContext(asking).Consistency(gocql.Quorum).PageSize(8).Iter().Scanner()
		for err == nil && rows.Next() {
			one, at := Snapshot{Member: kind}, int64(0)
			err = rows.Scan(&one.Window, &at, &one.Body)
			one.At = time.Unix(0, at).UTC()
			out = append(out, one)
		}
		if err == nil {
			err = rows.Err()
		}
	}
	if err != nil {
		return nil, fmt.Errorf("read %s from keyspace %s: %w", kind, s.o.Keyspace, err)
	}
	return out, nil
}

// Clock is what the clock of the node that answers shows, and how much of that is uncertain because of the time that the answer took.
func (s *Store) Clock(ctx context.Context) (now time.Time, uncertain time.Duration, err error) {
	session, err := s.connected()
	if err != nil {
		return now, 0, err
	}
	asking, cancel := context.WithTimeout(ctx, s.o.Patience)
	defer cancel()
	var id gocql.UUID
	began := time.Now()
	if err := session.Query("SELECT now() FROM system.local").WithContext(asking).Consistency(gocql.One).Scan(&id); err != nil {
		return now, 0, fmt.Errorf("ask Cassandra for the time: %w", err)
	}
	took := time.Since(began)
	return id.Time().Add(took / 2), took/2 + time.Millisecond, nil // of 4.0 and 4.1 a millisecond is the least
}
