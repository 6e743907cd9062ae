package main

import (
	"github.com/spf13/cobra"

	"github.com/helenus-db/helenus/advisor/design"
	"github.com/helenus-db/helenus/advisor/solve"
)

func designCommand() *cobra.Command {
	var (
		asJSON bool
		space  float64
		ranges []string
	)
	c := &cobra.Command{
		Use: "design FILE", Short: "Design tables from a model and a workload in YAML, without a cluster", Args: usage(cobra.ExactArgs(1)),
		RunE: func(c *cobra.Command, args []string) error {
			w, err := loadWorkload(args[0])
			if err != nil {
				return usageError{err}
			}
			d, err := design.Choose(c.Context(), w, design.Options{Solver: solve.New(solve.Config{}), SpaceLimit: space, Sensitivity: ranges})
			if err != nil {
				return err
			}
			if asJSON {
				return d.JSON(c.OutOrStdout())
			}
			return d.Text(c.OutOrStdout())
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	c.Flags().Float64Var(&space, "space-limit", 0, "bytes that new tables may take; 0: what the file says")
	c.Flags().StringSliceVar(&ranges, "sensitivity", nil, "statements (IDs) of which to say how far their weights may move before other tables are better")
	return c
}
