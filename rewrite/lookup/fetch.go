package lookup

import (
	"context"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/helenus-db/helenus/proxy"
	"github.com/helenus-db/helenus/rewrite/exec"
	"github.com/helenus-db/helenus/rewrite/kind"
	"github.com/helenus-db/helenus/rewrite/lookup/match"
)

// together is how many partitions one request for base rows names at most. What a request costs Helenus is most of what a row costs;
// inside Cassandra each partition is a read of its own, so that few requests must not become one that keeps a coordinator busy.
const together = 16

// portion is some of the keys of a read, by their places, that one request asks for.
type portion struct {
	places  []int
	several bool // by match.Read.Several; else it is one key
}

// fetch reads the base row of each entry, in token order.
func (r *Reader) fetch(ctx context.Context, read *match.Read, bound [][]byte, keys [][][]byte, q kind.Request, from base) (proxy.Rows, error) {
	order(keys, read.LookUp.Partition)
	found := make([]proxy.Rows, len(keys)) // by the key's place
	portions := r.portions(read, keys)
	load := r.load(read, len(keys))
	ask := func(ctx context.Context, p portion) error {
		if p.several {
			err := r.fetchSeveral(ctx, read, bound, keys, p, q, from, found)
			if err == nil {
				return load.add(found, p.places)
			}
			if !exec.Refused(err) {
				return err
			}
			r.refused.keep(read.Several, true) // a guardrail, or an index of today: each by itself is always allowed
		}
		for _, place := range p.places {
			a, err := from.session.Query(ctx, exec.Query{Text: read.Fetch, Values: slices.Concat(bound, keys[place]), Consistency: q.Consistency})
			if err != nil {
				return err
			}
			if q.Columns != nil && !a.Shows(q.Columns, 0) {
				return kind.ErrColumns
			}
			found[place] = a.Rows
		}
		return load.add(found, p.places)
	}
	ahead, err := load.first(func() error { return ask(ctx, portions[0]) })
	if rest := portions[ahead:]; err == nil {
		err = exec.Each(ctx, len(rest), r.Parallel, func(ctx context.Context, i int) error { return ask(ctx, rest[i]) })
	}
	load.learn()
	if err != nil {
		return nil, fmt.Errorf("fetch a row of %s: %w", read.LookUp.BaseName(), err)
	}
	return slices.Concat(found...), nil
}

// portions shares keys among requests: those that differ in their partition alone go together.
func (r *Reader) portions(read *match.Read, keys [][][]byte) []portion {
	list := make([]portion, 0, len(keys))
	_, never := r.refused.Load(read.Several)
	if read.Several == "" || never {
		for i := range keys {
			list = append(list, portion{places: []int{i}})
		}
		return list
	}
	open := map[string]int{} // which portion still takes keys, by what follows the partition
	var rest []byte
	for i, k := range keys {
		rest = rest[:0]
		for _, cell := range k[1:] {
			rest = append(binary.BigEndian.AppendUint32(rest, uint32(len(cell))), cell...) // #nosec G115 -- a cell of a key
		}
		at, ok := open[string(rest)]
		if !ok || len(list[at].places) == together {
			at = len(list)
			open[string(rest)] = at
			list = append(list, portion{})
		}
		list[at].places = append(list[at].places, i)
		list[at].several = len(list[at].places) > 1
	}
	return list
}

// fetchSeveral reads the rows of a portion by one request. They come in the order of their keys' values: each is put to its key's place.
func (r *Reader) fetchSeveral(ctx context.Context, read *match.Read, bound [][]byte, keys [][][]byte, p portion, q kind.Request, from base, found []proxy.Rows) error {
	list := binary.BigEndian.AppendUint32(nil, uint32(len(p.places))) // #nosec G115 -- at most together
	place := make(map[string]int, len(p.places))
	for _, i := range p.places {
		cell := keys[i][0]
		list = append(binary.BigEndian.AppendUint32(list, uint32(len(cell))), cell...) // #nosec G115 -- a cell of a key
		place[string(cell)] = i
	}
	a, err := from.session.Query(ctx, exec.Query{Text: read.Several, Values: slices.Concat(bound, [][]byte{list}, keys[p.places[0]][1:]), Consistency: q.Consistency})
	if err != nil {
		return err
	}
	last := len(a.Columns) - 1
	if last < 0 || q.Columns != nil && !a.Shows(q.Columns, 1) {
		return kind.ErrColumns
	}
	for _, row := range a.Rows {
		if i, ok := place[string(row[last])]; ok {
			found[i] = append(found[i], row[:last])
		}
	}
	return nil
}
