// Command ablation measures what each method of the kernel is worth: every workload with all methods, and without each of them.
//
//	make bench-ablation                               the table of docs/optimiser.md; an hour or two
//	bin/ablation/ablation -only 'groups,sweep' -workloads rubis
//
// The programs that it runs, advisor and timeline, lie beside it and are built with the tag ablation: only those ask HELENUS_WITHOUT (advisor/ablation). A cell says by how many
// percent the cost is above that with all methods, and how many times as long it took, by the processor's time.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/helenus-db/helenus/advisor/ablation"
)

func main() {
	os.Exit(run(context.Background(), os.Args[1:], os.Stdout, os.Stderr))
}

// figure is what a workload came to.
type figure struct {
	cost    float64
	seconds float64 // of the processor
}

// calendars are those cases of bench/timeline that the bars of the optimiser speak of.
var calendars = []string{"cycles, 12 steps, 80 %, pruned", "evolution, 12 steps, 80 %, pruned", "spikes, 12 steps, 80 %, pruned", "cycles, 44 steps, 80 %, pruned"}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("ablation", flag.ContinueOnError)
	flags.SetOutput(stderr)
	only := flags.String("only", "", "the methods to do without, with commas; none: each")
	workloads := flags.String("workloads", "", "measure only workloads whose name contains this")
	if flags.Parse(args) != nil {
		return 2
	}
	methods := ablation.Methods
	if *only != "" {
		methods = nil
		for name := range strings.SplitSeq(*only, ",") {
			if !slices.Contains(ablation.Methods, ablation.Method(name)) {
				_, _ = fmt.Fprintf(stderr, "there is no method %q: %q\n", name, ablation.Methods)
				return 2
			}
			methods = append(methods, ablation.Method(name))
		}
	}
	program, err := os.Executable()
	if err != nil {
		_, _ = fmt.Fprintln(stderr, err)
		return 1
	}
	b := &bench{folder: filepath.Dir(program), workloads: *workloads}
	whole, names, err := b.measure(ctx, "")
	if err != nil {
		_, _ = fmt.Fprintln(stderr, err)
		return 1
	}
	_, _ = fmt.Fprintf(stdout, "| without | %s |\n|---|%s\n| nothing |", strings.Join(names, " | "), strings.Repeat("---|", len(names)))
	for _, name := range names {
		_, _ = fmt.Fprintf(stdout, " %.5g, %.1f s |", whole[name].cost, whole[name].seconds)
	}
	_, _ = fmt.Fprintln(stdout)
	for _, m := range methods {
		found, _, err := b.measure(ctx, m)
		if err != nil {
			_, _ = fmt.Fprintf(stderr, "without %s: %v\n", m, err)
			return 1
		}
		_, _ = fmt.Fprintf(stdout, "| %s |", m)
		for _, name := range names {
			_, _ = fmt.Fprintf(stdout, " %s |", compare(whole[name], found[name]))
		}
		_, _ = fmt.Fprintln(stdout)
	}
	return 0
}

// compare says what a workload came to beside what it comes to with all methods.
func compare(whole, without figure) string {
	return fmt.Sprintf("%+.2f %%, %.2fx", 100*(without.cost/whole.cost-1), without.seconds/whole.seconds)
}

type bench struct {
	folder    string // of the programs
	workloads string
}

// measure measures all workloads without a method, and lists their names.
func (b *bench) measure(ctx context.Context, without ablation.Method) (found map[string]figure, names []string, err error) {
	found = map[string]figure{}
	note := func(name string, f figure) {
		if strings.Contains(name, b.workloads) {
			found[name], names = f, append(names, name)
		}
	}
	for _, name := range []string{"rubis", "eac"} {
		if b.workloads != "" && !strings.Contains(name, b.workloads) && !strings.HasPrefix(b.workloads, name) {
			continue
		}
		out, err := b.output(ctx, without, "advisor", "-json", "-only", name)
		if err != nil {
			return nil, nil, err
		}
		if err := readAdvisor(out, note); err != nil {
			return nil, nil, err
		}
	}
	for _, name := range calendars {
		if !strings.Contains(name, b.workloads) {
			continue
		}
		out, err := b.output(ctx, without, "timeline", "-only", name)
		if err != nil {
			return nil, nil, err
		}
		if err := readTimeline(out, name, note); err != nil {
			return nil, nil, err
		}
	}
	return found, names, nil
}

// output is what a program prints. That it ends with an error is none here: the advisor's says that a bar is missed, which is what is asked.
func (b *bench) output(ctx context.Context, without ablation.Method, program string, args ...string) ([]byte, error) {
	c := exec.CommandContext(ctx, filepath.Join(b.folder, program), args...)
	c.Env = append(os.Environ(), ablation.Variable+"="+string(without))
	var words bytes.Buffer
	c.Stderr = &words
	out, err := c.Output()
	if err != nil && len(out) == 0 {
		return nil, fmt.Errorf("%s: %w: %s", program, err, strings.TrimSpace(words.String()))
	}
	return out, nil
}

// readAdvisor reads the results of bench/advisor.
func readAdvisor(out []byte, note func(string, figure)) error {
	var list []struct {
		Name      string  `json:"name"`
		Cost      string  `json:"cost"`
		Value     float64 `json:"value"`
		Processor float64 `json:"processor_s"`
	}
	if err := json.Unmarshal(out, &list); err != nil {
		return fmt.Errorf("what advisor -json prints: %w", err)
	}
	for _, x := range list {
		name := x.Name
		if x.Cost != "" {
			name += ", " + x.Cost
		}
		note(name, figure{x.Value, x.Processor})
	}
	return nil
}

// readTimeline reads the row of a case in what bench/timeline prints: the second column is the cost, the last one both times.
func readTimeline(out []byte, name string, note func(string, figure)) error {
	for line := range strings.Lines(string(out)) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		if len(cells) < 10 || strings.TrimSpace(cells[0]) != name {
			continue
		}
		cost, err := strconv.ParseFloat(strings.TrimSpace(cells[1]), 64)
		if err != nil {
			return fmt.Errorf("the cost of %s: %w", name, err)
		}
		times := strings.Split(cells[len(cells)-1], ",")
		seconds, err := strconv.ParseFloat(strings.TrimSuffix(strings.TrimSpace(times[len(times)-1]), " s"), 64)
		if err != nil {
			return fmt.Errorf("the time of %s: %w", name, err)
		}
		note(name, figure{cost, seconds})
		return nil
	}
	return fmt.Errorf("timeline printed no row of %s", name)
}
