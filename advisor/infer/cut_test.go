package infer_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/helenus-db/helenus/advisor/infer"
	"github.com/helenus-db/helenus/advisor/infer/infertest"
	"github.com/helenus-db/helenus/capture/schema"
)

// What a partition is cut by is no part of a key that says when: rows of several devices with one time have one day, whatever it is called; and a column that is called, or typed, as a
// piece of time is one. If rows with one time are in several pieces, or it is called otherwise, it may be what tells rows apart.
func TestPiecesOfTime(t *testing.T) {
	for _, c := range []struct {
		name, column string
		at           func(device, n int) int // the time, as a number
		piece        func(device, at int) int
		want         string
	}{
		{"the same times of all devices", "c2 int", func(_, n int) int { return n }, func(_, at int) int { return at / 7 }, "c1 at"},
		{"pieces of their own", "c2 int", func(_, n int) int { return n }, func(device, at int) int { return (at + device) / 7 }, "c1 c2 at"},
		{"times of their own, called a day", "day int", func(device, n int) int { return device + 1000*n }, func(_, at int) int { return at / 7000 }, "c1 at"},
		{"times of their own, typed a date", "c2 date", func(device, n int) int { return device + 1000*n }, func(_, at int) int { return at / 7000 }, "c1 at"},
		{"times of their own, called otherwise", "metric int", func(device, n int) int { return device + 1000*n }, func(_, at int) int { return at % 7 }, "c1 metric at"},
		{"called a day, though it is none", "day int", func(_, n int) int { return n }, func(device, at int) int { return (at + device) % 7 }, "c1 day at"},
	} {
		name, _, _ := strings.Cut(c.column, " ")
		rows := &infertest.Rows{Keyspace: "ks"}
		for device := range 20 {
			for n := range 40 {
				at := c.at(device, n)
				rows.Add("readings", "c1", fmt.Sprint("device ", device), name, fmt.Sprint("piece ", c.piece(device, at)), "at", fmt.Sprint("at ", at))
			}
		}
		snapshot := (&infertest.Traffic{Keyspace: "ks", Seconds: 10}).Snapshot()
		snapshot.Profiles = rows.Document()
		m, err := infer.Infer(snapshot, single("ks", infertest.Table("ks", "readings", "c1 uuid, "+c.column, "at timestamp", "level int")),
			[]schema.Stats{infertest.Measured("ks", "readings", 800, 120, "c1 20 16", name+" 7 4", "at 800 8", "level 90 4")})
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(m.Entities[0].Key, " "); got != c.want {
			t.Errorf("%s: key %s, want %s", c.name, got, c.want)
		}
	}
}

// Forecasts of each day are issued together, four times a day: what a day is called says nothing of when they were, so it is a part of the key, whether rows say so, or sizes, or nobody knows.
func TestDaysOfOtherTimes(t *testing.T) {
	for _, c := range []struct {
		name, at  string
		seen      bool
		different int // times
		want      string
	}{
		{"rows", "issued timestamp", true, 800, "station day issued"},
		{"sizes", "issued timestamp", false, 20, "station day issued"},
		{"nothing", "issued timestamp", false, 800, "station day issued"},
		{"a time that is told apart from others", "issued timeuuid", false, 800, "station issued"},
	} {
		snapshot := (&infertest.Traffic{Keyspace: "ks", Seconds: 10}).Snapshot()
		if c.seen {
			rows := &infertest.Rows{Keyspace: "ks"}
			for n := range 400 {
				rows.Add("forecasts", "station", fmt.Sprint("station ", n%40), "day", fmt.Sprint("day ", n%10), "issued", fmt.Sprint("at ", n/10))
			}
			snapshot.Profiles = rows.Document()
		}
		name, _, _ := strings.Cut(c.at, " ")
		m, err := infer.Infer(snapshot, single("ks", infertest.Table("ks", "forecasts", "station uuid, day date", c.at, "level int")),
			[]schema.Stats{infertest.Measured("ks", "forecasts", 4000, 400, "station 40 16", "day 10 4", fmt.Sprintf("%s %d 8", name, c.different), "level 90 4")})
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(m.Entities[0].Key, " "); got != c.want {
			t.Errorf("%s: key %s, want %s", c.name, got, c.want)
		}
	}
}
