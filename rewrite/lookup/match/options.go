package match

import "github.com/helenus-db/helenus/advisor/plan"

// Options are the options of the look-up table, as CREATE TABLE ... WITH has them, but for its comment and order: gc_grace_seconds is
// short, as its tombstones are passed by reads, and never 0, or hints would not be delivered (plan.GraceSeconds).
func (l *LookUp) Options() string { return plan.LookUpOptions }
