//go:build linux

package handover

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// asActivated makes the test binary a program that a service manager starts.
const asActivated = "HELENUS_TEST_ACTIVATED"

func TestMain(m *testing.M) {
	if os.Getenv(asActivated) != "" {
		list, err := Activated()
		if err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		for _, one := range list {
			fmt.Println(one.Name, one.Addr(), os.Getenv("LISTEN_FDS"))
		}
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

func listen(t *testing.T) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l
}

func give(t *testing.T, dir string) *Giver {
	t.Helper()
	g, err := Listen(dir, time.Second, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(g.Close)
	return g
}

type taken struct {
	list []Socket
	err  error
}

func ask(t *testing.T, dir string) <-chan taken {
	t.Helper()
	got := make(chan taken, 1)
	go func() {
		list, err := Take(t.Context(), dir)
		got <- taken{list, err}
	}()
	return got
}

// TestConnectionsWaitMeanwhile: between the old process's last accept and the new one's first, clients connect and are queued.
func TestConnectionsWaitMeanwhile(t *testing.T) {
	dir := t.TempDir()
	g, l := give(t, dir), listen(t)
	got := ask(t, dir)
	r := <-g.Asked()
	if r.PID != os.Getpid() {
		t.Errorf("process %d asks", r.PID)
	}
	k, err := Keep(l, "cql", l.Addr().String(), "127.0.0.2:9042")
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Going(); err != nil {
		t.Fatal(err)
	}
	_ = l.Close()
	client, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatalf("refused meanwhile: %v", err)
	}
	defer func() { _ = client.Close() }()
	g.Close()
	if err := r.Give([]Kept{k}); err != nil {
		t.Fatal(err)
	}
	_ = k.Close()
	now := <-got
	if now.err != nil || len(now.list) != 1 {
		t.Fatalf("took %+v", now)
	}
	s := now.list[0]
	defer func() { _ = s.Close() }()
	if s.Name != "cql" || s.Note != "127.0.0.2:9042" || s.Address != l.Addr().String() || s.Addr().String() != s.Address {
		t.Errorf("took %+v", s)
	}
	c, err := s.Accept()
	if err != nil {
		t.Fatal(err)
	}
	_ = c.Close()
	if _, err := os.Stat(filepath.Join(dir, File)); !os.IsNotExist(err) {
		t.Errorf("the old socket is still there: %v", err)
	}
}

func TestNobodyRefusedGone(t *testing.T) {
	dir := t.TempDir()
	if _, err := Take(t.Context(), dir); !errors.Is(err, ErrNobody) {
		t.Errorf("with nobody there: %v", err)
	}
	dead, err := net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Join(dir, File), Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	dead.SetUnlinkOnClose(false)
	_ = dead.Close()
	if _, err := Take(t.Context(), dir); !errors.Is(err, ErrNobody) {
		t.Errorf("with a dead process's socket: %v", err)
	}
	g := give(t, dir)
	got := ask(t, dir)
	if err := (<-g.Asked()).Refuse("not today"); err != nil {
		t.Error(err)
	}
	if x := <-got; !errors.Is(x.err, ErrRefused) || !strings.Contains(x.err.Error(), "not today") {
		t.Errorf("refused: %v", x.err)
	}
	got = ask(t, dir)
	r := <-g.Asked()
	if err := r.Going(); err != nil {
		t.Fatal(err)
	}
	_ = r.conn.Close() // it dies
	if x := <-got; !errors.Is(x.err, ErrGone) {
		t.Errorf("gone: %v", x.err)
	}
	got = ask(t, dir) // asks while the process is stopping: nobody receives, and Close does not wait for it
	time.Sleep(50 * time.Millisecond)
	g.Close()
	if x := <-got; !errors.Is(x.err, ErrRefused) && !errors.Is(x.err, ErrGone) && !errors.Is(x.err, ErrNobody) {
		t.Errorf("while stopping: %v", x.err)
	}
}

// TestTheNextOneGoesAway: who gives learns that nobody took.
func TestTheNextOneGoesAway(t *testing.T) {
	dir := t.TempDir()
	g, l := give(t, dir), listen(t)
	c, err := net.Dial("unix", filepath.Join(dir, File))
	if err != nil {
		t.Fatal(err)
	}
	if err := write(c.(*net.UnixConn), hello{Magic: magic, Protocol: protocol, PID: 7}, nil); err != nil {
		t.Fatal(err)
	}
	r := <-g.Asked()
	_ = c.Close()
	k, err := Keep(l, "cql", "", "")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = k.Close() }()
	if err := r.Give([]Kept{k}); err == nil || !strings.Contains(err.Error(), "process 7") {
		t.Errorf("given to nobody: %v", err)
	}
}

// TestStrangers: what is no hand-over, or another version of it, is refused and does no harm.
func TestStrangers(t *testing.T) {
	dir := t.TempDir()
	g := give(t, dir)
	say := func(b []byte) string {
		c, err := net.Dial("unix", filepath.Join(dir, File))
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = c.Close() }()
		_, _ = c.Write(b)
		_ = c.(*net.UnixConn).CloseWrite()
		all, _ := io.ReadAll(c)
		return string(all)
	}
	message := func(text string) []byte {
		return append(binary.BigEndian.AppendUint32(nil, uint32(len(text))), text...)
	}
	say([]byte("GET / HTTP/1.0\r\n\r\n"))
	say(nil)
	say(message("{"))
	if got := say(message(`{"magic":"helenus-handover","protocol":99,"pid":1}`)); !strings.Contains(got, "version 1") {
		t.Errorf("another version is answered %q", got)
	}
	select {
	case r := <-g.Asked():
		t.Errorf("a stranger came through: %+v", r)
	default:
	}
	mode, err := os.Stat(filepath.Join(dir, File))
	if err != nil || mode.Mode().Perm() != 0o600 {
		t.Errorf("the socket's mode is %v %v", mode.Mode(), err)
	}
}

func TestLongPath(t *testing.T) {
	dir := filepath.Join(t.TempDir(), strings.Repeat("x", 100))
	if _, err := Listen(dir, time.Second, slog.New(slog.DiscardHandler)); err == nil || !strings.Contains(err.Error(), "shorter state directory") {
		t.Errorf("the error is %v", err)
	}
}

func TestTakeEndsWithItsContext(t *testing.T) {
	dir := t.TempDir()
	g := give(t, dir)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { _, err := Take(ctx, dir); ended <- err }()
	r := <-g.Asked()
	if err := r.Going(); err != nil {
		t.Fatal(err)
	}
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	_ = r.conn.Close()
}

// TestActivated starts a process as systemd does: its sockets are 3 and 4, and it is told its own process id.
func TestActivated(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	a, b := listen(t), listen(t)
	var files []*os.File
	for _, l := range []net.Listener{a, b} {
		f, err := l.(*net.TCPListener).File()
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = f.Close() }()
		files = append(files, f)
	}
	for _, c := range []struct{ pid, want string }{
		{"$$", fmt.Sprintf("cql %v \nadmin %v \n", a.Addr(), b.Addr())},
		{"1", ""}, // meant for another process
	} {
		cmd := exec.Command("sh", "-c", "LISTEN_PID="+c.pid+" exec "+self) //nolint:gosec // ourselves
		cmd.Env = append(os.Environ(), asActivated+"=1", "LISTEN_FDS=2", "LISTEN_FDNAMES=cql:admin")
		cmd.ExtraFiles = files
		out, err := cmd.CombinedOutput()
		if err != nil || (c.want != "" && string(out) != c.want) || (c.want == "" && len(out) > 0) {
			t.Errorf("LISTEN_PID=%s: it has %q (%v), want %q", c.pid, out, err, c.want)
		}
	}
}

// TestFilesThatAreNoSockets: one that can not be listened on is told of by its name, and the others are closed.
func TestFilesThatAreNoSockets(t *testing.T) {
	l := listen(t)
	socket, err := l.(*net.TCPListener).File()
	if err != nil {
		t.Fatal(err)
	}
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	_ = l.Close() // only the copy listens
	address := l.Addr().String()
	if list, err := fromFiles([]*os.File{socket, null}); err == nil || list != nil || !strings.Contains(err.Error(), os.DevNull) {
		t.Errorf("%v are taken, the error is %v", list, err)
	}
	if again, err := net.Listen("tcp", address); err != nil {
		t.Errorf("a socket was left open: %v", err)
	} else {
		_ = again.Close()
	}
}

// TestWhichSocket: an address beats a name, names are taken in order, and what is not there is opened.
func TestWhichSocket(t *testing.T) {
	first, second, other := listen(t), listen(t), listen(t)
	s := NewSockets([]Socket{{Name: "cql", Listener: first}, {Name: "cql", Listener: second}, {Name: "x", Listener: other}})
	for _, c := range []struct {
		name, address string
		want          net.Listener
	}{
		{"cql", other.Addr().String(), other},
		{"cql", "127.0.0.1:1", first},
		{"cql", "127.0.0.1:2", second},
		{"cql", "127.0.0.1:0", nil},
	} {
		l, err := s.Open(t.Context(), c.name, c.address)
		if err != nil {
			t.Fatal(err)
		}
		switch {
		case c.want == nil:
			_ = l.Close()
		case l != c.want:
			t.Errorf("%s %s is %v, want %v", c.name, c.address, l.Addr(), c.want.Addr())
		}
	}
	if rest := s.Rest(); len(rest) != 0 {
		t.Errorf("%v are left", rest)
	}
	unused := NewSockets([]Socket{{Name: "cql", Listener: listen(t)}})
	if rest := unused.Rest(); len(rest) != 1 {
		t.Errorf("%v are left, want one", rest)
	}
	var none *Sockets
	l, err := none.Open(t.Context(), "cql", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = l.Close()
}

func FuzzMessage(f *testing.F) {
	f.Add([]byte("\x00\x00\x00\x02{}"))
	f.Add([]byte("\xff\xff\xff\xff"))
	f.Add([]byte("\x00\x00\x00\x0f{\"refused\":\"no\"}"))
	f.Fuzz(func(t *testing.T, b []byte) {
		var a answer
		if err := decode(bytes.NewReader(b), &a); err == nil && len(b) < 4 {
			t.Error("a message without its length was read")
		}
	})
}
