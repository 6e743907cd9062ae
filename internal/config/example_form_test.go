package config

import (
	"fmt"
	"strings"
)

// installed are the settings that an installed helenus is given, since their defaults are for trying it out.
var installed = map[string]string{"state-dir": "/var/lib/helenus"}

// exampleFile is a file of all settings, each with what it does, for packages to install.
func exampleFile() string {
	var b strings.Builder
	b.WriteString(`# The settings of helenus run. What is commented out is the default. helenus config check --config FILE says what is wrong, and what is in force.
# Secrets (password, admin-token, sample-secret) are better given as variables of the environment: /etc/helenus/environment.
`)
	for _, one := range All() {
		fmt.Fprintf(&b, "\n# %s\n", one.Help)
		text, mark := one.Default, "#"
		if own, ok := installed[one.Name]; ok {
			text, mark = own, ""
		}
		if one.Name == "contact-points" || one.Name == "listen" { // what everybody looks for
			mark = ""
		}
		switch one.Type {
		case "list":
			text = "[" + quoted(text) + "]"
		case "string":
			text = fmt.Sprintf("%q", text)
		}
		fmt.Fprintf(&b, "%s%s: %s\n", mark, one.Name, text)
	}
	return b.String()
}
