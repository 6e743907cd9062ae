package exec

import (
	"context"
	"sync"

	"github.com/gocql/gocql"
)

// In a cluster of several data centres, what is said for a client has to be said where the client says it: LOCAL_QUORUM in another data centre
// acknowledges an entry where the client's reads do not look, and ONE is answered by the replica that is nearest to the coordinator. So the context of
// a request names the data centre of the node that its client is connected to, and Sites has a session for each.

type site struct{}

// In has statements be coordinated in a data centre; "" is any.
func In(ctx context.Context, dataCentre string) context.Context {
	if dataCentre == "" {
		return ctx
	}
	return context.WithValue(ctx, site{}, dataCentre)
}

// DataCentre is the one that In named, "" if none was.
func DataCentre(ctx context.Context) string {
	dc, _ := ctx.Value(site{}).(string)
	return dc
}

// Sites is a Session with a Pool for each data centre that is named, and one for all others.
type Sites struct {
	connect func(dataCentre string) (*gocql.Session, error)

	mu     sync.RWMutex
	pools  map[string]*Pool
	closed bool
}

// NewSites returns a Session that connects to the nodes of a data centre alone, or, for "", to all.
func NewSites(connect func(dataCentre string) (*gocql.Session, error)) *Sites {
	return &Sites{connect: connect, pools: map[string]*Pool{}}
}

// pool is the one for a context.
func (s *Sites) pool(ctx context.Context) *Pool {
	dc := DataCentre(ctx)
	s.mu.RLock()
	p := s.pools[dc]
	s.mu.RUnlock()
	if p != nil {
		return p
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if p = s.pools[dc]; p == nil {
		p = NewPool(func() (*gocql.Session, error) { return s.connect(dc) })
		p.closed = s.closed
		s.pools[dc] = p
	}
	return p
}

// Query implements Session.
func (s *Sites) Query(ctx context.Context, q Query) (Answer, error) { return s.pool(ctx).Query(ctx, q) }

// Scan implements Session.
func (s *Sites) Scan(ctx context.Context, q Query, row func(cells [][]byte) error) error {
	return s.pool(ctx).Scan(ctx, q, row)
}

// Batch implements Batcher.
func (s *Sites) Batch(ctx context.Context, writes []Query) error {
	return s.pool(ctx).Batch(ctx, writes)
}

// Unlogged is Pool.Unlogged.
func (s *Sites) Unlogged(ctx context.Context, writes []Query) error {
	return s.pool(ctx).Unlogged(ctx, writes)
}

// Agree implements Session.
func (s *Sites) Agree(ctx context.Context) error { return s.pool(ctx).Agree(ctx) }

// Close closes all sessions. Later calls answer ErrNoConnection.
func (s *Sites) Close() {
	s.mu.Lock()
	s.closed = true
	pools := s.pools
	s.pools = map[string]*Pool{}
	s.mu.Unlock()
	for _, p := range pools {
		p.Close()
	}
}
