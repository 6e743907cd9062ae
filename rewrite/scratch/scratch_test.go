package scratch

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gocql/gocql"
	"go.uber.org/goleak"

	"github.com/helenus-db/helenus/internal/cassandra/cassandratest"
)

// asRun makes the test binary a command that makes keyspaces until it is killed. Its value is the contact point.
const asRun = "HELENUS_TEST_AS_SCRATCH"

// tried is the prefix of the tests. Those of another process are let be.
var tried = fmt.Sprintf("scratch_%d", os.Getpid())

func TestMain(m *testing.M) {
	if point := os.Getenv(asRun); point != "" {
		fmt.Println("beginning")
		host, port, _ := strings.Cut(point, ":")
		cfg := gocql.NewCluster(host)
		cfg.DisableInitialHostLookup, cfg.ProtoVersion = true, 4
		_, _ = fmt.Sscan(port, &cfg.Port)
		r, err := Begin(context.Background(), Options{Prefix: os.Args[1], Connect: cfg.CreateSession})
		for err == nil {
			_, err = r.Create(context.Background(), "")
		}
		fmt.Println(err)
		os.Exit(1)
	}
	goleak.VerifyTestMain(m, cassandratest.Outliving())
}

func connects(t *testing.T) func() (*gocql.Session, error) {
	return cassandratest.Config(t, cassandratest.ContactPoints(t)[0]).CreateSession
}

func begin(t *testing.T) *Run {
	t.Helper()
	r, err := Begin(t.Context(), Options{Prefix: tried, Connect: connects(t)})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func end(t *testing.T, r *Run) {
	t.Helper()
	if err := r.End(); err != nil {
		t.Error(err)
	}
}

// left are the keyspaces that begin with the prefix of the tests.
func left(t *testing.T) []string {
	t.Helper()
	session, err := connects(t)()
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	names, err := (&Run{o: Options{Prefix: tried}, session: session}).keyspaces(context.WithoutCancel(t.Context()))
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// TestKilledAnywhere kills commands (kill -9) at drawn moments from their first breath on: the next one drops all that they have made,
// at once, and nothing of one that is alive. HELENUS_TEST_KILLS is how often, besides once.
func TestKilledAnywhere(t *testing.T) {
	point := cassandratest.ContactPoints(t)[0]
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	living := begin(t)
	defer end(t, living)
	made, random := 0, rand.New(rand.NewPCG(9, 9)) //nolint:gosec // any bits do
	times := 3
	if text := os.Getenv("HELENUS_TEST_KILLS"); text != "" {
		_, _ = fmt.Sscan(text, &times)
	}
	for n := range times + 1 {
		cmd := exec.Command(self, tried) //nolint:gosec // ourselves
		cmd.Env = append(os.Environ(), asRun+"="+point)
		out, err := cmd.StdoutPipe()
		if err == nil {
			err = cmd.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		line, err := bufio.NewReader(out).ReadString('\n')
		if line != "beginning\n" {
			t.Fatalf("%q, %v", line, err)
		}
		wait := time.Duration(random.IntN(1500)) * time.Millisecond
		if n == times {
			wait = 4 * time.Second // some are surely made
		}
		time.Sleep(wait)
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, out)
		_ = cmd.Wait()
		for range 20 { // what Cassandra was asked for before the kill, it may still be doing: on a busy machine for more than a second
			before := left(t)
			time.Sleep(3 * time.Second)
			if slices.Equal(before, left(t)) {
				break
			}
		}
		dead := slices.DeleteFunc(left(t), func(k string) bool { return strings.HasPrefix(k, living.name) })
		next := begin(t)
		if !slices.Equal(next.Swept, dead) {
			t.Errorf("killed after %v: %q is left, %q swept", wait, dead, next.Swept)
		}
		made += len(dead)
		end(t, next)
		if now := left(t); !slices.Equal(now, []string{living.name + "_0"}) {
			t.Errorf("killed after %v: %q is there, and %s_0 is alive", wait, now, living.name)
		}
	}
	if made < 3 {
		t.Errorf("the killed made %d keyspaces: nothing was tried", made)
	}
}

// TestSweep: what is dropped is decided by place and process, by the pulse, and by the name where there is none; what only looks like
// ours stays.
func TestSweep(t *testing.T) {
	living := begin(t)
	defer end(t, living)
	s, ctx, now := living.now(), t.Context(), time.Now().Unix()
	var want []string
	for _, c := range []struct {
		name  string
		pulse string // its age, as CQL subtracts it; "": no table
		gone  bool
	}{
		{fmt.Sprintf("%s_5_1_000001_0", tried), "", true},                         // of 1970, elsewhere, killed before its first pulse
		{fmt.Sprintf("%s_%x_1_000001_0", tried, now), "", false},                  // elsewhere, and may be about to have one
		{fmt.Sprintf("%s_6_1_000001_0", tried), "1s", false},                      // of 1970, and alive
		{fmt.Sprintf("%s_7_1_000001_0", tried), "3m", true},                       // not heard of for 3 minutes
		{fmt.Sprintf("%s_%x_%d_%06x_0", tried, now, 1<<30, place()), "1s", true},  // here, where there is no such process
		{fmt.Sprintf("%s_8_%d_%06x_0", tried, os.Getpid(), place()), "1s", false}, // here, by a process that lives
		{fmt.Sprintf("%s_%x_%d_%06x_0", tried, now, 1<<30, place()^1), "", false}, // as numbered here, but elsewhere
		{tried + "_mine", "", false}, {tried + "_5_1_mine_0", "", false}, {tried + "x_5_1_000001_0", "", false},
	} {
		for _, text := range []string{
			"CREATE KEYSPACE " + c.name + " WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
			"CREATE TABLE " + c.name + "." + Pulse + " (id int PRIMARY KEY, at timestamp)",
			"INSERT INTO " + c.name + "." + Pulse + " (id, at) VALUES (0, toTimestamp(now()) - " + c.pulse + ")",
		} {
			if c.pulse == "" && !strings.HasPrefix(text, "CREATE KEYSPACE") {
				break
			}
			if err := s.Query(text).WithContext(ctx).Exec(); err != nil {
				t.Fatalf("%s: %v", text, err)
			}
		}
		defer func() {
			if err := s.Query("DROP KEYSPACE IF EXISTS " + c.name).WithContext(ctx).Exec(); err != nil {
				t.Error(err)
			}
		}()
		if c.gone {
			want = append(want, c.name)
		}
	}
	next := begin(t)
	end(t, next)
	slices.Sort(want)
	slices.Reverse(want)
	if !slices.Equal(next.Swept, want) {
		t.Errorf("swept %q\nwant  %q", next.Swept, want)
	}
}

// TestAlone: one that wants to be alone yields to one that lives, and of two that begin at once only one is left.
func TestAlone(t *testing.T) {
	living := begin(t)
	o := Options{Prefix: tried, Connect: connects(t), Alone: true}
	_, err := Begin(t.Context(), o)
	var other *AtWorkError
	if !errors.As(err, &other) || other.Process != os.Getpid() || other.Run != living.name {
		t.Errorf("%v", err)
	}
	end(t, living)
	type began struct {
		*Run
		err error
	}
	both := make(chan began, 2)
	for range 2 {
		go func() {
			r, err := Begin(t.Context(), o)
			both <- began{r, err}
		}()
	}
	a, b := <-both, <-both
	if a.err == nil && b.err == nil {
		t.Errorf("%s and %s are both alone", a.name, b.name)
	}
	for _, x := range []began{a, b} {
		if x.err == nil {
			end(t, x.Run)
		} else if !errors.As(x.err, &other) {
			t.Error(x.err)
		}
	}
	if now := left(t); len(now) > 0 {
		t.Errorf("%q is left behind", now)
	}
}

// TestStopped: what is begun with a context that has ended makes nothing, and a run that is told to stop drops what it made.
func TestStopped(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	r, err := Begin(ctx, Options{Prefix: tried, Connect: connects(t)})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Create(ctx, ""); err != nil {
		t.Fatal(err)
	}
	cancel()
	if _, err := r.Create(ctx, ""); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	if made := left(t); len(made) != 2 {
		t.Errorf("%q", made)
	}
	end(t, r)
	if _, err := Begin(ctx, Options{Prefix: tried, Connect: connects(t)}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	if now := left(t); len(now) > 0 {
		t.Errorf("%q is left behind", now)
	}
}

func TestPrefixes(t *testing.T) {
	for prefix, fits := range map[string]bool{"helenus_calibrate": true, "h": true, "": false, "Helenus": false, "9": false, "a; DROP": false, "helenus_calibrate_22": false} {
		if err := CheckPrefix(prefix); (err == nil) != fits {
			t.Errorf("%q: %v", prefix, err)
		}
	}
	if x, ok := parse("helenus_a", "helenus_a_65_12_0000ff_3"); !ok || x != (name{"helenus_a_65_12_0000ff", time.Unix(0x65, 0), 12, 3, 0xff}) {
		t.Error(x, ok)
	}
}
