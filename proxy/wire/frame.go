package wire

import "encoding/binary"

// HeaderSize is the length of a frame's header in protocol versions 3 to 5, bytes.
const HeaderSize = 9

// Protocol versions that this package reads, and the bit that marks a response.
const (
	MinVersion  = 3
	MaxVersion  = 5
	ResponseBit = 0x80
)

// Opcodes.
const (
	OpError         byte = 0x00
	OpStartup       byte = 0x01
	OpReady         byte = 0x02
	OpAuthenticate  byte = 0x03
	OpOptions       byte = 0x05
	OpSupported     byte = 0x06
	OpQuery         byte = 0x07
	OpResult        byte = 0x08
	OpPrepare       byte = 0x09
	OpExecute       byte = 0x0A
	OpRegister      byte = 0x0B
	OpEvent         byte = 0x0C
	OpBatch         byte = 0x0D
	OpAuthChallenge byte = 0x0E
	OpAuthResponse  byte = 0x0F
	OpAuthSuccess   byte = 0x10
)

// Flags of a frame's header. Each of Tracing (in responses), Warnings and CustomPayload puts something before the
// message's own first field.
const (
	FlagCompressed    byte = 0x01
	FlagTracing       byte = 0x02
	FlagCustomPayload byte = 0x04
	FlagWarnings      byte = 0x08
	FlagBeta          byte = 0x10
)

// Error codes that the proxy itself answers with, or decides on.
const (
	ErrServer       int32 = 0x0000
	ErrProtocol     int32 = 0x000A
	ErrCredentials  int32 = 0x0100
	ErrOverloaded   int32 = 0x1001
	ErrWriteTimeout int32 = 0x1100
	ErrReadTimeout  int32 = 0x1200
	ErrSyntax       int32 = 0x2000
	ErrInvalid      int32 = 0x2200
	ErrUnprepared   int32 = 0x2500
)

// Header is a frame's header.
type Header struct {
	Version byte // with ResponseBit
	Flags   byte
	Stream  int16
	Opcode  byte
	Length  int // of the body, bytes; up to 2^32-1: the caller holds it against a limit
}

// ParseHeader reads the header at the beginning of b, which must hold HeaderSize bytes.
func ParseHeader(b []byte) Header {
	_ = b[HeaderSize-1]
	return Header{
		Version: b[0],
		Flags:   b[1],
		Stream:  int16(binary.BigEndian.Uint16(b[2:])),
		Opcode:  b[4],
		Length:  int(binary.BigEndian.Uint32(b[5:])),
	}
}

// AppendHeader appends h.
func AppendHeader(b []byte, h Header) []byte {
	b = append(b, h.Version, h.Flags, byte(uint16(h.Stream)>>8), byte(h.Stream), h.Opcode)
	return binary.BigEndian.AppendUint32(b, uint32(h.Length))
}

// AppendFrame appends a frame of h and body; h.Length is taken from body.
func AppendFrame(b []byte, h Header, body []byte) []byte {
	h.Length = len(body)
	return append(AppendHeader(b, h), body...)
}

// SetLength writes into the frame at b[at:] the length of its body, which reaches to the end of b.
func SetLength(b []byte, at int) {
	binary.BigEndian.PutUint32(b[at+5:], uint32(len(b)-at-HeaderSize))
}

// SetStream writes a stream id into the frame at b[at:].
func SetStream(b []byte, at int, stream int16) {
	binary.BigEndian.PutUint16(b[at+2:], uint16(stream))
}

// Supported tells whether this package reads protocol version v (without ResponseBit).
func Supported(v byte) bool { return v >= MinVersion && v <= MaxVersion }
