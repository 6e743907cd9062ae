package infer

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sort"
	"strings"

	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/workload"
	"github.com/helenus-db/helenus/capture/feed"
)

// Bounds of the feed graph.
const (
	support      = 20 // executions of a producer that must have been followed
	maxProducers = 8  // of one consumer; the greatest shares stay: feeds of less than 3 % are not told (capture/feed), and a table object is asked by all
	maxDepth     = 6  // statements one after the other
	// nearlyAll is the share of executions from which on all count as fed: windows begin and end in the middle of things,
	// and decoys take away a few.
	nearlyAll = 0.95
)

// edge is what one statement feeds to another, by one or more columns: in one role. An order's buyer and its seller are two edges.
type edge struct {
	from, to  int         // of flows.all
	feeds     []feed.Feed // first that of the role, whose share it is
	share     float64     // of the consumer's executions
	followed  float64     // share of the producer's executions that the consumer follows
	again     float64     // of a statement that feeds itself: its executions per second that are fed
	joins     []int       // of Model.Joins
	composite bool        // the feeds are of a key of several columns, the first of a part that nothing else is called by
	asked     []string    // the consumer's columns with parts of that key that the producer was asked for
}

// flows attributes executions to producers and makes conceptual statements of them.
type flows struct {
	m      *Model
	all    []*said // by fingerprint
	writes map[*said]*whole
	index  map[string]int // by fingerprint
	in     [][]*edge
	out    [][]*edge
	depth  []int // of each, how many statements are above it in the longest chain that ends with it
	height []int // and how many below it
	seen   []int // by closes, which of its walks came by last
	walks  int
	self   map[int]*edge // statements that feed themselves: a task's parent is a task
	ruled  *rulings
}

// connect makes the feed graph: per pair of statements one edge for each role, greatest share first, as long as there is no circle, no
// statement has too many producers, and no chain gets too long. What is left out is counted as if it came from outside.
func (f *flows) connect(feeds []feed.Feed) {
	f.clear()
	edges := map[[2]int]*edge{} // of all roles
	for _, fd := range feeds {
		j := Join{Feed: fd, From: fd.From.Table + "." + fd.From.Column, To: fd.To.Table + "." + fd.To.Column}
		from, knownFrom := f.index[fd.From.Fingerprint]
		to, knownTo := f.index[fd.To.Fingerprint]
		switch {
		case !knownFrom || !knownTo:
			j.Reason = "one of its statements is not in the workload"
		default:
			j.Producer, j.Consumer = f.all[from].statement.Text, f.all[to].statement.Text
			j.Reason = f.refuse(&fd, f.all[from], f.all[to])
		}
		f.m.Joins = append(f.m.Joins, j)
		if j.Reason != "" {
			continue
		}
		e := edges[[2]int{from, to}]
		if e == nil {
			e = &edge{from: from, to: to}
			edges[[2]int{from, to}] = e
		}
		e.feeds = append(e.feeds, fd)
		e.joins = append(e.joins, len(f.m.Joins)-1)
	}
	var sorted []*edge
	for _, e := range edges {
		wholes := f.wholes(e)
		sorted = append(sorted, wholes...)
		if f.single(e); len(e.feeds) == 0 {
			continue
		}
		if len(wholes) > 0 { // what else comes with the key
			wholes[0].feeds, wholes[0].joins = append(wholes[0].feeds, e.feeds...), append(wholes[0].joins, e.joins...)
			continue
		}
		sorted = append(sorted, e.roles(f.all[e.to])...)
	}
	slices.SortFunc(sorted, func(a, b *edge) int {
		return cmp.Or(cmp.Compare(b.share, a.share), cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to), cmp.Compare(a.joins[0], b.joins[0]))
	})
	for _, e := range sorted {
		if reason := f.place(e); reason != "" {
			f.leave(e, reason)
		}
	}
	for to, in := range f.in {
		if e := f.self[to]; e != nil {
			in = append(slices.Clone(in), e)
		}
		sum := 0.0
		for _, e := range in {
			sum += e.share
		}
		if sum < nearlyAll {
			continue
		}
		if f.self[to] != nil { // something has to be first
			sum = max(sum, 1)
		}
		for _, e := range in {
			e.share /= sum
		}
	}
}

// roles are the edges between two statements: one, if each variable of the consumer is fed by one column (a tenant's and a member's id); if one variable
// is fed by several columns, sometimes by this and sometimes by that one, an edge for each of them, with what feeds the other variables. Of feeds that come
// together the one of the greatest share is the first; of nearly equal ones, that which leaves least open: the member's id, and not the tenant's.
func (e *edge) roles(to *said) []*edge {
	fed := map[int][]int{} // by variable, feeds
	several := -1
	for i := range e.feeds {
		v := e.feeds[i].To.Index
		if fed[v] = append(fed[v], i); len(fed[v]) > 1 && (several < 0 || len(fed[v]) > len(fed[several])) {
			several = v
		}
	}
	var heads []int
	if several >= 0 {
		heads = fed[several]
	} else {
		heads = []int{0}
		for i := range e.feeds {
			ahead := shareOf(&e.feeds[i]) - shareOf(&e.feeds[heads[0]])
			if ahead > 1-nearlyAll || ahead > nearlyAll-1 && to.narrows(&e.feeds[i]) > to.narrows(&e.feeds[heads[0]]) {
				heads[0] = i
			}
		}
	}
	var out []*edge
	for _, head := range heads {
		one := &edge{from: e.from, to: e.to, feeds: []feed.Feed{e.feeds[head]}, joins: []int{e.joins[head]}, share: shareOf(&e.feeds[head]), followed: e.feeds[head].Followed}
		for i := range e.feeds {
			if i != head && (several < 0 || e.feeds[i].To.Index != several) {
				one.feeds, one.joins = append(one.feeds, e.feeds[i]), append(one.joins, e.joins[i])
			}
		}
		out = append(out, one)
	}
	return out
}

// narrows is how many different values what a feed binds has.
func (s *said) narrows(f *feed.Feed) float64 {
	if bound := s.source.fields[f.To.Column]; !bound.IsZero() {
		return bound.Distinct()
	}
	return 0
}

// shareOf is the share of the consumer's executions that a feed accounts for. Findings from before shares were told have hits and decoys only.
func shareOf(fd *feed.Feed) float64 {
	if fd.Share > 0 {
		return fd.Share
	}
	return min(1, float64(max(fd.Hits-fd.Decoys, 0))/float64(max(fd.Executions-fd.Decoys, 1)))
}

// refuse says why a feed is no join, "" if it may be one.
func (f *flows) refuse(fd *feed.Feed, from, to *said) string {
	answer, asked := f.ruled.joined(fd)
	switch {
	case asked && !answer.yes:
		return strings.TrimSuffix("a person said that it is no join: "+answer.because, ": ")
	case fd.Shape == feed.Pagination:
		return "one query read on, page by page"
	case fd.SupportRead || to.query == nil:
		return "it feeds a write: a read that the write needs"
	case from.query == nil:
		return "its producer is not a read"
	case fd.Executions <= 0 || fd.Hits <= fd.Decoys:
		return "no more hits than by chance"
	case asked: // what follows is about whether it is one
	case fd.Producers < support:
		return fmt.Sprintf("seen after %d executions only, %d are needed", fd.Producers, support)
	case fd.Confidence < Probable:
		return fmt.Sprintf("confidence %.2f, %.2f is needed", fd.Confidence, Probable)
	}
	if whole := f.parts(fd, from, to); len(whole) > 0 && f.equal(fd, to) && has(from.query.selected, from.source.fields[fd.From.Column]) {
		return ""
	}
	return f.mismatch(fd, from, to)
}

// mismatch says why what a feed delivers is not the key that its consumer asks for.
func (f *flows) mismatch(fd *feed.Feed, from, to *said) string {
	delivered, bound := from.source.fields[fd.From.Column], to.source.fields[fd.To.Column]
	switch {
	case delivered.IsZero() || bound.IsZero():
		return "one of its columns is not in the schema"
	case delivered.Entity.Base() != bound.Entity.Base() || delivered.Attribute != bound.Attribute:
		return fmt.Sprintf("no relationship is known by which %s is %s", bound, delivered)
	case len(delivered.Entity.Key) != 1: // of parts of a key, all are needed
		return fmt.Sprintf("%s identifies a %s only with the rest of its key", fd.To.Column, delivered.Entity.Name)
	case !delivered.IsKey():
		return fmt.Sprintf("%s does not identify a %s", delivered, delivered.Entity.Name)
	case !has(from.query.selected, delivered):
		return "the producer does not return the column itself"
	}
	if !f.equal(fd, to) {
		return "the consumer does not ask for it by equality"
	}
	return ""
}

// equal tells whether the consumer asks for what is fed by equality.
func (f *flows) equal(fd *feed.Feed, to *said) bool {
	return slices.ContainsFunc(to.query.where, func(c condition) bool {
		return c.Field == to.source.fields[fd.To.Column] && c.Op == workload.Equal
	})
}

// leave notes that an edge is not used. What feeds variables of two roles may be used in the other one.
func (f *flows) leave(e *edge, reason string) {
	for n, j := range e.joins {
		if n > 0 && f.m.Joins[j].Accepted {
			continue
		}
		f.m.Joins[j].Accepted, f.m.Joins[j].Reason, f.m.Joins[j].Share, f.m.Joins[j].Query = false, reason, 0, ""
	}
}

// clear leaves nothing fed by anything.
func (f *flows) clear() {
	n := len(f.all)
	f.self = map[int]*edge{}
	f.in, f.out = make([][]*edge, n), make([][]*edge, n)
	f.depth, f.height, f.seen = make([]int, n), make([]int, n), make([]int, n)
}

// place puts an edge into the graph, or says why not.
func (f *flows) place(e *edge) (refused string) {
	switch {
	case e.from == e.to && f.self[e.to] == nil:
		f.self[e.to] = e
	case f.closes(e):
		return "it would close a circle of statements that feed each other"
	case len(f.in[e.to]) >= maxProducers:
		return fmt.Sprintf("%d other statements feed the same one more often", maxProducers)
	case f.depth[e.from]+2+f.height[e.to] > maxDepth:
		return fmt.Sprintf("a chain of more than %d statements", maxDepth)
	default:
		f.in[e.to] = append(f.in[e.to], e)
		f.out[e.from] = append(f.out[e.from], e)
		f.deepen(e.to, f.depth[e.from]+1)
		f.heighten(e.from, f.height[e.to]+1)
	}
	return ""
}

// closes tells whether an edge would close a circle: whether what it leads to is above where it begins. It looks upwards, where each has few
// producers, at each statement once, and not above the depth of the one that it looks for: depth grows along every edge.
func (f *flows) closes(e *edge) bool {
	f.walks++
	return f.above(e.from, e.to)
}

func (f *flows) above(i, wanted int) bool {
	if i == wanted {
		return true
	}
	if f.seen[i] == f.walks || f.depth[i] <= f.depth[wanted] {
		return false
	}
	f.seen[i] = f.walks
	return slices.ContainsFunc(f.in[i], func(e *edge) bool { return f.above(e.from, wanted) })
}

// deepen and heighten keep depth and height right after an edge was added, each statement at most maxDepth times in all.
func (f *flows) deepen(i, depth int) {
	if depth <= f.depth[i] {
		return
	}
	f.depth[i] = depth
	for _, e := range f.out[i] {
		f.deepen(e.to, depth+1)
	}
}

func (f *flows) heighten(i, height int) {
	if height <= f.height[i] {
		return
	}
	f.height[i] = height
	for _, e := range f.in[i] {
		f.heighten(e.from, height+1)
	}
}

// path is a path query that grows from a root down the feed graph.
type path struct {
	asked asked
	graph *model.Graph
	names map[int]renaming       // by statement: its entities as they are called in the path
	many  map[*model.Entity]bool // entities at which the path fans out already
	last  *model.Entity          // of the statement joined last
	parts []part
	edges []*edge
	forks [][]*edge // ways down from the root that would be a second list below one entity: paths of their own
}

// renaming says which entity of the path an entity of a statement is.
type renaming map[*model.Entity]*model.Entity

func (r renaming) field(f model.Field) model.Field {
	if e := r[f.Entity]; e != nil {
		f.Entity = e
	}
	return f
}

// part is a statement in a path with its executions per second that belong to it.
type part struct {
	said    *said
	rate    float64
	counted bool // in another path of the same root
}

// emit makes the conceptual statements. Producers come before consumers, so that what can not be joined to its
// producer is known to come alone by the time its turn comes.
func (f *flows) emit() {
	order := make([]int, len(f.all))
	alone := make([]float64, len(f.all)) // executions per second that are the root of something
	for i, s := range f.all {
		order[i] = i
		alone[i] = s.rate
		for _, e := range f.in[i] {
			alone[i] -= e.share * s.rate
		}
	}
	f.split(alone)
	sort.SliceStable(order, func(a, b int) bool { return f.depth[order[a]] < f.depth[order[b]] })
	for _, i := range order {
		s := f.all[i]
		switch {
		case s.writes != nil:
			f.write(s)
		case alone[i] <= 1e-9*s.rate:
		case s.query.lists():
			if e := f.self[i]; e != nil {
				alone[i] += e.again
				f.leave(e, "asks for a list of values (IN) that no other statement supplies")
			}
			f.m.unexplained(s.statement, "asks for a list of values (IN) that no other statement supplies", alone[i]/s.rate)
			for _, e := range f.out[i] { // what it feeds is asked for alone, as far as the model can tell
				alone[e.to] += e.share * f.all[e.to].rate * alone[i] / s.rate
			}
		default:
			f.root(i, alone)
		}
	}
	for i := range f.m.Joins {
		if j := &f.m.Joins[i]; !j.Accepted && j.Reason == "" {
			j.Reason = "no executions of its producer are in the workload"
		}
	}
}

// split takes what statements feed themselves from the executions that are roots. It is joined to these: once, that is to say, as the chain of a parent's parents is
// as long as it is. What others are fed by executions below the first comes, to them, from outside.
func (f *flows) split(alone []float64) {
	for i := range f.all {
		e := f.self[i]
		if e == nil {
			continue
		}
		again := min(e.share*f.all[i].rate, max(alone[i], 0))
		if alone[i]-again < 1e-9*f.all[i].rate {
			f.leave(e, "all of its executions are fed by itself: nothing is the first")
			delete(f.self, i)
			continue
		}
		alone[i] -= again
		e.again = again
		for _, o := range f.out[i] {
			alone[o.to] += o.share * f.all[o.to].rate * again / f.all[i].rate
		}
	}
}

// root makes the conceptual statements of the executions of a read that no other fed.
func (f *flows) root(i int, alone []float64) {
	s := f.all[i]
	p := f.begin(i, alone[i])
	followed := 0.0
	if e := f.self[i]; e != nil {
		own := p.names[i]
		if reason := p.join(s, e); reason == "" {
			p.parts, p.edges = append(p.parts, part{said: s, rate: e.again}), append(p.edges, e)
			followed = min(1, e.again/alone[i])
		} else {
			f.leave(e, reason)
			alone[i] += e.again
			p.parts[0].rate = alone[i]
		}
		p.names[i] = own
	}
	for _, e := range f.byRate(i) {
		if f.grow(p, []*edge{e}, alone[i], alone) {
			followed = max(followed, e.followed)
		}
	}
	single := alone[i]
	if followed <= 0 || followed > 1 {
		followed = 1
	}
	if len(p.parts) > 1 {
		single -= alone[i] * followed
		f.addPath(p, alone[i]*followed)
	}
	for n := 0; n < len(p.forks); n++ {
		f.fork(p, p.forks[n], alone[i], alone[i]*followed, alone)
	}
	if single > 1e-9*s.rate {
		f.add("q-"+digest(s.statement.Fingerprint), &workload.Statement{Weight: single, Query: s.query.query()},
			[]Use{{Fingerprint: s.statement.Fingerprint, PerExecution: 1}})
	}
}

// begin is a path of its root alone.
func (f *flows) begin(i int, rate float64) *path {
	s := f.all[i]
	own := renaming{}
	for _, e := range s.query.tree.Entities {
		own[e] = e
	}
	return &path{
		asked: s.query.begun(), graph: f.m.Graph, names: map[int]renaming{i: own}, many: map[*model.Entity]bool{}, last: s.source.entity,
		parts: []part{{said: s, rate: rate}},
	}
}

// fork makes the path of a second list below one entity: from the same root down, where what is above the list is counted in the first path.
func (f *flows) fork(first *path, way []*edge, executions, weight float64, alone []float64) {
	p := f.begin(way[0].from, executions)
	rate := executions
	for n, e := range way {
		rate = e.share * f.all[e.to].rate * rate / f.all[e.from].rate
		if reason := p.join(f.all[e.to], e); reason != "" {
			alone[e.to] += rate
			f.leave(e, reason)
			return
		}
		p.parts = append(p.parts, part{said: f.all[e.to], rate: rate, counted: n < len(way)-1})
		if n == len(way)-1 {
			p.edges = append(p.edges, e)
		}
	}
	p.parts[0].counted = true
	for _, next := range f.byRate(way[len(way)-1].to) {
		f.grow(p, append(slices.Clone(way), next), rate, alone)
	}
	first.forks = append(first.forks, p.forks...)
	f.addPath(p, weight)
}

// begun is a query as the first of a path: sorted as its rows come, so that those of the path do, too.
func (q *asked) begun() asked {
	out := *q
	if out.inOrder {
		out.order = append([]workload.Order(nil), out.lies...)
	}
	if out.limited {
		out.limit = max(1, out.limit)
	}
	return out
}

// byRate lists what a statement feeds, most executions first. What follows about as often is in the order of its name, so that a path is called, and joined, the
// same in each round: executions for one of the producer are rounded to a power of two, since most are one.
func (f *flows) byRate(i int) []*edge {
	out := slices.Clone(f.out[i])
	often := func(e *edge) float64 { return math.Round(math.Log2(e.share * f.all[e.to].rate / f.all[i].rate)) }
	slices.SortStableFunc(out, func(a, b *edge) int {
		return cmp.Or(cmp.Compare(often(b), often(a)), cmp.Compare(a.to, b.to), cmp.Compare(a.joins[0], b.joins[0]))
	})
	return out
}

// grow joins the consumer at the end of a way from the root to the path, and what it feeds in turn; executions is how many of the producer's belong to
// the path. A consumer that can not be joined becomes a root by itself.
func (f *flows) grow(p *path, way []*edge, executions float64, alone []float64) bool {
	e := way[len(way)-1]
	to := f.all[e.to]
	rate := e.share * to.rate * executions / f.all[e.from].rate
	switch reason := p.join(to, e); {
	case reason == crossProduct:
		p.forks = append(p.forks, slices.Clone(way))
		return true
	case reason != "":
		alone[e.to] += rate
		if e.joins != nil && !f.m.Joins[e.joins[0]].Accepted {
			f.leave(e, reason)
		}
		return false
	}
	p.parts = append(p.parts, part{said: to, rate: rate})
	p.edges = append(p.edges, e)
	for _, next := range f.byRate(e.to) {
		f.grow(p, append(slices.Clone(way), next), rate, alone)
	}
	return true
}

// addPath makes a path query.
func (f *flows) addPath(p *path, weight float64) {
	var names []string
	uses := make([]Use, len(p.parts))
	for n, x := range p.parts {
		names = append(names, digest(x.said.statement.Fingerprint))
		uses[n] = Use{Fingerprint: x.said.statement.Fingerprint, PerExecution: x.rate / weight, Joined: n > 0}
		if n == 0 {
			uses[n].PerExecution = 1
		}
		if x.counted {
			uses[n].PerExecution = 0
		}
	}
	q := p.asked.query()
	if tree, err := model.NewTree(p.last, q.Tree.Edges...); err == nil {
		q.Tree = tree
	}
	id := f.add("p-"+strings.Join(names, "-"), &workload.Statement{Weight: weight, Query: q}, uses)
	for _, e := range p.edges {
		for _, j := range e.joins {
			join := &f.m.Joins[j]
			if join.Accepted { // in the path of the greater part of its executions already
				continue
			}
			join.Accepted, join.Reason, join.Share, join.Query = true, "", e.share, id
		}
	}
}

// add adds a statement to the workload under an ID of its own, which it returns.
func (f *flows) add(id string, st *workload.Statement, uses []Use) string {
	base := id
	for n := 2; f.m.Workload.Statement(id) != nil; n++ {
		id = fmt.Sprintf("%s-%d", base, n)
	}
	st.ID = id
	for _, u := range uses {
		u.Statement = id
		st.Sources = append(st.Sources, u.Fingerprint)
		f.m.Uses = append(f.m.Uses, u)
	}
	f.m.Workload.Statements = append(f.m.Workload.Statements, st)
	return id
}
