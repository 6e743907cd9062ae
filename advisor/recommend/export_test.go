package recommend

import (
	"context"
	"errors"

	"github.com/helenus-db/helenus/advisor/design"
)

// TryChanged designs for the first join of an input, as Make does, changes the design, and returns what the trial on generated rows says of it.
func TryChanged(ctx context.Context, in Input, change func(d *design.Design, tables []*design.Table)) error {
	in.Nodes, in.Thresholds = max(1, in.Nodes), in.Thresholds.WithDefaults()
	k, err := newMaker(ctx, in, in.Snapshot)
	if err != nil {
		return err
	}
	if err := k.planReads(); err != nil {
		return err
	}
	list := k.listJoins()
	if len(list) == 0 {
		return errors.New("no join")
	}
	t, err := k.chooseTogether(list[:1], nil, nil)
	if err != nil {
		return err
	}
	d, tables := t.of(list[0])
	change(d, tables)
	return k.tryAnswers(list[0], tables, d)
}
