package sequence

// aliveTables lists the tables that are not closed for good: those that are left, and those there before that are to be dropped.
func (in *instance) aliveTables() (list []int) {
	for n := range in.size {
		is := in.p.Tables[n].There
		for t := range in.status {
			is = is || in.status[t][n] != closed
		}
		if is {
			list = append(list, n)
		}
	}
	return list
}

// subInstance is the instance with some of its tables alone, numbered by their place in a list, and by table the roles that its load's graph had
// before. Package solve's and all other lists over tables are as short as what is left then.
func (in *instance) subInstance(alive []int) (*instance, [][]int32) {
	number := make([]int32, len(in.size))
	for n := range number {
		number[n] = none
	}
	p := *in.p
	next := &instance{p: &p, class: in.class, begin: in.begin, states: in.states}
	p.Tables, p.Loads = nil, nil
	for i, n := range alive {
		number[n] = int32(i)
		p.Tables = append(p.Tables, in.p.Tables[n])
		next.size = append(next.size, in.size[n])
	}
	for t := range in.status {
		status, unborn := make([]int8, len(alive)), make([]bool, len(alive))
		for i, n := range alive {
			status[i], unborn[i] = in.status[t][n], in.unborn[t][n]
		}
		next.status, next.unborn = append(next.status, status), append(next.unborn, unborn)
	}
	renumber := func(g *graph) (*graph, []int32) {
		less, was := g.subgraph(func(a int) bool { r := g.arcs[a].role; return r == 0 || number[g.roles[r].table] != none })
		for j := range less.roles[1:] {
			less.roles[j+1].table = number[less.roles[j+1].table]
		}
		return less, was
	}
	var roles [][]int32
	for _, n := range alive {
		g, was := renumber(in.loads[n])
		next.loads, roles = append(next.loads, g), append(roles, was)
	}
	for i := range in.demands {
		list := make([]*graph, len(in.demands[i]))
		for k, g := range in.demands[i] {
			if k > 0 && g == in.demands[i][k-1] {
				list[k] = list[k-1]
				continue
			}
			list[k], _ = renumber(g)
		}
		next.demands = append(next.demands, list)
		var needed []int32
		if in.needed[i] != nil {
			needed = []int32{}
			for _, n := range in.needed[i] {
				if number[n] != none {
					needed = append(needed, number[n])
				}
			}
		}
		next.needed = append(next.needed, needed)
	}
	return next, roles
}

// subDual is the dual over what is left of its instance, which has been compacted: the arcs of demands stay what they are, and so do
// their multipliers, but for demands that nothing needs any more.
func (x *dual) subDual(alive []int) *dual {
	in, roles := x.in.subInstance(alive)
	y := newDual(in)
	for i := range in.demands {
		for k, g := range in.demands[i] {
			from, to := x.at[i][k], y.at[i][k]
			copy(y.lambda[to:to+len(g.roles)], x.lambda[from:])
			copy(y.direction[to:to+len(g.roles)], x.direction[from:])
			j := 0
			for was, n := range x.in.needed[i] {
				if j < len(in.needed[i]) && alive[in.needed[i][j]] == int(n) {
					y.lambda[to+len(g.roles)+j] = x.lambda[from+len(g.roles)+was]
					y.direction[to+len(g.roles)+j] = x.direction[from+len(g.roles)+was]
					j++
				}
			}
		}
	}
	for j := range 2 * len(x.status) {
		y.lambda[y.spaceAt+j], y.direction[y.spaceAt+j] = x.lambda[x.spaceAt+j], x.direction[x.spaceAt+j]
	}
	for i, n := range alive {
		for t := range x.status {
			y.kept[t][i], y.used[t][i] = x.kept[t][n], x.used[t][n]
			if x.loadAt[t][n] < 0 {
				continue
			}
			y.loadAt[t][i] = int32(len(y.lambda))
			y.loaded = append(y.loaded, [2]int32{int32(t), int32(i)})
			for _, was := range roles[i] {
				at := int(x.loadAt[t][n] + was)
				y.lambda, y.direction, y.gradient = append(y.lambda, x.lambda[at]), append(y.direction, x.direction[at]), append(y.gradient, 0)
			}
		}
	}
	y.theta, y.weight = x.theta, x.weight
	return y
}

// toAlive says a sequence in the numbers of what is left, fromAlive the reverse.
func (s *solver) toAlive(list [][]bool) [][]bool {
	if s.alive == nil || list == nil {
		return list
	}
	next := make([][]bool, len(list))
	for t := range list {
		next[t] = make([]bool, len(s.alive))
		for i, n := range s.alive {
			next[t][i] = list[t][n]
		}
	}
	return next
}

func (s *solver) fromAlive(list [][]bool) [][]bool {
	if s.alive == nil || list == nil {
		return list
	}
	next := make([][]bool, len(list))
	for t := range list {
		next[t] = make([]bool, len(s.p.Tables))
		for i, n := range s.alive {
			next[t][n] = list[t][i]
		}
	}
	return next
}

// setInstance makes what is left the instance; alive are its tables.
func (s *solver) setInstance(in *instance, alive []int) {
	s.in = in
	if s.alive == nil {
		s.alive = alive
		return
	}
	next := make([]int, len(alive))
	for i, n := range alive {
		next[i] = s.alive[n]
	}
	s.alive = next
}
