package rewrite

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/helenus-db/helenus/advisor/plan"
	"github.com/helenus-db/helenus/capture/schema"
)

// Beforehand is what a person should know before a change is approved, beside what the advice says of it: how fresh its answers will be on this cluster, and who
// was seen to write past Helenus.
func (e *Engine) Beforehand(c *plan.Rewrite) (lines []string) {
	if c.Table == "" {
		return nil
	}
	if k := e.options.Schema().Keyspace(c.Keyspace); k != nil {
		lines = append(lines, freshness(k))
	}
	seen := e.Sightings()
	if text := seen.Text(); text != "" {
		lines = append(lines, text)
	}
	return lines
}

// site is how many replicas a data centre has.
type site struct {
	name     string
	replicas int
}

// sites are the data centres of a keyspace, by name; one without a name if it does not tell them apart.
func sites(k *schema.Keyspace) (out []site) {
	for name, value := range k.Replication {
		n, err := strconv.Atoi(strings.SplitN(value, "/", 2)[0]) // "3/1": one of them is transient
		if name == "class" || err != nil || n == 0 {
			continue
		}
		if name == "replication_factor" {
			name = ""
		}
		out = append(out, site{name, n})
	}
	slices.SortFunc(out, func(a, b site) int { return cmp.Compare(a.name, b.name) })
	return out
}

// freshness says which reads are certain to find what: an entry is put before its row, at the row's own consistency and a quorum at least, in the data centre of
// the client, and read at the consistency of the read (docs/how-it-works.md has the table). Whatever Cassandra promises of the row then holds of its entry.
func freshness(k *schema.Keyspace) string {
	all := sites(k)
	switch {
	case len(all) == 0:
		return "Freshness: how keyspace " + k.Name + " is replicated is not known."
	case len(all) == 1 && all[0].replicas == 1:
		return "Freshness: with one replica of each row, reads at any consistency find every row that was acknowledged."
	case len(all) == 1:
		return fmt.Sprintf("Freshness, with %d replicas: reads at LOCAL_QUORUM, QUORUM, EACH_QUORUM and ALL find every row that was acknowledged, where Cassandra does without Helenus (one written at ONE is certain at ALL alone); "+
			"those at ONE and LOCAL_ONE every row that was written at ALL, and any other as soon as its entry has reached the replica that is asked, which may be a moment after the row.", all[0].replicas)
	}
	var replicas, alone []string
	for _, s := range all {
		replicas = append(replicas, fmt.Sprintf("%d in %s", s.replicas, s.name))
		if s.replicas == 1 {
			alone = append(alone, s.name)
		}
	}
	text := fmt.Sprintf("Freshness, with replicas %s: reads at LOCAL_QUORUM find every row that was acknowledged in their own data centre at ONE, LOCAL_ONE or LOCAL_QUORUM, and anywhere at EACH_QUORUM or ALL; "+
		"those at QUORUM what was written at TWO, QUORUM, EACH_QUORUM or ALL; those at EACH_QUORUM and ALL every row; those at ONE and LOCAL_ONE what was written at ALL", strings.Join(replicas, ", "))
	if alone != nil {
		text += ", and in " + strings.Join(alone, " and ") + ", with its one replica, the same as at LOCAL_QUORUM"
	}
	return text + ". All this where Cassandra finds the row without Helenus: one written at ONE is certain at ALL alone. What the other data centre wrote is found once row and entry have arrived, and the row may arrive first."
}
