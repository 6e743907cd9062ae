package tcp

import "net"

// Sender writes to a connection. Nobody else may write to it meanwhile.
type Sender struct {
	conn   net.Conn
	direct *direct // nil: by conn.Write
}

// NewSender returns the sender of a connection.
func NewSender(c net.Conn) *Sender {
	s := &Sender{conn: c}
	if t, ok := c.(*net.TCPConn); ok {
		s.direct = newDirect(t)
	}
	return s
}

// Write implements io.Writer, as the connection does: it waits, until the write deadline, while the peer takes nothing.
func (s *Sender) Write(b []byte) (int, error) { return s.conn.Write(b) }

// WriteBusy is Write for a connection on which several requests are in flight: to a TCP connection on Linux it writes
// without telling the scheduler of the system call (send_linux.go). With one request at a time there is nothing to gain,
// and where processors fall asleep between requests, on a machine that does nothing else, an answer took 10 to 30 us longer.
func (s *Sender) WriteBusy(b []byte) (int, error) {
	if s.direct != nil {
		return s.direct.write(b)
	}
	return s.conn.Write(b)
}
