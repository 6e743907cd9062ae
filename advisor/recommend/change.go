package recommend

import (
	"fmt"
	"math"
	"slices"
	"sort"
	"strings"

	"github.com/helenus-db/helenus/advisor/cost"
	"github.com/helenus-db/helenus/advisor/design"
	"github.com/helenus-db/helenus/advisor/enumerate"
	"github.com/helenus-db/helenus/advisor/infer"
	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/plan"
	"github.com/helenus-db/helenus/advisor/workload"
	"github.com/helenus-db/helenus/capture/feed"
)

// parallel is how many requests an application that fans out is taken to have under way at once.
const parallel = 8

// joined is a join done by the application: a path query and the statements it stands for.
type joined struct {
	asked *workload.Statement
	parts []infer.Use
	reads []*read // of parts
	feeds []infer.Join
	views []*model.Table // viewsOf, once asked for
	alone []*model.Table // promising, once asked for
}

// mostEntities is how many entities a join may go over for which tables are designed. The ways to answer a query, and to keep a table of it true, grow with the
// partitions of its tree: eight joins over 8 took 40 s, one over 16 minutes and gigabytes.
const mostEntities = 6

// listJoins lists the path queries worth the effort, those first that take most work today; at most eight.
func (k *maker) listJoins() []*joined {
	const most = 8
	var out []*joined
	now := map[*joined]float64{}
	for _, s := range k.model.Workload.Statements {
		if s.Query == nil || len(s.Sources) < 2 {
			continue
		}
		j := &joined{asked: s, parts: k.model.UsesOf(s.ID)}
		whole := true
		for _, u := range j.parts {
			r := k.reads[u.Fingerprint]
			whole = whole && r != nil && r.plan != nil
			j.reads = append(j.reads, r)
		}
		for _, f := range k.model.Joins {
			if f.Query == s.ID {
				j.feeds = append(j.feeds, f)
			}
		}
		if whole && s.Weight*k.model.Seconds >= float64(k.bars(changeID(j)).Executions) {
			if n := len(s.Query.Tree.Entities); n > mostEntities {
				k.noteJoin(j, fmt.Sprintf("it goes over %d entities, and tables are designed for joins over %d at most", n, mostEntities))
				continue
			}
			out = append(out, j)
			now[j] = s.Weight * k.costToday(j).Work
		}
	}
	sort.SliceStable(out, func(a, b int) bool {
		if x, y := k.isShown(changeID(out[a])), k.isShown(changeID(out[b])); x != y {
			return x // what is shown is looked at again
		}
		return now[out[a]] > now[out[b]]
	})
	return out[:min(len(out), most)]
}

// costToday is what one execution of the join costs as the application does it: each statement as often as was observed, one
// after the other or, where it fans out, several at once.
func (k *maker) costToday(j *joined) cost.Cost {
	var sum cost.Cost
	for n, u := range j.parts {
		price := j.reads[n].price
		waves := u.PerExecution
		for _, f := range j.feeds {
			if f.Feed.To.Fingerprint == u.Fingerprint && f.Feed.Shape != feed.NPlusOne && waves > 1 {
				waves = 1 + (waves-1)/parallel
			}
		}
		sum.Work += u.PerExecution * price.Work
		sum.Latency += waves * price.Latency
	}
	return sum
}

// workloadOf is the workload of one join and all writes.
func (k *maker) workloadOf(j *joined) *workload.Workload {
	w := &workload.Workload{Name: j.asked.ID, Graph: k.model.Graph, Tables: k.model.Tables, Statements: []*workload.Statement{j.asked}}
	for _, s := range k.model.Workload.Statements {
		if s.Write != nil {
			w.Statements = append(w.Statements, s)
		}
	}
	return w
}

// viewsOf lists the tables that may be made for a join.
func (k *maker) viewsOf(j *joined) []*model.Table {
	if j.views == nil {
		j.views = joinCandidates(k.workloadOf(j), j.reads[0].access.Keyspace, k.declaredKeys(j))
	}
	return j.views
}

// alwaysWeighed are the views of a join, the first of them, that are weighed together with those of others: its query's own, and those of its parts.
const alwaysWeighed = 8

// promising are the views of a join that are weighed beside those of others: the first, and what the join would be given alone. Each query is planned over all tables that are
// weighed, and most of the many are for keeping tables true that nothing is read from: with all of those of eight joins, 5,000 statements took more than the memory of a round.
func (k *maker) promising(j *joined, among int) []*model.Table {
	all := k.viewsOf(j)
	if among == 1 || len(all) <= alwaysWeighed {
		return all
	}
	if j.alone == nil {
		j.alone = slices.Clone(all[:alwaysWeighed])
		d, err := design.Choose(k.ctx, k.workloadOf(j), design.Options{Cost: k.costs, Solver: k.Solver, Limits: k.Limits, Candidates: all, NoEnumeration: true})
		if err != nil {
			return j.alone // whether it can be answered at all is seen with the others
		}
		for _, t := range d.Tables {
			if !t.Table.Existing && !slices.Contains(j.alone, t.Table) {
				j.alone = append(j.alone, t.Table)
			}
		}
	}
	return j.alone
}

// whyNoChange says why nothing can be advised for a join whatever it costs, "" if something can.
func (k *maker) whyNoChange(j *joined) string {
	if why := k.unmeasuredOf(j); why != "" {
		return why
	}
	if why := k.open(&Recommendation{}, j); why != "" {
		return why
	}
	if c, _ := k.certainty(j); c < k.Thresholds.Confidence {
		return fmt.Sprintf("that is only %.0f %% certain: advice is given from %.0f %% on", 100*c, 100*k.Thresholds.Confidence)
	}
	return ""
}

// change is the change of a join that is advised.
type change struct {
	joined  *joined
	advice  *Recommendation
	without *design.Design // the best one in which it is done by hand
}

// changeOf works out the advice for one join of a choice: nil if the choice leaves it as it is. It says why nothing is advised though the choice has tables
// for it.
func (k *maker) changeOf(t *together, j *joined) (*change, string) {
	if !t.changed(j) {
		return nil, ""
	}
	d, tables := t.of(j)
	before, after := k.costToday(j), d.Statements[0].Cost
	writes := 0.0
	for _, s := range d.Statements[1:] {
		m, err := cost.For(k.costs, s.Statement)
		if err != nil {
			return nil, err.Error()
		}
		for _, w := range s.Writes {
			writes += s.Statement.Weight * cost.Write(m, w).Work / float64(len(t.sharers(w.Table)))
		}
	}
	saved := j.asked.Weight*(before.Work-after.Work) - writes
	ratio := clamp(1 - after.Work/before.Work)
	bars := k.bars(changeID(j))
	if perHour(saved) < bars.SavedSeconds || ratio < bars.SavedRatio {
		return nil, "a table made for it " + bars.tooLittle(saved, ratio, bars.SavedRatio)
	}
	x, err := t.study.ByHand(k.ctx, j.asked.ID)
	if err != nil {
		return nil, err.Error()
	}
	beside, left := x.Cost-t.After, clamp(1-after.Work/statementOf(x.Design, j).Cost.Work)
	if perHour(beside) < bars.SavedSeconds || left < bars.SavedRatio {
		return nil, "beside what else is advised a table made for it " + bars.tooLittle(beside, left, bars.SavedRatio)
	}
	if err := k.tryAnswers(j, tables, d); err != nil {
		return nil, err.Error()
	}
	r := k.describeJoin(j, tables, d)
	k.open(&r, j)
	first := &r.Statements[0]
	first.PredictedBeforeMs, first.PredictedWorkBeforeMs = before.Latency, before.Work
	first.PredictedAfterMs, first.PredictedWorkAfterMs = after.Latency, after.Work
	first.PlanBefore, first.PlanAfter = k.planToday(j), d.Statements[0].Plan.String()
	r.SavedSecondsPerSecond = saved / 1000
	r.BenefitRatio = ratio
	beside /= 1000
	r.MarginalSecondsPerSecond = &beside
	r.Sensitivity = fmt.Sprintf("The change pays as long as the join is done more often than %s (now %s), with as many writes as now.",
		rate(max(0, writes)/(before.Work-after.Work)), rate(j.asked.Weight))
	k.addWriters(&r, d)
	r.Sketch = sketchOf(k.Driver, j, d)
	var made []*model.Table
	for _, t := range tables {
		made = append(made, t.Table)
	}
	r.Safety, r.Place = safetyOf(k.workloadOf(j), made), k.placeAmongOptions(j.asked, made, d.Statements[0].Plan)
	r.Why = k.whyChange(&r, j, tables)
	r.Method = k.changeMethod(j, tables, d)
	return &change{j, &r, x.Design}, ""
}

// joinCandidates lists the tables that are weighed for a join: the materialised view of its query, those of the parts that it
// falls into when it is cut at any of its edges, and those of the questions that writes must have answered to keep all
// these true. The full enumeration (enumerate.Workload) has thousands more for a path of four entities.
//
// The partition key of a view is what the first statement asks by; another equality would do as well by the cost model, but
// what a join starts from is known to be asked for, and tends to be the more selective.
//
// declared are the fields of the primary keys of the tables that are joined: none is left out of a view's key, whatever was concluded to tell
// rows apart.
func joinCandidates(w *workload.Workload, keyspace string, declared []model.Field) []*model.Table {
	const most = 64
	pool := enumerate.NewPool(design.NoLookUps)
	seen := map[string]bool{}
	var views func(q *workload.Query)
	views = func(q *workload.Query) {
		if seen[q.Key()] || len(pool.Tables) >= most {
			return
		}
		seen[q.Key()] = true
		for _, p := range q.Where {
			if p.Op == workload.Equal {
				t := enumerate.Materialize(q, p.Field.Entity)
				t.Keyspace = keyspace
				for _, f := range declared {
					if t.Tree.Has(f.Entity) && !t.InKey(f) {
						t.Clustering = append(t.Clustering, f)
						t.Values = slices.DeleteFunc(t.Values, func(x model.Field) bool { return x == f })
					}
				}
				for _, o := range q.OrderBy { // rows are to lie as they are asked for
					if o.Desc && slices.Contains(t.Clustering, o.Field) {
						t.Desc = append(t.Desc, o.Field)
					}
				}
				pool.Add(t)
				break
			}
		}
		for _, edge := range q.Tree.Edges {
			if prefix, remainder, ok := enumerate.Decompose(q, edge); ok {
				views(prefix)
				views(remainder)
			}
		}
	}
	views(w.Statements[0].Query)
	for range 2 { // what keeps the tables true, and what keeps that true
		for _, t := range append([]*model.Table(nil), pool.Tables...) {
			for _, s := range w.Statements {
				if s.Write == nil || !plan.Modifies(s.Write, t) {
					continue
				}
				for _, support := range plan.SupportQueries(s.Write, t) {
					views(support.Query)
				}
			}
		}
	}
	return pool.Tables
}

// declaredKeys lists the fields of the primary keys of what a join reads.
func (k *maker) declaredKeys(j *joined) []model.Field {
	var out []model.Field
	for _, u := range j.reads {
		t := k.Schema.Table(u.access.Keyspace, u.access.Table)
		if t == nil {
			continue
		}
		for _, c := range t.PrimaryKey() {
			if f := k.model.Field(t.Keyspace, t.Name, c.Name); !f.IsZero() {
				out = model.AppendNew(out, f)
			}
		}
	}
	return out
}

// noteJoin says of the statements of a join why nothing is advised for it.
func (k *maker) noteJoin(j *joined, why string) {
	for _, u := range j.reads {
		k.notes[u.statement.Fingerprint] += fmt.Sprintf("; the application joins %s by hand: %s", enumerated(tablesOf(j)), why)
	}
}

// describeJoin begins the recommendation.
func (k *maker) describeJoin(j *joined, tables []*design.Table, d *design.Design) Recommendation {
	root := j.reads[0]
	digests := []string{}
	seen := map[string]bool{}
	for _, u := range j.reads {
		name := u.access.Keyspace + "." + u.access.Table
		if t := k.Schema.Table(u.access.Keyspace, u.access.Table); t != nil && !seen[name] {
			seen[name] = true
			digests = append(digests, t.Digest())
		}
	}
	r := Recommendation{
		Kind: ApplicationChange, State: Open, Keyspace: root.access.Keyspace, Table: root.access.Table, Nodes: k.Nodes,
		Alternatives: []Alternative{}, Statements: []Statement{}, Writes: []Write{}, WriteCostRatio: 1, Evidence: k.newEvidence(),
		SchemaDigest: idOf(digests...)[2:], CreatedAt: k.At, LastRefresh: k.At, StateSince: k.At, Confidence: 1,
		Verdicts: []plan.Verdict{{Refused: true, Reason: "the change is in the application's code: Helenus does not answer several statements as one"}},
	}
	var names []string
	for _, t := range d.Statements[0].Plan.Tables() {
		names = append(names, t.Name)
	}
	for _, t := range tables {
		r.CQL = append(r.CQL, t.CQL+";")
		r.StorageBytes += math.Round(t.Bytes)
	}
	r.ID = changeID(j)
	r.Title = fmt.Sprintf("read %s from %s", enumerated(tablesOf(j)), enumerated(names))
	for n, u := range j.parts {
		s := k.describeStatement(j.reads[n].statement)
		s.Uses = u.PerExecution
		r.Statements = append(r.Statements, s)
	}
	r.Evidence.Executions = uint64(j.asked.Weight*k.model.Seconds + 0.5)
	for _, f := range j.feeds {
		r.Evidence.Feeds = append(r.Evidence.Feeds, Feed{
			From: f.From, To: f.To, Shape: string(f.Feed.Shape), Observed: f.Feed.Executions, Hits: f.Feed.Hits, Decoys: f.Feed.Decoys,
			PerExecution: f.Feed.PerExecution, LagP50Ms: f.Feed.LagP50 / 1000, LagP99Ms: f.Feed.LagP99 / 1000, Confidence: f.Feed.Confidence,
		})
	}
	r.Evidence.Facts = append(r.Evidence.Facts, "as one question: "+j.asked.String())
	var over []infer.Relationship
	r.Confidence, over = k.certainty(j)
	for _, e := range over {
		r.Evidence.Facts = append(r.Evidence.Facts, fmt.Sprintf("%s.%s -> %s (%s, by %s), confidence %.2f", e.From, e.Forward, e.To, e.Kind, e.Column, e.Confidence))
	}
	for _, x := range d.Rejected {
		if len(r.Alternatives) == 3 || !isFinite(x.Work) {
			continue
		}
		r.Alternatives = append(r.Alternatives, Alternative{Title: "table " + x.Table.String(), WorkMs: x.Work, Reason: x.Reason})
	}
	r.Risks = k.changeRisks(j, d)
	return r
}

// certainty is that of the least certain of the facts that a join is concluded from, and the relationships that it goes over.
func (k *maker) certainty(j *joined) (least float64, over []infer.Relationship) {
	least = 1
	for _, f := range j.feeds {
		least = min(least, f.Feed.Confidence)
	}
	for _, e := range k.model.Relationships {
		if slices.ContainsFunc(j.asked.Query.Tree.Edges, func(edge *model.Relationship) bool { return edge.Name == e.Name }) {
			least, over = min(least, e.Confidence), append(over, e)
		}
	}
	return least, over
}

// tablesOf lists the tables that the join reads, in the order of reading.
func tablesOf(j *joined) []string {
	var out []string
	seen := map[string]bool{}
	for _, u := range j.reads {
		if !seen[u.access.Table] {
			seen[u.access.Table] = true
			out = append(out, u.access.Table)
		}
	}
	return out
}

// planToday words what the application does.
func (k *maker) planToday(j *joined) string {
	var lines []string
	for n, u := range j.parts {
		way := strings.TrimPrefix(j.reads[n].plan.String(), "1. ")
		if u.Joined {
			way = fmt.Sprintf("%.1f times: %s", u.PerExecution, way)
		}
		lines = append(lines, fmt.Sprintf("%d. %s", n+1, strings.ReplaceAll(way, "\n", "; ")))
	}
	return strings.Join(lines, "\n")
}

// addWriters adds the writes that would have to keep the new tables true.
func (k *maker) addWriters(r *Recommendation, d *design.Design) {
	for _, s := range d.Statements[1:] {
		var steps []string
		var extra cost.Cost
		for _, p := range s.Writes {
			if p.Table.Existing {
				continue
			}
			name := newName(d, p.Table)
			for _, support := range p.Support {
				for i := range support.Steps {
					steps = append(steps, "find out: "+support.Steps[i].String())
				}
			}
			for i := range p.Steps {
				what := "put"
				if p.Steps[i].Kind == plan.Remove {
					what = "delete"
				}
				steps = append(steps, fmt.Sprintf("%s %.1f rows, %s", what, max(1, p.Steps[i].Rows), name))
			}
			extra = extra.Plus(cost.Write(k.costs, p))
		}
		if len(steps) == 0 {
			continue
		}
		w := k.describeWrite(k.Snapshot.Statement(s.Statement.Sources[0]), extra.Latency)
		w.PredictedExtraMs = extra.Latency
		w.PredictedRatio = 2
		if itself := w.ObservedP50Ms; itself > 0 {
			w.PredictedRatio = (itself + extra.Latency) / itself
		}
		w.Plan = strings.Join(steps, "\n")
		r.WriteCostRatio = max(r.WriteCostRatio, w.PredictedRatio)
		if n := len(r.Writes); n > 0 && r.Writes[n-1].Fingerprint == w.Fingerprint {
			last := &r.Writes[n-1]
			last.PredictedExtraMs += w.PredictedExtraMs
			last.PredictedRatio += w.PredictedRatio - 1
			last.Plan += "\n" + w.Plan
			r.WriteCostRatio = max(r.WriteCostRatio, last.PredictedRatio)
			continue
		}
		r.Writes = append(r.Writes, w)
	}
}

func isFinite(v float64) bool { return !math.IsInf(v, 0) && !math.IsNaN(v) }

// newName is the name that the design has given a new table.
func newName(d *design.Design, t *model.Table) string {
	for _, x := range d.Tables {
		if x.Table == t {
			return x.Name
		}
	}
	return t.String()
}

// changeRisks says what a developer must think of.
func (k *maker) changeRisks(j *joined, d *design.Design) []string {
	risks := []string{"Every write of the tables it is made from must write it too, in the application: see the writes."}
	for _, f := range j.feeds {
		producer := k.reads[f.Feed.From.Fingerprint]
		rows := producer.statement.Rows.Mean()
		if rows > 0 && f.Feed.PerExecution < 0.8*rows {
			risks = append(risks, fmt.Sprintf("The application follows %.1f of the %.1f rows that it reads from %s: it leaves out the rest by a rule that is not visible here, or that the new statement would have to apply.",
				f.Feed.PerExecution, rows, producer.access.Table))
		}
	}
	for _, e := range j.asked.Query.Tree.Edges {
		if e.Optional {
			risks = append(risks, fmt.Sprintf("Not every %s has a %s: those without have no row in the new table.", e.From.Name, e.Forward))
		}
	}
	risks = append(risks, "A row that is missing in one of the tables shows today as an error in the code; in one table it shows as nothing.")
	if !d.Proven {
		risks = append(risks, "The choice of tables was not proven to be the cheapest.")
	}
	for _, cut := range d.Truncated {
		risks = append(risks, "Not all candidates were weighed: "+cut)
	}
	return risks
}

// whyChange says in a paragraph why an application change is advised.
func (k *maker) whyChange(r *Recommendation, j *joined, tables []*design.Table) string {
	var b strings.Builder
	statements := 0.0
	for _, u := range j.parts {
		statements += u.PerExecution
	}
	first := r.Statements[0]
	fmt.Fprintf(&b, "The application joins %s by hand: values that one statement returns are bound by the next. ", enumerated(tablesOf(j)))
	fmt.Fprintf(&b, "That was done about %d times in %s (%s), each time with %.1f statements in the mean, and takes about %s. ",
		r.Evidence.Executions, seconds(k.model.Seconds), rate(j.asked.Weight), statements, taking(first.PredictedBeforeMs, first.PredictedWorkBeforeMs))
	var names []string
	for _, t := range tables {
		names = append(names, t.Name)
	}
	fmt.Fprintf(&b, "Read from %s (%s) it would take about %s: %s less work. After what the writes pay that saves %s. ",
		enumerated(names), bytes(r.StorageBytes), taking(first.PredictedAfterMs, first.PredictedWorkAfterMs),
		times(first.PredictedWorkBeforeMs/first.PredictedWorkAfterMs), r.Gain())
	b.WriteString("Helenus does not do this by itself: several statements would become one.")
	return b.String()
}
