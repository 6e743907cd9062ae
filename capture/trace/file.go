package trace

import (
	"bufio"
	"compress/gzip"
	crand "crypto/rand"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/dchest/siphash"

	"github.com/helenus-db/helenus/capture/value"
)

// version of the file. A reader refuses others.
const version = 1

// Lengths that a file may have.
const (
	maxLine  = 4 << 20
	maxKnown = 1 << 16 // statements
)

// line is one line of a file; it has one of the fields.
type line struct {
	Head      *head      `json:"helenus_trace,omitempty"`
	Statement *Statement `json:"statement,omitempty"` // numbered from 0 in order of appearance
	Execution *written   `json:"x,omitempty"`
}

type head struct {
	Version int `json:"version"`
}

type written struct {
	Statement int     `json:"s"`
	Start     int64   `json:"t0"`
	End       int64   `json:"t1"`
	Process   uint64  `json:"p"`
	Batch     uint64  `json:"b,omitempty"`
	Sequence  uint32  `json:"q"`
	Failed    bool    `json:"f,omitempty"`
	Last      bool    `json:"l,omitempty"`
	Rows      int     `json:"r"`
	Bytes     int     `json:"n"`
	Partition uint64  `json:"k,omitempty"`
	Binds     []datum `json:"v,omitempty"`
	Cells     []datum `json:"c,omitempty"`
	MadeBinds []made  `json:"mv,omitempty"`
	MadeCells []made  `json:"mc,omitempty"`
}

// datum is a value as an array: hash, bytes, index, row, class, magnitude (100: no number), null.
type datum [7]int64

const noNumber = 100

// made is what a text is made of, as an array: hash, which value, piece, class.
type made [4]int64

// Writer writes executions to a file. It is for one goroutine.
type Writer struct {
	gzip   *gzip.Writer
	json   *json.Encoder
	known  map[*Statement]int
	k0, k1 uint64
}

// NewWriter begins a file. seed 0 stands for a random key, which is what everybody but a test wants.
func NewWriter(w io.Writer, seed uint64) (*Writer, error) {
	var key [16]byte
	if seed != 0 {
		binary.LittleEndian.PutUint64(key[:], seed)
	} else {
		_, _ = crand.Read(key[:]) // never fails, by its documentation
	}
	z := gzip.NewWriter(w)
	out := &Writer{
		gzip: z, json: json.NewEncoder(z), known: map[*Statement]int{},
		k0: binary.LittleEndian.Uint64(key[:]), k1: binary.LittleEndian.Uint64(key[8:]),
	}
	return out, out.json.Encode(line{Head: &head{version}})
}

// hash hides a hash. 0 stays 0.
func (w *Writer) hash(h uint64) uint64 {
	if h == 0 {
		return 0
	}
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], h)
	return siphash.Hash(w.k0, w.k1, b[:])
}

func (w *Writer) data(values []value.Value) []datum {
	out := make([]datum, len(values))
	for i := range values {
		v := &values[i]
		d := datum{int64(w.hash(v.Hash)), int64(v.Bytes), int64(v.Index), int64(v.Row), int64(v.Class), noNumber, 0}
		if v.Numeric {
			d[5] = int64(v.Magnitude())
		}
		if v.Null {
			d[6] = 1
		}
		out[i] = d
	}
	return out
}

func (w *Writer) made(list []value.Made) (out []made) {
	for _, m := range list {
		out = append(out, made{int64(w.hash(m.Hash)), int64(m.Of), int64(m.Piece), int64(m.Class)})
	}
	return out
}

// Add writes one execution. Of statements beyond 65,536 none is written.
func (w *Writer) Add(e *Execution) error {
	n, ok := w.known[e.Statement]
	if !ok {
		if n = len(w.known); n >= maxKnown {
			return nil
		}
		w.known[e.Statement] = n
		if err := w.json.Encode(line{Statement: e.Statement}); err != nil {
			return err
		}
	}
	return w.json.Encode(line{Execution: &written{
		Statement: n, Start: e.Start, End: e.End, Process: w.hash(e.Process), Batch: w.hash(e.Batch), Sequence: e.Sequence,
		Failed: e.Failed, Last: e.Last, Rows: e.Rows, Bytes: e.Bytes, Partition: w.hash(e.Partition), Binds: w.data(e.Binds), Cells: w.data(e.Cells),
		MadeBinds: w.made(e.MadeBinds), MadeCells: w.made(e.MadeCells),
	}})
}

// Close ends the file.
func (w *Writer) Close() error { return w.gzip.Close() }

// ErrFormat says that a file is no trace, or one of another version.
var ErrFormat = errors.New("this is not a trace that this version of helenus can read")

// Read calls yield for every execution of a file. A file that was cut short yields what is there, and then an error.
func Read(r io.Reader, yield func(*Execution) error) error {
	z, err := gzip.NewReader(r)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrFormat, err)
	}
	lines := bufio.NewScanner(z)
	lines.Buffer(nil, maxLine)
	var known []*Statement
	for n := 1; lines.Scan(); n++ {
		var l line
		if err := json.Unmarshal(lines.Bytes(), &l); err != nil {
			return fmt.Errorf("%w: line %d: %w", ErrFormat, n, err)
		}
		switch {
		case n == 1 && (l.Head == nil || l.Head.Version != version):
			return ErrFormat
		case l.Statement != nil && len(known) < maxKnown:
			known = append(known, l.Statement)
		case l.Execution != nil:
			e, err := l.Execution.execution(known)
			if err != nil {
				return fmt.Errorf("%w: line %d: %w", ErrFormat, n, err)
			}
			if err := yield(e); err != nil {
				return err
			}
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("read the trace: %w", err)
	}
	return nil
}

func (w *written) execution(known []*Statement) (*Execution, error) {
	if w.Statement < 0 || w.Statement >= len(known) {
		return nil, fmt.Errorf("statement %d is not there", w.Statement)
	}
	return &Execution{
		Statement: known[w.Statement], Start: w.Start, End: w.End, Process: w.Process, Batch: w.Batch, Sequence: w.Sequence,
		Failed: w.Failed, Last: w.Last, Rows: w.Rows, Bytes: w.Bytes, Partition: w.Partition, Binds: values(w.Binds), Cells: values(w.Cells),
		MadeBinds: pieces(w.MadeBinds, len(w.Binds)), MadeCells: pieces(w.MadeCells, len(w.Cells)),
	}, nil
}

// pieces reads back what texts among n values are made of.
func pieces(list []made, n int) (out []value.Made) {
	for _, m := range list {
		if m[1] >= 0 && m[1] < int64(n) && m[2] >= 0 && m[2] < value.MaxPieces && m[3] > 0 && m[3] < value.Classes {
			out = append(out, value.Made{Hash: uint64(m[0]), Of: uint32(m[1]), Piece: uint8(m[2]), Class: value.Class(m[3])})
		}
	}
	return out
}

// values reads values back.
func values(data []datum) []value.Value {
	var out []value.Value
	for _, d := range data {
		if d[4] < 0 || d[4] >= value.Classes {
			continue // of a class that is not known
		}
		v := value.Value{Hash: uint64(d[0]), Bytes: uint32(d[1]), Index: uint16(d[2]), Row: uint16(d[3]), Class: value.Class(d[4]), Null: d[6] != 0}
		if m := d[5]; m >= -64 && m <= 64 {
			v.Number, v.Numeric = value.OfMagnitude(int8(m)), true
		}
		out = append(out, v)
	}
	return out
}
