// Package calendar draws a calendar of designs (seed 004, advisor/timeline) as SVG.
//
// Time goes to the right; each step is as wide as it is long. From above:
//
//   - the weights over time, a small chart for each group of statements whose weights rise and fall together, all of its own
//     height: they show when, the number beside them how much;
//   - the tables, a row for each: a bar while it is kept, hatched where it is being filled, during the step before it is first
//     needed, and a cross where it is dropped;
//   - the statements whose plans change, a row for each, with a mark where they do; what they read is in the title that a viewer
//     shows;
//   - the cost of each step, that of changing included, against the baselines.
//
// A Chart is plain data that anyone may fill; Of makes it of a timeline.Calendar. It imports that, package workload and svg.
package calendar
