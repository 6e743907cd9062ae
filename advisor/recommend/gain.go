package recommend

import (
	"fmt"
	"math"

	"github.com/helenus-db/helenus/internal/words"
)

// Work words the work of the cluster that is saved, or spent, in each second of traffic. All that people read of gains is
// said so: a gain by the hour says nothing without what an hour costs.
func Work(perSecond float64) string {
	return WorkTime(perSecond) + " of cluster work each second"
}

// WorkTime is how much work that is, without saying of what.
func WorkTime(perSecond float64) string {
	milliseconds := 1000 * perSecond
	switch a := math.Abs(milliseconds); {
	case a == 0:
		return "0 ms"
	case a < 0.01:
		return "less than 0.01 ms"
	case a < 1000:
		return words.Three(milliseconds) + " ms"
	}
	return words.Count(math.Round(milliseconds)) + " ms" // seconds each second would be a riddle
}

// Gain words what an advice saves, beside what its reads cost altogether.
func (r *Recommendation) Gain() string {
	of := "of what its reads cost"
	if r.Kind == TimelineKind {
		of = "of what depends on these tables, beside the best single choice"
	}
	return fmt.Sprintf("%s, %s %s", Work(r.SavedSecondsPerSecond), Share(r.BenefitRatio), of)
}

// Share words a share.
func Share(ratio float64) string {
	if p := 100 * ratio; p > 0 && p < 1 {
		return "less than 1 %"
	}
	return fmt.Sprintf("%.0f %%", 100*ratio)
}

// tooLittle words why what would save so much (ms of work each second) is not advised.
func (t *Thresholds) tooLittle(saved, ratio, least float64) string {
	return fmt.Sprintf("would save %s (%s): advice is given from %s (setting min-saved) and %s on",
		Work(max(0, saved)/1000), Share(ratio), WorkTime(t.SavedSeconds/3600), Share(least))
}
