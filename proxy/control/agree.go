package control

import (
	"context"
	"net"
	"time"

	"github.com/helenus-db/helenus/proxy/certs"
)

// askAgain is how long to wait before nodes that did not agree are asked again.
const askAgain = 200 * time.Millisecond

// Agree waits until the node at point (host:port) and all nodes that it lists have one version of the schema. A node that accepts
// no connection is not waited for. It asks over a connection of its own; of o it takes the credentials, DialTimeout and
// TLS. Error: ctx is over, or the node can not be asked.
func Agree(ctx context.Context, o Options, point string) error {
	d := certs.Dialer{TLS: o.TLS, Timeout: o.DialTimeout}
	conn, err := d.Dial(ctx, point)
	if err != nil {
		return err
	}
	defer conn.Close()
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	defer stop()
	c := &session{conn: conn}
	if err := c.handshake(o); err != nil {
		return err
	}
	for {
		local, others, err := c.nodes()
		if err != nil {
			return err
		}
		if agreed(ctx, local, others, o.DialTimeout) {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(askAgain):
		}
	}
}

// agreed tells whether no node that can be reached has another schema than the first.
func agreed(ctx context.Context, local, others []Node, timeout time.Duration) bool {
	d := net.Dialer{Timeout: timeout}
	for _, n := range others {
		if len(local) == 0 || n.Schema == "" || n.Schema == local[0].Schema {
			continue
		}
		if conn, err := d.DialContext(ctx, "tcp", n.Target()); err == nil {
			_ = conn.Close() // nothing was said
			return false
		}
	}
	return true
}
