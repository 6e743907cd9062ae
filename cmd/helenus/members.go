package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net/url"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/helenus-db/helenus/internal/admin"
	"github.com/helenus-db/helenus/internal/config"
	"github.com/helenus-db/helenus/internal/fleet"
	"github.com/helenus-db/helenus/internal/guard"
	"github.com/helenus-db/helenus/internal/keyspace"
	"github.com/helenus-db/helenus/rewrite"
)

// handOverGrace is for how long a process that has handed over may be listed still, joinGrace for how long one may be connected that has not registered yet.
const (
	handOverGrace = 2 * time.Second
	joinGrace     = 8 * time.Second
)

// join makes this process a part of the fleet that has its state, if that is shared. Its parts are asked once they are there.
func (h *helenus) join() {
	if h.shared == nil {
		return
	}
	s := h.settings
	h.member = fleet.New(fleet.Options{
		Store: h.shared, ID: h.process, Address: cmp.Or(s.Advertise, s.Listen), API: s.Admin, Version: built().version, Form: keyspace.Form, Lease: s.ServingLease, Now: fleet.Elapsed, Time: clock, Log: h.log,
		Settings: s.Values(config.FleetWide), Must: []string{"serving-lease"}, // a write waits for as long as others may serve without news
		Truth: fleet.Truth{
			Follow: h.following(), Reverify: func(ctx context.Context, reason string) error { return h.engine.ReverifyAll(ctx, reason) },
			Rules: func() uint64 { return h.engine.Rules() }, Barrier: func(ctx context.Context) error { return h.engine.Barrier(ctx) },
			Withholding: func() bool { return h.engine.Withholding() }, Blocked: func() string { return h.engine.Unfollowed() },
			Connected: h.onlookers.processes,
		},
	})
	h.onlookers.ours, h.onlookers.grace, h.onlookers.role = h.member.Knows, joinGrace, s.Username
}

// members is the fleet as the engine needs it; nil: there is none.
func (h *helenus) members() rewrite.Members {
	if h.member == nil {
		return nil
	}
	return h.member
}

// membership is the fleet as the API needs it.
func (h *helenus) membership() admin.Members {
	if h.member == nil {
		return nil
	}
	return h.member
}

// leads tells the advisor whether this process advises; nil: it always does.
func (h *helenus) leads() func() bool {
	if h.member == nil {
		return nil
	}
	return h.member.Leads
}

// leading has something done by the leader alone.
func (h *helenus) leading(f func(context.Context)) func(context.Context) {
	if h.member == nil {
		return f
	}
	return func(ctx context.Context) { h.member.Lead(ctx, f) }
}

// followCalendars carries calendars out, as they are stored by now.
func (h *helenus) followCalendars(ctx context.Context) {
	if h.member != nil {
		if err := h.keeper.Restore(ctx); err != nil {
			h.log.Error("the calendars could not be read", "err", err)
		}
	}
	h.keeper.Run(ctx)
}

// following take on what other members have stored: changes, calendars, tokens, sessions, advice and what people said. The parts are made when they are
// asked for first.
func (h *helenus) following() []func(context.Context) error {
	return []func(context.Context) error{
		func(ctx context.Context) error { return h.changes.Sync(ctx) },
		func(ctx context.Context) error { return h.engine.Follow(ctx) },
		func(ctx context.Context) error {
			if h.member.Leads() {
				return nil
			}
			if err := h.keeper.Restore(ctx); err != nil {
				return fmt.Errorf("follow the calendars: %w", err)
			}
			return nil
		},
		func(ctx context.Context) error {
			if h.tokens == nil {
				return nil
			}
			return h.tokens.Reload(ctx)
		},
		func(ctx context.Context) error {
			if h.sessions == nil {
				return nil
			}
			return h.sessions.Reload(ctx)
		},
		func(ctx context.Context) error { return h.advisor.Follow(ctx) },
	}
}

// enter brings this process into the fleet, before it takes requests: it has read the state then, and the others know of it.
func (h *helenus) enter(ctx context.Context) error {
	if h.member == nil {
		return nil
	}
	alone, err := h.member.Join(ctx)
	if err != nil {
		if ctx.Err() != nil {
			h.leave()  // it may have come onto the register
			return nil //nolint:nilerr // it was told to stop
		}
		return err
	}
	h.log.Info("in the fleet", "member", h.member.ID(), "alone", alone)
	whole := h.member.Fleet()
	for _, line := range whole.Differences() {
		h.log.Warn("members of a fleet should have the same settings: which are in force depends on who leads", "differs", line)
	}
	why := h.engine.Unfollowed() // then it is verified when this member is gone, or can
	if alone {
		why = "no member was there: what was written meanwhile is verified first; reads run as they were written"
	}
	if why != "" {
		if err := h.engine.ReverifyAll(ctx, why); err != nil {
			h.log.Error("that changes are to be verified could not be saved; it is tried again", "err", err)
		}
	}
	guard.Go(guard.Fleet, func() { guard.Loop(context.WithoutCancel(ctx), guard.Fleet, guard.Clock{}, h.member.Run, nil) }, nil) // also while it drains
	return nil
}

// beFound finds members that are gone, as long as this process leads.
func (h *helenus) beFound(ctx context.Context) {
	if h.member == nil {
		<-ctx.Done()
		return
	}
	h.member.Reap(ctx)
}

// settleFor is for how long orders that were given last are waited for.
const settleFor = 3 * time.Second

// leave takes this process off the register once it has no traffic any more, and the orders that its last requests gave are stored. With one that is not it stays: the others
// find it gone, and verify; until then none of them serves.
func (h *helenus) leave() {
	if h.member == nil {
		return
	}
	settling, settled := context.WithTimeout(context.Background(), settleFor)
	n := h.engine.Settle(settling)
	settled()
	if n > 0 {
		h.log.Warn("orders are in force here that could not be stored: the other members find this process gone, and verify all changes", "orders", n)
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), closeFor)
	defer cancel()
	if err := h.member.Leave(ctx); err != nil {
		h.log.Warn("not off the register", "error", err)
	}
}

// fleetCheck says why this member serves nothing.
func (h *helenus) fleetCheck() admin.Check {
	c := admin.Check{Name: "fleet", Ready: true} // it forwards either way
	if h.member == nil {
		return c
	}
	f := h.member.Fleet()
	c.Why = h.member.Trouble()
	c.Detail = fmt.Sprintf("%s of %d members, epoch %d", f.Role, len(f.Members), f.Epoch)
	return c
}

func membersCommand() *cobra.Command {
	var r remote
	c := &cobra.Command{
		Use: "members", Short: "The processes that share this one's state: who leads, who is silent", Args: usage(cobra.NoArgs),
		Long: `The members of the fleet, as the one that is asked sees them: addresses, version, the epoch of the state that each has put in force, whether it may answer reads by
changes, and who leads. See docs/fleet.md.`,
		RunE: func(c *cobra.Command, _ []string) error { return show(c, &r, "members", printMembers) },
	}
	r.flags(c)
	c.AddCommand(membersRemoveCommand())
	return c
}

func membersRemoveCommand() *cobra.Command {
	var r remote
	var reason string
	c := &cobra.Command{
		Use: "remove ID", Short: "Take a member that is gone for good off the register; all changes are verified before they serve again", Args: usage(cobra.ExactArgs(1)),
		Long: `Take a member off the register that is silent and is not found to be gone by itself: its machine hangs, or Cassandra is older than 4.1 and does not tell. Make sure that it
does not run any more: what it still wrote would be missing in answers until it notices. All changes are verified before they serve again.`,
		RunE: func(c *cobra.Command, args []string) error {
			client, err := r.client()
			if err != nil {
				return err
			}
			var raw []byte
			if err := client.Delete(c.Context(), "members/"+url.PathEscape(args[0]), admin.Decision{Actor: actor(), Reason: reason}, &raw); err != nil {
				return err
			}
			return printed(c.OutOrStdout(), &r, raw, printMembers)
		},
	}
	r.flags(c)
	whyFlags(c, &reason)
	return c
}

func printMembers(w io.Writer, f fleet.Fleet) error {
	if len(f.Members) == 0 {
		_, err := fmt.Fprintln(w, "No other process has this state: it is kept in a file (state: sqlite). See docs/fleet.md.")
		return err
	}
	t := newTable("member", "address", "API", "version", "since", "epoch", "role", "serves", "silent for")
	for i := range f.Members {
		m := &f.Members[i]
		role := "follower"
		if m.Leads {
			role = "leader"
		}
		if m.Self {
			role += " (asked)"
		}
		t.AppendRow([]any{m.ID, m.Address, m.API, m.Version, ago(m.Since), m.Epoch, role, map[bool]string{true: "yes", false: "no"}[m.Serves], m.Silent})
	}
	if err := render(w, t); err != nil {
		return err
	}
	var lines []string
	for _, m := range f.Members {
		if m.Blocked != "" {
			lines = append(lines, fmt.Sprintf("Nothing is verified because of %s: %s.", m.ID, m.Blocked))
		}
	}
	for _, line := range f.Differences() {
		lines = append(lines, "Settings should be the same: "+line+".")
	}
	if f.Trouble != "" {
		lines = append(lines, "The member that was asked has trouble: "+f.Trouble)
	}
	if len(lines) == 0 {
		return nil
	}
	_, err := fmt.Fprintln(w, strings.Join(lines, "\n"))
	return err
}
