package config

import (
	"slices"
	"strings"
	"testing"
)

// TestMisspelt: a variable that is named like a setting and is none is told of, with the one that was meant; what commands, tests and Kubernetes name so is not.
func TestMisspelt(t *testing.T) {
	got := Misspelt([]string{
		"HELENUS_SAMPLE_VALUE=false", "PATH=/bin", "HELENUS_WORKERS=3", "HELENUS_CONTEXT=prod", "HELENUS_CDC_DIR=/x", "HELENUS_TEST_LONG=1",
		"HELENUS_SERVICE_HOST=10.0.0.1", "HELENUS_SERVICE_PORT_CQL=9042", "HELENUS_ADMIN_PORT=tcp://10.0.0.1:19080", "HELENUS_PORT_9042_TCP_ADDR=10.0.0.1",
	})
	if len(got) != 1 || !strings.Contains(got[0], "HELENUS_SAMPLE_VALUE is no setting") || !strings.Contains(got[0], `nearest known key is "sample-values"`) {
		t.Errorf("%q", got)
	}
	for _, one := range All() {
		if ofService(one.Env) || slices.Contains(otherVariables, one.Env) {
			t.Errorf("a misspelt %s would not be told of", one.Env)
		}
	}
}
