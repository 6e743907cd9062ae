package planrun_test

import (
	"context"
	"fmt"
	"sort"
	"syscall"
	"testing"

	"github.com/gocql/gocql"

	"github.com/helenus-db/helenus/rewrite/exec"
	"github.com/helenus-db/helenus/rewrite/planrun"
)

// constant answers everything with the same rows.
type constant struct {
	exec.Session
	answer exec.Answer
}

func (c *constant) Query(context.Context, exec.Query) (exec.Answer, error) { return c.answer, nil }

// mostAllocations is how many allocations a program of one get makes besides those of the session: the answer, the values
// of parameters, and the request.
const mostAllocations = 5

func oneGet(t testing.TB) (*planrun.Program, planrun.Parameters) {
	p, _ := userByID()
	program, err := planrun.Compile(p)
	if err != nil {
		t.Fatal(err)
	}
	return program, planrun.Parameters{"User.id =": {exec.FromInt32(7)}}
}

func TestOneGetAllocatesLittle(t *testing.T) {
	program, with := oneGet(t)
	s := &constant{answer: exec.Answer{Rows: [][][]byte{{[]byte("Ada")}}}}
	ctx := context.Background()
	n := testing.AllocsPerRun(200, func() {
		if rows, err := program.Run(ctx, s, with, planrun.RunOptions{}); err != nil || len(rows.Cells) != 1 {
			t.Fatal(rows, err)
		}
	})
	if n > mostAllocations {
		t.Errorf("%.0f allocations, want at most %d", n, mostAllocations)
	}
}

// BenchmarkOneGet is a program of one get without a database.
func BenchmarkOneGet(b *testing.B) {
	program, with := oneGet(b)
	s := &constant{answer: exec.Answer{Rows: [][][]byte{{[]byte("Ada")}}}}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := program.Run(context.Background(), s, with, planrun.RunOptions{}); err != nil {
			b.Fatal(err)
		}
	}
}

// cpu is the processor time that the process has used, ns.
func cpu(t testing.TB) int64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return u.Utime.Nano() + u.Stime.Nano()
}

// TestOneGetCostsLittleMoreThanGocql takes turns on a real Cassandra: a get by the bare driver, into typed variables, and the
// same as a program. The ratio of the processor time that the client spends is at most 1.2, for one row and for a hundred.
func TestOneGetCostsLittleMoreThanGocql(t *testing.T) {
	db := open(t)
	p, table := userByID()
	table.Keyspace = db.keyspace
	table.Clustering, table.Values = table.Values, nil
	program, err := planrun.Compile(p)
	if err != nil {
		t.Fatal(err)
	}
	db.do(t, table.CQL(db.keyspace, table.Name))
	for id, rows := range map[int32]int{1: 1, 2: 100} {
		for i := range rows {
			db.do(t, "INSERT INTO "+db.keyspace+".users (id, name) VALUES (?, ?)", exec.FromInt32(id), fmt.Appendf(nil, "a name of usual length %d", i))
		}
	}
	ctx := context.Background()
	text := "SELECT name FROM " + db.keyspace + ".users WHERE id = ?"
	for id, rows := range map[int32]int{1: 1, 2: 100} {
		with := planrun.Parameters{"User.id =": {exec.FromInt32(id)}}
		bare := func() {
			var names []string
			iter := db.session.Query(text, id).WithContext(ctx).Consistency(gocql.One).Idempotent(true).Iter()
			var name string
			for iter.Scan(&name) {
				names = append(names, name)
			}
			if err := iter.Close(); err != nil || len(names) != rows {
				t.Fatal(len(names), err)
			}
		}
		ours := func() {
			got, err := program.Run(ctx, db, with, planrun.RunOptions{Consistency: gocql.One})
			if err != nil || len(got.Cells) != rows {
				t.Fatal(got, err)
			}
		}
		const rounds, each = 30, 40
		var ratios []float64
		spent := func(f func()) float64 {
			start := cpu(t)
			for range each {
				f()
			}
			return float64(cpu(t) - start)
		}
		spent(bare)
		spent(ours)
		for i := range rounds {
			var a, b float64
			if i%2 == 0 {
				a, b = spent(bare), spent(ours)
			} else {
				b, a = spent(ours), spent(bare)
			}
			ratios = append(ratios, b/a)
		}
		sort.Float64s(ratios)
		median := ratios[len(ratios)/2]
		t.Logf("%d rows: %.3f of the bare driver's processor time (quartiles %.3f, %.3f); allocations %.0f, bare %.0f",
			rows, median, ratios[rounds/4], ratios[3*rounds/4], testing.AllocsPerRun(50, ours), testing.AllocsPerRun(50, bare))
		if median > 1.2 {
			t.Errorf("%d rows: a program costs %.2f of the bare driver, want at most 1.2", rows, median)
		}
	}
}
