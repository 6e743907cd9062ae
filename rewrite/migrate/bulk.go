package migrate

import (
	"context"
	"fmt"

	"github.com/helenus-db/helenus/rewrite/kind"
)

// A table that one process takes too long to fill may be filled by others' machines, with a script that its kind writes (kind.Bulk). That may begin once dual
// writes are on and nothing older is under way, which is the state Backfill; when a person says that it is done, the change goes on to Verify, as after its own backfill:
// what fills does not verify itself (docs/decisions/060).

// WaitsForBulk is why a change waits that is to be filled by others.
const WaitsForBulk = "its table is to be filled by a bulk job: `helenus bulk` writes and runs it"

// fillable says why a change can not be filled by whom its approval names.
func (r *run) fillable(fill string) error {
	if fill != FillBulk {
		return nil
	}
	b, ok := r.derived().(kind.Bulk)
	if !ok {
		return fmt.Errorf("%w: there is no script for its kind", kind.ErrNoBulk)
	}
	_, err := b.Spark(r.id, kind.Filling{})
	return err
}

// filledElsewhere is the work of Backfill where somebody else fills.
func (m *Manager) filledElsewhere(ctx context.Context, r *run) error {
	m.progress(r, "", 0, 0)
	for !r.get().Filled {
		r.throttle(WaitsForBulk)
		if err := m.Wait(ctx, m.settings.Retry); err != nil {
			return err
		}
	}
	r.throttle("")
	return nil
}

// Spark writes the script that fills the table of a change, which must be being filled.
func (m *Manager) Spark(id string) (string, error) {
	r, err := m.find(id)
	if err != nil {
		return "", err
	}
	have := r.get()
	if have.State != Backfill {
		return "", &ErrState{id, "fill", have.State, "a bulk job may fill its table while it is in state " + string(Backfill) + ": entries are written along with rows by then, and none is needed before"}
	}
	b, ok := r.derived().(kind.Bulk)
	if !ok {
		return "", fmt.Errorf("%w: there is no script for its kind", kind.ErrNoBulk)
	}
	return b.Spark(id, m.filling())
}

// Filled takes note that somebody else has filled the table of a change: it is verified next.
func (m *Manager) Filled(ctx context.Context, id, actor string) error {
	return m.mark(ctx, id, order{actor, "filled"}, "filled by a bulk job; it is verified next", func(x *Change) (bool, error) {
		if x.State != Backfill {
			return false, &ErrState{id, "go on with", x.State, "it is not being filled"}
		}
		was := x.Filled
		x.Filled = true
		return !was, nil
	})
}
