package contest

import (
	"slices"
	"strconv"
	"strings"
	"time"
)

// Split says where the time of a kind of request goes over an entry's tables, with its CQL requests one after the other: milliseconds, means
// of one execution. Its parts add up to Mean.
type Split struct {
	Request     string  `json:"request"`
	Entry       string  `json:"entry"`
	Count       int     `json:"count"` // executions
	Mean        float64 `json:"mean_ms"`
	Client      float64 `json:"client_ms"`      // the executor, between the answers: what it makes of them, and the next requests
	Way         float64 `json:"way_ms"`         // driver, kernel and protocol: what the executor waits longer than Cassandra is at it
	Coordinator float64 `json:"coordinator_ms"` // Cassandra, but for the tables: it parses, plans, queues, and gathers the answer
	Replica     float64 `json:"replica_ms"`     // tables: memory and files are read, the commit log and memory written
	Requests    float64 `json:"requests"`       // CQL requests
	SSTables    float64 `json:"sstables"`       // files that were read of, all requests together
	Tombstones  float64 `json:"tombstones"`     // that were read past
	Traced      int     `json:"traced"`         // CQL requests, in all executions
	Lost        int     `json:"lost,omitempty"` // of those, without a trace in the end
}

// stages are where the time of one CQL request went.
type stages struct {
	trip                 float64 // as the client sees it, milliseconds
	whole, replica       float64 // of the coordinator, and within it
	sstables, tombstones float64
}

func (s *stages) add(o stages) {
	s.trip += o.trip
	s.whole += o.whole
	s.replica += o.replica
	s.sstables += o.sstables
	s.tombstones += o.tombstones
}

// finish makes means of sums, and shares out what the executor waited for by what was traced of it.
func (s *Split) finish(traced []stages) {
	s.Traced = len(traced) + s.Lost
	n := float64(max(1, s.Count))
	s.Mean, s.Client, s.Requests = s.Mean/n, s.Client/n, s.Requests/n
	var sum stages
	for _, x := range traced {
		sum.add(x)
	}
	if sum.trip == 0 {
		return
	}
	waited := s.Mean - s.Client
	s.Replica = waited * sum.replica / sum.trip
	s.Coordinator = waited * (sum.whole - sum.replica) / sum.trip
	s.Way = waited - s.Replica - s.Coordinator
	s.SSTables = s.Requests * sum.sstables / float64(len(traced))
	s.Tombstones = s.Requests * sum.tombstones / float64(len(traced))
}

// add adds the means of another to sums, times a weight.
func (s *Split) add(o *Split, weight float64) {
	s.Mean += weight * o.Mean
	s.Client += weight * o.Client
	s.Way += weight * o.Way
	s.Coordinator += weight * o.Coordinator
	s.Replica += weight * o.Replica
	s.Requests += weight * o.Requests
	s.SSTables += weight * o.SSTables
	s.Tombstones += weight * o.Tombstones
}

// splitOf is the split of a mean request of a mix over an entry's tables; false if some kind of them was not traced.
func (r *Result) splitOf(mix, entry string) (mean Split, ok bool) {
	total := 0.0
	for i := range r.Requests {
		if q := &r.Requests[i]; q.Statement == "" {
			total += q.Weights[mix]
		}
	}
	for i := range r.Requests {
		q := &r.Requests[i]
		if q.Statement != "" || q.Weights[mix] == 0 {
			continue
		}
		n := slices.IndexFunc(r.Splits, func(s Split) bool { return s.Entry == entry && s.Request == q.Request })
		if n < 0 {
			return mean, false
		}
		mean.add(&r.Splits[n], q.Weights[mix]/total)
	}
	return mean, total > 0
}

// event is a line of a trace.
type event struct {
	activity string
	at       time.Duration // since the trace began, on the node that says it
}

// How a replica's lines begin: the first one of what it does, and the last.
var (
	replicaBegins = []string{"Executing single-partition query", "Executing seq scan", "Executing read on", "Appending to commitlog", "Adding to "}
	replicaEnds   = []string{"Read ", "Scanned "}
	fileFound     = []string{"Key cache hit for sstable", "Partition index found for sstable", "Partition index with "}
)

func begins(text string, with []string) bool {
	return slices.ContainsFunc(with, func(w string) bool { return strings.HasPrefix(text, w) })
}

// staged reads a trace of one node that coordinates and has the rows. A replica's part of a read is from the line that says that it
// begins to the one that says how many rows there were; of a write, which has no such line, to the end of the trace.
func staged(events []event, whole time.Duration) (s stages) {
	s.whole = milliseconds(whole)
	began, ended := time.Duration(-1), time.Duration(-1)
	wrote := false
	for _, e := range events {
		if begins(e.activity, replicaBegins) && (began < 0 || e.at < began) {
			began = e.at
		}
		switch {
		case begins(e.activity, replicaEnds):
			ended = max(ended, e.at)
		case begins(e.activity, fileFound):
			s.sstables++
		case strings.HasPrefix(e.activity, "Adding to "):
			wrote = true
		}
		s.sstables += before(e.activity, " sstables", "Executing seq scan") // "... across 2 sstables for ..."
		// "Read 25 live rows and 3 tombstone cells"
		s.tombstones += before(e.activity, " tombstone cells", "Read ")
	}
	if wrote {
		ended = whole
	}
	if began >= 0 && ended > began {
		s.replica = milliseconds(min(ended, whole) - began)
	}
	return s
}

// before is the number that stands before a word, in a text that begins with another; 0 if there is none.
func before(text, word, with string) float64 {
	if !strings.HasPrefix(text, with) {
		return 0
	}
	text, _, found := strings.Cut(text, word)
	if !found {
		return 0
	}
	n, err := strconv.ParseFloat(text[strings.LastIndexByte(text, ' ')+1:], 64)
	if err != nil {
		return 0
	}
	return n
}
