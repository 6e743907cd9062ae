// Package handshake reads, and changes, what a client and Cassandra agree on before the first request: STARTUP, SUPPORTED, REGISTER. It imports
// proxy/compress, login, pipe, ring and wire.
//
// # Compression
//
// Compression is agreed in the handshake: SUPPORTED says what the server has, STARTUP asks for one of it, and READY or
// AUTHENTICATE agrees. From then on
//
//	version  asked for     requests and answers are        mode
//	3, 4     nothing       frames                          Framed
//	3, 4     lz4, snappy   frames, flagged if compressed   FramedLZ4, FramedSnappy
//	5        nothing       frames in segments              Segmented
//	5        lz4           frames in LZ4 segments          SegmentedLZ4
//	any      what else     unknown, so not read            Opaque; the Rewriter is told
//
// Where the proxy keeps compression from Cassandra, the last two columns are so for the client only. Cassandra is not asked (and SUPPORTED
// does not offer it, for those who look), and speaks as if nothing had been asked for.
//
// A header's "compressed" flag means nothing where nothing was agreed: Cassandra takes a body so flagged for what it is,
// plain (gocql flags version 5's frames so inside their segments, CASSGO-98), and so do we.
package handshake

import (
	"strings"

	"github.com/helenus-db/helenus/proxy/compress"
	"github.com/helenus-db/helenus/proxy/login"
	"github.com/helenus-db/helenus/proxy/pipe"
	"github.com/helenus-db/helenus/proxy/ring"
	"github.com/helenus-db/helenus/proxy/wire"
)

const compressionOption = "COMPRESSION" // of STARTUP and SUPPORTED

// Startup is what a client says of itself; "" for what it does not say.
type Startup struct {
	Application, ApplicationVersion string
	Driver, DriverVersion           string
	Instance                        string
	Compression                     string // that it asks for
}

// ReadStartup reads a STARTUP. Keys are taken in any case, as Cassandra takes them.
func ReadStartup(h wire.Header, body []byte) (said Startup) {
	r := wire.NewReader(body)
	r.SkipRequestPrefix(h.Flags)
	r.StringMap(func(key, value []byte) {
		switch strings.ToUpper(string(key)) {
		case "APPLICATION_NAME":
			said.Application = login.Name(value)
		case "APPLICATION_VERSION":
			said.ApplicationVersion = login.Name(value)
		case "DRIVER_NAME":
			said.Driver = login.Name(value)
		case "DRIVER_VERSION":
			said.DriverVersion = login.Name(value)
		case "CLIENT_ID":
			said.Instance = login.Name(value)
		case compressionOption:
			said.Compression = bothOf(said.Compression, string(value))
		}
	})
	return said
}

// bothOf is what a STARTUP asks for that gives the option twice, in two cases: Cassandra takes one of them, nobody knows
// which, so it is none that we know unless they agree.
func bothOf(first, second string) string {
	if first != "" && !strings.EqualFold(first, second) || second == "" {
		return first + " and " + second
	}
	return second
}

// Mode is how the end of a connection is read after its handshake.
func Mode(version byte, compression string) pipe.Mode {
	a, err := compress.Named(compression)
	switch {
	case compression == "" && version < 5:
		return pipe.Framed
	case compression == "":
		return pipe.Segmented
	case err != nil:
		return pipe.Opaque
	case version < 5 && a == compress.LZ4:
		return pipe.FramedLZ4
	case version < 5:
		return pipe.FramedSnappy
	case a == compress.LZ4:
		return pipe.SegmentedLZ4
	}
	return pipe.Opaque // Cassandra refuses snappy in version 5
}

// Restart is the STARTUP that Cassandra gets in place of a client's: with the option that says whose process the connection came
// through (member, "" for none), and without compression if that is to be stripped. All else is as the client said it. It is nil if it can
// not be read.
func Restart(h wire.Header, body []byte, member string, stripped bool) []byte {
	r := wire.NewReader(body)
	r.SkipRequestPrefix(h.Flags)
	out := append(wire.AppendHeader(nil, h), body[:r.Offset()]...)
	at, n := len(out), uint16(0)
	out = wire.AppendShort(out, 0)
	add := func(key, value string) {
		out = wire.AppendString(wire.AppendString(out, key), value)
		n++
	}
	r.StringMap(func(key, value []byte) {
		switch name := strings.ToUpper(string(key)); {
		case stripped && name == compressionOption, member != "" && name == wire.MemberOption:
		default:
			add(string(key), string(value))
		}
	})
	if r.Bad() {
		return nil
	}
	if member != "" {
		add(wire.MemberOption, member)
	}
	wire.AppendShort(out[:at], n)
	out = append(out, r.Rest()...)
	wire.SetLength(out, 0)
	return out
}

// StripSupported empties the COMPRESSION list of a SUPPORTED answer, whose message begins at from. Drivers that ask before
// they compress then do not. It is nil if there is nothing to empty.
func StripSupported(h wire.Header, body []byte, from int) []byte {
	r := wire.NewReader(body[from:])
	out := append(wire.AppendHeader(nil, h), body[:from]...)
	n := r.Short()
	out = wire.AppendShort(out, n)
	found := false
	for ; n > 0 && !r.Bad(); n-- {
		at := r.Offset()
		key := string(r.String())
		count := r.Short()
		for i := uint16(0); i < count && !r.Bad(); i++ {
			r.String()
		}
		if r.Bad() {
			break
		}
		if key == compressionOption && count > 0 {
			found = true
			out = wire.AppendShort(wire.AppendString(out, key), 0)
			continue
		}
		out = append(out, body[from+at:from+r.Offset()]...)
	}
	if r.Bad() || !found {
		return nil
	}
	out = append(out, r.Rest()...)
	wire.SetLength(out, 0)
	return out
}

// Wanted says which events about nodes a client wants.
type Wanted = uint32

// What may be wanted, as bits.
const (
	Status Wanted = 1 << iota
	Topology
)

// ReadRegister reads which events about nodes a REGISTER is for.
func ReadRegister(h wire.Header, body []byte) (wanted Wanted) {
	r := wire.NewReader(body)
	r.SkipRequestPrefix(h.Flags)
	for n := int(r.Short()); n > 0 && !r.Bad(); n-- {
		switch string(r.String()) {
		case ring.StatusChange:
			wanted |= Status
		case ring.TopologyChange:
			wanted |= Topology
		}
	}
	if r.Bad() {
		return 0
	}
	return wanted
}
