// Package rule is what a Rewriter says is to be done with a statement, and how often that was done. It imports nothing of ours.
package rule

import (
	"sort"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"
)

// Rule marks a statement as the Rewriter's business.
type Rule interface {
	// Text is what to send to Cassandra instead of the client's text at PREPARE and QUERY; "" leaves it.
	Text() string
}

// Named is a Rule that has a name, under which its use is counted. A rule without Text that the Rewriter does not take only counts:
// so a rule may be tried in the shadow before it does anything.
type Named interface {
	Rule
	Name() string
}

// maxRules is how many names are counted one by one; the rest are counted together, as "other".
const maxRules = 100

// Reason is why a rule's text can not stand for a prepared statement.
type Reason int

// The reasons: what of the two differs, or that Cassandra refused it.
const (
	Variables Reason = iota
	PartitionKey
	Columns
	Error
	reasonCount
)

var reasons = [reasonCount]string{"variables", "partition key", "columns", "error"}

// Count counts the use of the rules of one name.
type Count struct {
	hits, replaced atomic.Uint64
	refused        [reasonCount]atomic.Uint64
	last           atomic.Pointer[string]
}

// Hit counts a use.
func (c *Count) Hit() { c.hits.Add(1) }

// Replace counts that its text was sent.
func (c *Count) Replace() { c.replaced.Add(1) }

// Refuse counts a text that could not stand for a prepared statement.
func (c *Count) Refuse(why Reason, detail string) {
	c.refused[why].Add(1)
	c.last.Store(&detail)
}

// Counts are all rules'.
type Counts struct {
	mu     sync.RWMutex
	byName map[string]*Count
}

// Of returns the count of a rule.
func (s *Counts) Of(r Rule) *Count {
	name := "unnamed"
	if n, ok := r.(Named); ok {
		name = n.Name()
	}
	s.mu.RLock()
	c := s.byName[name]
	s.mu.RUnlock()
	if c != nil {
		return c
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.byName == nil {
		s.byName = make(map[string]*Count)
	}
	if len(s.byName) >= maxRules {
		name = "other"
	}
	if c = s.byName[name]; c == nil {
		c = &Count{}
		s.byName[strings.Clone(name)] = c
	}
	return c
}

// Stats is the use of the rules of one name since the server started.
type Stats struct {
	Name     string
	Hits     uint64            // requests, and children of BATCHes, that had the rule
	Replaced uint64            // of those, sent with its text
	Refused  map[string]uint64 // texts that could not stand for a prepared statement, by reason
	Last     string            // the last refusal in words
}

// All returns the use of rules, by name.
func (s *Counts) All() []Stats {
	s.mu.RLock()
	defer s.mu.RUnlock()
	var list []Stats
	for name, c := range s.byName {
		x := Stats{Name: name, Hits: c.hits.Load(), Replaced: c.replaced.Load(), Refused: map[string]uint64{}}
		for why := range c.refused {
			if n := c.refused[why].Load(); n > 0 {
				x.Refused[reasons[why]] = n
			}
		}
		if last := c.last.Load(); last != nil {
			x.Last = *last
		}
		list = append(list, x)
	}
	sort.Slice(list, func(i, j int) bool { return list[i].Name < list[j].Name })
	return list
}

var (
	ruleHits     = prometheus.NewDesc("helenus_proxy_rule_hits_total", "Requests, and children of batches, whose statement has a rule of this name.", []string{"rule"}, nil)
	ruleReplaced = prometheus.NewDesc("helenus_proxy_rule_replaced_total", "Of those, sent with the rule's text.", []string{"rule"}, nil)
	ruleRefused  = prometheus.NewDesc("helenus_proxy_rule_refused_total",
		"Texts of rules that could not stand for a prepared statement: other bind variables, another partition key, other result columns, or an error of Cassandra.",
		[]string{"rule", "reason"}, nil)
)

// Describe is as of a prometheus.Collector.
func (*Counts) Describe(ch chan<- *prometheus.Desc) {
	ch <- ruleHits
	ch <- ruleReplaced
	ch <- ruleRefused
}

// Collect is as of a prometheus.Collector.
func (s *Counts) Collect(ch chan<- prometheus.Metric) {
	for _, r := range s.All() {
		ch <- prometheus.MustNewConstMetric(ruleHits, prometheus.CounterValue, float64(r.Hits), r.Name)
		ch <- prometheus.MustNewConstMetric(ruleReplaced, prometheus.CounterValue, float64(r.Replaced), r.Name)
		for reason, n := range r.Refused {
			ch <- prometheus.MustNewConstMetric(ruleRefused, prometheus.CounterValue, float64(n), r.Name, reason)
		}
	}
}
