package main

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/gocql/gocql"
)

// client is the application's data access: a session, and the clock that every statement is measured by.
type client struct {
	session    *gocql.Session
	data       dataset
	statements *tally
}

// call is one operation: its own random numbers, and a number that no other operation of the run has.
type call struct {
	*client
	ctx    context.Context
	random *rand.Rand
	seed   uint64
	number int
}

// operation is something that a guest or a receptionist does.
type operation struct {
	name   string
	weight int // of all operations, in thousandths
	writes bool
	do     func(call) error
}

// operations is the traffic. The weights add up to 1000.
//
// Nobody asks whether a reservation is still there before it is moved or extended. After a cancellation that leaves a
// row with nothing but a guest or an end date, as it does in many an application that updates without a condition.
var operations = []operation{
	{"guest-reservations", 25, false, call.guestReservations},
	{"hotels-of-city", 150, false, call.hotelsOfCity},
	{"arrivals", 60, false, call.arrivals},
	{"guest-by-id", 250, false, call.guestByID},
	{"room-availability", 200, false, call.roomAvailability},
	{"book", 100, true, call.book},
	{"cancel", 40, true, call.cancel},
	{"move-booking", 40, true, call.moveBooking},
	{"extend", 60, true, call.extend},
	{"guest-change", 75, true, call.guestChange},
}

// query runs a read to its end, hands each row to the function, and measures the whole.
func (c call) query(s statement, row func(gocql.Scanner) error, values ...any) error {
	begin := time.Now()
	rows := c.session.Query(s.text, values...).WithContext(c.ctx).Iter().Scanner()
	var err error
	for err == nil && rows.Next() {
		err = row(rows)
	}
	err = errors.Join(err, rows.Err())
	c.statements.add(s.name, s.text, time.Since(begin), err)
	return err
}

// write runs a statement without a result and measures it.
func (c call) write(s statement, values ...any) error {
	begin := time.Now()
	err := c.session.Query(s.text, values...).WithContext(c.ctx).Exec()
	c.statements.add(s.name, s.text, time.Since(begin), err)
	return err
}

// Random keys that exist.
func (c call) guest() gocql.UUID        { return id("guest", c.random.IntN(c.data.guests)) }
func (c call) room() gocql.UUID         { return id("room", c.random.IntN(c.data.rooms)) }
func (c call) city() string             { return cityName(c.random.IntN(c.data.cities)) }
func (c call) date() time.Time          { return day(c.random.IntN(days)) }
func (c call) reservation() reservation { return c.data.reservation(c.random.IntN(c.data.stays)) }
func (r reservation) key() []any {
	return []any{id("room", r.room), r.start, id("reservation", r.number)}
}

func (c call) guestReservations() error {
	return c.query(selectGuestReservations, func(rows gocql.Scanner) error {
		var stay storedReservation
		return rows.Scan(&stay.room, &stay.start, &stay.id, &stay.end, &stay.status)
	}, c.guest())
}

func (c call) hotelsOfCity() error {
	_, err := c.hotelsOf(c.city())
	return err
}

func (c call) hotelsOf(city string) ([]gocql.UUID, error) {
	var hotels []gocql.UUID
	err := c.query(selectHotelsOfCity, func(rows gocql.Scanner) error {
		var hotel gocql.UUID
		var name, address, phone string
		if err := rows.Scan(&hotel, &name, &address, &phone); err != nil {
			return err
		}
		hotels = append(hotels, hotel)
		return nil
	}, city)
	return hotels, err
}

// shownHotels is how many hotels of a city fit on the receptionist's screen.
const shownHotels = 2

// arrivals lists who arrives today at the first hotels of a city: one query finds the hotels, one per hotel its rooms,
// one per room the reservations, and one per reservation the guest. The queries of all rooms run at once.
func (c call) arrivals() error {
	today := c.date()
	hotels, err := c.hotelsOf(c.city())
	if err != nil {
		return err
	}
	for _, hotel := range hotels[:min(len(hotels), shownHotels)] {
		var rooms []gocql.UUID
		if err := c.query(selectRooms, func(rows gocql.Scanner) error {
			var room gocql.UUID
			var number string
			if err := rows.Scan(&room, &number); err != nil {
				return err
			}
			rooms = append(rooms, room)
			return nil
		}, hotel); err != nil {
			return err
		}
		failures := make([]error, len(rooms))
		var wait sync.WaitGroup
		for i, room := range rooms {
			wait.Go(func() { failures[i] = c.arrivalsOfRoom(room, today) })
		}
		wait.Wait()
		if err := errors.Join(failures...); err != nil {
			return err
		}
	}
	return nil
}

func (c call) arrivalsOfRoom(room gocql.UUID, today time.Time) error {
	var guests []gocql.UUID
	if err := c.query(selectArrivals, func(rows gocql.Scanner) error {
		var reservation, guest gocql.UUID
		var end time.Time
		if err := rows.Scan(&reservation, &guest, &end); err != nil {
			return err
		}
		guests = append(guests, guest)
		return nil
	}, room, today); err != nil {
		return err
	}
	for _, guest := range guests {
		if err := c.query(selectArrivingGuest, func(rows gocql.Scanner) error {
			var name, email string
			return rows.Scan(&name, &email)
		}, guest); err != nil {
			return err
		}
	}
	return nil
}

func (c call) guestByID() error {
	return c.query(selectGuest, func(rows gocql.Scanner) error {
		var name, email, phone string
		return rows.Scan(&name, &email, &phone)
	}, c.guest())
}

func (c call) roomAvailability() error {
	from := c.date()
	return c.query(selectAvailability, func(rows gocql.Scanner) error {
		var start, end time.Time
		var status string
		return rows.Scan(&start, &end, &status)
	}, c.room(), from, from.AddDate(0, 0, 14))
}

func (c call) book() error {
	start := c.date()
	booking := id("booking", int(c.seed%1_000_000)*1_000_000_000+c.number)
	return c.write(insertReservation, c.room(), start, booking, start.AddDate(0, 0, 1+c.random.IntN(7)), c.guest(), "booked")
}

func (c call) cancel() error {
	return c.write(deleteReservation, c.reservation().key()...)
}

func (c call) moveBooking() error {
	return c.write(updateReservationGuest, append([]any{c.guest()}, c.reservation().key()...)...)
}

func (c call) extend() error {
	r := c.reservation()
	return c.write(updateReservationEnd, append([]any{r.end.AddDate(0, 0, 1+c.random.IntN(3))}, r.key()...)...)
}

func (c call) guestChange() error {
	n := c.random.IntN(c.data.guests)
	return c.write(updateGuest, guestEmail(n+c.number), phone(n+c.number), id("guest", n))
}
