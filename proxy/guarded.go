package proxy

import (
	"github.com/helenus-db/helenus/internal/guard"
)

// What the proxy asks of the rest of Helenus on its way is asked through this file: a panic there ends what was asked, never the relay. A Recorder that
// panicked has not counted something. A Rewriter that panicked may have missed a write, so Options.OnPanic is told before the request goes on
// as it was written.

type guardedRecorder struct{ Recorder }

// unheard is the Record of what the Recorder could not take.
type unheard struct{}

func (unheard) Prepared(*Prepared) {}
func (unheard) Done([]Exchange)    {}

func (g guardedRecorder) Statement(keyspace, text string) (r Record) {
	r = unheard{} //nolint:wastedassign // the answer if it panics
	defer guard.Recover(guard.Recorder, nil)
	return g.Recorder.Statement(keyspace, text)
}

func (g guardedRecorder) Batch(kind byte, children []Record) (r Record) {
	r = unheard{} //nolint:wastedassign // the answer if it panics
	defer guard.Recover(guard.Recorder, nil)
	return g.Recorder.Batch(kind, children)
}

func (g guardedRecorder) Unknown() (r Record) {
	r = unheard{} //nolint:wastedassign // the answer if it panics
	defer guard.Recover(guard.Recorder, nil)
	return g.Recorder.Unknown()
}

func (g guardedRecorder) Mark(c *Client) uint64 {
	defer guard.Recover(guard.Recorder, nil)
	return g.Recorder.Mark(c)
}

func (g guardedRecorder) Sampling(c *Client) bool {
	defer guard.Recover(guard.Recorder, nil)
	return g.Recorder.Sampling(c)
}

// recorded tells a Record that exchanges are over.
func recorded(r Record, xs []Exchange) {
	defer guard.Recover(guard.Recorder, nil)
	r.Done(xs)
}

// learned tells a Record of a PREPARE.
func learned(r Record, p *Prepared) {
	defer guard.Recover(guard.Recorder, nil)
	r.Prepared(p)
}

type guardedRewriter struct {
	Rewriter
	panicked func(error)
}

func (g guardedRewriter) Rule(keyspace, text string) Rule {
	defer guard.Recover(guard.Rewriter, g.panicked)
	return g.Rewriter.Rule(keyspace, text)
}

func (g guardedRewriter) Unsure(text string) Rule {
	defer guard.Recover(guard.Rewriter, g.panicked)
	return g.Rewriter.Unsure(text)
}

func (g guardedRewriter) Take(r *Request) bool {
	defer guard.Recover(guard.Rewriter, g.panicked)
	return g.Rewriter.Take(r)
}

func (g guardedRewriter) Opaque(c *Client) (ended func()) {
	ended = func() {} //nolint:wastedassign // the answer if it panics
	defer guard.Recover(guard.Rewriter, g.panicked)
	inner := g.Rewriter.Opaque(c)
	return func() {
		defer guard.Recover(guard.Rewriter, g.panicked)
		inner()
	}
}

// finish calls the Done of a request that the Rewriter took.
func (s *Server) finish(done func(Response), r Response) {
	defer guard.Recover(guard.Rewriter, s.options.OnPanic)
	done(r)
}

// guardHooks puts the hooks behind their guards.
func (o *Options) guardHooks() {
	if o.OnPanic == nil {
		o.OnPanic = func(error) {}
	}
	if o.Recorder != nil {
		o.Recorder = guardedRecorder{o.Recorder}
	}
	if o.Rewriter != nil {
		o.Rewriter = guardedRewriter{o.Rewriter, o.OnPanic}
	}
	if hear := o.OnEvent; hear != nil {
		o.OnEvent = func(e Event) {
			defer guard.Recover(guard.Schema, nil)
			hear(e)
		}
	}
}
