package capture

import (
	"fmt"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/helenus-db/helenus/proxy"
)

// cpu reports what an operation costs in processor time: ns/op is also the machine's other business.
func cpu(b *testing.B) func() {
	used := cpuTime()
	return func() { b.ReportMetric(float64(cpuTime()-used)/float64(b.N), "cpu-ns/op") }
}

func cpuTime() int64 {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return u.Utime.Nano() + u.Stime.Nano()
}

// BenchmarkDone is what counting one EXECUTE costs: latencies, sizes and callers as in life.
func BenchmarkDone(b *testing.B) {
	r := registry(b, Options{Now: time.Now})
	rec := r.Statement("hotel", "SELECT * FROM reservations WHERE guest_id = ? ALLOW FILTERING")
	b.ReportAllocs()
	defer cpu(b)()
	b.RunParallel(func(pb *testing.PB) {
		c := &proxy.Client{ID: 3, Address: "127.0.0.1:5", Application: "shop"}
		c.Mark = r.Mark(c)
		xs := []proxy.Exchange{*exchange(100)}
		x := &xs[0]
		x.Client = c
		for i := 0; pb.Next(); i++ {
			x.Start += 50_000
			x.End = x.Start + int64(200+i%512)*1000
			x.Hash = uint64(i)*0x9E3779B97F4A7C15 | 1
			rec.Done(xs)
		}
	})
}

// BenchmarkDoneTogether is what counting sixteen EXECUTEs costs that were asked with one write and answered with one: nearly what one costs.
func BenchmarkDoneTogether(b *testing.B) {
	r := registry(b, Options{Now: time.Now})
	rec := r.Statement("hotel", "SELECT * FROM reservations WHERE guest_id = ? ALLOW FILTERING")
	c := &proxy.Client{ID: 3, Address: "127.0.0.1:5", Application: "shop"}
	c.Mark = r.Mark(c)
	xs := make([]proxy.Exchange, 16)
	for i := range xs {
		xs[i] = *exchange(100)
		xs[i].Client = c
	}
	b.ReportAllocs()
	defer cpu(b)()
	for i := 0; b.Loop(); i++ {
		for k := range xs {
			x := &xs[k]
			x.Start += 50_000
			x.End = x.Start + int64(200+i%512)*1000
			x.Hash = uint64(16*i+k)*0x9E3779B97F4A7C15 | 1
		}
		rec.Done(xs)
	}
}

// BenchmarkStatement is a text that was seen lately.
func BenchmarkStatement(b *testing.B) {
	r := registry(b, Options{})
	const text = "SELECT * FROM reservations WHERE guest_id = 7f3a7f3a-0000-0000-0000-000000000001 ALLOW FILTERING"
	b.ReportAllocs()
	defer cpu(b)()
	for b.Loop() {
		r.Statement("hotel", text)
	}
}

// BenchmarkAlike is a text that was never said, and differs from another in its values.
func BenchmarkAlike(b *testing.B) {
	r := registry(b, Options{})
	texts := make([]string, 1<<16)
	for i := range texts {
		texts[i] = fmt.Sprintf("SELECT guest_id, arrival, departure, room_number, rate, currency, notes FROM hotels.reservations_by_guest WHERE guest_id = "+
			"550e8400-e29b-41d4-a716-%012d AND month = '2026-11' AND arrival > '2026-11-01' LIMIT 100", i)
	}
	b.ReportAllocs()
	defer cpu(b)()
	for i := 0; b.Loop(); i++ {
		if i%len(texts) == 0 {
			r.texts = newCache(len(texts)) // forget them
		}
		r.Statement("hotels", texts[i%len(texts)])
	}
}

// fill lets a registry know n statements, each executed with latencies over three octaves.
func fill(r *Registry, n int) (list []proxy.Record) {
	c := &proxy.Client{ID: 3, Application: "shop", Driver: "gocql"}
	c.Mark = r.Mark(c)
	for i := range n {
		rec := r.Statement("k", fmt.Sprintf("SELECT a, b, c FROM t%d WHERE k = ?", i))
		rec.Prepared(&proxy.Prepared{Variables: []proxy.Column{{Name: "k"}}, Results: []proxy.Column{{Name: "a"}, {Name: "b"}, {Name: "c"}}})
		for e := range 20 {
			x := exchange(int64(200 + e*e*3))
			x.Client, x.Rows = c, e%3
			rec.Done([]proxy.Exchange{*x})
		}
		list = append(list, rec)
	}
	return list
}

// BenchmarkSnapshot is a snapshot of 10,000 statements while two goroutines count: when all of them were executed since the last snapshot, when
// one in ten was, and when only those were that are counted meanwhile.
func BenchmarkSnapshot(b *testing.B) {
	for _, m := range []struct {
		name  string
		every int
	}{{"all", 1}, {"tenth", 10}, {"few", 10_000}} {
		b.Run(m.name, func(b *testing.B) {
			r := registry(b, Options{Now: time.Now})
			list := fill(r, 10_000)
			stop := make(chan struct{})
			var writers sync.WaitGroup
			for w := range 2 {
				writers.Go(func() {
					x := exchange(300)
					for i := w; ; i++ {
						select {
						case <-stop:
							return
						case <-time.After(time.Millisecond):
							for n := range 10 {
								list[(10*i+n)%len(list)].Done([]proxy.Exchange{*x})
							}
						}
					}
				})
			}
			x := exchange(300)
			b.ReportAllocs()
			var used int64
			for b.Loop() {
				b.StopTimer()
				for i := 0; i < len(list); i += m.every {
					list[i].Done([]proxy.Exchange{*x})
				}
				b.StartTimer()
				before := cpuTime()
				if s := r.Counts(); len(s.Statements) != 10_000 {
					b.Fatal(len(s.Statements))
				}
				used += cpuTime() - before
			}
			b.ReportMetric(float64(used)/float64(b.N), "cpu-ns/op")
			close(stop)
			writers.Wait()
		})
	}
}
