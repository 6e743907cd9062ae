package drivers

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// shell is a program of a few lines.
func shell(lines ...string) []string { return []string{"sh", "-c", strings.Join(lines, "\n")} }

// TestRunAllDisturbsOnceForAll: nobody is disturbed before all that still run wait, and then all go on.
func TestRunAllDisturbsOnceForAll(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	wait := []string{
		`echo '{"check": "connect", "ok": true, "hosts": ["127.0.0.1:1"]}'`,
		`echo '{"ready": "restart", "ok": true}'`, `read line`, `echo "{\"check\": \"restart\", \"ok\": true, \"detail\": \"$line\"}"`,
	}
	var disturbed, heard []string
	programs, err := RunAll(ctx, map[string][]string{
		"gocql":  shell(wait...),
		"python": shell(append([]string{"sleep 0.2"}, wait...)...),
		"java":   shell(`echo not a line of JSON`, `echo oops >&2`, `exit 3`),
	}, func(p *Program, l Line) { heard = append(heard, p.Name+" "+l.Check) }, func(check string) error {
		disturbed = append(disturbed, check)
		return nil
	})
	if err != nil || len(programs) != 3 {
		t.Fatalf("%d programs, %v", len(programs), err)
	}
	if !slices.Equal(disturbed, []string{"restart"}) {
		t.Errorf("disturbed for %q, want once for restart", disturbed)
	}
	if len(heard) != 5 {
		t.Errorf("heard of %q as it came, want 5 results", heard)
	}
	for _, p := range programs {
		want := "[{connect true} {restart true done}]"
		if p.Name == "java" {
			want = "[{output false}]"
			if !strings.Contains(p.Errors(), "oops") {
				t.Errorf("standard error is %q", p.Errors())
			}
		}
		var got []string
		for _, l := range p.Lines {
			text := fmt.Sprint(l.Check, " ", l.OK)
			if l.Check == "restart" {
				text += " " + l.Detail
			}
			got = append(got, "{"+text+"}")
		}
		if fmt.Sprint(got) != want {
			t.Errorf("%s said %v, want %s", p.Name, got, want)
		}
	}
}

func TestRunAllEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), 300*time.Millisecond)
	defer cancel()
	_, err := RunAll(ctx, map[string][]string{"node": shell("sleep 600")}, nil, nil)
	if err == nil || !strings.Contains(err.Error(), "node runs the check after its 0th") {
		t.Errorf("got %v", err)
	}
}

func TestRunAllNamesAProgramThatIsNotThere(t *testing.T) {
	if _, err := RunAll(context.Background(), map[string][]string{"gocql": {"/nonexistent/program"}}, nil, nil); err == nil || !strings.Contains(err.Error(), "gocql") {
		t.Errorf("got %v", err)
	}
}

// TestJudgement: what a program says is not taken for true.
func TestJudgement(t *testing.T) {
	s := &stage{t: t, owners: []owner{{token: -100, host: "a", address: "127.0.1.1"}, {token: 0, host: "b", address: "127.0.1.2"}, {token: 100, host: "c", address: "127.0.1.3"}}}
	for token, host := range map[string]string{"-101": "a", "-100": "a", "-99": "b", "0": "b", "100": "c", "101": "a"} {
		if got := ownerOf(s.owners, token).host; got != host {
			t.Errorf("token %s is said to be %s's, want %s's", token, got, host)
		}
	}
	reads := func(right, wrong int) (list [][2]string) {
		for range right {
			list = append(list, [2]string{"-50", "b"})
		}
		for range wrong {
			list = append(list, [2]string{"-50", "c"})
		}
		return list
	}
	traces := slices.Repeat([][2]string{{"-50", "127.0.1.2"}}, 20)
	for _, c := range []struct {
		name  string
		line  Line
		fault bool
	}{
		{"all right", Line{Reads: reads(1000, 0), Traces: traces}, false},
		{"99 %", Line{Reads: reads(990, 10), Traces: traces}, false},
		{"less", Line{Reads: reads(989, 11), Traces: traces}, true},
		{"too few", Line{Reads: reads(999, 0), Traces: traces}, true},
		{"a trace that says otherwise", Line{Reads: reads(1000, 0), Traces: append(slices.Clone(traces), [2]string{"-50", "127.0.1.1"})}, true},
		{"no traces", Line{Reads: reads(1000, 0)}, true},
	} {
		if fault := s.misses(t, "x", c.line, nil); (fault != "") != c.fault {
			t.Errorf("%s: %q", c.name, fault)
		}
	}
	traces = slices.Repeat([][2]string{{"-50", "127.0.9.9"}}, 20) // of nodes that say nothing of members
	even := append(reads(600, 0), slices.Repeat([][2]string{{"-150", "a"}, {"50", "c"}}, 200)...)
	if fault := s.misses(t, "x", Line{Reads: even, Traces: traces}, s.owners); fault != "" {
		t.Errorf("each member got its reads: %s", fault)
	}
	if s.misses(t, "x", Line{Reads: reads(1000, 0), Traces: traces}, s.owners) == "" {
		t.Error("two members got none of the reads, and nobody minded")
	}
	listeners := []string{"127.0.0.1:1000", "127.0.0.2:1000"}
	for want, hosts := range map[bool][]string{true: {"127.0.0.2:1000", "127.0.0.1:1000"}, false: {"127.0.0.1:1000", "127.0.1.2:9042"}} {
		if fault := s.strangers(hosts, listeners); (fault == "") != want {
			t.Errorf("hosts %v: %q", hosts, fault)
		}
	}
	if accused(Line{Down: []string{"b"}}, "b") != "" || accused(Line{Down: []string{"b", "c"}}, "b") == "" || accused(Line{Down: []string{"c"}}, "") != "" {
		t.Error("accused takes the wrong one")
	}
}
