package store

import (
	"bytes"
	"compress/gzip"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"io"
	"time"
)

// Retention says how much history is kept. Zero means no limit.
type Retention struct {
	Count int
	Age   time.Duration
}

// maxSnapshot bounds what a stored snapshot may unpack to.
const maxSnapshot = 256 << 20

// AppendSnapshot adds a picture of the time up to at to the history, packed, and forgets what the retention does not keep.
func (s *Store) AppendSnapshot(ctx context.Context, at time.Time, v any, keep Retention) error {
	raw, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("encode a snapshot: %w", err)
	}
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	if _, err := z.Write(raw); err != nil {
		return fmt.Errorf("pack a snapshot: %w", err)
	}
	if err := z.Close(); err != nil {
		return fmt.Errorf("pack a snapshot: %w", err)
	}
	err = s.transaction(ctx, func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, `INSERT INTO snapshots (at, body) VALUES (?, ?)`, at.UnixNano(), packed.Bytes()); err != nil {
			return err
		}
		if keep.Age > 0 {
			if _, err := tx.ExecContext(ctx, `DELETE FROM snapshots WHERE at < ?`, at.Add(-keep.Age).UnixNano()); err != nil {
				return err
			}
		}
		if keep.Count > 0 {
			if _, err := tx.ExecContext(ctx, `DELETE FROM snapshots WHERE seq NOT IN
				(SELECT seq FROM snapshots ORDER BY at DESC, seq DESC LIMIT ?)`, keep.Count); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("write a snapshot to %s: %w", s.path, err)
	}
	return nil
}

// Snapshots calls yield for every picture of the history from a time on, oldest first, until it returns an error, which
// is returned.
func (s *Store) Snapshots(ctx context.Context, since time.Time, yield func(at time.Time, raw json.RawMessage) error) error {
	// One at a time, so that yield may use the store: it has one connection.
	at, seq := since.UnixNano(), int64(0)
	for {
		var body []byte
		err := s.db.QueryRowContext(ctx, `SELECT at, seq, body FROM snapshots WHERE (at, seq) > (?, ?) ORDER BY at, seq LIMIT 1`, at, seq).
			Scan(&at, &seq, &body)
		if err == sql.ErrNoRows { //nolint:errorlint // Scan returns it as it is
			return nil
		}
		if err != nil {
			return fmt.Errorf("read snapshots from %s: %w", s.path, err)
		}
		raw, err := unpack(body)
		if err != nil {
			return fmt.Errorf("unpack a snapshot from %s: %w", s.path, err)
		}
		if err := yield(time.Unix(0, at).UTC(), raw); err != nil {
			return err
		}
	}
}

func unpack(packed []byte) ([]byte, error) {
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(io.LimitReader(z, maxSnapshot))
}
