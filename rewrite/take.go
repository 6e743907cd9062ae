package rewrite

import (
	"bytes"
	"context"
	"errors"
	"sync"
	"time"

	"github.com/gocql/gocql"

	"github.com/helenus-db/helenus/internal/guard"
	"github.com/helenus-db/helenus/proxy"
	"github.com/helenus-db/helenus/rewrite/exec"
	"github.com/helenus-db/helenus/rewrite/kind"
)

// Flags of a frame header.
const (
	flagTracing = 0x02
	flagPayload = 0x04
)

// Take implements proxy.Rewriter.
func (e *Engine) Take(r *proxy.Request) bool {
	touches := touched(r)
	if len(touches) == 0 {
		return e.take(r)
	}
	e.watch(r, touches)
	if e.options.Members == nil {
		e.takeOrForward(r)
		return true
	}
	e.wait.Add(1)
	guard.Go(guard.Writes, func() {
		defer e.wait.Done()
		e.warnOfTouches(touches)
		e.takeOrForward(r)
	}, func(error) { r.Forward(proxy.Forward{}) })
	return true
}

// takeOrForward takes a request, or sends it on as it came.
func (e *Engine) takeOrForward(r *proxy.Request) {
	if !e.take(r) {
		r.Forward(proxy.Forward{})
	}
}

func (e *Engine) take(r *proxy.Request) bool {
	switch r.Opcode {
	case proxy.OpExecute, proxy.OpQuery:
		own, ok := r.Rule.(*rule)
		if !ok {
			return false
		}
		if own.read != nil {
			return e.takeRead(r, own.read)
		}
		return e.takeWrite(r)
	case proxy.OpBatch:
		return e.takeWrite(r)
	}
	return false
}

func serial(consistency uint16) bool {
	return consistency == uint16(gocql.Serial) || consistency == uint16(gocql.LocalSerial)
}

// plain tells whether a read is one that a change may answer at all, and if not why.
func plain(r *proxy.Request, read kind.Read) (why unserved, ok bool) {
	spoken, ok := read.(kind.Spoken)
	if r.Opcode == proxy.OpQuery {
		if !ok || spoken.Described() == "" || r.SkipMetadata || !spoken.Takes(kind.Values{Values: r.Values}) {
			return becauseText, false
		}
	} else if r.Prepared == nil || r.Prepared.ResultMetadata == nil {
		return becauseUnprepared, false
	}
	switch {
	case ok && !spoken.Takes(kind.Values{Values: r.Values}), !ok && r.Prepared.Variables != nil && !named(r.Values) && len(r.Values) != len(r.Prepared.Variables):
		return becauseOptions, false
	case r.PagingState != nil:
		return becausePages, false
	case serial(r.Consistency):
		return becauseConsistency, false
	case r.Unusual || r.Flags&(flagTracing|flagPayload) != 0:
		return becauseOptions, false
	}
	return 0, true
}

func named(values []proxy.Value) bool { return len(values) > 0 && values[0].Name != "" }

// answerer returns how a read is answered to a client; nil if it is not, as nothing asks Cassandra what the client's role may. (To compare tells the
// client nothing.)
func (e *Engine) answerer(r *proxy.Request, read kind.Read) func(context.Context, kind.Request) (proxy.Rows, error) {
	if r.Client == nil || !r.Client.User {
		return read.Answer
	}
	rightful, ok := read.(kind.Rightful)
	client, asks := exec.OnClient(r, e.options.Permissions)
	if !ok || !asks {
		return nil
	}
	return func(ctx context.Context, q kind.Request) (proxy.Rows, error) {
		return rightful.AnswerFor(ctx, q, client)
	}
}

// takeRead answers a read, or compares it.
func (e *Engine) takeRead(r *proxy.Request, rule *readRule) bool {
	a := rule.active
	if why, ok := plain(r, rule.read); !ok {
		return a.counts.unserved(why)
	}
	answer := e.answerer(r, rule.read)
	often, control := a.serving(), false
	if often {
		n := a.turn.Add(1)
		control = n%e.options.Every == 0
		if !control && a.gain.Tries(n) && answer != nil {
			a.counts.unserved(becauseControl)
			e.asWritten(r, a.gain.Control)
			return true
		}
		often = !control
	}
	switch {
	case often && answer == nil:
		return a.counts.unserved(becauseRole)
	case often:
		select {
		case e.reads <- struct{}{}:
		default:
			return a.counts.unserved(becauseBusy)
		}
		e.wait.Add(1)
		began := e.options.Uptime()
		guard.GoDeep(guard.Reads, func() {
			defer func() { <-e.reads; e.wait.Done() }()
			e.serve(r, rule, answer, began)
		}, func(error) {
			a.counts.unserved(becauseFailed)
			r.Forward(proxy.Forward{}) // nothing happens if it was answered
		})
		return true
	case control:
		a.counts.unserved(becauseControl)
	default:
		a.counts.unserved(becauseState)
	}
	return a.shadow.Load() && e.compare(r, rule, control && answer != nil)
}

func request(r *proxy.Request) kind.Request {
	q := kind.Request{Values: kind.Values{Values: r.Values}, Consistency: gocql.Consistency(r.Consistency), PageSize: int(r.PageSize)}
	if r.Prepared == nil {
		return q
	}
	if r.Opcode == proxy.OpExecute {
		q.Values.Variables = r.Prepared.Variables
	}
	q.Columns = r.Prepared.Results
	return q
}

// errTouched says that a change was turned back while it was read, so that what was read may not be true.
var errTouched = errors.New("reads were turned back meanwhile")

// undisturbed answers a read by a change, unless its reads are, or were meanwhile, turned back.
func (e *Engine) undisturbed(ctx context.Context, r *proxy.Request, rule *readRule, answer func(context.Context, kind.Request) (proxy.Rows, error)) (proxy.Rows, error) {
	a := rule.active
	before := a.touched.Load()
	if !a.serving() {
		return nil, errTouched
	}
	if r.Opcode == proxy.OpQuery {
		if err := rule.describe(ctx, r); err != nil {
			return nil, err
		}
	}
	rows, err := answer(ctx, request(r))
	if r.Opcode == proxy.OpQuery && errors.Is(err, kind.ErrColumns) {
		rule.outdated(r)
	}
	if err == nil && (a.touched.Load() != before || !a.serving()) {
		return nil, errTouched
	}
	return rows, err
}

// serve answers a read by its change, or sends it on as it was written.
func (e *Engine) serve(r *proxy.Request, rule *readRule, answer func(context.Context, kind.Request) (proxy.Rows, error), began time.Duration) {
	ctx, cancel := context.WithTimeout(e.near(e.life, r.Client), e.options.ReadTimeout)
	defer cancel()
	a := rule.active
	rows, err := e.undisturbed(ctx, r, rule, answer)
	if err == nil {
		a.counts.served.Add(1)
		a.errors.add(false)
		r.Answer(rows)
		a.gain.Read(e.options.Uptime() - began)
		return
	}
	why := becauseFailed
	var onClient *exec.ClientError
	switch {
	case errors.As(err, &onClient) && onClient.Code() != 0 && !exec.Down(err):
		why = becauseRole // Cassandra refuses it to the client, and tells the client itself
	case errors.Is(err, kind.ErrUnsuited):
		why = becauseUnsuited
	case errors.Is(err, errTouched):
		why = becauseTouched
	}
	a.counts.unserved(why)
	tried := e.options.Uptime() - began
	count := func(d time.Duration) { a.gain.Read(tried + d) }
	if why != becauseFailed || onClient != nil { // what fails on one client's connection may be the client's
		e.asWritten(r, count)
		return
	}
	e.log.Debug("a read ran as it was written", "change_id", a.id, "err", err)
	// That nothing could be reached says nothing of the plan: the original can not be answered either.
	if errors.Is(err, exec.ErrNoConnection) || errors.Is(err, gocql.ErrNoConnections) {
		e.asWritten(r, count)
		return
	}
	e.asWrittenUntil(r, count, func(answer proxy.Response) {
		if !refusedAsWritten(answer) && a.errors.add(true) {
			guard.In(&e.wait, guard.Migrations, func() { // which may wait for the state
				e.suspend(a, "more than half of the last reads failed on the "+e.noun(a)+", the latest with: "+err.Error())
			})
		}
	})
}

// refusedAsWritten tells whether a read gets no answer as it was written either, and not because that takes too much: it asks for what Cassandra refuses (a
// consistency of writes, a value that is none), or for more replicas than are up. That it failed here, too, says nothing of the change.
func refusedAsWritten(original proxy.Response) bool {
	return original.Lost || original.Failed && !unanswerable[original.ErrorCode]
}

// unanswerable are the error codes by which Cassandra says that it could not answer a read in time, or not at all.
var unanswerable = map[int32]bool{gocql.ErrCodeReadTimeout: true, gocql.ErrCodeReadFailure: true}

// maxCompared is the largest answer that is compared, in bytes.
const maxCompared = 1 << 20

// compare sends a read on as it was written, and afterwards compares the answer with the change's. A control is a read as
// written while others are served.
func (e *Engine) compare(r *proxy.Request, rule *readRule, control bool) bool {
	select {
	case e.pairs <- struct{}{}:
	default:
		if control {
			e.asWritten(r, rule.active.gain.Control)
		}
		return control
	}
	began, ctx := e.options.Uptime(), e.near(e.life, r.Client)
	q := request(r)
	q.PageSize = 0 // the answer is looked at only if it is whole
	q.Values.Values = keep(r.Values)
	e.wait.Add(1)
	release := func() { <-e.pairs; e.wait.Done() }
	r.Forward(proxy.Forward{Done: func(answer proxy.Response) {
		if !answer.Lost && answer.Failed && unanswerable[answer.ErrorCode] {
			guard.Go(guard.Comparisons, func() { e.manager.Unanswered(rule.active.id, rule.read, q) }, nil) // which may wait for the state
		}
		if control && !answer.Lost && !answer.Failed {
			rule.active.gain.Control(e.options.Uptime() - began)
		}
		if answer.Lost || answer.Failed || answer.Truncated || answer.Opcode != proxy.OpResult || len(answer.Body) > maxCompared {
			release()
			return
		}
		body := bytes.Clone(answer.Body)
		guard.Go(guard.Comparisons, func() {
			defer release()
			original, err := exec.ParseRows(body)
			if err != nil {
				return
			}
			if original == nil {
				original = proxy.Rows{}
			}
			err = e.manager.Compare(ctx, rule.active.id, rule.read, q, original)
			if err != nil && e.life.Err() == nil {
				e.log.Debug("a read could not be compared", "change_id", rule.active.id, "err", err)
			}
		}, nil)
	}})
	return true
}

// keep copies values out of the relay's memory.
func keep(values []proxy.Value) []proxy.Value {
	out := make([]proxy.Value, len(values))
	for i, v := range values {
		out[i] = v
		out[i].Bytes = bytes.Clone(v.Bytes)
	}
	return out
}

// errorRate tells when more than half of a window of reads failed.
type errorRate struct {
	mu      sync.Mutex
	n, fail int
}

const errorWindow = 200

// add counts one read; it is true when the window is full and more than half of it failed.
func (r *errorRate) add(failed bool) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.n++
	if failed {
		r.fail++
	}
	if r.n < errorWindow {
		return false
	}
	bad := r.fail > r.n/2
	r.n, r.fail = 0, 0
	return bad
}

// noun is what people call a change.
func (e *Engine) noun(a *active) string { return e.options.Kinds.Find(a.about).Noun() }
