package handover

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/helenus-db/helenus/internal/guard"
)

// The messages and their bounds.
const (
	magic      = "helenus-handover"
	protocol   = 1
	maxMessage = 64 << 10
	maxSockets = 250 // of one message: the kernel's own bound is 253
	patience   = 5 * time.Second
)

// hello is the next process's first word; taken is its last.
type hello struct {
	Magic    string `json:"magic"`
	Protocol int    `json:"protocol"`
	PID      int    `json:"pid"`
	Taken    bool   `json:"taken,omitempty"`
}

// answer is the running process's word: refused, going, or the sockets.
type answer struct {
	Refused string        `json:"refused,omitempty"`
	Going   bool          `json:"going,omitempty"`
	Within  time.Duration `json:"within,omitempty"` // the sockets come in so long
	Sockets []described   `json:"sockets,omitempty"`
}

type described struct {
	Name    string `json:"name"`
	Address string `json:"address"`
	Note    string `json:"note,omitempty"`
}

// Giver waits for the next process.
type Giver struct {
	listener *net.UnixListener
	within   time.Duration
	log      *slog.Logger
	asked    chan *Request
	ctx      context.Context // until Close
	cancel   context.CancelFunc
	work     sync.WaitGroup
}

// Listen waits in a directory for a process that wants to take over. The directory must be the caller's own (it has the lock
// on what is in it): a socket that lies there is a dead process's. within is how long it takes to stop.
func Listen(dir string, within time.Duration, log *slog.Logger) (*Giver, error) {
	path, err := socketPath(dir)
	if err != nil {
		return nil, err
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("hand-over socket: %w", err)
	}
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err == nil {
		err = os.Chmod(path, 0o600)
	}
	if err != nil {
		if l != nil {
			_ = l.Close()
		}
		return nil, fmt.Errorf("hand-over socket: %w", err)
	}
	g := &Giver{listener: l, within: within, log: log, asked: make(chan *Request)}
	g.ctx, g.cancel = context.WithCancel(context.Background())
	guard.In(&g.work, guard.State, g.serve)
	return g, nil
}

func socketPath(dir string) (string, error) {
	path, err := filepath.Abs(filepath.Join(dir, File))
	if err != nil {
		return "", fmt.Errorf("hand-over socket: %w", err)
	}
	if most := len(syscall.RawSockaddrUnix{}.Path) - 1; len(path) > most {
		return "", fmt.Errorf("hand-over socket: its path %s has %d bytes, a unix socket's has %d at most: choose a shorter state directory",
			path, len(path), most)
	}
	return path, nil
}

// Asked is where a process that wants to take over turns up. Who receives the request must deal with it.
func (g *Giver) Asked() <-chan *Request {
	if g == nil {
		return nil
	}
	return g.asked
}

// Close waits no longer.
func (g *Giver) Close() {
	if g == nil {
		return
	}
	g.cancel()
	_ = g.listener.Close()
	g.work.Wait()
}

func (g *Giver) serve() {
	for {
		c, err := g.listener.AcceptUnix()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			g.log.Warn("nobody can ask at the hand-over socket", "error", err)
			select {
			case <-g.ctx.Done():
			case <-time.After(100 * time.Millisecond): // out of file descriptors, most likely
			}
			continue
		}
		if err := g.meet(c); err != nil {
			g.log.Warn("nothing was handed over", "error", err)
			_ = c.Close()
		}
	}
}

// meet hears one process out. One at a time: there is one set of sockets.
func (g *Giver) meet(c *net.UnixConn) error {
	if err := sameUser(c); err != nil {
		return errors.Join(err, refuse(c, "you are another user"))
	}
	var h hello
	hurry := context.AfterFunc(g.ctx, func() { _ = c.Close() })
	err := read(c, &h, patience)
	if !hurry() && err == nil {
		err = net.ErrClosed
	}
	if err != nil {
		return err
	}
	if h.Magic != magic || h.Protocol != protocol {
		return errors.Join(fmt.Errorf("process %d speaks %q version %d of the hand-over, this one version %d", h.PID, h.Magic, h.Protocol, protocol),
			refuse(c, fmt.Sprintf("it speaks version %d of the hand-over, you speak %d: stop it and start anew", protocol, h.Protocol)))
	}
	wait := time.NewTimer(patience)
	defer wait.Stop()
	select {
	case g.asked <- &Request{PID: h.PID, conn: c, within: g.within}:
		return nil
	case <-g.ctx.Done():
	case <-wait.C:
	}
	return errors.Join(fmt.Errorf("process %d came while this one is stopping", h.PID), refuse(c, "it is stopping already"))
}

func refuse(c *net.UnixConn, why string) error { return write(c, answer{Refused: why}, nil) }

func sameUser(c *net.UnixConn) error {
	raw, err := c.SyscallConn()
	if err != nil {
		return err
	}
	var peer *syscall.Ucred
	var failed error
	if err := raw.Control(func(fd uintptr) {
		peer, failed = syscall.GetsockoptUcred(int(fd), syscall.SOL_SOCKET, syscall.SO_PEERCRED)
	}); err != nil {
		return err
	}
	if failed != nil {
		return failed
	}
	if int(peer.Uid) != os.Geteuid() {
		return fmt.Errorf("process %d of user %d asked for the sockets of user %d", peer.Pid, peer.Uid, os.Geteuid())
	}
	return nil
}

// Request is a process that waits for the sockets.
type Request struct {
	PID    int
	conn   *net.UnixConn
	within time.Duration
}

// Refuse says no, and why.
func (r *Request) Refuse(why string) error { return errors.Join(refuse(r.conn, why), r.conn.Close()) }

// Going says yes: the sockets will come.
func (r *Request) Going() error { return write(r.conn, answer{Going: true, Within: r.within}, nil) }

// Give sends the sockets, and waits until the other process has them. The caller closes its own after.
func (r *Request) Give(list []Kept) error {
	defer func() { _ = r.conn.Close() }()
	if len(list) > maxSockets {
		return fmt.Errorf("%d sockets are more than can be handed over at a time, %d", len(list), maxSockets)
	}
	var a answer
	var fds []int
	for _, k := range list {
		a.Sockets = append(a.Sockets, described{Name: k.Name, Address: k.Address, Note: k.Note})
		fds = append(fds, int(k.file.Fd())) //nolint:gosec // a descriptor
	}
	if err := write(r.conn, a, fds); err != nil {
		return fmt.Errorf("process %d: %w", r.PID, err)
	}
	var h hello
	if err := read(r.conn, &h, patience); err != nil || !h.Taken {
		return fmt.Errorf("process %d did not take the sockets: %w", r.PID, errors.Join(err, errors.New("it went away")))
	}
	return nil
}

// Take asks the process that runs with a directory for its sockets, and waits until it has stopped. Errors: ErrNobody,
// ErrRefused, ErrGone; ctx's.
func Take(ctx context.Context, dir string) ([]Socket, error) {
	path, err := socketPath(dir)
	if err != nil {
		return nil, err
	}
	var d net.Dialer
	raw, err := d.DialContext(ctx, "unix", path)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ECONNREFUSED) {
			return nil, fmt.Errorf("%w (%s)", ErrNobody, path)
		}
		return nil, fmt.Errorf("hand-over socket: %w", err)
	}
	c := raw.(*net.UnixConn) //nolint:forcetypeassert // a unix socket was dialled
	defer func() { _ = c.Close() }()
	defer context.AfterFunc(ctx, func() { _ = c.Close() })()
	list, err := take(c)
	if ctx.Err() != nil {
		for _, one := range list {
			_ = one.Close()
		}
		return nil, ctx.Err()
	}
	return list, err
}

func take(c *net.UnixConn) ([]Socket, error) {
	gone := func(err error) error { return fmt.Errorf("%w: %w", ErrGone, err) }
	if err := sameUser(c); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrRefused, err)
	}
	if err := write(c, hello{Magic: magic, Protocol: protocol, PID: os.Getpid()}, nil); err != nil {
		return nil, gone(err)
	}
	var a answer
	if err := read(c, &a, 2*patience); err != nil {
		return nil, gone(err)
	}
	if a.Refused != "" {
		return nil, fmt.Errorf("%w: %s", ErrRefused, a.Refused)
	}
	list, err := readSockets(c, a.Within+2*patience)
	if err != nil {
		return nil, gone(err)
	}
	// If this is not heard, the other one has ended; the sockets are ours all the same.
	_ = write(c, hello{Magic: magic, Protocol: protocol, PID: os.Getpid(), Taken: true}, nil)
	return list, nil
}

// write sends a message, and descriptors with its first byte.
func write(c *net.UnixConn, v any, fds []int) error {
	body, err := json.Marshal(v)
	if err != nil {
		return err
	}
	b := append(binary.BigEndian.AppendUint32(nil, uint32(len(body))), body...) //nolint:gosec // small
	var rights []byte
	if len(fds) > 0 {
		rights = syscall.UnixRights(fds...)
	}
	if err := c.SetWriteDeadline(time.Now().Add(patience)); err != nil {
		return err
	}
	n, _, err := c.WriteMsgUnix(b, rights, nil)
	for err == nil && n < len(b) {
		var more int
		more, err = c.Write(b[n:])
		n += more
	}
	return err
}

func read(c *net.UnixConn, v any, within time.Duration) error {
	if err := c.SetReadDeadline(time.Now().Add(within)); err != nil {
		return err
	}
	return decode(c, v)
}

func decode(r io.Reader, v any) error {
	var length [4]byte
	if _, err := io.ReadFull(r, length[:]); err != nil {
		return err
	}
	n := binary.BigEndian.Uint32(length[:])
	if n > maxMessage {
		return fmt.Errorf("a message of %d bytes: that is no hand-over", n)
	}
	body := make([]byte, n)
	if _, err := io.ReadFull(r, body); err != nil {
		return err
	}
	return json.Unmarshal(body, v)
}

// readSockets receives the message that the descriptors come with.
func readSockets(c *net.UnixConn, within time.Duration) ([]Socket, error) {
	if err := c.SetReadDeadline(time.Now().Add(within)); err != nil {
		return nil, err
	}
	in := &receiver{c: c}
	var a answer
	err := decode(in, &a)
	defer func() {
		for _, f := range in.files {
			_ = f.Close() // the listeners have copies
		}
	}()
	if err != nil {
		return nil, err
	}
	if len(in.files) != len(a.Sockets) {
		return nil, fmt.Errorf("%d sockets came, %d were announced", len(in.files), len(a.Sockets))
	}
	var list []Socket
	for i, s := range a.Sockets {
		l, err := net.FileListener(in.files[i])
		if err != nil {
			for _, one := range list {
				_ = one.Close()
			}
			return nil, fmt.Errorf("socket %s (%s): %w", s.Name, s.Address, err)
		}
		list = append(list, Socket{Name: s.Name, Address: s.Address, Note: s.Note, Listener: l})
	}
	return list, nil
}

// receiver reads a stream and keeps the descriptors that come with it.
type receiver struct {
	c     *net.UnixConn
	files []*os.File
}

// Read implements io.Reader.
func (r *receiver) Read(b []byte) (int, error) {
	room := make([]byte, syscall.CmsgSpace(4*maxSockets))
	n, more, _, _, err := r.c.ReadMsgUnix(b, room)
	messages, bad := syscall.ParseSocketControlMessage(room[:more])
	for i := range messages {
		fds, e := syscall.ParseUnixRights(&messages[i])
		bad = errors.Join(bad, e)
		for _, fd := range fds {
			syscall.CloseOnExec(fd)
			r.files = append(r.files, os.NewFile(uintptr(fd), "handed-over")) //nolint:gosec // a descriptor
		}
	}
	if n == 0 && err == nil && bad == nil && len(b) > 0 {
		return 0, io.ErrUnexpectedEOF
	}
	return n, errors.Join(err, bad)
}
