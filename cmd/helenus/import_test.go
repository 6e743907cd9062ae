package main

import (
	"strings"
	"testing"
)

func TestImportOfRuby(t *testing.T) {
	_, err, code := executed(t, "import", "nose", written(t, "rubis.rb", "NoSE::Workload.new do\n  Model \"rubis\"\nend\n"))
	if code != 2 || err == nil || !strings.Contains(err.Error(), "a program in Ruby") || !strings.Contains(err.Error(), "neutral form") {
		t.Errorf("%v, exit code %d", err, code)
	}
}
