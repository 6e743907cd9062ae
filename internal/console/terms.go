package console

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/helenus-db/helenus/internal/admin"
	"github.com/helenus-db/helenus/internal/config"
	"github.com/helenus-db/helenus/rewrite/calendar"
	"github.com/helenus-db/helenus/rewrite/migrate"
)

// terms puts what the form of an order says besides reason and length into a decision; it returns what is wrong with it, in words.
func (p *orderPage) terms(d *admin.Decision) (wrong string) {
	switch p.Order.Name {
	case "approve":
		return p.approval(d)
	case "throttle":
		return p.pace(d)
	}
	return ""
}

// approval has what the command line's approve has; TestFormHasWhatTheCommandLineHas compares them.
func (p *orderPage) approval(d *admin.Decision) (wrong string) {
	d.Despite = p.Given["despite"]
	if p.Holds {
		d.Hold = p.Given.Get("hold") != ""
	}
	if p.Fails {
		d.OnEntryFailure = p.Given.Get("on_entry_failure")
	}
	if p.Bulk {
		d.Fill = p.Given.Get("fill")
	}
	if p.Limits {
		d.Limits, wrong = limitsOf(p.Given)
	}
	return wrong
}

// limitsOf are those within which a calendar is to be followed; nil if none was given.
func limitsOf(form url.Values) (*calendar.Limits, string) {
	l, given := &calendar.Limits{Each: form.Get("each") != "", Drop: form.Get("drop") != ""}, false
	text := func(name string) string { return strings.TrimSpace(form.Get(name)) }
	if until := text("until"); until != "" {
		given = true
		var err error
		if l.Until, err = time.Parse(time.DateOnly, until); err != nil {
			return nil, fmt.Sprintf("the day until which it holds, %q, is not like 2027-01-31.", until)
		}
	}
	if n := text("changes_per_day"); n != "" {
		given = true
		var err error
		if l.ChangesPerDay, err = strconv.Atoi(n); err != nil || l.ChangesPerDay < 0 {
			return nil, fmt.Sprintf("%q is no number of changes a day.", n)
		}
	}
	if size := text("max_bytes"); size != "" {
		given = true
		var n config.Size
		if err := n.Set(size); err != nil {
			return nil, fmt.Sprintf("what its tables may take, %q, is no size such as 2GB.", size)
		}
		l.MaxBytes = float64(n)
	}
	for window := range strings.FieldsFuncSeq(form.Get("windows"), func(c rune) bool { return c == ',' || c == ' ' || c == '\n' || c == '\r' }) {
		given = true
		w, err := calendar.ParseWindow(window)
		if err != nil {
			return nil, fmt.Sprintf("when changes may begin: %v.", err)
		}
		l.Windows = append(l.Windows, w)
	}
	if !given && !l.Each && !l.Drop {
		return nil, ""
	}
	return l, ""
}

// pace is what a throttle orders: only what is other than it is.
func (p *orderPage) pace(d *admin.Decision) (wrong string) {
	var rate int
	if text := strings.TrimSpace(p.Given.Get("rate")); text != "" {
		var err error
		if rate, err = strconv.Atoi(text); err != nil || rate < 1 || rate > migrate.MaxRate {
			return fmt.Sprintf("%q is no rate: rows a second, from 1 to %d, or nothing for what the settings say.", text, migrate.MaxRate)
		}
	}
	if rate != p.Pace.Rate {
		d.Rate = &rate
	}
	if paused := p.Given.Get("paused") != ""; p.Pauses && paused != p.Pace.Paused {
		d.Paused = &paused
	}
	if d.Rate == nil && d.Paused == nil {
		return "this is its pace already."
	}
	return ""
}
