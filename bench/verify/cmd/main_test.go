package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/helenus-db/helenus/advisor/solve/coin"
	"github.com/helenus-db/helenus/bench/verify"
	"github.com/helenus-db/helenus/internal/cassandra/cassandratest"
)

// asVerify makes the test binary the program itself, so that a test can interrupt it.
const asVerify = "HELENUS_TEST_AS_VERIFY"

func TestMain(m *testing.M) {
	coin.ServeIfWorker()
	if os.Getenv(asVerify) != "" {
		main()
	}
	os.Exit(m.Run())
}

func TestCommandBadInput(t *testing.T) {
	hotel := "../../../examples/designs/hotel.yaml"
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
		"no such mix":       {[]string{"--mix", "buying", "../../../examples/designs/rubis.yaml"}, exitUsage, `no mix is called "buying"`},
		"no port":           {[]string{"--contact-point", "127.0.0.1", hotel}, exitUsage, `"127.0.0.1" is not host:port`},
		"a port that isn't": {[]string{"--contact-point", "127.0.0.1:x", hotel}, exitUsage, "its port is no number"},
		"less than none":    {[]string{"--updates", "-1", hotel}, exitUsage, "-updates"},
		"never":             {[]string{"--every", "0", hotel}, exitUsage, "-every"},
		"no such flag":      {[]string{"--draw", "3", hotel}, exitUsage, "-draw"},
		"nobody there":      {[]string{"--contact-point", "127.0.0.1:1", hotel}, exitUnreachable, "no Cassandra to verify on"},
	} {
		t.Run(name, func(t *testing.T) {
			var said bytes.Buffer
			if code := execute(t.Context(), c.args, &said, &said); code != c.code || !strings.Contains(said.String(), c.want) {
				t.Errorf("exit %d: %s; want %d, %s", code, said.String(), c.code, c.want)
			}
		})
	}
}

// TestCommand: a run in JSON; the same seed compares the same.
func TestCommand(t *testing.T) {
	point := cassandratest.ContactPoints(t)[0]
	args := []string{"--contact-point", point, "--json", "--updates", "4", "--draws", "3", "--seed", "5", "--random-from", "3", "--random", "1"}
	var last *verify.Report
	for range 2 {
		var out, said bytes.Buffer
		if code := execute(t.Context(), args, &out, &said); code != 0 {
			t.Fatalf("exit %d: %s\n%s", code, said.String(), out.String())
		}
		var r verify.Report
		if err := json.Unmarshal(out.Bytes(), &r); err != nil {
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

// TestCommandInterrupted: what was told to stop says so, and leaves no keyspace behind.
func TestCommandInterrupted(t *testing.T) {
	session, _ := cassandratest.Keyspace(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, "--contact-point", cassandratest.ContactPoints(t)[0], "--random", "500") //nolint:gosec // ourselves
	cmd.Env = append(os.Environ(), asVerify+"=1")
	said := &bytes.Buffer{}
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
	for limit := time.Now().Add(2 * time.Minute); len(own()) < 2 && time.Now().Before(limit); {
		time.Sleep(50 * time.Millisecond)
	}
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
