// Package cycle finds how often statements are executed in the course of the day and the week, says whether that can be relied on, and
// cuts what can be into steps with a weight for each statement: what designs that follow the day begin with (seed 004; W-1). It
// imports capture/history, from which it reads hours; it knows nothing of models (advisor/infer makes a workload of a Cycle) and decides nothing.
//
// # What is read
//
// A Record is executions by statement and hour, of all proxies together, divided by the share of the hour in which was counted. An hour
// in which was counted for less than half is a gap, and is not known; one in which nothing was said is known to be zero. Windows that waited for the
// disk, and are of many hours, are spread over them. Find lays the hours along the clock of a zone: where it is set
// forward an hour is not known, where it is set back two hours are one.
//
// The statements of most work (100) are looked at one by one, all others as one, so that neither many statements nor texts that
// are said once take more memory or time. All arithmetic is on roots of executions, whose noise does not grow with them, with values clipped
// beyond six (robust) standard deviations outside of what any time of the day is in the middle: one huge outlier is a peak, no more.
//
// # Is there a cycle?
//
// Days (weeks) are rows, about their running mean, which takes trends and slow walks away. The likeness of rows is the sum of products
// over all pairs, each row of length one. If rows knew nothing of the clock, it would not matter if each were turned by some
// hours; so the chance is the share of 999 draws, of turns of each row, that are as like. That holds for noise of any distribution,
// bursts, and walks (what is left of a random walk between the ends of a period may be turned, too). Then: Strength, the adjusted share of
// variance that the mean row explains; Skill, by how much the rows before foretell the later half of the rows better than a flat
// line; Share, how many rows are like the others. A week is looked for in what the day leaves. All statements together are judged
// by the same sums over all of them, weighted by work, and turned together: two groups that change places while their sum stays
// the same are a cycle (W-43).
//
// A trend is a daily level whose changes have a mean that is not 0 (Newey-West error), that a line explains, and foretells.
//
// # Steps
//
// What is cut is the vector of all statements' mean cycles, in roots of work; statements that do not go with the clock are flat in it. Bellman's
// optimal partition on the circle minimises squares within steps and a penalty for each: the most that any cut of pure noise
// gains, and no less than 2 % of all variance. It is exact: at most 168 places. Weights are mean executions per second over the step.
//
// # Does it still hold?
//
// Holds compares each known day since with what was foretold, up to a common factor of two, by squares as a share of what there is
// to foretell. A day is off if it is farther off than those the cycle was made of usually were, and by half at least; two such
// days in a row end it.
//
// Where it is thin: bins are hours, since that is what the history keeps for a month, so cycles shorter than some hours and steps
// shorter than one are not seen; only days and weeks are looked for; a weekly cycle is found in the hours kept (30 days unless set otherwise), so of
// four weeks at most, and months and years never; a holiday is not told from a failure; weights are means over the whole
// record also where there is a trend besides; a statement that was cut from an hour's window counts as not executed in it.
package cycle
