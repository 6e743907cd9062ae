package infer

import (
	"fmt"
	"strings"

	"github.com/helenus-db/helenus/advisor/correction"
	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/capture"
	"github.com/helenus-db/helenus/capture/feed"
	"github.com/helenus-db/helenus/capture/schema"
)

// Corrected is a correction and what became of it. None is dropped silently: one that is not in force says why, one that what was seen
// speaks against is in force all the same, and says what.
type Corrected struct {
	correction.Correction
	Text    string     `json:"text"`
	InForce bool       `json:"in_force"`
	Why     string     `json:"why,omitempty"`     // it is not in force
	Against []Evidence `json:"against,omitempty"` // what was seen and does not agree with it
}

// Contradicted tells whether a person should look at it.
func (c *Corrected) Contradicted() bool { return !c.InForce || len(c.Against) > 0 }

// Contradiction says what contradicts it.
func (c *Corrected) Contradiction() string {
	if !c.InForce {
		return "not in force: " + c.Why
	}
	var texts []string
	for _, e := range c.Against {
		texts = append(texts, e.Text)
	}
	return "in force, though " + strings.Join(texts, "; ")
}

// judge says of all corrections what became of them.
func (b *modeller) judge(s *schema.Schema, snapshot *capture.Snapshot, list correction.List) {
	for i := range list {
		c := Corrected{Correction: list[i], Text: list[i].String(), InForce: true}
		if c.Why = Gone(&list[i], s); c.Why == "" {
			c.Why = b.effect(&list[i], snapshot)
		}
		if c.InForce = c.Why == ""; c.InForce {
			c.Against = b.against(&list[i], snapshot)
		}
		b.m.Corrections = append(b.m.Corrections, c)
	}
}

// Gone says what of that which a correction names is not in the schema; "" if all is.
func Gone(c *correction.Correction, s *schema.Schema) string {
	for _, name := range c.Named() {
		keyspace, tableName, column := correction.Parts(name)
		t := s.Table(keyspace, tableName)
		switch {
		case t == nil:
			return fmt.Sprintf("there is no table %s.%s", keyspace, tableName)
		case column != "" && t.Column(column) == nil:
			return fmt.Sprintf("table %s.%s has no column %s", keyspace, tableName, column)
		}
	}
	return ""
}

// effect says why the model is not as a correction says, "" if it is. It looks at the model, not at how that came about.
func (b *modeller) effect(c *correction.Correction, snapshot *capture.Snapshot) string {
	switch {
	case len(c.Same) > 0:
		return b.united(c.Same)
	case c.Copy != "" && c.Of != correction.None:
		return b.united([]string{c.Of, c.Copy})
	case len(c.Different) > 0:
		for i, x := range c.Different {
			for _, y := range c.Different[i+1:] {
				if !correction.IsColumn(x) && b.m.entityOf(x) != nil && b.m.entityOf(x) == b.m.entityOf(y) {
					return fmt.Sprintf("%s and %s hold the entity %s all the same", x, y, b.m.entityOf(x).Name)
				}
				if f := b.m.fieldOf(x); correction.IsColumn(x) && !f.IsZero() && f == b.m.fieldOf(y) {
					return fmt.Sprintf("%s and %s hold %s all the same", x, y, f)
				}
			}
		}
	case c.Copy != "":
		if e := b.m.entityOf(c.Copy); e != nil && e.Tables[0] != c.Copy {
			return fmt.Sprintf("%s holds the entity %s, as %s does", c.Copy, e.Name, e.Tables[0])
		}
	case c.Entity != "":
		return b.entityEffect(c)
	case c.Relationship != "":
		return b.relationshipEffect(c)
	case c.Join != "":
		return b.joinEffect(c)
	case c.Rename != "":
		return b.renameEffect(c)
	case c.Weight != "":
		for i := range snapshot.Statements {
			if strings.HasPrefix(snapshot.Statements[i].Fingerprint, bare(c.Weight)) {
				return ""
			}
		}
		return "no such statement was seen in this traffic"
	case c.Pin != "":
		return "a pin is written down when it is imported"
	}
	return ""
}

// united says why tables or columns are not one, "" if they are.
func (b *modeller) united(names []string) string {
	for _, n := range names[1:] {
		if correction.IsColumn(n) {
			x, y := b.m.fieldOf(names[0]), b.m.fieldOf(n)
			switch a, o := b.typeOf(names[0]), b.typeOf(n); {
			case a != o:
				return fmt.Sprintf("%s is of type %s, %s of %s", names[0], a, n, o)
			case x.IsZero() || y.IsZero():
				return "one of their tables is not in the model: " + b.outside(names[0], n)
			case x != y:
				return fmt.Sprintf("the model has no place for it: %s is %s, %s is %s, and columns of two tables are one where one of them is what identifies its entity, or the tables hold the same entity",
					names[0], x, n, y)
			}
			continue
		}
		x, y := b.m.entityOf(names[0]), b.m.entityOf(n)
		one, other := b.sourceOf(names[0]), b.sourceOf(n)
		switch {
		case one != nil && other != nil && one.base == other.base: // also of pairs, which are no entity's
			return ""
		case x == nil || y == nil:
			return "one of them is no entity's table: " + b.outside(names[0], n)
		case x != y:
			return fmt.Sprintf("the model has no place for it: column %s of %s is not one of %s by its name and type; say which it is the same as", b.within(other, one), n, names[0])
		}
	}
	return ""
}

// outside says why tables are not in the model.
func (b *modeller) outside(names ...string) string {
	for _, n := range names {
		keyspace, name, _ := correction.Parts(n)
		if why := b.opaque[table{keyspace, name}]; why != "" {
			return keyspace + "." + name + " is " + why
		}
	}
	return "it relates others"
}

func (b *modeller) typeOf(column string) string {
	if src := b.sourceOf(column); src != nil {
		_, _, name := correction.Parts(column)
		if c := src.schema.Column(name); c != nil {
			return c.Type
		}
	}
	return "none"
}

func (b *modeller) sourceOf(name string) *source {
	keyspace, tableName, _ := correction.Parts(name)
	for _, src := range b.sources {
		if src.name == (table{keyspace, tableName}) {
			return src
		}
	}
	return nil
}

// entityOf is the entity that a table holds, nil if there is none.
func (m *Model) entityOf(name string) *Entity {
	for i := range m.Entities {
		for _, t := range m.Entities[i].Tables {
			if t == name {
				return &m.Entities[i]
			}
		}
	}
	return nil
}

// fieldOf is what a column holds.
func (m *Model) fieldOf(column string) model.Field {
	keyspace, tableName, name := correction.Parts(column)
	return m.Field(keyspace, tableName, name)
}

func (b *modeller) entityEffect(c *correction.Correction) string {
	e, src := b.m.entityOf(c.Entity), b.sourceOf(c.Entity)
	switch {
	case e == nil:
		return "it is no entity's table: " + b.outside(c.Entity)
	case c.Name != "" && e.Name != c.Name:
		return fmt.Sprintf("the entity is called %s: another one has the name, or a line after this one gives it", e.Name)
	case len(c.Key) > 0 && (src == nil || strings.Join(src.key, " ") != strings.Join(c.Key, " ")):
		return fmt.Sprintf("%s holds the entity of %s, which has a key of its own", c.Entity, e.Tables[0])
	}
	return ""
}

func (b *modeller) relationshipEffect(c *correction.Correction) string {
	for i := range b.m.Relationships {
		r := &b.m.Relationships[i]
		if r.Column != c.Relationship {
			continue
		}
		to := b.m.entityOf(c.To)
		switch {
		case c.To == correction.None:
			return fmt.Sprintf("it is part of the relationship %s all the same", r.Name)
		case to != nil && to.Name == r.To:
			return ""
		}
		return fmt.Sprintf("it holds the key of %s", r.To)
	}
	if c.To == correction.None {
		return ""
	}
	to := b.sourceOf(c.To)
	switch {
	case to == nil || b.m.entityOf(c.To) == nil:
		return c.To + " holds no entity: " + b.outside(c.To)
	case len(to.base.key) != 1:
		return fmt.Sprintf("%s is identified by %d columns together (%s), which one column can not hold", c.To, len(to.base.key), strings.Join(to.base.key, ", "))
	case b.typeOf(c.Relationship) != b.typeOf(to.base.name.String()+"."+to.base.key[0]):
		return fmt.Sprintf("%s is of type %s, %s of %s is %s", c.Relationship, b.typeOf(c.Relationship), to.base.key[0], c.To, b.typeOf(to.base.name.String()+"."+to.base.key[0]))
	case b.m.fieldOf(c.Relationship) == b.m.fieldOf(to.base.name.String()+"."+to.base.key[0]):
		return "" // it is part of an m:n relationship, or of another view of the entity
	}
	return "the model has no place for it: its entity has another relationship to the same one, or it is what identifies its own"
}

// feedsOf are the feeds that a correction of a join is about.
func feedsOf(c *correction.Correction, snapshot *capture.Snapshot) (out []*feed.Feed) {
	only := newRulings(correction.List{*c})
	for i := range snapshot.Feeds {
		if f := &snapshot.Feeds[i]; f.Shape != feed.Pagination {
			if _, about := only.joined(f); about {
				out = append(out, f)
			}
		}
	}
	return out
}

func (b *modeller) joinEffect(c *correction.Correction) string {
	only := newRulings(correction.List{*c})
	seen, reason := false, ""
	for i := range b.m.Joins {
		j := &b.m.Joins[i]
		if _, about := only.joined(&j.Feed); !about {
			continue
		}
		seen = true
		switch {
		case c.Join == correction.Reject && j.Accepted:
			return "it is part of " + j.Query + " all the same"
		case c.Join == correction.Accept && j.Accepted:
			return ""
		}
		reason = j.Reason
	}
	switch {
	case c.Join == correction.Reject:
		return ""
	case !seen:
		return "no value was seen to travel that way in this traffic, so there is nothing to accept yet"
	}
	return "it was seen, but " + reason
}

func (b *modeller) renameEffect(c *correction.Correction) string {
	if !correction.IsColumn(c.Rename) {
		if e := b.m.entityOf(c.Rename); e == nil || e.Name != c.To {
			return "another entity has that name, or the table holds none: " + b.outside(c.Rename)
		}
		return ""
	}
	for i := range b.m.Relationships {
		if r := &b.m.Relationships[i]; r.Column == c.Rename {
			if r.Forward != c.To {
				return "its role is called " + r.Forward
			}
			return ""
		}
	}
	if f := b.m.fieldOf(c.Rename); f.IsZero() || f.Attribute.Name != c.To {
		return fmt.Sprintf("it holds %s: another has the name, or it is the key of another table's entity", f)
	}
	return ""
}

// against is what was seen and does not agree with a correction that is in force.
func (b *modeller) against(c *correction.Correction, snapshot *capture.Snapshot) (out []Evidence) {
	affirmed, denied := b.columnsOf(c)
	for _, one := range affirmed {
		for _, e := range b.prove(one.src, one.column, one.to) {
			if e.LogOdds <= -1 && e.Group != "person" {
				out = append(out, e)
			}
		}
	}
	for _, one := range denied {
		p := b.prove(one.src, one.column, one.to)
		for _, e := range p {
			if e.Group == "feed" && e.LogOdds >= 3*Probable && p.probability() >= Probable {
				out = append(out, e)
			}
		}
	}
	if src := b.sourceOf(c.Entity); c.Entity != "" && len(c.Key) == 1 && src != nil {
		if d := src.distinct(c.Key[0]); d > 0 && d < 0.9*src.rows() {
			out = append(out, Evidence{"size", -4, fmt.Sprintf("%s has %.0f different values in %.0f rows: it does not tell them apart", c.Key[0], d, src.rows())})
		}
	}
	if c.Copy != "" && c.Of != correction.None {
		if one, of := b.sourceOf(c.Copy), b.sourceOf(c.Of); one != nil && of != nil && one.stats != nil && of.stats != nil && one.rows() < 0.9*of.rows() {
			out = append(out, Evidence{"size", -4, fmt.Sprintf("%s has %.0f rows, %s %.0f: not all are in it", c.Copy, one.rows(), c.Of, of.rows())})
		}
	}
	for _, f := range feedsOf(c, snapshot) {
		text := fmt.Sprintf("%d of %d values looked at were delivered shortly before, %d would be by chance (confidence %.2f)", f.Hits, f.Executions, f.Decoys, f.Confidence)
		switch {
		case c.Join == correction.Accept && f.Confidence < Probable:
			out = append(out, Evidence{"feed", -1, "only " + text})
		case c.Join == correction.Reject && f.Confidence >= Proven:
			out = append(out, Evidence{"feed", 3 * f.Confidence, text})
		}
	}
	return out
}

// holding is the assertion that a column holds the key of a table's entity.
type holding struct {
	src    *source
	column schema.Column
	to     *source
}

// columnsOf is what a correction says of columns and keys.
func (b *modeller) columnsOf(c *correction.Correction) (affirmed, denied []holding) {
	assertion := func(column, tableName string) (h holding, ok bool) {
		src, to := b.sourceOf(column), b.sourceOf(tableName)
		if src == nil || to == nil {
			return h, false
		}
		_, _, name := correction.Parts(column)
		col := src.schema.Column(name)
		if col == nil || len(to.base.key) != 1 || to.base == src {
			return h, false
		}
		return holding{src, *col, to.base}, true
	}
	switch {
	case c.Relationship != "" && c.To != correction.None:
		if h, ok := assertion(c.Relationship, c.To); ok {
			affirmed = append(affirmed, h)
		}
	case c.Relationship != "":
		for _, to := range b.sources {
			if to.base != to || to.linked {
				continue
			}
			if h, ok := assertion(c.Relationship, to.name.String()); ok && to.schema.Column(to.key[0]).Type == h.column.Type {
				denied = append(denied, h)
			}
		}
	default:
		names, list := c.Same, &affirmed
		if len(c.Different) > 0 {
			names, list = c.Different, &denied
		}
		for _, x := range names {
			for _, y := range names {
				if !correction.IsColumn(x) || x == y {
					continue
				}
				if h, ok := assertion(x, y); ok && y == h.to.name.String()+"."+h.to.key[0] {
					*list = append(*list, h)
				}
			}
		}
	}
	return affirmed, denied
}
