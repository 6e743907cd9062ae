package pipe_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math/rand"
	"net"
	"runtime"
	"sync/atomic"
	"testing"

	"pgregory.net/rapid"

	"github.com/helenus-db/helenus/proxy/compress"
	"github.com/helenus-db/helenus/proxy/pipe"
	"github.com/helenus-db/helenus/proxy/proxytest"
	"github.com/helenus-db/helenus/proxy/wire"
)

var modes = []struct {
	name    string
	mode    pipe.Mode
	plain   pipe.Mode // what it is without compression
	framing proxytest.Framing
}{
	{"frames", pipe.Framed, pipe.Framed, proxytest.Framing{}},
	{"frames lz4", pipe.FramedLZ4, pipe.Framed, proxytest.Framing{Algorithm: compress.LZ4}},
	{"frames snappy", pipe.FramedSnappy, pipe.Framed, proxytest.Framing{Algorithm: compress.Snappy}},
	{"segments", pipe.Segmented, pipe.Segmented, proxytest.Framing{Segments: wire.PlainSegments}},
	{"segments lz4", pipe.SegmentedLZ4, pipe.Segmented, proxytest.Framing{Segments: wire.LZ4Segments, Algorithm: compress.LZ4}},
}

// witness is a judge that remembers what it was shown whole.
type witness struct {
	judge
	seen []string
}

func (w *witness) Frame(h wire.Header, body []byte, complete bool, now int64) (pipe.Verdict, []byte, error) {
	v, instead, err := w.judge.Frame(h, body, complete, now)
	if complete || v == pipe.Pass {
		w.seen = append(w.seen, fmt.Sprintf("%+v %v %x", h, complete, crc32.ChecksumIEEE(body[:min(len(body), 100)])))
	}
	return v, instead, err
}

// drawTraffic draws frames of all verdicts, and how they lie on the wire: compressed, plain, several in a segment.
func drawTraffic(t *rapid.T, f proxytest.Framing, opcodes []byte) (frames, sent []byte) {
	random := rand.New(rand.NewSource(rapid.Int64().Draw(t, "seed")))
	var run []byte
	for i := range rapid.IntRange(1, 10).Draw(t, "frames") {
		n := random.Intn(500)
		if random.Intn(6) == 0 {
			n = random.Intn(200_000)
		}
		body := make([]byte, n)
		switch random.Intn(3) {
		case 0:
			random.Read(body)
		case 1:
			copy(body, bytes.Repeat([]byte("a text of which there is more "), 1+n/30))
		}
		frame := wire.AppendFrame(nil, wire.Header{Version: 4, Stream: int16(i), Opcode: opcodes[random.Intn(len(opcodes))]}, body)
		frames, run = append(frames, frame...), append(run, frame...)
		switch random.Intn(3) {
		case 0:
			sent, run = f.Append(sent, run), nil
		case 1:
			sent, run = f.AppendPlain(sent, run), nil
		}
	}
	return frames, f.Append(sent, run)
}

// TestWhatIsPassedIsUnchanged, byte for byte, however it is compressed and cut into packets.
func TestWhatIsPassedIsUnchanged(t *testing.T) {
	for _, m := range modes {
		t.Run(m.name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				_, sent := drawTraffic(t, m.framing, []byte{7, 0xD2})
				got, err := relay(m.mode, sent, rapid.IntRange(20, 100_000).Draw(t, "packet"), &judge{})
				if !errors.Is(err, io.EOF) || !bytes.Equal(got, sent) {
					t.Fatalf("%d bytes went in, %d came out: %v", len(sent), len(got), err)
				}
			})
		})
	}
}

// TestEveryModeShowsTheSame: to the handler it makes no difference how frames lie on the wire, nor to who reads what comes
// out, be it in the same mode or without compression on either side.
func TestEveryModeShowsTheSame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		seed := rapid.Int64().Draw(t, "packets")
		for _, in := range modes {
			var frames, sent []byte
			frames, sent = drawTraffic(t, in.framing, []byte{7, 0xD0, 0xD1, 0xD2, 0xD3})
			var want []byte
			var seen []string
			for b := frames; len(b) > 0; {
				h := wire.ParseHeader(b)
				f := b[:wire.HeaderSize+h.Length]
				b = b[len(f):]
				w := witness{}
				if _, instead, _ := w.Frame(h, f[wire.HeaderSize:], true, 0); h.Opcode == 0xD1 {
					want = append(want, instead...)
				} else if h.Opcode != 0xD0 {
					want = append(want, f...)
				}
				seen = append(seen, w.seen...)
			}
			for _, out := range modes {
				if out.plain != in.plain || out.mode != in.mode && out.mode != out.plain && in.mode != in.plain {
					continue
				}
				w := &witness{}
				got, err := between(in.mode, out.mode, sent, 20+int(uint64(seed)%50_000), w)
				if !errors.Is(err, io.EOF) {
					t.Fatalf("%s to %s: %v", in.name, out.name, err)
				}
				read, err := out.framing.Read(got)
				if err != nil || !bytes.Equal(read, want) {
					t.Fatalf("%s to %s: %d bytes of frames came out, want %d: %v", in.name, out.name, len(read), len(want), err)
				}
				if len(w.seen) != len(seen) {
					t.Fatalf("%s to %s: %d frames were shown, there are %d", in.name, out.name, len(w.seen), len(seen))
				}
				for i := range seen { // but for how much was shown at once, and the beginning of frames of segments
					a, b := w.seen[i], seen[i]
					if bytes.Contains([]byte(a), []byte("true")) && a != b {
						t.Fatalf("%s to %s: shown %s, it is %s", in.name, out.name, a, b)
					}
				}
			}
		}
	})
}

// TestLongCompressedFramesAreSeenToBegin: of a frame that is streamed the beginning is shown decompressed, and its length is known.
func TestLongCompressedFramesAreSeenToBegin(t *testing.T) {
	for _, m := range modes {
		random := rand.New(rand.NewSource(1))
		body := append([]byte("the beginning "), make([]byte, 400_000)...)
		for i := 1000; i < len(body); i += 3 {
			body[i] = byte(random.Intn(256))
		}
		frame := wire.AppendFrame(nil, wire.Header{Version: 4, Opcode: 7}, body)
		var shown []byte
		var length int
		got, _ := relayWith(m.mode, m.framing.Append(nil, frame), 5000, func(h wire.Header, b []byte, complete bool) pipe.Verdict {
			if complete {
				t.Errorf("%s: shown whole", m.name)
			}
			shown, length = append([]byte(nil), b...), h.Length
			return pipe.Pass
		})
		if len(shown) < 20_000 || !bytes.Equal(shown, body[:len(shown)]) || length != len(body) {
			t.Errorf("%s: %d bytes were shown of %d", m.name, len(shown), length)
		}
		if read, err := m.framing.Read(got); err != nil || !bytes.Equal(read, frame) {
			t.Errorf("%s: it came out changed: %v", m.name, err)
		}
	}
}

type handler func(h wire.Header, b []byte, complete bool) pipe.Verdict

func (handler) Admit(h wire.Header) error { return (&judge{}).Admit(h) }
func (handler) Written()                  {}
func (f handler) Frame(h wire.Header, b []byte, complete bool, _ int64) (pipe.Verdict, []byte, error) {
	return f(h, b, complete), nil, nil
}

func relayWith(mode pipe.Mode, b []byte, size int, f handler) ([]byte, error) {
	return between(mode, mode, b, size, f)
}

// TestBombs: what announces more than is admitted is refused before it is decompressed, what is not as long as announced
// is an error, and neither costs memory.
func TestBombs(t *testing.T) {
	frame := func(body []byte) []byte {
		return wire.AppendFrame(nil, wire.Header{Version: 4, Flags: wire.FlagCompressed, Stream: 7, Opcode: 7}, body)
	}
	small := proxytest.Compress(compress.LZ4, make([]byte, 1000))
	large := proxytest.Compress(compress.LZ4, make([]byte, 100_000))
	announce := func(n uint32, b []byte) []byte { return append(binary.BigEndian.AppendUint32(nil, n), b[4:]...) }
	snappyBomb := append(binary.AppendUvarint(nil, 1<<31), proxytest.Compress(compress.Snappy, make([]byte, 1000))[2:]...)
	segment := func(n int, p []byte, sc bool) []byte { return wire.LZ4Segments.Append(nil, p, n, sc) }
	for name, x := range map[string]struct {
		mode pipe.Mode
		in   []byte
		want error
	}{
		"announces 2 GB":                  {pipe.FramedLZ4, frame(announce(1<<31, small)), errTooLong},
		"announces 2 GB, snappy":          {pipe.FramedSnappy, frame(snappyBomb), errTooLong},
		"announces less than it is":       {pipe.FramedLZ4, frame(announce(1000, large)), compress.ErrBroken},
		"announces more than it is":       {pipe.FramedLZ4, frame(announce(1001, small)), compress.ErrBroken},
		"announces much more than it is":  {pipe.FramedLZ4, frame(announce(1<<19, small)), compress.ErrBroken},
		"is nothing but an announcement":  {pipe.FramedLZ4, frame(small[:4]), compress.ErrBroken},
		"is shorter than an announcement": {pipe.FramedLZ4, frame(small[:3]), compress.ErrBroken},
		"is another algorithm's":          {pipe.FramedSnappy, frame(small), compress.ErrBroken},
		"is cut":                          {pipe.FramedLZ4, frame(small[:len(small)-2]), compress.ErrBroken},
		"segment becomes more":            {pipe.SegmentedLZ4, segment(1000, large[4:], true), compress.ErrBroken},
		"segment becomes less":            {pipe.SegmentedLZ4, segment(1001, small[4:], true), compress.ErrBroken},
		"segment is nothing":              {pipe.SegmentedLZ4, segment(1001, nil, true), compress.ErrBroken},
		"part becomes less":               {pipe.SegmentedLZ4, segment(1001, small[4:], false), compress.ErrBroken},
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		const times = 20
		for range times {
			if _, err := relay(x.mode, x.in, 1<<16, &judge{}); !errors.Is(err, x.want) {
				t.Errorf("%s: %v", name, err)
			}
		}
		runtime.ReadMemStats(&after)
		if each := (after.TotalAlloc - before.TotalAlloc) / times; each > 256<<10 {
			t.Errorf("%s: %d bytes are allocated each time", name, each)
		}
	}
	var broken *pipe.Undecodable
	if _, err := relay(pipe.FramedLZ4, frame(small[:3]), 100, &judge{}); !errors.As(err, &broken) || broken.Header.Stream != 7 {
		t.Errorf("%v does not say which frame", err)
	}
}

// TestAnEmptyBodyMayBeFlagged: some peers flag what they had nothing to compress of.
func TestAnEmptyBodyMayBeFlagged(t *testing.T) {
	in := []byte{4, wire.FlagCompressed, 0, 0, 7, 0, 0, 0, 0}
	in = append(in, wire.AppendFrame(nil, wire.Header{Version: 4, Flags: wire.FlagCompressed, Opcode: 7}, []byte{0, 0, 0, 0, 0})...)
	n := 0
	got, err := relayWith(pipe.FramedLZ4, in, 100, func(h wire.Header, b []byte, complete bool) pipe.Verdict {
		if len(b) != 0 || h.Flags != 0 || h.Length != 0 || !complete {
			t.Errorf("shown %+v %q", h, b)
		}
		n++
		return pipe.Pass
	})
	if n != 2 || !bytes.Equal(got, in) || !errors.Is(err, io.EOF) {
		t.Errorf("%d were shown, % x came out: %v", n, got, err)
	}
}

// repeating is a source of the same bytes, a fixed number of times.
type repeating struct {
	b    []byte
	left int
}

func (r *repeating) Read(b []byte) (int, error) {
	if r.left == 0 {
		return 0, io.EOF
	}
	r.left--
	return copy(b, r.b), nil
}

// void is a socket that takes everything.
type void struct{ net.Conn }

func (void) Write(b []byte) (int, error) { return len(b), nil }

// steady relays reads of a few frames each.
func steady(in, out pipe.Mode, f proxytest.Framing, reads int, v pipe.Verdict) (frames int) {
	var batch []byte
	for i := range 8 {
		body := bytes.Repeat([]byte("name and address "), 8)
		batch = f.Append(batch, wire.AppendFrame(nil, wire.Header{Version: 4, Stream: int16(i), Opcode: 7}, body))
	}
	w := pipe.NewWriter(void{}, func(error) {})
	w.Switch(out)
	var m atomic.Int32
	m.Store(in)
	p := pipe.Pipe{Source: &repeating{batch, reads}, Out: w, Mode: &m, Now: func() int64 { return 0 },
		Handler: handler(func(wire.Header, []byte, bool) pipe.Verdict { frames++; return v })}
	_ = p.Run()
	return frames
}

// TestNothingIsAllocatedForAFrame, in any mode, nor where compression is taken out.
func TestNothingIsAllocatedForAFrame(t *testing.T) {
	allowed := 0.1
	if proxytest.Race {
		allowed = 1
	}
	for _, in := range modes {
		for _, out := range modes {
			if out.plain != in.plain {
				continue
			}
			if out.mode != in.mode && out.mode != out.plain && in.mode != in.plain {
				continue
			}
			steady(in.mode, out.mode, in.framing, 100, pipe.Pass)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			n := steady(in.mode, out.mode, in.framing, 1000, pipe.Pass)
			runtime.ReadMemStats(&after)
			if each := float64(after.Mallocs-before.Mallocs) / float64(n); n != 8000 || each >= allowed {
				t.Errorf("%s to %s: %.3f allocations for each of %d frames, %.1f are allowed", in.name, out.name, each, n, allowed)
			}
		}
	}
}

// BenchmarkPipe is what a frame of 136 bytes costs in each mode, reads and writes not counted; strip is without
// compression on the other side.
func BenchmarkPipe(b *testing.B) {
	for _, in := range modes {
		b.Run(in.name, func(b *testing.B) {
			b.ReportAllocs()
			n := steady(in.mode, in.mode, in.framing, b.N/8+1, pipe.Pass)
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(n), "ns/frame")
		})
		if in.mode != in.plain {
			b.Run(in.name+" strip", func(b *testing.B) {
				b.ReportAllocs()
				n := steady(in.mode, in.plain, in.framing, b.N/8+1, pipe.Pass)
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(n), "ns/frame")
			})
		}
	}
}
