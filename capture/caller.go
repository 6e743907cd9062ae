package capture

import (
	"hash/maphash"
	"net"
	"sync"

	"github.com/helenus-db/helenus/proxy"
)

// Caller is who says a statement: what its connection said of itself.
type Caller struct {
	Role        string `json:"role,omitempty"`
	Application string `json:"application,omitempty"`
	Driver      string `json:"driver,omitempty"`
	Rest        bool   `json:"rest,omitempty"` // all that were not told apart
}

// maxCallers is how many callers a registry tells apart in its life. A client may call itself anything.
const maxCallers = 1000

// callerNumbers numbers the callers. Number 0 is the rest.
type callerNumbers struct {
	seed maphash.Seed

	mu     sync.RWMutex
	number map[Caller]uint32
	list   []Caller
}

func (b *callerNumbers) init() {
	b.seed = maphash.MakeSeed()
	b.number, b.list = map[Caller]uint32{}, []Caller{{Rest: true}}
}

// markOf is what a client's connections bear: the caller's number below, a hash of the process at its other end above.
func (b *callerNumbers) markOf(c *proxy.Client) uint64 {
	who := Caller{Role: c.Role, Application: c.Application, Driver: c.Driver}
	host, _, err := net.SplitHostPort(c.Address)
	if err != nil {
		host = c.Address
	}
	process := maphash.String(b.seed, host+"\x00"+c.Instance+"\x00"+c.Application) >> 32 << 32
	b.mu.Lock()
	defer b.mu.Unlock()
	n, ok := b.number[who]
	if !ok && len(b.list) <= maxCallers {
		n = uint32(len(b.list)) //nolint:gosec // at most maxCallers
		b.number[who], b.list = n, append(b.list, who)
	}
	return process | uint64(n)
}

// allCallers is the callers by number. More may follow; what there is stays.
func (b *callerNumbers) allCallers() []Caller {
	b.mu.RLock()
	defer b.mu.RUnlock()
	return b.list
}

// callerOf is the number of who said x.
func callerOf(x *proxy.Exchange) uint32 {
	if x.Client == nil {
		return 0
	}
	return uint32(x.Client.Mark) //nolint:gosec // the lower half
}
