package sequence

import (
	"context"
	"math"
	"math/rand/v2"

	"github.com/helenus-db/helenus/advisor/choice"
	"github.com/helenus-db/helenus/advisor/solve"
)

// shape says how large a synthetic problem is.
type shape struct {
	queries  int // of each of two groups
	entities int // of the chain that queries go along
	variants int // of tables by query and stretch
	shared   int // of tables by stretch, which all queries can read
	steps    int
	weights  func(group, step int) float64
	share    float64 // of the space that all views and parts would take
}

// cycles weighs the groups as tpch-cycles.yaml does (W-43), stretched or cut to any number of steps.
func cycles(group, step int) float64 {
	if (step/3+group)%2 == 0 {
		return 0.1
	}
	return 0.9
}

// synthetic is a problem shaped like TPC-H's over time: queries along stretches of a chain of entities, in two groups, each of them answered from
// one table over all of its stretch (a view), or from two that meet anywhere in it, in many variants. Longer stretches are larger tables; a
// table that covers a stretch can fill those within it, at the cost of reading it.
func synthetic(seed uint64, z shape) *Problem {
	r := rand.New(rand.NewPCG(seed, 5))
	p := &Problem{}
	for range z.steps {
		p.Steps = append(p.Steps, Step{})
	}
	type kind struct{ from, to int } // a stretch
	width := make([]float64, z.entities)
	for e := range width {
		width[e] = math.Pow(1.6, float64(e))
	}
	var kinds []kind // by table
	add := func(k kind) int {
		size := 0.0
		for e := k.from; e <= k.to; e++ {
			size += width[e]
		}
		size *= (0.3 + r.Float64()) * float64(1+k.to-k.from)
		t := Table{Size: size}
		for s := range z.steps {
			t.Upkeep = append(t.Upkeep, size*0.002*(1+r.Float64()*0.01))
			t.Birth = append(t.Birth, size*0.03)
			if s == 0 {
				t.Birth[0] = 0
			}
		}
		p.Tables = append(p.Tables, t)
		kinds = append(kinds, k)
		return len(kinds) - 1
	}
	common := map[kind][]int{}
	for from := range z.entities {
		for to := from; to < z.entities; to++ {
			for range z.shared {
				common[kind{from, to}] = append(common[kind{from, to}], add(kind{from, to}))
			}
		}
	}
	for i := range 2 * z.queries {
		length := 1 + r.IntN(min(5, z.entities))
		from := r.IntN(z.entities - length + 1)
		to := from + length - 1
		d := Demand{States: 2 + length}
		for s := range z.steps {
			d.Weights = append(d.Weights, 20*z.weights(i%2, s))
		}
		read := func(k kind, a, b int, factor float64) {
			list := append([]int(nil), common[k]...)
			for range z.variants {
				list = append(list, add(k))
			}
			for _, n := range list {
				price := factor * (1 + r.Float64()) * (0.2 + p.Tables[n].Size*0.01)
				d.Arcs = append(d.Arcs, choice.Arc{From: a, To: b, Price: price, Table: n})
			}
		}
		read(kind{from, to}, choice.Source, choice.Sink, 0.3)
		for m := from; m < to; m++ {
			read(kind{from, m}, choice.Source, 2+m-from, 1)
			read(kind{m + 1, to}, 2+m-from, choice.Sink, 3)
		}
		p.Demands = append(p.Demands, d)
	}
	p.Loads = make([]Load, len(p.Tables))
	for n, k := range kinds {
		l := Load{States: 2}
		for m, other := range kinds {
			if m != n && other.from <= k.from && other.to >= k.to && (m < z.shared*z.entities*z.entities || m%7 == n%7) {
				l.Arcs = append(l.Arcs, choice.Arc{From: choice.Source, To: choice.Sink, Price: p.Tables[m].Size * 0.03 / 3, Table: m})
			}
		}
		p.Loads[n] = l
	}
	if z.share > 0 {
		p.limit(z.share)
	}
	return p
}

// limit sets the space of all steps to a share of what the best single design takes, chosen for the average of all steps (W-45).
func (p *Problem) limit(share float64) {
	c := p.staticProblem(0)
	for i := range c.Demands {
		c.Demands[i].Weight = 0
		for _, w := range p.Demands[i].Weights {
			c.Demands[i].Weight += w
		}
	}
	for n := range c.Tables {
		c.Tables[n].Upkeep = 0
		for _, u := range p.Tables[n].Upkeep {
			c.Tables[n].Upkeep += u
		}
	}
	r, err := choice.Solve(context.Background(), c, choice.Options{Limits: solve.Limits{Gap: 0.01}})
	if err != nil {
		panic(err) // without a limit everything can be answered
	}
	sum := 0.0
	for n, is := range r.Open {
		if is {
			sum += p.Tables[n].Size
		}
	}
	for t := range p.Steps {
		p.Steps[t].Space = share * sum
	}
}
