package solve

import (
	"bytes"
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func encoded(t testing.TB, r request) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := gob.NewEncoder(&b).Encode(r); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestWorker(t *testing.T) {
	for _, c := range []struct {
		name    string
		request request
		failure string
	}{
		{"solve", request{Version: Protocol, Problem: *cover()}, ""},
		{"invalid problem", request{Version: Protocol, Problem: Problem{Columns: []Column{{"x", math.NaN(), 0, 1, true}}}}, "cost NaN"},
		{"invalid limits", request{Version: Protocol, Problem: *cover(), Limits: Limits{Gap: 2}}, "limits not valid"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var out bytes.Buffer
			if err := Worker(bytes.NewReader(encoded(t, c.request)), &out, fake{}); err != nil {
				t.Fatal(err)
			}
			last, _, err := readReplies(&out, func(Progress) {})
			if err != nil || !strings.Contains(last.Failure, c.failure) || (last.Failure == "") != (c.failure == "") {
				t.Fatalf("%+v, %v", last, err)
			}
			if c.failure == "" && last.Solution.Objective != 4 {
				t.Fatalf("%+v", last.Solution)
			}
		})
	}
	t.Run("other version", func(t *testing.T) {
		err := Worker(bytes.NewReader(encoded(t, request{Version: "old"})), &bytes.Buffer{}, fake{})
		if err == nil || !strings.Contains(err.Error(), "must be of one release") {
			t.Fatal(err)
		}
	})
	t.Run("no request", func(t *testing.T) {
		if err := Worker(strings.NewReader("SELECT"), &bytes.Buffer{}, fake{}); err == nil {
			t.Fatal("taken")
		}
	})
	t.Run("closed output", func(t *testing.T) {
		if err := Worker(bytes.NewReader(encoded(t, request{Version: Protocol})), broken{}, fake{}); err == nil {
			t.Fatal("taken")
		}
	})
	t.Run("panic", func(t *testing.T) {
		r := answerRequest(context.Background(), fake{}, &request{Problem: *cover()}, func(*Solution) error { panic("boom") }, func(Progress) {})
		if !strings.Contains(r.Failure, "panicked: boom") {
			t.Fatalf("%+v", r)
		}
	})
}

// fake is an engine that takes the start.
type fake struct{}

func (fake) Solve(_ context.Context, p *Problem, _ Limits, _ bool, start []float64, _ func(Progress)) (*Solution, error) {
	return NewSolution(p, Unproven, start, p.Floor(), EngineHeuristic), nil
}

func (fake) Relax(*Problem) (*Relaxation, error) { return nil, errWorker }

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errors.New("closed") }

func TestCausesCrossOver(t *testing.T) {
	for _, err := range []error{ErrMemory} {
		r := failureReply(err)
		if !errors.Is(&reported{r.Failure, causes[knownCause(r.Cause)]}, err) {
			t.Errorf("%v became %+v", err, r)
		}
	}
	if knownCause(-1) != causeOther || knownCause(99) != causeOther {
		t.Error("an unknown cause is not other")
	}
}

func TestTail(t *testing.T) {
	tail := &tail{}
	for range 1000 {
		if n, err := tail.Write([]byte("0123456789")); n != 10 || err != nil {
			t.Fatal(n, err)
		}
	}
	_, _ = tail.Write([]byte("end \xff"))
	if s := tail.String(); len(s) > 2*tailSize+10 || !strings.HasPrefix(s, "0123") || !strings.HasSuffix(s, "89end ?") {
		t.Errorf("%q", s)
	}
}

// TestProtocol: who changes a message must change Protocol, too, so that a helenus and a helenus-solver that do not understand each other know it.
func TestProtocol(t *testing.T) {
	var shape func(reflect.Type) string
	shape = func(x reflect.Type) string {
		switch x.Kind() {
		case reflect.Pointer, reflect.Slice:
			return "*" + shape(x.Elem())
		case reflect.Struct:
			text := "{"
			for i := range x.NumField() {
				text += x.Field(i).Name + " " + shape(x.Field(i).Type) + ";"
			}
			return text + "}"
		}
		return x.Kind().String()
	}
	sum := fnv.New64a()
	fmt.Fprint(sum, shape(reflect.TypeFor[request]()), shape(reflect.TypeFor[reply]()), shape(reflect.TypeFor[stop]()))
	const known = "helenus-solver protocol 2: 6d18dfeeb69ad1c1"
	if got := fmt.Sprintf("%s: %x", Protocol, sum.Sum64()); got != known {
		t.Errorf("the messages are %q, and were %q: give Protocol another number, and enter both here", got, known)
	}
}

// FuzzDecodeRequest: what a worker is sent is either a well-formed request or an error, and never more.
func FuzzDecodeRequest(f *testing.F) {
	f.Add(encoded(f, request{Version: Protocol, Problem: *cover(), Limits: Limits{Nodes: 3}}))
	f.Add([]byte("PASS\n"))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := decodeRequest(gob.NewDecoder(bytes.NewReader(b)))
		if (r == nil) == (err == nil) {
			t.Fatal(r, err)
		}
		if r != nil && r.Problem.Validate() == nil && len(r.Problem.Columns) < 100 && len(r.Problem.Rows) < 100 {
			s, err := Heuristic{}.Solve(context.Background(), &r.Problem, Limits{Wall: 50 * time.Millisecond})
			if err != nil || s.Values != nil && r.Problem.Check(s.Values) != nil {
				t.Fatal(s, err)
			}
		}
	})
}

// FuzzReplies: so is what a worker answers.
func FuzzReplies(f *testing.F) {
	var out bytes.Buffer
	if err := Worker(bytes.NewReader(encoded(f, request{Version: Protocol, Problem: *cover()})), &out, fake{}); err != nil {
		f.Fatal(err)
	}
	f.Add(out.Bytes())
	f.Add([]byte("ok  \tpackage\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		if last, _, err := readReplies(bytes.NewReader(b), func(Progress) {}); err == nil && last.Incumbent != nil {
			t.Fatal(last)
		}
	})
}

func TestHeuristicAgainstBruteForce(t *testing.T) {
	found, solvable, best := 0, 0, 0
	rapid.Check(t, func(t *rapid.T) {
		p := problems(t)
		s, err := Heuristic{}.Solve(context.Background(), p, Limits{})
		if err != nil {
			t.Fatal(err)
		}
		optimum, feasible := bruteForce(p)
		if feasible {
			solvable++
		}
		switch {
		case s.Status == Infeasible && feasible:
			t.Fatal("infeasible, it says")
		case s.Values == nil:
			return
		case p.Check(s.Values) != nil || s.Objective < optimum-1e-9 || s.Bound > optimum+1e-9:
			t.Fatalf("%+v, but the optimum is %v", s, optimum)
		}
		found++
		if s.Objective <= optimum+1e-9 {
			best++
		}
	})
	// Small problems: it finds a solution where there is one, and mostly the best.
	if found < solvable || best*10 < found*9 {
		t.Errorf("of %d solvable problems, %d solved, %d to the optimum", solvable, found, best)
	}
}

func TestHeuristicOnWarehouses(t *testing.T) {
	p := warehouse(size(8, 6), size(15, 10))
	s, err := Heuristic{}.Solve(context.Background(), p, Limits{})
	if err != nil || s.Status != Unproven || p.Check(s.Values) != nil || math.IsInf(s.Bound, 0) {
		t.Fatalf("%+v, %v", s, err)
	}
	again, err := Heuristic{}.Solve(context.Background(), p, Limits{})
	if err != nil || again.Objective != s.Objective {
		t.Fatalf("%v, then %v (%v)", s.Objective, again.Objective, err)
	}
	if exact := solved(t, p, Limits{}); s.Objective > 1.1*exact.Objective {
		t.Errorf("objective %v, the optimum is %v", s.Objective, exact.Objective)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := (Heuristic{}).Solve(ctx, p, Limits{}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if s, err := (Heuristic{}).Solve(context.Background(), p, Limits{Wall: 1}); err != nil || s.Status != Unproven {
		t.Errorf("no time: %+v, %v", s, err)
	}
}
