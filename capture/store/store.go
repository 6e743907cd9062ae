// Package store keeps documents and the audit trail of decisions in one SQLite file (helenus.db), the default state of a single proxy, and
// the history of what was counted in another (history.db, see Windows): decisions are precious and few, history is large and
// can be done without, so what happens to the one file does nothing to the other. It imports nothing of ours: a document
// is JSON under a kind and an id, a window is bytes under a level, an origin and a time, and what they mean is their writer's
// business.
//
// Every change of a document is one transaction, written through to the disk (WAL, synchronous FULL) before the call returns: what was
// acknowledged is there after kill -9 or a power cut. One process at a time may have the file open; SQLite's exclusive
// lock sees to that and ends with the process. The file carries the version of its tables; a newer file than this program
// knows is refused, untouched.
//
// Where the link is thin: one file, one process. A fleet of proxies needs the same surface over a Cassandra keyspace.
package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// File is the name of the store's file in its directory.
const File = "helenus.db"

// Version is the version of the tables that this program reads and writes.
const Version = 4

// application marks the file as ours ("Hele").
const application = 0x48656c65

// Errors that a caller may decide on.
var (
	ErrNotFound = errors.New("no such document")
	ErrLocked   = errors.New("in use by another process")
	ErrNewer    = errors.New("written by a newer version of Helenus")
	ErrForeign  = errors.New("not a store of Helenus")
	ErrCorrupt  = errors.New("the file is damaged")
	ErrFull     = errors.New("the disk is full")
)

// Store is an open store. Its methods may be called from many goroutines; changes are made one after the other.
type Store struct {
	path    string
	now     func() time.Time
	damaged func(Damage) // nil: a damaged file is an error, and stays where it is
	watch   func([]Entry)

	mu     sync.Mutex
	db     *sql.DB
	file   os.FileInfo // as it was last; nil if there is none
	memory string      // why the store is in memory; "" if it is not
	closed bool
}

// Document is one stored value.
type Document struct {
	Kind    string          `json:"kind"`
	ID      string          `json:"id"`
	Version int64           `json:"version"` // 1 when first saved, one more at each save
	Updated time.Time       `json:"updated"`
	Raw     json.RawMessage `json:"raw"`
}

// NewDocument makes a document to be saved.
func NewDocument(kind, id string, v any) (Document, error) {
	raw, err := json.Marshal(v)
	if err != nil {
		return Document{}, fmt.Errorf("encode %s %s: %w", kind, id, err)
	}
	return Document{Kind: kind, ID: id, Raw: raw}, nil
}

// Key names a document.
type Key struct{ Kind, ID string }

// Change is what is to be done at once: all of it or nothing.
type Change struct {
	If     map[Key]int64 // versions that must be stored, 0: none; else it is ErrConflict
	Save   []Document    // Version and Updated are set by the store
	Delete []Key         // the documents; the audit trail stays
	Audit  []Entry       // see Entry.By
}

// steps bring a file from version i to i+1. (The table snapshots is of earlier programs; nobody reads it.)
var steps = [Version]struct {
	tables string
	then   func(ctx context.Context, tx *sql.Tx) error
}{{tables: `
	CREATE TABLE documents (kind TEXT NOT NULL, id TEXT NOT NULL, version INTEGER NOT NULL, updated INTEGER NOT NULL,
		body BLOB NOT NULL, PRIMARY KEY (kind, id)) WITHOUT ROWID;
	CREATE TABLE events (seq INTEGER PRIMARY KEY AUTOINCREMENT, kind TEXT NOT NULL, id TEXT NOT NULL, at INTEGER NOT NULL,
		actor TEXT NOT NULL, text TEXT NOT NULL);
	CREATE INDEX events_of ON events (kind, id, seq);
	CREATE TABLE snapshots (seq INTEGER PRIMARY KEY AUTOINCREMENT, at INTEGER NOT NULL, body BLOB NOT NULL);
	CREATE INDEX snapshots_at ON snapshots (at);
`}, {tables: `
	ALTER TABLE documents ADD COLUMN sum TEXT NOT NULL DEFAULT '';
`, then: sumUp}, {tables: auditTable, then: carryOver}, {tables: keepTable, then: oneRecord}}

// Open opens the store in a directory, which is made if it is not there. It fails with ErrLocked, ErrNewer, ErrForeign or ErrCorrupt if the
// file can not be used, and leaves it as it is then.
func Open(dir string) (*Store, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make the directory of the store: %w", err)
	}
	path, err := filepath.Abs(filepath.Join(dir, File))
	if err != nil {
		return nil, fmt.Errorf("open the store in %s: %w", dir, err)
	}
	if err := private(path); err != nil {
		return nil, fmt.Errorf("open the store %s: %w", path, err)
	}
	options := url.Values{"_txlock": {"immediate"}, "_pragma": {
		"busy_timeout(500)", "locking_mode(EXCLUSIVE)", "journal_mode(WAL)", "synchronous(FULL)",
	}}
	db, err := sql.Open("sqlite", (&url.URL{Scheme: "file", Path: path, RawQuery: options.Encode()}).String())
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	db.SetMaxOpenConns(1) // the exclusive lock belongs to a connection
	s := &Store{db: db, path: path, now: time.Now}
	err = s.keepFormer()
	if err == nil {
		err = s.prepare()
	}
	if err != nil {
		_ = db.Close() // the first error is the one to report
		return nil, fmt.Errorf("open %s: %w", path, explain(err))
	}
	if s.file, err = os.Stat(path); err != nil {
		_ = db.Close() // the first error is the one to report
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	return s, nil
}

// private sees to it that the file is there and readable for its owner only: SQLite would make it readable for all, and it
// holds names of tables and columns.
func private(path string) error {
	if err := sound(path); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if errors.Is(err, fs.ErrPermission) {
		return fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	if err != nil {
		return err
	}
	return f.Close()
}

// explain turns SQLite's codes into this package's errors.
func explain(err error) error {
	var e *sqlite.Error
	if errors.As(err, &e) {
		switch e.Code() & 0xFF {
		case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED:
			return fmt.Errorf("%w: stop the other helenus, or name another directory (%w)", ErrLocked, err)
		case sqlite3.SQLITE_NOTADB:
			return fmt.Errorf("%w: %w", ErrForeign, err)
		case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_CANTOPEN: // we could open it: it is its log that is no file
			return fmt.Errorf("%w: %w", ErrCorrupt, err)
		case sqlite3.SQLITE_FULL:
			return fmt.Errorf("%w: %w", ErrFull, err)
		}
	}
	return err
}

// prepare checks the version and makes the tables.
func (s *Store) prepare() error {
	ctx := context.Background()
	return transaction(ctx, s.db, func(tx *sql.Tx) error {
		var version, mark, objects int
		for query, into := range map[string]*int{
			"PRAGMA user_version": &version, "PRAGMA application_id": &mark, "SELECT count(*) FROM sqlite_schema": &objects,
		} {
			if err := tx.QueryRowContext(ctx, query).Scan(into); err != nil {
				return err
			}
		}
		if mark != application && (mark != 0 || objects > 0) {
			return fmt.Errorf("%w: name another directory", ErrForeign)
		}
		if version > Version {
			return fmt.Errorf("%w: its tables are of version %d, this program knows %d; install the newer version or name another directory",
				ErrNewer, version, Version)
		}
		if version < 0 || version == 0 && objects > 0 {
			return fmt.Errorf("%w: it has tables, but says that it is new", ErrCorrupt)
		}
		if version == Version {
			return s.checkAll(ctx, tx) // and writes nothing: the disk may be full
		}
		for v := version; v < Version; v++ {
			if _, err := tx.ExecContext(ctx, steps[v].tables); err != nil {
				return err
			}
			if then := steps[v].then; then != nil {
				if err := then(ctx, tx); err != nil {
					return err
				}
			}
		}
		if _, err := tx.ExecContext(ctx, fmt.Sprintf("PRAGMA user_version = %d; PRAGMA application_id = %d", Version, application)); err != nil {
			return err
		}
		return s.checkAll(ctx, tx)
	})
}

// sumUp gives documents of version 1, which have no sum, theirs.
func sumUp(ctx context.Context, tx *sql.Tx) error {
	rows, err := tx.QueryContext(ctx, "SELECT kind, id, version, body FROM documents")
	if err != nil {
		return err
	}
	var list []Document
	if err := scan(rows, func(rows *sql.Rows) error {
		var d Document
		err := rows.Scan(&d.Kind, &d.ID, &d.Version, (*[]byte)(&d.Raw))
		list = append(list, d)
		return err
	}); err != nil {
		return err
	}
	for i := range list {
		d := &list[i]
		if !json.Valid(d.Raw) {
			return fmt.Errorf("%w: %s %s is not JSON", ErrCorrupt, d.Kind, d.ID)
		}
		if _, err := tx.ExecContext(ctx, "UPDATE documents SET sum = ? WHERE kind = ? AND id = ?", d.sum(), d.Kind, d.ID); err != nil {
			return err
		}
	}
	return nil
}

// Close closes the store.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	return s.db.Close()
}

// Path is where the file is.
func (s *Store) Path() string { return s.path }

// transaction does all of what do asks of the file, or nothing.
func transaction(ctx context.Context, db *sql.DB, do func(tx *sql.Tx) error) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if err := do(tx); err != nil {
		_ = tx.Rollback() // the first error is the one to report
		return err
	}
	return tx.Commit()
}

// Commit carries a change out, all of it or nothing.
func (s *Store) Commit(ctx context.Context, c Change) error {
	err := s.write(ctx, func(tx *sql.Tx) error {
		now := s.now()
		if err := conflicts(ctx, tx, c.If); err != nil {
			return err
		}
		for _, d := range c.Save {
			if !json.Valid(d.Raw) {
				return fmt.Errorf("%s %s is not valid JSON", d.Kind, d.ID)
			}
			if err := tx.QueryRowContext(ctx, `SELECT coalesce(max(version), 0) + 1 FROM documents WHERE kind = ? AND id = ?`, d.Kind, d.ID).Scan(&d.Version); err != nil {
				return err
			}
			if _, err := tx.ExecContext(ctx, `INSERT OR REPLACE INTO documents (kind, id, version, updated, body, sum) VALUES (?, ?, ?, ?, ?, ?)`,
				d.Kind, d.ID, d.Version, now.UnixNano(), []byte(d.Raw), d.sum()); err != nil {
				return err
			}
		}
		for _, k := range c.Delete {
			if _, err := tx.ExecContext(ctx, `DELETE FROM documents WHERE kind = ? AND id = ?`, k.Kind, k.ID); err != nil {
				return err
			}
		}
		for _, e := range c.Audit {
			if err := appendEntry(ctx, tx, e, now); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("write to %s: %w", s.path, err)
	}
	if s.watch != nil && len(c.Audit) > 0 {
		s.watch(c.Audit)
	}
	return nil
}

// Save stores v as JSON under a kind and an id.
func (s *Store) Save(ctx context.Context, kind, id string, v any) error {
	d, err := NewDocument(kind, id, v)
	if err != nil {
		return err
	}
	return s.Commit(ctx, Change{Save: []Document{d}})
}

// Delete removes a document. It is no error if there is none.
func (s *Store) Delete(ctx context.Context, kind, id string) error {
	return s.Commit(ctx, Change{Delete: []Key{{kind, id}}})
}

// Append adds lines to the audit trail that are about no document.
func (s *Store) Append(ctx context.Context, entries ...Entry) error {
	return s.Commit(ctx, Change{Audit: entries})
}

// Load reads a document into v. The error is ErrNotFound if there is none.
func (s *Store) Load(ctx context.Context, kind, id string, v any) error {
	d := Document{Kind: kind, ID: id}
	err := s.read(func(db *sql.DB) error {
		var sum string
		if err := db.QueryRowContext(ctx, `SELECT version, body, sum FROM documents WHERE kind = ? AND id = ?`, kind, id).Scan(&d.Version, (*[]byte)(&d.Raw), &sum); err != nil {
			return err
		}
		return d.check(sum)
	})
	if errors.Is(err, sql.ErrNoRows) {
		return fmt.Errorf("load %s %s: %w", kind, id, ErrNotFound)
	}
	if err == nil {
		err = json.Unmarshal(d.Raw, v)
	}
	if err != nil {
		return fmt.Errorf("load %s %s from %s: %w", kind, id, s.path, err)
	}
	return nil
}

// List returns the documents of a kind by id.
func (s *Store) List(ctx context.Context, kind string) ([]Document, error) {
	out := []Document{}
	err := s.each(ctx, func(rows *sql.Rows) error {
		d := Document{Kind: kind}
		var updated int64
		var sum string
		if err := rows.Scan(&d.ID, &d.Version, &updated, (*[]byte)(&d.Raw), &sum); err != nil {
			return err
		}
		d.Updated = time.Unix(0, updated).UTC()
		out = append(out, d)
		return d.check(sum)
	}, `SELECT id, version, updated, body, sum FROM documents WHERE kind = ? ORDER BY id`, kind)
	if err != nil {
		return nil, fmt.Errorf("list %s from %s: %w", kind, s.path, err)
	}
	return out, nil
}

func (s *Store) each(ctx context.Context, row func(rows *sql.Rows) error, query string, args ...any) error {
	return s.read(func(db *sql.DB) error {
		rows, err := db.QueryContext(ctx, query, args...)
		if err != nil {
			return err
		}
		return scan(rows, row)
	})
}

// scan calls row for each of the rows, and closes them.
func scan(rows *sql.Rows, row func(rows *sql.Rows) error) error {
	defer func() { _ = rows.Close() }() // it tells no more than rows.Err
	for rows.Next() {
		if err := row(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}
