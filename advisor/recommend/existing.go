package recommend

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/helenus-db/helenus/advisor/infer"
	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/plan"
	"github.com/helenus-db/helenus/capture/cql"
	"github.com/helenus-db/helenus/capture/schema"
)

// What is already there: tables that the application keeps beside the one that a statement reads. Where such a table has the rows, each once, under a key
// that the statement gives, two things may be advised:
//
//	existing            Helenus finds the keys there and reads the rows where the statement reads them (package rewrite/existing)
//	application change  the statement reads that table itself: one partition, but its rows are what the application wrote there
//
// The first is one of the ways among which the design chooses, besides look-up tables, and costs nothing to keep. The second is advised where the first is not.

// keptOffer is a table of the application's by which reads of another one may find their rows.
type keptOffer struct {
	offer
	held   *infer.Holder
	copied *plan.Copied
}

// keptID is the id of what may be advised about finding rows by a table.
func keptID(t *schema.Table, h *infer.Holder) string {
	return idOf(plan.Existing, t.Keyspace, t.Name, h.Keyspace, h.Name)
}

// estimatedFull is the coverage from which on a table may have all rows, where its rows and the other's were estimated from samples: two estimates of 20,000 rows
// were seen to differ by 16 %. Verification compares every row before anything is served.
const estimatedFull = 0.75

// improvable tells whether a read looks at more than its rows, or asks all nodes.
func improvable(a *schema.Access) bool {
	return a.Class == schema.IndexRead || a.Filtering && (a.Class == schema.Scan || a.Class == schema.Partition)
}

// holdersOf lists the tables that hold the rows of what a read reads, whole as far as that was measured. Of those that do not it is noted why they are nothing.
func (k *maker) holdersOf(r *read) (list []infer.Holder) {
	if !improvable(&r.access) || k.whyUnmeasured(r.access.Keyspace, r.access.Table) != "" {
		return nil
	}
	for _, h := range k.model.Holders(r.access.Keyspace, r.access.Table) {
		full := infer.Full
		if !h.Counted {
			full = estimatedFull
		}
		switch {
		case h.Coverage == 0:
			k.notes[r.statement.Fingerprint] += fmt.Sprintf("; %s holds rows of %s, and how many was not measured yet", h.Name, r.access.Table)
		case h.Coverage < full:
			k.notes[r.statement.Fingerprint] += fmt.Sprintf("; %s holds %.0f %% of the rows of %s only, so they are not to be found there", h.Name, 100*h.Coverage, r.access.Table)
		default:
			list = append(list, h)
		}
	}
	return list
}

// listKept lists the tables by which reads may find their rows.
func (k *maker) listKept() (out []*keptOffer) {
	for _, r := range k.sortedReads() {
		base, own := k.model.Table(r.access.Keyspace, r.access.Table), k.Schema.Table(r.access.Keyspace, r.access.Table)
		if base == nil || own == nil {
			continue
		}
		for _, h := range k.holdersOf(r) {
			id := keptID(own, &h)
			if slices.Contains(k.Declined, id) || r.statement.Count < k.bars(id).Executions {
				continue
			}
			i := slices.IndexFunc(out, func(o *keptOffer) bool {
				return o.schema == own && o.held.Keyspace == h.Keyspace && o.held.Name == h.Name
			})
			if i < 0 {
				o := k.keptOffer(base, own, &h)
				if o == nil {
					continue
				}
				i, out = len(out), append(out, o)
			}
			if !slices.ContainsFunc(out[i].copied.Asked(), func(c string) bool { return !slices.Contains(r.access.Equality, c) }) {
				out[i].reads = append(out[i].reads, r)
			}
		}
	}
	return slices.DeleteFunc(out, func(o *keptOffer) bool { return len(o.reads) == 0 })
}

// keptOffer is what a holder offers, nil if rows can not be found by it: it is keyed by something else, or lacks a part of the base's primary key.
func (k *maker) keptOffer(base *model.Table, own *schema.Table, h *infer.Holder) *keptOffer {
	is := k.Schema.Table(h.Keyspace, h.Name)
	if is == nil {
		return nil
	}
	c := &plan.Copied{As: *is, Columns: h.Columns, Coverage: h.Coverage}
	asked := c.Asked()
	if len(asked) == 0 {
		return nil
	}
	t := &model.Table{Tree: base.Tree, Keyspace: h.Keyspace, Name: h.Name, Base: base, Columns: base.Columns, Types: base.Types, Existing: true, Count: base.Count}
	for _, name := range asked {
		f := k.model.Field(own.Keyspace, own.Name, name)
		if f.IsZero() {
			return nil
		}
		t.Partition = append(t.Partition, f)
	}
	for _, key := range own.PrimaryKey() {
		f := k.model.Field(own.Keyspace, own.Name, key.Name)
		if f.IsZero() || c.Column(key.Name) == "" {
			return nil
		}
		if !slices.Contains(t.Partition, f) {
			t.Clustering = append(t.Clustering, f)
		}
	}
	return &keptOffer{offer: offer{table: t, schema: own, column: asked[0], name: h.Name}, held: h, copied: c}
}

// adviseKept makes the recommendation to find rows by a table that is there. The offers are look-up tables that would do it, too.
func (k *maker) adviseKept(o *keptOffer, users []*read, offers []*offer) {
	own, err := json.Marshal(o.copied)
	if err != nil {
		k.advice.Problems = append(k.advice.Problems, fmt.Sprintf("what %s holds of %s can not be written down: %v", o.name, o.schema.Name, err))
		return
	}
	asked := strings.Join(o.copied.Asked(), ", ")
	c := &plan.Rewrite{Kind: plan.Existing, Keyspace: o.schema.Keyspace, Base: o.schema.Name, Column: asked, SchemaDigest: o.schema.Digest(), Own: own, Statements: []string{}, Texts: []string{}}
	r := Recommendation{
		ID: keptID(o.schema, o.held), Kind: Kind(plan.Existing), State: Open, Title: fmt.Sprintf("find %s by %s, which the application keeps", o.schema.Name, o.name),
		Keyspace: c.Keyspace, Table: c.Base, Column: asked, Nodes: k.Nodes,
		Verdicts: []plan.Verdict{}, Alternatives: []Alternative{}, Statements: []Statement{}, Writes: []Write{}, WriteCostRatio: 1,
		Evidence: k.newEvidence(), SchemaDigest: c.SchemaDigest, CreatedAt: k.At, LastRefresh: k.At, StateSince: k.At, Rewrite: c, Confidence: o.held.Certainty,
		RestsOn: k.aboutTable(o.schema.Keyspace + "." + o.schema.Name),
	}
	before, after := 0.0, 0.0
	for _, u := range users {
		c.Statements, c.Texts = append(c.Statements, u.statement.Fingerprint), append(c.Texts, u.statement.Text)
		r.Evidence.Executions += u.statement.Count
		s := k.describeStatement(u.statement)
		p, price := k.planThrough(&o.offer, u, k.costs)
		if p == nil {
			return
		}
		s.PredictedBeforeMs, s.PredictedWorkBeforeMs, s.PlanBefore = u.price.Latency, u.price.Work, u.plan.String()
		s.PredictedAfterMs, s.PredictedWorkAfterMs, s.PlanAfter = price.Latency, price.Work, p.String()
		r.Statements = append(r.Statements, s)
		before, after = before+u.rate*u.price.Work, after+u.rate*price.Work
	}
	c.Entries = k.cheaperUpTo(&o.offer, users)
	c.Promise = promiseOf(&r)
	saved := before - after
	r.SavedSecondsPerSecond, r.BenefitRatio = saved/1000, clamp(saved/before)
	if bars := k.bars(r.ID); perHour(saved) < bars.SavedSeconds || r.BenefitRatio < bars.SavedRatio {
		for _, u := range users {
			k.reasons[u.statement.Fingerprint] = fmt.Sprintf("to find its rows by %s ", o.name) + bars.tooLittle(saved, r.BenefitRatio, bars.SavedRatio)
		}
		return
	}
	k.judgeRewrite(&r)
	r.Evidence.Facts = append(r.Evidence.Facts, fmt.Sprintf("%s has about %.0f %% of as many rows as %s", o.name, 100*o.held.Coverage, o.schema.Name))
	for _, e := range o.held.Evidence {
		r.Evidence.Facts = append(r.Evidence.Facts, e.Text)
	}
	s := r.Statements[0]
	r.Why = fmt.Sprintf("%s is read by %s %s. That was done %d times in %s (%s) and took %s at the median (p99 %s). "+
		"The application keeps %s, which has the primary keys of these rows under %s. Found there, and read and checked in %s, they are expected to take %s: %s less work. That saves %s. "+
		"No table is made, and no write costs more.",
		o.schema.Name, asked, howFound(users[0]), r.Evidence.Executions, seconds(k.model.Seconds), rate(float64(r.Evidence.Executions)/k.model.Seconds), ms(s.ObservedP50Ms), ms(s.ObservedP99Ms),
		o.name, asked, o.schema.Name, taking(s.PredictedAfterMs, s.PredictedWorkAfterMs), times(s.PredictedWorkBeforeMs/s.PredictedWorkAfterMs), r.Gain())
	r.Risks = []string{
		fmt.Sprintf("A row that is in %s and not in %s is not found: between two writes of the application, and for good where it leaves one out. Verification and comparisons find that and turn reads back; they can not know it beforehand.", o.schema.Name, o.name),
		fmt.Sprintf("Nothing keeps %s true but the application: an old version of it, or another program, that writes %s alone makes answers lack rows.", o.name, o.schema.Name),
	}
	if text, price, ok := k.readThere(users[0], o.held); ok {
		r.Alternatives = append(r.Alternatives, Alternative{Title: "in the application: " + text, WorkMs: price,
			Reason: fmt.Sprintf("%s of work instead of %s, as the rows themselves are read there: as they were last written to %s, in its order", ms(price), ms(s.PredictedWorkAfterMs), o.name)})
	}
	for _, other := range offers {
		if slices.Contains(other.reads, users[0]) {
			if p, price := k.planThrough(other, users[0], k.costs); p != nil {
				r.Alternatives = append(r.Alternatives, Alternative{Title: "look-up table " + other.name, WorkMs: price.Work,
					Reason: fmt.Sprintf("%s of work, and writes would have to keep it true; it lacks no row, whatever the application does. It is advised once this is dismissed", ms(price.Work))})
			}
		}
	}
	k.advice.Recommendations = append(k.advice.Recommendations, r)
}

// readThere is what a statement would be that reads a holder itself, and its work; not ok if the holder does not have all that it asks for.
func (k *maker) readThere(r *read, h *infer.Holder) (text string, work float64, ok bool) {
	t := k.model.Table(h.Keyspace, h.Name)
	if t == nil {
		return "", 0, false
	}
	p, price := k.planOver(r.asked.Query, k.costs, t)
	if p == nil {
		return "", 0, false
	}
	text, ok = redirected(r, h, k.Schema.Table(r.access.Keyspace, r.access.Table))
	return text, price.Work, ok
}

// redirected writes a SELECT as one of another table that holds its columns, maybe under other names.
func redirected(r *read, h *infer.Holder, own *schema.Table) (string, bool) {
	st, err := cql.Parse(r.statement.Text) // a tree of its own: it is changed
	x, is := st.(*cql.Select)
	if err != nil || !is || x.JSON || x.Distinct || len(x.GroupBy) > 0 || x.PerPartitionLimit != nil {
		return "", false
	}
	there := func(of string) string {
		c := plan.Copied{Columns: h.Columns}
		return c.Column(of)
	}
	if len(x.Columns) == 0 {
		for _, c := range own.Columns {
			x.Columns = append(x.Columns, cql.Selector{Expr: &cql.ColumnRef{Name: c.Name}})
		}
	}
	for i := range x.Columns {
		ref, plain := x.Columns[i].Expr.(*cql.ColumnRef)
		if !plain || there(ref.Name) == "" {
			return "", false
		}
		if name := there(ref.Name); name != ref.Name {
			if x.Columns[i].Alias == "" {
				x.Columns[i].Alias = ref.Name
			}
			x.Columns[i].Expr = &cql.ColumnRef{Name: name}
		}
	}
	rename := func(columns []string) bool {
		for i, c := range columns {
			if columns[i] = there(c); columns[i] == "" {
				return false
			}
		}
		return true
	}
	for i := range x.Where {
		if x.Where[i].Token || !rename(x.Where[i].Columns) {
			return "", false
		}
	}
	for i := range x.OrderBy {
		one := []string{x.OrderBy[i].Column}
		if !rename(one) {
			return "", false
		}
		x.OrderBy[i].Column = one[0]
	}
	x.Table = cql.TableRef{Keyspace: h.Keyspace, Table: h.Name}
	return x.String(), true
}

// adviseRedirects advises to have the application read a table that it keeps, where nothing else is advised that needs no change of it.
func (k *maker) adviseRedirects() {
	advised := map[string]bool{}
	for i := range k.advice.Recommendations {
		if r := &k.advice.Recommendations[i]; r.Executable() {
			for _, s := range r.Statements {
				advised[s.Fingerprint] = true
			}
		}
	}
	for _, r := range k.sortedReads() {
		if advised[r.statement.Fingerprint] || !improvable(&r.access) || k.whyUnmeasured(r.access.Keyspace, r.access.Table) != "" {
			continue
		}
		for _, h := range k.model.Holders(r.access.Keyspace, r.access.Table) {
			if h.Coverage >= infer.Full && k.adviseRedirect(r, &h) {
				break
			}
		}
	}
}

// adviseRedirect advises to read a table that is there, if that is worth it.
func (k *maker) adviseRedirect(r *read, h *infer.Holder) bool {
	id := idOf(string(ApplicationChange), r.statement.Fingerprint, h.Keyspace, h.Name)
	bars := k.bars(id)
	text, work, ok := k.readThere(r, h)
	if !ok || r.statement.Count < bars.Executions {
		return false
	}
	p, price := k.planOver(r.asked.Query, k.costs, k.model.Table(h.Keyspace, h.Name))
	st, err := cql.Parse(text)
	there := schema.Classify(st, k.Schema, h.Keyspace)
	saved := r.rate * (r.price.Work - work)
	ratio := clamp(1 - work/r.price.Work)
	if err != nil || there.Filtering || there.Class == schema.Scan || perHour(saved) < bars.SavedSeconds || ratio < bars.SavedRatio {
		return false
	}
	s := k.describeStatement(r.statement)
	s.PredictedBeforeMs, s.PredictedWorkBeforeMs, s.PlanBefore = r.price.Latency, r.price.Work, r.plan.String()
	s.PredictedAfterMs, s.PredictedWorkAfterMs, s.PlanAfter = price.Latency, price.Work, p.String()
	own := k.Schema.Table(r.access.Keyspace, r.access.Table)
	one := Recommendation{
		ID: id, Kind: ApplicationChange, State: Open, Title: fmt.Sprintf("read %s from %s", r.access.Table, h.Name), Keyspace: r.access.Keyspace, Table: r.access.Table, Nodes: k.Nodes,
		Verdicts:     []plan.Verdict{{Refused: true, Reason: "the change is in the application's code: its rows would come from another table, and Helenus answers from none that may be outdated"}},
		Alternatives: []Alternative{}, Statements: []Statement{s}, Writes: []Write{}, WriteCostRatio: 1, SavedSecondsPerSecond: saved / 1000, BenefitRatio: ratio, Confidence: h.Certainty,
		Evidence: k.newEvidence(), SchemaDigest: own.Digest(), CreatedAt: k.At, LastRefresh: k.At, StateSince: k.At, RestsOn: k.aboutTable(own.Keyspace + "." + own.Name),
		Risks: []string{
			fmt.Sprintf("Rows come as they were last written to %s: it must be written whenever %s is, and what is in it alone is in the answer.", h.Name, r.access.Table),
			fmt.Sprintf("Rows come in the order of %s; what the code makes of the order of today's is to be looked at.", h.Name),
		},
		Sketch: &Sketch{Language: "cql", Driver: k.Driver, Before: r.statement.Text, After: text},
	}
	one.Evidence.Executions = r.statement.Count
	one.Evidence.Facts = append(one.Evidence.Facts, fmt.Sprintf("%s has about %.0f %% of as many rows as %s", h.Name, 100*h.Coverage, r.access.Table))
	for _, e := range h.Evidence {
		one.Evidence.Facts = append(one.Evidence.Facts, e.Text)
	}
	one.Why = fmt.Sprintf("%s is read %s. That was done %d times in %s (%s) and took %s at the median (p99 %s). The application keeps %s, which has these rows under a key that the statement gives: read there they are expected to take %s, %s less work. That saves %s. Nothing is to be written that is not written today.",
		r.access.Table, howFound(r), r.statement.Count, seconds(k.model.Seconds), rate(r.rate), ms(s.ObservedP50Ms), ms(s.ObservedP99Ms), h.Name, ms(price.Latency), times(r.price.Work/work), one.Gain())
	k.advice.Recommendations = append(k.advice.Recommendations, one)
	return true
}
