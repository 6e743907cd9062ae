package migrate

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/helenus-db/helenus/capture/schema"
	"github.com/helenus-db/helenus/capture/store"
	"github.com/helenus-db/helenus/rewrite/kind"
)

// fitting is how a change stands to the schema.
type fitting struct {
	fitted kind.Fitted
	base   *schema.Table
	broken string   // why the change can not be kept: what was, and what is. fitted is nil then
	silent string   // why none of its statements can be answered any more, though it can be kept
	news   []string // what else has changed: it is verified again
	longer bool     // rows live longer than the entries that were written for them
	moved  bool     // it is replicated otherwise: the last of news
}

// fit compares a change with the schema. What a change rests on must be as it was: the base itself, its primary key, the column
// and its type. All else may change, once reads were turned back: statements are compiled anew, and what was written meanwhile
// is verified.
func (r *run) fit(have *Change, s *schema.Schema) fitting {
	f := fitting{base: s.Table(have.Rewrite.Keyspace, have.Rewrite.Base)}
	fitted, refusal := r.refit(have.Rewrite, f.base)
	if refusal != nil {
		f.broken = refusal.Error()
		return f
	}
	was, is := &have.Base, f.base
	name := have.Rewrite.Keyspace + "." + have.Rewrite.Base
	column := func(t *schema.Table) string {
		if c := t.Column(have.Rewrite.Column); c != nil {
			return c.Type
		}
		return "nothing"
	}
	for _, x := range []struct{ what, was, is string }{
		{"the id of table " + name + ", which another of its name was made instead of,", was.ID, is.ID},
		{"the primary key of table " + name, keyText(was), keyText(is)},
		{fmt.Sprintf("column %s of table %s", have.Rewrite.Column, name), column(was), column(is)},
	} {
		if x.was != x.is {
			f.broken = drift("%s was %s and is %s", x.what, x.was, x.is)
			return f
		}
	}
	f.fitted = fitted
	f.news = news(was, is)
	if text := moved(have, s); text != "" {
		f.moved, f.news = true, append(f.news, text)
	}
	if len(f.news) == 0 {
		f.news = r.turnedBy(have.Rewrite.Texts, fitted)
	}
	f.longer = was.DefaultTTL > 0 && (is.DefaultTTL == 0 || is.DefaultTTL > was.DefaultTTL)
	for _, text := range have.Rewrite.Texts {
		refusal := fitted.Check(text)
		if refusal == nil {
			f.silent = ""
			return f
		}
		f.silent = "none of its statements can be answered any more: " + refusal.Error()
	}
	return f
}

// dropped tells whether the base that a change is over is not there any more. Its rows went with it, and what was known of their timestamps, as by a TRUNCATE: one that is made
// in its place may get its id (WITH ID, as snapshots have it).
func (m *Change) dropped(s *schema.Schema) bool {
	base := s.Table(m.Rewrite.Keyspace, m.Rewrite.Base)
	return base == nil || base.ID != m.Base.ID
}

// keyText writes a primary key as CQL does, with types and orders.
func keyText(t *schema.Table) string {
	var partition, clustering []string
	for _, c := range t.PartitionKey() {
		partition = append(partition, c.Name+" "+c.Type)
	}
	for _, c := range t.ClusteringKey() {
		text := c.Name + " " + c.Type
		if c.Descending {
			text += " DESC"
		}
		clustering = append(clustering, text)
	}
	return "(" + strings.Join(append([]string{"(" + strings.Join(partition, ", ") + ")"}, clustering...), ", ") + ")"
}

// news says what of a base has changed that does not break a change over it.
func news(was, is *schema.Table) (out []string) {
	if was.Digest() == is.Digest() {
		return nil
	}
	if was.DefaultTTL != is.DefaultTTL {
		out = append(out, fmt.Sprintf("default_time_to_live was %d and is %d", was.DefaultTTL, is.DefaultTTL))
	}
	for _, c := range was.Columns {
		switch now := is.Column(c.Name); {
		case now == nil:
			out = append(out, fmt.Sprintf("column %s %s was dropped", c.Name, c.Type))
		case now.Masked != c.Masked:
			out = append(out, fmt.Sprintf("column %s %s", c.Name, map[bool]string{true: "was masked", false: "is masked no more"}[now.Masked]))
		case *now != c:
			out = append(out, fmt.Sprintf("column %s was %s %s and is %s %s", c.Name, c.Kind, c.Type, now.Kind, now.Type))
		}
	}
	for _, c := range is.Columns {
		if was.Column(c.Name) == nil {
			out = append(out, fmt.Sprintf("column %s %s was added", c.Name, c.Type))
		}
	}
	return out
}

// turnedBy says which of the statements that could be answered before can not be now, or the other way round, though the columns are as they were: one without ALLOW
// FILTERING is Cassandra's to refuse once its index was dropped.
func (r *run) turnedBy(texts []string, now kind.Fitted) (out []string) {
	before := r.fitted()
	if before == nil {
		return nil
	}
	for _, text := range texts {
		was, is := before.Check(text), now.Check(text)
		switch {
		case was == nil && is != nil:
			out = append(out, fmt.Sprintf("%s can not be answered any more (%s)", text, is.Reason))
		case was != nil && is == nil:
			out = append(out, text+" can be answered again")
		}
	}
	return out
}

// again tells whether a change that was stopped fits the schema now, and if not, why.
func (m *Manager) again(ctx context.Context, r *run, have *Change) (f fitting, refusal string) {
	s := m.Schema()
	if s == nil {
		return f, "the schema is not known"
	}
	f = r.fit(have, s)
	switch {
	case f.broken != "":
		return f, f.broken
	case f.silent != "":
		return f, f.silent
	case have.T0 != 0: // it was filled, or was about to be
		refusal, err := m.drifted(ctx, r.noun(), have, f.fitted, s)
		if err != nil {
			refusal = err.Error()
		}
		return f, refusal
	}
	return f, ""
}

// Look begins a look at the schema, before it is read. What was read is to be told to seen, which compares every change with it, and turns
// back the reads of those it no longer fits before it returns. It takes a while to read a schema, and one change after the other creates its
// tables: of those that were not created when the look began it says nothing.
func (m *Manager) Look(ctx context.Context) (seen func(*schema.Schema)) {
	m.mu.Lock()
	runs := m.sorted()
	m.mu.Unlock()
	created := map[string]bool{}
	for _, r := range runs {
		created[r.id] = !uncreated[r.get().State]
	}
	return func(found *schema.Schema) { m.compareAll(ctx, found, created) }
}

// compareAll has every change follow the schema; created are those whose tables it must show.
func (m *Manager) compareAll(ctx context.Context, s *schema.Schema, created map[string]bool) {
	if s == nil {
		return
	}
	m.mu.Lock()
	first := !m.checked
	runs := m.sorted()
	m.mu.Unlock()
	for _, r := range runs {
		have := r.get()
		if table := s.Table(have.Rewrite.Home(), have.Rewrite.Table); first && table != nil {
			m.recall(ctx, r, table.Comment)
		}
		if err := m.follow(ctx, r, s, created[r.id]); err != nil && !errors.As(err, new(*ErrPending)) {
			m.Log.Error("a change of the schema could not be followed", "change_id", have.ID, "err", err)
		}
		m.mask(ctx, r, s)
	}
	if first {
		m.mu.Lock()
		m.checked = true
		m.mu.Unlock()
		m.publish()
	}
}

// follow has a change follow the schema, and, if its tables were created before that was read, hold them against it.
func (m *Manager) follow(ctx context.Context, r *run, s *schema.Schema, created bool) error {
	r.orders.Lock()
	defer r.orders.Unlock()
	return m.insist(ctx, func() error { return m.followNow(ctx, r, s, created) })
}

// followNow is follow upon what is known here; r.orders is held.
func (m *Manager) followNow(ctx context.Context, r *run, s *schema.Schema, created bool) error {
	have := r.get()
	dropped := have.dropped(s)
	switch {
	case !have.Active() || have.State == RollingBack:
		return nil
	case have.Broken || have.State == Failed:
		if dropped && have.TableID != "" && (!have.Refill || have.Keeps) {
			return m.refillLater(ctx, r, "to be emptied, and filled anew, once it is resumed: its base was dropped", func(x *Change) { x.refill(false) })
		}
		return nil
	}
	f := r.fit(&have, s)
	if f.broken == "" && created {
		var err error
		if f.broken, err = m.drifted(ctx, r.noun(), &have, f.fitted, s); err != nil {
			return fmt.Errorf("compare the %s table with what was made: %w", r.noun(), err)
		}
	}
	if f.broken != "" {
		return m.rest(ctx, r, f.broken, true, func(x *Change) {
			if dropped && have.TableID != "" {
				x.refill(false)
			}
		})
	}
	if len(f.news) == 0 {
		if have.Replication != nil || have.Rewrite.Table == "" || s.Keyspace(have.Rewrite.Keyspace) == nil {
			return nil
		}
		return m.update(ctx, r, func(x *Change) { x.Replication = replicationOf(s, x.Rewrite.Keyspace) }) // a record from before it was noted
	}
	take := func(x *Change) {
		x.Base = *f.base
		if f.longer || f.moved {
			x.refill(!f.longer)
		}
		x.Replication = replicationOf(s, x.Rewrite.Keyspace)
	}
	text := fmt.Sprintf("table %s.%s has changed: %s", have.Rewrite.Keyspace, have.Rewrite.Base, strings.Join(f.news, ", "))
	r.fits(f.fitted)
	switch {
	case have.State == Approved || have.State == Created:
		return m.update(ctx, r, take)
	case have.State == Suspended:
		defer m.publish() // writes are followed by the new form
		return m.update(ctx, r, take)
	case f.silent != "":
		return m.turn(ctx, r, Suspended, order{store.Guard, "suspend"}, "suspended: "+f.silent, func(x *Change) { take(x); x.Reason = f.silent })
	case f.longer || f.moved || have.Refill || have.State == DualWrite || have.State == Backfill:
		return m.turn(ctx, r, DualWrite, order{store.Guard, refilling}, "filled anew: "+text, func(x *Change) { take(x); x.Reason = text })
	}
	return m.turn(ctx, r, Verify, order{store.Guard, "verify"}, "verified again: "+text, func(x *Change) { take(x); x.Reason = text; x.doubt() })
}
