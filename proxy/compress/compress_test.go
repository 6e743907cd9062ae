package compress_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math/rand"
	"testing"

	"github.com/golang/snappy"
	"github.com/pierrec/lz4/v4"
	"pgregory.net/rapid"

	"github.com/helenus-db/helenus/proxy/compress"
)

var algorithms = []compress.Algorithm{compress.LZ4, compress.Snappy}

// body compresses as a peer would.
func body(t testing.TB, a compress.Algorithm, b []byte) []byte {
	if a == compress.Snappy {
		return snappy.Encode(nil, b)
	}
	out := binary.BigEndian.AppendUint32(nil, uint32(len(b)))
	if len(b) == 0 {
		return append(out, 0)
	}
	block := make([]byte, lz4.CompressBlockBound(len(b)))
	n, err := lz4.CompressBlock(b, block, nil)
	if err != nil {
		t.Fatal(err)
	}
	return append(out, block[:n]...)
}

// draw draws content that compresses by any ratio.
func draw(t *rapid.T) []byte {
	random := rand.New(rand.NewSource(rapid.Int64().Draw(t, "seed")))
	b := make([]byte, 0, 200_000)
	for range rapid.IntRange(0, 12).Draw(t, "pieces") {
		n := random.Intn(20_000)
		switch random.Intn(4) {
		case 0: // nothing to be won
			for range n {
				b = append(b, byte(random.Intn(256)))
			}
		case 1: // everything
			b = append(b, bytes.Repeat([]byte{byte(random.Intn(256))}, n)...)
		case 2: // a pattern
			b = append(b, bytes.Repeat([]byte("the same again, and ")[:1+random.Intn(19)], 1+n/20)...)
		case 3: // something from further back
			if len(b) > 0 {
				at := random.Intn(len(b))
				b = append(b, b[at:min(len(b), at+n)]...)
			}
		}
	}
	return b
}

func TestRoundTrip(t *testing.T) {
	for _, a := range algorithms {
		t.Run(a.String(), func(t *testing.T) {
			rapid.Check(t, func(rt *rapid.T) {
				plain := draw(rt)
				c := body(t, a, plain)
				n, _, err := a.Length(c[:min(len(c), compress.MaxLengthSize)])
				if err != nil || n != len(plain) {
					rt.Fatalf("%d bytes announce %d: %v", len(plain), n, err)
				}
				got := make([]byte, n)
				if err := a.Decode(got, c); err != nil || !bytes.Equal(got, plain) {
					rt.Fatalf("%d bytes became others: %v", n, err)
				}
				// Of what is there, the beginning is seen; of all, all.
				there := rapid.IntRange(compress.MaxLengthSize, max(compress.MaxLengthSize, len(c))).Draw(rt, "there")
				room := make([]byte, rapid.IntRange(0, len(plain)+10).Draw(rt, "room"))
				n, err = a.Prefix(room, c[:min(there, len(c))])
				if err != nil || !bytes.Equal(room[:n], plain[:n]) {
					rt.Fatalf("the beginning of %d bytes is others: %v", n, err)
				}
				if there >= len(c) && n != min(len(room), len(plain)) {
					rt.Fatalf("%d of %d bytes are seen, %d have room", n, len(plain), len(room))
				}
			})
		})
	}
}

// TestRatios: a limit on the ratio is what other proxies break good connections by.
func TestRatios(t *testing.T) {
	for _, a := range algorithms {
		for _, size := range []int{1 << 10, 1 << 20} {
			plain := bytes.Repeat([]byte("a"), size)
			c := body(t, a, plain)
			got := make([]byte, size)
			if err := a.Decode(got, c); err != nil || !bytes.Equal(got, plain) {
				t.Errorf("%s: %d bytes from %d: %v", a, size, len(c), err)
			}
		}
	}
}

func TestBroken(t *testing.T) {
	plain := bytes.Repeat([]byte("some text that repeats "), 100)
	for _, a := range algorithms {
		good := body(t, a, plain)
		announced := func(n int, c []byte) []byte {
			_, size, err := a.Length(c)
			if err != nil {
				t.Fatal(err)
			}
			if a == compress.LZ4 {
				return append(binary.BigEndian.AppendUint32(nil, uint32(n)), c[size:]...)
			}
			return append(binary.AppendUvarint(nil, uint64(n)), c[size:]...)
		}
		for name, c := range map[string][]byte{
			"nothing": {}, "cut in its length": good[:1], "cut": good[:len(good)-3],
			"announces more": announced(len(plain)+1, good), "announces less": announced(len(plain)-1, good),
		} {
			if a == compress.Snappy && name == "cut in its length" {
				c = []byte{0xFF}
			}
			n, _, err := a.Length(c)
			if err == nil {
				err = a.Decode(make([]byte, n), c)
			}
			if !errors.Is(err, compress.ErrBroken) {
				t.Errorf("%s, %s: %v", a, name, err)
			}
		}
		if n, _, err := a.Length(announced(1<<31, good)); err != nil || n != 1<<31 {
			t.Errorf("%s: announces %d: %v", a, n, err)
		}
		if err := a.Decode(make([]byte, len(plain)-1), good); !errors.Is(err, compress.ErrBroken) {
			t.Errorf("%s: the room is too small: %v", a, err)
		}
	}
	// A copy from before the beginning.
	for a, c := range map[compress.Algorithm][]byte{compress.LZ4: {0, 0, 0, 90, 0x10, 'a', 9, 0}, compress.Snappy: {90, 0, 'a', 0x15, 9}} {
		if _, err := a.Prefix(make([]byte, 90), c); !errors.Is(err, compress.ErrBroken) {
			t.Errorf("%s: %v", a, err)
		}
	}
}

func TestNamed(t *testing.T) {
	for name, want := range map[string]compress.Algorithm{"lz4": compress.LZ4, "LZ4": compress.LZ4, "Snappy": compress.Snappy} {
		if a, err := compress.Named(name); err != nil || a != want {
			t.Errorf("%q is %s: %v", name, a, err)
		}
	}
	for _, name := range []string{"", "none", "zstd"} {
		if a, err := compress.Named(name); err == nil {
			t.Errorf("%q is %s", name, a)
		}
	}
}

func TestNothingIsAllocated(t *testing.T) {
	plain := bytes.Repeat([]byte("some text that repeats "), 100)
	for _, a := range algorithms {
		c, room := body(t, a, plain), make([]byte, len(plain))
		if n := testing.AllocsPerRun(100, func() {
			if a.Decode(room, c) != nil {
				t.Error("broken")
			}
			if _, err := a.Prefix(room, c); err != nil {
				t.Error(err)
			}
		}); n != 0 {
			t.Errorf("%s: %v allocations", a, n)
		}
	}
}

// FuzzDecode: no input crashes, and the two decoders agree on what both take.
func FuzzDecode(f *testing.F) {
	for _, plain := range []string{"", "a", "some text that repeats, some text that repeats, some text that repeats"} {
		for _, a := range algorithms {
			f.Add(byte(a), body(f, a, []byte(plain)))
		}
	}
	f.Add(byte(compress.LZ4), []byte{0, 0, 0, 90, 0x1F, 'a', 1, 0, 255, 255, 0})
	f.Add(byte(compress.Snappy), []byte{90, 0xFC, 0, 0, 0, 0xFF, 'a'})
	f.Fuzz(func(t *testing.T, which byte, c []byte) {
		a := algorithms[which%2]
		n, _, err := a.Length(c)
		if err != nil || n > 1<<20 {
			return
		}
		whole, begun := make([]byte, n), make([]byte, n)
		err = a.Decode(whole, c)
		k, prefixErr := a.Prefix(begun, c)
		if err == nil && (prefixErr != nil || k != n || !bytes.Equal(whole, begun)) {
			t.Errorf("Decode gives %q, Prefix %q (%d bytes) %v", whole, begun, k, prefixErr)
		}
	})
}

func BenchmarkDecode(b *testing.B) {
	random := rand.New(rand.NewSource(1))
	var plain []byte
	for range 40 {
		plain = append(plain, "customer name and address "[:10+random.Intn(15)]...)
		plain = append(plain, byte(random.Intn(256)), byte(random.Intn(256)))
	}
	for _, a := range algorithms {
		c, room := body(b, a, plain), make([]byte, len(plain))
		b.Run(a.String(), func(b *testing.B) {
			b.SetBytes(int64(len(plain)))
			for b.Loop() {
				_ = a.Decode(room, c)
			}
		})
		b.Run(a.String()+" prefix", func(b *testing.B) {
			b.SetBytes(int64(len(plain)))
			for b.Loop() {
				_, _ = a.Prefix(room, c)
			}
		})
	}
}
