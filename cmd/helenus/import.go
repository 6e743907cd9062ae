package main

import (
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/neutral"
	"github.com/helenus-db/helenus/advisor/workload"
)

func importCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "import", Short: "Write files of other tools in our own form", Args: usage(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(&cobra.Command{
		Use: "nose FILE", Short: "Print a model and workload of NoSE's, in the neutral form, as YAML for `helenus design`", Args: usage(cobra.ExactArgs(1)),
		RunE: func(c *cobra.Command, args []string) error {
			if filepath.Ext(args[0]) == ".rb" {
				return usageError{fmt.Errorf("%s is a program in Ruby, NoSE's own form, which Helenus does not run: write its model and workload in the neutral form (YAML; advisor/neutral/testdata has examples)", args[0])}
			}
			w, err := neutral.Load(args[0])
			if err != nil {
				return usageError{err}
			}
			return workload.Save(c.OutOrStdout(), w)
		},
	})
	return c
}

// readWorkload reads the content of a workload file by what is given, or, if it is in the neutral form, by that: of a file that has neither form right it says how they are told apart.
func readWorkload(name string, data []byte, own func(string, []byte) (*workload.Workload, error)) (*workload.Workload, error) {
	if !neutral.Is(data) {
		return own(name, data)
	}
	w, err := neutral.Read(name, data)
	if err != nil {
		return nil, fmt.Errorf("%w\n(read in NoSE's neutral form, as the first entity has \"fields\"; ours has \"attributes\": docs/schema/workload.json)", err)
	}
	return w, nil
}

// loadWorkload reads a workload file of our own form or of the neutral one.
func loadWorkload(name string) (*workload.Workload, error) {
	data, err := model.ReadFile(name)
	if err != nil {
		return nil, err
	}
	return readWorkload(name, data, workload.Read)
}
