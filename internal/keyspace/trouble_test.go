package keyspace

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/gocql/gocql"
)

type answer struct{ code int }

func (a answer) Code() int       { return a.code }
func (a answer) Message() string { return "no" }
func (a answer) Error() string   { return "no" }

// TestTroubleSaysWhatHelps: a keyspace that was dropped, or a right that was taken away, does not come back by itself.
func TestTroubleSaysWhatHelps(t *testing.T) {
	for _, c := range []struct {
		err  error
		want string
	}{
		{errors.New("no connections"), "by itself"},
		{fmt.Errorf("read: %w", answer{gocql.ErrCodeUnavailable}), "Once a majority"},
		{fmt.Errorf("read: %w", answer{gocql.ErrCodeInvalid}), "restore it from a backup"},
		{fmt.Errorf("read: %w", answer{gocql.ErrCodeUnauthorized}), "SELECT and MODIFY"},
		{fmt.Errorf("connect: %w", ErrNotLetIn), "Start this process anew"},
	} {
		s := &Store{}
		_ = s.noted(c.err)
		if said := s.Trouble(); !strings.Contains(said, c.want) {
			t.Errorf("%v: %q", c.err, said)
		}
		if _ = s.noted(nil); s.Trouble() != "" {
			t.Errorf("%v: trouble when it is over", c.err)
		}
	}
}
