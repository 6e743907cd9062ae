package commitlog

import (
	"errors"
	"fmt"
)

// Kind is what became of a key.
type Kind int

// The kinds.
const (
	Row              Kind = iota // cells of a row were written, or it was made
	Static                       // cells were written that all rows of a partition share
	RowDeleted                   // a row was deleted, and nothing written to it
	RangeDeleted                 // rows of a partition were deleted, from one key to another
	PartitionDeleted             // all of a partition was deleted
	Unread                       // a partition was written, in a way that can not be read
)

// Change is one key of a mutation. Its bytes are the mutation's.
type Change struct {
	Table     *Table
	Kind      Kind
	Partition []byte   // as Cassandra writes a partition key; Table.SplitKey cuts it
	Key       [][]byte // of Row and RowDeleted: the clustering key, nil for null; of other kinds nil
	Columns   []string // of Row and Static: whose cells were written or deleted
}

// ErrMalformed says that a mutation, or a key, is not as the format has it.
var ErrMalformed = errors.New("it is not as the commit log's format has it")

// ErrUnknownTable says that a table is not known, so that the updates from its own on can not be read.
type ErrUnknownTable struct {
	ID    ID
	First bool // nothing of the mutation was read. All its tables are of one keyspace.
}

// Error implements error.
func (e *ErrUnknownTable) Error() string { return fmt.Sprintf("there is no table of id %x", e.ID[:]) }

// errColumn says that a row has a column of which it is not known how it is written.
var errColumn = errors.New("a column is not known")

// Decode hands over what a mutation changes. tables finds a table, nil if it is not known. An *ErrUnknownTable, and any other error, is about updates that are not
// handed over: those of its tables that come after.
func Decode(mutation []byte, tables func(ID) *Table, each func(*Change)) error {
	r := &reader{b: mutation}
	updates := r.vint()
	for i := range updates {
		id := ID{}
		if copy(id[:], r.take(16)) != len(id) {
			return ErrMalformed
		}
		t := tables(id)
		if t == nil {
			return &ErrUnknownTable{id, i == 0}
		}
		key := r.sized()
		if r.failed {
			return ErrMalformed
		}
		u := update{reader: r, table: t, partition: key, each: each}
		if err := u.read(); err != nil {
			each(&Change{Table: t, Kind: Unread, Partition: key})
			return fmt.Errorf("an update of %s.%s: %w", t.Keyspace, t.Name, err)
		}
	}
	return nil
}

// update is an update of one partition, while it is read. Rows that come before what can not be read are handed over all the same.
type update struct {
	*reader
	table     *Table
	partition []byte
	each      func(*Change)

	statics, regulars []column // that it has cells of
}

// Flags of an update.
const (
	updateEmpty     = 0x01
	updateDeletes   = 0x04
	updateStatic    = 0x08
	updateEstimates = 0x10
)

// Flags of what an update holds: rows, and ends of deleted ranges.
const (
	endOfPartition = 0x01
	isMarker       = 0x02
	hasTimestamp   = 0x04
	hasTTL         = 0x08
	hasDeletion    = 0x10
	hasAllColumns  = 0x20
	hasCollections = 0x40 // collections that were deleted before they were written
	extended       = 0x80
)

// Flags of cells.
const (
	cellDeleted      = 0x01
	cellExpires      = 0x02
	cellEmpty        = 0x04
	cellRowTimestamp = 0x08
	cellRowTTL       = 0x10
)

func (u *update) say(k Kind, key [][]byte, columns []string) {
	u.each(&Change{Table: u.table, Kind: k, Partition: u.partition, Key: key, Columns: columns})
}

func (u *update) read() (err error) {
	flags := u.byte()
	if flags&updateEmpty != 0 {
		return u.trouble()
	}
	u.vints(3) // least timestamp, time of deletion, time to live: others are written as what is above
	if flags&updateStatic != 0 {
		if u.statics, err = u.header(); err != nil {
			return err
		}
	}
	if u.regulars, err = u.header(); err != nil {
		return err
	}
	if flags&updateDeletes != 0 {
		u.vints(2)
		if err := u.trouble(); err != nil {
			return err
		}
		u.say(PartitionDeleted, nil, nil)
	}
	if flags&updateStatic != 0 {
		if err := u.row(u.byte(), true); err != nil {
			return err
		}
	}
	if flags&updateEstimates != 0 {
		u.vint()
	}
	for {
		switch flags := u.byte(); {
		case u.failed:
			return ErrMalformed
		case flags&endOfPartition != 0:
			return nil
		case flags&isMarker != 0:
			if err := u.marker(); err != nil {
				return err
			}
		default:
			if err := u.row(flags, false); err != nil {
				return err
			}
		}
	}
}

// trouble is ErrMalformed once something was not there.
func (u *update) trouble() error {
	if u.failed {
		return ErrMalformed
	}
	return nil
}

// header reads which columns there are.
func (u *update) header() ([]column, error) {
	n := u.vint()
	if n > uint64(len(u.b)) {
		return nil, ErrMalformed
	}
	columns := make([]column, 0, n)
	for range n {
		name := string(u.sized())
		c, ok := u.table.columns[name]
		if !ok || c.length == unknown {
			if u.failed {
				return nil, ErrMalformed
			}
			return nil, fmt.Errorf("%w: %q", errColumn, name)
		}
		columns = append(columns, c)
	}
	return columns, u.trouble()
}

// key reads n columns of a clustering key: for 32 at a time two bits each, whether it is empty or null, and then those that are neither.
func (u *update) key(n int) ([][]byte, error) {
	if n > len(u.table.clustering) {
		return nil, ErrMalformed
	}
	key := make([][]byte, n)
	head := uint64(0)
	for i := range n {
		if i%32 == 0 {
			head = u.vint()
		}
		switch length := u.table.clustering[i]; {
		case head>>(i%32*2+1)&1 == 1:
		case head>>(i%32*2)&1 == 1:
			key[i] = []byte{}
		case length == unknown:
			return nil, errColumn
		case length == written:
			key[i] = u.sized()
		default:
			key[i] = u.take(uint64(length)) //nolint:gosec // a number of bytes
		}
	}
	return key, u.trouble()
}

// Kinds of an end of a deleted range that end one and begin the next.
const (
	exclusiveBoundary = 2
	inclusiveBoundary = 5
)

// marker reads an end of a deleted range.
func (u *update) marker() error {
	kind := u.byte()
	if _, err := u.key(int(u.short())); err != nil {
		return err
	}
	u.vints(2)
	if kind == exclusiveBoundary || kind == inclusiveBoundary {
		u.vints(2)
	}
	if err := u.trouble(); err != nil {
		return err
	}
	u.say(RangeDeleted, nil, nil)
	return nil
}

// row reads a row.
func (u *update) row(flags byte, static bool) error {
	if flags&extended != 0 {
		u.byte() // whether it is static, which is known, or of a view
	}
	columns := u.statics
	var key [][]byte
	if !static {
		columns = u.regulars
		var err error
		if key, err = u.key(len(u.table.clustering)); err != nil {
			return err
		}
	}
	if flags&hasTimestamp != 0 {
		u.vint()
	}
	if flags&hasTTL != 0 {
		u.vints(2)
	}
	if flags&hasDeletion != 0 {
		u.vints(2)
	}
	if flags&hasAllColumns == 0 {
		var err error
		if columns, err = u.subset(columns); err != nil {
			return err
		}
	}
	names := make([]string, 0, len(columns))
	for _, c := range columns {
		if c.multiple {
			u.cells(c, flags&hasCollections != 0)
		} else {
			u.cell(c)
		}
		names = append(names, c.name)
	}
	if err := u.trouble(); err != nil {
		return err
	}
	switch {
	case static:
		u.say(Static, nil, names)
	case len(names) == 0 && flags&hasTimestamp == 0:
		u.say(RowDeleted, key, nil)
	default:
		u.say(Row, key, names)
	}
	return nil
}

// subset reads which of some columns a row has: of less than 64 a bit for each that is missing, of more how many are missing, and then the
// places of those that are there, if they are fewer than half, or of those missing.
func (u *update) subset(columns []column) ([]column, error) {
	said, all := u.vint(), uint64(len(columns))
	has := make([]bool, len(columns))
	switch {
	case all < 64:
		for i := range has {
			has[i] = said>>i&1 == 0
		}
	case said > all:
		return nil, ErrMalformed
	default:
		there := all - said
		listed, n := there < all/2, said
		if listed {
			n = there
		}
		for i := range has {
			has[i] = !listed
		}
		for range n {
			at := u.vint()
			if at >= all {
				return nil, ErrMalformed
			}
			has[at] = listed
		}
	}
	var chosen []column
	for i, c := range columns {
		if has[i] {
			chosen = append(chosen, c)
		}
	}
	return chosen, u.trouble()
}

// cells skips those of a column that has several.
func (u *update) cells(c column, deleted bool) {
	if deleted {
		u.vints(2)
	}
	for n := u.vint(); n > 0 && !u.failed; n-- {
		u.cell(c)
	}
}

// cell skips one.
func (u *update) cell(c column) {
	flags := u.byte()
	if flags&cellRowTimestamp == 0 {
		u.vint()
	}
	if flags&(cellDeleted|cellExpires) != 0 && flags&cellRowTTL == 0 {
		u.vint()
	}
	if flags&cellExpires != 0 && flags&cellRowTTL == 0 {
		u.vint()
	}
	if c.multiple {
		u.sized() // which element
	}
	switch {
	case flags&cellEmpty != 0:
	case c.length >= 0:
		u.take(uint64(c.length)) //nolint:gosec // a number of bytes
	default:
		u.sized()
	}
}
