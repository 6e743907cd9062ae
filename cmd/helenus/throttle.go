package main

import (
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/helenus-db/helenus/internal/admin"
	"github.com/helenus-db/helenus/rewrite/migrate"
)

// usualRate is what --rate is given to end what was ordered.
const usualRate = "default"

// throttleCommand changes the pace of a change while it goes on.
func throttleCommand() *cobra.Command {
	var (
		r             remote
		order         orderFlags
		rate          string
		pause, resume bool
	)
	c := &cobra.Command{
		Use: "throttle ID --rate N | --pause | --resume", Short: "Change the pace at which a change's table is filled and compared, pause it, or let it go on", Args: usage(cobra.ExactArgs(1)),
		Long: `Changes the pace of a change while it goes on, without a restart: how many rows a second are copied into its table, and are read to compare both tables, by all
members of a fleet together. --pause lets no further row be copied or compared until --resume, which goes on where it was; writes are kept in the table meanwhile, and reads run
as written. The order is kept over restarts. While a change serves, a rate slows its sweeps; they can not be paused.

` + exitsText(exitDone, exitFailed, exitUsage, exitNotFound, exitRefused, exitUnreachable, exitNotAllowed),
		RunE: func(c *cobra.Command, args []string) error {
			d := admin.Decision{Actor: actor()}
			switch {
			case pause && resume:
				return usageError{errors.New("--pause and --resume: one of them")}
			case pause || resume:
				d.Paused = &pause
			case rate == "":
				return usageError{errors.New("say the pace: --rate N, --pause or --resume")}
			}
			if rate != "" {
				n := 0
				if rate != usualRate {
					var err error
					if n, err = strconv.Atoi(rate); err != nil || n < 1 || n > migrate.MaxRate {
						return usageError{fmt.Errorf("--rate %q: rows a second, from 1 to %d, or %s for what the settings say", rate, migrate.MaxRate, usualRate)}
					}
				}
				d.Rate = &n
			}
			if given, err := order.allows(c, &r, "throttle", args[0]); !given {
				return err
			}
			client, err := r.client()
			if err != nil {
				return err
			}
			var raw []byte
			if err := client.Post(c.Context(), pathID("changes", args[0])+"/throttle", d, &raw); err != nil {
				return err
			}
			return printed(c.OutOrStdout(), &r, raw, func(w io.Writer, m migrate.Change) error {
				_, err := fmt.Fprintf(w, "%s is %s. Its pace: %s.\n", m.ID, m.State, m.Throttle)
				return err
			})
		},
	}
	r.flags(c)
	order.flags(c, false)
	f := c.Flags()
	f.StringVar(&rate, "rate", "", "rows a second, such as 5000; "+usualRate+": as the settings say (backfill-rate to fill, no limit to compare)")
	f.BoolVar(&pause, "pause", false, "copy and compare no further row until --resume")
	f.BoolVar(&resume, "resume", false, "go on after a pause")
	return c
}
