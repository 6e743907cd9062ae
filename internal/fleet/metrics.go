package fleet

import "github.com/prometheus/client_golang/prometheus"

var (
	descMembers   = prometheus.NewDesc("helenus_fleet_members", "Members on the register of the fleet, as this process sees it.", nil, nil)
	descSilent    = prometheus.NewDesc("helenus_fleet_members_silent", "Of which no new beat was seen for longer than the lease: while there is one no read is answered by a change.", nil, nil)
	descLeads     = prometheus.NewDesc("helenus_fleet_leads", "1 if this process leads the fleet: drives changes and advises.", nil, nil)
	descTerm      = prometheus.NewDesc("helenus_fleet_term", "Number of the leadership of the fleet; it grows whenever another member leads.", nil, nil)
	descServes    = prometheus.NewDesc("helenus_fleet_lease", "1 while this process may answer reads by changes, because of each member something new was seen within the lease.", nil, nil)
	descLapses    = prometheus.NewDesc("helenus_fleet_lease_lapses_total", "How often it could not any more.", nil, nil)
	descEpoch     = prometheus.NewDesc("helenus_fleet_epoch", "Number of the last transaction on the state that this process has followed, or applied.", []string{"what"}, nil)
	descRemoved   = prometheus.NewDesc("helenus_fleet_removed_total", "Members that this process took off the register.", nil, nil)
	descTakeovers = prometheus.NewDesc("helenus_fleet_takeovers_total", "How often this process took the lead of the fleet.", nil, nil)
)

// Describe implements prometheus.Collector.
func (m *Member) Describe(c chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{descMembers, descSilent, descLeads, descTerm, descServes, descLapses, descEpoch, descRemoved, descTakeovers} {
		c <- d
	}
}

// Collect implements prometheus.Collector.
func (m *Member) Collect(c chan<- prometheus.Metric) {
	if m == nil { // there is no fleet
		return
	}
	f := m.Fleet()
	m.mu.Lock()
	counts, applied := m.counts, m.applied
	m.mu.Unlock()
	silent := 0
	for _, v := range f.Members {
		if v.Silent != "" {
			silent++
		}
	}
	gauge := func(d *prometheus.Desc, v float64, labels ...string) {
		c <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
	}
	counter := func(d *prometheus.Desc, v uint64) {
		c <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, float64(v))
	}
	truth := map[bool]float64{true: 1}
	gauge(descMembers, float64(len(f.Members)))
	gauge(descSilent, float64(silent))
	gauge(descLeads, truth[f.Role == "leader"])
	gauge(descTerm, float64(f.Term))
	gauge(descServes, truth[f.Serving])
	gauge(descEpoch, float64(f.Epoch), "followed")
	gauge(descEpoch, float64(applied), "applied")
	counter(descLapses, counts.lapses)
	counter(descRemoved, counts.removed)
	counter(descTakeovers, counts.takeovers)
}
