package recommend

import (
	"slices"

	"github.com/helenus-db/helenus/advisor/cost"
	"github.com/helenus-db/helenus/advisor/design"
	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/capture/schema"
)

// Traffic is never the same twice, and advice that comes and goes is advice that nobody follows. So a round does not change its mind for little:
// what is shown stays until it is clearly worse, and what is new must be clearly better.
const (
	// enter is what something must reach, in multiples of the bars (Thresholds), to be advised after the first round: load that varies by 20 % takes
	// nothing over a bar that it does not pass anyway.
	enter = 1.25
	// leave is what something must keep that is shown. The saving is a difference of reads and writes: with writes at a third of the reads' work, reads
	// 20 % down and writes 20 % up leave 0.6 of it.
	leave = 0.5
	// clearly is by which share of the work of the reads concerned another choice of tables must be better to take the place of one that is shown.
	clearly = 0.2
)

// bar is what a proposal must reach, in multiples of the thresholds. The first round has nothing to hold on to.
func (k *maker) bar(ids ...string) float64 {
	switch {
	case k.Shown == nil:
		return 1
	case k.isShown(ids...):
		return leave
	}
	return enter
}

func (k *maker) isShown(ids ...string) bool {
	return slices.ContainsFunc(ids, func(id string) bool { return slices.Contains(k.Shown, id) })
}

// bars are the thresholds for a proposal.
func (k *maker) bars(ids ...string) Thresholds {
	t, by := k.Thresholds, k.bar(ids...)
	t.Executions, t.SavedSeconds, t.SavedRatio = uint64(by*float64(t.Executions)+0.5), by*t.SavedSeconds, min(1, by*t.SavedRatio)
	return t
}

// lookUpIDs are the ids of what may be said about a look-up table by a column: to make it, and to leave the index.
func lookUpIDs(t *schema.Table, column string) []string {
	return []string{idOf(string(LookUpTable), t.Keyspace, t.Name, column), idOf(string(Keep), t.Keyspace, t.Name, column)}
}

// readIDs are those of all columns that a read could be answered by.
func (k *maker) readIDs(r *read) (ids []string) {
	own := k.Schema.Table(r.access.Keyspace, r.access.Table)
	for _, column := range r.access.Equality {
		if own != nil {
			ids = append(ids, lookUpIDs(own, column)...)
		}
	}
	return ids
}

// changeID is the id of the change of a join. The statements that would become one make it, not the tables: these are refined as more is seen, while
// what is advised (and perhaps was rejected) stays the same.
func changeID(j *joined) string {
	about := []string{string(ApplicationChange)}
	for _, u := range j.parts {
		about = append(about, u.Fingerprint)
	}
	return idOf(about...)
}

// observed prices what a read does today by what was observed, which beats whatever is assumed: its latency is the one that was measured, and its work
// is more or less than the model says in the same measure.
func observed(r *read, assumed cost.Cost) cost.Cost {
	latency := r.statement.OriginalLatency()
	if latency.Count < calibrated || assumed.Latency <= 0 {
		return assumed
	}
	ms := latency.P50() / 1000
	if ms <= 0 {
		return assumed
	}
	return cost.Cost{Work: assumed.Work * ms / assumed.Latency, Latency: ms}
}

// settled chooses among look-up tables. Where tables that are not shown would take the place of ones that are, both choices are worked out, and the new
// one is taken only if it is clearly better. ids are the statements of which is worked out how far their weights may move.
func (k *maker) settled(offers []*offer, kept []*keptOffer, ids []string) (*design.Study, *design.Design, error) {
	all := make([]*model.Table, len(offers))
	contested := map[*offer]bool{}
	for i, o := range offers {
		all[i] = o.table
	}
	concerned := map[*read]bool{}
	for _, o := range offers {
		if !k.isShown(lookUpIDs(o.schema, o.column)[0]) {
			continue
		}
		for _, other := range offers {
			if other.schema != o.schema || k.isShown(lookUpIDs(other.schema, other.column)[0]) {
				continue
			}
			for _, r := range o.reads {
				if slices.Contains(other.reads, r) {
					contested[other], concerned[r] = true, true
				}
			}
		}
	}
	study, d, err := k.chooseLookUps(all, offers, kept, ids)
	if err != nil || len(contested) == 0 {
		return study, d, err
	}
	var settled []*model.Table
	for _, o := range offers {
		if !contested[o] {
			settled = append(settled, o.table)
		}
	}
	other, before, err := k.chooseLookUps(settled, offers, kept, ids)
	if err != nil {
		return study, d, nil //nolint:nilerr // the whole choice is there
	}
	work := 0.0
	for r := range concerned {
		work += r.rate * r.price.Work
	}
	if before.After-d.After > clearly*work {
		return study, d, nil
	}
	return other, before, nil
}

// chooseLookUps is a design over some look-up tables, of the offers, and what the application keeps.
func (k *maker) chooseLookUps(tables []*model.Table, offers []*offer, kept []*keptOffer, ids []string) (*design.Study, *design.Design, error) {
	o := design.Options{Cost: k.costs, Solver: k.Solver, Limits: k.Limits, Candidates: tables, NoEnumeration: true, Allow: design.LookUpsOnly, Sensitivity: ids}
	k.knownCosts(&o, offers, kept)
	study, err := design.NewStudy(k.ctx, k.singles, o)
	if err != nil {
		return nil, nil, err
	}
	d, err := study.Design(k.ctx)
	return study, d, err
}
