package main

import (
	"bytes"
	"net"

	"github.com/helenus-db/helenus/proxy/proxytest"
	"github.com/helenus-db/helenus/proxy/wire"
)

// The two statements of the bench, and their answers: a row of 168 bytes with its header, and a hundred rows of 12 kB.
const (
	smallText = "SELECT id, name, city FROM shop.customers WHERE id = ?"
	largeText = "SELECT id, name, city FROM shop.customers WHERE city = ?"
)

var (
	variables = []proxytest.Column{{Name: "id", Type: 12}}
	results   = []proxytest.Column{{Name: "id", Type: 12}, {Name: "name", Type: 13}, {Name: "city", Type: 13}}
	aRow      = [][]byte{make([]byte, 16), bytes.Repeat([]byte("name "), 6), bytes.Repeat([]byte("city "), 6)}

	// Of the table that proxytest prepares everything on: an answer begins with the metadata that PREPARE was told.
	smallAnswer = proxytest.RowsBody("k", "t", results, [][][]byte{aRow})
	largeAnswer = proxytest.RowsBody("k", "t", results, hundred(append(aRow[:2:2], bytes.Repeat([]byte("a city "), 9))))

	largeID = proxytest.PreparedID(largeText)
)

func hundred(row [][]byte) (rows [][][]byte) {
	for range 100 {
		rows = append(rows, row)
	}
	return rows
}

// answer appends what Cassandra would say to a request. It is the whole of the backend: nothing is kept, and in steady
// state nothing is allocated.
func answer(out []byte, h wire.Header, body []byte) []byte {
	a := wire.Header{Version: h.Version | wire.ResponseBit, Stream: h.Stream, Opcode: wire.OpResult}
	switch h.Opcode {
	case wire.OpStartup, wire.OpRegister:
		a.Opcode = wire.OpReady
		return wire.AppendFrame(out, a, nil)
	case wire.OpOptions:
		a.Opcode = wire.OpSupported
		return wire.AppendFrame(out, a, proxytest.SupportedBody)
	case wire.OpPrepare:
		r := wire.NewReader(body)
		return wire.AppendFrame(out, a, proxytest.PreparedBody(h.Version, string(r.LongString()), variables, results))
	case wire.OpQuery: // of the control connection
		r := wire.NewReader(body)
		if text := r.LongString(); bytes.Contains(text, []byte("system.local")) {
			return wire.AppendFrame(out, a, proxytest.LocalBody(&net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 9042}))
		}
		return wire.AppendFrame(out, a, proxytest.PeersBody())
	case wire.OpExecute:
		if len(body) > 18 && bytes.Equal(body[2:18], largeID) {
			return wire.AppendFrame(out, a, largeAnswer)
		}
		return wire.AppendFrame(out, a, smallAnswer)
	}
	a.Opcode = wire.OpError
	return wire.AppendFrame(out, a, wire.AppendError(nil, wire.ErrProtocol, "the bench does not say that"))
}

// backend answers every connection that the listener accepts.
func backend(l net.Listener) error {
	for {
		c, err := l.Accept()
		if err != nil {
			return err
		}
		go func() {
			defer c.Close()
			answering(c)
		}()
	}
}

func answering(c net.Conn) {
	var in inbox
	var f framing
	var out, answers []byte
	for {
		n, err := c.Read(in.space())
		if err != nil {
			return
		}
		in.end += n
		out, answers = out[:0], answers[:0]
		var agreed wire.Segments
		for {
			frames, err := in.next(&f)
			if err != nil {
				return
			}
			if frames == nil {
				break
			}
			for len(frames) > 0 {
				h := wire.ParseHeader(frames)
				body := frames[wire.HeaderSize : wire.HeaderSize+h.Length]
				frames = frames[wire.HeaderSize+h.Length:]
				answers = answer(answers, h, body)
				if h.Opcode == wire.OpStartup && h.Version == 5 {
					agreed = wire.PlainSegments
					if bytes.Contains(body, []byte("lz4")) {
						agreed = wire.LZ4Segments
					}
				}
			}
			if len(answers) > 100_000 || f.form == wire.LZ4Segments { // Cassandra, too, does not wait for more to compress
				out, answers = f.wrap(out, answers), answers[:0]
			}
		}
		out = f.wrap(out, answers)
		if agreed != 0 {
			f.form = agreed
		}
		if _, err := c.Write(out); err != nil {
			return
		}
	}
}
