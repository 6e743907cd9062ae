package rewrite

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/helenus-db/helenus/capture/schema"
)

// A job that is connected for five minutes a night is remembered over days and restarts, and named to whoever approves at noon; after a month without it, it is
// not any more.
func TestWritersAreRememberedOverDays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.fill(3, 1)
		var others atomic.Pointer[Others]
		others.Store(&Others{})
		w.crowded(false, &others)
		begin := time.Now()
		for range 3 {
			time.Sleep(14 * time.Hour)
			others.Store(&Others{Clients: []Peer{{Address: "10.0.0.9", User: "etl", Driver: "Spark", Count: 2}}})
			time.Sleep(5 * time.Minute)
			others.Store(&Others{})
			w.stop()
			w.crowded(false, &others)
			time.Sleep(10*time.Hour - 5*time.Minute)
		}
		all := w.engine.Sightings()
		if len(all.Seen) != 1 || all.Since.Sub(begin) > time.Minute || all.Looks < 3*24*60-10 {
			t.Fatalf("remembered: %+v", all)
		}
		if s := all.Seen[0]; s.User != "etl" || s.Driver != "Spark" || s.Address != "10.0.0.9" || s.Most != 2 || s.Looks < 12 || s.Looks > 18 ||
			s.First.Sub(begin) < 14*time.Hour || s.First.Sub(begin) > 14*time.Hour+2*time.Minute || time.Since(s.Last) < 9*time.Hour || time.Since(s.Last) > 10*time.Hour {
			t.Errorf("remembered: %+v", s)
		}
		m, err := w.engine.Approve(context.Background(), "m1", advice(t), "ann")
		must(t, err)
		if text := fmt.Sprint(m.Events); !strings.Contains(text, "user etl with driver Spark from 10.0.0.9, last at") || !strings.Contains(text, "Freshness: with one replica") {
			t.Errorf("whoever approves is told %s", text)
		}
		w.stop() // what a change does every few seconds for a month is not what is tried
		time.Sleep(31 * 24 * time.Hour)
		w.crowded(false, &others)
		time.Sleep(2 * time.Minute)
		if all := w.engine.Sightings(); len(all.Seen) != 0 {
			t.Errorf("after a month: %+v", all.Seen)
		}
		w.stop()
	})
}

// What is remembered is bounded, whoever comes from wherever.
func TestSightingsAreBounded(t *testing.T) {
	var s sightings
	now := time.Date(2026, 11, 27, 0, 0, 0, 0, time.UTC)
	for i := range 3 * mostSightings {
		s.add(&Others{Clients: []Peer{{Address: fmt.Sprint("10.0.", i/250, ".", i%250)}}}, now.Add(time.Duration(i)*time.Second))
	}
	if all := s.list(); len(all.Seen) != mostSightings || all.Seen[0].Address != "10.0.11.249" {
		t.Errorf("%d are remembered, the latest is %+v", len(all.Seen), all.Seen[0])
	}
	if all := s.list(); !strings.Contains(all.Text(), "995 more") {
		t.Errorf("%s", all.Text())
	}
}

// What is said of how fresh answers will be, by replication.
func TestFreshness(t *testing.T) {
	for want, replication := range map[string]map[string]string{
		"one replica of each row, reads at any consistency find every row":                                                      {"class": "org.apache.cassandra.locator.SimpleStrategy", "replication_factor": "1"},
		"EACH_QUORUM and ALL find every row that was acknowledged, where Cassandra does without Helenus (one written at ONE is": {"class": "org.apache.cassandra.locator.NetworkTopologyStrategy", "dc1": "3"},
		"replicas 3 in dc1, 2 in dc2: reads at LOCAL_QUORUM find every row that was acknowledged in their own data centre":      {"class": "N", "dc2": "2", "dc1": "3/1", "dc3": "0"},
		"and in dc2, with its one replica, the same as at LOCAL_QUORUM":                                                         {"class": "N", "dc1": "3", "dc2": "1"},
		"how keyspace k is replicated is not known":                                                                             {"class": "org.apache.cassandra.locator.LocalStrategy"},
	} {
		if got := freshness(&schema.Keyspace{Name: "k", Replication: replication}); !strings.Contains(got, want) {
			t.Errorf("of %v it is said: %s", replication, got)
		}
	}
}
