//go:build cgo

// Command helenus-solver solves one integer or linear program by COIN-OR's CBC and CLP, for helenus, which starts it for each. It is the one program of the product that needs
// cgo and shared libraries (Debian's coinor-libcbc3 and coinor-libclp1), so that helenus needs neither: without it helenus designs by a heuristic, and says so.
//
// It takes no arguments: package advisor/solve says what the two tell each other, and how one is found by the other.
package main

import (
	"fmt"
	"os"

	"github.com/helenus-db/helenus/advisor/solve"
	"github.com/helenus-db/helenus/advisor/solve/coin"
)

func main() {
	if !solve.IsWorker() {
		fmt.Println(solve.Protocol + ": helenus starts it for each integer program. Put it beside helenus or into PATH, or name it by the setting solver (" + solve.Variable + ").")
		os.Exit(2)
	}
	coin.Serve()
}
