package infer_test

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/helenus-db/helenus/advisor/infer"
	"github.com/helenus-db/helenus/advisor/infer/infertest"
	"github.com/helenus-db/helenus/capture"
	"github.com/helenus-db/helenus/capture/feed"
)

// conserved checks that the weights of the conceptual statements times their uses are the executions observed, within 1 %.
// What is unexplained counts as far as it is said to be.
func conserved(t interface{ Fatalf(string, ...any) }, m *infer.Model, s *capture.Snapshot) {
	counted := map[string]float64{}
	for _, st := range m.Workload.Statements {
		if !(st.Weight > 0) || math.IsInf(st.Weight, 0) {
			t.Fatalf("%s has weight %g", st.ID, st.Weight)
		}
		for _, u := range m.UsesOf(st.ID) {
			counted[u.Fingerprint] += st.Weight * u.PerExecution * m.Seconds
		}
	}
	for _, u := range m.Unexplained {
		counted[u.Fingerprint] += float64(u.Count)
	}
	for _, st := range s.Statements {
		if diff := math.Abs(counted[st.Fingerprint] - float64(st.Count)); diff > 0.01*float64(st.Count)+0.5 {
			t.Fatalf("%s: %d executions observed, %.2f in the workload", st.Text, st.Count, counted[st.Fingerprint])
		}
	}
}

func TestHotelWeightIsConserved(t *testing.T) {
	s := infertest.Hotel().Snapshot()
	m, err := infer.Infer(s, infertest.HotelSchema(), infertest.HotelStatistics())
	if err != nil {
		t.Fatal(err)
	}
	conserved(t, m, s)
}

// Any feeds between any of the application's reads, circles and contradictions too, keep every execution in its place.
func TestWeightIsConserved(t *testing.T) {
	reads := []struct{ text, table string }{
		{infertest.HotelsOfCity, "hotels"}, {infertest.RoomsOfHotel, "rooms"}, {infertest.ArrivalsOfRoom, "reservations"},
		{infertest.ArrivingGuest, "guests"}, {infertest.GuestByID, "guests"}, {infertest.GuestReservations, "reservations"},
		{"SELECT guest_id, room_id FROM reservations WHERE guest_id = ? ALLOW FILTERING", "reservations"},
		{"SELECT hotel_id FROM hotels WHERE hotel_id = ?", "hotels"},
		{"SELECT guest_id FROM guests WHERE guest_id IN ?", "guests"},
	}
	columns := []string{"hotel_id", "room_id", "guest_id", "city", "start_date"}
	rapid.Check(t, func(t *rapid.T) {
		traffic := &infertest.Traffic{Keyspace: "hotel", Seconds: rapid.Float64Range(0.5, 1000).Draw(t, "seconds")}
		prints := make([]string, len(reads))
		for i, r := range reads {
			prints[i] = traffic.Say(r.text, uint64(rapid.IntRange(1, 5000).Draw(t, "count")), 1000, 3)
		}
		traffic.Say(infertest.Book, 17, 1000, 0)
		traffic.Say(infertest.MoveBooking, 5, 1000, 0)
		for range rapid.IntRange(0, 25).Draw(t, "feeds") {
			from, to := rapid.IntRange(0, len(reads)-1).Draw(t, "from"), rapid.IntRange(0, len(reads)-1).Draw(t, "to")
			column := rapid.SampledFrom(columns).Draw(t, "column")
			seen := rapid.IntRange(1, 4000).Draw(t, "seen")
			traffic.Feed(prints[from], reads[from].table, column, prints[to], reads[to].table, column, feed.Feed{
				Executions: seen, Hits: rapid.IntRange(0, seen).Draw(t, "hits"), Decoys: rapid.IntRange(0, seen/4).Draw(t, "decoys"),
				Producers: rapid.IntRange(0, 300).Draw(t, "producers"), Followed: rapid.Float64Range(0, 1).Draw(t, "followed"),
				PerExecution: 2, Shape: rapid.SampledFrom([]feed.Shape{feed.NPlusOne, feed.FanOut, feed.InList, feed.Single, feed.Pagination}).Draw(t, "shape"),
				Confidence: rapid.Float64Range(0.5, 1).Draw(t, "confidence"),
			})
		}
		s := traffic.Snapshot()
		m, err := infer.Infer(s, infertest.HotelSchema(), infertest.HotelStatistics())
		if err != nil {
			t.Fatalf("%v", err)
		}
		conserved(t, m, s)
		ids := map[string]bool{}
		for _, st := range m.Workload.Statements {
			if ids[st.ID] {
				t.Fatalf("two statements are called %s", st.ID)
			}
			ids[st.ID] = true
		}
		for _, j := range m.Joins {
			if j.Accepted == (j.Reason != "") {
				t.Fatalf("join %s -> %s: accepted %t, reason %q", j.From, j.To, j.Accepted, j.Reason)
			}
			if j.Accepted && !ids[j.Query] {
				t.Fatalf("join %s -> %s is said to be in %q, which is not in the workload", j.From, j.To, j.Query)
			}
		}
	})
}
