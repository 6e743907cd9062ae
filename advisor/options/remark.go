package options

import (
	"fmt"

	"github.com/helenus-db/helenus/advisor/workload"
)

// Top is how many options the method advises to benchmark, not only the first (B-52).
const Top = 5

// addAdvice adds what the seed's discussion says of schemas that are made so, as far as it holds for this workload.
func (f *finder) addAdvice() {
	var inserts, changes []string
	for _, s := range f.writes {
		switch s.Write.Kind {
		case workload.Insert, workload.Connect:
			inserts = append(inserts, s.ID)
		default:
			changes = append(changes, s.ID)
		}
	}
	f.addRemark("", "each query is one request in every option, so that no result combines different states of several tables; the price is writes of several requests")
	best := f.bestOption()
	if best == nil {
		return
	}
	if n := countSplit(best, inserts); n > 0 {
		f.addRemark("", fmt.Sprintf("consistency of %s: %d of the INSERTs take several requests; tables differ until all are done, so retry until they are", best.Name, n))
	}
	if n := countSplit(best, changes); n > 0 {
		f.addRemark("", fmt.Sprintf("consistency of %s: %d of the UPDATEs and DELETEs take several requests; concurrent ones of the same rows may leave tables that differ, unless all send their requests in the same order", best.Name, n))
	}
	if len(inserts)+len(changes) > 0 {
		f.addRemark("", "fewer tables lower that risk: of options of about the same score, prefer those with fewer")
	}
	if options := len(f.report.Options); options > 1 {
		f.addRemark("", fmt.Sprintf("the scores order options, they measure nothing: benchmark the best %d or %d, not the first alone", Top, 2*Top))
	}
	if f.report.Given() != nil {
		f.addRemark("", "a design that was given may read by several requests and counts its own; methods that minimise cost of money leave secondary indexes out, those that normalise more write less and read more")
	}
}

// bestOption is the first option, designs that were given aside.
func (f *finder) bestOption() *Option {
	for _, o := range f.report.Options {
		if !o.Given {
			return o
		}
	}
	return nil
}

// Given is the first design that was ranked beside the options, nil if there is none.
func (r *Report) Given() *Option {
	for _, o := range r.Options {
		if o.Given {
			return o
		}
	}
	return nil
}

// countSplit counts the writes that take more than one request.
func countSplit(o *Option, ids []string) int {
	n := 0
	for _, w := range o.Writes {
		for _, id := range ids {
			if w.Statement == id && w.Reads+w.Writes > 1 {
				n++
			}
		}
	}
	return n
}
