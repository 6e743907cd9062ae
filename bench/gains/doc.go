// Command gains holds what advice promises against what it brings: it goes through forty changes and more on a real Cassandra, of tables and reads of many shapes, and compares for
// each the gain that was foretold with the one that is measured.
//
//	make bench-gains            some minutes, best on a machine that does nothing else
//	make bench-gains QUICK=1    four tables, into bin/results
//
// It sees the product from outside alone, as bench/change does. For every change:
//
//	learn     the application's reads, through helenus; Cassandra was asked the same before, so that it is warm
//	advise    helenus recommendations --now: predicted milliseconds of the read before and after
//	carry out helenus approve, until it serves
//	rest      until the machine is idle: fresh tables are compacted, and a change is verified once more
//	measure   the same reads in turn straight to Cassandra, as they were written, and through helenus, which serves them
//
// Foretold and measured gain are milliseconds of one read. Kendall's tau says whether changes are ranked by what they bring; the median error is how far the foretold gain is off, as a
// share of the measured one. What was before is measured again afterwards, in turn with the served reads, so that a machine that is busy for a while counts for both.
//
// It imports bench/contest (Kendall's tau), bench/product and internal/cassandra. Thin: one node, one client that waits for each answer, medians of the client's own clock.
package main
