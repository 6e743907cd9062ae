package recommend

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/helenus-db/helenus/advisor/design"
	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/plan"
	"github.com/helenus-db/helenus/capture/schema"
	"github.com/helenus-db/helenus/rewrite/condition"
)

// ms words a time in milliseconds.
func ms(v float64) string {
	switch {
	case v >= 1000:
		return seconds(v / 1000)
	case v >= 10:
		return fmt.Sprintf("%.0f ms", v)
	case v >= 1:
		return fmt.Sprintf("%.1f ms", v)
	}
	return fmt.Sprintf("%.2f ms", v)
}

// seconds words a time in seconds.
func seconds(v float64) string {
	switch {
	case v >= 7200:
		return fmt.Sprintf("%.1f h", v/3600)
	case v >= 120:
		return fmt.Sprintf("%.0f min", v/60)
	case v >= 10 || v == math.Trunc(v):
		return fmt.Sprintf("%.0f s", v)
	}
	return fmt.Sprintf("%.1f s", v)
}

// bytes words a size.
func bytes(v float64) string {
	for _, u := range []struct {
		of   float64
		name string
	}{{1e12, "TB"}, {1e9, "GB"}, {1e6, "MB"}, {1e3, "kB"}} {
		if v >= u.of {
			return fmt.Sprintf("%.1f %s", v/u.of, u.name)
		}
	}
	return fmt.Sprintf("%.0f bytes", v)
}

// times words a factor.
func times(v float64) string {
	if v >= 10 {
		return fmt.Sprintf("%.0f times", v)
	}
	return fmt.Sprintf("%.1f times", v)
}

// rate words executions per second.
func rate(v float64) string {
	switch {
	case v >= 0.1:
		return fmt.Sprintf("%.1f a second", v)
	case v >= 0.1/60:
		return fmt.Sprintf("%.1f a minute", v*60)
	}
	return fmt.Sprintf("%.1f an hour", v*3600)
}

// enumerated is "a", "a and b", or "a, b and c".
func enumerated(list []string) string {
	if len(list) < 2 {
		return strings.Join(list, "")
	}
	return strings.Join(list[:len(list)-1], ", ") + " and " + list[len(list)-1]
}

func nodesText(n int) string {
	if n == 1 {
		return "1 node"
	}
	return fmt.Sprintf("%d nodes", n)
}

func writesText(work float64) string {
	if work <= 0 {
		return "no write seen would have to write it"
	}
	return fmt.Sprintf("writes would pay %s of work a second more", ms(work))
}

// howFound words the way in which a read finds its rows today.
func howFound(u *read) string {
	if u.access.Class == schema.IndexRead {
		return "by the secondary index " + u.access.UsesIndex
	}
	if u.access.Class == schema.Partition {
		return "with ALLOW FILTERING, which looks at every row of a partition"
	}
	return "with ALLOW FILTERING, which looks at every row of the table"
}

// taking is how long something takes, and how much work that is, where it is not the same: many requests at once.
func taking(time, work float64) string {
	if ms(time) == ms(work) {
		return ms(time)
	}
	return ms(time) + ", and " + ms(work) + " of work"
}

// whyLookUp says in a paragraph why a look-up table is advised.
func (k *maker) whyLookUp(r *Recommendation, o *offer, users []*read) string {
	u, s := users[0], r.Statements[0]
	var b strings.Builder
	fmt.Fprintf(&b, "%s is read by %s %s. ", o.schema.Name, o.column, howFound(u))
	fmt.Fprintf(&b, "That was done %d times in %s (%s) and took %s at the median (p99 %s). ",
		r.Evidence.Executions, seconds(k.model.Seconds), rate(float64(r.Evidence.Executions)/k.model.Seconds), ms(s.ObservedP50Ms), ms(s.ObservedP99Ms))
	fmt.Fprintf(&b, "With a look-up table that finds the primary keys by %s, of which the base rows are then read and checked, it is expected to take %s: %s less work. That saves %s. ",
		o.column, taking(s.PredictedAfterMs, s.PredictedWorkAfterMs), times(s.PredictedWorkBeforeMs/s.PredictedWorkAfterMs), r.Gain())
	switch len(r.Writes) {
	case 0:
		b.WriteString("No write that was seen would have to write it. ")
	default:
		total := 0.0
		for _, w := range r.Writes {
			total += w.PerSecond
		}
		fmt.Fprintf(&b, "It costs the writes that set or take away %s (%d of them, %s) one more write each, before their own: about %s longer, %.1f times as long; inside Cassandra each of them is %.1f requests in the mean. ",
			o.column, len(r.Writes), rate(total), ms(r.Writes[0].PredictedExtraMs), r.WriteCostRatio, r.WriteRequests)
	}
	fmt.Fprintf(&b, "It takes about %s.", bytes(r.StorageBytes))
	return b.String()
}

// whyKeep says in a paragraph why an index is better left.
func (k *maker) whyKeep(r *Recommendation, o *offer, u *read) string {
	s := r.Statements[0]
	var b strings.Builder
	fmt.Fprintf(&b, "%s is read by %s %s. A read without a partition key has to ask every node", o.schema.Name, o.column, howFound(u))
	if k.Nodes == 1 {
		b.WriteString(", but here that is one request to one node, which finds index entries and rows together")
	}
	fmt.Fprintf(&b, ": %s of work, %s (observed %s at the median, %d times). ", ms(s.PredictedWorkBeforeMs), ms(s.PredictedBeforeMs), ms(s.ObservedP50Ms), s.Count)
	fmt.Fprintf(&b, "A verified look-up table would need one request for the keys and one for each row: %s of work, %s. ", ms(s.PredictedWorkAfterMs), ms(s.PredictedAfterMs))
	if r.TurnsAtNodes > 0 {
		fmt.Fprintf(&b, "That turns round when the cluster grows: from %s on the look-up table is the cheaper way.", nodesText(r.TurnsAtNodes))
	} else {
		fmt.Fprintf(&b, "That does not turn round up to %s.", nodesText(k.Thresholds.SlowestKeep))
	}
	return b.String()
}

// sensitivityText words one sensitivity.
func sensitivityText(s design.Sensitivity, fingerprint string) string {
	var parts []string
	if s.Falls > 0 {
		parts = append(parts, fmt.Sprintf("falls below %s", rate(s.Falls)))
	}
	if !math.IsInf(s.Rises, 1) {
		parts = append(parts, fmt.Sprintf("rises above %s", rate(s.Rises)))
	}
	about := shortFingerprint(fingerprint)
	if len(parts) == 0 {
		return fmt.Sprintf("The choice does not depend on how often %s is executed (now %s).", about, rate(s.Weight))
	}
	text := fmt.Sprintf("The choice changes when %s %s (now %s).", about, strings.Join(parts, " or "), rate(s.Weight))
	if !s.Proven {
		text += " This was not proven."
	}
	return text
}

// homeOf is the keyspace that a look-up table is to lie in.
func (k *maker) homeOf(o *offer) string {
	return schema.DataKeyspace(k.DataKeyspace, o.schema.Keyspace)
}

// definitions are what the change will make: the keyspace, if it is one of ours, and the table.
func (k *maker) definitions(o *offer) (cql []string) {
	home := k.homeOf(o)
	if base := k.Schema.Keyspace(o.schema.Keyspace); base != nil && home != base.Name {
		cql = append(cql, base.CreateLike(home)+";")
	}
	return append(cql, createLookUp(o, home))
}

// createLookUp is the CREATE TABLE of a look-up table, as the change will write it but for its comment.
func createLookUp(o *offer, home string) string {
	var b strings.Builder
	quote := model.Quote
	fmt.Fprintf(&b, "CREATE TABLE %s.%s (\n  %s %s,\n", quote(home), quote(o.name), quote(o.column), o.schema.Column(o.column).Type)
	keys, orders := []string{}, []string{}
	clustered := func(name, order string) {
		keys, orders = append(keys, quote(name)), append(orders, quote(name)+" "+order)
	}
	for _, c := range o.schema.PrimaryKey() {
		fmt.Fprintf(&b, "  %s %s,\n", quote(c.Name), c.Type)
		if c.Kind == schema.PartitionKey || !c.Descending {
			clustered(c.Name, "ASC")
		} else {
			clustered(c.Name, "DESC")
		}
	}
	kind, id, written := o.freeName("entry_kind"), o.freeName("entry_id"), o.freeName("written")
	clustered(kind, "ASC")
	clustered(id, "ASC")
	fmt.Fprintf(&b, "  %s tinyint,\n  %s bigint,\n  %s boolean,\n  PRIMARY KEY ((%s), %s)\n)", kind, id, written, quote(o.column), strings.Join(keys, ", "))
	fmt.Fprintf(&b, " WITH CLUSTERING ORDER BY (%s) AND %s;", strings.Join(orders, ", "), plan.LookUpOptions)
	return b.String()
}

// freeName is a name for a column of the look-up table's own, which it has of nothing else.
func (o *offer) freeName(name string) string {
	for name == o.column || slices.ContainsFunc(o.schema.PrimaryKey(), func(c schema.Column) bool { return c.Name == name }) {
		name += "_"
	}
	return name
}

func lookUpRisks(o *offer) []string {
	return []string{
		fmt.Sprintf("All writers of %s must go through Helenus while it serves: a row written past it is not found by %s.", o.schema.Name, o.column),
		fmt.Sprintf("Writes that set %s wait for one more write, and if that one fails, reads run as written until all is verified again (or, by --on-entry-failure refuse, the write fails).", o.column),
		fmt.Sprintf("A value of %s that very many rows share makes a large partition; above 1,000 entries the original statement runs.", o.column),
		fmt.Sprintf("Triggers, CDC and audit logs see statements of Helenus, on %s and on the look-up table (%s).", o.schema.Name, condition.SideEffects.Name()),
	}
}
