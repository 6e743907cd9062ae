package calendar

import (
	"time"

	"github.com/helenus-db/helenus/rewrite/migrate"
)

// sight is what is seen of a season's migration.
type sight int

// The sights. Only a migration that was approved after the season's order is seen, see Season.Earlier.
const (
	none      sight = iota // there is none
	working                // on its way to shadow
	comparing              // in shadow: filled and verified
	serving
	stopped // suspended or failed: a guard has
	turning // rolling back
	back    // rolled back, its table is there
	gone    // and dropped
	sights
)

var sightOf = map[migrate.State]sight{
	migrate.Approved: working, migrate.Created: working, migrate.DualWrite: working, migrate.Backfill: working, migrate.Verify: working,
	migrate.Shadow: comparing, migrate.Serving: serving, migrate.Suspended: stopped, migrate.Failed: stopped,
	migrate.RollingBack: turning, migrate.RolledBack: back, migrate.Dropped: gone,
}

// see finds the season's migration among all.
func see(s *Season, all []migrate.Change) (sight, *migrate.Change) {
	for i := range all {
		if m := &all[i]; m.ID == s.ID {
			if m.Approved.Equal(s.Earlier) {
				return none, nil
			}
			return sightOf[m.State], m
		}
	}
	return none, nil
}

// move is what a rule says is to be done.
type move int

// The moves.
const (
	rest     move = iota // nothing
	begin                // order the migration, if limits allow: stage coming
	left                 // it has not begun, or is over: stage out
	filled               // learn how long it took, if that is not known yet
	arrived              // the same: stage there
	turn                 // order its roll-back, if limits allow: stage going
	undo                 // order its roll-back whatever limits say: stage going
	again                // order its roll-back again
	drop                 // order that its table be dropped
	fail                 // order its roll-back, and pause: stage going
	lost                 // somebody else rolled it back, or it is missing: pause, stage going
	stray                // there is a migration that nobody ordered: pause
	numMoves             // how many there are
)

// rule is a row of the table: what is to be done, by what is seen.
type rule [sights]move

// row is the key of one: the states of calendar and season, and whether the season is wanted. In a calendar that is
// withdrawing a season is wanted if the limits leave what serves.
type row struct {
	state  State
	stage  Stage
	wanted bool
}

// rules is the machine. A calendar that is withdrawn has none.
var rules = map[row]rule{
	//                             none   working comparing serving  stopped turning back  gone
	{Following, Out, true}:       {begin, stray, stray, stray, stray, stray, stray, begin},
	{Following, Out, false}:      {rest, stray, stray, stray, stray, stray, stray, rest},
	{Following, Coming, true}:    {begin, rest, filled, arrived, fail, lost, lost, lost},
	{Following, Coming, false}:   {left, turn, turn, arrived, fail, lost, lost, lost},
	{Following, There, true}:     {lost, rest, rest, rest, fail, lost, lost, lost},
	{Following, There, false}:    {lost, turn, turn, turn, fail, lost, lost, lost},
	{Following, Going, true}:     {left, again, again, again, again, rest, drop, left},
	{Following, Going, false}:    {left, again, again, again, again, rest, drop, left},
	{Paused, Out, true}:          {rest, stray, stray, stray, stray, stray, stray, rest},
	{Paused, Out, false}:         {rest, stray, stray, stray, stray, stray, stray, rest},
	{Paused, Coming, true}:       {left, rest, filled, arrived, fail, lost, lost, lost},
	{Paused, Coming, false}:      {left, rest, filled, arrived, fail, lost, lost, lost},
	{Paused, There, true}:        {lost, rest, rest, rest, fail, lost, lost, lost},
	{Paused, There, false}:       {lost, rest, rest, rest, fail, lost, lost, lost},
	{Paused, Going, true}:        {left, again, again, again, again, rest, rest, left},
	{Paused, Going, false}:       {left, again, again, again, again, rest, rest, left},
	{Withdrawing, Out, true}:     {rest, rest, rest, rest, rest, rest, rest, rest},
	{Withdrawing, Out, false}:    {rest, rest, rest, rest, rest, rest, rest, rest},
	{Withdrawing, Coming, true}:  {left, undo, undo, arrived, undo, undo, undo, left},
	{Withdrawing, Coming, false}: {left, undo, undo, undo, undo, undo, undo, left},
	{Withdrawing, There, true}:   {left, rest, rest, rest, undo, undo, undo, left},
	{Withdrawing, There, false}:  {left, undo, undo, undo, undo, undo, undo, left},
	{Withdrawing, Going, true}:   {left, again, again, again, again, rest, drop, left},
	{Withdrawing, Going, false}:  {left, again, again, again, again, rest, drop, left},
}

// settled tells whether nothing is left to do for a season of a calendar that is withdrawing.
func settled(s *Season, seen sight, stays bool) bool {
	return s.Stage == Out || s.Stage == There && stays && seen == serving
}

// begins tells whether changes of the last 24 hours leave room for one more, and forgets older ones.
func (c *Calendar) begins(now time.Time) bool {
	kept := c.Begun[:0:0]
	for _, at := range c.Begun {
		if now.Sub(at) < day {
			kept = append(kept, at)
		}
	}
	c.Begun = kept
	return c.Limits.ChangesPerDay == 0 || len(kept) < c.Limits.ChangesPerDay
}
