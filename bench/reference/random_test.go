package reference_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"

	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/workload"
	"github.com/helenus-db/helenus/bench/data"
	"github.com/helenus-db/helenus/bench/generate"
	"github.com/helenus-db/helenus/bench/reference"
)

// worlds is how many random workloads are tried; HELENUS_TEST_WORLDS tries more.
func worlds(t *testing.T, n uint64) uint64 {
	t.Helper()
	if text := os.Getenv("HELENUS_TEST_WORLDS"); text != "" {
		more, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		return more
	}
	return n
}

// varied makes a random workload of the whole language and its data, twice.
func varied(t testing.TB, seed uint64) (*workload.Workload, *reference.Reference, *naive) {
	t.Helper()
	wl := generate.Varied(seed)
	w, err := data.New(wl.Graph, data.Options{Seed: seed, Skew: float64(seed%3) / 2})
	if err != nil {
		t.Fatal(err)
	}
	r, err := reference.Create("", w)
	if err != nil {
		t.Fatal(err)
	}
	return wl, r, newNaive(w)
}

func outs(list []result) [][]any {
	rows := [][]any{}
	for _, r := range list {
		rows = append(rows, r.out)
	}
	return rows
}

// contents are the rows of a table by definition, as sorted texts.
func (n *naive) contents(t *model.Table) []string {
	var rows []string
join:
	for _, r := range n.join(t.Tree) {
		var values []any
		for i, f := range t.Fields() {
			v := n.value(r, f)
			if v == nil && i < len(t.Key()) {
				continue join
			}
			values = append(values, v)
		}
		rows = append(rows, fmt.Sprintf("%#v", values))
	}
	slices.Sort(rows)
	return rows
}

// over makes a table of all fields of a tree, under the keys of its entities.
func over(tree model.Tree) *model.Table {
	t := &model.Table{Tree: tree}
	for i, e := range tree.Entities {
		for _, a := range e.Attributes {
			f := model.Field{Entity: e, Attribute: a}
			switch {
			case f.IsKey() && i == 0:
				t.Partition = append(t.Partition, f)
			case f.IsKey() || a.Null > 0 && len(t.Clustering) < 2:
				t.Clustering = append(t.Clustering, f)
			default:
				t.Values = append(t.Values, f)
			}
		}
	}
	return t
}

// TestRandomStatements compares the reference with the definition: answers before limits, in order; those with limits are
// accepted; tables after each write.
func TestRandomStatements(t *testing.T) {
	answers, applied, skipped := 0, map[workload.WriteKind]int{}, 0
	for seed := range worlds(t, 20) {
		wl, r, n := varied(t, seed)
		random := rand.New(rand.NewPCG(seed, 1))
		for range 3 {
			for _, s := range wl.Statements {
				with, err := r.Draw(s, random)
				if errors.Is(err, reference.ErrNothing) && s.Write != nil {
					skipped++
					continue
				}
				if err != nil {
					t.Fatalf("seed %d: %v", seed, err)
				}
				if s.Write != nil {
					if err := r.Apply(s.Write, with); err != nil {
						t.Fatalf("seed %d: %v %v", seed, err, with)
					}
					n.apply(s.Write, with)
					applied[s.Write.Kind]++
					tree := s.Write.Tree
					for _, c := range s.Write.Connections {
						if tree, err = model.NewTree(tree.Entities[0], c.Edge); err != nil {
							t.Fatal(err)
						}
					}
					same(t, r, n, over(tree), s.String())
					continue
				}
				q := s.Query
				whole := n.answer(q, with)
				unlimited := *q
				unlimited.Limit, unlimited.PerLimit, unlimited.Per = 0, 0, nil
				got, err := r.Answer(&unlimited, with)
				if err != nil {
					t.Fatalf("seed %d: %v", seed, err)
				}
				bag := func(rows [][]any) []string {
					var list []string
					for _, row := range rows {
						list = append(list, fmt.Sprintf("%#v", row))
					}
					slices.Sort(list)
					return list
				}
				if a, b := bag(got), bag(outs(whole)); !slices.Equal(a, b) {
					t.Fatalf("seed %d: %s with %v:\n%v\nwant\n%v", seed, q, with, a, b)
				}
				if err := r.Check(&unlimited, with, outs(whole)); err != nil {
					t.Fatalf("seed %d: %v %v", seed, err, with)
				}
				if got, err = r.Answer(q, with); err != nil {
					t.Fatal(err)
				}
				if err := r.Check(q, with, got); err != nil {
					t.Fatalf("seed %d: %v %v", seed, err, with)
				}
				if len(got) > 0 {
					answers++
				}
				checkLimits(t, r, q, with, whole, random)
			}
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
	t.Logf("%d answers with rows, writes %v, %d not applicable", answers, applied, skipped)
	for _, kind := range []workload.WriteKind{workload.Insert, workload.Update, workload.Delete, workload.Connect, workload.Disconnect} {
		if applied[kind] == 0 {
			t.Errorf("no %s was applied", kind)
		}
	}
}

func same(t *testing.T, r *reference.Reference, n *naive, table *model.Table, what string) {
	t.Helper()
	var got []string
	if err := r.Contents(table, func(row []any) error {
		got = append(got, fmt.Sprintf("%#v", row))
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	slices.Sort(got)
	if want := n.contents(table); !slices.Equal(got, want) {
		t.Fatalf("%s over %s after %s has %d rows\n%v\nwant %d\n%v", table, table.Tree.Path(), what, len(got), got, len(want), want)
	}
}

// checkLimits takes all orders of a small answer that the statement allows, cuts them as it says, and compares what comes out
// with what Check accepts, of those and of others.
func checkLimits(t *testing.T, r *reference.Reference, q *workload.Query, with reference.Parameters, whole []result, random *rand.Rand) {
	t.Helper()
	if len(whole) > 6 {
		return
	}
	right := map[string][][]any{}
	var permute func(list []result, from int)
	permute = func(list []result, from int) {
		if from == len(list) {
			if !slices.IsSortedFunc(list, func(a, b result) int { return before(q, a, b) }) {
				return
			}
			per := map[string]int{}
			kept := [][]any{}
			for _, x := range list {
				parent := fmt.Sprintf("%#v", x.per)
				if per[parent]++; (q.PerLimit == 0 || per[parent] <= q.PerLimit) && (q.Limit == 0 || len(kept) < q.Limit) {
					kept = append(kept, x.out)
				}
			}
			right[fmt.Sprintf("%#v", kept)] = kept
			return
		}
		for i := from; i < len(list); i++ {
			list[from], list[i] = list[i], list[from]
			permute(list, from+1)
			list[from], list[i] = list[i], list[from]
		}
	}
	permute(slices.Clone(whole), 0)
	for _, rows := range right {
		if err := r.Check(q, with, rows); err != nil {
			t.Fatalf("%v\n%v with %v", err, rows, with)
		}
	}
	for range 20 {
		rows := outs(whole)
		random.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
		rows = rows[:random.IntN(len(rows)+1)]
		if len(rows) > 0 && random.IntN(4) == 0 {
			rows = append(rows, rows[0])
		}
		_, want := right[fmt.Sprintf("%#v", rows)]
		if err := r.Check(q, with, rows); (err == nil) != want {
			t.Fatalf("%s\n%v with %v is right: %v, Check says %v", q, rows, with, want, err)
		}
	}
}
