package capture

import (
	"time"

	"github.com/helenus-db/helenus/capture/slow"
	"github.com/helenus-db/helenus/proxy"
)

// Traced is a request that is part of a trace which an application keeps.
type Traced struct {
	slow.Request // what may be said of it: of values nothing

	Trace proxy.Trace
	Start time.Time // when it was read; it ended Latency later
}

func (r *record) traced(x *proxy.Exchange) Traced {
	return Traced{Request: r.slowRequest(x), Trace: *x.Trace, Start: r.registry.started.Add(time.Duration(x.Start))}
}
