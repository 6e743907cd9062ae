package existing

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/gocql/gocql"

	"github.com/helenus-db/helenus/capture/cql"
	"github.com/helenus-db/helenus/proxy"
	"github.com/helenus-db/helenus/rewrite/condition"
	"github.com/helenus-db/helenus/rewrite/exec"
	"github.com/helenus-db/helenus/rewrite/kind"
	"github.com/helenus-db/helenus/rewrite/lookup/match"
)

// fitted is a change over its tables, in a process that carries it out.
type fitted struct {
	*opened
	runner *runner
}

var _ kind.Foreign = (*fitted)(nil)

// Rests implements kind.Foreign.
func (f *fitted) Rests() []kind.Table {
	return []kind.Table{{Keyspace: f.is.Keyspace, Name: f.is.Name}}
}

// Lacks implements kind.Foreign.
func (f *fitted) Lacks(rows int64) string {
	return fmt.Sprintf("%d rows of %s are not in %s, by which they are to be found: the application does not write both, or a write was lost", rows, f.BaseName(), f.keys.Table)
}

// Read implements kind.Fitted.
func (f *fitted) Read(st cql.Statement, keyspace string) (kind.Read, *condition.Refusal) {
	r, refusal := f.CompileRead(st, keyspace)
	if refusal != nil {
		return nil, refusal
	}
	return &read{Read: r, of: f}, nil
}

// places is at how many places of the ring values are sampled.
const places = 8

// Samples implements kind.Fitted: values that the base has, and values that the application's table has, for those of the approved statements that bind
// nothing else.
func (f *fitted) Samples(ctx context.Context, most int, c gocql.Consistency) ([]kind.Sample, error) {
	alone := f.Alone()
	if len(alone) == 0 {
		return nil, nil // only the application knows what else it asks for
	}
	each := exec.FromInt32(int32(max(most/places/2, 1))) // #nosec G115 -- a small setting
	var asked [][][]byte
	seen := map[string]bool{}
	for i := range places {
		token := exec.FromInt64(math.MinInt64 + int64(i)*(math.MaxInt64/places*2))
		for _, from := range []struct {
			text string
			skip int
		}{{f.SampleAsked(), len(f.Key)}, {f.keys.Sample(), 0}} {
			a, err := f.runner.parts.Session.Query(ctx, exec.Query{Text: from.text, Consistency: gocql.One, Values: [][]byte{token, each}})
			if err != nil {
				return nil, fmt.Errorf("sample what %s is asked by: %w", f.BaseName(), err)
			}
			for _, row := range a.Rows {
				values := row[from.skip:]
				if key := string(exec.PartitionKey(values)); !seen[key] && !slices.ContainsFunc(values, func(v []byte) bool { return !match.Indexable(v) }) {
					seen[key] = true
					asked = append(asked, values)
				}
			}
		}
	}
	samples := make([]kind.Sample, len(alone))
	for i, r := range alone {
		samples[i].Statement, samples[i].Read = r.Statement, &read{Read: r, of: f}
		for _, values := range asked {
			list := make([]proxy.Value, len(r.By))
			for n, m := range r.By {
				list[m.Index] = proxy.Value{Bytes: values[n]}
			}
			samples[i].Requests = append(samples[i].Requests, kind.Request{Values: kind.Values{Values: list}, Consistency: c})
		}
	}
	return samples, nil
}

// read is a statement that is answered.
type read struct {
	*match.Read
	of *fitted
}

var (
	_ kind.Scanner  = (*read)(nil)
	_ kind.Rightful = (*read)(nil)
	_ kind.Spoken   = (*read)(nil)
)

// Of implements kind.Read.
func (r *read) Of() kind.Fitted { return r.of }

// Answer implements kind.Read.
func (r *read) Answer(ctx context.Context, q kind.Request) (proxy.Rows, error) {
	return r.of.runner.reader.Read(ctx, r.Read, q)
}

// AnswerFor implements kind.Rightful.
func (r *read) AnswerFor(ctx context.Context, q kind.Request, client kind.Client) (proxy.Rows, error) {
	return r.of.runner.reader.ReadFor(ctx, r.Read, q, client)
}

// Described implements kind.Spoken.
func (r *read) Described() string { return r.Twin }

// Original implements kind.Read.
func (r *read) Original(ctx context.Context, q kind.Request) (proxy.Rows, error) {
	return r.of.runner.reader.Original(ctx, r.Read, q)
}

// Asked implements kind.Read.
func (r *read) Asked(q kind.Request) string { return r.Read.Asked(q.Values) }

// Scan implements kind.Scanner.
func (r *read) Scan(ctx context.Context, requests []kind.Request, parts []exec.Range, c gocql.Consistency) ([]proxy.Rows, error) {
	return r.of.runner.reader.Scan(ctx, r.Read, requests, parts, c)
}
