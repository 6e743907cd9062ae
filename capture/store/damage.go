package store

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A state that can not be read is not worth the application's database: Begin sets its files aside, under a name that tells
// when, and begins a new one, which knows of no decision. Nothing is deleted, and as long as what was set aside lies there Trouble
// says so: a person either puts it right, or removes it and thereby says that it is not missed. Where not even a new file can be made,
// the store is kept in memory. The same happens to a file that turns out to be damaged while it is in use.

// Damage is what was found wrong with a store.
type Damage struct {
	Why     error
	Aside   string // where its files are now; "" if they were left where they are
	Memory  bool   // nothing is kept from now on
	Running bool   // it was found while the store was in use
}

// Begin opens the store in a directory whatever state it is in, and tells of what was wrong with it, then and later. damaged
// must not block, and may be called from any method. It fails only with ErrLocked, or ErrNewer: then another process, or
// another version, has the state, and it is not damaged.
func Begin(dir string, damaged func(Damage)) (*Store, error) {
	s, err := Open(dir)
	if errors.Is(err, ErrLocked) || errors.Is(err, ErrNewer) {
		return nil, err
	}
	if err == nil {
		s.damaged = damaged
		return s, nil
	}
	d := Damage{Why: err}
	s = &Store{path: filepath.Join(dir, File), now: time.Now, damaged: damaged}
	if isDamage(err) {
		s.again(&d)
	} else {
		s.inMemory(&d)
	}
	damaged(d)
	return s, nil
}

// isDamage tells that the file is not worth keeping in its place. What else may go wrong (a full disk, a read-only one) may be over at the
// next start.
func isDamage(err error) bool { return errors.Is(err, ErrCorrupt) || errors.Is(err, ErrForeign) }

// again sets the files aside and begins a new one in their place. s.mu is held, or nobody has s yet.
func (s *Store) again(d *Damage) {
	to, err := setAside(s.path, s.now())
	d.Aside = to
	if err == nil {
		var fresh *Store
		if fresh, err = Open(filepath.Dir(s.path)); err == nil {
			s.db, s.file, s.memory = fresh.db, fresh.file, ""
			lost := Entry{Action: "state.lost", Target: "state", Reason: d.Why.Error(), After: "set aside: " + to}.By(context.Background(), Guard)
			_ = fresh.Append(context.Background(), lost) // damaged is told in any case
			return
		}
	}
	d.Why = errors.Join(d.Why, err)
	s.inMemory(d)
}

func (s *Store) inMemory(d *Damage) {
	d.Memory = true
	s.memory, s.file = d.Why.Error(), nil
	db, err := sql.Open("sqlite", ":memory:")
	if err == nil {
		db.SetMaxOpenConns(1) // another one would have a memory of its own
		s.db = db
		err = s.prepare()
	}
	if err != nil {
		panic("a SQLite database in memory can not be made: " + err.Error()) // nothing outside of this program has a part in it
	}
}

// renew is called with an error that an operation on db met. It is true if there is another file now.
func (s *Store) renew(db *sql.DB, why error, running bool) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || s.damaged == nil || s.db != db {
		return !s.closed && s.db != db
	}
	d := Damage{Why: why, Running: running}
	_ = db.Close() // it is given up
	s.again(&d)
	s.damaged(d)
	return true
}

// GiveUp sets the files aside because of what their reader found in them at the start, and goes on with new ones.
func (s *Store) GiveUp(why error) {
	s.mu.Lock()
	db := s.db
	s.mu.Unlock()
	s.renew(db, why, false)
}

// write carries a change out; if the file turns out to be damaged, in the new one.
func (s *Store) write(ctx context.Context, do func(tx *sql.Tx) error) error {
	for attempt := 0; ; attempt++ {
		db, err := s.open()
		if err == nil {
			err = explain(transaction(ctx, db, do))
		}
		if attempt > 0 || !isDamage(err) || !s.renew(db, err, true) {
			return err
		}
	}
}

// read does not go on in a new file: that it holds nothing is no answer.
func (s *Store) read(do func(db *sql.DB) error) error {
	db, err := s.open()
	if err == nil {
		err = explain(do(db))
	}
	if isDamage(err) {
		s.renew(db, err, true)
	}
	return err
}

// open returns the database, with an error if its file is not the one that was opened, or has lost some of its end.
func (s *Store) open() (*sql.DB, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.file == nil {
		return s.db, nil
	}
	now, err := os.Stat(s.path)
	switch {
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return s.db, nil // SQLite has it open still
	case err != nil || !os.SameFile(now, s.file):
		return s.db, fmt.Errorf("%w: somebody removed or replaced %s", ErrCorrupt, s.path)
	case now.Size() < s.file.Size():
		return s.db, fmt.Errorf("%w: somebody cut %s from %d to %d bytes", ErrCorrupt, s.path, s.file.Size(), now.Size())
	}
	s.file = now
	return s.db, nil
}

// Trouble says what of the state is not known, or not kept, and what to do; "" if nothing is wrong.
func (s *Store) Trouble() string {
	s.mu.Lock()
	memory := s.memory
	s.mu.Unlock()
	var parts []string
	if memory != "" {
		parts = append(parts, fmt.Sprintf("decisions and changes are kept in memory only, and are lost at the end of the process: %s; mend that and start again", memory))
	}
	if list := Damaged(filepath.Dir(s.path)); len(list) > 0 {
		parts = append(parts, fmt.Sprintf("a damaged state was set aside, what it held of decisions and changes is not known: %s; "+
			"stop helenus and put a sound copy in the place of %s, or remove the damaged one if it is not missed", strings.Join(list, ", "), s.path))
	}
	return strings.Join(parts, "; ")
}

const damagedSuffix = ".damaged-"

// Damaged lists the states that were set aside in a directory.
func Damaged(dir string) []string {
	list, _ := filepath.Glob(filepath.Join(dir, File+damagedSuffix+"*")) // the pattern is right
	for i, one := range list {
		list[i] = strings.TrimSuffix(strings.TrimSuffix(one, "-wal"), "-shm")
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// setAside gives a file of SQLite and what belongs to it another name. The file goes first: what belongs to it is worth nothing, and is found
// to be a remnant, without it; the other way round it would seem sound and lack its last changes.
func setAside(path string, now time.Time) (string, error) {
	base := path + damagedSuffix + now.UTC().Format("20060102T150405")
	to := base
	for n := 2; occupied(to); n++ { // nothing that was set aside before is overwritten
		to = base + "." + strconv.Itoa(n)
	}
	moved := false
	for _, suffix := range []string{"", "-wal", "-shm"} {
		switch err := os.Rename(path+suffix, to+suffix); {
		case err == nil:
			moved = true
		case !errors.Is(err, fs.ErrNotExist):
			return "", fmt.Errorf("set the damaged %s aside: %w", path, err)
		}
	}
	if !moved {
		return "", nil // somebody removed it
	}
	return to, nil
}

func occupied(path string) bool {
	for _, suffix := range []string{"", "-wal", "-shm"} {
		if _, err := os.Lstat(path + suffix); err == nil {
			return true
		}
	}
	return false
}

// newFor is how long a file may be empty: another process may have made it just now.
const newFor = 500 * time.Millisecond

// sound looks at a file before SQLite does, which takes an empty one for a new one. A missing one is sound, unless its log is there.
func sound(path string) error {
	info, err := os.Stat(path)
	for deadline := time.Now().Add(newFor); err == nil && info.Mode().IsRegular() && info.Size() == 0 && time.Now().Before(deadline); {
		time.Sleep(newFor / 20)
		info, err = os.Stat(path)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if log, err := os.Stat(path + "-wal"); err == nil && log.Size() > 0 {
			return fmt.Errorf("%w: its log %s-wal is there, but the file is not", ErrCorrupt, path)
		}
		return nil
	case errors.Is(err, fs.ErrPermission):
		return nil // opening it says so, too, and better
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return fmt.Errorf("%w: it is no file (%s)", ErrCorrupt, info.Mode().Type())
	case info.Size() == 0:
		return fmt.Errorf("%w: it is empty", ErrCorrupt)
	}
	return nil
}

// checkAll reads the whole file: its structure, and each document's sum.
func (s *Store) checkAll(ctx context.Context, tx *sql.Tx) error {
	var why string
	if err := tx.QueryRowContext(ctx, "PRAGMA integrity_check(1)").Scan(&why); err != nil {
		return err
	}
	if why != "ok" {
		return fmt.Errorf("%w: %s", ErrCorrupt, why)
	}
	rows, err := tx.QueryContext(ctx, "SELECT kind, id, version, body, sum FROM documents")
	if err != nil {
		return err
	}
	return scan(rows, func(rows *sql.Rows) error {
		var d Document
		var kept string
		if err := rows.Scan(&d.Kind, &d.ID, &d.Version, (*[]byte)(&d.Raw), &kept); err != nil {
			return fmt.Errorf("%w: a document: %w", ErrCorrupt, err)
		}
		return d.check(kept)
	})
}

// sum tells a document from a damaged one: SQLite's own pages carry none.
func (d *Document) sum() string {
	h := sha256.New()
	fmt.Fprintf(h, "%q %q %d ", d.Kind, d.ID, d.Version)
	h.Write(d.Raw)
	return hex.EncodeToString(h.Sum(nil)[:8])
}

func (d *Document) check(kept string) error {
	if kept != d.sum() {
		return fmt.Errorf("%w: %s %s is not as it was written", ErrCorrupt, d.Kind, d.ID)
	}
	return nil
}
