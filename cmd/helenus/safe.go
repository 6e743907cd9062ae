package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/helenus-db/helenus/advisor/design"
	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/safety"
	"github.com/helenus-db/helenus/advisor/workload"
)

// safeFlags are what `helenus design` is asked for about tables in which several writers can meet.
type safeFlags struct {
	require string
	penalty float64
}

// all is the value of --require-safe without one.
const all = "all"

func (f *safeFlags) flags(flags *pflag.FlagSet) {
	flags.StringVar(&f.require, "require-safe", "", "propose no table in one partition of which several writers can meet (helenus safety); =CLASS,CLASS: in which two of these writes can: lwt, counter, modify, overwrite, append, view; default: what the file says")
	flags.Lookup("require-safe").NoOptDefVal = all
	flags.Float64Var(&f.penalty, "safety-penalty", 0, "what each write to such a table costs besides its work, in the cost model's unit; 0: what the file says")
}

// read is what the flags ask for on top of what the file says, nil for nothing.
func (f *safeFlags) read(w *workload.Workload) (*design.Safety, error) {
	s, err := design.SafetyOf(w)
	if err != nil {
		return nil, err
	}
	if f.require == "" && f.penalty == 0 {
		return s, nil
	}
	if !workload.IsWeight(f.penalty) {
		return nil, fmt.Errorf("--safety-penalty: %g is not a cost", f.penalty)
	}
	if s == nil {
		s = &design.Safety{}
		if s.Principal, err = safety.PrincipalOf(w); err != nil {
			return nil, err
		}
	}
	if f.penalty > 0 {
		s.Penalty = f.penalty
	}
	if f.require != "" {
		s.Require, s.Classes = true, nil
		if f.require != all {
			for name := range strings.SplitSeq(f.require, ",") {
				if !slices.Contains(workload.Classes, name) {
					return nil, fmt.Errorf("--require-safe: %w", &model.NameError{What: "class of writes", Name: name, Known: workload.Classes})
				}
				s.Classes = append(s.Classes, safety.Class(name))
			}
		}
	}
	return s, nil
}
