package main

import (
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/helenus-db/helenus/rewrite"
)

func bypassCommand() *cobra.Command {
	var r remote
	c := &cobra.Command{
		Use: "bypass [on|off]", Short: "Run every request as it came, at once: the kill-switch", Args: usage(onOrOff),
		Long: `Without an argument: tells whether requests bypass the rewriting.

on   From the next request on, on every connection, all that is said to Cassandra goes there as it came: nothing is answered from look-up
     tables, and they are not written to either. All migrations are suspended. It holds over a restart.
off  Requests are seen again. It returns when those that were not seen have ended; then resume the migrations one by
     one (` + "`helenus resume ID`" + `), which verifies each table before it serves again.`,
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return show(c, &r, "bypass", printBypass)
			}
			raw, err := decide(c.Context(), &r, "bypass/"+args[0], "")
			if err != nil {
				return err
			}
			return printed(c.OutOrStdout(), &r, raw, printBypass)
		},
	}
	r.flags(c)
	return c
}

func onOrOff(_ *cobra.Command, args []string) error {
	if len(args) > 1 || (len(args) == 1 && args[0] != "on" && args[0] != "off") {
		return fmt.Errorf("%q: say on, off, or nothing", args)
	}
	return nil
}

func printBypass(w io.Writer, b rewrite.Bypass) error {
	text := "Requests are looked at, and rewritten where a migration says so."
	if b.On {
		text = fmt.Sprintf("Requests bypass the rewriting, by %s since %s: all run as they came, and every migration is suspended.",
			b.Actor, b.Since.Format(time.RFC3339))
	}
	if b.Pending != "" {
		text += "\nPending: " + b.Pending + "."
	}
	_, err := fmt.Fprintln(w, text)
	return err
}

// noteBypass says so, for people, above a list of migrations that do nothing.
func noteBypass(c *cobra.Command, r *remote) error {
	if r.json {
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
