package main

import (
	"sync/atomic"
	"time"
)

// centres knows in which data centre each node is, as of a moment ago: it is asked for each request that a change has a part in.
type centres struct{ now atomic.Pointer[placed] }

type placed struct {
	at  time.Time
	dcs map[string]string // by host:port; nil in a cluster of one data centre
}

// placedFor is for how long nodes are taken to be where they were.
const placedFor = time.Second

// dataCentre is that of a node, "" in a cluster that has but one: then it does not matter where what is said for a client is said.
func (h *helenus) dataCentre(node string) string {
	known := h.centres.now.Load()
	if known == nil || time.Since(known.at) > placedFor {
		known = h.place()
		h.centres.now.Store(known)
	}
	return known.dcs[node]
}

func (h *helenus) place() *placed {
	found, several := &placed{at: time.Now(), dcs: map[string]string{}}, map[string]bool{}
	for _, n := range h.server.Nodes() {
		several[n.DataCenter] = true
		found.dcs[n.Address], found.dcs[n.Target()] = n.DataCenter, n.DataCenter
	}
	if len(several) < 2 {
		found.dcs = nil
	}
	return found
}
