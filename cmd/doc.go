// Package cmd is the place of the programs: helenus, one static file without cgo, and helenus-solver, which it starts for integer programs and which needs COIN-OR.
//
// They may import everything but bench; nothing imports them.
package cmd
