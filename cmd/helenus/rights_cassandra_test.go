package main

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gocql/gocql"

	"github.com/helenus-db/helenus/internal/cassandra"
	"github.com/helenus-db/helenus/internal/cassandra/cassandratest"
	"github.com/helenus-db/helenus/internal/long"
	"github.com/helenus-db/helenus/rewrite/migrate"
)

// rights are what a role has by the grants, roles and masks that an administrator made: the role app, which may be of the role family, which may be of clan.
type rights struct {
	app, family, clan map[string]bool // permissions on a resource, as they follow GRANT
	inFamily, inClan  bool            // app is of family, family of clan
	masked            map[string]bool // columns of the base
	noLogin           bool
}

const (
	selectTable, selectKeyspace, selectAll = "SELECT ON hotel.stays", "SELECT ON KEYSPACE hotel", "SELECT ON ALL KEYSPACES"
	unmask, unmaskAll, selectMasked        = "UNMASK ON hotel.stays", "UNMASK ON ALL KEYSPACES", "SELECT_MASKED ON hotel.stays"
)

// has tells whether app has one of the permissions, by itself or by a role that it is of.
func (r *rights) has(permissions ...string) bool {
	return slices.ContainsFunc(permissions, func(p string) bool { return r.app[p] || r.inFamily && (r.family[p] || r.inClan && r.clan[p]) })
}

func (r *rights) unmasks() bool { return r.has(unmask, unmaskAll) }

func (r *rights) selects() bool { return r.has(selectTable, selectKeyspace, selectAll) }

// asks tells whether app may ask by masked columns.
func (r *rights) asks() bool { return r.unmasks() || r.has(selectMasked) }

// reads tells whether app may ask for stays by guest.
func (r *rights) reads() bool { return r.selects() && (!r.masked["guest"] || r.asks()) }

// deed is what an administrator may do: CQL, and what that makes of the rights.
type deed struct {
	cql  []string
	done func()
}

// deeds are those that make sense now; some stand there several times, to be taken more often.
func (r *rights) deeds() (out []deed) {
	granted := func(role string, have map[string]bool, permissions ...string) {
		for _, p := range permissions {
			if have[p] {
				out = append(out, deed{[]string{"REVOKE " + p + " FROM " + role}, func() { delete(have, p) }})
			} else {
				out = append(out, deed{[]string{"GRANT " + p + " TO " + role}, func() { have[p] = true }})
			}
		}
	}
	member := func(of, role string, is *bool) {
		if *is {
			out = append(out, deed{[]string{"REVOKE " + of + " FROM " + role}, func() { *is = false }})
		} else {
			out = append(out, deed{[]string{"GRANT " + of + " TO " + role}, func() { *is = true }})
		}
	}
	if !r.selects() { // mostly it has the right
		for range 3 {
			granted("app", r.app, selectTable)
			granted("family", r.family, selectAll)
			member("family", "app", &r.inFamily)
		}
	}
	granted("app", r.app, selectTable, selectKeyspace, "MODIFY ON hotel.stays", unmask, selectMasked)
	granted("family", r.family, selectAll, selectKeyspace, unmaskAll)
	granted("clan", r.clan, selectTable, selectTable, unmask)
	member("family", "app", &r.inFamily)
	member("clan", "family", &r.inClan)
	// A role that goes takes with it what was granted to it, and that others are of it.
	out = append(out, deed{[]string{"DROP ROLE clan", "CREATE ROLE clan"}, func() { clear(r.clan); r.inClan = false }},
		deed{[]string{"DROP ROLE family", "CREATE ROLE family"}, func() { clear(r.family); r.inFamily, r.inClan = false, false }},
		deed{[]string{"DROP ROLE app", "CREATE ROLE app WITH PASSWORD = 'p' AND LOGIN = true"}, func() { clear(r.app); r.inFamily, r.noLogin = false, false }},
		deed{[]string{fmt.Sprint("ALTER ROLE app WITH LOGIN = ", r.noLogin)}, func() { r.noLogin = !r.noLogin }})
	for _, column := range []string{"card", "status", "guest"} {
		if r.masked[column] {
			for range 3 { // so that it is served again
				out = append(out, deed{[]string{"ALTER TABLE hotel.stays ALTER " + column + " DROP MASKED"}, func() { delete(r.masked, column) }})
			}
		} else {
			out = append(out, deed{[]string{"ALTER TABLE hotel.stays ALTER " + column + " MASKED WITH DEFAULT"}, func() { r.masked[column] = true }})
		}
	}
	return out
}

// lost is since when something is so no more that was.
type lost struct {
	was   bool
	since time.Time
}

// now notes how it is, and within tells whether it is, or was until so long ago.
func (l *lost) now(is bool) {
	if l.was && !is {
		l.since = time.Now()
	}
	l.was = is
}

func (l *lost) within(began time.Time, grace time.Duration) bool {
	return l.was || began.Sub(l.since) < grace
}

// clears are what the columns' values begin with in the clear, in an answer as text.
var clears = map[string]string{"card": "card:4711", "guest": "guest:guest", "status": "status:booked status:paid status:gone"}

// tells is the first masked column that an answer has in the clear; "" if none.
func tells(answer string, masked map[string]bool) string {
	for column := range masked {
		for value := range strings.FieldsSeq(clears[column]) {
			if strings.Contains(answer, value) {
				return column
			}
		}
	}
	return ""
}

// opening is what the administrator does first, whatever the seed, so that reads are refused, run as written and are served before all else is done at random.
var opening = []string{"GRANT MODIFY ON hotel.stays TO app", "GRANT SELECT ON hotel.stays TO app", "GRANT SELECT ON ALL KEYSPACES TO family", "GRANT family TO app"}

// next is the deed of the opening, and one at random once that is over.
func (r *rights) next(steps int, random *rand.Rand) deed {
	list := r.deeds()
	if steps < len(opening) {
		return list[slices.IndexFunc(list, func(d deed) bool { return d.cql[0] == opening[steps] })]
	}
	return list[random.IntN(len(list))]
}

// TestCassandraRights: whatever an administrator does to grants, to roles that others are of, and to masks while reads are served, no role is told a row, that there is none, or a
// value that is masked for it, but for as long as Cassandra itself remembers that it might; and whoever may, is told what Cassandra tells him.
func TestCassandraRights(t *testing.T) {
	const validity = 300 * time.Millisecond
	const grace = 2*validity + 700*time.Millisecond // Cassandra takes a role's rights for validity, and may take longer to load them anew
	c := newChain(t, withPasswords(t, validity), cassandra.FirstUser, "helenus", validity)
	front := c.server.Addrs()[0]
	for _, text := range []string{"CREATE ROLE clan", "CREATE ROLE family", "CREATE ROLE app WITH PASSWORD = 'p' AND LOGIN = true"} {
		must(t, c.root, text)
	}
	seed := uint64(time.Now().UnixNano())
	if text := os.Getenv("HELENUS_TEST_SEED"); text != "" {
		seed, _ = strconv.ParseUint(text, 10, 64)
	}
	random := rand.New(rand.NewPCG(seed, 2)) //nolint:gosec // a test
	through, direct := as(t, front, "app"), as(t, c.point, "app")
	r := &rights{app: map[string]bool{}, family: map[string]bool{}, clan: map[string]bool{}, masked: map[string]bool{}}
	var selects, asks, unmasks, everything lost
	var told, masks, refused, within, compared, steps int
	rounds := 40
	if long.Tests() {
		rounds = 200
	}
	var last []string
	fail := func(format string, args ...any) {
		t.Helper()
		t.Fatalf("seed %d, after %q: %s; %+v", seed, last, fmt.Sprintf(format, args...), *r)
	}
	for range rounds {
		s := r.next(steps, random)
		for _, text := range s.cql {
			must(t, c.root, text)
		}
		s.done()
		steps++
		last = append(last[max(0, len(last)-9):], s.cql...)
		selects.now(r.selects())
		asks.now(r.asks())
		unmasks.now(r.unmasks())
		everything.now(r.has(selectAll))
		masksAlter := strings.HasPrefix(s.cql[0], "ALTER TABLE")
		// Our own table is read by nobody who was not given the right on all keyspaces, whatever he may do in the application's.
		for _, s := range []*gocql.Session{through, direct} {
			began := time.Now()
			if got := outcome(s, entries); !everything.within(began, grace) && !strings.HasPrefix(got, "0x2100") {
				fail("our table says %s", got)
			}
		}
		late := random.IntN(2) == 0 // helenus hears of it when it was asked already
		if masksAlter && !late {
			c.read()
		}
		read := func() {
			began, text := time.Now(), staysTexts[random.IntN(2)]
			got := outcome(through, text, fmt.Sprint("guest", random.IntN(75)))
			switch unauthorized := strings.HasPrefix(got, "0x2100"); {
			case unauthorized:
				refused++
			case !strings.HasPrefix(got, "["):
				fail("%s", got)
			case !selects.within(began, grace):
				fail("%v after the right was lost it was told %s", began.Sub(selects.since), got)
			case r.masked["guest"] && !asks.within(began, grace): // masks are in force at once
				fail("%v after SELECT_MASKED was lost it was told by a masked column %s", began.Sub(asks.since), got)
			case !unmasks.within(began, grace) && tells(got, r.masked) != "":
				fail("%v after UNMASK was lost it was told the column %s: %s", began.Sub(unmasks.since), tells(got, r.masked), got)
			case !r.reads():
				within++
			case strings.Contains(got, "****"):
				masks++
			default:
				told++
			}
		}
		for until := time.Now().Add(time.Duration(random.IntN(900)) * time.Millisecond); time.Now().Before(until); {
			read()
		}
		if steps <= len(opening) {
			await(t, "reads are refused, then run as written, then served", func() bool {
				read()
				return refused > 0 && (steps == 1 || told > 0) && (steps < len(opening) || c.served() > 0)
			})
		}
		if masksAlter {
			c.read()
			c.unmaskOurs(r.masked["guest"])
		}
		if strings.Contains(s.cql[0], "LOGIN") {
			time.Sleep(grace) // Cassandra takes what it knows of roles for validity, too
			if got, want := login(t, front, "app"), login(t, c.point, "app"); (got == "") != (want == "") || (got == "") != !r.noLogin {
				fail("to log in says %q through helenus, %q directly", got, want)
			}
		}
		if random.IntN(3) == 0 {
			time.Sleep(grace)
			for _, text := range staysTexts[:2] {
				guest := fmt.Sprint("guest", random.IntN(75))
				compared++
				if got, want := outcome(through, text, guest), outcome(direct, text, guest); got != want {
					fail("%s for %s is %s through helenus, %s directly", text, guest, got, want)
				} else if strings.HasPrefix(got, "[") != r.reads() {
					fail("Cassandra says %s", got)
				}
			}
			if got := outcome(through, entries); r.masked["guest"] && !r.has(unmaskAll) && strings.Contains(got, "guest:guest") {
				fail("our table tells who may not unmask %s", got)
			}
		}
	}
	t.Logf("%d steps: told in the clear %d times and with masks %d times (%g served), %d within Cassandra's own memory, refused %d times; %d answers compared with direct ones", steps, told, masks,
		c.served(), within, refused, compared)
}

// unmaskOurs does what an administrator does to have a look-up served again whose column was masked, and is no more: what its refusal says. While it is masked, it waits until helenus has
// masked it in its table, too.
func (c *chain) unmaskOurs(masked bool) {
	c.t.Helper()
	if masked {
		await(c.t, "the column is masked in our table, too", func() bool {
			c.read()
			return c.schema.Load().Table(hotelData, "helenus_stays_by_guest").Column("guest").Masked
		})
	}
	if masked || c.engine.Migrations()[0].State != migrate.Suspended {
		return
	}
	err := c.engine.Resume(c.t.Context(), "guests", "ann")
	if err == nil {
		c.t.Fatal("it serves again from a table in which the column is masked")
	}
	_, says, _ := strings.Cut(err.Error(), "; ALTER TABLE ")
	text, _, _ := strings.Cut(says, " sets it back")
	must(c.t, c.root, "ALTER TABLE "+text)
	c.read()
	if err = c.engine.Resume(c.t.Context(), "guests", "ann"); err != nil {
		c.t.Fatal(err)
	}
	c.await(migrate.Serving)
}

// login logs in as a role, and returns what is said against it.
func login(t *testing.T, at, role string) string {
	t.Helper()
	cfg := cassandratest.Config(t, at)
	cfg.NumConns, cfg.Logger = 1, quiet{}
	cfg.Authenticator = gocql.PasswordAuthenticator{Username: role, Password: "p"}
	s, err := cfg.CreateSession()
	if err != nil {
		return err.Error()
	}
	s.Close()
	return ""
}

// TestRightsModel: what the test above takes for a role's rights follows the grants.
func TestRightsModel(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1)) //nolint:gosec // a test
	seen := map[string]bool{}
	r := &rights{app: map[string]bool{}, family: map[string]bool{}, clan: map[string]bool{}, masked: map[string]bool{}}
	for range 2000 {
		list := r.deeds()
		list[random.IntN(len(list))].done()
		seen[fmt.Sprint(r.reads(), r.unmasks(), len(r.masked) > 0)] = true
	}
	if len(seen) != 8 {
		t.Errorf("seen only %v", slices.Sorted(maps.Keys(seen)))
	}
	r = &rights{inFamily: true, inClan: true, clan: map[string]bool{selectTable: true}, masked: map[string]bool{"guest": true}}
	if r.reads() || r.unmasks() {
		t.Error("a masked column is asked by")
	}
	if r.family = map[string]bool{unmaskAll: true}; !r.reads() {
		t.Error("who may unmask may ask by a masked column")
	}
	if r.inFamily = false; r.reads() {
		t.Error("the role is of no other any more")
	}
}
