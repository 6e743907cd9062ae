package webhook

import (
	"slices"
	"time"

	"github.com/helenus-db/helenus/capture/store"
	"github.com/helenus-db/helenus/internal/config"
	"github.com/helenus-db/helenus/rewrite/condition"
)

// Event is something that people are told of.
type Event struct {
	Kind       string           `json:"event"` // one of config.WebhookEvents
	Time       time.Time        `json:"time"`
	Change     *Change          `json:"change,omitempty"`
	Conditions []*condition.Ref `json:"conditions,omitempty"` // by which it was stopped
}

// Change is the advice, the change or the calendar that an event is about.
type Change struct {
	ID       string `json:"id"`
	Title    string `json:"title,omitempty"`
	Keyspace string `json:"keyspace,omitempty"`
	Table    string `json:"table,omitempty"`
	Before   string `json:"before,omitempty"` // states
	After    string `json:"after,omitempty"`
}

// turn is what a line of the audit trail tells people. Before "" is any state.
type turn struct{ before, after, kind string }

// turns are searched in this order. States of advice, tokens and switches bear other names.
var turns = []turn{
	{"serving", "verify", "change.turned-back"},
	{"serving", "dual-write", "change.turned-back"}, // to be filled anew
	{"", "serving", "change.serving"},
	{"", "suspended", "change.suspended"},
	{"", "failed", "change.failed"},
	{"", "rolled-back", "change.rolled-back"},
	{"", "paused", "calendar.paused"},
	{"", "withdrawn", "calendar.ended"},
}

// of finds what a line of the audit trail tells.
func of(e *store.Entry) (Event, bool) {
	i := slices.IndexFunc(turns, func(t turn) bool {
		return t.after == e.After && (t.before == e.Before || t.before == "") && e.Before != e.After
	})
	if i < 0 {
		return Event{}, false
	}
	return Event{
		Kind: turns[i].kind, Time: e.At, Conditions: condition.In(e.Reason),
		Change: &Change{ID: e.Target, Before: e.Before, After: e.After},
	}, true
}

// sentences are what an event means to a person; %s is the change. Each kind has one (a test holds them to it).
var sentences = map[string]string{
	"advice.new":         "New advice: %s. It waits for your decision.",
	"change.serving":     "%s serves: it was verified, and reads are answered from its look-up table.",
	"change.turned-back": "%s was turned back: its reads run as written until its look-up table was verified again. It goes on by itself.",
	"change.suspended":   "%s is suspended: its reads run as written until somebody resumes it or rolls it back.",
	"change.failed":      "%s has failed: nothing of it is in force. Remove the cause and resume it, or roll it back.",
	"change.rolled-back": "%s is rolled back: its statements run as written. Its table stays until it is dropped.",
	"calendar.paused":    "The calendar %s is paused: no further change begins until somebody resumes it.",
	"calendar.ended":     "The calendar %s is over: nothing more of it begins.",
	"state.lost":         "Helenus lost its state: it forwards requests and knows of no decision any more. See /readyz and the log.",
}

// known are the kinds that settings may choose.
var known = config.WebhookEvents
