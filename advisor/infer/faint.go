package infer

import (
	"fmt"
	"slices"
	"strings"

	"github.com/helenus-db/helenus/capture"
	"github.com/helenus-db/helenus/capture/feed"
)

// This file asks about feeds that account for too little of what their consumer asks for to be believed (feed.Faint).

// likelyFaint is how certain it is that one is a join: it is no coincidence, but may have another reason.
const likelyFaint = 0.6

// believed are the feeds of a snapshot, with the faint ones that a person says are joins.
func (b *modeller) believed(snapshot *capture.Snapshot) []feed.Feed {
	out := slices.Clone(snapshot.Feeds)
	for i := range snapshot.Echoes {
		f := &snapshot.Echoes[i]
		if answer, said := b.ruled.joined(f); f.Shape == feed.Faint && said && answer.yes {
			out = append(out, *f)
		}
	}
	return out
}

// askJoins asks whether faint feeds are joins, of those that could be.
func (b *modeller) askJoins(f *flows, echoes []feed.Feed) {
	subject := func(e feed.End) string { return e.Fingerprint + ":" + columnName(e) }
	questions, rates := map[string]*Question{}, map[string]float64{}
	var order []string
	for i := range echoes {
		fd := &echoes[i]
		from, known := f.index[fd.From.Fingerprint]
		to, knownTo := f.index[fd.To.Fingerprint]
		if _, said := b.ruled.joined(fd); fd.Shape != feed.Faint || said || !known || !knownTo || f.refuse(fd, f.all[from], f.all[to]) != "" {
			continue
		}
		at, producer, consumer := subject(fd.To), f.all[from].statement, f.all[to].statement
		if questions[at] == nil {
			questions[at] = &Question{Kind: IsJoin, Subject: at, Text: fmt.Sprintf("Does %q ask by %s for what another statement delivered?", strings.TrimSpace(consumer.Text), fd.To.Column)}
			order = append(order, at)
		}
		q := questions[at]
		q.Candidates = append(q.Candidates, Candidate{
			Answer: subject(fd.From), Text: fmt.Sprintf("yes, for %s of %q", fd.From.Column, strings.TrimSpace(producer.Text)), Certainty: likelyFaint,
			Evidence: []Evidence{{"feed", 0, fmt.Sprintf("%d of %d values looked at had been delivered there, %d by chance", fd.Hits, fd.Executions, fd.Decoys)}},
		})
		rates[at] += shareOf(fd) * f.all[to].rate
	}
	for _, at := range order {
		b.ask(*questions[at], "no, it is asked for another reason", 1-likelyFaint, true)
		b.m.Questions[len(b.m.Questions)-1].Rate = rates[at]
	}
}
