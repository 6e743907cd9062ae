package main

import (
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/helenus-db/helenus/internal/words"
	"github.com/helenus-db/helenus/rewrite"
	"github.com/helenus-db/helenus/rewrite/migrate"
)

func bypassCommand() *cobra.Command {
	var r remote
	var order orderFlags
	c := &cobra.Command{
		Use: "bypass [on|off]", Short: "Run every request as it came, at once: the kill-switch", Args: usage(onOrOff),
		Long: `Without an argument: tells whether requests bypass the rewriting.

on   From the next request on, on every connection, all that is said to Cassandra goes there as it came: nothing is answered from look-up
     tables, and they are not written to either. All changes are suspended. It holds over a restart.
off  Requests are seen again. It returns when those that were not seen have ended; then resume the changes one by
     one (` + "`helenus resume ID`" + `), which verifies each table before it serves again.`,
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return show(c, &r, "bypass", printBypass)
			}
			if order.dryRun {
				return foretellBypass(c, &r, args[0])
			}
			raw, err := decide(c.Context(), &r, "bypass/"+args[0], "")
			if err != nil {
				return err
			}
			return printed(c.OutOrStdout(), &r, raw, printBypass)
		},
	}
	r.flags(c)
	order.flags(c, false)
	return c
}

// foretellBypass prints what the kill-switch would do.
func foretellBypass(c *cobra.Command, r *remote, to string) error {
	client, err := r.client()
	if err != nil {
		return err
	}
	var all []migrate.Change
	if err := client.Get(c.Context(), "migrations", &all); err != nil {
		return err
	}
	serve, under, suspended := 0, 0, 0
	for i := range all {
		switch all[i].State {
		case migrate.Serving:
			serve++
		case migrate.Suspended:
			suspended++
		case migrate.Failed, migrate.RolledBack, migrate.Dropped:
		default:
			under++
		}
	}
	would := foresight{Order: "bypass " + to, Would: []string{
		"From the next request on, all that is said to Cassandra goes there as it came.",
		fmt.Sprintf("%s serves nothing any more, %s does not go on: each is suspended, and must be resumed and verified afterwards.", words.Plural(serve, "change", "changes"), words.Plural(under, "change under way", "changes under way")),
	}}
	if to == "off" {
		would.Would = []string{"Requests are looked at again, once those that were not have ended.", fmt.Sprintf("%s stays suspended until it is resumed.", words.Plural(suspended, "change", "changes"))}
	}
	return would.print(c.OutOrStdout(), r)
}

func onOrOff(_ *cobra.Command, args []string) error {
	if len(args) > 1 || (len(args) == 1 && args[0] != "on" && args[0] != "off") {
		return fmt.Errorf("%q: say on, off, or nothing", args)
	}
	return nil
}

func printBypass(w io.Writer, b rewrite.Bypass) error {
	text := "Requests are looked at, and rewritten where a change says so."
	if b.On {
		text = fmt.Sprintf("Requests bypass the rewriting, by %s since %s: all run as they came, and every change is suspended.",
			b.Actor, b.Since.Format(time.RFC3339))
	}
	if b.Pending != "" {
		text += "\nPending: " + b.Pending + "."
	}
	_, err := fmt.Fprintln(w, text)
	return err
}

// noteBypass says so, for people, above a list of changes that do nothing.
func noteBypass(c *cobra.Command, r *remote) error {
	if r.structured() {
		return nil
	}
	client, err := r.client()
	if err != nil {
		return err
	}
	var raw []byte
	if err := client.Get(c.Context(), "bypass", &raw); err != nil {
		return err
	}
	var b rewrite.Bypass
	if err := json.Unmarshal(raw, &b); err != nil || !b.On {
		return err
	}
	return printBypass(c.OutOrStdout(), b)
}
