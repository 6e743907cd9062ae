package config

import (
	"fmt"
	"slices"
	"strings"
)

// Markdown is docs/configuration.md.
func Markdown() string {
	var b strings.Builder
	b.WriteString(`# Configuration

Every setting of ` + "`helenus run`" + ` is a flag, an environment variable and a YAML key. A flag beats the environment, which beats
the file (` + "`--config helenus.yaml`" + `), which beats the default. ` + "`helenus config check --config helenus.yaml`" + ` reads them all,
says what is wrong and where, and prints what is in force. This page is written from the program (` + "`internal/config`" + `).

| flag and YAML key | environment | type | default | what it does |
| --- | --- | --- | --- | --- |
`)
	for _, one := range All() {
		def := one.Default
		if def == "" {
			def = "(empty)"
		}
		fmt.Fprintf(&b, "| `%s` | `%s` | %s | `%s` | %s |\n", one.Name, one.Env, one.Type, def, one.Help)
	}
	return b.String()
}

// secrets are settings that are not shown. Addresses of webhooks are secrets with many receivers: whoever has one may write there.
var secrets = []string{"password", "admin-token", "sample-secret", "webhooks", "webhooks-slack", "webhook-secret", "openid-secret"}

// YAML writes the settings as a file that Load reads back, without the secrets.
func (s *Settings) YAML() string {
	var b strings.Builder
	for _, one := range All() {
		text := s.value(one).String()
		if slices.Contains(secrets, one.Name) && text != "" {
			fmt.Fprintf(&b, "# %s is set, and not shown\n", one.Name)
			continue
		}
		switch one.Type {
		case "list":
			fmt.Fprintf(&b, "%s: [%s]\n", one.Name, quoted(text))
		case "string":
			fmt.Fprintf(&b, "%s: %q\n", one.Name, text)
		default:
			fmt.Fprintf(&b, "%s: %s\n", one.Name, text)
		}
	}
	return b.String()
}

func quoted(list string) string {
	if list == "" {
		return ""
	}
	return `"` + strings.ReplaceAll(list, ",", `", "`) + `"`
}
