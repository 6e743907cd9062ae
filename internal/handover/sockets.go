package handover

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"sync"

	"github.com/coreos/go-systemd/v22/activation"
)

// Socket is a listening socket that came from elsewhere.
type Socket struct {
	Name    string // what it is for, as its owner calls it; "" if nobody said
	Address string // what its owner listens on, as it was configured; "" if nobody said
	Note    string // what else its owner says of it, in its own words
	net.Listener
}

// Sockets are those that are not in use yet. The nil *Sockets has none.
type Sockets struct {
	mu   sync.Mutex
	list []Socket
}

// NewSockets returns a collection.
func NewSockets(list []Socket) *Sockets { return &Sockets{list: list} }

// Open returns the socket for an address: one that listens there, or else the first of that name, or else a new one.
func (s *Sockets) Open(ctx context.Context, name, address string) (net.Listener, error) {
	if s != nil {
		if l := s.claim(name, address); l != nil {
			return l, nil
		}
	}
	var config net.ListenConfig
	return config.Listen(ctx, "tcp", address)
}

func (s *Sockets) claim(name, address string) net.Listener {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, fits := range []func(Socket) bool{
		func(one Socket) bool { return one.Address == address || listensAt(one, address) },
		func(one Socket) bool { return one.Name == name },
	} {
		for i, one := range s.list {
			if fits(one) {
				s.list = append(s.list[:i:i], s.list[i+1:]...)
				return one.Listener
			}
		}
	}
	return nil
}

// listensAt tells whether a socket's own address is the given one; "" and "0.0.0.0" and "::" are all addresses.
func listensAt(one Socket, address string) bool {
	at, ok := one.Addr().(*net.TCPAddr)
	host, port, err := net.SplitHostPort(address)
	if !ok || err != nil || port == "0" || port != strconv.Itoa(at.Port) {
		return false
	}
	if ip := net.ParseIP(host); ip != nil {
		return ip.Equal(at.IP) || ip.IsUnspecified() && at.IP.IsUnspecified()
	}
	return host == "" && at.IP.IsUnspecified() || host == "localhost" && at.IP.IsLoopback()
}

// Rest closes what nobody claimed and returns the addresses: somebody opened them in vain.
func (s *Sockets) Rest() (addresses []string) {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, one := range s.list {
		addresses = append(addresses, one.Addr().String())
		_ = one.Close()
	}
	s.list = nil
	return addresses
}

// Activated returns the sockets that the service manager passed to this process, with their names, and takes the variables
// that say so out of the environment: they are not meant for children. None is no error.
func Activated() ([]Socket, error) { return fromFiles(activation.Files(true)) }

func fromFiles(files []*os.File) (list []Socket, err error) {
	for i, f := range files {
		l, failed := net.FileListener(f)
		if failed = errors.Join(failed, f.Close()); failed != nil { // the listener has a copy
			err = errors.Join(err, fmt.Errorf("socket %d of %d from the service manager (%q) can not be listened on: %w", i+1, len(files), f.Name(), failed))
			continue
		}
		list = append(list, Socket{Name: f.Name(), Listener: l})
	}
	if err != nil {
		for _, one := range list {
			_ = one.Close()
		}
		return nil, err
	}
	return list, nil
}
