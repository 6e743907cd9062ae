package rehearse

import (
	"bytes"
	"slices"

	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/plan"
	"github.com/helenus-db/helenus/advisor/workload"
	"github.com/helenus-db/helenus/rewrite/planrun"
)

// told draws the parameters of a write. false: nothing there is to say it of.
func (w *world) told(x *workload.Write) (planrun.Parameters, bool) {
	with := planrun.Parameters{}
	said := combined{}
	if x.Kind == workload.Update || x.Kind == workload.Delete {
		r, ok := w.conditions(x.Tree, x.Where, with)
		if !ok || r == nil {
			return nil, false
		}
		said = r
	}
	pick := func(e *model.Entity, name func(*model.Attribute) string) bool {
		rows := w.rows[e.Base()]
		if len(rows) == 0 {
			return false
		}
		n := w.random.IntN(len(rows))
		said[e] = n
		for _, k := range e.Key {
			with[name(k)] = append(with[name(k)], rows[n][k])
		}
		return true
	}
	if x.Kind == workload.Connect || x.Kind == workload.Disconnect {
		if !pick(x.Entity, func(k *model.Attribute) string {
			return workload.KeyName(model.Field{Entity: x.Entity, Attribute: k})
		}) {
			return nil, false
		}
	}
	for i, c := range x.Connections {
		if !pick(c.Entity, func(k *model.Attribute) string { return workload.ConnectionName(x, i, k) }) {
			return nil, false
		}
	}
	const numbers = 12
	fresh := w.entity(x.Entity.Base(), w.random.IntN(numbers))
	for _, f := range x.Set {
		v := fresh[f.Attribute]
		if c := f.Attribute.Copied; c != nil {
			if v, _ = w.copied(x, c, said); v == nil && x.Kind == workload.Update {
				v = w.rows[x.Entity.Base()][said[x.Entity]][f.Attribute]
			}
		}
		with[workload.SetName(f)] = [][]byte{v}
	}
	for _, f := range x.Increments {
		cell := literal(f.Attribute.Type, []string{"1", "2", "-1"}[w.random.IntN(3)])
		if cell == nil {
			return nil, false
		}
		with[workload.AddName(f)] = [][]byte{cell}
	}
	return with, w.known(x.Given, said, with)
}

// copied is what a new entity copies of whom it is connected to.
func (w *world) copied(x *workload.Write, c *model.Copy, said combined) ([]byte, bool) {
	for _, k := range x.Connections {
		if k.Edge.Base() == c.Edge.Base() {
			return w.rows[k.Entity.Base()][said[k.Entity]][c.Of], true
		}
	}
	return nil, false
}

// find is the number of the entity with a key, -1 if there is none.
func (w *world) find(e *model.Entity, key func(*model.Attribute) []byte) int {
	return slices.IndexFunc(w.rows[e.Base()], func(r row) bool {
		return !slices.ContainsFunc(e.Key, func(k *model.Attribute) bool { return !bytes.Equal(r[k], key(k)) })
	})
}

// apply carries a write out by what it means. false: it takes for true what is not, or breaks the model's word, so that an application would not say it.
func (w *world) apply(x *workload.Write, with planrun.Parameters) bool {
	e := x.Entity.Base()
	link := func(self, n int) (*model.Relationship, [2]int) {
		c, nth := x.Connections[n], 0
		for i := range n {
			if x.Connections[i].Edge.Role(x.Entity) == c.Edge.Role(x.Entity) {
				nth++
			}
		}
		other := w.find(c.Entity, func(k *model.Attribute) []byte { return with[workload.ConnectionName(x, n, k)][nth] })
		if c.Edge.From == x.Entity {
			return c.Edge.Base(), [2]int{self, other}
		}
		return c.Edge.Base(), [2]int{other, self}
	}
	switch x.Kind {
	case workload.Insert:
		made := row{}
		for _, f := range x.Set {
			made[f.Attribute] = with[workload.SetName(f)][0]
		}
		self := len(w.rows[e])
		w.rows[e] = append(w.rows[e], made)
		for i := range x.Connections {
			r, pair := link(self, i)
			w.links[r] = append(w.links[r], pair)
		}
	case workload.Update:
		list, ok := w.spoken(x, with)
		if !ok || plan.Find(x) == nil && len(list) != 1 {
			return false
		}
		for _, n := range list {
			for _, f := range x.Set {
				w.rows[e][n][f.Attribute] = with[workload.SetName(f)][0]
			}
			for _, f := range x.Increments {
				if v := w.rows[e][n][f.Attribute]; v != nil {
					w.rows[e][n][f.Attribute] = sum(f.Attribute.Type, v, with[workload.AddName(f)][0])
				}
			}
		}
	case workload.Delete:
		list, ok := w.spoken(x, with)
		if !ok || plan.Find(x) == nil && len(list) != 1 {
			return false
		}
		w.remove(e, list)
	default:
		self := w.find(e, func(k *model.Attribute) []byte {
			return with[workload.KeyName(model.Field{Entity: x.Entity, Attribute: k})][0]
		})
		r, pair := link(self, 0)
		there := slices.Contains(w.links[r], pair)
		if there != (x.Kind == workload.Disconnect) {
			return false
		}
		forward, back := ones(r)
		w.links[r] = slices.DeleteFunc(w.links[r], func(l [2]int) bool { // whoever may have one partner leaves the one that it had
			return l == pair || x.Kind == workload.Connect && (forward && l[0] == pair[0] || back && l[1] == pair[1])
		})
		if x.Kind == workload.Connect {
			w.links[r] = append(w.links[r], pair)
		}
	}
	return w.lawful()
}

// spoken are the entities that an update or delete speaks of.
func (w *world) spoken(x *workload.Write, with planrun.Parameters) (list []int, ok bool) {
	rows, ok := w.join(x.Tree)
	for _, r := range rows {
		if n := r[x.Entity]; w.meets(r, x.Where, with) && !slices.Contains(list, n) {
			list = append(list, n)
		}
	}
	return list, ok
}
