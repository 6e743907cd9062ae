package config

import (
	"net/url"
	"slices"
	"strings"
)

// WebhookEvents are what can be told of, in the order of a change's life.
var WebhookEvents = []string{"advice.new", "change.serving", "change.turned-back", "change.suspended", "change.failed", "change.rolled-back", "calendar.paused", "calendar.ended", "state.lost"}

// validateWebhooks checks the addresses without repeating them: they may be secrets.
func (s *Settings) validateWebhooks(wrong func(name, format string, args ...any)) {
	is := func(text string) bool {
		u, err := url.Parse(text)
		return err == nil && (u.Scheme == "https" || u.Scheme == "http") && u.Host != "" && u.Fragment == ""
	}
	address := func(name string, n int, text string) { // it may hold a secret, so it is not said
		if !is(text) {
			wrong(name, "address %d is no URL such as https://hooks.example.org/helenus", n+1)
		}
	}
	if s.OTLPEndpoint != "" {
		if !is(s.OTLPEndpoint) {
			wrong("otlp-endpoint", "is no URL such as http://127.0.0.1:4318")
		} else if u, _ := url.Parse(s.OTLPEndpoint); u.User != nil { // nobody sends them, and what is not secret is shown
			wrong("otlp-endpoint", "has a name or a password, which would not be sent: give the environment OTEL_EXPORTER_OTLP_HEADERS an Authorization")
		}
	}
	for n, one := range s.Webhooks {
		address("webhooks", n, one)
	}
	for n, one := range s.WebhooksSlack {
		address("webhooks-slack", n, one)
	}
	if s.WebhookConsole != "" && !is(s.WebhookConsole) {
		wrong("webhook-console", "is no URL such as https://helenus.example.org")
	}
	for _, one := range s.WebhookEvents {
		if !slices.Contains(WebhookEvents, one) {
			wrong("webhook-events", "%q is none; there are %s", one, strings.Join(WebhookEvents, ", "))
		}
	}
	if len(s.Webhooks)+len(s.WebhooksSlack) == 0 {
		for _, one := range []struct {
			name string
			set  bool
		}{{"webhook-secret", s.WebhookSecret != ""}, {"webhook-events", len(s.WebhookEvents) > 0}} {
			if one.set {
				wrong(one.name, "has no effect without webhooks or webhooks-slack")
			}
		}
	}
}
