package ledger

import (
	"fmt"
	"reflect"
	"strings"
	"sync"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"pgregory.net/rapid"

	"github.com/helenus-db/helenus/proxy/wire"
)

// TestBuckets: a duration is in the first bucket that does not end before it.
func TestBuckets(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		first := rapid.SampledFrom([]int{tookFirst, addedFirst}).Draw(t, "first")
		d := rapid.OneOf(rapid.Int64(), rapid.Int64Range(-2, 1<<36), rapid.Custom(func(t *rapid.T) int64 {
			return 1<<rapid.IntRange(0, 62).Draw(t, "power") + rapid.Int64Range(-1, 1).Draw(t, "beside")
		})).Draw(t, "duration")
		want := 0
		for want < steps && d > int64(1)<<(first+want) {
			want++
		}
		if got := bucket(d, first); got != want {
			t.Errorf("%d ns is in bucket %d, want %d", d, got, want)
		}
	})
}

// TestRun: however requests are grouped, they are counted as one by one.
func TestRun(t *testing.T) {
	opcodes := []byte{wire.OpQuery, wire.OpExecute, wire.OpPrepare, wire.OpBatch, wire.OpOptions, 0xFF}
	rapid.Check(t, func(t *rapid.T) {
		var l Ledger
		one, all := l.Open(Place{}), l.Open(Place{})
		var run Run
		for range rapid.IntRange(0, 30).Draw(t, "requests") {
			opcode := rapid.SampledFrom(opcodes).Draw(t, "opcode")
			took := rapid.Int64Range(-1, 1<<20).Draw(t, "took")
			up, down := rapid.IntRange(0, 9).Draw(t, "up"), rapid.IntRange(0, 9).Draw(t, "down")
			run.Add(all, opcode, took, up, down)
			if rapid.Bool().Draw(t, "flush") {
				run.Flush(all)
			}
			var single Run
			single.Add(one, opcode, took, up, down)
			single.Flush(one)
		}
		run.Flush(all)
		if one.Sum() != all.Sum() || !reflect.DeepEqual(&one.took, &all.took) {
			t.Errorf("%+v and %+v", one.Sum(), all.Sum())
		}
	})
}

func gather(t *testing.T, l *Ledger) map[string]float64 {
	t.Helper()
	out := map[string]float64{}
	r := prometheus.NewPedanticRegistry()
	r.MustRegister(collectorOf{l})
	families, err := r.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			key := strings.TrimPrefix(f.GetName(), "helenus_proxy_")
			for _, p := range m.GetLabel() {
				key += " " + p.GetValue()
			}
			out[key] = m.GetCounter().GetValue() + m.GetGauge().GetValue() + float64(m.GetHistogram().GetSampleCount())
		}
	}
	return out
}

type collectorOf struct{ l *Ledger }

func (c collectorOf) Describe(out chan<- *prometheus.Desc) { c.l.Describe(out) }
func (c collectorOf) Collect(out chan<- prometheus.Metric) { c.l.Collect(out, InFlight{{"l", "n"}: 7}) }

// TestEverySort counts one of each, so that every name has its own series.
func TestEverySort(t *testing.T) {
	var l Ledger
	for e := Client; e < ends; e++ {
		s := l.Open(Place{"l", Any})
		s.Move(Place{"l", "n"})
		s.Because(e)
		s.Because(Unknown + 1) // too late
		if e == Drained {
			for f := range frameReasons {
				s.Frame(f)
			}
			for _, code := range []int32{-1, 0, 0x000A, 0x0100, 0x1000, 0x1001, 0x1002, 0x1003, 0x1100, 0x1200, 0x1300, 0x1400, 0x1500,
				0x1600, 0x1700, 0x2000, 0x2100, 0x2200, 0x2300, 0x2400, 0x2500} {
				s.Fail(code)
				s.Refuse(code)
			}
			s.Take()
			s.Rewrite()
			s.Forwarded(3, 1000)
			s.Returned(2, -5)
		}
		s.Close()
		s.Close() // counted once
		s.Take()  // and nothing after
	}
	l.Turn(Place{"l", Any}, Refused)
	got := gather(t, &l)
	want := map[string]float64{"connections_accepted_total l": float64(ends), "connections l n": 0, "in_flight_requests l n": 7,
		"requests_taken_total l n": 1, "requests_rewritten_total l n": 1, "added_seconds request l n": 3, "added_seconds response l n": 2,
		"connections_closed_total l any refused": 1}
	for _, name := range endNames[1:] {
		want["connections_closed_total l n "+name] = 1
	}
	for _, name := range frameNames {
		want["frames_refused_total l n "+name] = 1
	}
	for _, name := range wire.ErrorNames {
		want["errors_total "+name+" l n"], want["requests_refused_total "+name+" l n"] = 1, 1
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got\n%v\nwant\n%v", got, want)
	}
}

// TestPlacesAreBounded: nodes that come and go for ever fill nothing, and every connection is counted somewhere.
func TestPlacesAreBounded(t *testing.T) {
	var l Ledger
	const n = 3 * maxPlaces
	var open []*Sheet
	for i := range n {
		s := l.Open(Place{"l", Any})
		s.Move(Place{"l", fmt.Sprint("node", i)})
		if i%2 == 0 {
			s.Because(Client)
			s.Close()
		} else {
			open = append(open, s)
		}
	}
	if len(l.pages) > maxPlaces+1 {
		t.Errorf("%d places", len(l.pages))
	}
	_, accepted, ended := l.Sum()
	if accepted != n || ended[Client] != n/2 {
		t.Errorf("%d accepted, %v", accepted, ended)
	}
	if p := open[len(open)-1].Place(); p != otherPlace {
		t.Errorf("the last is counted at %v", p)
	}
	connections := 0.0
	for k, v := range gather(t, &l) {
		if strings.HasPrefix(k, "connections l") || strings.HasPrefix(k, "connections other") {
			connections += v
		}
	}
	if int(connections) != len(open) {
		t.Errorf("%v connections", connections)
	}
}

// TestASheetIsCountedOnce: sums are taken while sheets close.
func TestASheetIsCountedOnce(t *testing.T) {
	var l Ledger
	const n = 500
	var work sync.WaitGroup
	work.Go(func() {
		for range n {
			s := l.Open(Place{"l", "n"})
			s.Fail(0)
			s.Forwarded(1, 1)
			s.Close()
		}
	})
	before := uint64(0)
	for before < n {
		s, _, _ := l.Sum()
		if s.Errors < before || s.Errors > n {
			t.Fatalf("%d errors after %d", s.Errors, before)
		}
		before = s.Errors
	}
	work.Wait()
}
