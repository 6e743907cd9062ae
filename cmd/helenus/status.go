package main

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/helenus-db/helenus/internal/admin"
)

// errUnhealthy makes the exit code of `helenus status` say what it has printed.
var errUnhealthy = errors.New("not healthy")

func statusCommand() *cobra.Command {
	var r remote
	c := &cobra.Command{
		Use: "status", Short: "How things stand, on one screen: is it healthy, and what waits for you", Args: usage(cobra.NoArgs),
		Long: `How things stand, on one screen: whether it forwards, the cluster, changes by state, the last round of advice, problems, and what
waits for you, with the command that goes on with it.

Exit codes: 0 healthy, 1 not healthy, 5 not reachable.`,
		RunE: func(c *cobra.Command, _ []string) error {
			healthy := true
			err := showChosen(c, &r, "status", func(s admin.Status) admin.Status {
				healthy = s.Healthy
				return s
			}, printStatus)
			if err == nil && !healthy {
				err = errUnhealthy
			}
			return err
		},
	}
	r.flags(c)
	return c
}

// maxWaits is how many things that wait the screen has room for.
const maxWaits = 15

func printStatus(w io.Writer, s admin.Status) error {
	var b strings.Builder
	head := "Healthy."
	if !s.Healthy {
		head = "NOT HEALTHY."
	}
	forwards := "It forwards"
	for _, c := range s.Checks {
		if c.Name != "cassandra" {
			continue
		}
		if !c.Ready {
			forwards = "It may not forward" // connections of clients that stand do as long as Cassandra takes them
		}
		if c.Detail != "" {
			forwards += ": " + c.Detail
		}
	}
	if s.Bypassed {
		forwards += "; requests bypass the rewriting"
	}
	fmt.Fprintf(&b, "%s %s.\n\n", head, forwards)
	if f := s.Fleet; f != nil {
		leader := "nobody leads"
		for _, v := range f.Members {
			if v.Leads {
				leader = fmt.Sprintf("%s at %s leads", v.ID, v.Address)
			}
		}
		fmt.Fprintf(&b, "fleet      %d members, %s; this one, %s, is %s\n", len(f.Members), leader, f.Self, map[string]string{"leader": "the leader", "follower": "a follower"}[f.Role]+map[bool]string{true: "not on the register"}[f.Role == "outside"])
	}
	fmt.Fprintf(&b, "changes    %s\n", tallied(s.Changes))
	if len(s.Calendars) > 0 {
		fmt.Fprintf(&b, "calendars  %s\n", tallied(s.Calendars))
	}
	advised := "no round yet"
	if !s.Advised.IsZero() {
		advised = "last round " + ago(s.Advised)
	}
	fmt.Fprintf(&b, "advice     %s\n", advised)
	list := func(title string, lines []string) {
		if len(lines) == 0 {
			return
		}
		fmt.Fprintf(&b, "\n%s\n", title)
		for _, line := range lines {
			fmt.Fprintf(&b, "  %s\n", strings.ReplaceAll(line, "\n", " "))
		}
	}
	list("problems", s.Problems)
	list("remarks", s.Remarks)
	var waits []string
	for _, one := range s.Waits[:min(len(s.Waits), maxWaits)] {
		waits = append(waits, fmt.Sprintf("%-10s %s\n             %s", one.ID, short(one.What, 100), one.Order))
	}
	if more := len(s.Waits) - maxWaits; more > 0 {
		waits = append(waits, fmt.Sprintf("and %d more: helenus recommendations, helenus changes", more))
	}
	if len(waits) == 0 {
		b.WriteString("\nNothing waits for you.\n")
	} else {
		fmt.Fprintf(&b, "\nwaits for you\n  %s\n", strings.Join(waits, "\n  "))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// tallied says how many there are in each state.
func tallied(counts map[string]int) string {
	if len(counts) == 0 {
		return "none"
	}
	var parts []string
	for _, state := range slices.Sorted(maps.Keys(counts)) {
		parts = append(parts, fmt.Sprintf("%d %s", counts[state], state))
	}
	return strings.Join(parts, ", ")
}
