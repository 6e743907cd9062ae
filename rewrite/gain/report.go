package gain

import (
	"fmt"
	"strings"

	"github.com/helenus-db/helenus/capture/histogram"
)

// Figures of one side, milliseconds.
type Figures struct {
	Count  uint64  `json:"count"`
	P50Ms  float64 `json:"p50_ms"`
	P90Ms  float64 `json:"p90_ms"`
	MeanMs float64 `json:"mean_ms"`
}

func figures(d histogram.Distribution) *Figures {
	if d.Count == 0 {
		return nil
	}
	return &Figures{d.Count, d.P50() / 1000, d.Quantile(0.9) / 1000, d.Mean() / 1000}
}

// Kind has the sides of reads or of writes; nil: nothing was counted.
type Kind struct {
	Before  *Figures `json:"before,omitempty"`
	After   *Figures `json:"after,omitempty"`
	Control *Figures `json:"control,omitempty"`
}

// Report is what a change turned out to be worth, for people and machines.
type Report struct {
	Reads    Kind    `json:"reads"`
	Writes   Kind    `json:"writes"`
	Promised float64 `json:"promised,omitempty"` // how many times faster reads were to be at the median
	Measured float64 `json:"measured,omitempty"` // how many times faster they are; below 1: slower
	// SavedSeconds is what all reads answered so far took less than as many as written; negative: more.
	SavedSeconds float64 `json:"saved_seconds,omitempty"`
	Verdict      string  `json:"verdict,omitempty"` // why it was turned back
	Text         string  `json:"text"`              // all that in words, a line each
}

// leastShown is how many reads as written are held against the others in a report; of fewer, what was before is.
const leastShown = 20

// reference is what reads are held against: those that ran as written meanwhile, or, of too few, those before.
func (r *Record) reference() (d histogram.Distribution, what string) {
	if r.Since.Controls.Count >= leastShown || r.Before.Reads.Count == 0 {
		return r.Since.Controls, "as written meanwhile"
	}
	return r.Before.Reads, "before"
}

// Report makes the report.
func (r *Record) Report() *Report {
	out := &Report{
		Reads:    Kind{figures(r.Before.Reads), figures(r.Since.Reads), figures(r.Since.Controls)},
		Writes:   Kind{figures(r.Before.Writes), figures(r.Since.Writes), figures(r.Since.Alone)},
		Promised: r.Promise.Reads, Verdict: r.Verdict,
	}
	if ref, _ := r.reference(); ref.Count > 0 && r.Since.Reads.Count > 0 {
		out.Measured = ref.P50() / max(r.Since.Reads.P50(), 1)
		out.SavedSeconds = float64(r.Since.Reads.Count) * (deciles(ref) - deciles(r.Since.Reads)) / 1e6
	}
	out.Text = r.text(out)
	return out
}

func (r *Record) text(out *Report) string {
	var lines []string
	if r.Verdict != "" {
		lines = append(lines, "turned back: "+r.Verdict)
	}
	ref, what := r.reference()
	promised := "nothing was promised"
	if r.Promise.Reads > 0 {
		promised = "promised were " + times(r.Promise.Reads)
	}
	switch {
	case r.Since.Reads.Count == 0:
		lines = append(lines, "no read was answered yet; "+promised)
	case ref.Count == 0:
		lines = append(lines, fmt.Sprintf("reads take %s at the median (%d of them); none as written was measured; %s", ms(r.Since.Reads.P50()), r.Since.Reads.Count, promised))
	default:
		lines = append(lines, fmt.Sprintf("reads take %s, against %s %s: %s as fast; %s", quantiles(r.Since.Reads), quantiles(ref), what, times(out.Measured), promised))
		if out.SavedSeconds > 0 {
			lines = append(lines, fmt.Sprintf("saved so far: %.1f s in %d reads", out.SavedSeconds, r.Since.Reads.Count))
		} else {
			lines = append(lines, fmt.Sprintf("lost so far: %.1f s in %d reads", -out.SavedSeconds, r.Since.Reads.Count))
		}
	}
	if r.Since.Writes.Count > 0 {
		promised := ""
		if r.Promise.Writes > 0 {
			promised = "; promised were " + times(r.Promise.Writes)
		}
		if r.Before.Writes.Count > 0 {
			promised += "; before the change they took " + quantiles(r.Before.Writes)
		}
		lines = append(lines, fmt.Sprintf("writes take %s, of which the statement itself takes %s: %s as long%s", quantiles(r.Since.Writes), quantiles(r.Since.Alone),
			times(r.Since.Writes.P50()/max(1, r.Since.Alone.P50())), promised))
	}
	return strings.Join(lines, "\n")
}

func quantiles(d histogram.Distribution) string {
	return fmt.Sprintf("p50 %s, p90 %s", ms(d.P50()), ms(d.Quantile(0.9)))
}

// against words two sides at a quantile, "p50 11.9 ms against 2.6 ms".
func against(q float64, a, b histogram.Distribution) string {
	return fmt.Sprintf("p%.0f %s against %s", 100*q, ms(a.Quantile(q)), ms(b.Quantile(q)))
}

func ms(micros float64) string {
	if v := micros / 1000; v < 100 {
		return fmt.Sprintf("%.1f ms", v)
	}
	return fmt.Sprintf("%.0f ms", micros/1000)
}

func times(v float64) string { return fmt.Sprintf("%.1f times", v) }
