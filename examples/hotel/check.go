package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gocql/gocql"
)

// storedReservation is a row of the table reservations as it lies there. What may be null is a pointer.
type storedReservation struct {
	room, id gocql.UUID
	start    time.Time
	end      *time.Time
	status   *string
}

func (s storedReservation) equal(o storedReservation) bool {
	return s.room == o.room && s.id == o.id && s.start.Equal(o.start) &&
		(s.end == nil) == (o.end == nil) && (s.end == nil || s.end.Equal(*o.end)) &&
		(s.status == nil) == (o.status == nil) && (s.status == nil || *s.status == *o.status)
}

func (s storedReservation) String() string {
	end, status := "null", "null"
	if s.end != nil {
		end = s.end.Format(time.DateOnly)
	}
	if s.status != nil {
		status = *s.status
	}
	return fmt.Sprintf("(%s, %s, %s, %s, %s)", s.room, s.start.Format(time.DateOnly), s.id, end, status)
}

// difference describes how two answers differ, and is empty when they do not: the same rows in the same order.
func difference(direct, through []storedReservation) string {
	for i := range max(len(direct), len(through)) {
		switch {
		case i >= len(through):
			return fmt.Sprintf("row %d of %d is missing: %s", i+1, len(direct), direct[i])
		case i >= len(direct):
			return fmt.Sprintf("row %d is one too many: %s", i+1, through[i])
		case !direct[i].equal(through[i]):
			return fmt.Sprintf("row %d is %s, should be %s", i+1, through[i], direct[i])
		}
	}
	return ""
}

// checker compares what two addresses answer.
type checker struct {
	direct, through *gocql.Session
	concurrency     int
	// patience is how long an answer that differs is given before it is asked for again: a write may have been under
	// way between the two readings.
	patience time.Duration
	out      io.Writer
}

// literalKeys is how many keys are also asked for by the literal statement directly, which scans the whole table each time.
const literalKeys = 30

// scansAtOnce is how many of these scans are under way at once: each keeps a processor busy, and of many Cassandra gives some up.
const scansAtOnce = 2

func checkCommand(flags *flag.FlagSet) func(context.Context, io.Writer) error {
	direct := flags.String("direct", "127.0.0.1:9042", "address of Cassandra itself, host:port")
	through := flags.String("through", "", "address to compare with it, host:port")
	var access access
	access.flags(flags)
	keys := flags.Int("keys", 10_000, "number of random guests whose reservations are compared")
	seed := flags.Uint64("seed", 1, "seed of the choice of guests")
	concurrency := flags.Int("concurrency", 16, "requests in flight at once")
	named := keyspaceFlag(flags)
	data := sizeFlags(flags, "data-seed")
	return func(ctx context.Context, out io.Writer) error {
		d, err := data()
		switch {
		case err != nil:
			return err
		case *through == "":
			return usageError("-through is missing: the address to compare with -direct")
		case *keys < 1 || *keys > d.guests || *concurrency < 1:
			return usageError(fmt.Sprintf("-keys must be 1 to the number of guests (%d), and -concurrency at least 1", d.guests))
		}
		keyspace, err := named()
		if err != nil {
			return err
		}
		c := checker{concurrency: *concurrency, patience: time.Second, out: out}
		if c.direct, err = access.connect(*direct, keyspace); err != nil {
			return err
		}
		defer c.direct.Close()
		if c.through, err = access.connect(*through, keyspace); err != nil {
			return err
		}
		defer c.through.Close()
		guests := make([]gocql.UUID, *keys)
		for i, n := range rand.New(rand.NewPCG(*seed, 0)).Perm(d.guests)[:*keys] {
			guests[i] = id("guest", n)
		}
		return c.check(ctx, guests)
	}
}

// check compares all guests with one scan of the table, and some with the literal statement, and fails on a difference.
func (c checker) check(ctx context.Context, guests []gocql.UUID) error {
	begin := time.Now()
	expected, scanned, err := c.scan(ctx)
	if err != nil {
		return fmt.Errorf("scanning the table directly: %w", err)
	}
	fmt.Fprintf(c.out, "scanned %d reservations directly in %.1f s\n", scanned, time.Since(begin).Seconds())
	prepared := func(session *gocql.Session) ask {
		return func(ctx context.Context, guest gocql.UUID) ([]storedReservation, error) {
			return reservationsOf(ctx, session, selectGuestReservations.text, guest)
		}
	}
	literal := func(session *gocql.Session) ask {
		return func(ctx context.Context, guest gocql.UUID) ([]storedReservation, error) {
			return reservationsOf(ctx, session, literalText(guest))
		}
	}
	// The scan returns rows by token and clustering key, and so does the filtering statement: grouped by guest, the
	// scan's own order is the order of each guest's answer.
	byScan := func(_ context.Context, guest gocql.UUID) ([]storedReservation, error) { return expected[guest], nil }
	first, err := c.compare(ctx, "guests compared with the scan", guests,
		sides{expected: byScan, direct: prepared(c.direct), through: prepared(c.through)})
	if err != nil {
		return err
	}
	few := c
	few.concurrency = min(c.concurrency, scansAtOnce)
	second, err := few.compare(ctx, "guests compared by the literal statement", guests[:min(len(guests), literalKeys)],
		sides{expected: literal(c.direct), direct: literal(c.direct), through: prepared(c.through)})
	if err != nil {
		return err
	}
	fmt.Fprintf(c.out, "%d guests (%d rows) against the scan: %d differences; %d guests (%d rows) by the literal statement, row by row: %d differences; %d asked twice\n",
		first.keys, first.rows, first.differences, second.keys, second.rows, second.differences, first.again+second.again)
	if n := first.differences + second.differences; n > 0 {
		return fmt.Errorf("%d answers differ", n)
	}
	return nil
}

// literalText is the statement with the guest written into it.
func literalText(guest gocql.UUID) string {
	return fmt.Sprintf("SELECT room_id, start_date, reservation_id, end_date, status FROM reservations WHERE guest_id = %s ALLOW FILTERING", guest)
}

// scan reads the whole table page by page and groups it by guest, in the order in which it came.
func (c checker) scan(ctx context.Context) (byGuest map[gocql.UUID][]storedReservation, rows int, err error) {
	byGuest = map[gocql.UUID][]storedReservation{}
	scanner := c.direct.Query(selectAllReservations.text).WithContext(ctx).Iter().Scanner()
	for scanner.Next() {
		var guest *gocql.UUID // null in a row that was changed after it was cancelled
		var stay storedReservation
		if err := scanner.Scan(&guest, &stay.room, &stay.start, &stay.id, &stay.end, &stay.status); err != nil {
			return nil, rows, errors.Join(err, scanner.Err())
		}
		rows++
		if guest != nil {
			byGuest[*guest] = append(byGuest[*guest], stay)
		}
	}
	return byGuest, rows, scanner.Err()
}

// reservationsOf runs one of the forms of the filtering statement.
func reservationsOf(ctx context.Context, session *gocql.Session, text string, values ...any) ([]storedReservation, error) {
	var all []storedReservation
	scanner := session.Query(text, values...).WithContext(ctx).Iter().Scanner()
	for scanner.Next() {
		var stay storedReservation
		if err := scanner.Scan(&stay.room, &stay.start, &stay.id, &stay.end, &stay.status); err != nil {
			return nil, errors.Join(err, scanner.Err())
		}
		all = append(all, stay)
	}
	return all, scanner.Err()
}

// outcome counts a comparison.
type outcome struct{ keys, rows, again, differences int }

// ask returns the reservations of a guest.
type ask func(context.Context, gocql.UUID) ([]storedReservation, error)

// sides are the two sides of a comparison. What is expected may be out of date by a moment; direct is not.
type sides struct{ expected, direct, through ask }

// compare asks both sides for every guest. Answers that differ are asked for once more, a little later, and then of
// Cassandra directly.
func (c checker) compare(ctx context.Context, what string, guests []gocql.UUID, s sides) (outcome, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var next, done, rows atomic.Int64
	var mu sync.Mutex
	var suspects []gocql.UUID
	var wait sync.WaitGroup
	for range c.concurrency {
		wait.Go(func() {
			for ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= len(guests) {
					return
				}
				text, n, err := differ(ctx, guests[i], s.expected, s.through)
				if err != nil {
					cancel(err)
					return
				}
				if text != "" {
					mu.Lock()
					suspects = append(suspects, guests[i])
					mu.Unlock()
				}
				rows.Add(int64(n))
				done.Add(1)
			}
		})
	}
	stop := showProgress(c.out, what, len(guests), func() int { return int(done.Load()) })
	wait.Wait()
	stop()
	if err := context.Cause(ctx); err != nil {
		return outcome{}, err
	}
	result := outcome{keys: len(guests), rows: int(rows.Load()), again: len(suspects)}
	if len(suspects) == 0 {
		return result, nil
	}
	select {
	case <-ctx.Done():
		return result, context.Cause(ctx)
	case <-time.After(c.patience):
	}
	for _, guest := range suspects {
		text, _, err := differ(ctx, guest, s.direct, s.through)
		if err != nil {
			return result, err
		}
		if text != "" {
			result.differences++
			fmt.Fprintf(c.out, "guest %s: %s\n", guest, text)
		}
	}
	return result, nil
}

// differ asks both sides for one guest, and returns how the answers differ with the number of rows.
func differ(ctx context.Context, guest gocql.UUID, direct, through ask) (string, int, error) {
	want, err := direct(ctx, guest)
	for again := 0; err != nil && again < 3 && ctx.Err() == nil; again++ { // Cassandra fails a scan now and then on a machine that is busy: that is no difference
		want, err = direct(ctx, guest)
	}
	if err != nil {
		return "", 0, fmt.Errorf("asking directly for guest %s: %w", guest, err)
	}
	got, err := through(ctx, guest)
	if err != nil {
		return "", 0, fmt.Errorf("asking through the second address for guest %s: %w", guest, err)
	}
	return difference(want, got), len(want), nil
}
