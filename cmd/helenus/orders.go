package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/mattn/go-isatty"
	"github.com/spf13/cobra"

	"github.com/helenus-db/helenus/advisor/recommend"
	"github.com/helenus-db/helenus/internal/admin"
	"github.com/helenus-db/helenus/internal/preview"
	"github.com/helenus-db/helenus/rewrite/calendar"
	"github.com/helenus-db/helenus/rewrite/migrate"
)

// orderFlags are those that orders have.
type orderFlags struct{ dryRun, yes bool }

// flags adds them; only orders that may drop something need a confirmation.
func (f *orderFlags) flags(c *cobra.Command, drops bool) {
	c.Flags().BoolVar(&f.dryRun, "dry-run", false, "say what it would do, and do nothing")
	if drops {
		c.Flags().BoolVarP(&f.yes, "yes", "y", false, "drop without asking for a confirmation; where nobody can be asked, it is needed")
	}
}

// allows tells whether an order about an id is to be given. With --dry-run it says what would happen instead; what drops something is confirmed first.
func (f *orderFlags) allows(c *cobra.Command, r *remote, name, id string) (bool, error) {
	order := preview.Orders[name]
	if !f.dryRun && (f.yes || order.Typed == nil) {
		return true, nil
	}
	s, err := subjectOf(c, r, id)
	if err != nil {
		return false, err
	}
	if f.dryRun {
		return false, foretold(c, r, name, s)
	}
	if !order.When(s) { // the process says why not
		return true, nil
	}
	what, text := order.Typed(s)
	return confirmed(c, order.Happens(s), what, text)
}

// foresight is what an order would do, as it is printed.
type foresight struct {
	Order   string   `json:"order"`
	ID      string   `json:"id"`
	Would   []string `json:"would"`
	Confirm string   `json:"confirm,omitempty"` // what would have to be typed
}

// foretold prints what an order would do. What can not be given now is refused as it would be.
func foretold(c *cobra.Command, r *remote, name string, s *preview.Subject) error {
	order := preview.Orders[name]
	despite := s.Rec != nil && name == "approve" && c.Flags().Changed("despite") && s.Rec.State == recommend.Open
	if !order.When(s) && !despite {
		return exitError{fmt.Errorf("%s is %s, so it would be refused; `helenus explain %s` says more", s.ID, stands(s), s.ID), exitRefused}
	}
	would := foresight{Order: name, ID: s.ID, Would: order.Happens(s)}
	if order.Typed != nil {
		_, would.Confirm = order.Typed(s)
	}
	return would.print(c.OutOrStdout(), r)
}

func (x *foresight) print(w io.Writer, r *remote) error {
	if r.structured() {
		return r.encode(w, x)
	}
	_, err := fmt.Fprintf(w, "Nothing was done. Given now, the order would do this, unless the process refuses it, which looks at the cluster then:\n%s", bulleted(x.Would))
	return err
}

func bulleted(lines []string) string {
	var b strings.Builder
	for _, line := range lines {
		fmt.Fprintf(&b, "  - %s\n", line)
	}
	return b.String()
}

// stands is the state of what an order is about.
func stands(s *preview.Subject) string {
	switch {
	case s.Calendar != nil:
		return string(s.Calendar.State)
	case s.Mig != nil:
		return string(s.Mig.State)
	}
	return stateOf(s.Rec)
}

// subjectOf asks for all that is known by an id, which may be that of a table of a calendar.
func subjectOf(c *cobra.Command, r *remote, id string) (*preview.Subject, error) {
	client, err := r.client()
	if err != nil {
		return nil, err
	}
	s := &preview.Subject{ID: id}
	var rec recommend.Recommendation
	var mig migrate.Change
	var cal calendar.Calendar
	missing := client.Get(c.Context(), pathID("recommendations", id), &rec)
	switch {
	case missing == nil:
		s.Rec = &rec
	case !isMissing(missing):
		return nil, missing
	}
	switch err := client.Get(c.Context(), pathID("migrations", id), &mig); {
	case err == nil:
		s.Mig = &mig
	case !isMissing(err):
		return nil, err
	}
	of := id
	if whole, n, ok := strings.Cut(id, "."); ok {
		if number, err := strconv.Atoi(n); err == nil && number > 0 {
			of, s.Season = whole, number-1
		}
	}
	switch err := client.Get(c.Context(), pathID("calendars", of), &cal); {
	case err == nil && s.Season < len(cal.Seasons):
		s.Calendar = &cal
	case err == nil && len(cal.Seasons) > 0:
		return nil, &admin.Error{Status: http.StatusNotFound, Code: "not_found",
			Message: fmt.Sprintf("calendar %s has no table %s: they go from %s to %s", of, id, cal.Seasons[0].ID, cal.Seasons[len(cal.Seasons)-1].ID)}
	case err != nil && !isMissing(err):
		return nil, err
	}
	if s.Rec == nil && s.Mig == nil && s.Calendar == nil {
		return nil, missing
	}
	return s, nil
}

// isMissing tells whether an error says that there is no such thing.
func isMissing(err error) bool {
	e := new(admin.Error)
	return errors.As(err, &e) && e.Status == http.StatusNotFound
}

// confirmed has a person at a terminal type what is to be dropped. Where there is none, that is an error: a script that drops says so.
func confirmed(c *cobra.Command, happens []string, what, text string) (bool, error) {
	in := c.InOrStdin()
	if f, ok := in.(*os.File); !ok || !isatty.IsTerminal(f.Fd()) {
		return false, exitError{fmt.Errorf("nothing was done: it would drop %s, and there is no terminal to confirm that at; give --yes, or --dry-run to see what it would do", text), exitNotConfirmed}
	}
	if _, err := fmt.Fprintf(c.ErrOrStderr(), "This would happen:\n%sType %s, %s, to confirm: ", bulleted(happens), what, text); err != nil {
		return false, err
	}
	typed := make(chan string, 1)
	go func() { // it reads on after Ctrl-C, until the process ends
		line, _ := bufio.NewReader(in).ReadString('\n')
		typed <- strings.TrimSpace(line)
	}()
	select {
	case <-c.Context().Done():
	case line := <-typed:
		if line == text {
			return true, nil
		}
	}
	return false, exitError{fmt.Errorf("nothing was done: %s was not typed", text), exitNotConfirmed}
}

// nextOf is the name of the order that approves the next change of a calendar's table; "" if the id is none's.
func nextOf(s *preview.Subject) string {
	if s.Calendar == nil || s.ID == s.Calendar.ID {
		return ""
	}
	if s.Calendar.Seasons[s.Season].Creates() {
		return "create table"
	}
	return "drop table"
}

// ofSeason tells whether an id may be that of a table of a calendar.
func ofSeason(id string) bool { return slices.Contains([]byte(id), '.') }
