package main

import (
	"os"

	"github.com/spf13/pflag"

	"github.com/helenus-db/helenus/advisor/solve"
	"github.com/helenus-db/helenus/internal/config"
)

// solverFlag is the setting solver of run for a command that designs by itself, as a flag and in the environment.
type solverFlag struct {
	settings func(file string, lookup func(string) (string, bool)) (*config.Settings, error)
}

func (f *solverFlag) flags(flags *pflag.FlagSet) { f.settings = config.Flags(flags, "solver") }

// process is the solver by which it designs.
func (f *solverFlag) process() *solve.Process {
	s, err := f.settings("", func(name string) (string, bool) {
		if name != solve.Variable { // what else is set is for others, and may be wrong
			return "", false
		}
		return os.LookupEnv(name)
	})
	if err != nil { // a path is whatever it is
		return solve.New(solve.Config{})
	}
	return solve.New(solve.Config{Path: s.Solver})
}
