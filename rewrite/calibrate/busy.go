package calibrate

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gocql/gocql"

	"github.com/helenus-db/helenus/internal/sleep"
)

// Limits above which a cluster is busy. Two samples of its counters lie watchFor apart.
const (
	watchFor     = 3 * time.Second
	mostRequests = 20.0 // a second, of others, in all
	mostTail     = 6.0  // times the median that one of twenty probes takes
	probes       = 200
)

// BusyError says that the cluster has other work, and how that showed.
type BusyError struct{ Saw []string }

func (e *BusyError) Error() string {
	return "the cluster is under load: " + strings.Join(e.Saw, "; ") + ": calibrate when it is idle, or take what it measures under this load by --force"
}

// watch looks at the cluster for a while: at the counters of each node, and at how evenly it answers the same small request. It
// returns what tells of other work, and what it saw in all.
func (c *calibration) watch(ctx context.Context) (busy []string, saw string, err error) {
	began := time.Now()
	first, why := c.counters(ctx)
	mine, times := 0.0, []float64{}
	for len(times) < probes || time.Since(began) < watchFor {
		at := time.Now()
		if err := c.session.Query("SELECT key FROM system.local WHERE key = 'local'").WithContext(ctx).Exec(); err != nil {
			return nil, "", fmt.Errorf("probe: %w", err)
		}
		times = append(times, time.Since(at).Seconds()*1000)
		mine++
		if err := sleep.For(ctx, 5*time.Millisecond); err != nil {
			return nil, "", err
		}
	}
	second, late := c.counters(ctx)
	took := time.Since(began).Seconds()
	slices.Sort(times)
	median, tail := quantile(times, 0.5), quantile(times, 0.95)
	saw = fmt.Sprintf("%d probes of %.2f ms, one of twenty above %.2f ms", len(times), median, tail)
	if tail > mostTail*median {
		busy = append(busy, saw)
	}
	if why != nil || late != nil {
		return busy, saw + "; its counters can not be read, so that other clients do not show", nil //nolint:nilerr // not every role may read them; what the probes say holds
	}
	others := max(0, (second.requests-first.requests-mine)/took)
	seen := fmt.Sprintf("%.0f requests a second of other clients", others)
	if saw += "; " + seen; others > mostRequests {
		busy = append(busy, seen)
	}
	for _, pool := range []string{"CompactionExecutor", "ReadStage", "MutationStage"} {
		if n := min(first.waiting[pool], second.waiting[pool]); n > 0 {
			busy = append(busy, fmt.Sprintf("%s had %.0f tasks at both looks", pool, n))
		}
	}
	return busy, saw, nil
}

// counters are of all nodes together.
type counters struct {
	requests float64            // completed, since each node began
	waiting  map[string]float64 // tasks that are active or wait, by pool
}

// counters asks each node of the data centre for its thread pools: virtual tables tell of the node that answers alone.
func (c *calibration) counters(ctx context.Context) (counters, error) {
	sum := counters{waiting: map[string]float64{}}
	for _, node := range c.each {
		iter := node.Query("SELECT name, active_tasks, pending_tasks, completed_tasks FROM system_views.thread_pools").WithContext(ctx).Consistency(gocql.One).Iter()
		var name string
		var active, pending, completed int64
		for iter.Scan(&name, &active, &pending, &completed) {
			if name == "Native-Transport-Requests" {
				sum.requests += float64(completed)
			}
			sum.waiting[name] += float64(active + pending)
		}
		if err := iter.Close(); err != nil {
			return sum, err
		}
	}
	return sum, nil
}

// quantile of sorted values.
func quantile(sorted []float64, q float64) float64 {
	if len(sorted) == 0 {
		return 0
	}
	at := q * float64(len(sorted)-1)
	low := int(at)
	high := min(low+1, len(sorted)-1)
	return sorted[low] + (at-float64(low))*(sorted[high]-sorted[low])
}
