package cdc

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/helenus-db/helenus/internal/commitlog"
)

// Table is a table as Helenus tells of it.
type Table struct {
	Keyspace, Name, ID string
	Columns            []commitlog.Column
	Watch              []string // rows are told of in which one of these columns was written
}

// Row is a row that was written, or rows of a partition, if Key is the partition key alone.
type Row struct {
	Keyspace, Table, ID string
	Key                 [][]byte
}

// Report is what is told at a time.
type Report struct {
	Rows   []Row
	Unread int64 // what could not be read since the report before
	Behind int64 // bytes that are durable and yet to be read
}

// Server is Helenus, as the agent asks and tells it.
type Server interface {
	Tables(ctx context.Context) ([]Table, error)
	// Tell returns when all rows are compared; after an error they are told again.
	Tell(ctx context.Context, r *Report) error
}

// Settings of an Agent; zero values are replaced by the defaults named.
type Settings struct {
	Dir        string        // cdc_raw
	Checkpoint string        // file; helenus-cdc.json in Dir
	Delete     bool          // remove segments that are completed and told
	Every      time.Duration // 2 s; between rounds
	Alive      time.Duration // 15 s; after so long without news a report without rows says that the agent is at work
	Rows       int           // 500; in a report
	Bytes      int           // 256 KiB; of keys in a report
}

func (s Settings) defaults() Settings {
	s.Checkpoint = cmp.Or(s.Checkpoint, filepath.Join(s.Dir, "helenus-cdc.json"))
	s.Every, s.Alive = cmp.Or(s.Every, 2*time.Second), cmp.Or(s.Alive, 15*time.Second)
	s.Rows, s.Bytes = cmp.Or(s.Rows, 500), cmp.Or(s.Bytes, 256<<10)
	return s
}

// Counts are totals of an Agent.
type Counts struct {
	Told    int64 // rows
	Deletes int64 // of rows, ranges and partitions, which need no entry
	Unread  int64 // mutations and parts of segments
	Removed int64 // segments
}

// Agent is one. It is used by one goroutine.
type Agent struct {
	settings Settings
	server   Server
	log      *slog.Logger
	now      func() time.Time
	counts   Counts
	done     *checkpoint
	told     time.Time // when a report was last taken
	tables   map[commitlog.ID]*watched
	names    string // of what is watched, as it was last logged
	unread   int64  // since the last report
	behind   int64
}

// watched is a table of which mutations can be read.
type watched struct {
	Table
	form *commitlog.Table
}

// New makes an Agent that goes on where the checkpoint says.
func New(settings Settings, server Server, log *slog.Logger, now func() time.Time) (*Agent, error) {
	settings = settings.defaults()
	done, err := loadCheckpoint(settings.Checkpoint)
	if err != nil {
		return nil, err
	}
	if _, err := os.ReadDir(settings.Dir); err != nil {
		return nil, fmt.Errorf("the folder of CDC's segments (cdc_raw_directory in cassandra.yaml) can not be read: %w", err)
	}
	return &Agent{settings: settings, server: server, log: log, now: now, done: done}, nil
}

// Counts are the totals so far.
func (a *Agent) Counts() Counts { return a.counts }

// maxPause bounds how long is waited after rounds that failed.
const maxPause = time.Minute

// Run goes round until the context ends.
func (a *Agent) Run(ctx context.Context) {
	pause := a.settings.Every
	for ctx.Err() == nil {
		if err := a.Round(ctx); err == nil {
			pause = a.settings.Every
		} else if ctx.Err() == nil {
			a.log.Warn("a round failed; it is tried again", "err", err, "in", pause)
			pause = min(2*pause, maxPause)
		}
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
	}
}

// segment is one in the folder.
type segment struct {
	name      string // CommitLog-8-1795747512596
	id        int64
	durable   int64 // how far it is, in bytes before compression, as its index says
	completed bool
}

// segments finds those that have an index, the oldest first. Of others nothing is durable yet.
func (a *Agent) segments() (list []segment, err error) {
	entries, err := os.ReadDir(a.settings.Dir)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		name, ok := strings.CutSuffix(e.Name(), "_cdc.idx")
		if !ok {
			continue
		}
		id, err := strconv.ParseInt(name[strings.LastIndexByte(name, '-')+1:], 10, 64)
		if err != nil || !strings.HasPrefix(name, "CommitLog-") {
			continue
		}
		text, err := os.ReadFile(filepath.Join(a.settings.Dir, e.Name()))
		if errors.Is(err, fs.ErrNotExist) {
			continue // somebody else removed it
		} else if err != nil {
			return nil, err
		}
		s := segment{name: name, id: id}
		if s.durable, s.completed, err = commitlog.ParseIndex(text); err != nil {
			continue // it is being written
		}
		list = append(list, s)
	}
	slices.SortFunc(list, func(a, b segment) int { return cmp.Compare(a.id, b.id) })
	return list, nil
}

// Round reads what is new, and tells of it.
func (a *Agent) Round(ctx context.Context) error {
	list, err := a.segments()
	if err != nil {
		return err
	}
	a.done.keep(list)
	var news []segment
	a.behind = 0
	for _, s := range list {
		switch done := a.done.Segments[s.name]; {
		case done.Over:
			a.remove(s)
		case s.completed || s.durable > done.Index:
			news = append(news, s)
			a.behind += s.durable - done.Index
		}
	}
	if len(news) == 0 && a.now().Sub(a.told) < a.settings.Alive {
		return nil
	}
	if err := a.ask(ctx); err != nil {
		return err
	}
	for _, s := range news {
		if err := a.read(ctx, s); err != nil {
			return err
		}
	}
	if a.unread > 0 || a.now().Sub(a.told) >= a.settings.Alive {
		return a.tell(ctx, &batch{})
	}
	return nil
}

// ask finds out which tables there are.
func (a *Agent) ask(ctx context.Context) error {
	tables, err := a.server.Tables(ctx)
	if err != nil {
		return fmt.Errorf("ask which tables are watched: %w", err)
	}
	a.tables = make(map[commitlog.ID]*watched, len(tables))
	var names []string
	for _, t := range tables {
		id, err := commitlog.ParseID(t.ID)
		if err != nil {
			return fmt.Errorf("the table %s.%s: %w", t.Keyspace, t.Name, err)
		}
		a.tables[id] = &watched{t, commitlog.NewTable(t.Keyspace, t.Name, t.Columns)}
		if len(t.Watch) > 0 {
			names = append(names, fmt.Sprintf("%s.%s (%s)", t.Keyspace, t.Name, strings.Join(t.Watch, ", ")))
		}
	}
	if now := strings.Join(names, "; "); now != a.names {
		a.names = now
		a.log.Info("what is watched has changed; Cassandra keeps the segments of tables that have cdc = true", "watched", cmp.Or(now, "nothing"))
	}
	return nil
}

// read reads what is new in a segment, and tells of it.
func (a *Agent) read(ctx context.Context, s segment) error {
	done := a.done.Segments[s.name]
	next, end, err := a.follow(ctx, s, done.Next)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil // somebody else removed it
	case err == nil && s.completed && next < end:
		err = fmt.Errorf("%w beyond %d of %d bytes", commitlog.ErrBroken, next, end)
		fallthrough
	case errors.Is(err, commitlog.ErrEncrypted), errors.Is(err, commitlog.ErrVersion), errors.Is(err, commitlog.ErrBroken):
		if !s.completed {
			return nil // it may be being written
		}
		a.lost()
		a.log.Warn("the rest of a segment is passed over; `helenus verify` finds what was written around Helenus meanwhile", "segment", s.name, "err", err)
	case err != nil:
		return err
	}
	a.behind -= s.durable - done.Index
	if err := a.done.put(s.name, progress{next, s.durable, s.completed}); err != nil {
		return err
	}
	if s.completed {
		a.remove(s)
	}
	return nil
}

func (a *Agent) lost() {
	a.unread++
	a.counts.Unread++
}

// follow reads a segment from a place on to its durable end, or as far as that goes, and returns when all that it found is told.
func (a *Agent) follow(ctx context.Context, s segment, from int64) (next, end int64, err error) {
	f, err := os.Open(filepath.Join(a.settings.Dir, s.name+".log"))
	if err != nil {
		return from, 0, err
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return from, 0, err
	}
	log, err := commitlog.Open(f, info.Size())
	if err != nil {
		return from, 0, err
	}
	b := &batch{}
	end = log.Durable(s.durable)
	next, damage, err := log.Read(from, end, func(mutation []byte) error {
		a.collect(mutation, b)
		if len(b.rows) < a.settings.Rows && b.bytes < a.settings.Bytes {
			return nil
		}
		return a.tell(ctx, b)
	})
	for range damage.Entries + damage.Sections {
		a.lost()
	}
	if err == nil && len(b.rows) > 0 {
		err = a.tell(ctx, b)
	}
	return next, end, err
}

// batch are rows to be told of, each once.
type batch struct {
	rows  []Row
	seen  map[string]bool
	bytes int
}

func (b *batch) add(r Row) {
	name := []byte(r.ID)
	for _, k := range r.Key {
		name = binary.AppendUvarint(name, uint64(len(k)))
		name = append(name, k...)
	}
	if b.seen[string(name)] {
		return
	}
	if b.seen == nil {
		b.seen = map[string]bool{}
	}
	b.seen[string(name)] = true
	b.rows = append(b.rows, r)
	b.bytes += len(name)
}

// collect finds the rows of a mutation that are to be told of.
func (a *Agent) collect(mutation []byte, b *batch) {
	var id commitlog.ID // of the update that is read
	err := commitlog.Decode(mutation, func(t commitlog.ID) *commitlog.Table {
		id = t
		if known := a.tables[t]; known != nil {
			return known.form
		}
		return nil
	}, func(c *commitlog.Change) { a.change(a.tables[id], c, b) })
	var unknown *commitlog.ErrUnknownTable
	if errors.As(err, &unknown) && unknown.First {
		return // of a keyspace in which nothing is watched
	}
	if err != nil {
		a.lost()
		a.log.Debug("a mutation could not be read to its end", "err", err)
	}
}

// change adds one change of a table.
func (a *Agent) change(t *watched, c *commitlog.Change, b *batch) {
	if len(t.Watch) == 0 {
		return
	}
	row := true
	switch c.Kind {
	case commitlog.RowDeleted, commitlog.RangeDeleted, commitlog.PartitionDeleted:
		a.counts.Deletes++
		return
	case commitlog.Row, commitlog.Static:
		if !slices.ContainsFunc(c.Columns, func(name string) bool { return slices.Contains(t.Watch, name) }) {
			return
		}
		row = c.Kind == commitlog.Row
	case commitlog.Unread:
		row = false
	}
	key, err := t.form.SplitKey(c.Partition)
	if err != nil {
		a.lost()
		return
	}
	if row && !slices.ContainsFunc(c.Key, func(b []byte) bool { return b == nil }) {
		key = append(slices.Clip(key), c.Key...)
	}
	for i := range key {
		key[i] = slices.Clone(key[i])
	}
	b.add(Row{t.Keyspace, t.Name, t.ID, key})
}

// tell tells of a batch, and empties it.
func (a *Agent) tell(ctx context.Context, b *batch) error {
	report := &Report{Rows: b.rows, Unread: a.unread, Behind: max(a.behind, 0)}
	if err := a.server.Tell(ctx, report); err != nil {
		return fmt.Errorf("tell of %d rows: %w", len(b.rows), err)
	}
	a.unread, a.told = 0, a.now()
	a.counts.Told += int64(len(b.rows))
	*b = batch{}
	return nil
}

// remove removes a segment that is over, its log first: an index alone is nothing that anybody could read.
func (a *Agent) remove(s segment) {
	if !a.settings.Delete {
		return
	}
	for _, suffix := range []string{".log", "_cdc.idx"} {
		if err := os.Remove(filepath.Join(a.settings.Dir, s.name+suffix)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			a.log.Warn("a segment that is told could not be removed; it is tried again", "err", err)
			return
		}
	}
	a.counts.Removed++
}
