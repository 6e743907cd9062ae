package merged

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/helenus-db/helenus/capture/trace"
	"github.com/helenus-db/helenus/capture/value"
	"github.com/helenus-db/helenus/capture/window"
)

// A share is written as numbers of variable length: what it is of, its statements as JSON (deflated: names repeat), its executions. Times are differences to
// the execution before. A hash is written once, and its number wherever it comes again: values that travel, which is what is looked for, come again.
// Of numbers only the magnitude is written, as in traces.

// shareVersion begins a share. Version 1 did not say what texts are made of.
const shareVersion = 2

// Bounds of what is read: more is no share of this program.
const (
	maxStatements = 1 << 14
	maxText       = 64 << 20 // of the statements, JSON
)

// errShare says that bytes are no share.
var errShare = errors.New("this is no share of values that this version of helenus can read")

// writer appends a share to a slice.
type writer struct {
	b      []byte
	hashes map[uint64]uint64 // their numbers, from 1
}

func (w *writer) number(n uint64) { w.b = binary.AppendUvarint(w.b, n) }
func (w *writer) signed(n int64)  { w.b = binary.AppendVarint(w.b, n) }

func (w *writer) flag(yes bool) {
	n := byte(0)
	if yes {
		n = 1
	}
	w.b = append(w.b, n)
}

// hash writes 0 for none, the number of one that was written before, or the next number and the hash.
func (w *writer) hash(h uint64) {
	if h == 0 {
		w.number(0)
		return
	}
	n, known := w.hashes[h]
	if !known {
		n = uint64(len(w.hashes)) + 1
		w.hashes[h] = n
	}
	w.number(n)
	if !known {
		w.b = binary.LittleEndian.AppendUint64(w.b, h)
	}
}

// Bits of a value's first byte; below is the class.
const (
	numericBit = 1 << 6
	nullBit    = 1 << 7
)

func (w *writer) values(list []value.Value) {
	w.number(uint64(len(list)))
	for i := range list {
		v := &list[i]
		first := byte(v.Class)
		if v.Numeric {
			first |= numericBit
		}
		if v.Null {
			first |= nullBit
		}
		w.b = append(w.b, first)
		w.number(uint64(v.Index))
		w.number(uint64(v.Row))
		if v.Null {
			continue
		}
		w.number(uint64(v.Bytes))
		w.hash(v.Hash)
		if v.Numeric {
			w.b = append(w.b, byte(v.Magnitude()))
		}
	}
}

// made writes what texts are made of.
func (w *writer) made(list []value.Made) {
	w.number(uint64(len(list)))
	for _, m := range list {
		w.b = append(w.b, byte(m.Class), m.Piece)
		w.number(uint64(m.Of))
		w.hash(m.Hash)
	}
}

// packShare writes a share.
func packShare(s *window.Share) ([]byte, error) {
	w := &writer{b: []byte{shareVersion}, hashes: map[uint64]uint64{}}
	w.signed(s.From)
	w.signed(s.Until)
	w.flag(s.Off)
	w.signed(s.Epoch)
	w.b = binary.LittleEndian.AppendUint64(w.b, s.Key)
	w.number(uint64(len(s.Looked)))
	for _, span := range s.Looked {
		w.signed(span.From - s.From)
		w.signed(span.To - s.From)
	}
	var statements []*trace.Statement
	numbers := map[*trace.Statement]uint64{}
	for _, e := range s.Executions {
		if _, known := numbers[e.Statement]; !known {
			numbers[e.Statement] = uint64(len(statements))
			statements = append(statements, e.Statement)
		}
	}
	if err := w.described(statements); err != nil {
		return nil, err
	}
	w.number(uint64(len(s.Executions)))
	last := s.From
	for _, e := range s.Executions {
		w.number(numbers[e.Statement])
		w.signed(e.End - last)
		w.signed(e.End - e.Start)
		last = e.End
		w.hash(e.Process)
		w.hash(e.Batch)
		w.hash(e.Partition)
		w.flag(e.Failed)
		w.flag(e.Last)
		w.signed(int64(e.Rows))
		w.signed(int64(e.Bytes))
		w.values(e.Binds)
		w.values(e.Cells)
		w.made(e.MadeBinds)
		w.made(e.MadeCells)
	}
	return w.b, nil
}

// described writes statements.
func (w *writer) described(list []*trace.Statement) error {
	var b bytes.Buffer
	z, err := flate.NewWriter(&b, flate.BestSpeed)
	if err == nil {
		err = json.NewEncoder(z).Encode(list)
	}
	if err == nil {
		err = z.Close()
	}
	if err != nil {
		return fmt.Errorf("write a share of values: %w", err)
	}
	w.number(uint64(b.Len()))
	w.b = append(w.b, b.Bytes()...)
	return nil
}

// reader reads a share; after the first thing that does not fit it has failed and yields zeroes.
type reader struct {
	b      []byte
	hashes []uint64
	failed bool
}

func (r *reader) take(n uint64) []byte {
	if r.failed || n > uint64(len(r.b)) {
		r.failed, r.b = true, nil
		return nil
	}
	out := r.b[:n]
	r.b = r.b[n:]
	return out
}

func (r *reader) byte() byte {
	if b := r.take(1); b != nil {
		return b[0]
	}
	return 0
}

func (r *reader) number() uint64 {
	n, size := binary.Uvarint(r.b)
	if size <= 0 {
		r.take(uint64(len(r.b)) + 1)
		return 0
	}
	r.b = r.b[size:]
	return n
}

func (r *reader) signed() int64 {
	n, size := binary.Varint(r.b)
	if size <= 0 {
		r.take(uint64(len(r.b)) + 1)
		return 0
	}
	r.b = r.b[size:]
	return n
}

func (r *reader) fixed() uint64 {
	if b := r.take(8); b != nil {
		return binary.LittleEndian.Uint64(b)
	}
	return 0
}

// length is a number of things that take at least a byte each.
func (r *reader) length() int {
	n := r.number()
	if n > uint64(len(r.b)) {
		r.take(uint64(len(r.b)) + 1)
		return 0
	}
	return int(n) //nolint:gosec // no more than there are bytes
}

func (r *reader) hash() uint64 {
	n := r.number()
	switch known := uint64(len(r.hashes)); {
	case n == 0:
		return 0
	case n <= known:
		return r.hashes[n-1]
	case n == known+1:
		h := r.fixed()
		r.hashes = append(r.hashes, h)
		return h
	}
	r.take(uint64(len(r.b)) + 1)
	return 0
}

func (r *reader) values() []value.Value {
	n := r.length()
	if n == 0 {
		return nil
	}
	out := make([]value.Value, 0, n)
	for range n {
		first := r.byte()
		v := value.Value{Class: value.Class(first &^ (numericBit | nullBit)), Null: first&nullBit != 0}
		v.Index, v.Row = uint16(r.number()), uint16(r.number()) //nolint:gosec // written from such
		if v.Class >= value.Classes {
			r.take(uint64(len(r.b)) + 1)
		}
		if !v.Null {
			v.Bytes = uint32(r.number()) //nolint:gosec // likewise
			v.Hash = r.hash()
			if first&numericBit != 0 {
				v.Number, v.Numeric = value.OfMagnitude(int8(r.byte())), true //nolint:gosec // likewise
			}
		}
		if r.failed {
			return nil
		}
		out = append(out, v)
	}
	return out
}

// made reads what texts among so many values are made of.
func (r *reader) made(of int) (out []value.Made) {
	for range r.length() {
		m := value.Made{Class: value.Class(r.byte()), Piece: r.byte(), Of: uint32(r.number()), Hash: r.hash()} //nolint:gosec // checked below
		if r.failed || m.Class >= value.Classes || m.Piece >= value.MaxPieces || uint64(m.Of) >= uint64(of) {  //nolint:gosec // a length
			r.take(uint64(len(r.b)) + 1)
			return nil
		}
		out = append(out, m)
	}
	return out
}

// unpackShare reads what packShare wrote.
func unpackShare(b []byte) (*window.Share, error) {
	r := &reader{b: b}
	version := r.byte()
	if version == 0 || version > shareVersion {
		return nil, errShare
	}
	s := &window.Share{From: r.signed(), Until: r.signed(), Off: r.byte() != 0, Epoch: r.signed(), Key: r.fixed()}
	for range r.length() {
		s.Looked = append(s.Looked, window.Interval{From: s.From + r.signed(), To: s.From + r.signed()})
	}
	statements, err := r.described()
	if err != nil {
		return nil, err
	}
	last := s.From
	for range r.length() {
		n := r.number()
		if n >= uint64(len(statements)) {
			return nil, errShare
		}
		e := &trace.Execution{Statement: statements[n]}
		e.End = last + r.signed()
		e.Start = e.End - r.signed()
		last = e.End
		e.Process, e.Batch, e.Partition = r.hash(), r.hash(), r.hash()
		e.Failed, e.Last = r.byte() != 0, r.byte() != 0
		e.Rows, e.Bytes = int(r.signed()), int(r.signed())
		e.Binds, e.Cells = r.values(), r.values()
		if version > 1 {
			e.MadeBinds, e.MadeCells = r.made(len(e.Binds)), r.made(len(e.Cells))
		}
		if r.failed {
			return nil, errShare
		}
		s.Executions = append(s.Executions, e)
	}
	if r.failed || len(r.b) != 0 {
		return nil, errShare
	}
	return s, nil
}

// described reads statements.
func (r *reader) described() ([]*trace.Statement, error) {
	text := r.take(r.number())
	if r.failed {
		return nil, errShare
	}
	var list []*trace.Statement
	if err := json.NewDecoder(io.LimitReader(flate.NewReader(bytes.NewReader(text)), maxText)).Decode(&list); err != nil {
		return nil, fmt.Errorf("%w: %w", errShare, err)
	}
	if len(list) > maxStatements {
		return nil, errShare
	}
	for _, st := range list {
		if st == nil {
			return nil, errShare
		}
	}
	return list, nil
}
