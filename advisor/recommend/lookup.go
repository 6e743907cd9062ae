package recommend

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/helenus-db/helenus/advisor/cost"
	"github.com/helenus-db/helenus/advisor/design"
	"github.com/helenus-db/helenus/advisor/enumerate"
	"github.com/helenus-db/helenus/advisor/infer"
	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/plan"
	"github.com/helenus-db/helenus/advisor/workload"
	"github.com/helenus-db/helenus/capture"
	"github.com/helenus-db/helenus/capture/schema"
)

const (
	maxSensitivity = 8 // statements whose sensitivity is worked out
)

// offer is a look-up table that may be made.
type offer struct {
	table  *model.Table
	schema *schema.Table // the base
	column string        // of the base
	name   string
	reads  []*read // that may use it
}

// adviseLookUps makes the advice of the transparent tier.
func (k *maker) adviseLookUps() error {
	k.offers, k.kept = k.listOffers(), k.listKept()
	offers, kept := k.offers, k.kept
	if len(offers)+len(kept) == 0 {
		return nil
	}
	for _, o := range kept { // they are there, and cost nothing to keep
		k.singles.Tables = append(k.singles.Tables, o.table)
	}
	var ids []string
	for _, o := range offers {
		for _, r := range o.reads {
			if len(ids) < maxSensitivity {
				ids = append(ids, r.asked.ID)
			}
		}
	}
	study, d, err := k.settled(offers, kept, ids)
	if k.ctx.Err() != nil {
		return k.ctx.Err()
	}
	if err != nil {
		k.advice.Problems = append(k.advice.Problems, "no choice of look-up tables: "+err.Error())
		return nil //nolint:nilerr // told with the advice: the rest of it is still good
	}
	after := map[string]*design.Statement{}
	for _, s := range d.Statements {
		after[s.Statement.ID] = s
	}
	k.transparent = transparent{Design: d, study: study, after: after}
	for _, o := range kept {
		var users []*read
		for _, r := range o.reads {
			if readsTable(after[r.asked.ID].Plan, o.table) {
				users = append(users, r)
			}
		}
		if len(users) > 0 {
			k.adviseKept(o, users, offers)
		}
	}
	for _, o := range offers {
		var users, others []*read
		for _, r := range o.reads {
			if readsTable(after[r.asked.ID].Plan, o.table) {
				users = append(users, r)
			} else {
				others = append(others, r)
			}
		}
		if len(users) > 0 {
			k.adviseLookUp(o, users, d)
		}
		for _, r := range others {
			k.declineRead(o, r, d, len(users) > 0)
		}
	}
	k.weighMarginal()
	return nil
}

// transparent is what was chosen of what Helenus can do by itself.
type transparent struct {
	*design.Design
	study   *design.Study
	after   map[string]*design.Statement // by id
	advised []string                     // ids of what is advised of it, and can be carried out
}

func readsTable(p *plan.Plan, t *model.Table) bool {
	for _, x := range p.Tables() {
		if x == t {
			return true
		}
	}
	return false
}

// listOffers lists the look-up tables that could be of use to reads that are often enough executed: one for each column
// outside of the primary key that a scan with ALLOW FILTERING or a read by index asks for by equality.
func (k *maker) listOffers() []*offer {
	var out []*offer
	for _, r := range k.sortedReads() {
		if r.access.Class != schema.IndexRead && (r.access.Class != schema.Scan || !r.access.Filtering) {
			continue
		}
		if least := k.bars(k.readIDs(r)...).Executions; r.statement.Count < least {
			k.reasons[r.statement.Fingerprint] = fmt.Sprintf("executed %d times only: advice is given from %d on", r.statement.Count, least)
			continue
		}
		if why := k.whyUnmeasured(r.access.Keyspace, r.access.Table); why != "" {
			k.reasons[r.statement.Fingerprint] = why
			continue
		}
		base := k.model.Table(r.access.Keyspace, r.access.Table)
		own := k.Schema.Table(r.access.Keyspace, r.access.Table)
		found, refused := false, []string(nil)
		for _, column := range askedBy(own, r.access.Equality) {
			found = true
			o := findOffer(out, own, column)
			if o == nil {
				o = &offer{schema: own, column: column, table: k.candidateOf(base, k.model.Field(own.Keyspace, own.Name, column))}
				if o.table == nil {
					continue
				}
				if why := k.whyQueue(o); why != "" {
					refused = append(refused, why)
					continue
				}
				o.name = k.lookUpName(own, column)
				o.table.Name = o.name
				out = append(out, o)
			}
			o.reads = append(o.reads, r)
		}
		if len(refused) > 0 {
			k.reasons[r.statement.Fingerprint] = strings.Join(refused, "; ")
		}
		if !found {
			k.reasons[r.statement.Fingerprint] = "asks by a part of the primary key, by a static column or by a range: a look-up table is offered for ordinary columns asked for by equality"
		}
	}
	return out
}

// askedBy are those of the columns of a table that a look-up may be offered by: ordinary ones that it can be kept by, as conditions on types, collections and masks have it, or, where there
// are none, those that it can not be kept by, so that the reason is told.
func askedBy(t *schema.Table, columns []string) (able []string) {
	var unable []string
	for _, name := range columns {
		c := t.Column(name)
		switch {
		case c == nil || c.Kind != schema.Regular:
		case c.Masked || !schema.ByteEqual(c.Type) || t.FindsMore(name) != "":
			unable = append(unable, name)
		default:
			able = append(able, name)
		}
	}
	if len(able) == 0 {
		return unable
	}
	return able
}

func findOffer(offers []*offer, t *schema.Table, column string) *offer {
	for _, o := range offers {
		if o.schema == t && o.column == column {
			return o
		}
	}
	return nil
}

// candidateOf is the candidate of a field, nil if there can be none.
func (k *maker) candidateOf(base *model.Table, field model.Field) *model.Table {
	if base == nil || field.IsZero() {
		return nil
	}
	ask := &workload.Query{Tree: base.Tree, Where: []workload.Predicate{{Field: field, Op: workload.Equal, Value: "?"}}}
	for _, t := range enumerate.LookUps([]*model.Table{base}, []*workload.Query{ask}) {
		return t
	}
	return nil
}

// lookUpName is helenus_<base>_by_<column>: cut, with a hash, if it is too long, if it could be that of the table beside another look-up table, or if a table that is
// not ours has it.
func (k *maker) lookUpName(base *schema.Table, column string) string {
	clean := strings.Map(func(r rune) rune {
		if r == '_' || r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return '_'
	}, strings.ToLower("helenus_"+base.Name+"_by_"+column))
	free := func(name string) bool {
		t := k.Schema.Table(schema.DataKeyspace(k.DataKeyspace, base.Keyspace), name)
		return t == nil || infer.Own(t)
	}
	exact := clean == "helenus_"+base.Name+"_by_"+column && !strings.HasSuffix(clean, schema.PendingSuffix)
	if exact && len(clean) <= schema.MaxLookUp && free(clean) {
		return clean
	}
	for n := 0; ; n++ {
		sum := sha256.Sum256(fmt.Appendf(nil, "%q %q %d", base.Name, column, n))
		suffix := "_" + hex.EncodeToString(sum[:3])
		if name := clean[:min(len(clean), schema.MaxLookUp-len(suffix))] + suffix; free(name) {
			return name
		}
	}
}

// adviseLookUp makes the recommendation of a look-up table that the design has taken.
func (k *maker) adviseLookUp(o *offer, users []*read, d *design.Design) {
	r := k.newRecommendation(o, LookUpTable, users)
	r.Title = fmt.Sprintf("look up %s by %s", o.schema.Name, o.column)
	k.judgeRewrite(&r)
	if refused := refusedStatements(r.Verdicts); r.Eligible && len(refused) > 0 {
		var left []*read
		for _, u := range users {
			if reason, no := refused[u.statement.Fingerprint]; no {
				k.reasons[u.statement.Fingerprint] = "a look-up table would be cheaper, but can not take its place: " + reason
			} else {
				left = append(left, u)
			}
		}
		verdicts := r.Verdicts
		users, r = left, k.newRecommendation(o, LookUpTable, left)
		r.Title, r.Verdicts, r.Eligible = fmt.Sprintf("look up %s by %s", o.schema.Name, o.column), verdicts, true
	}
	before, after := k.addReads(&r, o, users, k.costs)
	r.Rewrite.Entries = k.cheaperUpTo(o, users)
	writes := k.addWrites(&r, o)
	r.Rewrite.Promise = promiseOf(&r)
	saved := before - after - writes
	r.SavedSecondsPerSecond = saved / 1000
	r.BenefitRatio = clamp((before - after) / before)
	if bars := k.bars(r.ID); perHour(saved) < bars.SavedSeconds || r.BenefitRatio < bars.SavedRatio {
		kept := k.isShown(lookUpIDs(o.schema, o.column)[1])
		for _, u := range users {
			if kept && u.access.Class == schema.IndexRead { // it would have to pay clearly for that to change
				k.adviseKeeping(o, u, d)
				continue
			}
			k.reasons[u.statement.Fingerprint] = "a look-up table " + bars.tooLittle(saved, r.BenefitRatio, bars.SavedRatio)
		}
		return
	}
	r.Alternatives = k.alternativesOf(o, users[0], d)
	r.Sensitivity = k.sensitivityOf(users, d)
	r.Why = k.whyLookUp(&r, o, users)
	r.Method = k.lookUpMethod(o, users, d)
	k.lookUpOpinion(&r, o, users[0])
	k.advice.Recommendations = append(k.advice.Recommendations, r)
}

// declineRead says why a read is not to use a look-up table that was offered to it. A read by index gets a recommendation of
// its own, to keep it: it looks improvable and is not.
func (k *maker) declineRead(o *offer, u *read, d *design.Design, taken bool) {
	fp := u.statement.Fingerprint
	if u.access.Class != schema.IndexRead || taken || k.hasOther(o, u) {
		if k.reasons[fp] == "" && !k.hasOther(o, u) {
			k.reasons[fp] = "a look-up table by " + o.column + " would not be cheaper" + k.rejectionOf(o, d)
		}
		return
	}
	k.adviseKeeping(o, u, d)
}

// adviseKeeping advises to leave a read by index as it is. What is not said yet must be clearly so.
func (k *maker) adviseKeeping(o *offer, u *read, d *design.Design) {
	fp := u.statement.Fingerprint
	r := k.newRecommendation(o, Keep, []*read{u})
	r.Title = fmt.Sprintf("keep reading %s by its index on %s", o.schema.Name, o.column)
	r.Eligible = false
	r.Verdicts = []plan.Verdict{{Statement: fp, Refused: true, Reason: "nothing is to be changed: the index is the cheaper way on this cluster"}}
	before, after := k.addReads(&r, o, []*read{u}, k.costs)
	writes := k.addWrites(&r, o)
	if k.bar(r.ID) == enter && after+writes < (1+clearly)*before {
		k.reasons[fp] = "a look-up table by " + o.column + " would not be clearly cheaper, nor clearly dearer, than the index"
		return
	}
	r.SavedSecondsPerSecond = 0
	r.BenefitRatio = 0
	r.TurnsAtNodes = k.turnsAt(o, u)
	r.StorageBytes = 0
	r.Alternatives = []Alternative{{
		Title: "look-up table " + o.name, WorkMs: after / u.rate,
		Reason: fmt.Sprintf("each read would take %s of work instead of %s, and %s", ms(after/u.rate), ms(before/u.rate), writesText(writes)),
	}}
	r.Sensitivity = k.sensitivityOf([]*read{u}, d)
	r.Why = k.whyKeep(&r, o, u)
	r.Method = k.lookUpMethod(o, []*read{u}, nil)
	k.keepOpinion(&r, o, u)
	r.Writes = nil
	r.WriteCostRatio = 1
	k.advice.Recommendations = append(k.advice.Recommendations, r)
}

// hasOther reports whether the design has given a read another look-up table.
func (k *maker) hasOther(o *offer, u *read) bool {
	return slices.ContainsFunc(k.transparent.after[u.asked.ID].Plan.Tables(), func(t *model.Table) bool { return t.Base != nil && t != o.table })
}

func (k *maker) rejectionOf(o *offer, d *design.Design) string {
	for _, r := range d.Rejected {
		if r.Table == o.table {
			return ": " + r.Reason + " (milliseconds of work)"
		}
	}
	return ""
}

// newRecommendation begins a recommendation about a look-up table.
func (k *maker) newRecommendation(o *offer, kind Kind, users []*read) Recommendation {
	lu := &plan.Rewrite{Kind: plan.LookUp, Keyspace: o.schema.Keyspace, Base: o.schema.Name, Column: o.column, Table: o.name, SchemaDigest: o.schema.Digest(), Statements: []string{}, Texts: []string{}}
	if home := k.homeOf(o); home != lu.Keyspace {
		lu.TableKeyspace = home
	}
	r := Recommendation{
		ID: idOf(string(kind), o.schema.Keyspace, o.schema.Name, o.column), Kind: kind, State: Open,
		Keyspace: o.schema.Keyspace, Table: o.schema.Name, Column: o.column, Nodes: k.Nodes,
		Verdicts: []plan.Verdict{}, Alternatives: []Alternative{}, Statements: []Statement{}, Writes: []Write{}, Risks: []string{},
		StorageBytes: math.Round(o.table.Bytes()), WriteCostRatio: 1, Evidence: k.newEvidence(), SchemaDigest: lu.SchemaDigest,
		CreatedAt: k.At, LastRefresh: k.At, StateSince: k.At, Rewrite: lu, Confidence: 0.99,
	}
	for _, u := range users {
		lu.Statements = append(lu.Statements, u.statement.Fingerprint)
		lu.Texts = append(lu.Texts, u.statement.Text)
		r.Evidence.Executions += u.statement.Count
	}
	if kind == LookUpTable {
		r.CQL = k.definitions(o)
		r.Risks = lookUpRisks(o)
		if left := k.tombstonesPassed(o); left >= 1 {
			r.Risks = append(r.Risks, fmt.Sprintf("Writes that change or clear %s leave tombstones: about %.0f are passed by a read of one value, which its time above includes.", o.column, left))
		}
		if values := k.distinctValues(o); values <= kinds {
			r.Risks = append(r.Risks, fmt.Sprintf("%s has about %.0f different values only: the partitions of the look-up table grow with %s, without bound.", o.column, values, o.schema.Name))
		}
	}
	r.Evidence.Facts = append(r.Evidence.Facts, k.rowsAValue(o, users)...)
	r.RestsOn = k.aboutTable(o.schema.Keyspace + "." + o.schema.Name)
	return r
}

// judgeRewrite asks whether the rewrite would be correct.
func (k *maker) judgeRewrite(r *Recommendation) {
	if k.Judge == nil {
		r.Verdicts = []plan.Verdict{{Refused: true, Reason: "nobody can say whether the rewrite is correct: this advisor runs without a rewriter"}}
		return
	}
	r.Verdicts = append(r.Verdicts, k.Judge.Judge(*r.Rewrite, k.Snapshot, k.Schema)...)
	refused := refusedStatements(r.Verdicts)
	r.Eligible = len(refused) < len(r.Rewrite.Statements)
	for _, v := range r.Verdicts {
		if v.Refused && v.Statement == "" {
			r.Eligible = false
		}
	}
}

// refusedStatements are the reads of the look-up that a condition refuses.
func refusedStatements(verdicts []plan.Verdict) map[string]string {
	out := map[string]string{}
	for _, v := range verdicts {
		if v.Refused && v.Statement != "" {
			out[v.Statement] = v.Refusal().Error()
		}
	}
	return out
}

// addReads adds the reads with both plans, and returns their work per second before and after.
func (k *maker) addReads(r *Recommendation, o *offer, users []*read, m *cost.Cassandra) (before, after float64) {
	passed := k.tombstonesPassed(o) * passing
	for _, u := range users {
		s := k.describeStatement(u.statement)
		p, c := k.planThrough(o, u, m)
		c = c.Plus(cost.Cost{Work: passed, Latency: passed})
		s.PredictedBeforeMs, s.PredictedWorkBeforeMs, s.PlanBefore = u.price.Latency, u.price.Work, u.plan.String()
		s.PredictedAfterMs, s.PredictedWorkAfterMs, s.PlanAfter = c.Latency, c.Work, p.String()
		r.Statements = append(r.Statements, s)
		before += u.rate * u.price.Work
		after += u.rate * c.Work
	}
	return before, after
}

// planThrough is the plan of a read that goes through the look-up table.
func (k *maker) planThrough(o *offer, u *read, m *cost.Cassandra) (*plan.Plan, cost.Cost) {
	return k.planOver(u.asked.Query, m, o.throughAlone())
}

// throughAlone is the look-up table over a base that can be read by key only.
func (o *offer) throughAlone() *model.Table {
	base := *o.table.Base
	base.Indexes, base.ScanAllowed = nil, false
	table := *o.table
	table.Base = &base
	return &table
}

// addWrites adds the writes that would have to keep the look-up table true too, and returns their additional work per second.
//
// The look-up write goes to one partition at the consistency of the write itself, before it: so it is expected to take
// as long as the write itself does, and a little for handing over. What is read before goes beside it; what comes after the answer is work, not
// latency.
func (k *maker) addWrites(r *Recommendation, o *offer) (work float64) {
	requests, count := 0.0, 0.0
	for _, p := range k.payingWrites(o) {
		put := plan.Step{Kind: plan.Put, Table: o.table, Requests: 1, Rows: 1, Bytes: o.table.RowBytes()}
		w := k.describeWrite(p.statement, k.costs.Step(&put, true).Latency)
		own := p.requests
		w.Requests, w.Plan = &own, p.requests.String()
		work += p.asked.Weight * o.upkeepOf(k.costs, &p)
		r.WriteCostRatio = max(r.WriteCostRatio, w.PredictedRatio)
		r.Writes = append(r.Writes, w)
		requests, count = requests+p.asked.Weight*(1+own.Sum()), count+p.asked.Weight
	}
	if count > 0 {
		r.WriteRequests = requests / count
	}
	return work
}

// describeWrite describes a write to which another one is added; otherwise is what that takes if the write itself was never timed
// on its own, in milliseconds.
func (k *maker) describeWrite(st *capture.Statement, otherwise float64) Write {
	observed := st.OriginalLatency()
	w := Write{
		Fingerprint: st.Fingerprint, Text: st.Text, Count: st.Count, PerSecond: float64(st.Count) / k.model.Seconds,
		ObservedP50Ms: observed.P50() / 1000,
	}
	itself := w.ObservedP50Ms
	if itself <= 0 {
		itself = otherwise
	}
	w.PredictedExtraMs = itself + k.Thresholds.WriteConstMs
	w.PredictedRatio = 2
	if itself > 0 {
		w.PredictedRatio = (itself + w.PredictedExtraMs) / itself
	}
	return w
}

// turnsAt is the least number of nodes at which the look-up table saves more than it costs; 0 if there is none.
func (k *maker) turnsAt(o *offer, u *read) int {
	space, err := plan.NewSpace(u.asked.Query, []*model.Table{o.throughAlone()}, nil) // its plans are the same on all clusters
	if err != nil {
		return 0
	}
	for n := k.Nodes + 1; n <= k.Thresholds.SlowestKeep; n++ {
		m, err := atNodes(k.costs, n)
		if err != nil {
			return 0
		}
		_, through := cheapestPlan(space, m)
		put := 0.0
		for _, p := range k.payingWrites(o) {
			put += p.asked.Weight * o.upkeepOf(m, &p)
		}
		if u.rate*(cost.Plan(m, u.plan).Work-through.Work) > put {
			return n
		}
	}
	return 0
}

// alternativesOf prices what else could be done for a read.
func (k *maker) alternativesOf(o *offer, u *read, d *design.Design) []Alternative {
	_, chosen := k.planThrough(o, u, k.costs)
	out := []Alternative{{
		Title: "leave it as it is", WorkMs: u.price.Work,
		Reason: fmt.Sprintf("each read takes %s of work instead of %s", ms(u.price.Work), ms(chosen.Work)),
	}}
	if u.access.Class != schema.IndexRead {
		indexed := *o.table.Base
		indexed.ScanAllowed = false
		indexed.Indexes = append(append([]model.Index(nil), indexed.Indexes...), model.Index{Name: "new", Field: o.table.Partition[0]})
		if p, c := k.planOver(u.asked.Query, k.costs, &indexed); p != nil {
			a := Alternative{Title: fmt.Sprintf("a secondary index on %s.%s", o.schema.Name, o.column), WorkMs: c.Work}
			a.Reason = fmt.Sprintf("each read would ask all nodes of the cluster: %s of work instead of %s", ms(c.Work), ms(chosen.Work))
			if c.Work < chosen.Work {
				a.Reason = fmt.Sprintf("on %s an index would be cheaper to read, %s of work instead of %s, but each read asks every node, so that stops being true as the cluster grows; and Helenus never alters a table of the application: create it yourself if you prefer it",
					nodesText(k.Nodes), ms(c.Work), ms(chosen.Work))
			}
			out = append(out, a)
		}
	}
	covering := &model.Table{Tree: o.table.Tree, Keyspace: o.table.Keyspace, Partition: o.table.Partition, Clustering: o.table.Clustering}
	for _, f := range o.table.Base.Values {
		if f != o.table.Partition[0] {
			covering.Values = append(covering.Values, f)
		}
	}
	if p, c := k.planOver(u.asked.Query, k.costs, covering); p != nil {
		out = append(out, Alternative{
			Title: fmt.Sprintf("a full copy of %s keyed by %s", o.schema.Name, o.column), WorkMs: c.Work,
			Reason: fmt.Sprintf("would take %s of work a read instead of %s, and %s instead of %s; but a copy can lag or miss an update without anybody noticing, whereas what a look-up says is checked against the base row at every read",
				ms(c.Work), ms(chosen.Work), bytes(covering.Bytes()), bytes(o.table.Bytes())),
		})
	}
	for _, r := range d.Rejected {
		if r.Statement == u.asked.ID && r.Table != o.table && isFinite(r.Work) {
			out = append(out, Alternative{Title: "look-up table " + r.Table.Name, WorkMs: r.Work, Reason: r.Reason})
		}
	}
	return out
}

// sensitivityOf words how far the weights may move.
func (k *maker) sensitivityOf(users []*read, d *design.Design) string {
	var lines []string
	for _, u := range users {
		for _, s := range d.Sensitive {
			if s.Statement == u.asked.ID {
				lines = append(lines, sensitivityText(s, u.statement.Fingerprint))
			}
		}
	}
	return strings.Join(lines, " ")
}

func clamp(v float64) float64 {
	if !(v > 0) {
		return 0
	}
	return min(v, 1)
}
