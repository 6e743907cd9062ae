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
		value, _, ttl, err := c.Maintainer.Base(ctx, l, key)
		if err != nil {
			return found, err
		}
		return found, c.recheck(ctx, l, key, value, ttl, &found)
	}
	q := exec.Query{Text: l.BasePartition(), Values: key, Consistency: c.settings.Consistency, PageSize: c.settings.PageSize}
	err = c.Session.Scan(ctx, q, func(cells [][]byte) error {
		if err := next(ctx); err != nil {
			return err
		}
		ttl, _ := exec.Int32(cells[len(l.Key)+2])
		return c.recheck(ctx, l, cells[:len(l.Key)], cells[len(l.Key)], ttl, &found)
	})
	if err != nil {
		err = fmt.Errorf("recheck a partition of %s: %w", l.BaseName(), err)
	}
	return found, err
}

// recheck looks at one row, whose column was seen to hold a value for so many seconds yet; 0: for ever.
func (c *Checker) recheck(ctx context.Context, l *match.LookUp, key [][]byte, value []byte, ttl int32, found *kind.Findings) error {
	if !match.Indexable(value) {
		return nil
	}
	found.Rows++
	key, own := l.EntryKey(key)
	if !own {
		found.NoRoom++
		ttl = 0
	}
	if _, lasts, err := c.Maintainer.Has(ctx, l, value, key, ttl); err != nil || lasts {
		return err
	}
	return c.missing(ctx, l, value, key, false, found)
}
