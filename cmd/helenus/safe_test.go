package main

import (
	"strings"
	"testing"
)

// TestDesignSafely: what is asked of safety is said, kept to, and named where it can not be had.
func TestDesignSafely(t *testing.T) {
	file := written(t, "small.yaml", small)
	for name, c := range map[string]struct {
		args []string
		code int
		want string // of the output, or the error
	}{
		"a penalty":             {[]string{"--safety-penalty", "0.001"}, 0, "is the penalty for writes to tables in which several writers can meet"},
		"required":              {[]string{"--require-safe"}, exitNoPlan, "statement rates"},
		"of other writes":       {[]string{"--require-safe=lwt"}, 0, "overwrite"},
		"an unknown class":      {[]string{"--require-safe=lock"}, exitUsage, `no class of writes is called "lock"`},
		"a penalty that is bad": {[]string{"--safety-penalty", "-1"}, exitUsage, "-1 is not a cost"},
	} {
		t.Run(name, func(t *testing.T) {
			out, err, code := designed(t, append([]string{file}, c.args...)...)
			if err != nil {
				out += err.Error()
			}
			if code != c.code || !strings.Contains(out, c.want) {
				t.Errorf("exit %d, want %d; no %q in\n%s", code, c.code, c.want, out)
			}
		})
	}
}
