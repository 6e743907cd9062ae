package main

import (
	"context"

	"github.com/helenus-db/helenus/advisor/recommend"
	"github.com/helenus-db/helenus/internal/webhook"
)

// telling is whom the settings want to be told, and what.
func (h *helenus) telling() webhook.Options {
	s := h.settings
	return webhook.Options{
		URLs: s.Webhooks, Slack: s.WebhooksSlack, Secret: s.WebhookSecret, Events: s.WebhookEvents, Timeout: s.WebhookTimeout, Console: s.WebhookConsole,
		Agent: "helenus/" + built().version, Describe: h.describe, Log: h.log,
	}
}

// describe adds what the advice says of a change.
func (h *helenus) describe(ctx context.Context, c *webhook.Change) {
	r, err := h.advisor.Recommendation(ctx, c.ID)
	if err != nil { // a part of a calendar, or forgotten: its id must do
		return
	}
	c.Title, c.Keyspace, c.Table = r.Title, r.Keyspace, r.Table
}

// opened tells of advice that waits for a decision.
func (h *helenus) opened(all []recommend.Recommendation) {
	changes := make([]webhook.Change, len(all))
	for i := range all {
		changes[i] = webhook.Change{ID: all[i].ID, Title: all[i].Title, Keyspace: all[i].Keyspace, Table: all[i].Table, After: string(all[i].State)}
	}
	h.webhooks.Advised(all[0].StateSince, changes)
}
