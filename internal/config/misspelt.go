package config

import (
	"fmt"
	"slices"
	"strings"
)

// otherVariables are those that are no settings, but what commands read.
var otherVariables = []string{"HELENUS_CONTEXT", "HELENUS_SERVER_CA", "HELENUS_SERVER_CERT", "HELENUS_SERVER_KEY", "HELENUS_CDC_DIR", "HELENUS_CDC_NODE"}

// Misspelt says of each variable of an environment (NAME=value) that is named like a setting and is none that it has no effect: HELENUS_SAMPLE_VALUE=false would have values looked at all the same.
// It is no error, as others name variables so, too: Kubernetes those of its services, and our tests.
func Misspelt(environ []string) (list []string) {
	var known []string
	for _, one := range All() {
		known = append(known, one.Env)
	}
	for _, one := range environ {
		name, _, _ := strings.Cut(one, "=")
		if !strings.HasPrefix(name, EnvPrefix) || strings.HasPrefix(name, EnvPrefix+"TEST_") || slices.Contains(known, name) || slices.Contains(otherVariables, name) || ofService(name) {
			continue
		}
		setting := strings.ReplaceAll(strings.ToLower(strings.TrimPrefix(name, EnvPrefix)), "_", "-")
		list = append(list, fmt.Sprintf("environment variable %s is no setting, and has no effect%s", name, hint(setting)))
	}
	slices.Sort(list)
	return list
}

// ofService tells whether Kubernetes may have named a variable, for a service that begins with helenus.
func ofService(name string) bool {
	return strings.HasSuffix(name, "_SERVICE_HOST") || strings.Contains(name, "_SERVICE_PORT") || strings.HasSuffix(name, "_PORT") || strings.Contains(name, "_PORT_")
}
