package recommend_test

import (
	"fmt"
	"syscall"
	"testing"
	"time"

	"github.com/helenus-db/helenus/advisor/infer/infertest"
	"github.com/helenus-db/helenus/advisor/recommend"
	"github.com/helenus-db/helenus/capture/schema"
)

// orders is the traffic of many tables like the hotel's reservations, each with a scan that a look-up table would serve by day, and
// with orders imported by night.
func orders(t testing.TB, tables int) recommend.Input {
	traffic := &infertest.Traffic{Keyspace: "hotel", Seconds: 300}
	in := hotel(1)
	in.Schema = &schema.Schema{Keyspaces: []schema.Keyspace{{Name: "hotel", Replication: map[string]string{"class": "SimpleStrategy", "replication_factor": "1"}}}}
	in.Statistics = nil
	for n := range tables {
		name := fmt.Sprintf("reservations_%02d", n)
		traffic.Say("SELECT room_id, start_date, reservation_id, status FROM "+name+" WHERE guest_id = ? ALLOW FILTERING", 60, 280_000, 4)
		traffic.Say("SELECT status FROM "+name+" WHERE room_id = ? AND start_date = ?", 200, 900, 1)
		traffic.Say("INSERT INTO "+name+" (room_id, start_date, reservation_id, guest_id, status) VALUES (?, ?, ?, ?, ?)", 150, 1_100, 0)
		in.Schema.Keyspaces[0].Tables = append(in.Schema.Keyspaces[0].Tables,
			infertest.Table("hotel", name, "room_id uuid", "start_date date,reservation_id uuid", "guest_id uuid", "status text"))
		in.Statistics = append(in.Statistics, infertest.Measured("hotel", name, 200_000, 8_000, "room_id 8000 16", "start_date 60 4", "reservation_id 200000 16", "guest_id 49100 16", "status 3 9"))
	}
	in.Snapshot = traffic.Snapshot()
	in.Past = pastOf(t, in.Snapshot, func(text string, hour int) float64 {
		switch {
		case isScan(text) && byDay(hour):
			return 400
		case text[:6] == "INSERT" && !byDay(hour):
			return 400_000
		case isScan(text), text[:6] == "INSERT":
			return 0
		}
		return 100
	})
	return in
}

// BenchmarkRound is a round of advice as `helenus run` has it each minute, with the same history as the round before.
func BenchmarkRound(b *testing.B) {
	for _, tables := range []int{5, 20, 60} {
		for _, kind := range []string{"without a calendar", "with a calendar", "with one designed before"} {
			b.Run(fmt.Sprintf("%d look-ups %s", tables, kind), func(b *testing.B) {
				in := orders(b, tables)
				in.Solver = newSolver()
				if kind == "without a calendar" {
					in.Past = nil
				}
				if kind == "with one designed before" {
					in.Cache = &recommend.CalendarCache{}
					if _, err := recommend.Make(b.Context(), in); err != nil {
						b.Fatal(err)
					}
				}
				before := processor()
				for b.Loop() {
					in.At = in.At.Add(time.Minute)
					a, err := recommend.Make(b.Context(), in)
					if err != nil {
						b.Fatal(err)
					}
					if in.Past != nil && len(of(a, recommend.TimelineKind)) == 0 {
						b.Fatal(a.Timeline, a.Problems)
					}
				}
				b.ReportMetric(float64((processor()-before).Microseconds())/1000/float64(b.N), "processor-ms/op")
			})
		}
	}
}

// processor is the time that processors have worked for us and the solver's processes: a busy machine does not lengthen it much.
func processor() time.Duration {
	sum := time.Duration(0)
	for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var u syscall.Rusage
		_ = syscall.Getrusage(who, &u) // can not fail for these
		sum += time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	return sum
}
