package data_test

import (
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/bench/data"
	"github.com/helenus-db/helenus/bench/generate"
	"github.com/helenus-db/helenus/rewrite/planrun"
)

func read(t testing.TB, text string) *model.Graph {
	t.Helper()
	var d model.Document
	if err := model.DecodeYAML("m.yaml", []byte(text), &d); err != nil {
		t.Fatal(err)
	}
	g, err := d.Graph("m.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// university has weak entities in a chain, relationships with attributes, alternate keys and all kinds.
const university = `
entities:
- {name: Campus, count: 5, key: [code], alternate: [[name]], attributes: [{name: code, type: text}, {name: name, type: text, absent: 0.4}]}
- {name: Building, count: 50, owner: campus, key: [number], attributes: [{name: number, type: int, distinct: 10}]}
- {name: Room, count: 1000, owner: building, key: [number], attributes: [{name: number, type: int, distinct: 200}, {name: seats, type: int, distinct: 60}]}
- {name: Student, count: 8000, key: [id], alternate: [[email], [year, card]], attributes: [{name: id, type: uuid}, {name: name, type: text, size: 30}, {name: email, type: text, size: 24}, {name: born, type: date, distinct: 365}, {name: year, type: int, distinct: 8}, {name: card, type: int, distinct: 1500}, {name: note, type: text, size: 200, absent: 0.7}, {name: fee, type: double, distinct: 40}, {name: seen, type: timestamp}, {name: at, type: timeuuid}, {name: active, type: boolean}]}
- {name: Course, count: 300, key: [id], attributes: [{name: id, type: uuid}, {name: title, type: text}]}
- {name: Desk, count: 900, key: [id], attributes: [{name: id, type: bigint}]}
relationships:
- {name: stands_on, from: Building, to: Campus, kind: "n:1", forward: campus, backward: buildings}
- {name: is_in, from: Room, to: Building, kind: "n:1", forward: building, backward: rooms, most_back: 150}
- {name: takes, from: Student, to: Course, kind: "m:n", forward: courses, backward: students, degree: 6, most: 12, attributes: [{name: grade, type: int, distinct: 5}]}
- {name: met_in, from: Course, to: Room, kind: "n:1", forward: room, backward: courses, attributes: [{name: hour, type: int}]}
- {name: helps, from: Student, to: Student, kind: "m:n", forward: pupils, backward: tutors, degree: 0.1, attributes: [{name: since, type: date}]}
- {name: likes, from: Student, to: Course, kind: "m:n", forward: liked, backward: likers, degree: 3, most_back: 900}
- {name: sits, from: Desk, to: Student, kind: "1:1", forward: sitter, backward: desk, optional: true, degree: 0.6}
- {name: mentor, from: Student, to: Student, kind: "n:1", forward: mentor, backward: mentees, optional: true}
- {name: holds, from: Room, to: Desk, kind: "1:n", forward: desks, backward: room, optional: true, degree: 0.7, most: 9}
`

func TestStatistics(t *testing.T) {
	g := read(t, university)
	w, err := data.New(g, data.Options{Seed: 4})
	if err != nil {
		t.Fatal(err)
	}
	checkWorld(t, g, w)
	for _, e := range g.Entities {
		if n := w.Count(e); n != int(e.Count) {
			t.Errorf("%d of %s", n, e.Name)
		}
		for _, a := range e.Attributes {
			checkAttribute(t, w, e, a)
		}
	}
	for _, c := range []struct {
		name      string
		pairs     int
		most      int // of From's partners at most, 0: not checked
		mostBack  int
		unrelated int // of From, at least
	}{
		{"is_in", 1000, 1, 150, 0},
		{"takes_Student", 48000, 1, 12, 0},
		{"likes", 24000, 0, 900, 1},
		{"sits", 540, 1, 1, 360},
		{"mentor", 7200, 1, 0, 800},
		{"holds", 700, 9, 1, 1},
		{"stands_on", 50, 1, 0, 0},
	} {
		r := g.Relationship(c.name)
		if n := w.PairCount(r); n != c.pairs {
			t.Errorf("%s has %d pairs, want %d", c.name, n, c.pairs)
		}
		degrees := func(forward bool) (most, none int) {
			side := map[bool]*model.Entity{true: r.From, false: r.To}[forward]
			for i := range w.Count(side) {
				d := w.Degree(model.Way{Edge: r, Forward: forward}, i)
				most = max(most, d)
				if d == 0 {
					none++
				}
			}
			return most, none
		}
		most, none := degrees(true)
		back, _ := degrees(false)
		if c.most > 0 && (most > c.most || most < c.most*2/3) || c.mostBack > 0 && (back > c.mostBack || back < c.mostBack*2/3) || none < c.unrelated {
			t.Errorf("%s: at most %d and %d partners, want %d and %d; %d without", c.name, most, back, c.most, c.mostBack, none)
		}
	}
	rows := 0
	campus, building := g.Entity("Campus"), g.Entity("Building")
	tree, err := model.NewTree(g.Entity("Room"), g.Relationship("is_in"), g.Relationship("stands_on"))
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Rows(tree, func(numbers []int) error { // a copy of a copy is what it is of
		rows++
		if got, want := w.Value(g.Entity("Room"), numbers[0], g.Entity("Room").Attribute("code")), w.Value(campus, numbers[2], campus.Key[0]); got != want {
			return fmt.Errorf("room %d has campus %v, want %v", numbers[0], got, want)
		}
		if got, want := w.Value(g.Entity("Room"), numbers[0], g.Entity("Room").Attribute("building_number")), w.Value(building, numbers[1], building.Attribute("number")); got != want {
			return fmt.Errorf("room %d has building %v, want %v", numbers[0], got, want)
		}
		return nil
	}); err != nil || rows != 1000 {
		t.Error(rows, err)
	}
}

// checkAttribute counts different values, those that are missing, and bytes.
func checkAttribute(t *testing.T, w *data.World, e *model.Entity, a *model.Attribute) {
	t.Helper()
	f := model.Field{Entity: e, Attribute: a}
	values, null, size := map[any]bool{}, 0, 0.0
	n := w.Count(e)
	for i := range n {
		v := w.Value(e, i, a)
		if v == nil {
			null++
			continue
		}
		cell, err := planrun.Encode(a.Type, v)
		if err != nil {
			t.Fatalf("%s: %v", f, err)
		}
		size += float64(len(cell))
		values[string(cell)] = true
	}
	want := a.Distinct
	if want == 0 && a.Type != "boolean" {
		want = float64(n)
	}
	if a.Type == "boolean" {
		want = 2
	}
	key := false
	for _, k := range e.Key {
		key = key || k == a
	}
	share := a.Null
	if key {
		share = 0
	}
	if off := math.Abs(float64(null) - share*float64(n)); off > 4*math.Sqrt(float64(n)*share*(1-share))+1 {
		t.Errorf("%s: %d of %d are missing, want %g", f, null, n, share)
	}
	if a.Copied == nil && !key && math.Abs(float64(len(values))-min(want, float64(n))*(1-a.Null)) > 0.1*want*(1-a.Null)+3 && want*(1-a.Null) < float64(n-null) {
		t.Errorf("%s: %d different values, want %g", f, len(values), want)
	}
	if mean := size / float64(n-null); n-null > 100 && a.Size > 0 && math.Abs(mean-a.Size) > 0.1*a.Size+1 {
		t.Errorf("%s: %g bytes, want %g", f, mean, a.Size)
	}
}

// TestSameSeedSameWorld takes worlds apart by their hashes.
func TestSameSeedSameWorld(t *testing.T) {
	g := read(t, university)
	sum := func(g *model.Graph, o data.Options) uint64 {
		w, err := data.New(g, o)
		if err != nil {
			t.Fatal(err)
		}
		h := fnv.New64a()
		for _, e := range g.Entities {
			for i := range min(200, w.Count(e)) {
				for _, a := range e.Attributes {
					fmt.Fprintf(h, "%v|", w.Value(e, i, a))
				}
			}
		}
		for _, r := range g.Relationships {
			n := 0
			_ = w.Pairs(r, func(from, to int) error {
				if n++; n > 500 {
					return errors.New("enough")
				}
				fmt.Fprintf(h, "%d-%d|", from, to)
				return nil
			})
		}
		return h.Sum64()
	}
	a, again, b := sum(g, data.Options{Seed: 1}), sum(read(t, university), data.Options{Seed: 1}), sum(g, data.Options{Seed: 2})
	if a != again || a == b {
		t.Errorf("%x and %x are to be the same, %x is not", a, again, b)
	}
}

func TestSkew(t *testing.T) {
	g := read(t, `
entities:
- {name: A, count: 2000, key: [id], attributes: [{name: id, type: uuid}, {name: city, type: text, distinct: 100}]}
- {name: B, count: 20000, key: [id], attributes: [{name: id, type: int}]}
relationships:
- {name: of, from: B, to: A, kind: "n:1", forward: a, backward: bs}
`)
	w, err := data.New(g, data.Options{Seed: 1, Skew: 1})
	if err != nil {
		t.Fatal(err)
	}
	checkWorld(t, g, w)
	cities, most := map[any]int{}, 0
	for i := range 2000 {
		c := w.Value(g.Entities[0], i, g.Entities[0].Attribute("city"))
		cities[c]++
		most = max(most, w.Degree(model.Way{Edge: g.Relationships[0]}, i))
	}
	greatest := 0
	for _, n := range cities {
		greatest = max(greatest, n)
	}
	// Of 100 values by Zipf the first has 2000*ln(2)/ln(101) = 300, of 2000 parents 20000*ln(2)/ln(2001) = 1823 children.
	if len(cities) < 95 || greatest < 270 || greatest > 330 || most < 1700 || most > 1950 {
		t.Errorf("%d cities, the greatest with %d; at most %d children", len(cities), greatest, most)
	}
}

func TestWhatCanNotBeMade(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"type": {`{name: A, count: 5, key: [id], attributes: [{name: id, type: int}, {name: tags, type: "set<text>"}]}`, "attribute A.tags: values of type set<text>"},
		"key":  {`{name: A, count: 5, key: [id], attributes: [{name: id, type: boolean}]}`, "a key does not tell 5 of them apart"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := data.New(read(t, "entities:\n- "+c.text+"\n"), data.Options{})
			var wrong *data.ModelError
			if !errors.As(err, &wrong) || !strings.Contains(err.Error(), c.want) {
				t.Error(err)
			}
		})
	}
	if _, err := data.New(read(t, university), data.Options{Scale: -1}); err == nil {
		t.Error("a negative scale")
	}
}

// TestRandomWorlds draws models of every shape.
func TestRandomWorlds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		wl := generate.Varied(rapid.Uint64().Draw(t, "model"))
		o := data.Options{Seed: rapid.Uint64().Draw(t, "seed"), Scale: rapid.Float64Range(0.01, 5).Draw(t, "scale"), Skew: rapid.SampledFrom([]float64{0, 0.5, 1, 2}).Draw(t, "skew"), Workload: wl}
		w, err := data.New(wl.Graph, o)
		if err != nil {
			t.Fatal(err)
		}
		checkWorld(t, wl.Graph, w)
		for _, e := range wl.Graph.Entities { // new ones have keys of their own
			keys := map[string]bool{}
			for i := range w.Count(e) + 20 {
				key := ""
				for _, a := range e.Key {
					key += fmt.Sprintf("%v|", w.Value(e, i, a))
				}
				if keys[key] {
					t.Fatalf("%s %d has the key %s of another", e.Name, i, key)
				}
				keys[key] = true
			}
		}
		for _, r := range wl.Graph.Relationships { // what is not optional is there
			way := model.Way{Edge: r, Forward: r.Kind != model.OneToMany}
			if r.Optional || r.Kind == model.ManyToMany || r.Kind == model.OneToOne && w.Count(r.From) > w.Count(r.To) {
				continue
			}
			side := r.From
			if !way.Forward {
				side = r.To
			}
			for i := range w.Count(side) {
				if w.Degree(way, i) != 1 {
					t.Fatalf("%s %d has no partner over %s, which is not optional", side.Name, i, r.Name)
				}
			}
		}
	})
}
