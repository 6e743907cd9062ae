package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gocql/gocql"
)

func loadCommand(flags *flag.FlagSet) func(context.Context, io.Writer) error {
	hosts := flags.String("hosts", "127.0.0.1:9042", "address of Cassandra, host:port")
	var access access
	access.flags(flags)
	concurrency := flags.Int("concurrency", 64, "requests in flight at once")
	replication := flags.Int("replication", 1, "replication factor of the keyspace")
	named := keyspaceFlag(flags)
	data := sizeFlags(flags, "seed")
	return func(ctx context.Context, out io.Writer) error {
		d, err := data()
		if err != nil {
			return err
		}
		keyspace, err := named()
		if err != nil {
			return err
		}
		if *concurrency < 1 || *replication < 1 {
			return usageError("-concurrency and -replication must be at least 1")
		}
		begin := time.Now()
		admin, err := access.connect(*hosts, "")
		if err != nil {
			return err
		}
		defer admin.Close()
		if err := createSchema(ctx, admin, keyspace, *replication); err != nil {
			return err
		}
		session, err := access.connect(*hosts, keyspace)
		if err != nil {
			return err
		}
		defer session.Close()
		rows := 0
		for _, table := range d.tables() {
			rows += table.rows
			if err := table.load(ctx, session, *concurrency, out); err != nil {
				return fmt.Errorf("loading %s: %w", table.name, err)
			}
		}
		fmt.Fprintf(out, "loaded %d rows in %.1f s\n", rows, time.Since(begin).Seconds())
		return nil
	}
}

// table is what to load into one table: its rows, cut into parts, each of which is one partition, or a piece of one.
type table struct {
	name   string
	insert statement
	rows   int
	parts  int
	part   func(int) [][]any // the values of each row of part i
}

// maxBatch bounds the rows of one batch, well under the size at which Cassandra warns.
const maxBatch = 40

// tables returns what to load, in order.
func (d dataset) tables() []table {
	single := func(row func(int) []any) func(int) [][]any {
		return func(i int) [][]any { return [][]any{row(i)} }
	}
	byRoom := make([][]reservation, d.rooms)
	for i := range d.stays {
		r := d.reservation(i)
		byRoom[r.room] = append(byRoom[r.room], r)
	}
	return []table{
		{"hotels", insertHotel, d.hotels, d.hotels, single(func(i int) []any {
			city := cityName(d.cityOf(i))
			return []any{id("hotel", i), hotelName(i), city, fmt.Sprintf("%d Main Street, %s", 1+i, city), phone(i)}
		})},
		{"rooms", insertRoom, d.rooms, d.hotels, func(hotel int) [][]any {
			rows := make([][]any, d.roomsOfHotel())
			for i := range rows {
				room := hotel*d.roomsOfHotel() + i
				rows[i] = []any{id("hotel", hotel), id("room", room), roomNumber(i), d.rate(room), 1 + i/10}
			}
			return rows
		}},
		{"guests", insertGuest, d.guests, d.guests, single(func(i int) []any {
			return []any{id("guest", i), d.guestName(i), guestEmail(i), phone(i)}
		})},
		{"reservations", insertReservation, d.stays, d.rooms, func(room int) [][]any {
			rows := make([][]any, len(byRoom[room]))
			for i, r := range byRoom[room] {
				rows[i] = []any{id("room", room), r.start, id("reservation", r.number), r.end, id("guest", r.guest), "booked"}
			}
			return rows
		}},
	}
}

// load writes the table with a fixed number of writers, and prints how far it is every two seconds.
func (t table) load(ctx context.Context, session *gocql.Session, concurrency int, out io.Writer) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var next, written atomic.Int64
	var wait sync.WaitGroup
	for range concurrency {
		wait.Go(func() {
			for ctx.Err() == nil {
				part := int(next.Add(1)) - 1
				if part >= t.parts {
					return
				}
				rows := t.part(part)
				if err := t.write(ctx, session, rows); err != nil {
					cancel(err)
					return
				}
				written.Add(int64(len(rows)))
			}
		})
	}
	stop := showProgress(out, t.name, t.rows, func() int { return int(written.Load()) })
	wait.Wait()
	stop()
	return context.Cause(ctx)
}

// write writes rows of one partition, several in an unlogged batch.
func (t table) write(ctx context.Context, session *gocql.Session, rows [][]any) error {
	for len(rows) > 0 {
		n := min(len(rows), maxBatch)
		batch := session.NewBatch(gocql.UnloggedBatch).WithContext(ctx)
		for _, row := range rows[:n] {
			batch.Query(t.insert.text, row...)
		}
		var err error
		if n == 1 {
			err = session.Query(t.insert.text, rows[0]...).WithContext(ctx).Exec()
		} else {
			err = session.ExecuteBatch(batch)
		}
		if err != nil {
			return err
		}
		rows = rows[n:]
	}
	return nil
}

const progressInterval = 2 * time.Second

// showProgress prints how much of a total is done, at intervals, until the returned function is called, which prints
// the end.
func showProgress(out io.Writer, what string, total int, done func() int) func() {
	begin := time.Now()
	end := make(chan struct{})
	var wait sync.WaitGroup
	wait.Go(func() {
		ticker := time.NewTicker(progressInterval)
		defer ticker.Stop()
		for {
			select {
			case <-end:
				return
			case <-ticker.C:
				fmt.Fprintln(out, progressLine(what, done(), total, time.Since(begin)))
			}
		}
	})
	return func() {
		close(end)
		wait.Wait()
		fmt.Fprintln(out, progressLine(what, done(), total, time.Since(begin)))
	}
}

// progressLine says how much is done, how fast, and when the rest will be.
func progressLine(what string, done, total int, elapsed time.Duration) string {
	line := fmt.Sprintf("%s: %d of %d (%d %%)", what, done, total, 100*done/max(total, 1))
	seconds := elapsed.Seconds()
	if done == 0 || seconds <= 0 {
		return line
	}
	rate := float64(done) / seconds
	line += fmt.Sprintf(", %.0f/s", rate)
	if done < total {
		line += fmt.Sprintf(", about %.0f s left", float64(total-done)/rate)
	}
	return line
}
