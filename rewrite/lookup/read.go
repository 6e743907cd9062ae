package lookup

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"sort"

	"github.com/helenus-db/helenus/proxy"
	"github.com/helenus-db/helenus/rewrite/exec"
	"github.com/helenus-db/helenus/rewrite/kind"
	"github.com/helenus-db/helenus/rewrite/lookup/match"
)

// Reader runs verified look-up reads.
type Reader struct {
	Session  exec.Session
	Entries  int // most entries of one value that are followed; a look-up may have a lower bound of its own
	Parallel int // requests for rows of one read that are under way at a time
	Bytes    int // most bytes of one answer, which is held as a whole until it is sent; 0: mostBytes
	// Candidates, if set, returns keys of base rows that may belong to an answer besides those that have an entry; ok is
	// false if they are too many. It is called before the entries are read: a row that is taken off them has its entry by then.
	Candidates func(*match.LookUp) (keys [][][]byte, ok bool)

	refused remembered // texts of match.Read.Several that Cassandra refuses
	sizes   remembered // *mean of a row, by match.Read.Fetch
}

// Read answers a request from the look-up. See the package comment for the steps.
func (r *Reader) Read(ctx context.Context, read *match.Read, q kind.Request) (proxy.Rows, error) {
	return r.read(ctx, read, q, base{r.Session, r.Session, nil})
}

// ReadFor is Read for a client that logged in. Rows of the base are read on its own connection. Entries are read by our session, so before
// Cassandra must lately have carried the statement out there, for one key; and an answer without rows is given only if it does that now.
// Keys that are found in a table of the application's are read on the client's connection, too: it must have a right to that table itself.
func (r *Reader) ReadFor(ctx context.Context, read *match.Read, q kind.Request, client kind.Client) (proxy.Rows, error) {
	if read.LookUp.Kept() {
		return r.read(ctx, read, q, base{client, client, client})
	}
	return r.read(ctx, read, q, base{client, r.Session, client})
}

// asker is a session, or a client's connection.
type asker interface {
	Query(context.Context, exec.Query) (exec.Answer, error)
}

// base is where rows of the base are read, and where their keys are.
type base struct {
	session, keys asker
	client        kind.Client // that logged in; nil: none did
}

// judge has Cassandra judge whether the client may read what a statement reads, and whether it takes the values: it carries it out for a key of no row in particular.
func (b base) judge(ctx context.Context, read *match.Read, bound [][]byte, q kind.Request) error {
	_, err := b.session.Query(ctx, exec.Query{Text: read.Fetch, Values: slices.Concat(bound, read.Nowhere), Consistency: q.Consistency})
	if err != nil {
		return fmt.Errorf("ask whether %s may be read so: %w", read.LookUp.BaseName(), err)
	}
	return nil
}

func (r *Reader) read(ctx context.Context, read *match.Read, q kind.Request, from base) (proxy.Rows, error) {
	asked := make([][]byte, 0, len(read.By)+1)
	for i, m := range read.By {
		value, ok := read.Get(q.Values, m)
		if !ok || value.Null || value.Unset || !match.Indexable(value.Bytes) || !match.Takes(value.Bytes, read.LookUp.Asked[i].Type) {
			return nil, fmt.Errorf("%w: the value is absent, null, empty, too long or not of its type", kind.ErrUnsuited)
		}
		asked = append(asked, value.Bytes)
	}
	limit, ok := read.Limit(func(m kind.Marker) ([]byte, bool, bool) {
		v, ok := read.Get(q.Values, m)
		return v.Bytes, !v.Unset, ok
	})
	if !ok {
		return nil, fmt.Errorf("%w: the limit is not a positive number", kind.ErrUnsuited)
	}
	bound, err := bind(read, q.Values, read.Bound, read.Types)
	if err != nil {
		return nil, err
	}
	judged := false
	if c := from.client; c != nil && from.keys != from.session && !c.Lately(read.Fetch) && (read.Several == "" || !c.Lately(read.Several)) {
		if err := from.judge(ctx, read, bound, q); err != nil {
			return nil, err
		}
		judged = true
	}
	most := r.Entries
	if cheap := read.LookUp.Entries; cheap > 0 && cheap < most {
		most = cheap
	}
	var candidates [][][]byte
	if r.Candidates != nil {
		if candidates, ok = r.Candidates(read.LookUp); !ok {
			return nil, fmt.Errorf("%w: the values of too many rows are not known just now", kind.ErrUnsuited)
		}
	}
	found, err := from.keys.Query(ctx, exec.Query{Text: read.Find, Values: append(asked, exec.FromInt32(int32(most+1))), // #nosec G115 -- a small setting
		Consistency: q.Consistency, PageSize: most + 2})
	if err != nil {
		return nil, fmt.Errorf("find the entries in %s: %w", read.LookUp.FoundIn(), err)
	}
	if len(found.Rows) > most {
		return nil, fmt.Errorf("%w: more than %d entries", kind.ErrUnsuited, most)
	}
	if slices.ContainsFunc(found.Rows, read.LookUp.StandsIn) {
		return nil, fmt.Errorf("%w: a row's key has no room in the look-up", kind.ErrUnsuited)
	}
	entries := found.Rows
	if !read.LookUp.Sorted() { // then none of them is known to have a place in its partition
		entries, candidates = nil, found.Rows
	}
	keys, ok := distinctKeys(entries, candidates, read.LookUp.Partition)
	if !ok {
		return nil, fmt.Errorf("%w: a row is in the partition of another, and which comes first is not known", kind.ErrUnsuited)
	}
	if len(keys) == 0 && !judged && (from.client != nil || read.Unread) {
		if err := from.judge(ctx, read, bound, q); err != nil {
			return nil, err
		}
	}
	rows, err := r.fetch(ctx, read, bound, keys, q, from)
	if err != nil {
		return nil, err
	}
	if len(rows) == 0 && q.Columns != nil && !read.Has(q.Columns) { // of what was read, Cassandra said the columns
		return nil, kind.ErrColumns
	}
	if len(rows) > limit {
		rows = rows[:limit]
	}
	if q.PageSize > 0 && len(rows) >= q.PageSize && (len(rows) > q.PageSize || len(rows) < limit) { // of a page that is full Cassandra says that another one follows
		return nil, fmt.Errorf("%w: more rows than one page, or a page that is full", kind.ErrUnsuited)
	}
	return rows, nil
}

// distinctKeys returns the keys of entries, of which several of one row stand side by side, and of further candidates, each once.
// ok is false if the order of two keys is not known: the look-up has those of one partition in the base's order, but
// a candidate comes from elsewhere.
func distinctKeys(entries, candidates [][][]byte, partition int) (keys [][][]byte, ok bool) {
	same := func(a, b [][]byte) bool { return slices.EqualFunc(a, b, bytes.Equal) }
	keys = slices.CompactFunc(entries, same)
	for _, k := range candidates {
		if slices.ContainsFunc(keys, func(have [][]byte) bool { return same(have, k) }) {
			continue
		}
		if slices.ContainsFunc(keys, func(have [][]byte) bool { return same(have[:partition], k[:partition]) }) {
			return nil, false
		}
		keys = append(keys, k)
	}
	return keys, true
}

// bind collects the values of the request that a statement asks for. A null or unset filter is Cassandra's to refuse.
func bind(read *match.Read, v kind.Values, markers []kind.Marker, types []string) ([][]byte, error) {
	out := make([][]byte, 0, len(markers)+4)
	for i, m := range markers {
		value, ok := read.Get(v, m)
		if !ok || value.Null || value.Unset {
			return nil, fmt.Errorf("%w: a filter value is absent or null", kind.ErrUnsuited)
		}
		b := value.Bytes
		if b == nil {
			b = []byte{}
		}
		if types != nil && !match.Takes(b, types[i]) {
			return nil, fmt.Errorf("%w: a filter value is not of its type", kind.ErrUnsuited)
		}
		out = append(out, b)
	}
	return out, nil
}

// order sorts keys as a scan of the base meets their partitions. Keys of one partition stay in the look-up's order,
// which is the base's.
func order(keys [][][]byte, partition int) {
	type place struct {
		token exec.Token
		key   []byte
	}
	places := make([]place, len(keys))
	index := make([]int, len(keys))
	for i, k := range keys {
		p := exec.PartitionKey(k[:partition])
		places[i], index[i] = place{exec.TokenOf(p), p}, i
	}
	sort.SliceStable(index, func(i, j int) bool {
		a, b := places[index[i]], places[index[j]]
		if a.token != b.token {
			return a.token < b.token
		}
		return bytes.Compare(a.key, b.key) < 0
	})
	sorted := make([][][]byte, len(keys))
	for i, from := range index {
		sorted[i] = keys[from]
	}
	copy(keys, sorted)
}

// Original runs the application's own statement through our session, unpaged in effect: all its rows.
func (r *Reader) Original(ctx context.Context, read *match.Read, q kind.Request) (proxy.Rows, error) {
	values, err := bind(read, q.Values, read.All, nil)
	if err != nil {
		return nil, err
	}
	a, err := r.Session.Query(ctx, exec.Query{Text: read.Text, Values: values, Consistency: q.Consistency})
	if err != nil {
		return nil, fmt.Errorf("run the original statement: %w", err)
	}
	return a.Rows, nil
}
