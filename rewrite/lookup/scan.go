package lookup

import (
	"context"
	"fmt"
	"slices"

	"github.com/gocql/gocql"

	"github.com/helenus-db/helenus/proxy"
	"github.com/helenus-db/helenus/rewrite/exec"
	"github.com/helenus-db/helenus/rewrite/kind"
	"github.com/helenus-db/helenus/rewrite/lookup/match"
)

// Scan answers requests from the base, as kind.Scanner has it: Cassandra evaluates all conditions but those on the columns that are asked by, and rows are told
// apart here by their values. One scan serves many values.
func (r *Reader) Scan(ctx context.Context, read *match.Read, requests []kind.Request, parts []exec.Range, c gocql.Consistency) ([]proxy.Rows, error) {
	found := make(map[string]proxy.Rows, len(requests))
	for _, q := range requests {
		found[cellsKey(read.AskedValues(q.Values))] = proxy.Rows{}
	}
	var others [][]byte
	for _, x := range read.Others {
		v, _ := read.Get(requests[0].Values, x)
		others = append(others, v.Bytes)
	}
	width := len(read.By)
	for _, part := range parts {
		rows, err := r.part(ctx, read, others, part, c, found, maxSplits)
		if err != nil {
			return nil, fmt.Errorf("compare with %s by token ranges: %w", read.LookUp.BaseName(), err)
		}
		for _, row := range rows {
			answer, asked := row[:len(row)-width], cellsKey(row[len(row)-width:])
			found[asked] = append(found[asked], answer)
		}
	}
	answers := make([]proxy.Rows, len(requests))
	for i, q := range requests {
		limit, _ := read.Limit(func(m kind.Marker) ([]byte, bool, bool) {
			v, ok := q.Values.Get(m)
			return v.Bytes, !v.Unset, ok
		})
		rows := found[cellsKey(read.AskedValues(q.Values))]
		answers[i] = rows[:min(len(rows), limit)]
	}
	return answers, nil
}

// maxSplits is how often a part of the ring is halved that can not be read.
const maxSplits = 12

// part reads one part of the ring, and keeps the rows of the values that are wanted. What is too much for one read is halved.
func (r *Reader) part(ctx context.Context, read *match.Read, others [][]byte, part exec.Range, c gocql.Consistency, wanted map[string]proxy.Rows, splits int) (proxy.Rows, error) {
	var rows proxy.Rows
	q := exec.Query{Text: read.Scan, Values: append(append([][]byte(nil), others...), exec.FromInt64(part.First), exec.FromInt64(part.Last)),
		Consistency: c, PageSize: 1000}
	err := r.Session.Scan(ctx, q, func(cells [][]byte) error {
		asked := cells[len(cells)-len(read.By):]
		if slices.ContainsFunc(asked, func(v []byte) bool { return v == nil }) {
			return nil
		}
		if _, ok := wanted[cellsKey(asked)]; ok {
			rows = append(rows, cells)
		}
		return nil
	})
	if err == nil {
		return rows, nil
	}
	a, b, ok := part.Split()
	if !ok || splits == 0 || ctx.Err() != nil || !exec.Down(err) || exec.Unreachable(err) {
		return nil, err
	}
	first, err := r.part(ctx, read, others, a, c, wanted, splits-1)
	if err != nil {
		return nil, err
	}
	second, err := r.part(ctx, read, others, b, c, wanted, splits-1)
	return append(first, second...), err
}

// cellsKey is some cells as one text, different for different cells.
func cellsKey(cells [][]byte) string {
	if len(cells) == 1 {
		return string(cells[0])
	}
	return string(exec.PartitionKey(cells))
}
