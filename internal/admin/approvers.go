package admin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/helenus-db/helenus/advisor/recommend"
	"github.com/helenus-db/helenus/capture/store"
	"github.com/helenus-db/helenus/internal/access"
	"github.com/helenus-db/helenus/rewrite/calendar"
)

// Proposals keeps what awaits the approval of a second person; *store.Store does.
type Proposals interface {
	Load(ctx context.Context, kind, id string, v any) error
	Decide(ctx context.Context, kind, id string, v any, entries ...store.Entry) error
	Delete(ctx context.Context, kind, id string) error
}

// kindProposal is the kind of document of a proposal in the store.
const kindProposal = "proposal"

// Proposal is an approval that awaits another one, of another person and of the same.
type Proposal struct {
	ID    string    `json:"id"`
	Actor string    `json:"actor"`
	At    time.Time `json:"at"`
	What  string    `json:"what"` // what exactly: the terms, and what it rests on
	// Person is who counts: whoever has the bootstrap token is one person, whatever he says his name is.
	Person string `json:"person"`
}

// Proposed is the answer (202) to an approval that awaits another one.
type Proposed struct {
	Proposal *Proposal `json:"proposal"`
	Message  string    `json:"message"`
}

// person is who counts as one approver.
func person(i access.Identity) string {
	if i.Claims {
		return access.ViaBootstrap
	}
	return i.Name
}

// second reports whether an approval may be carried out: where two persons must approve, if another one has proposed just this since
// the change came into its state. Else it is proposed, which is the answer.
func (s *Server) second(r *http.Request, id string, d *Decision, since time.Time, rests string) (*Proposed, error) {
	if s.o.Approvers < 2 {
		return nil, nil //nolint:nilnil // it may be carried out
	}
	terms := *d
	terms.Actor, terms.Reason = "", ""
	text, err := json.Marshal(struct {
		Terms Decision
		Rests string
	}{terms, rests})
	if err != nil {
		return nil, err
	}
	ctx, me := r.Context(), person(who(r))
	var p Proposal
	err = s.o.Proposals.Load(ctx, kindProposal, id, &p)
	switch {
	case err != nil && !errors.Is(err, store.ErrNotFound):
		return nil, err
	case err == nil && p.What == string(text) && p.At.After(since) && p.Person != me:
		return nil, nil //nolint:nilnil // it may be carried out
	case err == nil && p.What == string(text) && p.At.After(since):
		return nil, &Error{Status: http.StatusConflict, Code: "refused", Message: fmt.Sprintf("%s proposed %s already, at %s: another person must approve it, in the same words", p.Actor, id, p.At.Format(time.RFC3339))}
	}
	p = Proposal{ID: id, Actor: d.Actor, At: time.Now().UTC(), What: string(text), Person: me}
	entry := store.Entry{Action: "propose", Target: id, Reason: d.Reason, After: "proposed", Despite: d.Despite}.By(ctx, d.Actor)
	if err := s.o.Proposals.Decide(ctx, kindProposal, id, p, entry); err != nil {
		return nil, err
	}
	s.o.Log.Info("approval proposed", "id", id, "actor", entry.Actor, "from", entry.From)
	return &Proposed{&p, fmt.Sprintf("proposed by %s: it begins when another person approves it, in the same words", p.Actor)}, nil
}

// secondOf is second for a recommendation.
func (s *Server) secondOf(r *http.Request, one *recommend.Recommendation, d *Decision) (*Proposed, error) {
	if s.o.Approvers < 2 {
		return nil, nil //nolint:nilnil // it may be carried out
	}
	no := func(why string) error {
		return &Error{Status: http.StatusConflict, Code: "refused", Message: fmt.Sprintf("%s can not be proposed: it is %s; see `helenus explain %s`", one.ID, why, one.ID)}
	}
	switch {
	case one.State != recommend.Open:
		return nil, no(string(one.State))
	case !one.Eligible && len(d.Despite) == 0:
		return nil, no("not eligible")
	}
	return s.second(r, one.ID, d, one.StateSince, one.SchemaDigest)
}

// secondOfChange is second for the next change of a calendar's table.
func (s *Server) secondOfChange(r *http.Request, of string, n int, d *Decision) (*Proposed, error) {
	c, err := s.o.Calendars.Calendar(of)
	if err != nil {
		return nil, err
	}
	if c.State != calendar.Following && c.State != calendar.Paused {
		return nil, &Error{Status: http.StatusConflict, Code: "refused", Message: fmt.Sprintf("calendar %s is %s: its changes can not be approved", of, c.State)}
	}
	season := &c.Seasons[n]
	return s.second(r, season.ID, d, season.Since, string(season.Stage))
}

// settled forgets a proposal that was carried out. One that stays is older than the state of its change, and counts no more.
func (s *Server) settled(ctx context.Context, id string) {
	if s.o.Approvers < 2 {
		return
	}
	if err := s.o.Proposals.Delete(context.WithoutCancel(ctx), kindProposal, id); err != nil {
		s.o.Log.Warn("a proposal that was carried out could not be forgotten", "id", id, "error", err)
	}
}

// awaits says whose proposal awaits another person; "" if there is none.
func (s *Server) awaits(ctx context.Context, one *recommend.Recommendation) string {
	var p Proposal
	if s.o.Approvers < 2 || one.State != recommend.Open || s.o.Proposals.Load(ctx, kindProposal, one.ID, &p) != nil || !p.At.After(one.StateSince) {
		return ""
	}
	return "proposed by " + p.Actor + ": another person must approve it"
}
