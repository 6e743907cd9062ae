package config

import (
	"fmt"
	"slices"
	"strings"
)

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
