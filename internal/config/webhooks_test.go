package config

import (
	"strings"
	"testing"
)

func TestWebhooks(t *testing.T) {
	for _, test := range []struct {
		set  func(*Settings)
		want string // "" if it is right
	}{
		{func(s *Settings) { s.Webhooks = []string{"https://hooks.example.org/x?y=z", "http://127.0.0.1:8080"} }, ""},
		{func(s *Settings) {
			s.WebhooksSlack, s.WebhookEvents, s.WebhookSecret = []string{"https://hooks.slack.com/services/x"}, []string{"advice.new"}, "s"
		}, ""},
		{func(s *Settings) { s.Webhooks = []string{"https://good.example.org", "hush.example.org/hook"} }, "setting webhooks: address 2"},
		{func(s *Settings) { s.Webhooks = []string{"file:///hush"} }, "setting webhooks: address 1"},
		{func(s *Settings) { s.WebhooksSlack = []string{"https:///hush"} }, "setting webhooks-slack: address 1"},
		{func(s *Settings) { s.WebhookConsole = "helenus.example.org" }, "setting webhook-console"},
		{func(s *Settings) { s.OTLPEndpoint = "https://ann:hush@collector:4318" }, "OTEL_EXPORTER_OTLP_HEADERS"},
		{func(s *Settings) { s.Webhooks, s.WebhookEvents = []string{"http://x"}, []string{"change.done"} }, "change.serving"},
		{func(s *Settings) { s.WebhookSecret = "hush" }, "setting webhook-secret: has no effect"},
		{func(s *Settings) { s.WebhookEvents = []string{"advice.new"} }, "setting webhook-events: has no effect"},
		{func(s *Settings) { s.WebhookTimeout = 1 }, "setting webhook-timeout"},
	} {
		s := Defaults()
		test.set(s)
		err := s.Validate()
		if (err == nil) != (test.want == "") || err != nil && (!strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "hush")) {
			t.Errorf("%v; want %q", err, test.want)
		}
	}
	s := Defaults()
	s.Webhooks, s.WebhooksSlack, s.WebhookSecret = []string{"http://hush-1"}, []string{"http://hush-2"}, "hush-3"
	if text := s.YAML(); strings.Contains(text, "hush") || strings.Count(text, "is set, and not shown") != 3 {
		t.Errorf("secrets are shown:\n%s", text)
	}
}
