package main

import (
	"errors"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/helenus-db/helenus/advisor/design"
	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/safety"
	"github.com/helenus-db/helenus/advisor/workload"
)

// safetyFlags are what `helenus safety` is asked for.
type safetyFlags struct {
	solver                   solverFlag
	group, schema, principal string
	owners                   []string
	users                    int
	live, explain, designed  bool
	table                    string
	facts                    []string
	remote
}

func safetyCommand() *cobra.Command {
	var f safetyFlags
	c := &cobra.Command{
		Use: "safety FILE", Short: "Tell whether several writers can meet in one partition, row or cell", Args: usage(cobra.MaximumNArgs(1)),
		Long: `Safety checks each table of FILE, a model and a workload in YAML as for design, or a grammar of entity groups as text (root ::= …,
put_u(…)), and shows for those that are not safe two writes that can meet, and other keys that were checked again.

With --live it checks the tables of the cluster behind the running process, for the writes that were captured: who sends
which is concluded from where their values come from, or said by --principal keyspace.table.column (or applications) and --owner,
and how bad it is if they meet from what was measured. --fact confirms that columns determine another.

  helenus safety --live
  helenus safety --live --table shop.orders --principal shop.users.id --fact 'shop.orders: id -> buyer'

Whatever the verdicts, to have checked is to be done.

` + exitsText(exitDone, exitUsage, exitNoPlan, exitUnreachable),
		RunE: func(c *cobra.Command, args []string) error {
			switch {
			case f.live == (len(args) == 1):
				return usageError{errors.New("name a FILE, or --live, and not both")}
			case f.live:
				return f.ask(c)
			case f.table != "" || len(f.facts) > 0:
				return usageError{errors.New("--table and --fact go with --live")}
			}
			return f.run(c, args[0])
		},
	}
	flags := c.Flags()
	f.solver.flags(flags)
	flags.StringVar(&f.group, "group", string(safety.Partition), "what writers must not meet in: partition, row or cell")
	flags.StringVar(&f.schema, "schema", "", "SCHEMA: the name of one of the file's schemas, or a file of tables in YAML or CQL; default: the file's tables; if it has none, --designed")
	flags.BoolVar(&f.designed, "designed", false, "the tables that helenus design chooses for FILE")
	f.remote.flags(c)
	flags.BoolVar(&f.live, "live", false, "the tables and writes that the running process sees (see --server)")
	flags.StringVar(&f.table, "table", "", "with --live, one table (table, or keyspace.table)")
	flags.StringArrayVar(&f.facts, "fact", nil, "with --live, \"keyspace.table: column, column -> column\": that the first determine the last; may be given more than once")
	flags.StringVar(&f.principal, "principal", "", "the entity whose members write; default: what the file says (safety: principal), else guessed by its name")
	flags.StringArrayVar(&f.owners, "owner", nil, "STATEMENT=Entity.attribute: the field that names who sends a statement, or * for anyone; with --live, FINGERPRINT=column; may be given more than once")
	flags.BoolVar(&f.explain, "explain", false, "print the grammars, and the explicit hedge automata over --users users, too")
	flags.IntVar(&f.users, "users", 2, "users of the explicit automata, at least 2")
	return c
}

// ask has the running process check.
func (f *safetyFlags) ask(c *cobra.Command) error {
	if f.schema != "" || f.explain || f.designed {
		return usageError{errors.New("--live: it is the live tables that are checked; leave --schema, --designed and --explain out")}
	}
	v := url.Values{"group": {f.group}, "owner": f.owners, "fact": f.facts}
	for name, value := range map[string]string{"principal": f.principal, "table": f.table} {
		if value != "" {
			v.Set(name, value)
		}
	}
	if !f.structured() {
		v.Set("format", "text")
	}
	client, err := f.client()
	if err != nil {
		return err
	}
	var raw []byte
	if err := client.Get(c.Context(), "safety?"+v.Encode(), &raw); err != nil {
		return err
	}
	if f.structured() {
		return f.write(c.OutOrStdout(), raw)
	}
	_, err = c.OutOrStdout().Write(raw)
	return err
}

func (f *safetyFlags) run(c *cobra.Command, file string) error {
	list, grammars, err := f.judged(c, file)
	if err != nil {
		return err
	}
	out := c.OutOrStdout()
	if f.structured() {
		return f.by(out, func(w io.Writer) error { return safety.JSON(w, list) })
	}
	if err := safety.Text(out, list); err != nil || !f.explain {
		return err
	}
	for i, g := range grammars {
		if err := safety.Explain(out, list[i].Name, g, f.users); err != nil {
			return err
		}
	}
	return nil
}

// judged checks a file, and returns with each finding the grammar that was checked. All errors are bad input but those of designing.
func (f *safetyFlags) judged(c *cobra.Command, file string) (list []*safety.Finding, grammars []*safety.Grammar, err error) {
	group := safety.Group(f.group)
	switch {
	case !slices.Contains(safety.Groups, group):
		return nil, nil, usageError{fmt.Errorf("--group: %w", &model.NameError{What: "group", Name: f.group, Known: []string{"partition", "row", "cell"}})}
	case f.users < 2:
		return nil, nil, usageError{fmt.Errorf("--users: %w", safety.ErrUsers)}
	case f.structured() && f.explain:
		return nil, nil, usageError{errors.New("--explain: it prints automata as text; leave -o out")}
	case f.designed && f.schema != "":
		return nil, nil, usageError{errors.New("--designed and --schema are two sets of tables: name one")}
	}
	data, err := model.ReadFile(file)
	if err != nil {
		return nil, nil, usageError{err}
	}
	if safety.Is(data) {
		if f.designed || f.schema != "" || f.principal != "" || len(f.owners) > 0 {
			return nil, nil, usageError{fmt.Errorf("%s: a grammar says itself what is written by whom: leave --designed, --schema, --principal and --owner out", file)}
		}
		g, err := safety.Parse(file, data)
		if err != nil {
			return nil, nil, usageError{model.Show(err, data)}
		}
		one, err := safety.JudgeGrammar(file, g, group)
		if err != nil {
			return nil, nil, usageError{err}
		}
		return []*safety.Finding{one}, []*safety.Grammar{g}, nil
	}
	w, err := loadWorkload(file)
	if err != nil {
		return nil, nil, usageError{err}
	}
	p, err := f.who(w)
	if err != nil {
		return nil, nil, usageError{err}
	}
	tables, err := f.tables(c, file, w)
	if err != nil {
		return nil, nil, err
	}
	for _, t := range safety.Encode(w, tables, p) {
		one, err := safety.Judge(t, group, p)
		if err != nil {
			return nil, nil, usageError{err}
		}
		list, grammars = append(list, one), append(grammars, t.Grammar(group))
	}
	return list, grammars, nil
}

// tables are those to check: the file's, those of a schema, or those that are designed.
func (f *safetyFlags) tables(c *cobra.Command, file string, w *workload.Workload) ([]*model.Table, error) {
	designed, err := isDesigned(c.ErrOrStderr(), file, w, f.schema, f.designed)
	switch {
	case err != nil:
		return nil, err
	case f.schema != "":
		tables, err := schemaNamed(w, f.schema)
		if err != nil {
			return nil, usageError{fmt.Errorf("--schema: %w", err)}
		}
		return tables, nil
	case !designed:
		return w.Tables, nil
	}
	d, _, _, err := choose(c.Context(), w, design.Options{Solver: f.solver.process()}, false)
	if err != nil {
		return nil, explained(err)
	}
	tables := make([]*model.Table, len(d.Tables))
	for i, t := range d.Tables {
		own := *t.Table
		own.Name, tables[i] = t.Name, &own
	}
	return tables, nil
}

// who is who writes, by the file and the flags.
func (f *safetyFlags) who(w *workload.Workload) (safety.Principal, error) {
	p, err := safety.PrincipalOf(w)
	if err != nil {
		return p, err
	}
	if f.principal != "" {
		if p.Entity, p.Guessed = w.Graph.Entity(f.principal), false; p.Entity == nil {
			var known []string
			for _, e := range w.Graph.Entities {
				known = append(known, e.Name)
			}
			return p, fmt.Errorf("--principal: %w", &model.NameError{What: "entity", Name: f.principal, Known: known})
		}
	}
	for _, o := range f.owners {
		id, field, ok := strings.Cut(o, "=")
		if !ok {
			return p, fmt.Errorf("--owner: %s is not STATEMENT=Entity.attribute", o)
		}
		if w.Statement(id) == nil {
			var known []string
			for _, s := range w.Statements {
				known = append(known, s.ID)
			}
			return p, fmt.Errorf("--owner: %w", &model.NameError{What: "statement", Name: id, Known: known})
		}
		if field == "*" {
			p.Owners[id] = safety.Anyone()
			continue
		}
		found, err := w.Graph.Field(field)
		if err != nil {
			return p, fmt.Errorf("--owner %s: %w", id, err)
		}
		p.Owners[id] = safety.Var(found.String())
	}
	return p, nil
}
