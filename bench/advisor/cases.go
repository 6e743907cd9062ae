package main

import (
	"fmt"
	"path/filepath"
	"time"
)

// kase is something to measure, and what must come of it.
type kase struct {
	Name string `json:"name"`
	// File is a workload, Mix one of its mixes; or Scale and Seed make one.
	File  string `json:"file,omitempty"`
	Mix   string `json:"mix,omitempty"`
	Scale int    `json:"scale,omitempty"`
	Dense bool   `json:"dense,omitempty"` // generate.Dense
	Seed  uint64 `json:"seed,omitempty"`
	// Cost is the cost model, "" ours.
	Cost string        `json:"cost,omitempty"`
	Gap  float64       `json:"gap,omitempty"`  // good enough
	Wall time.Duration `json:"wall,omitempty"` // of the solve

	NoSE        float64 `json:"nose,omitempty"`         // what NoSE's code finds
	NoSESeconds float64 `json:"nose_seconds,omitempty"` // in what time
	Most        float64 `json:"most,omitempty"`         // the cost may not be above
	Seconds     float64 `json:"seconds,omitempty"`      // nor the processor time
	Megabytes   float64 `json:"megabytes,omitempty"`    // nor the peak memory of either process
}

// published are the workloads that NoSE's figures are known for. Costs are given to the digits that were published, so a
// unit of the last one is allowed.
func published(folder string) []kase {
	rubis, eac, hotel := filepath.Join(folder, "rubis.yaml"), filepath.Join(folder, "eac.yaml"), filepath.Join(folder, "nose-hotel.yaml")
	const requests, cassandra = "nose:request_count", "nose:cassandra"
	return []kase{
		{Name: "rubis browsing", File: rubis, Mix: "browsing", Cost: requests, NoSE: 107.6, Most: 107.6},
		{Name: "rubis browsing", File: rubis, Mix: "browsing", Cost: cassandra, NoSE: 1.0060, Most: 1.00605},
		{Name: "rubis bidding", File: rubis, Mix: "bidding", Cost: requests, NoSE: 238.95, NoSESeconds: 142, Most: 222.185, Seconds: 2, Megabytes: 500},
		{Name: "rubis bidding", File: rubis, Mix: "bidding", Cost: cassandra, NoSE: 2.3065, NoSESeconds: 142, Most: 2.22515, Seconds: 2, Megabytes: 500},
		{Name: "rubis bidding", File: rubis, Mix: "bidding"},
		{Name: "rubis write_medium", File: rubis, Mix: "write_medium", Cost: requests},
		{Name: "rubis write_heavy", File: rubis, Mix: "write_heavy", Cost: requests, NoSE: 11077.82, Most: 8796.035},
		{Name: "eac", File: eac, Cost: requests, NoSESeconds: 390, Seconds: 2},
		{Name: "eac", File: eac, NoSESeconds: 390, Seconds: 2},
		{Name: "hotel", File: hotel},
		{Name: "hotel", File: hotel, Cost: requests},
	}
}

// random are the random workloads of N-61, as its authors drew them, or denser ones.
func random(name string, dense bool, scales, seeds int) []kase {
	var list []kase
	for scale := 1; scale <= scales; scale++ {
		for seed := 1; seed <= seeds; seed++ {
			list = append(list, kase{Name: fmt.Sprintf("%s %dx", name, scale), Scale: scale, Dense: dense, Seed: uint64(seed), Gap: 0.01, Wall: time.Minute})
		}
	}
	return list
}
