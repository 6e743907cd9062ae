package main

import (
	"errors"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/safety"
)

// safetyFlags are what `helenus safety` is asked for.
type safetyFlags struct {
	group, schema, principal string
	owners                   []string
	users                    int
	live, explain            bool
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

Exit codes: 0 checked, whatever the verdicts; 2 bad input; with --live those of helenus statements.`,
		RunE: func(c *cobra.Command, args []string) error {
			switch {
			case f.live == (len(args) == 1):
				return usageError{errors.New("name a FILE, or --live, and not both")}
			case f.live:
				return f.ask(c)
			case f.table != "" || len(f.facts) > 0:
				return usageError{errors.New("--table and --fact go with --live")}
			}
			if err := f.run(c.OutOrStdout(), args[0]); err != nil {
				return usageError{err}
			}
			return nil
		},
	}
	flags := c.Flags()
	flags.StringVar(&f.group, "group", string(safety.Partition), "what writers must not meet in: partition, row or cell")
	flags.StringVar(&f.schema, "schema", "", "SCHEMA: the name of one of the file's schemas, or a file of tables in YAML or CQL; default: the file's tables")
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
	if f.schema != "" || f.explain {
		return usageError{errors.New("--live: it is the live tables that are checked; leave --schema and --explain out")}
	}
	v := url.Values{"group": {f.group}, "owner": f.owners, "fact": f.facts}
	for name, value := range map[string]string{"principal": f.principal, "table": f.table} {
		if value != "" {
			v.Set(name, value)
		}
	}
	if !f.json {
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
	_, err = c.OutOrStdout().Write(raw)
	return err
}

func (f *safetyFlags) run(out io.Writer, file string) error {
	group := safety.Group(f.group)
	if !slices.Contains(safety.Groups, group) {
		return fmt.Errorf("--group: %w", &model.NameError{What: "group", Name: f.group, Known: []string{"partition", "row", "cell"}})
	}
	if f.users < 2 {
		return fmt.Errorf("--users: %w", safety.ErrUsers)
	}
	if f.json && f.explain {
		return fmt.Errorf("--explain: it prints automata as text; leave --json out")
	}
	data, err := model.ReadFile(file)
	if err != nil {
		return err
	}
	var list []*safety.Finding
	var grammars []*safety.Grammar
	if safety.Is(data) {
		g, err := safety.Parse(file, data)
		if err != nil {
			return model.Show(err, data)
		}
		one, err := safety.JudgeGrammar(file, g, group)
		if err != nil {
			return err
		}
		list, grammars = append(list, one), append(grammars, g)
	} else {
		tables, p, err := f.tables(file)
		if err != nil {
			return err
		}
		for _, t := range tables {
			one, err := safety.Judge(t, group, p)
			if err != nil {
				return err
			}
			list, grammars = append(list, one), append(grammars, t.Grammar(group))
		}
	}
	if f.json {
		return safety.JSON(out, list)
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

// tables reads the tables of a workload's file, with who writes them.
func (f *safetyFlags) tables(file string) ([]*safety.Table, safety.Principal, error) {
	var p safety.Principal
	w, err := loadWorkload(file)
	if err != nil {
		return nil, p, err
	}
	if p, err = safety.PrincipalOf(w); err != nil {
		return nil, p, err
	}
	tables := w.Tables
	if f.schema != "" {
		if tables, err = schemaNamed(w, f.schema); err != nil {
			return nil, p, fmt.Errorf("--schema: %w", err)
		}
	}
	if len(tables) == 0 {
		return nil, p, fmt.Errorf("%s: it has no tables to check; name a schema%s by --schema", file, schemasHelp(w))
	}
	if f.principal != "" {
		if p.Entity, p.Guessed = w.Graph.Entity(f.principal), false; p.Entity == nil {
			var known []string
			for _, e := range w.Graph.Entities {
				known = append(known, e.Name)
			}
			return nil, p, fmt.Errorf("--principal: %w", &model.NameError{What: "entity", Name: f.principal, Known: known})
		}
	}
	for _, o := range f.owners {
		id, field, ok := strings.Cut(o, "=")
		if !ok {
			return nil, p, fmt.Errorf("--owner: %s is not STATEMENT=Entity.attribute", o)
		}
		if w.Statement(id) == nil {
			var known []string
			for _, s := range w.Statements {
				known = append(known, s.ID)
			}
			return nil, p, fmt.Errorf("--owner: %w", &model.NameError{What: "statement", Name: id, Known: known})
		}
		if field == "*" {
			p.Owners[id] = safety.Anyone()
			continue
		}
		found, err := w.Graph.Field(field)
		if err != nil {
			return nil, p, fmt.Errorf("--owner %s: %w", id, err)
		}
		p.Owners[id] = safety.Var(found.String())
	}
	return safety.Encode(w, tables, p), p, nil
}
