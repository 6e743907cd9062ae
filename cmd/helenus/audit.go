package main

import (
	"fmt"
	"io"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/helenus-db/helenus/capture/store"
	"github.com/helenus-db/helenus/internal/admin"
	"github.com/helenus-db/helenus/internal/config"
)

func auditCommand() *cobra.Command {
	var (
		r                        remote
		change, who, what, since string
		limit                    = rowLimit(50)
		reverse                  bool
	)
	c := &cobra.Command{
		Use: "audit", Short: "Who decided what, from where, why, from which state to which: the trail that nothing overwrites", Args: usage(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error {
			list, err := trail(c, &r, url.Values{"change": {change}, "actor": {who}, "action": {what}, "since": {since}}, int(limit))
			if err != nil {
				return err
			}
			if reverse {
				slices.Reverse(list)
			}
			if r.structured() {
				return r.encode(c.OutOrStdout(), list)
			}
			return printTrail(r.paper(c.OutOrStdout()), list)
		},
	}
	r.flags(c)
	c.Flags().StringVar(&change, "change", "", "of this change only, and of its parts")
	c.Flags().StringVar(&who, "actor", "", "of this actor only; helenus and guard are Helenus itself")
	c.Flags().StringVar(&what, "action", "", "of this action only, such as approve, token or token.create")
	c.Flags().StringVar(&since, "since", "", "not older than this: 24h, 30d, or a time such as 2026-01-31T08:00:00Z")
	c.Flags().Var(&limit, "limit", "how many to list, 0 for all")
	c.Flags().BoolVar(&reverse, "reverse", false, "the oldest first")
	return c
}

// trail reads as many lines as are wanted, 0 for all, page by page.
func trail(c *cobra.Command, r *remote, q url.Values, limit int) ([]store.Entry, error) {
	client, err := r.client()
	if err != nil {
		return nil, err
	}
	if d, err := config.Duration(q.Get("since")); err == nil { // which has days, as the API has not
		q.Set("since", d.String())
	}
	list := []store.Entry{}
	for limit == 0 || len(list) < limit {
		page := store.AuditLimit
		if limit > 0 {
			page = min(page, limit-len(list))
		}
		q.Set("limit", strconv.Itoa(page))
		var answer admin.AuditAnswer
		if err := client.Get(c.Context(), "audit?"+q.Encode(), &answer); err != nil {
			return nil, err
		}
		list = append(list, answer.Entries...)
		if answer.Next == 0 {
			break
		}
		q.Set("before", strconv.FormatInt(answer.Next, 10))
	}
	return list, nil
}

func printTrail(w io.Writer, list []store.Entry) error {
	if len(list) == 0 {
		_, err := fmt.Fprintln(w, "Nothing was decided, or nothing of that kind.")
		return err
	}
	t := newTable("time", "actor", "role", "from", "action", "on", "state", "reason")
	for i := range list {
		e := &list[i]
		state := e.After
		if e.Before != "" {
			state = e.Before + " -> " + e.After
		}
		reason := e.Reason
		if len(e.Despite) > 0 {
			reason = strings.TrimSpace("despite " + strings.Join(e.Despite, ", ") + "; " + reason)
		}
		role := e.Role
		if e.Via != "" && e.Via != "token" {
			role += " (" + e.Via + ")"
		}
		t.AppendRow([]any{e.At.Format(time.RFC3339), cut(e.Actor, 40), role, e.From, e.Action, e.Target, state, cut(reason, 100)})
	}
	return render(w, t)
}
