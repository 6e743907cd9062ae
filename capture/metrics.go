package capture

import (
	"cmp"
	"maps"
	"slices"
	"sort"
	"strconv"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/helenus-db/helenus/capture/histogram"
	"github.com/helenus-db/helenus/internal/native"
)

// metricStatements is how many statements get metrics of their own: those that took the most time in all. The others are
// added up under fingerprint "other". A statement may leave and return; its counters go on where they were.
const metricStatements = 200

// metricSeries is how many series statements and tables have at most. Two hundred statements take some 4,000.
const metricSeries = 5000

var (
	statementLabels = []string{"fingerprint", "keyspace", "table", "kind"}

	executionsDesc = prometheus.NewDesc("helenus_statement_executions_total",
		"Executions of a statement, failed ones and those in batches included. The 200 statements that took the most time, and 'other'.", statementLabels, nil)
	errorsDesc = prometheus.NewDesc("helenus_statement_errors_total",
		"Executions of a statement that were answered by an error, by the error's name.", append([]string{"error"}, statementLabels...), nil)
	latencyDesc = prometheus.NewDesc("helenus_statement_latency_seconds",
		"Time from reading a request to handing its answer to the client, by statement. Statements in batches count with the batch.", statementLabels, nil)
	statementsDesc = prometheus.NewDesc("helenus_capture_statements",
		"Different statements known.", nil, nil)
	droppedDesc = prometheus.NewDesc("helenus_capture_dropped_total",
		"Executions that were not counted under their own statement, because the registry is full or the statement is too long.", nil, nil)
	unknownDesc = prometheus.NewDesc("helenus_capture_unknown_total",
		"Requests of which it is not known what they say: of an id prepared elsewhere, or not readable.", nil, nil)
	forgottenDesc = prometheus.NewDesc("helenus_capture_forgotten_total",
		"Statements that lost their own record to heavier ones; what was counted for them is under 'other'.", nil, nil)
	memoryDesc = prometheus.NewDesc("helenus_capture_memory_bytes",
		"Memory that the records of statements take.", nil, nil)
	tableDesc = prometheus.NewDesc("helenus_table_executions_total",
		"Executions of statements on a table, by kind of statement.", []string{"keyspace", "table", "kind"}, nil)
	tableTimeDesc = prometheus.NewDesc("helenus_table_latency_seconds_total",
		"Sum of the latencies of statements on a table, by kind of statement.", []string{"keyspace", "table", "kind"}, nil)
	seriesDroppedDesc = prometheus.NewDesc("helenus_metric_series_dropped",
		"Series of statements and tables that were left out of this scrape, because there are more than 5,000.", nil, nil)
	parsedDesc = prometheus.NewDesc("helenus_capture_parsed_total",
		"Statement texts that had to be parsed because their fingerprint was not remembered.", nil, nil)
	slowDesc = prometheus.NewDesc("helenus_slow_requests_total",
		"Requests that took at least the setting slow-request.", nil, nil)
	unloggedDesc = prometheus.NewDesc("helenus_slow_requests_unlogged_total",
		"Slow requests without a line of their own in the log: there were more than 10 in a second.", nil, nil)
	samplingDesc = prometheus.NewDesc("helenus_feed_window_open",
		"1 while values are looked at to find feeds, else 0.", nil, nil)
	observedDesc = prometheus.NewDesc("helenus_feed_exchanges_total",
		"Exchanges whose values were looked at to find feeds.", nil, nil)
	feedDroppedDesc = prometheus.NewDesc("helenus_feed_dropped_total",
		"Exchanges and values that the feed miner threw away because it was behind or out of room.", nil, nil)
	duplicatesDesc = prometheus.NewDesc("helenus_feed_duplicates_total",
		"Exchanges that the feed miner took for retries or speculative executions.", nil, nil)
	parametersDesc = prometheus.NewDesc("helenus_feed_parameters",
		"Bind variables that are watched for feeds.", nil, nil)
)

// nativeSchema is that of native buckets: eight for each doubling, so that a quantile is off by at most 9 %.
const nativeSchema = 3

// latencyEdges are the upper ends of the buckets of helenus_statement_latency_seconds, in microseconds. Each is one less than
// the end of a bucket of package histogram, so no number is on the wrong side.
var latencyEdges = []uint64{255, 511, 1_023, 2_047, 4_095, 8_191, 16_383, 32_767, 65_535, 131_071, 262_143, 524_287, 1_048_575, 4_194_303, 16_777_215}

// Describe implements prometheus.Collector.
func (r *Registry) Describe(out chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{
		executionsDesc, errorsDesc, latencyDesc, statementsDesc, droppedDesc, unknownDesc, forgottenDesc, memoryDesc, parsedDesc,
		tableDesc, tableTimeDesc, seriesDroppedDesc, slowDesc, unloggedDesc,
		samplingDesc, observedDesc, feedDroppedDesc, duplicatesDesc, parametersDesc,
	} {
		out <- d
	}
	describeValues(out)
}

// Collect implements prometheus.Collector.
func (r *Registry) Collect(out chan<- prometheus.Metric) {
	s := r.Counts()
	gauge := func(d *prometheus.Desc, v float64) {
		out <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v)
	}
	counter := func(d *prometheus.Desc, v uint64) {
		out <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, float64(v))
	}
	r.mu.RLock()
	known := len(r.records)
	r.mu.RUnlock()
	gauge(statementsDesc, float64(known))
	counter(droppedDesc, s.Other.Count)
	counter(unknownDesc, s.Unknown.Count)
	counter(forgottenDesc, r.forgotten.Load())
	counter(parsedDesc, r.parsed.Load())
	used, _ := r.Memory()
	gauge(memoryDesc, float64(used))
	if r.slow != nil {
		seen, unlogged := r.slow.Counts()
		counter(slowDesc, seen)
		counter(unloggedDesc, unlogged)
	}

	open := 0.0
	f := r.windows.Statistics()
	if f.Open {
		open = 1
	}
	gauge(samplingDesc, open)
	counter(observedDesc, f.Observed)
	counter(feedDroppedDesc, f.Dropped)
	counter(duplicatesDesc, f.Duplicates)
	gauge(parametersDesc, float64(f.Parameters))
	r.collectValues(out, f)

	left, dropped := metricSeries, 0
	for _, x := range r.dearestStatements(s) {
		if n := 2 + len(latencyEdges) + 2 + len(x.ErrorCodes); n <= left {
			left -= n
			collectStatement(out, &x)
		} else {
			dropped += n
		}
	}
	dropped += collectTables(out, s, left)
	gauge(seriesDroppedDesc, float64(dropped))
}

// collectTables adds the statements up by table and kind, in at most so many series, and returns how many found no room.
func collectTables(out chan<- prometheus.Metric, s *Snapshot, room int) (dropped int) {
	type key struct{ keyspace, table, kind string }
	type sum struct{ count, micros uint64 }
	sums := map[key]sum{}
	for i := range s.Statements {
		if x := &s.Statements[i]; x.Table != "" {
			k := key{x.Keyspace, x.Table, x.Kind}
			n := sums[k]
			sums[k] = sum{n.count + x.Count, n.micros + x.Latency.Sum}
		}
	}
	keys := slices.SortedFunc(maps.Keys(sums), func(a, b key) int {
		return cmp.Or(cmp.Compare(sums[b].count, sums[a].count), cmp.Compare(a.keyspace, b.keyspace), cmp.Compare(a.table, b.table), cmp.Compare(a.kind, b.kind))
	})
	for _, k := range keys {
		if room < 2 {
			dropped += 2
			continue
		}
		room -= 2
		labels := []string{labelValue(k.keyspace), labelValue(k.table), k.kind}
		out <- prometheus.MustNewConstMetric(tableDesc, prometheus.CounterValue, float64(sums[k].count), labels...)
		out <- prometheus.MustNewConstMetric(tableTimeDesc, prometheus.CounterValue, float64(sums[k].micros)/1e6, labels...)
	}
	return dropped
}

// dearestStatements returns the statements that get metrics of their own, and the sum of all others.
func (r *Registry) dearestStatements(s *Snapshot) []Statement {
	list := append([]Statement(nil), s.Statements...)
	sort.SliceStable(list, func(i, j int) bool { return list[i].Latency.Sum > list[j].Latency.Sum })
	n := min(len(list), metricStatements)
	rest := Statement{Fingerprint: otherName, Kind: otherName}
	rest.combine(&s.Other, plus, histogram.Distribution.Plus)
	for i := n; i < len(list); i++ {
		rest.combine(&list[i], plus, histogram.Distribution.Plus)
	}
	list = list[:n:n]
	if rest.Count > 0 {
		list = append(list, rest)
	}
	return list
}

func collectStatement(out chan<- prometheus.Metric, s *Statement) {
	labels := []string{s.Fingerprint, labelValue(s.Keyspace), labelValue(s.Table), s.Kind}
	out <- prometheus.MustNewConstMetric(executionsDesc, prometheus.CounterValue, float64(s.Count), labels...)
	for _, code := range s.ErrorCodes {
		out <- prometheus.MustNewConstMetric(errorsDesc, prometheus.CounterValue, float64(code.Count), append([]string{code.Name}, labels...)...)
	}
	buckets := make(map[float64]uint64, len(latencyEdges))
	for _, e := range latencyEdges {
		buckets[float64(e+1)/1e6] = s.Latency.CountUpTo(e)
	}
	fine := native.New(nativeSchema)
	s.Latency.Each(func(micros float64, n uint64) { fine.Add(micros/1e6, n) })
	out <- fine.Metric(latencyDesc, s.Latency.Count, float64(s.Latency.Sum)/1e6, buckets, labels...)
}

// labelValue makes a name fit for a label: Prometheus refuses what is no UTF-8, and a client may send anything as a keyspace.
func labelValue(name string) string {
	q := strconv.QuoteToGraphic(name)
	if q == `"`+name+`"` {
		return name
	}
	return q
}

var _ prometheus.Collector = (*Registry)(nil)
