package fill

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gocql/gocql"
	_ "modernc.org/sqlite" // the driver

	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/plan"
	"github.com/helenus-db/helenus/rewrite/exec"
	"github.com/helenus-db/helenus/rewrite/planrun"
)

// Source is a table that is read: its Keyspace and Name say where it is.
type Source struct {
	Table *model.Table
	As    *plan.Embedding // what its entities are of the target's; nil: the same
	On    []model.Field   // of the target's graph: by these its rows are joined to those of the sources before; none for the first
}

// column is where the source has a field of the target's graph; false if it does not.
func (s *Source) column(f model.Field) (model.Field, bool) {
	c := s.As.Column(f)
	return c, !c.IsZero() && s.Table.Has(c)
}

// Options say how tables are read. The zero value does well.
type Options struct {
	Dir         string            // where the file is made; "": where the system has such
	PageSize    int               // rows fetched at once; 0: 5,000
	Consistency gocql.Consistency // of the scans; 0: LOCAL_ONE
	Progress    func(Progress)    // told now and then
}

// Progress is how far the reading is.
type Progress struct {
	Table string // being scanned
	Rows  int    // of it so far
}

// Rows are those of a target, until Close. They are for one goroutine at a time.
type Rows struct {
	target  *model.Table
	db      *sql.DB
	dir     string
	query   string
	types   []string // of the attributes, in the order of the query
	keys    int
	Scanned int // rows of the sources, in all
}

// PlanError says that sources are not those of a target.
type PlanError struct{ Target, Reason string }

func (e *PlanError) Error() string {
	return fmt.Sprintf("fill: table %s can not be filled from these tables: %s", e.Target, e.Reason)
}

// Read scans the sources. The error is a *PlanError, or what a session or the file's disk says.
func Read(ctx context.Context, session exec.Session, target *model.Table, sources []Source, o Options) (*Rows, error) {
	if o.PageSize == 0 {
		o.PageSize = 5000
	}
	if o.Consistency == 0 {
		o.Consistency = gocql.LocalOne
	}
	j, err := joinOf(target, sources)
	if err != nil {
		return nil, err
	}
	r := &Rows{target: target, query: j.text(), keys: len(target.Key())}
	for _, f := range j.wanted {
		r.types = append(r.types, f.Attribute.Type)
	}
	if r.dir, err = os.MkdirTemp(o.Dir, "helenus-fill-"); err != nil {
		return nil, fmt.Errorf("fill: %w", err)
	}
	if err = r.scan(ctx, session, j, o); err != nil {
		return nil, errors.Join(err, r.Close())
	}
	return r, nil
}

// join is how sources become the target.
type join struct {
	target  *model.Table
	sources []Source
	wanted  []model.Field // of the target, and of its bucket
	columns [][]model.Field
	from    map[model.Field]int // the first source that has a field
}

func joinOf(target *model.Table, sources []Source) (*join, error) {
	j := &join{target: target, sources: sources, wanted: target.Fields(), from: map[model.Field]int{}}
	wrong := func(format string, args ...any) (*join, error) {
		return nil, &PlanError{target.String(), fmt.Sprintf(format, args...)}
	}
	if len(target.Nests) > 0 {
		return wrong("it has collections")
	}
	if b := target.Bucket; b != nil && !b.Of.IsZero() {
		j.wanted = append(j.wanted, b.Of)
	}
	for i := range sources {
		s := &sources[i]
		if i > 0 && len(s.On) == 0 {
			return wrong("nothing says how %s joins the others", s.Table)
		}
		var own []model.Field
		for _, f := range model.AppendNew(slices.Clone(j.wanted), j.on()...) {
			if _, ok := s.column(f); ok {
				own = append(own, f)
				if _, known := j.from[f]; !known {
					j.from[f] = i
				}
			}
		}
		for _, f := range s.On {
			if k, known := j.from[f]; !known || k == i || !slices.Contains(own, f) {
				return wrong("%s is to join %s, which has not both", s.Table, f)
			}
		}
		j.columns = append(j.columns, own)
	}
	for _, f := range j.wanted {
		if _, ok := j.from[f]; !ok {
			return wrong("none has %s", f)
		}
	}
	return j, nil
}

// on are the fields that any source is joined by.
func (j *join) on() []model.Field {
	var list []model.Field
	for _, s := range j.sources {
		list = model.AppendNew(list, s.On...)
	}
	return list
}

// place is the column in SQLite's table of a source.
func (j *join) place(source int, f model.Field) string {
	return fmt.Sprintf("s%d.c%d", source, slices.Index(j.columns[source], f))
}

// text is the join.
func (j *join) text() string {
	var out, from, order []string
	for _, f := range j.wanted {
		out = append(out, j.place(j.from[f], f))
	}
	for i, s := range j.sources {
		if i == 0 {
			from = append(from, "s0")
			continue
		}
		var on []string
		for _, f := range s.On {
			on = append(on, j.place(i, f)+" = "+j.place(j.from[f], f))
		}
		from = append(from, fmt.Sprintf("JOIN s%d ON %s", i, strings.Join(on, " AND ")))
	}
	for _, f := range j.target.Partition {
		order = append(order, j.place(j.from[f], f))
	}
	text := "SELECT " + strings.Join(out, ", ") + " FROM " + strings.Join(from, " ")
	if len(order) > 0 {
		text += " ORDER BY " + strings.Join(order, ", ")
	}
	return text
}

// pragmas make the file quick and not durable: it is worth nothing after a crash.
const pragmas = "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -32768; PRAGMA temp_store = FILE"

func (r *Rows) scan(ctx context.Context, session exec.Session, j *join, o Options) error {
	var err error
	if r.db, err = sql.Open("sqlite", filepath.Join(r.dir, "rows.db")); err != nil {
		return fmt.Errorf("fill: %w", err)
	}
	r.db.SetMaxOpenConns(1)
	if _, err = r.db.ExecContext(ctx, pragmas); err != nil {
		return fmt.Errorf("fill: %w", err)
	}
	for i := range j.sources {
		if err := r.source(ctx, session, j, i, o); err != nil {
			return fmt.Errorf("fill: table %s: reading %s: %w", r.target, j.sources[i].Table, err)
		}
	}
	return nil
}

// source copies the columns that are needed of a source.
func (r *Rows) source(ctx context.Context, session exec.Session, j *join, i int, o Options) (err error) {
	s := &j.sources[i]
	var names, columns, marks []string
	var own, attribute []string // types
	for n, f := range j.columns[i] {
		c, _ := s.column(f)
		names = append(names, model.Quote(s.Table.ColumnName(c)))
		own, attribute = append(own, s.Table.ColumnType(c)), append(attribute, f.Attribute.Type)
		columns, marks = append(columns, fmt.Sprintf("c%d BLOB", n)), append(marks, "?")
	}
	tx, err := r.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, tx.Rollback())
		}
	}()
	if _, err = tx.ExecContext(ctx, fmt.Sprintf("CREATE TABLE s%d (%s)", i, strings.Join(columns, ", "))); err != nil {
		return err
	}
	insert, err := tx.PrepareContext(ctx, fmt.Sprintf("INSERT INTO s%d VALUES (%s)", i, strings.Join(marks, ", "))) //nolint:gosec // numbers and marks alone
	if err != nil {
		return err
	}
	values := make([]any, len(names))
	rows := 0
	text := fmt.Sprintf("SELECT %s FROM %s.%s", strings.Join(names, ", "), model.Quote(s.Table.Keyspace), model.Quote(s.Table.Name)) //nolint:gosec // quoted
	err = session.Scan(ctx, exec.Query{Text: text, PageSize: o.PageSize, Consistency: o.Consistency}, func(cells [][]byte) error {
		for n, cell := range cells {
			if own[n] != attribute[n] {
				v, err := planrun.Decode(own[n], cell)
				if err != nil {
					return err
				}
				if cell, err = planrun.Encode(attribute[n], v); err != nil {
					return err
				}
			}
			values[n] = stored(cell)
		}
		if rows++; rows%o.PageSize == 0 && o.Progress != nil {
			o.Progress(Progress{s.Table.Name, rows})
		}
		_, err := insert.ExecContext(ctx, values...)
		return err
	})
	if err = errors.Join(err, insert.Close()); err != nil {
		return err
	}
	if len(s.On) > 0 {
		var on []string
		for _, f := range s.On {
			on = append(on, fmt.Sprintf("c%d", slices.Index(j.columns[i], f)))
		}
		if _, err = tx.ExecContext(ctx, fmt.Sprintf("CREATE INDEX i%d ON s%d (%s)", i, i, strings.Join(on, ", "))); err != nil {
			return err
		}
	}
	r.Scanned += rows
	if o.Progress != nil {
		o.Progress(Progress{s.Table.Name, rows})
	}
	return tx.Commit()
}

// stored is a cell as it stands in the file, and cellOf the inverse: with a byte before it, as the driver does not tell what is empty
// from what is not there.
func stored(cell []byte) any {
	if cell == nil {
		return nil
	}
	return append(make([]byte, 1, 1+len(cell)), cell...)
}

func cellOf(stored []byte) []byte {
	if stored == nil {
		return nil
	}
	return stored[1:]
}

// Contents calls row with each row that the target must hold: the values of its fields in the order of Fields, and, of a
// table with buckets, the number of its bucket (int64) after them. Rows of one partition come one after the other. The slice
// is used again for the next row. It is what bench/load takes for a source; any other table than the target is an error.
func (r *Rows) Contents(t *model.Table, row func([]any) error) (err error) {
	if t.ID() != r.target.ID() {
		return &PlanError{t.String(), "rows of " + r.target.String() + " were read"}
	}
	rows, err := r.db.Query(r.query)
	if err != nil {
		return fmt.Errorf("fill: joining for table %s: %w", r.target, err)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	cells := make([]sql.RawBytes, len(r.types))
	into := make([]any, len(cells))
	for i := range cells {
		into[i] = &cells[i]
	}
	fields := len(r.target.Fields())
	values := make([]any, fields, fields+1)
	if r.target.Bucket != nil {
		values = values[:fields+1]
	}
next:
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			return fmt.Errorf("fill: table %s: %w", r.target, err)
		}
		for i := range fields {
			cell := cellOf(cells[i])
			if i < r.keys && (cell == nil || len(r.target.Partition) == 1 && i == 0 && len(cell) == 0) {
				continue next
			}
			if values[i], err = planrun.Decode(r.types[i], cell); err != nil {
				return fmt.Errorf("fill: table %s: %s: %w", r.target, r.target.Fields()[i], err)
			}
			if b, ok := values[i].([]byte); ok {
				values[i] = slices.Clone(b) // not SQLite's
			}
		}
		if b := r.target.Bucket; b != nil {
			var of []byte
			if !b.Of.IsZero() {
				of = cellOf(cells[fields])
			}
			values[fields] = b.Number(of)
		}
		if err := row(values); err != nil {
			return err
		}
	}
	if err := rows.Err(); err != nil {
		return fmt.Errorf("fill: joining for table %s: %w", r.target, err)
	}
	return nil
}

// Close deletes the file.
func (r *Rows) Close() error {
	var failed error
	if r.db != nil {
		failed = r.db.Close()
	}
	return errors.Join(failed, os.RemoveAll(r.dir))
}
