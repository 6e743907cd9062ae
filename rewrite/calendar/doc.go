// Package calendar carries an approved calendar out (seed 004): at which steps of a cycle which look-ups are there. It begins
// each look-up's migration (rewrite/migrate) ahead of the step that it is for, and rolls it back and drops its table at the step
// that does without it; statements are switched back first, as with every roll-back. It may import capture, advisor/plan and migrate.
//
// # The machine
//
// A calendar is following, paused, withdrawing or withdrawn. Each of its seasons (a look-up) is out, coming, there or going.
// At every tick the Keeper looks at the season's migration and at the clock, finds the row of the table `rules`, and does
// what it says. So nothing is remembered of what was under way: what the stores say and what the clock says decides, after a
// crash as before. A stage that orders something is saved before the order is given; all orders can be given again. A migration is a
// season's own if it was approved after the season's order (Season.Earlier), which tells it from that of the cycle before.
//
// # Ahead
//
// A season begins ahead of its step by as long as filling it took last (a quarter more, and a tick), before the first time by
// the estimate. What is compared in shadow is the application's own reads, which may be rare before the step begins: that is not
// waited for, so the first time a look-up may serve some time after its step began. Reads that were compared for the same look-up in
// earlier cycles count (migrate.Migration.Earlier). Nothing begins that would not be filled before its steps are over.
//
// # What ends it
//
// A guard that fails (the migration is suspended or failed), or a person who rolls a migration back, pauses the
// calendar and says why; what was failing is rolled back and its table kept to be looked at. A cycle that no longer holds
// (cycle.Holds, asked when a further hour is known), the date up to which it was approved, or a person's order withdraws it: no
// further change begins, what does not serve yet is rolled back and dropped, and what serves is either left to serve, named, or
// rolled back and dropped, too, as the limits say. Serving is right at all times; it only costs what writes pay.
//
// Where it is thin: one calendar at a time; changes-per-day counts the last 24 hours; a season that is asked for longer than the clock is
// set forward or back by is not told from one in time; the Keeper works on one proxy, as migrations do.
package calendar
