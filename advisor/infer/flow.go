package infer

import (
	"fmt"
	"sort"
	"strings"

	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/workload"
	"github.com/helenus-db/helenus/capture/feed"
)

// Bounds of the feed graph.
const (
	support      = 20 // executions of a producer that must have been followed
	maxProducers = 3  // of one consumer; the greatest shares stay
	maxDepth     = 6  // statements one after the other
	// nearlyAll is the share of executions from which on all count as fed: windows begin and end in the middle of things,
	// and decoys take away a few.
	nearlyAll = 0.95
)

// edge is what one statement feeds to another, by one or more columns.
type edge struct {
	from, to int // of flows.all
	feeds    []feed.Feed
	share    float64 // of the consumer's executions
	followed float64 // share of the producer's executions that the consumer follows
	joins    []int   // of Model.Joins
}

// flows attributes executions to producers and makes conceptual statements of them.
type flows struct {
	m     *Model
	all   []*said        // by fingerprint
	index map[string]int // by fingerprint
	in    [][]*edge
	out   [][]*edge
	depth []int
	ruled *rulings
}

// connect makes the feed graph: per pair of statements one edge, greatest share first, as long as there is no circle, no
// statement has too many producers, and no chain gets too long. What is left out is counted as if it came from outside.
func (f *flows) connect(feeds []feed.Feed) {
	f.in, f.out, f.depth = make([][]*edge, len(f.all)), make([][]*edge, len(f.all)), make([]int, len(f.all))
	edges := map[[2]int]*edge{}
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
		if share := min(1, float64(fd.Hits-fd.Decoys)/float64(fd.Executions)); share > e.share {
			e.share, e.followed = share, fd.Followed
		}
	}
	sorted := make([]*edge, 0, len(edges))
	for _, e := range edges {
		sorted = append(sorted, e)
	}
	sort.Slice(sorted, func(i, j int) bool {
		a, b := sorted[i], sorted[j]
		if a.share != b.share {
			return a.share > b.share
		}
		return a.from < b.from || a.from == b.from && a.to < b.to
	})
	for _, e := range sorted {
		reason := ""
		switch {
		case f.reaches(e.to, e.from):
			reason = "it would close a circle of statements that feed each other"
		case len(f.in[e.to]) >= maxProducers:
			reason = fmt.Sprintf("%d other statements feed the same one more often", maxProducers)
		default:
			f.in[e.to] = append(f.in[e.to], e)
			f.out[e.from] = append(f.out[e.from], e)
			if f.longest() > maxDepth {
				reason = fmt.Sprintf("a chain of more than %d statements", maxDepth)
				f.in[e.to] = f.in[e.to][:len(f.in[e.to])-1]
				f.out[e.from] = f.out[e.from][:len(f.out[e.from])-1]
				f.longest()
			}
		}
		if reason != "" {
			f.leave(e, reason)
		}
	}
	for _, in := range f.in {
		sum := 0.0
		for _, e := range in {
			sum += e.share
		}
		if sum < nearlyAll {
			continue
		}
		for _, e := range in {
			e.share /= sum
		}
	}
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
	case from.query == nil || from == to:
		return "its producer is not a read of another kind"
	case fd.Executions <= 0 || fd.Hits <= fd.Decoys:
		return "no more hits than by chance"
	case asked: // what follows is about whether it is one
	case fd.Producers < support:
		return fmt.Sprintf("seen after %d executions only, %d are needed", fd.Producers, support)
	case fd.Confidence < Probable:
		return fmt.Sprintf("confidence %.2f, %.2f is needed", fd.Confidence, Probable)
	}
	delivered, bound := from.source.fields[fd.From.Column], to.source.fields[fd.To.Column]
	switch {
	case delivered.IsZero() || bound.IsZero():
		return "one of its columns is not in the schema"
	case delivered != bound:
		return fmt.Sprintf("no relationship is known by which %s is %s", bound, delivered)
	case len(delivered.Entity.Key) != 1 || !delivered.IsKey():
		return fmt.Sprintf("%s does not identify a %s", delivered, delivered.Entity.Name)
	case !has(from.query.selected, delivered):
		return "the producer does not return the column itself"
	}
	for _, c := range to.query.where {
		if c.Field == bound && c.Op == workload.Equal {
			return ""
		}
	}
	return "the consumer does not ask for it by equality"
}

// leave notes that an edge is not used.
func (f *flows) leave(e *edge, reason string) {
	for _, j := range e.joins {
		f.m.Joins[j].Accepted, f.m.Joins[j].Reason, f.m.Joins[j].Share, f.m.Joins[j].Query = false, reason, 0, ""
	}
}

func (f *flows) reaches(from, to int) bool {
	if from == to {
		return true
	}
	for _, e := range f.out[from] {
		if f.reaches(e.to, to) {
			return true
		}
	}
	return false
}

// longest sets depth, the number of statements above each, and returns the number in the longest chain.
func (f *flows) longest() int {
	for i := range f.depth {
		f.depth[i] = 0
	}
	most := 0
	for changed := true; changed; {
		changed = false
		for _, out := range f.out {
			for _, e := range out {
				if f.depth[e.to] < f.depth[e.from]+1 {
					f.depth[e.to] = f.depth[e.from] + 1
					changed = true
				}
			}
		}
	}
	for _, d := range f.depth {
		most = max(most, d+1)
	}
	return most
}

// path is a path query that grows from a root down the feed graph.
type path struct {
	asked asked
	many  map[*model.Entity]bool // entities at which the path fans out already
	last  *model.Entity          // of the statement joined last
	parts []part
	edges []*edge
}

// part is a statement in a path with its executions per second that belong to it.
type part struct {
	said *said
	rate float64
}

// emit makes the conceptual statements. Producers come before consumers, so that what can not be joined to its
// producer is known to come alone by the time its turn comes.
func (f *flows) emit() {
	f.longest()
	order := make([]int, len(f.all))
	alone := make([]float64, len(f.all)) // executions per second that are the root of something
	for i, s := range f.all {
		order[i] = i
		alone[i] = s.rate
		for _, e := range f.in[i] {
			alone[i] -= e.share * s.rate
		}
	}
	sort.SliceStable(order, func(a, b int) bool { return f.depth[order[a]] < f.depth[order[b]] })
	for _, i := range order {
		s := f.all[i]
		switch {
		case s.writes != nil:
			f.write(s)
		case alone[i] <= 1e-9*s.rate:
		case s.query.lists():
			f.m.unexplained(s.statement, "asks for a list of values (IN) that no other statement supplies")
			f.m.Unexplained[len(f.m.Unexplained)-1].Count = uint64(alone[i]*f.m.Seconds + 0.5)
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

// write makes the conceptual statements of a write. The first counts its executions; the others happen with it.
func (f *flows) write(s *said) {
	for n, w := range s.writes {
		id, uses := "w-"+digest(s.statement.Fingerprint), 1.0
		if n > 0 {
			id, uses = fmt.Sprintf("%s-%d", id, n+1), 0
		}
		f.add(id, &workload.Statement{Weight: s.rate, Write: w}, []Use{{Fingerprint: s.statement.Fingerprint, PerExecution: uses}})
	}
}

// root makes the conceptual statements of the executions of a read that no other fed.
func (f *flows) root(i int, alone []float64) {
	s := f.all[i]
	p := &path{asked: s.query.begun(), many: map[*model.Entity]bool{}, last: s.source.entity, parts: []part{{s, alone[i]}}}
	followed := 0.0
	for _, e := range f.byRate(i) {
		if f.grow(p, e, alone[i], alone) {
			followed = max(followed, e.followed)
		}
	}
	single := alone[i]
	if len(p.parts) > 1 {
		if followed <= 0 || followed > 1 {
			followed = 1
		}
		weight := alone[i] * followed
		single -= weight
		f.addPath(p, weight)
	}
	if single > 1e-9*s.rate {
		f.add("q-"+digest(s.statement.Fingerprint), &workload.Statement{Weight: single, Query: s.query.query()},
			[]Use{{Fingerprint: s.statement.Fingerprint, PerExecution: 1}})
	}
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

// byRate lists what a statement feeds, most executions first.
func (f *flows) byRate(i int) []*edge {
	out := append([]*edge(nil), f.out[i]...)
	rate := func(e *edge) float64 { return e.share * f.all[e.to].rate }
	sort.SliceStable(out, func(a, b int) bool {
		if rate(out[a]) != rate(out[b]) {
			return rate(out[a]) > rate(out[b])
		}
		return out[a].to < out[b].to
	})
	return out
}

// grow joins the consumer of e to the path, and what it feeds in turn; executions is how many of the producer's belong to
// the path. A consumer that can not be joined becomes a root by itself.
func (f *flows) grow(p *path, e *edge, executions float64, alone []float64) bool {
	to := f.all[e.to]
	rate := e.share * to.rate * executions / f.all[e.from].rate
	if reason := p.join(to, e); reason != "" {
		alone[e.to] += rate
		if e.joins != nil && !f.m.Joins[e.joins[0]].Accepted {
			f.leave(e, reason)
		}
		return false
	}
	p.parts = append(p.parts, part{to, rate})
	p.edges = append(p.edges, e)
	for _, next := range f.byRate(e.to) {
		f.grow(p, next, rate, alone)
	}
	return true
}

// join unifies a consumer's query with the path, or says why that can not be done.
func (p *path) join(s *said, e *edge) string {
	fed := map[model.Field]bool{}
	var at *model.Entity
	for _, fd := range e.feeds {
		field := s.source.fields[fd.To.Column]
		if at != nil && at != field.Entity {
			return "it is fed with keys of two entities at once"
		}
		fed[field], at = true, field.Entity
	}
	if !p.asked.tree.Has(at) {
		return fmt.Sprintf("the path does not lead over %s", at.Name)
	}
	q := s.query
	above, below := p.asked.tree.Determined(at), q.tree.Determined(at)
	for _, x := range q.tree.Entities {
		if x != at && p.asked.tree.Has(x) && (!below.Has(x) || !above.Has(x)) {
			return fmt.Sprintf("it would lead over %s twice", x.Name)
		}
	}
	many := len(below.Entities) < len(q.tree.Entities)
	if reason := p.cuts(q, fed, many); reason != "" {
		return reason
	}
	if many && p.many[at] {
		return fmt.Sprintf("a second list below the same %s: together they would be a cross product", at.Name)
	}
	tree, err := p.asked.tree.Union(q.tree)
	if err != nil {
		return err.Error()
	}
	where := append([]condition(nil), p.asked.where...)
	for _, c := range q.where {
		if fed[c.Field] && c.Op == workload.Equal {
			continue
		}
		if c.list {
			return "it also asks for a list of values (IN)"
		}
		known := false
		for _, w := range where {
			known = known || w.Field == c.Field && w.Op == c.Op
		}
		if !known {
			where = append(where, c)
		}
	}
	next := asked{
		tree: tree, where: where, order: p.asked.order, limit: p.asked.limit, limited: p.asked.limited, inOrder: p.asked.inOrder && (!many || q.inOrder),
		selected: unique(append(append([]model.Field(nil), p.asked.selected...), q.selected...)),
	}
	if many && next.inOrder { // within a row of the producer, the consumer's come in their order
		next.order = append(append([]workload.Order(nil), p.asked.order...), q.lies...)
	}
	p.asked = next
	p.last = s.source.entity
	if many {
		p.many[at] = true
	}
	return ""
}

// cuts says why a join would not leave out the rows that the statements leave out, "" if it does. A LIMIT of the producer is one of the join
// if each of its rows is one there, in the same order; one of the consumer is none if it returns a single row anyway.
func (p *path) cuts(q *asked, fed map[model.Field]bool, many bool) string {
	more := false
	for _, c := range q.where {
		more = more || !fed[c.Field]
	}
	switch {
	case p.asked.each || q.each:
		return "PER PARTITION LIMIT: a join has no such limit"
	case q.limited && many:
		return "its LIMIT is one for each row of its producer: a join has no such limit"
	case p.asked.limited && (many || more):
		return "its producer's LIMIT counts rows of the producer, and a join has more or fewer"
	case p.asked.limited && !p.asked.inOrder:
		return "its producer's LIMIT keeps the first rows in an order that a table of the join would not have"
	}
	return ""
}

// addPath makes a path query.
func (f *flows) addPath(p *path, weight float64) {
	var names []string
	uses := make([]Use, len(p.parts))
	for n, x := range p.parts {
		names = append(names, digest(x.said.statement.Fingerprint))
		uses[n] = Use{Fingerprint: x.said.statement.Fingerprint, PerExecution: x.rate / weight, Joined: n > 0}
	}
	uses[0].PerExecution = 1
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
