// Package calibrate is the experiment on calibrations: whether a cost model that rewrite/calibrate has fitted to a cluster foretells how long plans take there that were
// no part of it. It holds tests only.
package calibrate
