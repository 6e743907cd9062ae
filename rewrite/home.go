package rewrite

import (
	"context"
	"slices"
	"strings"

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
// there are changes in. A keyspace that holds nothing but tables of ours is that of one base, if it is named as we would; whoever gave it another name may mean any.
func (e *Engine) concerns(keyspace, base string) bool {
	prefix, ours := e.options.DataKeyspace, false
	usual := prefix != "" && strings.HasPrefix(keyspace, prefix+"_")
	if s := e.options.Schema().Keyspace(keyspace); s != nil {
		ours = len(s.Tables) > 0 && !slices.ContainsFunc(s.Tables, func(t schema.Table) bool { return !t.Own() })
	}
	meant := func(base string) bool {
		return keyspace == base || ours && (!usual || keyspace == schema.DataKeyspace(prefix, base))
	}
	if base != "" {
		return meant(base)
	}
	return slices.ContainsFunc(e.rules.Load().active, func(a *active) bool { return meant(a.about.Keyspace) })
}
