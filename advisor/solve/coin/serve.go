//go:build cgo

package coin

import (
	"fmt"
	"os"

	"github.com/helenus-db/helenus/advisor/solve"
)

// ServeIfWorker is for programs that are their own helenus-solver: tests, and the programs of bench. Called first thing in main or TestMain, it works and exits in a process that
// solve started as a worker; in any other it has solve find this program, in the processes that this one starts, too.
func ServeIfWorker() {
	if solve.IsWorker() {
		Serve()
	}
	self, err := os.Executable()
	if err == nil {
		err = os.Setenv(solve.Variable, self)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "coin: this program can not be its own solver:", err)
		os.Exit(1)
	}
}

// Serve works as a worker, and exits.
func Serve() {
	if err := solve.Worker(os.Stdin, os.Stdout, Engine{}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}
