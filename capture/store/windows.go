package store

import (
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// WindowsFile is the name of the history's file in its directory.
const WindowsFile = "history.db"

// Windows is the history on disk: for each level (0 the finest), origin (one proxy's history) and time one window of bytes, in
// a SQLite file of its own. A commit survives the end of the process, however that comes; a power cut may take the last ones
// with it, but tears none (WAL, synchronous NORMAL). Other processes may read meanwhile, and write: who finds it locked waits 1 s, then
// fails with ErrLocked. Methods may be called from many goroutines.
type Windows struct {
	db     *sql.DB
	path   string
	origin string
}

// Window is one row. Its time is the begin of an hour or a day, or, at level 0, the moment that it was closed at.
type Window struct {
	Level  int
	Origin string
	At     time.Time
	Body   []byte
}

// Span says which windows are meant: those of a level from From on and before To; a zero To means all later ones.
type Span struct {
	Level    int
	Origin   string // "": all
	From, To time.Time
}

// WindowsChange is what is to be done at once: all of it or nothing. Drop is done first.
type WindowsChange struct {
	Drop []Span
	Put  []Window // in the place of what is there
}

const windowsVersion = 1

const windowsTables = `
	CREATE TABLE IF NOT EXISTS windows (level INTEGER NOT NULL, at INTEGER NOT NULL, origin TEXT NOT NULL, body BLOB NOT NULL,
		PRIMARY KEY (level, at, origin));
	CREATE TABLE IF NOT EXISTS origin (id TEXT NOT NULL);`

// OpenWindows opens the history in a directory, which is made if it is not there. It fails with ErrLocked, ErrCorrupt, ErrForeign,
// ErrNewer or ErrFull, among others, and leaves the file as it is then.
func OpenWindows(dir string) (*Windows, error) {
	path, err := filepath.Abs(filepath.Join(dir, WindowsFile))
	if err == nil {
		err = os.MkdirAll(dir, 0o700)
	}
	if err == nil {
		err = private(path)
	}
	if err != nil {
		return nil, fmt.Errorf("open the history: %w", err)
	}
	pragmas := []string{"busy_timeout(1000)", "journal_mode(WAL)", "synchronous(NORMAL)", "journal_size_limit(8388608)"}
	if info, err := os.Stat(path); err == nil && info.Size() == 0 {
		pragmas = slices.Insert(pragmas, 1, "auto_vacuum(FULL)") // can only be said to a new file; later it writes, and may be locked out
	}
	options := url.Values{"_txlock": {"immediate"}, "_pragma": pragmas}
	db, err := sql.Open("sqlite", (&url.URL{Scheme: "file", Path: path, RawQuery: options.Encode()}).String())
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	db.SetMaxOpenConns(1)
	w := &Windows{db: db, path: path}
	if err := w.prepare(); err != nil {
		_ = db.Close() // the first error is the one to report
		return nil, fmt.Errorf("open %s: %w", path, explain(err))
	}
	return w, nil
}

// prepare checks the version and makes the tables. A file that has them is only read, which a lock does not hinder.
func (w *Windows) prepare() error {
	ctx := context.Background()
	var version, mark, objects int
	for query, into := range map[string]*int{
		"PRAGMA user_version": &version, "PRAGMA application_id": &mark, "SELECT count(*) FROM sqlite_schema": &objects,
	} {
		if err := w.db.QueryRowContext(ctx, query).Scan(into); err != nil {
			return err
		}
	}
	if mark != application && (mark != 0 || objects > 0) {
		return ErrForeign
	}
	if version > windowsVersion {
		return fmt.Errorf("%w: its tables are of version %d, this program knows %d", ErrNewer, version, windowsVersion)
	}
	if version == 0 {
		if err := transaction(ctx, w.db, func(tx *sql.Tx) error { return begin(ctx, tx) }); err != nil {
			return err
		}
	}
	return w.db.QueryRowContext(ctx, "SELECT id FROM origin").Scan(&w.origin)
}

// begin makes the tables and names the origin, if no other process was first.
func begin(ctx context.Context, tx *sql.Tx) error {
	b := make([]byte, 8)
	_, _ = rand.Read(b) // never fails
	if _, err := tx.ExecContext(ctx, windowsTables); err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, "INSERT INTO origin (id) SELECT ? WHERE NOT EXISTS (SELECT 1 FROM origin)", hex.EncodeToString(b)); err != nil {
		return err
	}
	_, err := tx.ExecContext(ctx, fmt.Sprintf("PRAGMA user_version = %d; PRAGMA application_id = %d", windowsVersion, application))
	return err
}

// Close closes the file.
func (w *Windows) Close() error { return w.db.Close() }

// Path is where the file is.
func (w *Windows) Path() string { return w.path }

// Origin is the name of this history, made at random when its file was.
func (w *Windows) Origin() string { return w.origin }

// where is the condition of a span.
func (s Span) where() (string, []any) {
	text, args := "level = ? AND at >= ?", []any{s.Level, nanos(s.From)}
	if !s.To.IsZero() {
		text, args = text+" AND at < ?", append(args, nanos(s.To))
	}
	if s.Origin != "" {
		text, args = text+" AND origin = ?", append(args, s.Origin)
	}
	return text, args
}

// nanos is a time as it is stored; before 1678 and after 2262 there is nothing.
func nanos(t time.Time) int64 {
	switch {
	case t.Year() < 1700:
		return -1 << 63
	case t.Year() > 2250:
		return 1<<63 - 1
	}
	return t.UnixNano()
}

// Apply carries a change out.
func (w *Windows) Apply(ctx context.Context, c WindowsChange) error {
	err := transaction(ctx, w.db, func(tx *sql.Tx) error {
		for _, s := range c.Drop {
			where, args := s.where()
			if _, err := tx.ExecContext(ctx, "DELETE FROM windows WHERE "+where, args...); err != nil { //nolint:gosec // of constants
				return err
			}
		}
		for _, p := range c.Put {
			if _, err := tx.ExecContext(ctx, "INSERT OR REPLACE INTO windows (level, at, origin, body) VALUES (?, ?, ?, ?)",
				p.Level, nanos(p.At), p.Origin, p.Body); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("write to %s: %w", w.path, explain(err))
	}
	return nil
}

// Each calls yield for the windows of a span by time, until it returns an error, which is returned. yield may use the file.
func (w *Windows) Each(ctx context.Context, s Span, yield func(Window) error) error {
	where, args := s.where()
	keys, err := w.keys(ctx, where, args)
	if err != nil {
		return err
	}
	for _, k := range keys { // one at a time: there is one connection
		err := w.db.QueryRowContext(ctx, "SELECT body FROM windows WHERE level = ? AND at = ? AND origin = ?", k.Level, k.At.UnixNano(), k.Origin).Scan(&k.Body)
		if errors.Is(err, sql.ErrNoRows) {
			continue // dropped meanwhile
		}
		if err != nil {
			return fmt.Errorf("read %s: %w", w.path, explain(err))
		}
		if err := yield(k); err != nil {
			return err
		}
	}
	return nil
}

// keys are the windows without their bodies.
func (w *Windows) keys(ctx context.Context, where string, args []any) (list []Window, err error) {
	rows, err := w.db.QueryContext(ctx, "SELECT level, at, origin FROM windows WHERE "+where+" ORDER BY at, origin", args...) //nolint:gosec // of constants
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", w.path, explain(err))
	}
	defer func() { _ = rows.Close() }() // it tells no more than rows.Err
	for rows.Next() {
		var k Window
		var at int64
		if err := rows.Scan(&k.Level, &at, &k.Origin); err != nil {
			return nil, fmt.Errorf("read %s: %w", w.path, explain(err))
		}
		k.At = time.Unix(0, at).UTC()
		list = append(list, k)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("read %s: %w", w.path, explain(err))
	}
	return list, nil
}

// Keys are the windows of a span, by time, without their bodies.
func (w *Windows) Keys(ctx context.Context, s Span) ([]Window, error) {
	where, args := s.where()
	return w.keys(ctx, where, args)
}

// Size is how many bytes of the file are in use.
func (w *Windows) Size(ctx context.Context) (int64, error) {
	var pages, free, size int64
	for query, into := range map[string]*int64{"PRAGMA page_count": &pages, "PRAGMA freelist_count": &free, "PRAGMA page_size": &size} {
		if err := w.db.QueryRowContext(ctx, query).Scan(into); err != nil {
			return 0, fmt.Errorf("measure %s: %w", w.path, explain(err))
		}
	}
	return (pages - free) * size, nil
}

// Aside moves the history's files in a directory out of the way, so that a new one can begin, and returns where the file is now.
// No process may have it open.
func Aside(dir string, now time.Time) (string, error) {
	return setAside(filepath.Join(dir, WindowsFile), now)
}

// Limit bounds the file to a number of pages of 4 KB; what needs more fails with ErrFull.
func (w *Windows) Limit(ctx context.Context, pages int) error {
	_, err := w.db.ExecContext(ctx, fmt.Sprintf("PRAGMA max_page_count = %d", pages))
	return err
}

// Check reads the whole file and says "ok", or what is damaged.
func (w *Windows) Check(ctx context.Context) (why string, err error) {
	if err := w.db.QueryRowContext(ctx, "PRAGMA integrity_check(1)").Scan(&why); err != nil {
		return "", fmt.Errorf("check %s: %w", w.path, explain(err))
	}
	return why, nil
}
