package main

import (
	"crypto/sha256"
	"encoding/binary"
	"flag"
	"fmt"
	"strconv"
	"time"

	"github.com/gocql/gocql"
)

// days is the length of the season: every reservation starts in it. With the default sizes about one room in three
// has an arrival on any of its days.
const days = 60

// season is the first day. It is fixed, so that the data are the same on every day of the year.
var season = time.Date(2027, time.May, 1, 0, 0, 0, 0, time.UTC)

// dataset names everything that there is, by number from 0. It holds no data: each row is computed from its number, so
// that any program can name key i without asking the database.
type dataset struct {
	seed                                 uint64
	cities, hotels, rooms, guests, stays int // stays: reservations; rooms: of all hotels together
}

// sizeFlags defines the flags that describe the data, and returns the function that reads them after parsing.
func sizeFlags(flags *flag.FlagSet, seedFlag string) func() (dataset, error) {
	seed := flags.Uint64(seedFlag, 1, "seed of the data")
	cities := flags.Int("cities", 40, "number of cities")
	hotels := flags.Int("hotels", 400, "number of hotels")
	rooms := flags.Int("rooms", 20, "number of rooms of each hotel")
	guests := flags.Int("guests", 50_000, "number of guests")
	stays := flags.Int("reservations", 200_000, "number of reservations")
	return func() (dataset, error) {
		for _, size := range []struct {
			name  string
			value int
		}{{"cities", *cities}, {"hotels", *hotels}, {"rooms", *rooms}, {"guests", *guests}, {"reservations", *stays}} {
			if size.value < 1 {
				return dataset{}, usageError(fmt.Sprintf("-%s is %d; at least 1 is needed", size.name, size.value))
			}
		}
		return dataset{seed: *seed, cities: *cities, hotels: *hotels, rooms: *hotels * *rooms, guests: *guests, stays: *stays}, nil
	}
}

// id returns the identifier of thing number n of its kind. It does not depend on the seed.
func id(kind string, n int) gocql.UUID {
	sum := sha256.Sum256([]byte(kind + "/" + strconv.Itoa(n)))
	sum[6] = sum[6]&0x0f | 0x40 // a version 4 UUID by its looks
	sum[8] = sum[8]&0x3f | 0x80
	return gocql.UUID(sum[:16])
}

// pick returns a number below n that looks random and depends on the seed, the purpose and the number i alone.
func (d dataset) pick(purpose string, i, n int) int {
	var text [16]byte
	binary.LittleEndian.PutUint64(text[:8], d.seed)
	binary.LittleEndian.PutUint64(text[8:], uint64(i))
	sum := sha256.Sum256(append(text[:], purpose...))
	return int(binary.LittleEndian.Uint64(sum[:8]) % uint64(n))
}

// reservation is one row of the table of that name, by numbers.
type reservation struct {
	number, room, guest int
	start, end          time.Time
}

// reservation returns reservation number i.
func (d dataset) reservation(i int) reservation {
	start := day(d.pick("start", i, days))
	return reservation{
		number: i,
		room:   d.pick("room", i, d.rooms),
		guest:  d.pick("guest", i, d.guests),
		start:  start,
		end:    start.AddDate(0, 0, 1+d.pick("nights", i, 7)),
	}
}

// day returns day number n of the season.
func day(n int) time.Time { return season.AddDate(0, 0, n) }

// Hotels are spread evenly over the cities, rooms over the hotels.
func (d dataset) cityOf(hotel int) int { return hotel % d.cities }
func (d dataset) roomsOfHotel() int    { return d.rooms / d.hotels }
func (d dataset) guestName(i int) string {
	return givenNames[d.pick("given", i, len(givenNames))] + " " + familyNames[d.pick("family", i, len(familyNames))]
}

func cityName(i int) string             { return fmt.Sprintf("City %03d", i) }
func guestEmail(i int) string           { return fmt.Sprintf("guest%d@example.org", i) }
func phone(i int) string                { return fmt.Sprintf("+00 555 %07d", i) }
func roomNumber(i int) string           { return fmt.Sprintf("%d%02d", 1+i/10, i%10) }
func hotelName(i int) string            { return fmt.Sprintf("Hotel %s %d", familyNames[i%len(familyNames)], i) }
func (d dataset) rate(room int) float64 { return 49 + 10*float64(d.pick("rate", room, 30)) }

var (
	givenNames  = []string{"Ada", "Alan", "Barbara", "Donald", "Edsger", "Frances", "Grace", "Jim", "Katherine", "Leslie", "Margaret", "Niklaus", "Radia", "Tony"}
	familyNames = []string{"Allen", "Codd", "Dijkstra", "Gray", "Hamilton", "Hoare", "Hopper", "Johnson", "Knuth", "Lamport", "Liskov", "Lovelace", "Perlman", "Turing", "Wirth"}
)
