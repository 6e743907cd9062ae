package main

import (
	"context"
	"flag"
	"fmt"
	"regexp"

	"github.com/gocql/gocql"
)

// statement is a CQL statement of the application, under the name that reports use.
type statement struct{ name, text string }

// keyspaceForm is what a keyspace may be called here: a name that needs no quotes.
var keyspaceForm = regexp.MustCompile(`^[a-z][a-z0-9_]{0,47}$`)

// keyspaceFlag defines the flag that names the keyspace, and returns the function that reads it after parsing.
func keyspaceFlag(flags *flag.FlagSet) func() (string, error) {
	name := flags.String("keyspace", "hotel", "keyspace of the application")
	return func() (string, error) {
		if !keyspaceForm.MatchString(*name) {
			return "", usageError(fmt.Sprintf("-keyspace %q is no name of small letters, digits and underscores", *name))
		}
		return *name, nil
	}
}

// ddl returns what creates the keyspace and its tables, in order.
func ddl(keyspace string, replication int) []string {
	return []string{
		fmt.Sprintf("CREATE KEYSPACE IF NOT EXISTS %s WITH replication = {'class': 'SimpleStrategy', 'replication_factor': %d}", keyspace, replication),
		"CREATE TABLE IF NOT EXISTS " + keyspace + `.hotels (
			hotel_id uuid PRIMARY KEY, name text, city text, address text, phone text)`,
		"CREATE INDEX IF NOT EXISTS hotels_by_city ON " + keyspace + ".hotels (city)",
		"CREATE TABLE IF NOT EXISTS " + keyspace + `.rooms (
			hotel_id uuid, room_id uuid, number text, rate double, floor int, PRIMARY KEY ((hotel_id), room_id))`,
		"CREATE TABLE IF NOT EXISTS " + keyspace + `.guests (
			guest_id uuid PRIMARY KEY, name text, email text, phone text)`,
		"CREATE TABLE IF NOT EXISTS " + keyspace + `.reservations (
			room_id uuid, start_date date, reservation_id uuid, end_date date, guest_id uuid, status text,
			PRIMARY KEY ((room_id), start_date, reservation_id))`,
	}
}

// createSchema makes what is missing of the keyspace.
func createSchema(ctx context.Context, session *gocql.Session, keyspace string, replication int) error {
	for _, text := range ddl(keyspace, replication) {
		if err := session.Query(text).WithContext(ctx).Exec(); err != nil {
			return fmt.Errorf("creating the schema: %w (statement: %s)", err, text)
		}
	}
	return session.AwaitSchemaAgreement(ctx)
}

// The statements, all prepared by the driver. Tables are not qualified: the session uses the keyspace.
var (
	insertHotel       = statement{"insert-hotel", "INSERT INTO hotels (hotel_id, name, city, address, phone) VALUES (?, ?, ?, ?, ?)"}
	insertRoom        = statement{"insert-room", "INSERT INTO rooms (hotel_id, room_id, number, rate, floor) VALUES (?, ?, ?, ?, ?)"}
	insertGuest       = statement{"insert-guest", "INSERT INTO guests (guest_id, name, email, phone) VALUES (?, ?, ?, ?)"}
	insertReservation = statement{"insert-reservation", "INSERT INTO reservations (room_id, start_date, reservation_id, end_date, guest_id, status) VALUES (?, ?, ?, ?, ?, ?)"}

	selectGuestReservations = statement{"guest-reservations", "SELECT room_id, start_date, reservation_id, end_date, status FROM reservations WHERE guest_id = ? ALLOW FILTERING"}
	selectHotelsOfCity      = statement{"hotels-of-city", "SELECT hotel_id, name, address, phone FROM hotels WHERE city = ?"}
	selectRooms             = statement{"rooms-of-hotel", "SELECT room_id, number FROM rooms WHERE hotel_id = ?"}
	selectArrivals          = statement{"arrivals-of-room", "SELECT reservation_id, guest_id, end_date FROM reservations WHERE room_id = ? AND start_date = ?"}
	selectArrivingGuest     = statement{"arriving-guest", "SELECT name, email FROM guests WHERE guest_id = ?"}
	selectGuest             = statement{"guest-by-id", "SELECT name, email, phone FROM guests WHERE guest_id = ?"}
	selectAvailability      = statement{"room-availability", "SELECT start_date, end_date, status FROM reservations WHERE room_id = ? AND start_date >= ? AND start_date < ?"}
	deleteReservation       = statement{"delete-reservation", "DELETE FROM reservations WHERE room_id = ? AND start_date = ? AND reservation_id = ?"}
	updateReservationGuest  = statement{"update-reservation-guest", "UPDATE reservations SET guest_id = ? WHERE room_id = ? AND start_date = ? AND reservation_id = ?"}
	updateReservationEnd    = statement{"update-reservation-end", "UPDATE reservations SET end_date = ? WHERE room_id = ? AND start_date = ? AND reservation_id = ?"}
	updateGuest             = statement{"update-guest", "UPDATE guests SET email = ?, phone = ? WHERE guest_id = ?"}
	selectAllReservations   = statement{"all-reservations", "SELECT guest_id, room_id, start_date, reservation_id, end_date, status FROM reservations"}
)
