package migrate

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/gocql/gocql"

	"github.com/helenus-db/helenus/proxy"
	"github.com/helenus-db/helenus/rewrite/exec"
	"github.com/helenus-db/helenus/rewrite/kind"
)

// failing is how many reads of the application must have failed before it is believed that they always do.
const failing = 3

// shadow is the work of Shadow: our own sample first, then as many of the application's reads as were asked for. What was
// compared for the same change before, or before it was dropped, counts: comparing is of the rewriting, which has not changed;
// that the table is true is what verifying is for. For the same reason the time in shadow of before a restart, or before it was verified again, counts.
//
// Reads that fail, or do not come, do not hold it up: what failed is compared with the base by token ranges, and when most fail,
// or when the time is over, our own comparisons are enough.
func (m *Manager) shadow(ctx context.Context, r *run) error {
	if err := m.missedSince(ctx, r); err != nil {
		return err
	}
	if have := r.get(); have.Served && !have.Hold {
		return m.askAgain(ctx, r)
	}
	samples, err := r.fitted().Samples(ctx, m.settings.ShadowSelf, m.settings.Read)
	if err != nil {
		return err
	}
	own := false // we can ask by ourselves
	toAsk := 0
	for _, sample := range samples {
		toAsk += len(sample.Requests)
	}
	for _, sample := range samples {
		toAsk -= len(sample.Requests)
		refused, err := m.sample(ctx, r, sample, toAsk)
		if err != nil {
			return err
		}
		own = own || refused == nil
	}
	// What was compared and the time in shadow are stored now and then, however many reads come.
	look := time.NewTicker(max(min(time.Minute, m.settings.ShadowFor/10), time.Second))
	defer look.Stop()
	before, begun := r.get().Shadowed, m.Now()
	for {
		if err := m.compareUnanswered(ctx, r); err != nil {
			return err
		}
		have := r.get()
		shadowed := before + max(m.Now().Sub(begun), 0)
		left := m.settings.ShadowFor - shadowed
		compared, over := have.Earlier+have.Compared, left <= 0
		m.comparedSoFar(r, 0)
		if own {
			m.atMost(r, left)
		}
		r.mu.Lock()
		failed := r.failed
		r.mu.Unlock()
		enough := have.Served || compared >= m.settings.ShadowReads || over && (own || compared >= m.settings.ShadowLeast) ||
			failed >= failing && failed > have.ByReads && have.ByOwn+have.ByRanges > 0
		switch {
		case enough && !have.Hold:
			return nil
		case enough:
			r.throttle(Held)
		case over:
			r.throttle(fmt.Sprintf("%d of %d reads have come that could be compared, and Helenus can not ask by itself: the statements bind more than the one value",
				compared, m.settings.ShadowLeast))
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-r.samples:
			continue
		case <-look.C:
		}
		if err := m.update(ctx, r, func(x *Change) { x.Shadowed = shadowed }); err != nil && ctx.Err() == nil {
			m.Log.Warn("the time in shadow could not be stored; it is tried again in a moment", "change_id", r.id, "err", err)
		}
	}
}

// comparedSoFar shows how many of the reads that are wanted were compared: as many of the application's as were asked for, and all that we have to ask by ourselves yet.
func (m *Manager) comparedSoFar(r *run, toAsk int) {
	have := r.get()
	compared := have.Earlier + have.Compared
	m.progress(r, "reads compared", compared, max(m.settings.ShadowReads, compared+int64(toAsk)))
}

// askAgain asks for the statements alone that Cassandra refused: it may answer them now.
func (m *Manager) askAgain(ctx context.Context, r *run) error {
	refused, fitted := r.get().Refused, r.fitted()
	if len(refused) == 0 || fitted == nil {
		return nil
	}
	samples, err := fitted.Samples(ctx, m.settings.ShadowSelf, m.settings.Read)
	for _, sample := range samples {
		if err == nil && refused[sample.Statement] != "" {
			_, err = m.sample(ctx, r, sample, 0)
		}
	}
	return err
}

// sample asks by ourselves, both ways. If Cassandra refuses the statement, for every request for which it was asked, as one alone may have a value that is none, the
// statement is set aside, and what Cassandra says returned; if it answers, or fails in the attempt, the statement is the change's. toAsk are those of the samples after it.
func (m *Manager) sample(ctx context.Context, r *run, sample kind.Sample, toAsk int) (refused, err error) {
	var left []kind.Request // for which the original fails
	before := r.get().ByOwn
	for i, q := range sample.Requests {
		if len(left) < failing {
			err := m.compare(ctx, r, sample.Read, q, nil, &r.m.ByOwn)
			m.comparedSoFar(r, toAsk+len(sample.Requests)-i-1) // a hundred scans of a large table take minutes
			switch {
			case originalFails(err):
			case originalRefused(err):
				refused = err
				continue
			case err != nil:
				return nil, err
			default:
				continue
			}
		}
		left = append(left, q)
	}
	answered := len(left) > 0 || r.get().ByOwn > before
	if answered {
		refused = nil
	}
	if answered || refused != nil {
		if err := m.setAside(ctx, r, sample.Statement, refused); err != nil {
			return refused, err
		}
	}
	return refused, m.compareRanges(ctx, r, sample.Read, left)
}

// setAside has a statement run as it was written while Cassandra refuses it (a guardrail forbids it, or a function of it was dropped): what is no answer there must be
// none here, and is no fault of the change. refused is nil when it is answered: then it is the change's again. If Cassandra refuses all that the change answers, that is the
// error.
func (m *Manager) setAside(ctx context.Context, r *run, statement string, refused error) error {
	have := r.get()
	if was := have.Refused[statement]; (was == "") == (refused == nil) {
		return nil
	}
	now, text := maps.Clone(have.Refused), r.text(statement)
	if refused == nil {
		delete(now, statement)
		text = "Cassandra answers this statement again, and so does the " + r.noun() + ": " + text
	} else {
		if now == nil {
			now = map[string]string{}
		}
		now[statement] = refused.Error()
		if !r.answersBeside(now) {
			return refused
		}
		text = fmt.Sprintf("Cassandra refuses this statement (%v), so it runs as it was written: %s", refused, text)
	}
	err := m.record(ctx, r, func(x *Change) {
		x.Refused = now
		x.note(m.Now(), "", text)
	})
	if err == nil {
		m.Log.Info("a statement is answered otherwise than before", "change_id", r.id, "statement", statement, "text", text)
		m.publish()
	}
	return err
}

// answersBeside tells whether the change answers any statement beside those.
func (r *run) answersBeside(refused map[string]string) bool {
	fitted, rewrite := r.fitted(), r.get().Rewrite
	for i, statement := range rewrite.Statements {
		if _, there := refused[statement]; !there && i < len(rewrite.Texts) && fitted.Check(rewrite.Texts[i]) == nil {
			return true
		}
	}
	return false
}

// text is that of one of the change's statements.
func (r *run) text(statement string) string {
	rewrite := r.get().Rewrite
	if i := slices.Index(rewrite.Statements, statement); i >= 0 && i < len(rewrite.Texts) {
		return rewrite.Texts[i]
	}
	return statement
}

// originalError is an error of the application's own statement, not of a plan of ours.
type originalError struct{ error }

func (e *originalError) Unwrap() error { return e.error }

// originalFails tells whether Cassandra can not answer a statement as it was written: it would not help to wait for it.
func originalFails(err error) bool {
	var original *originalError
	return errors.As(err, &original) && exec.Down(err) && (!exec.Unreachable(err) || errors.Is(err, gocql.ErrTimeoutNoResponse) || errors.Is(err, context.DeadlineExceeded))
}

// originalRefused tells whether Cassandra says that a statement, as it was written, is not allowed.
func originalRefused(err error) bool {
	var original *originalError
	return errors.As(err, &original) && exec.Refused(err)
}

// Compare compares what Cassandra answered to a read (nil: ask) with what the change answers. A difference counts only if
// it is seen again and again while Cassandra's own answer stands still before and after; it suspends the change. Rows
// that change under the eyes prove nothing: then the read is not counted at all. Nor does a difference while the change is, or was meanwhile, turned back to be verified: a
// write whose entry could not be written makes one. An error means that it could not be compared.
func (m *Manager) Compare(ctx context.Context, id string, read kind.Read, q kind.Request, original proxy.Rows) error {
	r, err := m.find(id)
	if err != nil {
		return err
	}
	return m.compare(ctx, r, read, q, original, &r.m.ByReads)
}

// compare is Compare of a change; what agrees is counted in Compared, and in tally.
func (m *Manager) compare(ctx context.Context, r *run, read kind.Read, q kind.Request, original proxy.Rows, tally *int64) error {
	r.mu.Lock()
	turns, compares := r.turns, r.m.Mode().Shadow
	r.mu.Unlock()
	if !compares {
		return nil
	}
	var err error
	if original == nil {
		// The plan first: what has too many rows for it is not to be read whole either.
		if _, err := read.Answer(ctx, q); errors.Is(err, kind.ErrUnsuited) {
			return nil
		} else if err != nil {
			return err
		}
		if original, err = read.Original(ctx, q); err != nil {
			return &originalError{err}
		}
	}
	var planned proxy.Rows
	for try, still := 0, 0; ; try++ {
		if planned, err = read.Answer(ctx, q); errors.Is(err, kind.ErrUnsuited) {
			return nil // it would run as it was written
		} else if err != nil {
			return err
		}
		if exec.Equal(original, planned) {
			r.compared(try > 0, tally)
			return nil
		}
		again, err := read.Original(ctx, q)
		if err != nil {
			return err
		}
		if exec.Equal(again, planned) { // it was only behind
			r.compared(true, tally)
			return nil
		}
		if exec.Equal(original, again) {
			still++
		}
		if still > m.settings.ReadSamples {
			break
		}
		if try > 4*m.settings.ReadSamples {
			return nil
		}
		if err := m.Wait(ctx, m.settings.SampleDelay); err != nil {
			return err
		}
		if original, err = read.Original(ctx, q); err != nil {
			return err
		}
	}
	return m.mismatch(ctx, r, turns, read, q, planned, original)
}

// mismatch suspends a change that answers otherwise than the base, unless its reads were turned back since the comparison began, which knew of so many turns, or are
// just being turned back: then it is verified, and compared again.
func (m *Manager) mismatch(ctx context.Context, r *run, turns int, read kind.Read, q kind.Request, planned, original proxy.Rows) error {
	if !m.Current() || m.Doubted(r.id) || r.turned(turns) { // in this order: what others turned back before the lease began is known
		return nil
	}
	text := fmt.Sprintf("the %s answers otherwise for %s: %d rows (digest %x) instead of %d (digest %x)", r.noun(), read.Asked(q),
		len(planned), exec.Digest(planned), len(original), exec.Digest(original))
	r.mu.Lock()
	r.m.Mismatch, r.m.Served, r.m.Compared, r.m.Explained, r.m.Earlier, r.m.Shadowed = text, false, 0, 0, 0, 0
	r.m.ByReads, r.m.ByOwn, r.m.ByRanges = 0, 0, 0
	r.m.Differed++
	r.mu.Unlock()
	return m.suspend(ctx, r, text, false)
}

// compared counts one comparison that agreed, in all and by what with.
func (r *run) compared(explained bool, tally *int64) {
	r.mu.Lock()
	r.m.Compared++
	*tally++
	if explained {
		r.m.Explained++
	}
	r.mu.Unlock()
	select {
	case r.samples <- struct{}{}:
	default:
	}
}
