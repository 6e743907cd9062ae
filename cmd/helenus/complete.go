package main

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/helenus-db/helenus/advisor"
	"github.com/helenus-db/helenus/advisor/diagram/picture"
	"github.com/helenus-db/helenus/advisor/diagram/svg"
	"github.com/helenus-db/helenus/advisor/recommend"
	"github.com/helenus-db/helenus/advisor/safety"
	"github.com/helenus-db/helenus/capture/cql"
	"github.com/helenus-db/helenus/capture/cycle"
	"github.com/helenus-db/helenus/capture/report"
	"github.com/helenus-db/helenus/capture/schema"
	"github.com/helenus-db/helenus/internal/access"
	"github.com/helenus-db/helenus/internal/admin"
	"github.com/helenus-db/helenus/internal/config"
	"github.com/helenus-db/helenus/internal/preview"
	"github.com/helenus-db/helenus/rewrite/calendar"
	"github.com/helenus-db/helenus/rewrite/migrate"
)

// completeWithin bounds how long a shell waits for what the process knows. It offers nothing then.
const completeWithin = 2 * time.Second

// known is what there is to offer; with an error there is nothing.
type known func(ctx context.Context, c *admin.Client) ([]string, error)

// argumentsKnown is what the process knows of the arguments of commands, by path; what of a change can be done is offered only where it can.
var argumentsKnown = map[string]known{
	"approve": advice(preview.Approvable), "dismiss": advice(inStates(recommend.Open, recommend.Snoozed)), "reject": advice(inStates(recommend.Open, recommend.Snoozed)), "snooze": advice(inStates(recommend.Open, recommend.Snoozed)),
	"reopen": advice(inStates(recommend.Rejected, recommend.Snoozed)), "explain": advice(func(*recommend.Recommendation) bool { return true }),
	"changes": changes(nil), "migrations": changes(nil), "verify": changes(nil), "rollback": changes(func(s string) bool {
		return s != string(migrate.RolledBack) && s != string(migrate.Dropped) && s != string(calendar.Withdrawn)
	}),
	"hold": changes(among(unserved...)), "throttle": changes(among(append([]string{string(migrate.Serving)}, unserved...)...)), "cut-over": changes(among(unserved...)),
	"resume": changes(among(string(migrate.Suspended), string(migrate.Failed), string(calendar.Paused))), "drop": changes(among(string(migrate.RolledBack))), "pause": changes(among(string(calendar.Following))),
	"answer": questions, "model reset": versions, "statement": fingerprints, "trace": fingerprints, "token revoke": tokenNames, "token logout": tokenNames,
}

// unserved are the states of a change before it serves.
var unserved = []string{string(migrate.Approved), string(migrate.Created), string(migrate.DualWrite), string(migrate.Backfill), string(migrate.Verify), string(migrate.Shadow), string(migrate.Suspended), string(migrate.Failed)}

// argumentsOf are the arguments of commands that are always the same.
var argumentsOf = map[string][]string{"bypass": {"on", "off"}, "sampling": {"on", "off"}}

// valuesKnown is what the process knows of the values of flags: by path and flag.
var valuesKnown = map[string]known{
	"statements table": tableNames, "tables table": tableNames, "safety table": tableNames, "statements keyspace": keyspaceNames, "diagram keyspaces": keyspaceNames, "audit change": changes(nil),
}

// valuesOf are the values of flags that are always the same.
var valuesOf = map[string][]string{
	"approve on-entry-failure": {"turn-back", "refuse"}, "approve fill": {"own", "bulk"}, "throttle rate": {usualRate}, "bulk engine": {"spark"}, "token create role": {string(access.Agent), string(access.Viewer), string(access.Operator), string(access.Admin)},
	"statements sort": report.Sorts(), "statements class": report.Classes(), "statements kind": cql.Kinds(), "cycles period": {cycle.Auto, cycle.Day, cycle.Week},
	"diagram kind": texts(picture.Kinds), "diagram format": formats, "diagram theme": texts(svg.Themes), "safety group": texts(safety.Groups),
	"lint fail-on": {"error", "warning", "note", "never"}, "options score": {"simple", "weighted"},
}

// inStates tells whether advice is in one of some states.
func inStates(states ...recommend.State) func(*recommend.Recommendation) bool {
	return func(r *recommend.Recommendation) bool { return slices.Contains(states, r.State) }
}

func among(states ...string) func(string) bool {
	return func(s string) bool { return slices.Contains(states, s) }
}

// advice are the ids of the advice that fits, with its title.
func advice(fits func(*recommend.Recommendation) bool) known {
	return func(ctx context.Context, c *admin.Client) (list []string, err error) {
		var found admin.Recommendations
		err = c.Get(ctx, "recommendations", &found)
		for i := range found.Recommendations {
			if r := &found.Recommendations[i]; fits(r) {
				list = append(list, r.ID+"\t"+r.Title)
			}
		}
		return list, err
	}
}

// changes are the ids of changes and calendars whose state fits, with it; nil: all.
func changes(fits func(state string) bool) known {
	return func(ctx context.Context, c *admin.Client) (list []string, err error) {
		var migrations []migrate.Change
		var calendars []calendar.Calendar
		if err := c.Get(ctx, "migrations", &migrations); err != nil {
			return nil, err
		}
		if err := c.Get(ctx, "calendars", &calendars); err != nil {
			return nil, err
		}
		add := func(id, state, about string) {
			if fits == nil || fits(state) {
				list = append(list, id+"\t"+state+": "+about)
			}
		}
		for i := range migrations {
			m := &migrations[i]
			add(m.ID, string(m.State), m.Rewrite.Keyspace+"."+m.Rewrite.Base+" by "+m.Rewrite.Column)
		}
		for i := range calendars {
			add(calendars[i].ID, string(calendars[i].State), "follows the "+calendars[i].Cycle.Period)
		}
		return list, nil
	}
}

// fingerprints are those of the statements that take the most time, as they are listed.
func fingerprints(ctx context.Context, c *admin.Client) (list []string, err error) {
	var found report.Statements
	err = c.Get(ctx, "statements?sort=time&limit=50", &found)
	for i := range found.Statements {
		x := &found.Statements[i]
		list = append(list, x.Fingerprint[:8]+"\t"+short(x.Text, 60))
	}
	return list, err
}

func questions(ctx context.Context, c *admin.Client) (list []string, err error) {
	var found advisor.Questions
	err = c.Get(ctx, "questions", &found)
	for i := range found.Open {
		list = append(list, found.Open[i].ID+"\t"+short(found.Open[i].Text, 60))
	}
	return list, err
}

func versions(ctx context.Context, c *admin.Client) (list []string, err error) {
	var found []advisor.Version
	err = c.Get(ctx, "model/versions", &found)
	for i := range found {
		list = append(list, strconv.Itoa(found[i].Number)+"\t"+short(found[i].What, 60))
	}
	return list, err
}

func tokenNames(ctx context.Context, c *admin.Client) (list []string, err error) {
	var found []access.Token
	err = c.Get(ctx, "tokens", &found)
	for i := range found {
		list = append(list, found[i].Name+"\t"+string(found[i].Role))
	}
	return list, err
}

func tableNames(ctx context.Context, c *admin.Client) (list []string, err error) {
	var s schema.Schema
	err = c.Get(ctx, "schema", &s)
	for _, k := range s.Keyspaces {
		for i := range k.Tables {
			list = append(list, k.Name+"."+k.Tables[i].Name)
		}
	}
	return list, err
}

func keyspaceNames(ctx context.Context, c *admin.Client) (list []string, err error) {
	var s schema.Schema
	err = c.Get(ctx, "schema", &s)
	for _, k := range s.Keyspaces {
		list = append(list, k.Name)
	}
	return list, err
}

// offered asks the process that the flags of a command name, and quietly offers nothing if there is none.
func offered(ask known) cobra.CompletionFunc {
	return func(c *cobra.Command, _ []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		r := remote{given: c.Flags().Changed}
		for name, to := range map[string]*string{"server": &r.server, "context": &r.context, "token": &r.token, "state-dir": &r.stateDir,
			"server-ca": &r.ca, "server-cert": &r.cert, "server-key": &r.key} {
			*to, _ = c.Flags().GetString(name) // "": the command has no such flag
		}
		client, err := r.client()
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		ctx, cancel := context.WithTimeout(context.Background(), completeWithin) // a shell that completes gives no context
		defer cancel()
		list, err := ask(ctx, client)
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return list, cobra.ShellCompDirectiveNoFileComp
	}
}

// once is for commands that take one argument.
func once(f cobra.CompletionFunc) cobra.CompletionFunc {
	return func(c *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return f(c, args, typed)
	}
}

// completeContexts offers contexts.
var completeContexts = once(contextNames)

func contextNames(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	file, err := own()
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var list []cobra.Completion
	for _, one := range file.Contexts {
		list = append(list, one.Name+"\t"+one.Server)
	}
	return list, cobra.ShellCompDirectiveNoFileComp
}

// offer lets shells complete the values of a flag.
func offer(c *cobra.Command, flag string, values ...string) {
	offerBy(c, flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
}

func offerBy(c *cobra.Command, flag string, f cobra.CompletionFunc) {
	if err := c.RegisterFlagCompletionFunc(flag, f); err != nil {
		panic("completion: " + err.Error()) // of a flag that is not there, or twice: every command shows it
	}
}

// complete lets shells complete what there is to complete of all commands.
func complete(root *cobra.Command) {
	each(root, func(path string, c *cobra.Command) {
		switch ask, fixed := argumentsKnown[path], argumentsOf[path]; {
		case c.ValidArgsFunction != nil:
		case ask != nil:
			c.ValidArgsFunction = once(offered(ask))
		case fixed != nil:
			c.ValidArgsFunction = once(cobra.FixedCompletions(fixed, cobra.ShellCompDirectiveNoFileComp))
		case !strings.Contains(c.Use, "FILE"):
			c.ValidArgsFunction = cobra.NoFileCompletions
		}
		for name, values := range config.Choices {
			if c.Flags().Lookup(name) != nil {
				offer(c, name, values...)
			}
		}
	})
	for where, ask := range valuesKnown {
		c, flag := found(root, where)
		offerBy(c, flag, offered(ask))
	}
	for where, values := range valuesOf {
		c, flag := found(root, where)
		offer(c, flag, values...)
	}
}

// each calls f for all commands that have a name in help, with their path below root.
func each(c *cobra.Command, f func(path string, c *cobra.Command)) {
	for _, below := range c.Commands() {
		if !below.Hidden {
			f(strings.TrimPrefix(below.CommandPath(), below.Root().Name()+" "), below)
			each(below, f)
		}
	}
}

// found is the command and the flag of "command flag".
func found(root *cobra.Command, where string) (*cobra.Command, string) {
	words := strings.Fields(where)
	c, _, err := root.Find(words[:len(words)-1])
	if err != nil || c == root {
		panic("completion: there is no command of " + where)
	}
	return c, words[len(words)-1]
}
