package proxytest

import (
	"crypto/tls"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/helenus-db/helenus/proxy/wire"
)

// Client is a connection that sends frames as they are. It is for one goroutine.
type Client struct {
	Version byte
	Conn    net.Conn
	in      *frames
}

// Patience is how long a Client waits for anything before it gives up.
const Patience = 20 * time.Second

// Dial connects without saying anything.
func Dial(address string, version byte) (*Client, error) {
	c, err := net.Dial("tcp", address)
	if err != nil {
		return nil, err
	}
	return &Client{Version: version, Conn: c, in: newFrames(c)}, nil
}

// DialTLS is Dial with a TLS handshake.
func DialTLS(address string, version byte, config *tls.Config) (*Client, error) {
	d := tls.Dialer{NetDialer: &net.Dialer{Timeout: Patience}, Config: config}
	c, err := d.Dial("tcp", address)
	if err != nil {
		return nil, err
	}
	return &Client{Version: version, Conn: c, in: newFrames(c)}, nil
}

// Connect connects and performs the handshake. options are pairs added to STARTUP.
func Connect(address string, version byte, options ...string) (*Client, error) {
	c, err := Dial(address, version)
	if err != nil {
		return nil, err
	}
	if err := c.Startup(options...); err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

// Startup performs the handshake of a server that asks for no authentication.
func (c *Client) Startup(options ...string) error {
	h, _, err := c.Hello(options...)
	if err == nil && h.Opcode != wire.OpReady {
		err = fmt.Errorf("STARTUP was answered by opcode %#x", h.Opcode)
	}
	return err
}

// Hello sends STARTUP and returns its answer, READY or AUTHENTICATE if all is well; the client then goes on as agreed.
func (c *Client) Hello(options ...string) (wire.Header, []byte, error) {
	body := wire.AppendShort(nil, uint16(1+len(options)/2))
	body = wire.AppendString(wire.AppendString(body, "CQL_VERSION"), "3.0.0")
	for _, o := range options {
		body = wire.AppendString(body, o)
	}
	h, answer, err := c.Call(wire.OpStartup, body)
	if err != nil || h.Opcode == wire.OpError {
		return h, answer, err
	}
	compression := ""
	for i := 0; i+1 < len(options); i += 2 {
		if strings.EqualFold(options[i], "COMPRESSION") {
			compression = options[i+1]
		}
	}
	c.Agree(compression)
	return h, answer, nil
}

// Agree makes the client go on as the server agreed in a handshake that asked for a compression, "" for none. Hello does.
func (c *Client) Agree(compression string) { c.in.framing = Agreed(c.Version, compression) }

// Framing is how the client's frames lie on the wire.
func (c *Client) Framing() Framing { return c.in.framing }

// Close ends the connection.
func (c *Client) Close() { c.Conn.Close() }

// Send sends one frame.
func (c *Client) Send(stream int16, opcode, flags byte, body []byte) error {
	return c.SendRaw(c.Frame(stream, opcode, flags, body))
}

// SendRaw sends whole frames: compressed, in segments, as the handshake agreed.
func (c *Client) SendRaw(frames []byte) error {
	_ = c.Conn.SetWriteDeadline(time.Now().Add(Patience))
	_, err := c.Conn.Write(c.in.framing.Append(nil, frames))
	return err
}

// Frame is a frame as the client would send it.
func (c *Client) Frame(stream int16, opcode, flags byte, body []byte) []byte {
	return wire.AppendFrame(nil, wire.Header{Version: c.Version, Flags: flags, Stream: stream, Opcode: opcode}, body)
}

// Read returns the next frame.
func (c *Client) Read() (wire.Header, []byte, error) {
	_ = c.Conn.SetReadDeadline(time.Now().Add(Patience))
	return c.in.next()
}

// Call sends a request on stream 0 and returns the next frame.
func (c *Client) Call(opcode byte, body []byte) (wire.Header, []byte, error) {
	if err := c.Send(0, opcode, 0, body); err != nil {
		return wire.Header{}, nil, err
	}
	return c.Read()
}

// QueryBody is the body of a QUERY (or, with id, of an EXECUTE) with positional values, at consistency ONE; nil is null.
func QueryBody(version byte, text string, values ...[]byte) []byte {
	return appendParams(wire.AppendLongString(nil, text), version, values)
}

// ExecuteBody is the body of an EXECUTE.
func ExecuteBody(version byte, id []byte, values ...[]byte) []byte {
	b := wire.AppendString(nil, string(id))
	if version >= 5 {
		b = wire.AppendString(b, "metadata-id")
	}
	return appendParams(b, version, values)
}

// PrepareBody is the body of a PREPARE.
func PrepareBody(version byte, text string) []byte {
	b := wire.AppendLongString(nil, text)
	if version >= 5 {
		b = wire.AppendInt(b, 0)
	}
	return b
}

func appendParams(b []byte, version byte, values [][]byte) []byte {
	b = wire.AppendShort(b, 1)
	flags := byte(0)
	if len(values) > 0 {
		flags = byte(wire.ParamValues)
	}
	if version >= 5 {
		b = append(b, 0, 0, 0)
	}
	b = append(b, flags)
	if len(values) > 0 {
		b = wire.AppendShort(b, uint16(len(values)))
		for _, v := range values {
			b = wire.AppendBytes(b, v)
		}
	}
	return b
}
