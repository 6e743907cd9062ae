package planrun_test

import (
	"bytes"
	"context"
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gocql/gocql"
	"gopkg.in/inf.v0"

	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/plan"
	"github.com/helenus-db/helenus/internal/cassandra/cassandratest"
	"github.com/helenus-db/helenus/rewrite/exec"
	"github.com/helenus-db/helenus/rewrite/planrun"
)

// real is a keyspace of its own on a real Cassandra.
type real struct {
	*exec.Pool
	keyspace string
	session  *gocql.Session
}

func open(t testing.TB) *real {
	t.Helper()
	session, keyspace := cassandratest.Keyspace(t)
	// gocql's session has no goroutines that outlive its Close, which the test's end does after goleak has looked.
	return &real{exec.NewPool(func() (*gocql.Session, error) { return session, nil }), keyspace, session}
}

func (r *real) do(t testing.TB, text string, values ...[]byte) {
	t.Helper()
	if _, err := r.Query(context.Background(), exec.Query{Text: text, Values: values, Consistency: gocql.One}); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
}

// create makes a table with its rows.
func (r *real) create(t testing.TB, s *stored) {
	t.Helper()
	s.Keyspace = r.keyspace
	r.do(t, s.CQL(s.Keyspace, s.Name))
	for _, i := range s.Indexes {
		using := ""
		if i.SAI {
			using = " USING 'sai'"
		}
		r.do(t, fmt.Sprintf("CREATE INDEX %s ON %s.%s (%s)%s", model.Quote(i.Name), s.Keyspace, model.Quote(s.Name), model.Quote(s.ColumnName(i.Field)), using))
	}
	names := make([]string, len(s.names))
	for i, n := range s.names {
		names[i] = model.Quote(n)
	}
	insert := fmt.Sprintf("INSERT INTO %s.%s (%s) VALUES (?%s)", s.Keyspace, model.Quote(s.Name), strings.Join(names, ", "), strings.Repeat(", ?", len(names)-1))
	for _, row := range s.rows {
		cells := make([][]byte, len(row))
		for i, v := range row {
			var err error
			if cells[i], err = planrun.Encode(s.types[i], v); err != nil {
				t.Fatal(err)
			}
		}
		r.do(t, insert, cells...)
	}
}

// TestProgramsAnswerOnCassandra is TestProgramsAnswer on a real one, of fewer models.
func TestProgramsAnswerOnCassandra(t *testing.T) {
	db := open(t)
	met := map[string]int{}
	plans, tables := 0, 0
	for seed := range number(t, "HELENUS_TEST_CASSANDRA_WORLDS", 3) {
		d := draw(seed)
		for i, a := range d.queries {
			space, err := plan.NewSpace(a.Query, d.tables[i], nil)
			if err != nil {
				t.Fatal(err)
			}
			var made []*model.Table
			for n, table := range d.tables[i] {
				table.Name = fmt.Sprintf("t%d_%d_%d", seed, i, n)
				for j := range table.Indexes {
					table.Indexes[j].Name = fmt.Sprintf("%s_%d", table.Name, j)
				}
				if slices.ContainsFunc(space.Plans(60), func(p *plan.Plan) bool { return slices.Contains(p.Tables(), table) }) {
					db.create(t, d.world.store(table))
					made = append(made, table)
				}
			}
			tables += len(made)
			if err := db.Agree(context.Background()); err != nil {
				t.Fatal(err)
			}
			plans += check(t, seed, d, i, db, met, a.answer(d.world))
			for _, table := range made { // a keyspace of many tables is long in dropping
				db.do(t, "DROP TABLE "+table.Keyspace+"."+table.Name)
			}
		}
	}
	t.Logf("%d plans over %d tables; met %v", plans, tables, met)
}

// TestCompareIsTheClusteringOrder has Cassandra order cells of each type.
func TestCompareIsTheClusteringOrder(t *testing.T) {
	db := open(t)
	random := rand.New(rand.NewPCG(3, 5))
	for cqlType, draw := range map[string]func() any{
		"int": func() any { return int64(int32(random.Uint32())) }, "tinyint": func() any { return int64(int8(random.Uint32())) },
		"bigint": func() any { return int64(random.Uint64()) }, "text": func() any { return string([]rune{rune(random.IntN(0xd000)), rune(random.IntN(300))}) },
		"double": func() any { return []float64{0, -1e300, 1, 2.5, -0.25}[random.IntN(5)] * random.Float64() }, "float": func() any { return float64(float32(random.NormFloat64())) },
		"boolean": func() any { return random.IntN(2) == 1 }, "timestamp": func() any { return time.UnixMilli(int64(random.Uint32()) - 1<<31) },
		"date": func() any { return time.Unix((int64(random.Uint32())-1<<31)/1000*86400, 0) }, "time": func() any { return time.Duration(random.Int64N(int64(24 * time.Hour))) },
		"uuid": func() any {
			if random.IntN(2) == 0 {
				return gocql.UUIDFromTime(time.UnixMilli(int64(random.Uint32()) * 1000))
			}
			u, err := gocql.RandomUUID()
			if err != nil {
				t.Fatal(err)
			}
			return u
		},
		"timeuuid": func() any {
			u := gocql.UUIDFromTime(time.UnixMilli(int64(random.IntN(3)) * 1e9))
			u[8], u[15] = byte(random.Uint32())&0x3f|0x80, byte(random.Uint32())
			return u
		},
		"blob":   func() any { return []byte{byte(random.Uint32()), byte(random.Uint32())}[:1+random.IntN(2)] },
		"varint": func() any { return new(big.Int).Lsh(big.NewInt(int64(random.Uint64())), uint(random.IntN(70))) },
		"decimal": func() any {
			return inf.NewDec(int64(random.IntN(2000)-1000), inf.Scale(random.IntN(6)-2))
		},
		"inet": func() any { return "10.0.0." + fmt.Sprint(random.IntN(256)) },
	} {
		name := db.keyspace + ".order_of_" + cqlType
		db.do(t, "CREATE TABLE "+name+" (p int, c "+cqlType+", PRIMARY KEY (p, c))")
		var cells [][]byte
		for range 60 {
			v := draw()
			cell, err := planrun.Encode(cqlType, v)
			if err != nil {
				t.Fatal(cqlType, err)
			}
			back, err := planrun.Decode(cqlType, cell)
			if again, _ := planrun.Encode(cqlType, back); err != nil || !bytes.Equal(again, cell) {
				t.Errorf("%s: %v comes back as %v: %v", cqlType, v, back, err)
			}
			if !slices.ContainsFunc(cells, func(c []byte) bool { return planrun.Compare(cqlType, c, cell) == 0 }) {
				cells = append(cells, cell)
			}
			db.do(t, "INSERT INTO "+name+" (p, c) VALUES (?, ?)", exec.FromInt32(1), cell)
		}
		slices.SortFunc(cells, func(a, b []byte) int { return planrun.Compare(cqlType, a, b) })
		answer, err := db.Query(context.Background(), exec.Query{Text: "SELECT c FROM " + name + " WHERE p = 1", Consistency: gocql.One})
		if err != nil {
			t.Fatal(err)
		}
		if len(answer.Rows) != len(cells) {
			t.Errorf("%s: %d values are different, Cassandra says %d", cqlType, len(cells), len(answer.Rows))
			continue
		}
		for i, row := range answer.Rows {
			if planrun.Compare(cqlType, row[0], cells[i]) != 0 {
				t.Errorf("%s: the %dth is %x, in Cassandra %x", cqlType, i, cells[i], row[0])
			}
		}
	}
}
