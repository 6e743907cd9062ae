package main

import (
	"strings"
	"testing"
)

// TestChangesAreListed: in their one state, those that are over only if they are asked for.
func TestChangesAreListed(t *testing.T) {
	startAPI(t)
	for _, c := range []struct {
		args []string
		has  []string
		not  string
	}{
		{[]string{"changes"}, []string{"CHANGE_ID", "r-open", "proposed", "serving", "until 2027-01-02T00:00:00Z: after the move"}, "r-no"},
		{[]string{"changes", "--all"}, []string{"r-open", "r-no", "dismissed", "too dear"}, "nothing"},
		{[]string{"changes", "-o", "json"}, []string{`"change_id": "r-late"`, `"until"`}, "r-no"},
		{[]string{"migrations"}, []string{"CHANGE_ID", "r-serving", "r-rolled"}, "r-open"},
	} {
		out, err := said(c.args...)
		if err != nil || strings.Contains(out, c.not) {
			t.Errorf("%q: %v\n%s", c.args, err, out)
		}
		for _, text := range c.has {
			if !strings.Contains(out, text) {
				t.Errorf("%q does not say %q:\n%s", c.args, text, out)
			}
		}
	}
}

// TestPutOff: what was called reject is dismiss, with --why or --reason; a snooze says for how long.
func TestPutOff(t *testing.T) {
	for _, c := range []struct{ args, order, body string }{
		{"dismiss r-open --why dear", "POST changes/r-open/dismiss", `"reason":"dear"`},
		{"dismiss r-open --reason dear", "POST changes/r-open/dismiss", `"reason":"dear"`},
		{"reject r-open --reason dear", "POST changes/r-open/dismiss", `"reason":"dear"`},
		{"snooze r-open --for 2d --why later", "POST changes/r-open/snooze", `"reason":"later","for":"48h0m0s"`},
		{"snooze r-open --why later", "POST changes/r-open/snooze", `"for":"168h0m0s"`},
		{"snooze r-open --for soon --why later", "", ""},
		{"dismiss r-open --why dear --dry-run", "", ""},
		{"snooze r-open --why later --dry-run", "", ""},
	} {
		a := startAPI(t)
		_, err := said(strings.Fields(c.args)...)
		order, body := strings.Join(a.ordered(), "; "), strings.Join(a.bodies, "")
		if order != c.order || !strings.Contains(body, c.body) || (err != nil) != strings.Contains(c.args, "soon") {
			t.Errorf("%s: ordered %q, %s: %v", c.args, order, body, err)
		}
	}
}
