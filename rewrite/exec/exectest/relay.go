package exectest

import (
	"context"
	"slices"

	"github.com/helenus-db/helenus/proxy"
	"github.com/helenus-db/helenus/rewrite/exec"
)

// Relay plays the relay before a database in memory, for one client that asks one thing after the other.
type Relay struct {
	DB       *Memory
	Rewriter proxy.Rewriter

	told chan told
}

type told struct {
	rows      proxy.Rows
	forwarded bool
}

// Barrier implements migrate.Traffic: nothing is under way.
func (*Relay) Barrier(ctx context.Context) error { return ctx.Err() }

// Ask asks a prepared SELECT, and tells whether it ran as it was written.
func (r *Relay) Ask(text string, values ...[]byte) (rows proxy.Rows, forwarded bool) {
	r.told = make(chan told, 1)
	q := &proxy.Request{Opcode: proxy.OpExecute, Version: 4, Text: text, Consistency: 1, Responder: r,
		Prepared: &proxy.Prepared{Text: text, ResultMetadata: []byte{0}}, Rule: r.Rewriter.Rule("", text)}
	for _, v := range values {
		q.Values = append(q.Values, proxy.Value{Bytes: v, Null: v == nil})
	}
	if q.Rule == nil || !r.Rewriter.Take(q) {
		r.Forward(q, proxy.Forward{})
	}
	t := <-r.told
	return t.rows, t.forwarded
}

// Do says a statement that is no read, as a text.
func (r *Relay) Do(text string) {
	r.told = make(chan told, 1)
	q := &proxy.Request{Opcode: proxy.OpQuery, Version: 4, Text: text, Consistency: 1, Responder: r, Rule: r.Rewriter.Rule("", text)}
	if q.Rule == nil || !r.Rewriter.Take(q) {
		r.Forward(q, proxy.Forward{})
	}
	<-r.told
}

// Forward implements proxy.Responder.
func (r *Relay) Forward(q *proxy.Request, f proxy.Forward) {
	var values [][]byte
	for _, v := range q.Values {
		values = append(values, v.Bytes)
	}
	a, err := r.DB.Query(context.Background(), exec.Query{Text: q.Text, Values: values})
	if f.Done != nil {
		f.Done(proxy.Response{Opcode: proxy.OpResult, Body: body(a), Failed: err != nil})
	}
	r.told <- told{a.Rows, true}
}

// body is a RESULT Rows answer without metadata.
func body(a exec.Answer) []byte {
	b := slices.Concat(exec.FromInt32(2), exec.FromInt32(4), exec.FromInt32(int32(len(a.Columns))), exec.FromInt32(int32(len(a.Rows)))) // #nosec G115 -- of a test
	for _, row := range a.Rows {
		for _, c := range row {
			n := len(c)
			if c == nil {
				n = -1
			}
			b = append(append(b, exec.FromInt32(int32(n))...), c...) // #nosec G115 -- of a test
		}
	}
	return b
}

// Answer implements proxy.Responder.
func (r *Relay) Answer(_ *proxy.Request, rows proxy.Rows) { r.told <- told{rows: rows} }

// Fail implements proxy.Responder.
func (r *Relay) Fail(*proxy.Request, int32, string) { r.told <- told{} }
