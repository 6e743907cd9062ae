package rewrite

import (
	"context"
	"slices"

	"github.com/helenus-db/helenus/capture/schema"
	"github.com/helenus-db/helenus/proxy"
	"github.com/helenus-db/helenus/rewrite/exec"
)

// near has statements for a client be coordinated in the data centre of its node.
func (e *Engine) near(ctx context.Context, c *proxy.Client) context.Context {
	if e.options.DataCentre == nil || c == nil {
		return ctx
	}
	return exec.In(ctx, e.options.DataCentre(c.Node))
}

// concerns tells whether tables of another helenus in a keyspace would be kept from what a change in keyspace base is kept from; base "" is any that
// there are changes in. Whoever made them named his keyspaces as he liked, so all that hold nothing but tables of ours are meant, too.
func (e *Engine) concerns(keyspace, base string) bool {
	if s := e.options.Schema().Keyspace(keyspace); s != nil && len(s.Tables) > 0 && !slices.ContainsFunc(s.Tables, func(t schema.Table) bool { return !t.Own() }) {
		return base != "" || len(e.rules.Load().active) > 0
	}
	if base != "" {
		return keyspace == base
	}
	return slices.ContainsFunc(e.rules.Load().active, func(a *active) bool { return a.about.Keyspace == keyspace })
}
