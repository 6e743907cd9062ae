package contest

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Section is text of the report besides tables, and charts to be shown below it (files beside the report).
type Section struct {
	Title  string
	Text   string
	Charts []string
}

// Markdown writes the report for people. Sections come after the means of the mixes.
func (r *Result) Markdown(w io.Writer, title string, sections ...Section) error {
	m := &markdown{}
	m.line("# %s\n", title)
	r.facts(m)
	r.mixes(m)
	for _, s := range sections {
		m.line("\n## %s\n", s.Title)
		if s.Text != "" {
			m.line("%s\n", strings.TrimSpace(s.Text))
		}
		for _, c := range s.Charts {
			m.line("![%s](%s)\n", s.Title, c)
		}
	}
	r.requests(m)
	r.processors(m)
	r.splits(m)
	r.space(m)
	r.foretold(m)
	r.statements(m)
	_, err := io.WriteString(w, m.String())
	return err
}

type markdown struct{ strings.Builder }

func (m *markdown) line(format string, args ...any) { fmt.Fprintf(m, format+"\n", args...) }

// table writes a table; all but the first column of text are right-aligned from column number left on.
func (m *markdown) table(left int, head []string, rows [][]string) {
	marks := make([]string, len(head))
	for i := range marks {
		if marks[i] = "---:"; i < left {
			marks[i] = "---"
		}
	}
	for _, cells := range append([][]string{head, marks}, rows...) {
		m.line("| %s |", strings.Join(cells, " | "))
	}
	m.line("")
}

func (r *Result) facts(m *markdown) {
	if r.Incomplete != "" {
		m.line("**Not complete: %s.**\n", r.Incomplete)
	}
	counts := make([]string, 0, len(r.Entities))
	for _, e := range slices.SortedFunc(maps.Keys(r.Entities), func(a, b string) int {
		return cmp.Or(cmp.Compare(r.Entities[b], r.Entities[a]), cmp.Compare(a, b))
	}) {
		counts = append(counts, thousands(r.Entities[e])+" "+e)
	}
	system := r.Machine.System
	if r.Machine.Model != "" {
		system = r.Machine.Model + ", " + system
	}
	rows := [][]string{
		{"command", "`" + r.Command + "`"},
		{"when", r.Started.UTC().Format("2006-01-02 15:04 UTC") + ", " + number(r.Seconds/60) + " minutes"},
		{"data", fmt.Sprintf("scale %s: %s; seed %d", number(r.Scale), strings.Join(counts, ", "), r.Seed)},
		{"machine", fmt.Sprintf("%d processors (%s), %s of memory, %s", r.Machine.Processors, system, bytes(r.Machine.Memory), r.Machine.Go)},
		{"server", fmt.Sprintf("Apache Cassandra %s, one node on the same machine, heap %s, replication 1, consistency ONE", r.Machine.Cassandra, cmp.Or(r.Machine.Heap, "as it is"))},
		{"load", fmt.Sprintf("%.1f on average in the minute before", r.Machine.Load)},
		{"cost model", r.CostModel},
	}
	m.table(2, []string{"what", "this run"}, rows)
	for _, n := range r.Notes {
		m.line("%s\n", n)
	}
	for _, id := range slices.Sorted(maps.Keys(r.Left)) {
		m.line("Left out for all: %s, %s.\n", id, r.Left[id])
	}
	if r.Failures > 0 {
		m.line("Cassandra failed while it was measured; %d requests were sent anew.\n", r.Failures)
	}
}

// columns are the names that a map of figures has, in the order of the entries, then those made up.
func (r *Result) columns(has func(name string) bool, more ...string) []string {
	var names []string
	for _, e := range r.Entries {
		if has(e.Name) {
			names = append(names, e.Name)
		}
	}
	for _, n := range slices.Sorted(slices.Values(more)) {
		if has(n) && !slices.Contains(names, n) {
			names = append(names, n)
		}
	}
	return names
}

func (r *Result) mixes(m *markdown) {
	if len(r.Mixes) == 0 {
		return
	}
	m.line("## Weighted means\n\nMean response time of a request in each mix, ms, and how many times that of our design for the mix it is. A mix weighs whole requests; each kind was measured as often\nas the time allowed, and its mean is weighted by how often the mix sends it.\n")
	for i := range r.Mixes {
		x := &r.Mixes[i]
		var rows [][]string
		for _, e := range r.columns(func(n string) bool { _, ok := x.Means[n]; return ok }, slices.Collect(maps.Keys(x.Means))...) {
			rows = append(rows, []string{e, number(x.Means[e]), number(x.Factors[e]), number(x.Servers[e]), number(x.Clients[e])})
		}
		m.table(1, []string{"**" + cmp.Or(x.Name, "all") + "**", "mean ms", "by ours", "Cassandra's processor ms", "client's processor ms"}, rows)
	}
}

func (r *Result) requests(m *markdown) {
	m.line("## Each kind of request\n")
	m.table(2, []string{"request", "design", "times", "mean ms", "± ms", "p50 ms", "p99 ms", "CQL requests", "rows", "bytes"}, r.figures(func(row *Row) (string, bool) {
		return row.Request, row.Statement == ""
	}))
}

func (r *Result) statements(m *markdown) {
	m.line("## Each statement\n")
	m.table(2, []string{"statement", "design", "times", "mean ms", "± ms", "p50 ms", "p99 ms", "CQL requests", "rows", "bytes", "predicted ms"}, r.figures(func(row *Row) (string, bool) {
		return row.Request + " " + row.Statement, row.Statement != ""
	}))
	var rows [][]string
	for i := range r.Requests {
		if row := &r.Requests[i]; row.Statement != "" {
			rows = append(rows, []string{row.Statement, "`" + row.Text + "`"})
		}
	}
	m.table(2, []string{"statement", "text"}, rows)
}

func (r *Result) figures(wanted func(*Row) (string, bool)) [][]string {
	var rows [][]string
	for i := range r.Requests {
		row := &r.Requests[i]
		name, ok := wanted(row)
		if !ok {
			continue
		}
		for _, e := range r.columns(func(n string) bool { return row.Took[n].Count > 0 }) {
			f := row.Took[e]
			cells := []string{name, e, strconv.Itoa(f.Count), number(f.Mean), number(f.Error), number(f.P50), number(f.P99), number(f.Requests), number(f.Rows), number(f.Bytes)}
			if row.Statement != "" {
				said := ""
				if s, ok := row.Said[e]; ok {
					said = number(s.Latency)
				}
				cells = append(cells, said)
			}
			rows = append(rows, cells)
			name = ""
		}
	}
	return rows
}

// processors says where the time goes: what each process used of the processors, and what nobody did.
func (r *Result) processors(m *markdown) {
	var rows [][]string
	for i := range r.Requests {
		row := &r.Requests[i]
		if row.Statement != "" {
			continue
		}
		name := row.Request
		for _, e := range r.columns(func(n string) bool { return row.Took[n].Server > 0 }) {
			f := row.Took[e]
			rows = append(rows, []string{name, e, number(f.Mean), number(f.Server), number(f.Client), number((f.Server + f.Client) / f.Mean)})
			name = ""
		}
	}
	if len(rows) == 0 {
		return
	}
	m.line("## Where the time goes\n\nProcessor time of the two processes while a request was on its way (Cassandra's with what it does in the background). Where their sum by the response time comes near the number of processors, the processors are what limits it; where it is below 1, the way through the kernel and waiting are.\n")
	m.table(2, []string{"request", "design", "mean ms", "Cassandra ms", "client ms", "processors busy"}, rows)
}

// splits says where the time goes, by Cassandra's traces.
func (r *Result) splits(m *markdown) {
	if r.Disk != nil {
		m.line("Disk: while requests were measured, Cassandra had %s read from it, and %s written (commit log, flushes, compaction), by the system's account of its process.\n", bytes(r.Disk.Read), bytes(r.Disk.Written))
	}
	if len(r.Splits) == 0 {
		return
	}
	m.line("### By traces\n\nEach request some times more, after the measurements, with its CQL requests one after the other and traced by Cassandra (`system_traces`; of more than %d in one execution every nth), so that the parts add up. Tracing has a price, which falls on Cassandra's parts, so these times are longer than those measured: they tell shares.\nClient: the executor, between the answers. Way: driver, kernel, protocol. Coordinator: Cassandra but for the tables (reading the request, planning, queues, the answer). Replica: tables read and written, with files read and tombstones passed, of all CQL requests of one execution.\n", tracedMost)
	cells := func(s *Split) []string {
		return []string{number(s.Mean), number(s.Client), number(s.Way), number(s.Coordinator), number(s.Replica), number(s.Requests), number(s.SSTables), number(s.Tombstones)}
	}
	head := []string{"traced ms", "client", "way", "coordinator", "replica", "CQL requests", "files", "tombstones"}
	for i := range r.Mixes {
		x := &r.Mixes[i]
		if _, ok := r.splitOf(x.Name, x.Ours); !ok {
			continue
		}
		var rows [][]string
		for _, e := range r.columns(func(n string) bool { _, ok := x.Means[n]; return ok }) {
			if s, ok := r.splitOf(x.Name, e); ok {
				rows = append(rows, append([]string{e}, cells(&s)...))
			}
		}
		m.table(1, append([]string{"**" + cmp.Or(x.Name, "all") + "**, weighted"}, head...), rows)
	}
	rows := make([][]string, 0, len(r.Splits))
	last := ""
	for i := range r.Splits {
		s := &r.Splits[i]
		name := s.Request
		if name == last {
			name = ""
		}
		last = s.Request
		rows = append(rows, append([]string{name, s.Entry}, cells(s)...))
	}
	m.table(2, append([]string{"request", "design"}, head...), rows)
	lost, traced := 0, 0
	for i := range r.Splits {
		lost, traced = lost+r.Splits[i].Lost, traced+r.Splits[i].Traced
	}
	m.line("%s CQL requests were traced; %d traces did not come.\n", thousands(float64(traced)), lost)
}

func (r *Result) space(m *markdown) {
	m.line("## Space\n")
	var rows [][]string
	for _, e := range r.Entries {
		rows = append(rows, []string{e.Name, strconv.Itoa(len(e.Tables)), thousands(e.Rows), bytes(e.Bytes), bytes(e.Said), number(e.Seconds)})
	}
	m.table(1, []string{"design", "tables", "rows", "on disk, compressed", "predicted, uncompressed", "load, s"}, rows)
	for _, e := range r.Entries {
		m.line("<details><summary>%s</summary>\n", e.Name)
		rows = rows[:0]
		for _, t := range e.Tables {
			rows = append(rows, []string{t.Name, "`" + t.Table + "`", thousands(t.Rows), bytes(t.Bytes)})
		}
		m.table(2, []string{"table", "[partition][clustering][values]", "rows", "on disk"}, rows)
		m.line("</details>\n")
	}
}

func (r *Result) foretold(m *markdown) {
	p := r.Prediction
	if p == nil {
		return
	}
	m.line("## What the cost model said\n\n%s. Over %d designs: Kendall's tau %.2f. Over %d plans of statements (each measured by its median): median error %.0f %%, nine of ten below %.0f %%.\n",
		p.Model, len(p.Designs), p.Tau, len(p.Statements), 100*p.MedianError, 100*p.P90Error)
	rows := make([][]string, 0, len(p.Designs))
	for i := range p.Designs {
		d := &p.Designs[i]
		rows = append(rows, []string{d.Name, number(d.Said), number(d.Measured), percent(d.Said/d.Measured - 1), number(d.Work), number(d.Processor)})
	}
	m.table(1, []string{"design", "predicted ms", "measured ms", "off", "predicted work ms", "measured processor ms"}, rows)
	m.line("<details><summary>plans of statements</summary>\n")
	rows = rows[:0]
	for i := range p.Statements {
		s := &p.Statements[i]
		rows = append(rows, []string{s.Name, strconv.Itoa(s.Count), number(s.Said), number(s.Measured), percent(s.Said/s.Measured - 1), "`" + strings.ReplaceAll(s.Plan, "\n", "; ") + "`"})
	}
	m.table(1, []string{"statement", "times", "predicted ms", "measured ms", "off", "plan"}, rows)
	m.line("</details>\n")
}

// number writes four figures at most, without an exponent.
func number(x float64) string { return strconv.FormatFloat(rounded(x), 'f', -1, 64) }

func percent(x float64) string { return fmt.Sprintf("%+.0f %%", 100*x) }

func thousands(x float64) string {
	s := strconv.FormatFloat(x, 'f', 0, 64)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

func bytes(x float64) string {
	for _, u := range []struct {
		of   float64
		name string
	}{{1e9, "GB"}, {1e6, "MB"}, {1e3, "kB"}} {
		if x >= u.of {
			return fmt.Sprintf("%.1f %s", x/u.of, u.name)
		}
	}
	return fmt.Sprintf("%.0f B", x)
}
