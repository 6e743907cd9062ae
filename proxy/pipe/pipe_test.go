package pipe_test

import (
	"bytes"
	"errors"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/helenus-db/helenus/proxy/pipe"
	"github.com/helenus-db/helenus/proxy/wire"
)

// sink is a socket that keeps what is written to it.
type sink struct {
	net.Conn
	mu  sync.Mutex
	got []byte
	err error
}

func (s *sink) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return 0, s.err
	}
	s.got = append(s.got, b...)
	return len(b), nil
}

// packets reads a stream in pieces of a size.
type packets struct {
	b    []byte
	size int
}

func (p *packets) Read(b []byte) (int, error) {
	if len(p.b) == 0 {
		return 0, io.EOF
	}
	n := copy(b, p.b[:min(len(p.b), p.size)])
	p.b = p.b[n:]
	return n, nil
}

// judge drops frames of opcode 0xD0, replaces those of 0xD1, wants to see those of 0xD2 whole, and passes the rest; what it
// expects to come out, as frames, is in want.
type judge struct {
	want     []byte
	streamed bool // of a frame only the beginning was shown
}

var errTooLong = errors.New("too long")

func (j *judge) Admit(h wire.Header) error {
	if h.Length > 1<<20 {
		return errTooLong
	}
	return nil
}

func (j *judge) Frame(h wire.Header, body []byte, complete bool, _ int64) (pipe.Verdict, []byte, error) {
	if complete && len(body) != h.Length || len(body) > h.Length {
		return pipe.Pass, nil, errors.New("the body has another length than the header says")
	}
	instead := wire.AppendFrame(nil, wire.Header{Version: 5, Opcode: 0xEE}, []byte("instead"))
	switch {
	case !complete && h.Opcode >= 0xD0 && h.Opcode <= 0xD2:
		return pipe.Whole, nil, nil
	case h.Opcode == 0xD0:
		return pipe.Drop, nil, nil
	case h.Opcode == 0xD1:
		j.want = append(j.want, instead...)
		return pipe.Replace, instead, nil
	}
	j.want = append(wire.AppendHeader(j.want, h), body...)
	j.streamed = j.streamed || !complete
	return pipe.Pass, nil, nil
}

func (j *judge) Written() {}

// relay runs a pipe over b and returns what came out.
func relay(mode pipe.Mode, b []byte, size int, j *judge) ([]byte, error) {
	return between(mode, mode, b, size, j)
}

// between runs a pipe from an end of one mode to one of another.
func between(in, out pipe.Mode, b []byte, size int, j pipe.Handler) ([]byte, error) {
	s := &sink{}
	w := pipe.NewWriter(s, func(error) {})
	w.Switch(out)
	var m atomic.Int32
	m.Store(in)
	p := pipe.Pipe{Source: &packets{b, size}, Out: w, Handler: j, Mode: &m, Now: func() int64 { return 0 }}
	err := p.Run()
	return s.got, err
}

// frames takes the frames out of segments.
func frames(t *testing.T, b []byte) (f []byte) {
	for len(b) >= wire.SegmentHeaderSize {
		n, _, err := wire.ParseSegmentHeader(b)
		size := wire.SegmentHeaderSize + n + wire.SegmentTrailerSize
		if err != nil || size > len(b) {
			t.Fatalf("a segment came out damaged: %v", err)
		}
		p, err := wire.SegmentPayload(b[:size])
		if err != nil {
			t.Fatal(err)
		}
		f, b = append(f, p...), b[size:]
	}
	return f
}

func TestVerdicts(t *testing.T) {
	var in []byte
	for i, length := range []int{0, 10, 3000, 70_000, 140_000, 300_000} {
		for _, opcode := range []byte{7, 0xD0, 0xD1, 0xD2} {
			in = wire.AppendFrame(in, wire.Header{Version: 5, Stream: int16(i), Opcode: opcode}, bytes.Repeat([]byte{opcode}, length))
		}
	}
	var want []byte
	for b := in; len(b) > 0; {
		h := wire.ParseHeader(b)
		f := b[:wire.HeaderSize+h.Length]
		switch b = b[len(f):]; h.Opcode {
		case 0xD0:
		case 0xD1:
			want = wire.AppendFrame(want, wire.Header{Version: 5, Opcode: 0xEE}, []byte("instead"))
		default:
			want = append(want, f...)
		}
	}
	for _, size := range []int{7, 1000, 4096, 65536, 1 << 20} {
		if got, err := relay(pipe.Framed, in, size, &judge{}); !errors.Is(err, io.EOF) || !bytes.Equal(got, want) {
			t.Errorf("packets of %d: %d bytes came out, want %d: %v", size, len(got), len(want), err)
		}
		got, err := relay(pipe.Segmented, wire.AppendFrames(nil, in), size, &judge{})
		if got := frames(t, got); !errors.Is(err, io.EOF) || !bytes.Equal(got, want) {
			t.Errorf("segments in packets of %d: %d bytes came out, want %d: %v", size, len(got), len(want), err)
		}
		if got, _ := relay(pipe.Opaque, in, size, &judge{}); !bytes.Equal(got, in) {
			t.Errorf("opaque in packets of %d: %d bytes came out", size, len(got))
		}
	}
}

func TestWriterSendsAllAndReportsFailure(t *testing.T) {
	s := &sink{}
	failed := make(chan error, 10)
	w := pipe.NewWriter(s, func(err error) { failed <- err })
	var work sync.WaitGroup
	for range 8 {
		work.Add(1)
		go func() {
			defer work.Done()
			for range 100 {
				w.Send([]byte("frame"))
				w.Settle()
			}
		}()
	}
	work.Wait()
	if w.Settle(); len(s.got) != 8*100*len("frame") {
		t.Errorf("%d bytes were written", len(s.got))
	}
	s.err = io.ErrClosedPipe
	w.Send([]byte("frame"))
	if err := <-failed; !errors.Is(err, io.ErrClosedPipe) {
		t.Error(err)
	}
	w.Settle()
	w.Send(make([]byte, 33<<20))
	if err := <-failed; err == nil || errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("more waits than may: %v", err)
	}
}

// posting reads its packets, and before each has somebody post a frame.
type posting struct {
	packets
	w *pipe.Writer
	n int
}

func (p *posting) Read(b []byte) (int, error) {
	frame := wire.AppendFrame(nil, wire.Header{Version: 5, Opcode: 0xEE}, []byte("posted"))
	p.n++
	p.w.Send(frame)
	p.w.Settle()
	return p.packets.Read(b)
}

// TestPostedFramesStayOutsideOthers: whatever is streamed meanwhile, what comes out is whole frames, all of them.
func TestPostedFramesStayOutsideOthers(t *testing.T) {
	var in []byte
	for i, length := range []int{10, 70_000, 0, 300_000, 140_000, 3000, 500_000, 1} {
		in = wire.AppendFrame(in, wire.Header{Version: 5, Stream: int16(i), Opcode: 7}, bytes.Repeat([]byte{byte(i)}, length))
	}
	for _, mode := range modes {
		for _, size := range []int{100, 4096, 50_000, 1 << 20} {
			s, b := &sink{}, mode.framing.Append(nil, in)
			w := pipe.NewWriter(s, func(error) {})
			w.Switch(mode.mode)
			var m atomic.Int32
			m.Store(mode.mode)
			source := &posting{packets: packets{b, size}, w: w}
			p := pipe.Pipe{Source: source, Out: w, Handler: &judge{}, Mode: &m, Now: func() int64 { return 0 }}
			if err := p.Run(); !errors.Is(err, io.EOF) {
				t.Fatal(err)
			}
			w.Settle()
			posted := 0
			got, err := mode.framing.Read(s.got)
			if err != nil {
				t.Fatal(err)
			}
			var relayed []byte
			for len(got) > 0 {
				h := wire.ParseHeader(got)
				f := got[:wire.HeaderSize+h.Length]
				if got = got[len(f):]; h.Opcode == 0xEE {
					posted++
				} else {
					relayed = append(relayed, f...)
				}
			}
			if posted != source.n || !bytes.Equal(relayed, in) {
				t.Errorf("%s, packets of %d: %d of %d posted, %d of %d bytes relayed", mode.name, size, posted, source.n, len(relayed), len(in))
			}
		}
	}
}

func FuzzPipe(f *testing.F) {
	var frames []byte
	for _, opcode := range []byte{7, 0xD1, 0xD0, 7} {
		frames = wire.AppendFrame(frames, wire.Header{Version: 4, Opcode: opcode}, bytes.Repeat([]byte("body "), 10))
	}
	long := wire.AppendFrame(nil, wire.Header{Version: 4, Opcode: 0xD2}, make([]byte, 300_000))
	for i, m := range modes {
		f.Add(byte(i), false, 100, m.framing.Append(nil, frames))
		f.Add(byte(i), true, 3, m.framing.AppendPlain(m.framing.Append(nil, frames), frames))
		f.Add(byte(i), true, 60_000, m.framing.Append(nil, long))
	}
	f.Fuzz(func(t *testing.T, which byte, strip bool, size int, b []byte) {
		if size < 1 {
			return
		}
		in := modes[int(which)%len(modes)]
		out := in
		if strip && in.plain != in.mode {
			out = modes[map[pipe.Mode]int{pipe.Framed: 0, pipe.Segmented: 3}[in.plain]]
		}
		j := &judge{}
		got, err := between(in.mode, out.mode, b, size, j)
		if err == nil {
			t.Fatal("a pipe ended without saying why")
		}
		if !errors.Is(err, io.EOF) || j.streamed {
			return
		}
		// All was understood, and nothing was so long that only its beginning was shown.
		if read, err := out.framing.Read(got); err != nil || !bytes.Equal(read, j.want) {
			t.Errorf("%s to %s: %x came out, %x was passed: %v", in.name, out.name, read, j.want, err)
		}
	})
}
