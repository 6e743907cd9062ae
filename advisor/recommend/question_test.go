package recommend

import (
	"strings"
	"testing"

	"github.com/helenus-db/helenus/advisor/infer"
	"github.com/helenus-db/helenus/advisor/infer/infertest"
)

// asks makes a maker whose model has questions about the hotel.
func asks(t *testing.T, certainty float64) (*maker, *joined) {
	t.Helper()
	k, err := newMaker(t.Context(), Input{Schema: infertest.HotelSchema(), Statistics: infertest.HotelStatistics(), Thresholds: Thresholds{}.WithDefaults(), Nodes: 1}, infertest.Hotel().Snapshot())
	if err != nil {
		t.Fatal(err)
	}
	if err := k.planReads(); err != nil {
		t.Fatal(err)
	}
	question := func(id string, kind infer.QuestionKind, subject, answer string, p float64) infer.Question {
		return infer.Question{ID: id, Kind: kind, Subject: subject, Text: id + "?", Candidates: []infer.Candidate{{Answer: answer, Text: answer, Certainty: p, Used: true}, {Answer: infer.None, Text: "none", Certainty: 1 - p}}}
	}
	k.model.Questions = []infer.Question{
		question("q-column", infer.WhichRelationship, "hotel.reservations.guest_id", "hotel.guests", certainty),
		question("q-rooms", infer.WhichRelationship, "hotel.rooms.hotel_id", "hotel.hotels", 0.99),
		question("q-copy", infer.IsCopy, "hotel.guests", "hotel.reservations", 0.6),
		question("q-other", infer.SameEntity, "other.a", "other.b", 0.5),
	}
	for _, j := range k.listJoins() {
		for _, u := range j.reads {
			if u.access.Table == "guests" {
				return k, j
			}
		}
	}
	t.Fatal("no join reads guests")
	return nil, nil
}

// An advice names the questions that it rests on; below the bar it is not given, and says which question settles that.
func TestRestsOn(t *testing.T) {
	k, j := asks(t, 0.8)
	k.model.Questions = k.model.Questions[:2]
	var r Recommendation
	if why := k.open(&r, j); why != "" || len(r.RestsOn) == 0 || r.RestsOn[0].Question != "q-column" || r.RestsOn[0].Certainty != 0.8 {
		t.Errorf("%q, %+v", why, r.RestsOn)
	}
	var text strings.Builder
	if err := Explain(&text, r); err != nil || !strings.Contains(text.String(), "It rests on open questions") || !strings.Contains(text.String(), "helenus answer q-column CHOICE") {
		t.Errorf("%v\n%s", err, text.String())
	}
	k, j = asks(t, 0.6)
	if why := k.open(&r, j); !strings.Contains(why, "question q-column") || !strings.Contains(why, "only 60 % certain") || !strings.Contains(why, "helenus answer q-column") {
		t.Errorf("%q", why)
	}
	all := k.model.Questions
	k.model.Questions = all[:2]
	for i := range k.model.Questions[0].Candidates {
		c := &k.model.Questions[0].Candidates[i]
		c.Used = !c.Used
	}
	if why := k.open(&r, j); why != "" || len(r.RestsOn) == 0 {
		t.Errorf("%q, %+v: nothing is built on what is open, and it is named all the same", why, r.RestsOn)
	}
	k.model.Questions = all
	if about := k.aboutTable("hotel.reservations"); len(about) != 1 || about[0].Question != "q-copy" {
		t.Errorf("of a look-up: %+v", about)
	}
}

// Questions are ranked by the work that hangs on them times how uncertain the answer is; there are ten at most.
func TestRanked(t *testing.T) {
	k, _ := asks(t, 0.8)
	ranked := k.ranked()
	if len(ranked) != 4 || ranked[0].ID != "q-column" || ranked[3].ID != "q-other" || ranked[3].Worth != 0 {
		t.Fatalf("%+v", ranked)
	}
	work := 0.0
	for i := range k.Snapshot.Statements {
		if st := &k.Snapshot.Statements[i]; st.Table == "reservations" {
			d := st.OriginalLatency()
			work += float64(st.Count) / k.model.Seconds * d.Mean() / 1000
		}
	}
	if want := work * 0.8 * 0.2; ranked[0].Worth < 0.999*want || ranked[0].Worth > 1.001*want {
		t.Errorf("worth %g, want %g", ranked[0].Worth, want)
	}
	for range 20 {
		k.model.Questions = append(k.model.Questions, k.model.Questions[3])
	}
	if n := len(k.ranked()); n != maxAsked {
		t.Errorf("%d questions", n)
	}
}
