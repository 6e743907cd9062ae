package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/helenus-db/helenus/capture/store"
	"github.com/helenus-db/helenus/internal/admin"
	"github.com/helenus-db/helenus/internal/cassandra/authority"
)

// TestTokensAndTrail goes by the command line through what a person does who gives others tokens, in a process that reaches no Cassandra, over TLS, and
// over a restart.
func TestTokensAndTrail(t *testing.T) {
	ca, err := authority.New(t.TempDir(), "ca")
	if err != nil {
		t.Fatal(err)
	}
	pair, err := ca.Issue(authority.Leaf{Name: "admin", Hosts: []string{"127.0.0.1"}})
	if err != nil {
		t.Fatal(err)
	}
	web := written(t, "web.yml", fmt.Sprintf("tls_server_config:\n  cert_file: %s\n  key_file: %s\n", pair.Certificate, pair.Key))
	p := newProcess(t, "127.0.0.1:1", "--admin-web-config", web)
	p.start()
	say := func(token string, args ...string) (string, int) {
		t.Helper()
		args = append(args, "--state-dir", p.state, "--server-ca", ca.File)
		if token != "" {
			args = append(args, "--token", token)
		}
		code, out := command(t, p, args...)
		return out, code
	}
	await(t, "it has left its address", func() bool { return strings.HasPrefix(admin.ReadAddress(p.state), "https://") })
	out, code := say("", "token", "create", "olga", "--role", "operator", "--expires", "90d", "--json")
	var olga admin.TokenMade
	if jsonOf(t, out, &olga); code != 0 || !strings.HasPrefix(olga.Text, "hel_") || olga.Expires.IsZero() {
		t.Fatalf("%d: %s", code, out)
	}
	for _, c := range []struct {
		token, args string
		code        int
		says        string
	}{
		{"", "token list", 0, "olga"},
		{olga.Text, "migrations", 0, "No change yet"},
		{olga.Text, "token list", exitNotAllowed, "needs role admin"},
		{olga.Text, "bypass on", exitNotAllowed, "needs role admin"},
		{"", "bypass on", 0, "bypass"},
		{"", "token create olga", exitRefused, "revoke it first"},
		{"", "token create eve --role root", exitUsage, "viewer, operator or admin"},
		{"", "token create eve --expires never", exitUsage, "90d"},
		{"hel_wrong", "migrations", exitNotAllowed, "not known"},
	} {
		if out, code := say(c.token, strings.Fields(c.args)...); code != c.code || !strings.Contains(out, c.says) {
			t.Errorf("%s: %d, %s", c.args, code, out)
		}
	}
	p.kill()
	p.start()
	await(t, "it answers again", func() bool { _, code := say("", "migrations"); return code == 0 })
	if out, code := say(olga.Text, "audit", "--reverse", "--since", "1d"); code != 0 || !strings.Contains(out, "bypass.on") || !strings.Contains(out, "off -> on") || !strings.Contains(out, "admin (bootstrap)") || !strings.Contains(out, actor()) {
		t.Errorf("%d: %s", code, out)
	}
	out, _ = say("", "audit", "--json", "--change", "olga", "--limit", "0")
	var lines []store.Entry
	if jsonOf(t, out, &lines); len(lines) != 1 || lines[0].Action != "token.create" || lines[0].After != "operator" || lines[0].Actor != actor() || !strings.HasPrefix(lines[0].From, "127.0.0.1:") {
		t.Errorf("%s", out)
	}
	if out, code := say("", "token", "revoke", "olga"); code != 0 {
		t.Errorf("%d: %s", code, out)
	}
	if out, code := say(olga.Text, "migrations"); code != exitNotAllowed {
		t.Errorf("revoked, and yet: %d, %s", code, out)
	}
	if log := p.output.String(); strings.Contains(log, olga.Text) || !strings.Contains(log, "token revoked") {
		t.Error("the log tells the token, or not who revoked it")
	}
	text, err := os.ReadFile(filepath.Join(p.state, store.File))
	if err != nil || strings.Contains(string(text), olga.Text) {
		t.Errorf("the file has the token's text: %v", err)
	}
}

// TestWebConfig: a file that would not do what somebody may believe is refused at the start.
func TestWebConfig(t *testing.T) {
	for name, c := range map[string]struct{ text, says string }{
		"passwords": {"basic_auth_users:\n  ann: $2y$10$X0h1gDsPszWURQaxFh.zoubFi6DXncSjhoQNJgRrnGs7EsimhC7zG\n", "make tokens"},
		"nonsense":  {"tls: yes\n", "tls"},
		"half":      {"tls_server_config:\n  cert_file: gone.pem\n", "key_file"},
	} {
		if _, err := webConfig(written(t, "web.yml", c.text)); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := webConfig(filepath.Join(t.TempDir(), "gone")); err == nil {
		t.Error("no file is a file")
	}
	h := assembled(t)
	h.settings.AdminWebConfig = written(t, "web.yml", "basic_auth_users: {a: b}\n")
	if _, err := h.gate(context.Background()); exitCode(err) != exitUsage {
		t.Errorf("%v", err)
	}
}
