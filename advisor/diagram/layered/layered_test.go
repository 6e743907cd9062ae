package layered

import (
	"fmt"
	"math"
	"reflect"
	"testing"

	"pgregory.net/rapid"
)

// graphs draws graphs with cycles, loops, several edges between two boxes and edges whose ends are no boxes.
func graphs(t *rapid.T, most int) ([]Node, []Edge) {
	n := rapid.IntRange(0, most).Draw(t, "boxes")
	nodes := make([]Node, n)
	for i := range nodes {
		nodes[i] = Node{Width: float64(rapid.IntRange(40, 300).Draw(t, "width")), Height: float64(rapid.IntRange(20, 260).Draw(t, "height"))}
		if rapid.IntRange(0, 5).Draw(t, "small") == 0 {
			nodes[i] = Node{Width: 40, Height: 20, Small: true}
		}
	}
	labels := rapid.Bool().Draw(t, "labels")
	edges := make([]Edge, rapid.IntRange(0, 2*most).Draw(t, "edges"))
	for i := range edges {
		edges[i] = Edge{From: rapid.IntRange(-1, n).Draw(t, "from"), To: rapid.IntRange(-1, n).Draw(t, "to")}
		if labels && rapid.IntRange(0, 3).Draw(t, "labelled") > 0 {
			edges[i].Width, edges[i].Height = float64(rapid.IntRange(20, 160).Draw(t, "label")), 20
		}
	}
	return nodes, edges
}

func TestNothingOverlaps(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		nodes, edges := graphs(t, 30)
		check(t, nodes, edges, Place(nodes, edges, Options{}))
	})
}

// check tells of boxes that lie over boxes, of labels that lie over anything, and of edges that run through boxes, do not
// begin and end at the borders of theirs, or are not at right angles.
func check(t rapid.TB, nodes []Node, edges []Edge, l *Layout) {
	t.Helper()
	inside := func(r Rect, what string) {
		if r.X < -0.01 || r.Y < -0.01 || r.X+r.Width > l.Width+0.01 || r.Y+r.Height > l.Height+0.01 || math.IsNaN(r.X+r.Y) {
			t.Fatalf("%s %v is not within %g x %g", what, r, l.Width, l.Height)
		}
	}
	for i, a := range l.Nodes {
		inside(a, "box")
		if a.Width != nodes[i].Width || a.Height < nodes[i].Height {
			t.Fatalf("box %d is %v, asked for %v", i, a, nodes[i])
		}
		for j, b := range l.Nodes[:i] {
			if overlap(a, b, 8) {
				t.Fatalf("boxes %d and %d: %v %v", i, j, a, b)
			}
		}
	}
	for i, e := range edges {
		r := l.Routes[i]
		if !e.within(len(nodes)) {
			if len(r.Points) > 0 {
				t.Fatalf("edge %d %v leads nowhere, and has a way", i, e)
			}
			continue
		}
		if len(r.Points) < 2 || !onBorder(r.Points[0], l.Nodes[e.From]) || !onBorder(r.Points[len(r.Points)-1], l.Nodes[e.To]) {
			t.Fatalf("edge %d %v: %v does not lead from %v to %v", i, e, r.Points, l.Nodes[e.From], l.Nodes[e.To])
		}
		for k := 1; k < len(r.Points); k++ {
			p, q := r.Points[k-1], r.Points[k]
			if math.Abs(p.X-q.X) > 0.01 && math.Abs(p.Y-q.Y) > 0.01 {
				t.Fatalf("edge %d is slanted: %v", i, r.Points)
			}
			way := Rect{min(p.X, q.X), min(p.Y, q.Y), math.Abs(p.X - q.X), math.Abs(p.Y - q.Y)}
			inside(way, "way")
			for j, b := range l.Nodes {
				if overlap(way, b, -0.6) {
					t.Fatalf("edge %d %v runs through box %d %v: %v", i, e, j, b, r.Points)
				}
			}
		}
		if !e.labelled() {
			continue
		}
		inside(r.Label, "label")
		for j, b := range l.Nodes {
			if overlap(r.Label, b, 1) {
				t.Fatalf("the label of edge %d lies over box %d: %v %v", i, j, r.Label, b)
			}
		}
		for j := range i {
			if edges[j].labelled() && edges[j].within(len(nodes)) && overlap(r.Label, l.Routes[j].Label, 1) {
				t.Fatalf("the labels of edges %d and %d: %v %v", i, j, r.Label, l.Routes[j].Label)
			}
		}
	}
}

// overlap tells whether two rectangles are nearer than that.
func overlap(a, b Rect, near float64) bool {
	return a.X < b.X+b.Width+near && b.X < a.X+a.Width+near && a.Y < b.Y+b.Height+near && b.Y < a.Y+a.Height+near
}

func onBorder(p Point, r Rect) bool {
	within := p.X >= r.X-0.6 && p.X <= r.X+r.Width+0.6 && p.Y >= r.Y-0.6 && p.Y <= r.Y+r.Height+0.6
	deep := p.X > r.X+0.6 && p.X < r.X+r.Width-0.6 && p.Y > r.Y+0.6 && p.Y < r.Y+r.Height-0.6
	return within && !deep
}

func TestSameGraphSameLayout(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		nodes, edges := graphs(t, 12)
		if a, b := Place(nodes, edges, Options{}), Place(nodes, edges, Options{}); !reflect.DeepEqual(a, b) {
			t.Fatalf("%v\n%v", a, b)
		}
	})
}

// TestLarge lays out two hundred boxes: a star, a chain, a grid, and nothing that is connected.
func TestLarge(t *testing.T) {
	const n = 200
	for name, edge := range map[string]func(i int) []Edge{
		"star":  func(i int) []Edge { return []Edge{{From: 0, To: i, Width: 40, Height: 20}} },
		"chain": func(i int) []Edge { return []Edge{{From: i - 1, To: i}} },
		"grid": func(i int) []Edge {
			return []Edge{{From: i / 2, To: i}, {From: max(0, i-15), To: i, Width: 30, Height: 20}}
		},
		"none": func(int) []Edge { return nil },
	} {
		t.Run(name, func(t *testing.T) {
			nodes := make([]Node, n)
			var edges []Edge
			for i := range nodes {
				nodes[i] = Node{Width: 150, Height: 100 + float64(i%7)*10}
				if i > 0 {
					edges = append(edges, edge(i)...)
				}
			}
			l := Place(nodes, edges, Options{})
			check(t, nodes, edges, l)
			if name != "chain" && l.Width > 5*l.Height {
				t.Errorf("%g x %g is no page", l.Width, l.Height)
			}
		})
	}
}

// TestFewCrossings: what can be drawn without crossings is.
func TestFewCrossings(t *testing.T) {
	for name, c := range map[string]struct {
		boxes int
		edges [][2]int
		most  int
	}{
		"a tree":              {7, [][2]int{{0, 1}, {0, 2}, {1, 5}, {2, 3}, {1, 6}, {2, 4}}, 0},
		"a ladder, twisted":   {8, [][2]int{{0, 7}, {1, 6}, {2, 5}, {3, 4}}, 0},
		"two by two, crossed": {4, [][2]int{{0, 3}, {1, 2}, {0, 2}, {1, 3}}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			var edges []Edge
			for _, e := range c.edges {
				edges = append(edges, Edge{From: e[0], To: e[1]})
			}
			p := &part{o: Options{}.filled(), l: &Layout{Nodes: make([]Rect, c.boxes), Routes: make([]Route, len(edges))}}
			nodes := make([]Node, c.boxes)
			for i := range nodes {
				nodes[i] = Node{Width: 50, Height: 30}
				p.members = append(p.members, i)
			}
			p.build(nodes, edges)
			p.rank(1e9)
			p.order()
			if n := p.crossings(); n > c.most {
				t.Errorf("%d crossings, %d would do", n, c.most)
			}
		})
	}
}

// A straight way stays straight, and what is symmetric looks it.
func TestStraight(t *testing.T) {
	nodes := []Node{{Width: 100, Height: 50}, {Width: 60, Height: 50}, {Width: 180, Height: 50}}
	l := Place(nodes, []Edge{{From: 0, To: 1, Width: 30, Height: 20}, {From: 1, To: 2}}, Options{})
	for i, r := range l.Routes {
		if len(r.Points) != 2 {
			t.Errorf("edge %d: %v", i, r.Points)
		}
	}
	l = Place([]Node{{Width: 80, Height: 30}, {Width: 80, Height: 30}, {Width: 80, Height: 30}}, []Edge{{From: 0, To: 1}, {From: 0, To: 2}}, Options{})
	middle := func(i int) float64 { return l.Nodes[i].X + l.Nodes[i].Width/2 }
	if math.Abs(middle(0)-(middle(1)+middle(2))/2) > 1 {
		t.Errorf("the parent is at %g, its children at %g and %g", middle(0), middle(1), middle(2))
	}
}

func BenchmarkPlace(b *testing.B) {
	for _, n := range []int{30, 200} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			nodes := make([]Node, n)
			var edges []Edge
			for i := range nodes {
				nodes[i] = Node{Width: 150, Height: 100}
				if i > 0 {
					edges = append(edges, Edge{From: i / 2, To: i, Width: 30, Height: 20}, Edge{From: max(0, i-7), To: i})
				}
			}
			b.ResetTimer()
			for range b.N {
				Place(nodes, edges, Options{})
			}
		})
	}
}
