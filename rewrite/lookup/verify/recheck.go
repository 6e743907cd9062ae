package verify

import (
	"context"
	"fmt"

	"github.com/helenus-db/helenus/rewrite/exec"
	"github.com/helenus-db/helenus/rewrite/kind"
	"github.com/helenus-db/helenus/rewrite/lookup/match"
)

// Recheck looks at single rows of the base as a pass does at those that differ: a row whose value has no entry, while it holds that value
// before and after, is missing, and repaired. key is that of a row, or of a partition, which is all its rows. next is called before each row.
func (c *Checker) Recheck(ctx context.Context, l *match.LookUp, key [][]byte, next func(context.Context) error) (found kind.Findings, err error) {
	if len(key) == len(l.Key) {
		if err := next(ctx); err != nil {
			return found, err
		}
		value, _, err := c.Maintainer.Base(ctx, l, key)
		if err != nil {
			return found, err
		}
		return found, c.recheck(ctx, l, key, value, &found)
	}
	q := exec.Query{Text: l.BasePartition(), Values: key, Consistency: c.settings.Consistency, PageSize: c.settings.PageSize}
	err = c.Session.Scan(ctx, q, func(cells [][]byte) error {
		if err := next(ctx); err != nil {
			return err
		}
		return c.recheck(ctx, l, cells[:len(l.Key)], cells[len(l.Key)], &found)
	})
	if err != nil {
		err = fmt.Errorf("recheck a partition of %s: %w", l.BaseName(), err)
	}
	return found, err
}

// recheck looks at one row, whose column was seen to hold a value.
func (c *Checker) recheck(ctx context.Context, l *match.LookUp, key [][]byte, value []byte, found *kind.Findings) error {
	if !match.Indexable(value) {
		return nil
	}
	found.Rows++
	key, own := l.EntryKey(key)
	if !own {
		found.NoRoom++
	}
	if has, err := c.Maintainer.Has(ctx, l, value, key); err != nil || has {
		return err
	}
	return c.missing(ctx, l, value, key, found)
}
