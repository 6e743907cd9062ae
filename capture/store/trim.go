package store

import (
	"context"
	"database/sql"
	"fmt"
	"time"
)

// keepTable lets lines of the audit trail go that are older than is to be kept, and no others.
const keepTable = `
	CREATE TABLE audit_kept (since INTEGER NOT NULL);
	INSERT INTO audit_kept (since) VALUES (-9223372036854775808);
	DROP TRIGGER audit_delete;
	CREATE TRIGGER audit_delete BEFORE DELETE ON audit WHEN OLD.at >= (SELECT max(since) FROM audit_kept)
		BEGIN SELECT RAISE(ABORT, 'the audit trail is append-only'); END;
	CREATE INDEX audit_at ON audit (at);
`

// Trim removes the lines of the audit trail from before a time, and leaves one that says so, if there were any.
func (s *Store) Trim(ctx context.Context, before time.Time) (removed int64, err error) {
	err = s.write(ctx, func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, `UPDATE audit_kept SET since = ? WHERE since < ?`, before.UnixNano(), before.UnixNano()); err != nil {
			return err
		}
		result, err := tx.ExecContext(ctx, `DELETE FROM audit WHERE at < ?`, before.UnixNano())
		if err == nil {
			removed, err = result.RowsAffected()
		}
		if err != nil || removed == 0 {
			return err
		}
		e := Entry{Action: "audit.trim", Target: "audit", Reason: fmt.Sprintf("%d lines from before %s are not kept any more (audit-keep)", removed, before.UTC().Format(time.RFC3339))}
		return appendEntry(ctx, tx, e.By(ctx, Self), s.now())
	})
	if err != nil {
		return 0, fmt.Errorf("trim the audit trail in %s: %w", s.path, err)
	}
	return removed, nil
}
