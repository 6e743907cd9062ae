package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gocql/gocql"
	"github.com/spf13/cobra"

	"github.com/helenus-db/helenus/capture/store"
	"github.com/helenus-db/helenus/internal/config"
	"github.com/helenus-db/helenus/internal/fleet"
	"github.com/helenus-db/helenus/internal/keyspace"
	"github.com/helenus-db/helenus/internal/sleep"
	"github.com/helenus-db/helenus/internal/words"
)

// Moving a state is done in an order that may be cut anywhere, and is then said again:
//
//	the target says that it is arriving, and is filled    nobody starts on it
//	the source says that it was moved, and where to       nobody starts on it
//	the target says nothing any more                      it is the state

func stateCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "state", Short: "Where decisions and changes are kept: move them between a file and a keyspace", Args: usage(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(stateMoveCommand())
	return c
}

func stateMoveCommand() *cobra.Command {
	var file, to string
	var dead []string
	c := &cobra.Command{
		Use: "move --to cassandra|sqlite", Short: "Move all decisions, changes, corrections, tokens and the audit trail; no process may run on them", Args: usage(cobra.NoArgs),
		Long: `Move the state between the file of one process (state-dir) and the keyspace of a fleet (state-keyspace). Stop all processes first: it is refused while one runs on either. What
was there before in the place that it is moved to is replaced, its audit trail is kept; the place that it is moved from says so to whoever starts on it. If it is cut off, say it again.
History, and what is measured, stays with the process.

` + exitsText(exitDone, exitFailed, exitUsage, exitNotFound, exitRefused, exitUnreachable),
		Example: "  helenus state move --to cassandra --contact-points 10.0.0.1:9042 --state-dir /var/lib/helenus",
	}
	c.Flags().StringVar(&file, "config", "", "YAML file of settings, as for run")
	c.Flags().StringVar(&to, "to", "", "cassandra or sqlite")
	c.Flags().StringSliceVar(&dead, "dead", nil, "ids of members that are on the register and do not run any more, though nobody took them off")
	settings := config.Flags(c.Flags(), slices.Concat(config.Connection, []string{"state-dir", "state-keyspace", "state-replication"})...)
	c.RunE = func(c *cobra.Command, _ []string) error {
		s, err := settings(file, os.LookupEnv)
		if err != nil {
			return usageError{err}
		}
		if to != "cassandra" && to != "sqlite" {
			return usageError{fmt.Errorf("--to %q: say cassandra or sqlite", to)}
		}
		m := mover{s: s, dead: dead, say: func(text string) { _, _ = fmt.Fprintln(c.OutOrStdout(), text) }}
		return m.move(c.Context(), to == "cassandra")
	}
	return c
}

// mover moves a state.
type mover struct {
	s    *config.Settings
	dead []string
	say  func(string)
}

// movable is a state that can be moved.
type movable interface {
	state
	Dump(ctx context.Context) (store.Dump, error)
	Fill(ctx context.Context, d store.Dump) error
}

// notMoved are the kinds of documents that are of a place, not of what is decided.
var notMoved = []string{store.KindMoved, fleet.KindMember, fleet.KindLeader, "advice"}

func (m *mover) move(ctx context.Context, toCassandra bool) error {
	if _, err := os.Stat(filepath.Join(m.s.StateDir, store.File)); err != nil && toCassandra {
		return exitError{fmt.Errorf("there is no state in %s to move: %w; name its directory with --state-dir", m.s.StateDir, err), exitNotFound}
	}
	local, err := store.Open(m.s.StateDir)
	if err != nil {
		if errors.Is(err, store.ErrLocked) {
			return exitError{fmt.Errorf("a helenus runs on the state in %s: stop it first (%w)", m.s.StateDir, err), exitRefused}
		}
		return err
	}
	defer func() { _ = local.Close() }() // all was written through
	security, err := secure(m.s, logger(m.s))
	if err != nil {
		return usageError{err}
	}
	shared, err := keyspace.New(keyspace.Options{
		Connect: func() (*gocql.Session, error) {
			session, err := sessions{m.s, security.dialer()}.stating()
			if err != nil {
				return nil, exitError{noSession(m.s, err), exitUnreachable}
			}
			return session, nil
		},
		Keyspace: m.s.StateKeyspace, Replication: m.s.StateReplication, Unheard: unheard, Patience: time.Minute,
	})
	if err != nil {
		return usageError{err}
	}
	defer func() { _ = shared.Close() }() // likewise
	if err := shared.Prepare(ctx); err != nil {
		return err
	}
	if err := m.nobodyRuns(ctx, shared); err != nil {
		return err
	}
	file, keyspace := "the file in "+m.s.StateDir, "keyspace "+m.s.StateKeyspace
	if toCassandra {
		return m.between(ctx, local, shared, file, keyspace)
	}
	return m.between(ctx, shared, local, keyspace, file)
}

// between moves all from one state to another.
func (m *mover) between(ctx context.Context, from, to movable, source, target string) error {
	var left, came store.Moved
	gone, err := movedMark(ctx, from, &left)
	if err != nil {
		return err
	}
	arriving, err := movedMark(ctx, to, &came)
	if err != nil {
		return err
	}
	switch {
	case gone && !left.Arriving && arriving && came.Arriving && came.To == source: // all but the last step was done
	case gone && !left.Arriving:
		return exitError{fmt.Errorf("%w: %s was moved to %s already, at %s", store.ErrMoved, source, left.To, left.At.Format(time.RFC3339)), exitRefused}
	case gone:
		return exitError{fmt.Errorf("%w: moving to %s began and did not end; finish that first", store.ErrMoved, source), exitRefused}
	default:
		if err := m.carry(ctx, from, to, source, target); err != nil {
			return err
		}
	}
	if err := to.Delete(ctx, store.KindMoved, store.KindMoved); err != nil {
		return err
	}
	m.say(fmt.Sprintf("Moved from %s to %s. Start with state: %s.", source, target, map[bool]string{true: "cassandra", false: "sqlite"}[strings.HasPrefix(target, "keyspace")]))
	return nil
}

// carry fills the target, and marks both.
func (m *mover) carry(ctx context.Context, from, to movable, source, target string) error {
	all, err := from.Dump(ctx)
	if err != nil {
		return err
	}
	all.Documents = slices.DeleteFunc(all.Documents, func(d store.Document) bool { return slices.Contains(notMoved, d.Kind) })
	arriving, err := store.NewDocument(store.KindMoved, store.KindMoved, store.Moved{To: source, At: time.Now().UTC(), Arriving: true})
	if err != nil {
		return err
	}
	if err := to.Commit(ctx, store.Change{Save: []store.Document{arriving}}); err != nil {
		return err
	}
	arriving.Version, arriving.Updated = 1, time.Now()
	filled := store.Dump{Documents: append(slices.Clone(all.Documents), arriving), Audit: all.Audit}
	if err := to.Fill(ctx, filled); err != nil {
		return fmt.Errorf("fill %s: %w; nothing is lost, say it again", target, err)
	}
	m.say(fmt.Sprintf("%d documents and %d lines of the audit trail are in %s.", len(all.Documents), len(all.Audit), target))
	line := store.Entry{Action: "state.move", Target: "state", Before: source, After: target}.By(store.As(ctx, store.Actor{Name: actor(), From: "command line"}), actor())
	if err := to.Append(ctx, line); err != nil {
		return err
	}
	return from.Decide(ctx, store.KindMoved, store.KindMoved, store.Moved{To: target, At: time.Now().UTC()}, line)
}

// movedMark reads what a state says of where it went; false: nothing.
func movedMark(ctx context.Context, s state, m *store.Moved) (bool, error) {
	err := s.Load(ctx, store.KindMoved, store.KindMoved, m)
	if errors.Is(err, store.ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}

// beats tells from what a member said at two moments whether it runs. One that says nothing any more was silenced by the others, who found it gone.
func beats(before, after json.RawMessage) bool {
	return after != nil && !bytes.Equal(before, after)
}

// watchFor is for how long it is looked whether members beat.
const watchFor = 6 * time.Second

// nobodyRuns refuses while a member is on the register: one that beats runs, of one that does not somebody has to say that it is dead.
func (m *mover) nobodyRuns(ctx context.Context, shared *keyspace.Store) error {
	members, err := shared.List(ctx, fleet.KindMember)
	if err != nil || len(members) == 0 {
		return err
	}
	before, err := shared.Beats(ctx)
	if err != nil {
		return err
	}
	m.say(fmt.Sprintf("On the register: %s; looking for %v whether they run.", words.Plural(len(members), "member", "members"), watchFor))
	if sleep.For(ctx, watchFor) != nil {
		return ctx.Err()
	}
	after, err := shared.Beats(ctx)
	if err != nil {
		return err
	}
	var run, silent []string
	for _, d := range members {
		var e fleet.Entry
		_ = json.Unmarshal(d.Raw, &e) // its id says enough
		switch name := d.ID + " at " + e.Address; {
		case beats(before[d.ID], after[d.ID]):
			run = append(run, name)
		case !slices.Contains(m.dead, d.ID):
			silent = append(silent, name)
		}
	}
	if len(run) > 0 {
		return exitError{fmt.Errorf("members run on the state in keyspace %s: stop %s first", m.s.StateKeyspace, strings.Join(run, ", ")), exitRefused}
	}
	if len(silent) > 0 {
		return exitError{fmt.Errorf("members are on the register of keyspace %s and silent: %s. Stop them; if they are dead, say so (--dead ID)", m.s.StateKeyspace, strings.Join(silent, ", ")), exitRefused}
	}
	for _, d := range members {
		if err := shared.Remove(ctx, fleet.KindMember, d.ID, d.Version, store.Entry{Action: "member.remove", Target: d.ID, Reason: "said to be dead, to move the state"}.By(ctx, actor())); err != nil {
			return err
		}
	}
	return nil
}
