package admin

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/helenus-db/helenus/advisor"
	"github.com/helenus-db/helenus/advisor/infer"
	"github.com/helenus-db/helenus/advisor/recommend"
	"github.com/helenus-db/helenus/advisor/solve"
	"github.com/helenus-db/helenus/internal/access"
)

// unsolved solves nothing: rounds of the tests need no solver.
type unsolved struct{}

func (unsolved) Solve(context.Context, *solve.Problem, solve.Limits) (*solve.Solution, error) {
	return nil, errors.New("nobody is to ask")
}

// corrector is an advisor over the tests' tables whose rounds leave one question open.
func corrector(t *testing.T, kept advisor.Store) *advisor.Advisor {
	t.Helper()
	q := infer.Question{ID: "q-1", Kind: infer.WhichRelationship, Subject: "k.t.a", Text: "Whose key is k.t.a?", Candidates: []infer.Candidate{
		{Answer: "k.t", Text: "a T's", Certainty: 0.6, Used: true, Evidence: []infer.Evidence{{Group: "name", LogOdds: 1, Text: "a is a"}}}, {Answer: infer.None, Text: "nobody's", Certainty: 0.4},
	}}
	a, err := advisor.New(advisor.Options{
		Snapshots: said, Schema: tablesOf, Solver: unsolved{}, Store: kept, Log: slog.New(slog.DiscardHandler),
		Make: func(context.Context, recommend.Input) (*recommend.Advice, error) {
			return &recommend.Advice{Model: infer.Description{Questions: []infer.Question{q}}, Questions: []recommend.Asked{{Question: q, Worth: 3, Advice: []string{"r-1"}}}}, nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	return a
}

// TestModelOrders: who may read the model may not correct it; what is wrong with a file is a 400 that says where, and no order is followed in part.
func TestModelOrders(t *testing.T) {
	p := &parts{}
	c := serve(t, p, false)
	var file []byte
	if err := c.Get(t.Context(), "model/export", &file); err != nil || !strings.Contains(string(file), "entities:") {
		t.Fatalf("%v\n%s", err, file)
	}
	const line = "corrections:\n- rename: k.t\n  to: Thing\n"
	var made TokenMade
	if err := c.Post(t.Context(), "tokens", TokenOrder{Actor: "root", Name: "vic", Role: access.Viewer}, &made); err != nil {
		t.Fatal(err)
	}
	vic := &Client{Address: c.Address, Token: made.Text}
	var out advisor.Imported
	for _, tt := range []struct {
		name   string
		by     *Client
		path   string
		order  any
		status int
		says   string
	}{
		{"a viewer imports", vic, "model/import", ModelOrder{File: string(file) + line}, 403, "this needs role operator"},
		{"a viewer goes back", vic, "model/reset", ModelOrder{}, 403, "role operator"},
		{"a viewer answers", vic, "questions/q-1/answer", Decision{Choice: "1"}, 403, "role operator"},
		{"a viewer takes back", vic, "questions/q-1/undo", Decision{}, 403, "role operator"},
		{"a viewer sends a file", vic, "model/diff", ModelOrder{File: string(file)}, 403, "role operator"},
		{"no file", c, "model/import", ModelOrder{}, 400, "the model file is empty"},
		{"broken YAML", c, "model/import", ModelOrder{File: "name: [x\n"}, 400, "model file:1:"},
		{"an unknown table", c, "model/import", ModelOrder{File: string(file) + "corrections:\n- rename: k.tt\n  to: Thing\n"}, 400, "there is no table k.tt"},
		{"lines that contradict", c, "model/import", ModelOrder{File: string(file) + line + "- rename: k.t\n  to: Other\n"}, 400, "contradicts correction 1"},
		{"a huge file", c, "model/import", ModelOrder{File: strings.Repeat("#", maxModel)}, 413, "larger than 8 MiB"},
		{"no such version", c, "model/reset", ModelOrder{Version: 7}, 404, "there is no version 7"},
		{"below zero", c, "model/reset", ModelOrder{Version: -1}, 400, "a number from 1 on"},
		{"nothing to compare with", c, "model/diff", ModelOrder{}, 404, "no model file was imported"},
		{"no choice", c, "questions/q-1/answer", Decision{}, 400, "needs a choice"},
		{"a choice elsewhere", c, "questions/q-1/undo", Decision{Choice: "1"}, 400, "choice is for answering"},
		{"more than a choice", c, "questions/q-1/answer", Decision{Choice: "1", Drop: true}, 400, "and nothing else"},
		{"no such choice", c, "questions/q-1/answer", Decision{Choice: "9"}, 400, "is no choice of question q-1"},
		{"no such question", c, "questions/q-9/answer", Decision{Choice: "1"}, 404, "no open question"},
		{"not answered", c, "questions/q-1/undo", Decision{}, 404, "no answer to a question"},
	} {
		var raw []byte
		err := tt.by.Post(t.Context(), tt.path, tt.order, &raw)
		e := new(Error)
		switch {
		case tt.status == 200 && err != nil, tt.status != 200 && (!errors.As(err, &e) || e.Status != tt.status || !strings.Contains(e.Message, tt.says)):
			t.Errorf("%s: %v, want %d %q", tt.name, err, tt.status, tt.says)
		}
	}
	var versions []advisor.Version
	if err := c.Get(t.Context(), "model/versions", &versions); err != nil || len(versions) != 0 {
		t.Fatalf("%v: what was refused left %v", err, versions)
	}
	if err := c.Post(t.Context(), "model/import", ModelOrder{Actor: "ann", Reason: "so it is", File: string(file) + line}, &out); err != nil || out.Version != 1 {
		t.Fatalf("%v, %+v", err, out)
	}
	var v advisor.Version
	if err := c.Post(t.Context(), "questions/q-1/answer", Decision{Actor: "bob", Choice: "none", Reason: "seen"}, &v); err != nil || v.Number != 2 || v.Actor != "bob" {
		t.Fatalf("%v, %+v", err, v)
	}
	var trail AuditAnswer
	if err := c.Get(t.Context(), "audit?action=model", &trail); err != nil || len(trail.Entries) != 2 || trail.Entries[1].Actor != "ann" || trail.Entries[1].Reason != "so it is" || trail.Entries[0].Target != "q-1" {
		t.Errorf("%v, %+v", err, trail)
	}
	var asked advisor.Questions
	if err := c.Get(t.Context(), "questions", &asked); err != nil || len(asked.Open) != 0 || len(asked.Answered) != 1 {
		t.Errorf("%v, %+v", err, asked)
	}
	text, _ := json.Marshal(asked)
	if !strings.Contains(string(text), `"open":[]`) {
		t.Errorf("%s", text)
	}
}
