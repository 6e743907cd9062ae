package recommend

import (
	"fmt"
	"io"
	"strings"
)

// wide is where paragraphs are wrapped.
const wide = 96

// Explain prints a recommendation for a terminal: what and why, what it costs and saves, on what evidence, how the
// statements run now and would run, what was decided about it, and what to do next.
func Explain(w io.Writer, r Recommendation) error {
	p := &textPage{w: w}
	p.line("%s  %s", r.ID, r.Title)
	state := string(r.State)
	if r.Migration != "" {
		state += ", change " + r.Migration
	}
	if !r.Until.IsZero() {
		state += " until " + r.Until.UTC().Format("2006-01-02 15:04 MST")
	}
	if r.Actor != "" {
		state += ", by " + r.Actor
	}
	if r.StateReason != "" {
		state += ": " + r.StateReason
	}
	p.line("%s on %s.%s; %s; confidence %.2f", r.Kind, r.Keyspace, r.Table, state, r.Confidence)
	if r.Pending != "" {
		p.paragraph("PENDING: " + r.Pending)
	}
	if r.Waits != "" {
		p.paragraph("It does not serve: " + r.Waits)
	}
	p.heading("Why")
	p.paragraph(r.Why)
	p.heading("In numbers")
	if r.Kind == TimelineKind {
		p.line("  saves           %s", r.Gain())
		p.line("  writes          %.1f times as long as now while a table is there, the dearest of them", r.WriteCostRatio)
		p.line("  storage         %s at most, without replication", bytes(r.StorageBytes))
	} else if r.Kind != Keep {
		p.line("  saves           %s", r.Gain())
		if m := r.MarginalSecondsPerSecond; m != nil {
			p.line("  beside the rest %s: so much would be lost without it, if all else is done that is advised", Work(*m))
		}
		if len(r.NeedlessWith) > 0 {
			p.line("  needless with   %s: once that is done, nothing is left for it", strings.Join(r.NeedlessWith, ", "))
		}
		if len(r.OnlyWith) > 0 {
			p.line("  only with       %s: it does not pay without", strings.Join(r.OnlyWith, ", "))
		}
		p.line("  writes          %.1f times as long as now, the dearest of them", r.WriteCostRatio)
		if r.WriteRequests > 0 {
			p.line("  in Cassandra    %.1f requests for each of these writes, in place of 1", r.WriteRequests)
		}
		p.line("  storage         %s, without replication", bytes(r.StorageBytes))
	} else if r.TurnsAtNodes > 0 {
		p.line("  turns round     at %s; the cluster has %s", nodesText(r.TurnsAtNodes), nodesText(r.Nodes))
	}
	if r.Sensitivity != "" {
		p.paragraph(r.Sensitivity)
	}
	if r.Measured != "" {
		p.heading("Measured since it serves")
		for line := range strings.SplitSeq(r.Measured, "\n") {
			p.paragraph(line)
		}
	}
	p.writeTimeline(r.Timeline)
	p.heading("Reads")
	if text := r.ServedText(); text != "" {
		p.paragraph(text + ".")
	}
	for _, s := range r.Statements {
		p.writeRead(&s)
	}
	if len(r.Writes) > 0 {
		p.heading("Writes that pay for it")
		for _, s := range r.Writes {
			p.paragraph(s.Text)
			now := "p50 " + ms(s.ObservedP50Ms) + " now"
			if s.ObservedP50Ms <= 0 {
				now = "in batches, so never timed by itself"
			}
			p.line("    %d times, %s; %s, %s more expected (%.1f times)", s.Count, rate(s.PerSecond), now, ms(s.PredictedExtraMs), s.PredictedRatio)
			if s.Plan != "" {
				p.indented("    ", s.Plan)
			}
		}
	}
	p.writeMethod(r.Method)
	p.writeOpinions(&r)
	if len(r.Beforehand) > 0 {
		p.heading("Before you approve")
		for _, line := range r.Beforehand {
			p.paragraph(line)
		}
	}
	if len(r.CQL) > 0 {
		p.heading("Tables")
		for _, c := range r.CQL {
			p.indented("  ", c)
		}
	}
	if r.Sketch != nil {
		p.heading("Code now (a sketch)")
		p.indented("  ", r.Sketch.Before)
		p.heading("Code afterwards (a sketch)")
		p.indented("  ", r.Sketch.After)
	}
	p.heading("Evidence")
	p.line("  %d executions from %s to %s", r.Evidence.Executions, r.Evidence.From.UTC().Format("2006-01-02 15:04:05"), r.Evidence.To.UTC().Format("2006-01-02 15:04:05"))
	for _, f := range r.Evidence.Feeds {
		p.line("  %s -> %s, %s: %d of %d values (%d by chance), %.1f an execution, lag p50 %s p99 %s",
			f.From, f.To, f.Shape, f.Hits, f.Observed, f.Decoys, f.PerExecution, ms(f.LagP50Ms), ms(f.LagP99Ms))
	}
	for _, f := range r.Evidence.Facts {
		p.paragraph(f)
	}
	p.writeRests(r.RestsOn)
	p.writeVerdicts(&r)
	if len(r.Alternatives) > 0 {
		p.heading("Weighed and not taken")
		for _, a := range r.Alternatives {
			p.paragraph(a.Title + ": " + a.Reason)
		}
	}
	if len(r.Risks) > 0 {
		p.heading("To bear in mind")
		for _, risk := range r.Risks {
			p.paragraph(risk)
		}
	}
	p.heading("Next")
	p.line("  %s", nextStep(&r))
	return p.err
}

// nextStep is what a person can do now.
func nextStep(r *Recommendation) string {
	switch {
	case r.State == Approved:
		return "helenus changes " + r.ID
	case r.State == Rejected, r.State == Snoozed:
		return "nothing; to take that back: helenus reopen " + r.ID
	case r.State != Open:
		return "nothing: it is over"
	case r.Kind == Keep:
		return "nothing: leave it as it is"
	case r.Kind == ApplicationChange:
		return "change the application as sketched, or: helenus dismiss " + r.ID + " --why ..."
	case r.Kind == TimelineKind && r.Eligible:
		return "helenus approve " + r.ID + " [--until DATE] [--changes-per-day N] [--max-bytes N] [--window 22:00-06:00] [--each]    (or: helenus dismiss " + r.ID + " --why ...)"
	case !r.Eligible:
		return "nothing: see the verdicts; or: helenus dismiss " + r.ID + " --why ..."
	}
	return "helenus approve " + r.ID + "    (or: helenus dismiss " + r.ID + " --why ...)"
}

// textPage writes text until the first error.
type textPage struct {
	w   io.Writer
	err error
}

func (p *textPage) line(format string, args ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintln(p.w, strings.TrimRight(fmt.Sprintf(format, args...), " "))
	}
}

func (p *textPage) heading(text string) {
	p.line("")
	p.line("%s", text)
}

func (p *textPage) indented(indent, text string) {
	for l := range strings.SplitSeq(strings.TrimRight(text, "\n"), "\n") {
		p.line("%s%s", indent, l)
	}
}

// paragraph wraps text at blanks; lines after the first are indented.
func (p *textPage) paragraph(text string) {
	line, indent := "  ", "  "
	for _, word := range strings.Fields(text) {
		if len(line)+1+len(word) > wide && len(line) > len(indent) {
			p.line("%s", line)
			indent = "    "
			line = indent
		}
		if strings.TrimSpace(line) != "" {
			line += " "
		}
		line += word
	}
	p.line("%s", line)
}

func (p *textPage) writeRead(s *Statement) {
	p.paragraph(s.Text)
	p.line("    %d times, %s; observed p50 %s, p99 %s", s.Count, rate(s.PerSecond), ms(s.ObservedP50Ms), ms(s.ObservedP99Ms))
	if s.Uses != 1 {
		p.line("    %.1f times for each", s.Uses)
	}
	if s.PlanBefore != "" {
		p.line("    now        %s, %s of work expected", ms(s.PredictedBeforeMs), ms(s.PredictedWorkBeforeMs))
		p.indented("      ", s.PlanBefore)
	}
	if s.PlanAfter != "" {
		p.line("    otherwise  %s, %s of work expected", ms(s.PredictedAfterMs), ms(s.PredictedWorkAfterMs))
		p.indented("      ", s.PlanAfter)
	}
}

// writeRests lists the questions that an advice rests on.
func (p *textPage) writeRests(list []Rest) {
	if len(list) == 0 {
		return
	}
	p.heading("It rests on open questions")
	for _, r := range list {
		p.paragraph(fmt.Sprintf("%s  %s Taken for true, with %.0f %% certainty: %s.", r.Question, r.Text, 100*r.Certainty, r.Taken))
	}
	p.line("  Answer with: helenus answer %s CHOICE (helenus questions lists the choices)", list[0].Question)
}

func (p *textPage) writeVerdicts(r *Recommendation) {
	if len(r.Verdicts) == 0 {
		return
	}
	p.heading("Verdict")
	if r.Eligible {
		p.line("  eligible: Helenus can do this without a change to the application")
	} else {
		p.line("  not to be carried out by Helenus")
	}
	for _, v := range r.Verdicts {
		text := v.Refusal().Error()
		if v.Statement != "" {
			text = v.Statement[:min(8, len(v.Statement))] + " " + text
		}
		if v.Refused {
			text = "refused, " + text
		}
		p.paragraph(text)
	}
}
