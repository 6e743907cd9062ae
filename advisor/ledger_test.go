package advisor_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/helenus-db/helenus/advisor"
	"github.com/helenus-db/helenus/advisor/infer"
	"github.com/helenus-db/helenus/advisor/recommend"
	"github.com/helenus-db/helenus/capture/store"
	"github.com/helenus-db/helenus/internal/change"
)

const said = "corrections:\n- rename: hotel.guests\n  to: Visitor\n  because: that is what they are called here\n"

// A file that is imported is in force in the next round, is there after a restart, and can be gone back from; the audit trail has who, and why.
func TestCorrectionsLife(t *testing.T) {
	ctx := context.Background()
	w, s := newWorld(), kept(t)
	a := w.advisor(t, s)
	file, err := a.Export(ctx, 0)
	if err != nil {
		t.Fatal(err)
	}
	dry, err := a.Import(ctx, file+said, "", "ann", true)
	if err != nil || !dry.DryRun || !dry.Changed || dry.Version != 0 || len(dry.Changes) == 0 {
		t.Fatalf("%v, %+v", err, dry)
	}
	if all, err := a.Versions(ctx); err != nil || len(all) != 0 {
		t.Fatalf("a dry run made %v, %v", all, err)
	}
	done, err := a.Import(ctx, file+said, "they said so", "ann", false)
	if err != nil || done.Version != 1 {
		t.Fatalf("%v, %+v", err, done)
	}
	if again, err := a.Import(ctx, file+said, "", "bob", false); err != nil || again.Changed || again.Version != 1 {
		t.Errorf("%v, %+v: the same again is no new version", err, again)
	}
	named := func(a *advisor.Advisor, want string) {
		t.Helper()
		for _, e := range refresh(t, a).Model.Entities {
			if e.Name == want {
				return
			}
		}
		t.Errorf("no entity is called %s", want)
	}
	named(a, "Visitor")
	named(w.advisor(t, s), "Visitor") // after a restart
	first, err := a.Export(ctx, 1)
	if err != nil || first != file+said {
		t.Errorf("%v; version 1 is kept as\n%s", err, first)
	}
	now, err := a.Export(ctx, 0)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := a.Import(ctx, now, "", "ann", false); err != nil || again.Changed || len(again.Unused) != 0 {
		t.Errorf("%v, %+v: what is exported is what is in force", err, again)
	}
	if third, err := a.Export(ctx, 0); err != nil || third != now {
		t.Errorf("%v: exported, imported and exported it is\n%s\nnot\n%s", err, third, now)
	}
	if d, version, err := a.Diff(ctx, ""); err != nil || version != 1 || len(d) == 0 {
		t.Errorf("%v, %d, %v", err, version, d)
	}
	back, err := a.Reset(ctx, 0, "a mistake", "bob", false)
	if err != nil || back.Version != 2 || len(back.Changes) != 1 {
		t.Fatalf("%v, %+v", err, back)
	}
	named(a, "Guest")
	if forth, err := a.Reset(ctx, 1, "", "bob", false); err != nil || forth.Version != 3 {
		t.Fatalf("%v, %+v", err, forth)
	}
	named(a, "Visitor")
	if _, err := a.Reset(ctx, 9, "", "bob", false); !isMissing(err) {
		t.Errorf("%v", err)
	}
	trail, err := s.Audit(ctx, store.AuditQuery{Action: "model"})
	if err != nil || len(trail) != 3 || trail[2].Action != "model.import" || trail[2].Actor != "ann" || trail[2].Reason != "they said so" || trail[2].After != "version 1, 1 corrections" {
		t.Errorf("%v, %+v", err, trail)
	}
	if len(back.States) != 0 {
		t.Error("going back looks at no traffic")
	}
}

func isMissing(err error) bool { return errors.As(err, new(*advisor.MissingError)) }

// The files of the latest versions are kept, and no more of them; versions go on being counted.
func TestFilesAreBounded(t *testing.T) {
	ctx := context.Background()
	a := newWorld().advisor(t, kept(t))
	file, err := a.Export(ctx, 0)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 12 {
		if _, err := a.Import(ctx, file+strings.Replace(said, "Visitor", "Visitor"+string(rune('A'+i)), 1), "", "ann", false); err != nil {
			t.Fatal(err)
		}
	}
	if text, err := a.Export(ctx, 12); err != nil || !strings.Contains(text, "VisitorL") {
		t.Errorf("%v\n%s", err, text)
	}
	if _, err := a.Export(ctx, 2); !isMissing(err) {
		t.Errorf("version 2: %v", err)
	}
	if all, err := a.Versions(ctx); err != nil || len(all) != 12 || all[0].Number != 12 || all[10].File || !all[9].File {
		t.Errorf("%v, %d versions", err, len(all))
	}
}

// asking makes an advisor whose rounds leave a question open until it is answered.
func asking(t *testing.T, s change.Store, w *world) *advisor.Advisor {
	t.Helper()
	o := w.options(s)
	o.Make = func(ctx context.Context, in recommend.Input) (*recommend.Advice, error) {
		a, err := recommend.Make(ctx, in)
		if err != nil || len(in.Corrections.Answers("q-1")) > 0 {
			return a, err
		}
		q := infer.Question{ID: "q-1", Kind: infer.WhichRelationship, Subject: "hotel.reservations.guest_id", Text: "Whose key is it?",
			Candidates: []infer.Candidate{{Answer: "hotel.guests", Text: "a guest's", Certainty: 0.6, Used: true}, {Answer: infer.None, Text: "nobody's", Certainty: 0.4}}}
		a.Model.Questions, a.Questions = []infer.Question{q}, []recommend.Asked{{Question: q, Worth: 3}}
		return a, nil
	}
	a, err := advisor.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// An answer is a correction that the next round uses; the question is open again when it is taken back.
func TestAnswers(t *testing.T) {
	ctx := context.Background()
	w, s := newWorld(), kept(t)
	a := asking(t, s, w)
	if q, err := a.Questions(ctx); err != nil || len(q.Open) != 0 {
		t.Fatalf("%v, %+v", err, q)
	}
	refresh(t, a)
	open := func(want int) advisor.Questions {
		t.Helper()
		q, err := a.Questions(ctx)
		if err != nil || len(q.Open) != want || len(q.Answered) != 1-want {
			t.Fatalf("%v, %+v", err, q)
		}
		return q
	}
	open(1)
	for _, choice := range []string{"", "0", "3", "hotel.rooms"} {
		if _, err := a.Answer(ctx, "q-1", choice, "", "ann"); !errors.As(err, new(*infer.InvalidError)) {
			t.Errorf("choice %q: %v", choice, err)
		}
	}
	if _, err := a.Answer(ctx, "q-2", "1", "", "ann"); !isMissing(err) {
		t.Errorf("%v", err)
	}
	v, err := a.Answer(ctx, "q-1", "2", "a voucher, not a guest", "ann")
	if err != nil || v.Number != 1 || len(v.Corrections) != 1 || v.Corrections[0].To != "none" || v.Corrections[0].Because != "a voucher, not a guest" {
		t.Fatalf("%v, %+v", err, v)
	}
	open(0) // at once, and after the round
	advice := refresh(t, a)
	open(0)
	for _, r := range advice.Model.Relationships {
		if r.Column == "hotel.reservations.guest_id" {
			t.Errorf("the next round still has %s", r.Name)
		}
	}
	for i := range advice.Model.Corrections {
		if c := &advice.Model.Corrections[i]; !c.InForce || len(c.Against) == 0 {
			t.Errorf("values travel from it to guests, and nobody is told: %+v", c)
		}
	}
	if v, err := a.Unanswer(ctx, "q-1", "", "bob"); err != nil || v.Number != 2 || len(v.Corrections) != 0 {
		t.Fatalf("%v, %+v", err, v)
	}
	if _, err := a.Unanswer(ctx, "q-1", "", "bob"); !isMissing(err) {
		t.Errorf("%v", err)
	}
	refresh(t, a)
	open(1)
	if trail, err := s.Audit(ctx, store.AuditQuery{Change: "q-1"}); err != nil || len(trail) != 2 || trail[1].Action != "model.answer" || trail[0].Action != "model.unanswer" {
		t.Errorf("%v, %+v", err, trail)
	}
}

// An answer that can not stand beside what was said is refused, and so is what was made of a version that is not in force any more.
func TestAnswersThatContradict(t *testing.T) {
	ctx := context.Background()
	a := asking(t, nil, newWorld())
	refresh(t, a)
	file, err := a.Export(ctx, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.Import(ctx, file+"corrections:\n- relationship: hotel.reservations.guest_id\n  to: hotel.guests\n", "", "ann", false); err != nil {
		t.Fatal(err)
	}
	var refused *advisor.RefusedError
	if _, err := a.Answer(ctx, "q-1", "none", "", "bob"); !errors.As(err, &refused) || !strings.Contains(refused.Text, "contradicts correction 1") {
		t.Errorf("%v", err)
	}
	if _, err := a.Answer(ctx, "q-1", "hotel.guests", "", "bob"); err != nil {
		t.Errorf("%v: it says the same", err)
	}
}

// The log says once, not each round, that a correction is contradicted.
func TestContradictionsAreLogged(t *testing.T) {
	var log bytes.Buffer
	w := newWorld()
	o := w.options(nil)
	o.Log = slog.New(slog.NewTextHandler(&log, nil))
	a, err := advisor.New(o)
	if err != nil {
		t.Fatal(err)
	}
	file, err := a.Export(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.Import(t.Context(), file+"corrections:\n- relationship: hotel.reservations.guest_id\n  to: none\n", "", "ann", false); err != nil {
		t.Fatal(err)
	}
	refresh(t, a)
	refresh(t, a)
	if n := strings.Count(log.String(), "a correction of the model is contradicted"); n != 1 {
		t.Errorf("told %d times:\n%s", n, log.String())
	}
	tables := *w.schema
	tables.Keyspaces = nil
	w.schema = &tables
	refresh(t, a)
	if !strings.Contains(refresh(t, a).Model.Corrections[0].Why, "there is no table hotel.reservations") {
		t.Error("a correction of a table that is gone says nothing")
	}
}

// After a restart advice stays until as much was seen again as it was given on.
func TestAdviceOutlivesARestart(t *testing.T) {
	w, s := newWorld(), kept(t)
	r := lookUp(t, func() *advisor.Advisor { a := w.advisor(t, s); refresh(t, a); return a }())
	early := *w.snapshot
	early.Statements = append(early.Statements[:0:0], early.Statements...)
	for i := range early.Statements {
		early.Statements[i].Count = 1
	}
	whole := w.snapshot
	early.To = early.From.Add(early.To.Sub(early.From) / 10)
	w.snapshot = &early
	a := w.advisor(t, s)
	refresh(t, a)
	if got := lookUp(t, a); got.ID != r.ID || got.State != recommend.Open {
		t.Errorf("%s is %s: %s", got.ID, got.State, got.StateReason)
	}
	later := early
	later.To = whole.To
	w.snapshot = &later
	refresh(t, a)
	if got := lookUp(t, a); got.State != recommend.Expired {
		t.Errorf("%s is %s though as much was seen", got.ID, got.State)
	}
}
