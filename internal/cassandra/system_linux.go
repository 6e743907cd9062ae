package cassandra

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// reservation holds one port for a server that is not there yet, or not any more.
type reservation struct{ fd int }

// reserve reserves a port, or a free one when addr's port is 0, and returns it with the address that it got. The
// socket is bound exclusively, which fails when anybody else uses the port, and shared afterwards; see the package
// comment.
func reserve(addr netip.AddrPort) (*reservation, netip.AddrPort, error) {
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, addr, fmt.Errorf("opening a socket: %w", err)
	}
	r := &reservation{fd: fd}
	if err := syscall.Bind(fd, &syscall.SockaddrInet4{Port: int(addr.Port()), Addr: addr.Addr().As4()}); err != nil {
		r.release()
		return nil, addr, fmt.Errorf("binding %s: %w", addr, err)
	}
	if err := syscall.SetsockoptInt(fd, syscall.SOL_SOCKET, syscall.SO_REUSEADDR, 1); err != nil {
		r.release()
		return nil, addr, fmt.Errorf("sharing %s: %w", addr, err)
	}
	name, err := syscall.Getsockname(fd)
	if err != nil {
		r.release()
		return nil, addr, fmt.Errorf("reading the address of a socket: %w", err)
	}
	bound, ok := name.(*syscall.SockaddrInet4)
	if !ok {
		r.release()
		return nil, addr, fmt.Errorf("a socket bound to %s has the address %v", addr, name)
	}
	return r, netip.AddrPortFrom(addr.Addr(), uint16(bound.Port)), nil
}

func (r *reservation) release() { _ = syscall.Close(r.fd) }

// lockFile takes an exclusive lock that ends with the process at the latest, waiting for another holder until the
// context ends. It returns the function that gives it back.
func lockFile(ctx context.Context, path string) (func(), error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	for {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return func() { _ = f.Close() }, nil
		}
		if !errors.Is(err, syscall.EWOULDBLOCK) && !errors.Is(err, syscall.EINTR) {
			_ = f.Close()
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		select {
		case <-ctx.Done():
			_ = f.Close()
			return nil, fmt.Errorf("%s is held by another process: %w", path, ctx.Err())
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// memoryKills is how many processes the kernel has killed for want of memory since it was started; 0 where it does not say.
func memoryKills() int64 {
	text, err := os.ReadFile("/proc/vmstat")
	if err != nil {
		return 0
	}
	_, after, _ := strings.Cut(string(text), "\noom_kill ")
	number, _, _ := strings.Cut(after, "\n")
	n, err := strconv.ParseInt(number, 10, 64)
	if err != nil {
		return 0
	}
	return n
}
