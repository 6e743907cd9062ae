// Package timeline makes calendars: which tables to have at each time step of a workload whose weights change, and how one
// step's become the next one's (seed 004).
package timeline
