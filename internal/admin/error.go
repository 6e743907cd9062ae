package admin

import (
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"github.com/helenus-db/helenus/advisor"
	"github.com/helenus-db/helenus/advisor/infer"
	"github.com/helenus-db/helenus/rewrite"
	"github.com/helenus-db/helenus/rewrite/calendar"
	"github.com/helenus-db/helenus/rewrite/condition"
	"github.com/helenus-db/helenus/rewrite/kind"
	"github.com/helenus-db/helenus/rewrite/migrate"
)

// Error is what the API answers when it can not do what was asked.
type Error struct {
	Status  int    `json:"-"`     // HTTP status
	Code    string `json:"code"`  // not_found, refused, invalid, unauthorised, forbidden, limited, unavailable, pending, internal
	Message string `json:"error"` // what happened, to what, and what to do
	// Conditions are those by which it is refused.
	Conditions []*condition.Ref `json:"conditions,omitempty"`

	after time.Duration // when it may be tried again
}

func (e *Error) Error() string { return e.Message }

func notFound(message string) error {
	return &Error{Status: http.StatusNotFound, Code: "not_found", Message: message}
}

func invalid(message string) error {
	return &Error{Status: http.StatusBadRequest, Code: "invalid", Message: message}
}

// classify finds out what an error of the advisor or of a change means to whoever asked: that there is no such
// thing, that the answer is no, or that something failed.
func classify(err error) *Error {
	var (
		e        *Error
		missing  *advisor.NotFoundError
		decided  *advisor.StateError
		approved *migrate.ErrAlreadyApproved
		state    *migrate.ErrState
		owner    *migrate.ErrOwnership
		refusal  *condition.Refusal
		busy     *calendar.Busy
		followed *calendar.StateError
		limits   *calendar.LimitError
		alone    *rewrite.ErrNotAlone
		none     *advisor.MissingError
		told     *advisor.RefusedError
		keyspace *migrate.ErrKeyspace
		unread   *infer.InvalidError
	)
	switch {
	case errors.As(err, &e):
		return e
	case refused(err) != nil:
		return refused(err)
	case errors.As(err, &missing), errors.As(err, &none), errors.Is(err, migrate.ErrUnknown), errors.Is(err, calendar.ErrUnknown):
		return &Error{Status: http.StatusNotFound, Code: "not_found", Message: err.Error()}
	case errors.As(err, &decided), errors.As(err, &approved), errors.As(err, &state), errors.As(err, &owner), errors.As(err, &refusal),
		errors.As(err, &busy), errors.As(err, &followed), errors.As(err, &alone), errors.As(err, &told), errors.As(err, &keyspace),
		errors.Is(err, rewrite.ErrBypassed), errors.Is(err, kind.ErrNoBulk):
		return &Error{Status: http.StatusConflict, Code: "refused", Message: err.Error()}
	case errors.As(err, new(*migrate.ErrPending)):
		return &Error{Status: http.StatusInsufficientStorage, Code: "pending", Message: err.Error()}
	case errors.As(err, &unread):
		return &Error{Status: http.StatusBadRequest, Code: "invalid", Message: err.Error()}
	case errors.As(err, &limits), errors.Is(err, rewrite.ErrCDCReport):
		return &Error{Status: http.StatusBadRequest, Code: "invalid", Message: err.Error()}
	case errors.Is(err, advisor.ErrNothingSeen), errors.Is(err, rewrite.ErrNoSchema):
		return &Error{Status: http.StatusServiceUnavailable, Code: "unavailable", Message: err.Error()}
	}
	return &Error{Status: http.StatusInternalServerError, Code: "internal", Message: err.Error()}
}

func writeError(w http.ResponseWriter, err error) {
	e := *classify(err)
	e.Conditions = condition.In(e.Message)
	e.challenge(w.Header())
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(e.Status)
	_ = json.NewEncoder(w).Encode(&e) // the client has gone if this fails
}

func writeJSON(w http.ResponseWriter, v any) {
	text, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		writeError(w, err)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(append(text, '\n'))
}
