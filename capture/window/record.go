package window

import (
	"bytes"
	"errors"
	"io"
	"time"

	"github.com/helenus-db/helenus/capture/trace"
)

// maxRecording is how long a recording may become, packed, bytes; what comes then is left out.
const maxRecording = 64 << 20

// recording writes executions to a trace in memory, so that nobody who reads slowly holds up who learns.
type recording struct {
	buffer bytes.Buffer
	out    *trace.Writer
	n      int
}

func (r *recording) add(e *trace.Execution) {
	if r != nil && r.buffer.Len() < maxRecording && r.out.Add(e) == nil { // a buffer does not fail
		r.n++
	}
}

// Reasons not to record.
var (
	ErrOff       = errors.New("values are not looked at: sampling is switched off")
	ErrRecording = errors.New("a recording is under way already")
)

// Record writes all that is looked at to out, as a trace, until done, and returns how many executions that was. A window is
// held open meanwhile, with all that it costs. There is one recording at a time.
func (w *Windows) Record(out io.Writer, done <-chan struct{}) (int, error) {
	if !w.On() {
		return 0, ErrOff
	}
	r := &recording{}
	var err error
	if r.out, err = trace.NewWriter(&r.buffer, w.options.Seed); err != nil {
		return 0, err
	}
	w.mu.Lock()
	if w.record != nil {
		w.mu.Unlock()
		return 0, ErrRecording
	}
	w.record = r
	w.mu.Unlock()
	w.schedule.hold(true)
	select {
	case <-done:
	case <-w.stop:
	}
	w.schedule.hold(false)
	w.mu.Lock()
	w.catchUp()
	w.record = nil
	w.mu.Unlock()
	if err := r.out.Close(); err != nil {
		return r.n, err
	}
	_, err = r.buffer.WriteTo(out)
	return r.n, err
}

// Replay learns from a trace as if it were said now, and returns what there is to find and how many executions there were. It needs no
// process and looks at no clock.
func Replay(in io.Reader) (Findings, int, error) {
	n := 0
	w := &Windows{options: Options{Seed: 1, Started: time.Unix(0, 0), Now: func() time.Time { return time.Unix(0, 0) }}, ring: newRing(1)}
	w.options.complete()
	w.rotate(w.options.Now())
	err := trace.Read(in, func(e *trace.Execution) error {
		n++
		w.learn(e)
		return nil
	})
	return w.findings(w.options.Now()), n, err
}
