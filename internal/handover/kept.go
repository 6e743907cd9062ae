package handover

import (
	"fmt"
	"net"
	"os"
)

// File is the name of the socket in the state directory.
const File = "handover.sock"

// Kept is a copy of a listening socket, which goes on queueing connections after the listener it was made from has closed.
type Kept struct {
	Name, Address, Note string // as in Socket
	file                *os.File
}

// Keep copies a listener's socket.
func Keep(l net.Listener, name, address, note string) (Kept, error) {
	t, ok := l.(interface{ File() (*os.File, error) })
	if !ok {
		return Kept{}, fmt.Errorf("listener %s (%s) has no socket that could be handed over", name, l.Addr())
	}
	f, err := t.File()
	if err != nil {
		return Kept{}, fmt.Errorf("listener %s (%s) can not be handed over: %w", name, l.Addr(), err)
	}
	return Kept{Name: name, Address: address, Note: note, file: f}, nil
}

// Close closes the copy.
func (k Kept) Close() error { return k.file.Close() }
