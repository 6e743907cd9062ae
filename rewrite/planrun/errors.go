package planrun

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/gocql/gocql"

	"github.com/helenus-db/helenus/advisor/plan"
	"github.com/helenus-db/helenus/rewrite/exec"
)

// Why a step failed. Its error is one of these (errors.Is) beside what Cassandra or the driver said.
var (
	ErrPlan        = errors.New("the plan can not be executed")
	ErrNoTable     = errors.New("the table does not exist: create the design's tables first (helenus prints their DDL), in the keyspace that is named")
	ErrMismatch    = errors.New("the table is not as the design has it: compare its definition with the design's DDL")
	ErrTimeout     = errors.New("no answer in time: give it more time, or ask for less at once")
	ErrUnavailable = errors.New("Cassandra can not answer now: check that its nodes are up, and try again") //nolint:staticcheck // a name
	ErrCancelled   = errors.New("cancelled")
	ErrRefused     = errors.New("Cassandra refuses the statement") //nolint:staticcheck // a name
)

// StepError says which step of a plan failed, at which table, why and what to do.
type StepError struct {
	Step   int       // from 1, as the plan is printed
	Kind   plan.Kind // of the step
	Table  string    // "" if the step is the client's alone
	Text   string    // the CQL that was sent; "" if none was
	Reason error     // one of those above
	Err    error     // what came from Cassandra or the driver; nil if nothing did
}

func (e *StepError) Error() string {
	text := fmt.Sprintf("step %d, %s", e.Step, e.Kind)
	if e.Table != "" {
		text += " " + e.Table
	}
	text += ": " + e.Reason.Error()
	if e.Err != nil {
		text += " (" + e.Err.Error() + ")"
	}
	return text
}

// Unwrap returns the reason and what is behind it.
func (e *StepError) Unwrap() []error {
	if e.Err == nil {
		return []error{e.Reason}
	}
	return []error{e.Reason, e.Err}
}

// reason tells why a request failed.
func reason(err error) error {
	var request gocql.RequestError
	switch {
	case errors.Is(err, exec.ErrTooManyRows):
		return exec.ErrTooManyRows
	case errors.Is(err, context.Canceled):
		return ErrCancelled
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, gocql.ErrTimeoutNoResponse):
		return ErrTimeout
	case !errors.As(err, &request):
		return ErrUnavailable // whatever did not come from Cassandra came from the way to it
	}
	switch message := strings.ToLower(request.Message()); request.Code() {
	case gocql.ErrCodeReadTimeout, gocql.ErrCodeWriteTimeout:
		return ErrTimeout
	case gocql.ErrCodeInvalid, gocql.ErrCodeConfig:
		switch {
		case strings.Contains(message, "unconfigured table"), strings.Contains(message, "does not exist"), strings.Contains(message, "no keyspace has been specified"):
			return ErrNoTable
		case strings.Contains(message, "undefined column"), strings.Contains(message, "unknown identifier"),
			strings.Contains(message, "primary key"), strings.Contains(message, "partition key"), strings.Contains(message, "clustering column"),
			strings.Contains(message, "allow filtering"):
			return ErrMismatch
		}
		return ErrRefused
	default:
		if exec.Down(err) {
			return ErrUnavailable
		}
	}
	return ErrRefused
}
