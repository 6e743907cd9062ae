package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/helenus-db/helenus/bench/verify"
	"github.com/helenus-db/helenus/internal/cassandra/cassandratest"
)

func TestBenchVerifyBadInput(t *testing.T) {
	hotel := "../../examples/designs/hotel.yaml"
	for name, c := range map[string]struct {
		args []string
		code int
		want string
	}{
		"nothing":           {nil, exitUsage, "there is nothing to compare"},
		"no such file":      {[]string{"nowhere.yaml"}, exitUsage, "nowhere.yaml"},
		"no number":         {[]string{"random:x"}, exitUsage, `"random:x" has no number`},
		"no such design":    {[]string{"--designs", "expret", hotel}, exitUsage, `no design is called "expret"`},
		"no number either":  {[]string{"--designs", "random:", hotel}, exitUsage, "has no number"},
		"no such mix":       {[]string{"--mix", "buying", "../../examples/designs/rubis.yaml"}, exitUsage, `no mix is called "buying"`},
		"no port":           {[]string{"--contact-point", "127.0.0.1", hotel}, exitUsage, `"127.0.0.1" is not host:port`},
		"a port that isn't": {[]string{"--contact-point", "127.0.0.1:x", hotel}, exitUsage, "contact point 127.0.0.1:x"},
		"less than none":    {[]string{"--updates", "-1", hotel}, exitUsage, "--updates"},
		"never":             {[]string{"--every", "0", hotel}, exitUsage, "--every"},
		"no such flag":      {[]string{"--draw", "3", hotel}, exitUsage, "--draw"},
		"nobody there":      {[]string{"--contact-point", freeAddress(t), hotel}, exitUnreachable, "no Cassandra to verify on"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err, code := executed(t, "bench", append([]string{"verify"}, c.args...)...)
			if err == nil || code != c.code || !strings.Contains(err.Error(), c.want) {
				t.Errorf("exit %d: %v; want %d, %s", code, err, c.code, c.want)
			}
		})
	}
}

// TestBenchVerify: a run in JSON; the same seed compares the same.
func TestBenchVerify(t *testing.T) {
	point := cassandratest.ContactPoints(t)[0]
	args := []string{"verify", "--contact-point", point, "--json", "--updates", "4", "--draws", "3", "--seed", "5", "--random-from", "3", "--random", "1"}
	var last *verify.Report
	for range 2 {
		out, err, code := executed(t, "bench", args...)
		if err != nil || code != 0 {
			t.Fatalf("exit %d: %v\n%s", code, err, out)
		}
		var r verify.Report
		if err := json.Unmarshal([]byte(out), &r); err != nil {
			t.Fatal(err)
		}
		if r.Workloads != 1 || r.Designs != 2 || r.Answers == 0 || r.Updates == 0 || !r.Clean() || r.Interrupted {
			t.Errorf("%+v", r)
		}
		if r.Seconds = 0; last != nil && fmt.Sprint(r) != fmt.Sprint(*last) {
			t.Errorf("%+v\nbefore %+v", r, *last)
		}
		last = &r
	}
}

// TestBenchVerifyInterrupted: what was told to stop says so, and leaves no keyspace behind.
func TestBenchVerifyInterrupted(t *testing.T) {
	session, _ := cassandratest.Keyspace(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, "bench", "verify", "--contact-point", cassandratest.ContactPoints(t)[0], "--random", "500") //nolint:gosec // ourselves
	cmd.Env = append(os.Environ(), asHelenus+"=1")
	said := &output{}
	cmd.Stdout, cmd.Stderr = said, said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	own := func() (names []string) {
		iter := session.Query("SELECT keyspace_name FROM system_schema.keyspaces").Iter()
		for name := ""; iter.Scan(&name); {
			if strings.HasPrefix(name, "helenus_verify_") && strings.Contains(name, fmt.Sprintf("_%d_", cmd.Process.Pid)) {
				names = append(names, name)
			}
		}
		if err := iter.Close(); err != nil {
			t.Error(err)
		}
		return names
	}
	await(t, "a design's keyspace", func() bool { return len(own()) > 1 })
	if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != exitFailed || !strings.Contains(said.String(), "interrupted") {
		t.Errorf("exit %d\n%s", code, said)
	}
	if left := own(); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
}
