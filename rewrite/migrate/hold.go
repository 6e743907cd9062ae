package migrate

import "context"

// A change that is held goes on by itself as far as shadow: reads run as written, and are compared with its answers, for as long as it is held.
// The moment at which reads are answered by it is then a person's: the cut-over (as gh-ost's postponed one).

// Held is why such a change waits.
const Held = "it is held in shadow; `helenus cut-over` has reads answered by it"

// unserved are the states in which a change can be held: all before it serves.
var unserved = map[State]bool{Approved: true, Created: true, DualWrite: true, Backfill: true, Verify: true, Shadow: true, Suspended: true, Failed: true}

// Hold keeps a change in shadow once it has come there.
func (m *Manager) Hold(ctx context.Context, id, actor string) error {
	return m.mark(ctx, id, order{actor, "hold"}, "held: reads are not answered by it before the cut-over is ordered", func(x *Change) (bool, error) {
		if !unserved[x.State] {
			return false, &ErrState{id, "hold", x.State, "only one that does not serve yet can be held; roll it back"}
		}
		was := x.Hold
		x.Hold = true
		return !was, nil
	})
}

// CutOver lets a change serve that was held, as soon as enough reads were compared.
func (m *Manager) CutOver(ctx context.Context, id, actor string) error {
	return m.mark(ctx, id, order{actor, "cut-over"}, "cut-over ordered", func(x *Change) (bool, error) {
		if !x.Hold {
			why := "it is not held"
			if unserved[x.State] {
				why += ": it serves by itself, once enough reads were compared (settings shadow-reads and shadow-for)"
			}
			return false, &ErrState{id, "cut over", x.State, why}
		}
		x.Hold = false
		return true, nil
	})
}
