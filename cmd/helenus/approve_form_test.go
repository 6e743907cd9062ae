package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// TestFormHasWhatTheCommandLineHas: what can be said at the command line about an approval or a throttle has a field on the console's form, or a reason why not. A flag that is new is in neither
// list, and fails.
func TestFormHasWhatTheCommandLineHas(t *testing.T) {
	form, err := os.ReadFile(filepath.Join("..", "..", "internal", "console", "assets", "order.tmpl"))
	if err != nil {
		t.Fatal(err)
	}
	var r remote
	common := &cobra.Command{}
	r.flags(common) // where the process is, and how its answer is printed
	for name, c := range map[string]struct {
		command      *cobra.Command
		fields, none map[string]string
	}{
		"approve": {approveCommand(), map[string]string{
			"on-entry-failure": "on_entry_failure", "fill": "fill", "despite": "despite", "hold": "hold", "until": "until", "changes-per-day": "changes_per_day",
			"max-bytes": "max_bytes", "window": "windows", "each": "each", "drop-at-end": "drop", "yes": "typed",
		}, map[string]string{
			"dry-run": "the page says what will happen before its button", "detach": "the page of the change shows the progress, and may be left",
		}},
		"throttle": {throttleCommand(), map[string]string{"rate": "rate", "pause": "paused", "resume": "paused"}, map[string]string{"dry-run": "the page says what will happen before its button"}},
	} {
		c.command.Flags().VisitAll(func(f *pflag.Flag) {
			if common.Flags().Lookup(f.Name) != nil {
				return
			}
			field, has := c.fields[f.Name]
			switch _, hasNot := c.none[f.Name]; {
			case has && !strings.Contains(string(form), `name="`+field+`"`):
				t.Errorf("%s --%s: the form has no field %s", name, f.Name, field)
			case !has && !hasNot:
				t.Errorf("%s --%s: it is not said whether the console's form has it", name, f.Name)
			}
		})
		for flag := range c.fields {
			if c.command.Flags().Lookup(flag) == nil {
				t.Errorf("%s has no flag --%s any more", name, flag)
			}
		}
	}
}
