package migrate

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gocql/gocql"

	"github.com/helenus-db/helenus/capture/store"
	"github.com/helenus-db/helenus/rewrite/exec"
)

// An order that turns a change back is in force at once, whether it can be stored or not (a full disk). What is not stored is
// said to be pending, and is stored again and again until it is. Meanwhile it is written into a second place, the comment of the
// change's own table: a process that finds the store as it was before the order finds the order there (docs/decisions/034).

// ErrPending says that an order is in force, and is not stored yet.
type ErrPending struct {
	Migration string
	State     State
	Cause     error
}

// Error implements error.
func (e *ErrPending) Error() string {
	return fmt.Sprintf("change %s is %s from now on, but that is %s", e.Migration, e.State, pending(e.Cause))
}

// Unwrap returns what kept it from being stored.
func (e *ErrPending) Unwrap() error { return e.Cause }

func pending(cause error) string {
	return fmt.Sprintf("not stored yet (%v). It is stored again and again until it is; meanwhile the comment of its table, if it has one, is to keep it", cause)
}

// backlog is what has to be done again until it is done.
type backlog struct {
	mu   sync.Mutex
	list map[string]*retry
	wake chan struct{}
}

// retry is one of them.
type retry struct {
	do    func(context.Context) error
	order string // that is in force meanwhile, in words; "" for what is none
}

func newBacklog() backlog { return backlog{list: map[string]*retry{}, wake: make(chan struct{}, 1)} }

// Retry does something again, with growing pauses, until it returns without error. Another under the same name takes its place.
func (m *Manager) Retry(name string, do func(context.Context) error) {
	m.retry(name, &retry{do: do})
}

func (m *Manager) retry(name string, r *retry) {
	b := &m.backlog
	b.mu.Lock()
	b.list[name] = r
	b.mu.Unlock()
	select {
	case b.wake <- struct{}{}:
	default:
	}
}

// Backlog is how many orders are in force and not stored.
func (m *Manager) Backlog() int {
	b := &m.backlog
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.list)
}

// Unstored says in words which orders about changes are in force and not stored. It waits for nobody who stores something.
func (m *Manager) Unstored() (orders []string) {
	b := &m.backlog
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, name := range slices.Sorted(maps.Keys(b.list)) {
		if text := b.list[name].order; text != "" {
			orders = append(orders, name+": "+text)
		}
	}
	return orders
}

// lastTry bounds the attempt that is made when the process ends.
const lastTry = 2 * time.Second

// catchUp works the backlog off until the context ends, and then tries once more.
func (m *Manager) catchUp(ctx context.Context) {
	pause := time.Duration(0)
	for {
		if m.Backlog() == 0 {
			pause = 0
			select {
			case <-ctx.Done():
				return
			case <-m.backlog.wake:
			}
		}
		if pause > 0 && m.Wait(ctx, pause) != nil {
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastTry)
			defer cancel()
			m.retryAll(last)
			return
		}
		m.retryAll(ctx)
		pause = min(max(2*pause, m.settings.Retry), longestRetry)
	}
}

// retryAll tries each once.
func (m *Manager) retryAll(ctx context.Context) {
	b := &m.backlog
	b.mu.Lock()
	names := slices.Sorted(maps.Keys(b.list))
	b.mu.Unlock()
	for _, name := range names {
		b.mu.Lock()
		o := b.list[name]
		b.mu.Unlock()
		if err := o.do(ctx); err != nil {
			m.Log.Error("an order is in force, but not stored; it is tried again", "order", name, "err", err)
			continue
		}
		b.mu.Lock()
		if b.list[name] == o { // who orders it while it is tried means another try
			delete(b.list, name)
		}
		b.mu.Unlock()
	}
}

// postpone has a change stored later; r.mu is held.
func (m *Manager) postpone(r *run, cause error) error {
	if unwrapped := errors.Unwrap(cause); unwrapped != nil {
		cause = unwrapped
	}
	r.m.Pending = string(r.m.State) + " is in force, but " + pending(cause)
	m.Log.Error("an order is in force, but could not be stored; it is tried again", "change_id", r.id, "state", r.m.State, "err", cause)
	m.retry("change "+r.id, &retry{func(ctx context.Context) error { return m.storeAgain(ctx, r) }, r.m.Pending})
	return &ErrPending{r.id, r.m.State, cause}
}

// storeAgain stores a change as it is by now, or sees to it that its table says so.
func (m *Manager) storeAgain(ctx context.Context, r *run) error {
	r.mu.Lock()
	var err error
	elsewhere := false
	if r.m.Pending != "" {
		err = m.save(ctx, r, &r.m)
		if elsewhere = errors.Is(err, errElsewhere); elsewhere {
			m.rebase(r)
			err = m.save(ctx, r, &r.m)
		}
	}
	mark, marked := marks[r.m.State], r.marked
	r.mu.Unlock()
	if elsewhere {
		m.publish()
	}
	switch {
	case err != nil && mark != "" && !marked:
		return errors.Join(err, m.comments(ctx, r, mark))
	case err == nil && marked:
		return m.comments(ctx, r, "")
	}
	return err
}

// marks are what the comment of a table of ours says of an order that could not be stored. A change that is to be verified
// needs none: that is how every process begins.
var marks = map[State]string{Suspended: ", suspended", Failed: ", suspended",
	RollingBack: ", rolled back", RolledBack: ", rolled back"}

// cutMark takes the mark off the comment of a table of ours.
func cutMark(comment string) (rest, mark string) {
	for _, mark := range marks {
		if rest, ok := strings.CutSuffix(comment, mark); ok {
			return rest, mark
		}
	}
	return comment, ""
}

// comments writes a mark, or none, into the comment of a change's own table, if it is there and ours.
func (m *Manager) comments(ctx context.Context, r *run, mark string) error {
	table, err := m.first(ctx, r)
	if err != nil {
		return err
	}
	if table != nil {
		have := r.get()
		ours, err := m.owns(ctx, &have, table.comment)
		if err != nil {
			return err
		}
		rest, _ := cutMark(table.comment)
		if ours && table.comment != rest+mark {
			if _, err := m.Session.Query(ctx, exec.Query{Text: r.tables()[0].Comments(rest + mark), Consistency: gocql.Quorum}); err != nil {
				return fmt.Errorf("write the order into the comment of %s: %w", &r.tables()[0], err)
			}
		}
	}
	r.mu.Lock()
	r.marked = mark != "" && table != nil
	r.mu.Unlock()
	return nil
}

// recall takes up what the comment of a change's table says when the process begins, because it could not be stored.
func (m *Manager) recall(ctx context.Context, r *run, comment string) {
	_, mark := cutMark(comment)
	have := r.get()
	if ours, err := m.owns(ctx, &have, comment); mark == "" || err != nil || !ours {
		return
	}
	r.mu.Lock()
	r.marked = true
	r.mu.Unlock()
	const why = "ordered before the process began, and not stored then: the comment of its table says so"
	var err error
	switch have := r.get(); {
	case marks[have.State] == mark || phases[have.State].ends || have.State == RollingBack:
	case mark == marks[RollingBack]:
		err = m.transition(ctx, r, "", RollingBack, order{store.Self, "rollback"}, "roll-back "+why, nil)
	default:
		err = m.suspend(ctx, r, "it was suspended: "+why, false)
	}
	if err == nil {
		m.Retry("change "+r.id, func(ctx context.Context) error { return m.storeAgain(ctx, r) })
	}
}
