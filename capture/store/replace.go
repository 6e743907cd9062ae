package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

// ErrConflict says that another version of a document is stored than whoever replaces it has read.
var ErrConflict = errors.New("another version is stored")

// Replace stores v as JSON under a kind and an id, along with lines of the audit trail, all or nothing, if the version that is stored is the one
// given, 0 if there is none. It returns the new version; else it is ErrConflict.
func (s *Store) Replace(ctx context.Context, kind, id string, version int64, v any, entries ...Entry) (int64, error) {
	d, err := NewDocument(kind, id, v)
	if err != nil {
		return 0, err
	}
	err = s.Commit(ctx, Change{If: map[Key]int64{{kind, id}: version}, Save: []Document{d}, Audit: entries})
	return version + 1, err
}

// Remove removes a document under the condition of Replace.
func (s *Store) Remove(ctx context.Context, kind, id string, version int64, entries ...Entry) error {
	key := Key{kind, id}
	return s.Commit(ctx, Change{If: map[Key]int64{key: version}, Delete: []Key{key}, Audit: entries})
}

// conflicts looks whether documents are stored in the versions that a change is made for.
func conflicts(ctx context.Context, tx *sql.Tx, versions map[Key]int64) error {
	for k, want := range versions {
		var have int64
		if err := tx.QueryRowContext(ctx, `SELECT coalesce(max(version), 0) FROM documents WHERE kind = ? AND id = ?`, k.Kind, k.ID).Scan(&have); err != nil {
			return err
		}
		if have != want {
			return fmt.Errorf("%w: of %s %s version %d, not %d", ErrConflict, k.Kind, k.ID, have, want)
		}
	}
	return nil
}
