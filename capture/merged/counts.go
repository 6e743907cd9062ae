package merged

import (
	"bufio"
	"bytes"
	"cmp"
	"compress/flate"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/helenus-db/helenus/capture"
	"github.com/helenus-db/helenus/capture/histogram"
)

// maxBody is how long the counts of a row may be at most, unpacked, bytes.
const maxBody = 256 << 20

// counted is the body of a row of counts.
type counted struct {
	Members  []string // whose counts it has, in order
	Times    []span   // in which one of them listened, in order, none of which touch
	Snapshot *capture.Snapshot
}

// span is a time.
type span struct {
	From, To time.Time
}

// countedBy is what one member counted, at most so many statements by themselves.
func countedBy(member string, s *capture.Snapshot, statements int) *counted {
	c := &counted{[]string{member}, []span{{s.From, s.To}}, s}
	return c.cut(statements)
}

// A row of counts is gob, deflated: fields that another version does not know are left out, so that two versions run together. Distributions, which are nearly
// all of it, are written as numbers of variable length: gob takes ten times as long for their buckets.

// packed is counted as it is written.
type packed struct {
	Members        []string
	Times          []span
	From, To       time.Time
	Watched        time.Duration
	Statements     []packedStatement
	Other, Unknown packedStatement
}

// packedStatement is a statement whose distributions are in Numbers, one after the other.
type packedStatement struct {
	capture.Statement
	Numbers []byte
}

func distributions(s *capture.Statement) [5]*histogram.Distribution {
	return [...]*histogram.Distribution{&s.Latency, &s.RequestBytes, &s.ResponseBytes, &s.Rows, &s.RewrittenLatency}
}

func packStatement(s *capture.Statement) packedStatement {
	out, w := packedStatement{Statement: *s}, writer{}
	for _, d := range distributions(&out.Statement) {
		w.number(d.Count)
		w.number(d.Sum)
		w.number(uint64(len(d.Buckets)))
		last := uint64(0)
		for _, b := range d.Buckets {
			w.number(b.Low - last)
			w.number(b.Count)
			last = b.Low
		}
		*d = histogram.Distribution{}
	}
	out.Numbers = w.b
	return out
}

func (p *packedStatement) unpack() (capture.Statement, error) {
	r := reader{b: p.Numbers}
	for _, d := range distributions(&p.Statement) {
		*d = histogram.Distribution{Count: r.number(), Sum: r.number()}
		n, last := r.length(), uint64(0)
		if n > 0 {
			d.Buckets = make([]histogram.Bucket, n)
		}
		for i := range d.Buckets {
			last += r.number()
			d.Buckets[i] = histogram.Bucket{Low: last, Count: r.number()}
		}
	}
	if r.failed || len(r.b) > 0 {
		return capture.Statement{}, errCounts
	}
	return p.Statement, nil
}

// errCounts says that bytes are no counts.
var errCounts = errors.New("these are no counts that this version of helenus can read")

func packCounts(c *counted) ([]byte, error) {
	s := c.Snapshot
	p := packed{Members: c.Members, Times: c.Times, From: s.From, To: s.To, Watched: s.Watched, Other: packStatement(&s.Other), Unknown: packStatement(&s.Unknown)}
	p.Statements = make([]packedStatement, len(s.Statements))
	for i := range s.Statements {
		p.Statements[i] = packStatement(&s.Statements[i])
	}
	var b bytes.Buffer
	z, err := flate.NewWriter(&b, flate.BestSpeed)
	if err == nil {
		err = gob.NewEncoder(z).Encode(&p)
	}
	if err == nil {
		err = z.Close()
	}
	if err != nil {
		return nil, fmt.Errorf("write what was counted: %w", err)
	}
	return b.Bytes(), nil
}

func unpackCounts(body []byte) (*counted, error) {
	var p packed
	if err := gob.NewDecoder(bufio.NewReader(io.LimitReader(flate.NewReader(bytes.NewReader(body)), maxBody))).Decode(&p); err != nil {
		return nil, fmt.Errorf("%w: %w", errCounts, err)
	}
	s := &capture.Snapshot{From: p.From, To: p.To, Watched: p.Watched, Statements: make([]capture.Statement, len(p.Statements))}
	err := error(nil)
	unpack := func(to *capture.Statement, p *packedStatement) {
		one, bad := p.unpack()
		*to, err = one, cmp.Or(err, bad)
	}
	for i := range p.Statements {
		unpack(&s.Statements[i], &p.Statements[i])
	}
	unpack(&s.Other, &p.Other)
	unpack(&s.Unknown, &p.Unknown)
	return &counted{p.Members, p.Times, s}, err
}

// plus is what both counted, which must not overlap: two members, or one before it was started anew. It ends when the last of them does, and begins as long
// before as there was one that listened: so what it says is said per second is, though nobody listened in between.
func (c *counted) plus(o *counted) *counted {
	out := &counted{Members: slices.Concat(c.Members, o.Members), Times: union(slices.Concat(c.Times, o.Times)), Snapshot: c.Snapshot.Merge(o.Snapshot)}
	slices.Sort(out.Members)
	out.Members = slices.Compact(out.Members)
	total := time.Duration(0)
	for _, t := range out.Times {
		total += t.To.Sub(t.From)
	}
	out.Snapshot.From = out.Snapshot.To.Add(-total)
	return out
}

// cut is c with at most so many statements of their own, those that made the most work.
func (c *counted) cut(statements int) *counted {
	if len(c.Snapshot.Statements) <= statements {
		return c
	}
	return &counted{c.Members, c.Times, c.Snapshot.Cut(statements)}
}

// maxTimes is how many spans a sum remembers; the shortest gaps are closed.
const maxTimes = 64

// union is the time in which one of several spans is.
func union(list []span) (out []span) {
	sorted := slices.Clone(list)
	slices.SortFunc(sorted, func(a, b span) int { return cmp.Or(a.From.Compare(b.From), a.To.Compare(b.To)) })
	for _, s := range sorted {
		switch last := len(out) - 1; {
		case !s.To.After(s.From):
		case last >= 0 && !s.From.After(out[last].To):
			if s.To.After(out[last].To) {
				out[last].To = s.To
			}
		default:
			out = append(out, s)
		}
	}
	for len(out) > maxTimes {
		at := 1
		for i := range out[1:] {
			if out[i+1].From.Sub(out[i].To) < out[at].From.Sub(out[at-1].To) {
				at = i + 1
			}
		}
		out[at-1].To = out[at].To
		out = slices.Delete(out, at, at+1)
	}
	return out
}

// week names the week in which a moment is: what was counted by members that left is summed up, and forgotten, by these.
func week(t time.Time) string {
	year, n := t.UTC().ISOWeek()
	return fmt.Sprintf("%d-W%02d", year, n)
}

// included tells whether a member is in a sum of those that left.
func included(sums map[string]*counted, member string) bool {
	for _, s := range sums {
		if _, in := slices.BinarySearch(s.Members, member); in {
			return true
		}
	}
	return false
}
