package proxy

import (
	"sort"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"
)

// Named is a Rule that has a name, under which its use is counted. A rule without Text that the Rewriter does not take only counts:
// so a rule may be tried in the shadow before it does anything.
type Named interface {
	Rule
	Name() string
}

// maxRules is how many names are counted one by one; the rest are counted together, as "other".
const maxRules = 100

// refusal is why a rule's text can not stand for a prepared statement.
type refusal int

const (
	refusedVariables refusal = iota
	refusedKey
	refusedColumns
	refusedError
	refusals
)

var refusalNames = [refusals]string{"variables", "partition key", "columns", "error"}

// ruleCount counts the use of the rules of one name.
type ruleCount struct {
	hits, replaced atomic.Uint64
	refused        [refusals]atomic.Uint64
	last           atomic.Pointer[string]
}

func (c *ruleCount) hit() { c.hits.Add(1) }

func (c *ruleCount) refuse(why refusal, detail string) {
	c.refused[why].Add(1)
	c.last.Store(&detail)
}

// ruleCounts are all rules'.
type ruleCounts struct {
	mu     sync.RWMutex
	byName map[string]*ruleCount
}

func (s *ruleCounts) of(r Rule) *ruleCount {
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
		s.byName = make(map[string]*ruleCount)
	}
	if len(s.byName) >= maxRules {
		name = "other"
	}
	if c = s.byName[name]; c == nil {
		c = &ruleCount{}
		s.byName[strings.Clone(name)] = c
	}
	return c
}

// RuleStats is the use of the rules of one name since the server started.
type RuleStats struct {
	Name     string
	Hits     uint64            // requests, and children of BATCHes, that had the rule
	Replaced uint64            // of those, sent with its text
	Refused  map[string]uint64 // texts that could not stand for a prepared statement, by reason
	Last     string            // the last refusal in words
}

// Rules returns the use of rules, by name.
func (s *Server) Rules() []RuleStats {
	s.rules.mu.RLock()
	defer s.rules.mu.RUnlock()
	var list []RuleStats
	for name, c := range s.rules.byName {
		x := RuleStats{Name: name, Hits: c.hits.Load(), Replaced: c.replaced.Load(), Refused: map[string]uint64{}}
		for why := range c.refused {
			if n := c.refused[why].Load(); n > 0 {
				x.Refused[refusalNames[why]] = n
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

func describeRules(ch chan<- *prometheus.Desc) {
	ch <- ruleHits
	ch <- ruleReplaced
	ch <- ruleRefused
}

func (s *Server) collectRules(ch chan<- prometheus.Metric) {
	for _, r := range s.Rules() {
		ch <- prometheus.MustNewConstMetric(ruleHits, prometheus.CounterValue, float64(r.Hits), r.Name)
		ch <- prometheus.MustNewConstMetric(ruleReplaced, prometheus.CounterValue, float64(r.Replaced), r.Name)
		for reason, n := range r.Refused {
			ch <- prometheus.MustNewConstMetric(ruleRefused, prometheus.CounterValue, float64(n), r.Name, reason)
		}
	}
}
