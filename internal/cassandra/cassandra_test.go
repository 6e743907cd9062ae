package cassandra

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/helenus-db/helenus/internal/cassandra/cassandratest"
	"github.com/helenus-db/helenus/internal/child"
)

// helperMode makes this test binary a program that owns a child, to be killed by a test.
const helperMode = "HELENUS_CASSANDRA_HELPER"

func TestMain(m *testing.M) {
	switch os.Getenv(helperMode) {
	case "sleep":
		p, err := child.Start(exec.Command("sleep", "600"))
		report(err, func() []int { return []int{p.Pid()} })
	case "cassandra":
		c, err := Start(context.Background(), Options{})
		report(err, func() []int { return c.Pids() })
	default:
		goleak.VerifyTestMain(m, cassandratest.Outliving())
	}
}

// report prints the children's pids, or an error, and waits to be killed.
func report(err error, pids func() []int) {
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	for _, pid := range pids() {
		fmt.Println(pid)
	}
	time.Sleep(5 * time.Minute)
}

// needCassandra skips a test that starts real nodes, unless the run is meant to use Cassandra.
func needCassandra(t *testing.T) {
	t.Helper()
	if os.Getenv("HELENUS_TEST_CASSANDRA") == "" {
		t.Skip("HELENUS_TEST_CASSANDRA is not set: needs a real Cassandra (make test)")
	}
}

// gone reports whether a process has ended (a zombie has).
func gone(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return true
	}
	_, rest, _ := strings.Cut(string(stat), ") ")
	return strings.HasPrefix(rest, "Z")
}

func awaitGone(t *testing.T, pid int) {
	t.Helper()
	for range 1200 {
		if gone(pid) {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	_ = syscall.Kill(pid, syscall.SIGKILL)
	t.Fatalf("process %d outlived the program that started it", pid)
}

func testNothingLeftBehind(t *testing.T, mode string) {
	helper := exec.Command(os.Args[0])
	helper.Env = append(os.Environ(), helperMode+"="+mode)
	out, err := helper.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := helper.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("reading the helper's child: %q, %v", line, err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(line))
	if err != nil {
		t.Fatalf("the helper failed: %s", line)
	}
	if gone(pid) {
		t.Fatalf("the child %d does not run", pid)
	}
	if err := helper.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = helper.Wait() // says "signal: killed"
	awaitGone(t, pid)
}

func TestNothingLeftBehindByKilledParent(t *testing.T) {
	t.Run("any child", func(t *testing.T) { testNothingLeftBehind(t, "sleep") })
	t.Run("Cassandra", func(t *testing.T) {
		needCassandra(t)
		testNothingLeftBehind(t, "cassandra")
	})
}

func TestSuperviseEndsAndReaps(t *testing.T) {
	p, err := child.Start(exec.Command("sh", "-c", "exit 7"))
	if err != nil {
		t.Fatal(err)
	}
	<-p.Done()
	var exit *exec.ExitError
	if !errors.As(p.Wait(), &exit) || exit.ExitCode() != 7 || p.Running() {
		t.Errorf("ended with %v, running %v; want exit status 7", p.Wait(), p.Running())
	}
	p.Kill() // a child that is gone is no error, and nobody else's pid is signalled
	if _, err := child.Start(exec.Command("/nonexistent/program")); err == nil {
		t.Error("a program that does not exist was started")
	}
}

func TestRunEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := run(ctx, exec.Command("sleep", "600")); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want context.Canceled", err)
	}
}

func TestReserve(t *testing.T) {
	loopback := netip.MustParseAddr("127.0.0.1")
	r, addr, err := reserve(netip.AddrPortFrom(loopback, 0))
	if err != nil {
		t.Fatal(err)
	}
	defer r.release()
	if addr.Port() == 0 {
		t.Fatal("no port was chosen")
	}
	if second, _, err := reserve(addr); err == nil {
		second.release()
		t.Errorf("%s was reserved twice", addr)
	}
	// The server for which the port was kept may listen on it, again and again.
	for range 2 {
		l, err := net.Listen("tcp", addr.String())
		if err != nil {
			t.Fatalf("listening beside the reservation: %v", err)
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	}
	// Nobody else gets it.
	for range 100 {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = l.Close() }()
		if l.Addr().String() == addr.String() {
			t.Fatalf("the kernel gave %s away", addr)
		}
	}
}

func TestReserveSharedPort(t *testing.T) {
	c := &Cluster{}
	hosts := []netip.Addr{netip.MustParseAddr("127.0.77.1"), netip.MustParseAddr("127.0.77.2"), netip.MustParseAddr("127.0.77.3")}
	port, err := c.reserveShared(hosts, 0)
	if err != nil {
		t.Fatal(err)
	}
	if port < lowestPort || port >= highestPort {
		t.Errorf("port %d is one that others are given", port)
	}
	if len(c.reservations) != 3 {
		t.Errorf("%d reservations, want 3", len(c.reservations))
	}
	if _, err := c.reserveShared(hosts[2:], port); err == nil {
		t.Errorf("port %d was reserved twice", port)
	}
	if err := c.Stop(); err != nil {
		t.Error(err)
	}
	c = &Cluster{}
	if _, err := c.reserveShared(hosts, port); err != nil {
		t.Errorf("port %d is not free after Stop: %v", port, err)
	}
	if err := c.Stop(); err != nil {
		t.Error(err)
	}
}

func TestStartRefusesNonsense(t *testing.T) {
	held, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = held.Close() }()
	heldPort := held.Addr().(*net.TCPAddr).Port
	tests := []struct {
		name string
		opt  Options
		want string
	}{
		{"too many nodes", Options{Nodes: 4}, "1 to 3"},
		{"negative nodes", Options{Nodes: -1}, "1 to 3"},
		{"no port", Options{Port: 70000}, "70000 is no port"},
		{"no version", Options{Version: "5.0; rm -rf /"}, "no version"},
		{"path as version", Options{Version: "../5.0"}, "no version"},
		{"foreign host", Options{Host: "192.0.2.1"}, "no address in 127.0.0.0/8"},
		{"host name", Options{Host: "localhost"}, "no address in 127.0.0.0/8"},
		{"port in use", Options{Port: heldPort}, "no native protocol port"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Setenv("HELENUS_CACHE", fakeCache(t))
			t.Setenv("JAVA_HOME", fakeJava(t, "17.0.1"))
			c, err := Start(context.Background(), tt.opt)
			if err == nil {
				_ = c.Stop()
			}
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want an error with %q", err, tt.want)
			}
		})
	}
}

// fakeCache returns a cache that seems to hold the default release.
func fakeCache(t *testing.T) string {
	dir := t.TempDir()
	lib := filepath.Join(dir, "cassandra-"+DefaultVersion)
	write(t, filepath.Join(lib, "cassandra-all-"+DefaultVersion+".jar"), "", 0o600)
	write(t, filepath.Join(lib, "jamm-1.jar"), "", 0o600)
	return dir
}

// fakeJava returns a JAVA_HOME with a Java that knows its version, and fails to do anything else.
func fakeJava(t *testing.T, version string) string {
	home := t.TempDir()
	write(t, filepath.Join(home, "bin", "java"), "#!/bin/sh\n"+
		`[ "$1" = -version ] && { echo 'openjdk version "`+version+`" 2026-01-01' >&2; exit 0; }`+"\necho 'out of coffee' >&2\nexit 3\n", 0o700)
	return home
}

func write(t *testing.T, path, content string, mode os.FileMode) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), mode); err != nil {
		t.Fatal(err)
	}
}

func TestStartReportsNodeThatEnds(t *testing.T) {
	t.Setenv("HELENUS_CACHE", fakeCache(t))
	t.Setenv("JAVA_HOME", fakeJava(t, "17.0.1"))
	_, err := Start(context.Background(), Options{Dir: t.TempDir()})
	if !errors.Is(err, errEnded) || !strings.Contains(err.Error(), "out of coffee") {
		t.Errorf("got %v, want the process's end and the end of its log", err)
	}
}

// TestDied: how a node ended that nobody here has ended.
func TestDied(t *testing.T) {
	for name, c := range map[string]struct {
		script, want string
		ours         bool
	}{
		"heap":       {"exit 3", "(exit status 3): its heap of 7m is full", false},
		"signal":     {"kill -KILL $$", "(signal: killed)", false},
		"no reason":  {"exit 0", errEnded.Error(), false},
		"ours":       {"kill -KILL $$", "", true},
		"still runs": {"exec sleep 60", "", false},
	} {
		n := &Node{cluster: &Cluster{opt: Options{Heap: "7m"}}, dir: t.TempDir()}
		if n.Died() != nil {
			t.Errorf("%s: died before it was born", name)
		}
		write(t, n.LogFile(), "all is well\n", 0o600)
		p, err := child.Start(exec.Command("sh", "-c", c.script))
		if err != nil {
			t.Fatal(err)
		}
		n.kills.Store(memoryKills())
		n.proc.Store(p)
		if c.ours {
			n.ended.Store(p)
		}
		if name == "still runs" {
			defer p.Kill()
		} else {
			<-p.Done()
		}
		err = n.Died()
		if (err != nil) != (c.want != "") || err != nil && (!strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "all is well")) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

func TestStartRefusesDirInUse(t *testing.T) {
	t.Setenv("HELENUS_CACHE", fakeCache(t))
	t.Setenv("JAVA_HOME", fakeJava(t, "17.0.1"))
	dir := t.TempDir()
	unlock, err := lockFile(context.Background(), filepath.Join(dir, "lock"))
	if err != nil {
		t.Fatal(err)
	}
	defer unlock()
	if _, err := Start(context.Background(), Options{Dir: dir}); err == nil || !strings.Contains(err.Error(), "another cluster uses") {
		t.Errorf("got %v", err)
	}
}

func TestSweepLeavesWhatIsInUse(t *testing.T) {
	parent := t.TempDir()
	used, left, other := filepath.Join(parent, temporaryPrefix+"1"), filepath.Join(parent, temporaryPrefix+"2"), filepath.Join(parent, "other")
	for _, dir := range []string{used, left, other} {
		write(t, filepath.Join(dir, lockName), "", 0o600)
	}
	unlock, err := lockFile(context.Background(), filepath.Join(used, lockName))
	if err != nil {
		t.Fatal(err)
	}
	defer unlock()
	sweep(context.Background(), parent)
	for dir, want := range map[string]bool{used: true, left: false, other: true} {
		if _, err := os.Stat(dir); (err == nil) != want {
			t.Errorf("%s is there: %v, want %v", dir, err == nil, want)
		}
	}
}

func TestFindJava(t *testing.T) {
	for _, tt := range []struct {
		version string
		fits    bool
	}{{"17.0.15", true}, {"17", true}, {"25.0.1", false}, {"1.8.0_402", false}, {"117", false}} {
		t.Run(tt.version, func(t *testing.T) {
			home := fakeJava(t, tt.version)
			t.Setenv("JAVA_HOME", home)
			java, err := findJava(context.Background())
			if got := java == filepath.Join(home, "bin", "java"); got != tt.fits {
				t.Errorf("chosen %v (%q, %v), want %v", got, java, err, tt.fits)
			}
		})
	}
}

func TestResolve(t *testing.T) {
	ok := "for a; do case $a in -DoutputDirectory=*) d=${a#*=};; -Dcassandra.version=*) v=${a#*=};; esac; done\nmkdir -p $d\n"
	tests := []struct {
		name, mvn, want string // want is part of the error; empty: success
	}{
		{"downloaded", ok + "touch $d/jamm-0.4.jar $d/cassandra-all-$v.jar", ""},
		{"no Maven", "", "apt-get install -y maven"},
		{"Maven fails", "echo could not find artifact; exit 1", "could not find artifact"},
		{"Maven lies", ok, "no whole Apache Cassandra"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			cache, bin := t.TempDir(), t.TempDir()
			t.Setenv("HELENUS_CACHE", cache)
			if tt.mvn == "" {
				t.Setenv("PATH", bin)
			} else {
				write(t, filepath.Join(bin, "mvn"), "#!/bin/sh\n"+tt.mvn+"\n", 0o700)
				t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
			}
			var told []string
			dir, err := Resolve(context.Background(), "4.1.10", func(line string) { told = append(told, line) })
			if tt.want != "" {
				if err == nil || !strings.Contains(err.Error(), tt.want) {
					t.Errorf("got %v, want an error with %q", err, tt.want)
				}
			} else if err != nil || dir != filepath.Join(cache, "cassandra-4.1.10") {
				t.Errorf("got %q, %v", dir, err)
			}
			if len(told) != 1 {
				t.Errorf("progress %q, want one line", told)
			}
			left, err := os.ReadDir(cache)
			if err != nil {
				t.Fatal(err)
			}
			for _, entry := range left {
				if strings.HasPrefix(entry.Name(), "download-") {
					t.Errorf("%s was left behind", entry.Name())
				}
			}
			if tt.want == "" {
				t.Setenv("PATH", "") // a second time nothing is needed
				if _, err := Resolve(context.Background(), "4.1.10", nil); err != nil {
					t.Error(err)
				}
			}
		})
	}
	var missing *MissingToolError
	t.Setenv("HELENUS_CACHE", t.TempDir())
	t.Setenv("PATH", "")
	if _, err := Resolve(context.Background(), "", nil); !errors.As(err, &missing) {
		t.Errorf("got %v, want a *MissingToolError", err)
	}
}

func TestTokensAreEvenlySpaced(t *testing.T) {
	for n := 1; n <= maxNodes; n++ {
		for i := range n {
			width := uint64(token((i+1)%n, n) - token(i, n))
			if n > 1 && (width < 1<<63/uint64(n)*2-4 || width > 1<<63/uint64(n)*2+4) {
				t.Errorf("node %d of %d owns %d tokens", i, n, width)
			}
		}
	}
}

func TestConfigTakesExtraSettings(t *testing.T) {
	c := &Cluster{dir: "/d", storagePort: 7000, opt: Options{Extra: map[string]any{
		"auto_snapshot": true, "authenticator": "PasswordAuthenticator", "num_tokens": 16,
	}}}
	n := &Node{cluster: c, addr: netip.MustParseAddrPort("127.0.0.1:9042"), dir: "/d/node1"}
	c.nodes = []*Node{n}
	text, err := n.config()
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	if got["auto_snapshot"] != true || got["authenticator"] != "PasswordAuthenticator" || got["num_tokens"] != 16.0 {
		t.Errorf("extra settings are missing in %s", text)
	}
	if _, ok := got["initial_token"]; ok {
		t.Error("a node with vnodes was given one token")
	}
	c.opt.Extra = map[string]any{"bad": func() {}}
	if _, err := n.config(); err == nil {
		t.Error("a function passed as a setting")
	}
}
