// Package preview says what an order about a change would do, before it is given: the console shows it beside the button, the command line
// with --dry-run and before it asks for a confirmation. It decides nothing: whether an order is carried out is for the process alone.
package preview

import (
	"fmt"
	"slices"

	"github.com/helenus-db/helenus/advisor/plan"
	"github.com/helenus-db/helenus/advisor/recommend"
	"github.com/helenus-db/helenus/internal/words"
	"github.com/helenus-db/helenus/rewrite/calendar"
	"github.com/helenus-db/helenus/rewrite/migrate"
)

// Subject is what an order is about: a recommendation, the change that carries it out, or its calendar. What is not there is nil.
type Subject struct {
	ID       string
	Rec      *recommend.Recommendation
	Mig      *migrate.Change
	Calendar *calendar.Calendar
	Season   int // of an order about one table of the calendar
}

// Order is an order.
type Order struct {
	When    func(*Subject) bool                // it can be given now
	Happens func(*Subject) []string            // what it would do
	Typed   func(*Subject) (what, text string) // what a person types to confirm it, as things are dropped; nil: nothing
}

// Orders are all orders, by name. Those of calendars and of the tables of one have names of their own.
var Orders = map[string]*Order{
	"approve": {When: func(s *Subject) bool { return s.Rec != nil && Approvable(s.Rec) }, Happens: approval},
	"dismiss": {When: func(s *Subject) bool {
		return s.Rec != nil && (s.Rec.State == recommend.Open || s.Rec.State == recommend.Snoozed)
	},
		Happens: say("It is listed no more among what is open. Nothing changes in the cluster.", "It is opened again by itself when the facts change materially, and by you at any time (reopen).")},
	"snooze": {When: func(s *Subject) bool {
		return s.Rec != nil && (s.Rec.State == recommend.Open || s.Rec.State == recommend.Snoozed)
	},
		Happens: say("It is listed no more among what is open, for as long as you say. Nothing changes in the cluster.", "It is opened again by itself after that, or before if it would save twice as much or its tables are altered, and by you at any time (reopen).")},
	"reopen": {When: func(s *Subject) bool {
		return s.Rec != nil && (s.Rec.State == recommend.Rejected || s.Rec.State == recommend.Snoozed)
	}, Happens: say("It is open again. Nothing changes in the cluster.")},
	"resume":   {When: inState(migrate.Suspended, migrate.Failed), Happens: resumed},
	"rollback": {When: func(s *Subject) bool { return unserved(s) || inState(migrate.Serving)(s) }, Happens: rolledBack},
	"hold": {When: func(s *Subject) bool { return unserved(s) && !s.Mig.Hold },
		Happens: say("It goes on as far as shadow: reads run as written and are compared with its answers, until you order the cut-over.")},
	"cut-over": {When: func(s *Subject) bool { return unserved(s) && s.Mig.Hold },
		Happens: say("Once enough reads were compared, reads are answered by it.", "You can roll it back at any time.")},
	"throttle": {When: func(s *Subject) bool {
		if s.Mig == nil {
			return false
		}
		paces, _ := s.Mig.Paces()
		return paces
	}, Happens: paced},
	"verify": {When: func(s *Subject) bool {
		return inState(migrate.Shadow, migrate.Serving, migrate.Suspended)(s) && !s.Mig.Broken
	}, Happens: verified},
	"drop":     {When: inState(migrate.RolledBack), Happens: dropped, Typed: tableName},
	"pause":    {When: inCalendar(calendar.Following), Happens: say("No change begins until it is resumed. What serves goes on serving.")},
	"continue": {When: inCalendar(calendar.Paused), Happens: say("Changes begin again when they are due.")},
	"withdraw": {When: inCalendar(calendar.Following, calendar.Paused),
		Happens: say("No table comes any more. What is being made is rolled back and dropped; what serves is left to serve, and named.", "The application's own tables are not touched."), Typed: id},
	"withdraw all": {When: inCalendar(calendar.Following, calendar.Paused, calendar.Withdrawing), Happens: withdrawn, Typed: id},
	"create table": {When: inSeason(true), Happens: func(s *Subject) []string {
		return []string{"When it is due next, " + seasonTable(s) + " is created, filled and verified, and then reads are answered from it.", "It is dropped again only after another approval."}
	}},
	"drop table": {When: inSeason(false), Happens: func(s *Subject) []string {
		return []string{"When it is due next, reads run as written again, and then DROP TABLE " + seasonTable(s) + ".", "The application's own tables are not touched."}
	}, Typed: func(s *Subject) (string, string) { return "the table's name", seasonTable(s) }},
}

func say(lines ...string) func(*Subject) []string { return func(*Subject) []string { return lines } }

// unserved: it is carried out, but does not serve.
var unserved = inState(migrate.Approved, migrate.Created, migrate.DualWrite, migrate.Backfill, migrate.Verify, migrate.Shadow, migrate.Suspended, migrate.Failed)

func inState(states ...migrate.State) func(*Subject) bool {
	return func(s *Subject) bool { return s.Mig != nil && slices.Contains(states, s.Mig.State) }
}

func inCalendar(states ...calendar.State) func(*Subject) bool {
	return func(s *Subject) bool { return s.Calendar != nil && slices.Contains(states, s.Calendar.State) }
}

// inSeason tells whether the next change of a calendar's table makes it, or drops it, and waits for an approval.
func inSeason(creates bool) func(*Subject) bool {
	return func(s *Subject) bool {
		return s.Calendar != nil && s.Calendar.Limits.Each && s.Calendar.Seasons[s.Season].Creates() == creates &&
			(s.Calendar.State == calendar.Following || s.Calendar.State == calendar.Paused)
	}
}

func id(s *Subject) (string, string) { return "its id", s.ID }

// tableName is what confirms that a change's table is dropped, or that one without a table is.
func tableName(s *Subject) (what, text string) {
	if s.Mig.Rewrite.Table == "" {
		return id(s)
	}
	return "the table's name", Table(s.Mig)
}

// Table is the table that a change made.
func Table(m *migrate.Change) string { return m.Rewrite.FullTable() }

func seasonTable(s *Subject) string {
	return s.Calendar.Plan.Seasons[s.Season].Rewrite.FullTable()
}

// Approvable tells whether a person may approve a recommendation, if need be despite conditions.
func Approvable(r *recommend.Recommendation) bool {
	if r.State != recommend.Open || !r.Executable() {
		return false
	}
	return r.Eligible || len(Overrulable(r)) > 0 && !slices.ContainsFunc(r.Verdicts, func(v plan.Verdict) bool { return v.Refused && v.Statement == "" && !v.Overrulable() })
}

// Overrulable are the conditions that a person may pass over.
func Overrulable(r *recommend.Recommendation) (list []plan.Verdict) {
	for _, v := range r.Verdicts {
		if v.Overrulable() {
			list = append(list, v)
		}
	}
	return list
}

// approval is what an approval does, with its numbers.
func approval(s *Subject) (list []string) {
	r := s.Rec
	list = append(list, "It is expected to save "+r.Gain()+".")
	if text := r.ServedText(); text != "" {
		list = append(list, text+".")
	}
	list = append(list, r.Beforehand...)
	if r.Kind == recommend.TimelineKind {
		return append(list,
			"Its tables come and go with the cycle of the traffic until you withdraw it; each is created, filled, verified and compared before it serves.",
			fmt.Sprintf("They take %s at most, before replication.", words.Size(r.StorageBytes)),
			"The application's own tables are not altered. You can withdraw it at any time.")
	}
	if r.Rewrite != nil && r.Rewrite.Table != "" {
		list = append(list, fmt.Sprintf("CREATE TABLE %s, about %s before replication.", r.Rewrite.FullTable(), words.Size(r.StorageBytes)))
	}
	var writes float64
	for i := range r.Writes {
		writes += r.Writes[i].PerSecond
	}
	if writes > 0 {
		list = append(list, fmt.Sprintf("From then on %s (%s in all) keep it: up to %.1f times as long as now, %s requests inside Cassandra for each.",
			words.Plural(len(r.Writes), "write statement", "write statements"), words.Rate(writes), r.WriteCostRatio, words.Three(r.WriteRequests)))
	}
	if r.Rewrite != nil && r.Rewrite.Table == "" {
		return append(list, "No table is made. Reads are compared first; only when all agree are they answered otherwise than they were written.",
			"The application's own table is never altered. Roll back at any time, and statements run as written at once.")
	}
	return append(list,
		"The rows of now are copied in the background, at a pace that you can change, or pause, at any time (throttle).",
		"Both tables are compared, then reads are; only when all agree are reads answered from it.",
		"The application's own table is never altered. Everything can be undone: roll back at any time, and statements run as written at once.")
}

// paced is what another pace does, and what holds now.
func paced(s *Subject) []string {
	list := []string{"Its pace now: " + s.Mig.Throttle.String() + ".", "From the next row on its table is filled, and both tables are compared, at the pace that you order, by all members of a fleet together; a restart keeps it."}
	if _, pauses := s.Mig.Paces(); pauses {
		return append(list, "While it is paused no row is copied or compared. Writes are kept in its table meanwhile, and reads run as written.")
	}
	return append(list, "It is filled: a rate slows the sweeps that compare it while it serves. They can not be paused.")
}

// resumed is what comes first, by where the change goes on.
func resumed(s *Subject) []string {
	first := "The base table and " + Table(s.Mig) + " are compared first, in both directions; what is missing is written."
	switch to := s.Mig.Resumes(); {
	case s.Mig.Rewrite.Table == "":
		return []string{"Reads are compared first, and answered otherwise than they were written once all agree.", "If the cause is still there, it stops again and says so."}
	case to == migrate.Approved:
		first = "CREATE TABLE " + Table(s.Mig) + ", if it is not there; it is filled, and both tables are compared."
	case to == migrate.DualWrite:
		first = "TRUNCATE " + Table(s.Mig) + ", for which all nodes must be up; it is filled anew, and both tables are compared."
	case to == migrate.Backfill:
		first = "Filling of " + Table(s.Mig) + " goes on where it was, and both tables are compared."
	}
	return []string{first, "Then reads are compared, and answered from it again once all agree.", "If the cause is still there, it stops again and says so."}
}

// verified is what a comparison does, and what becomes of what it finds.
func verified(s *Subject) []string {
	found := "If rows of the base are not found there while it serves, reads run as written until a person resumes it."
	if s.Mig.Rewrite.Table == "" {
		return []string{"Both of the application's tables are read and compared. Reads of both go to Cassandra for it.", found}
	}
	return []string{"The base table and " + Table(s.Mig) + " are read and compared, in both directions. Reads of both tables go to Cassandra for it.",
		"Entries that are missing are written, entries without a row removed.", found}
}

func rolledBack(s *Subject) []string {
	at := "At once, reads and writes run as the application wrote them. No answer is lost, none is refused."
	if s.Mig.Rewrite.Table == "" {
		return []string{at}
	}
	return []string{at, "The table " + Table(s.Mig) + entries(s.Mig) + " stays, and is not kept any more; you may drop it afterwards.", "To have it again it must be dropped, approved and filled anew."}
}

func dropped(s *Subject) []string {
	if s.Mig.Rewrite.Table == "" {
		return []string{"It has no table. The advice is open again, and may be approved again."}
	}
	return []string{"DROP TABLE " + Table(s.Mig) + entries(s.Mig) + "; Cassandra may keep a snapshot of it, as auto_snapshot says.",
		"The application's own table " + s.Mig.Rewrite.Keyspace + "." + s.Mig.Rewrite.Base + " is not touched.", "The advice is open again, and may be approved again. The table itself does not come back: it would be filled anew."}
}

// entries is how many entries a change has written, as far as that is known.
func entries(m *migrate.Change) string {
	if m.Entries == 0 {
		return ""
	}
	return " (" + words.Plural(int(m.Entries), "entry", "entries") + " when it was filled)"
}

// withdrawn is what becomes of each table of a calendar that is withdrawn with all that serves.
func withdrawn(s *Subject) (list []string) {
	list = append(list, "No table comes any more.")
	for n := range s.Calendar.Seasons {
		if season := &s.Calendar.Seasons[n]; season.Stage != calendar.Out {
			lu := &s.Calendar.Plan.Seasons[n].Rewrite
			list = append(list, fmt.Sprintf("%s (%s): reads run as written again, and then DROP TABLE.", lu.FullTable(), season.Stage))
		}
	}
	return append(list, "The application's own tables are not touched. The advice is open again, and may be approved again.")
}
