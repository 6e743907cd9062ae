package verify

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/helenus-db/helenus/internal/cassandra/cassandratest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestNamesOfKeyspaces(t *testing.T) {
	run, began, ok := parts("helenus_verify_65_12_3")
	if run != "helenus_verify_65_12" || began != time.Unix(0x65, 0) || !ok {
		t.Error(run, began, ok)
	}
	for _, name := range []string{"helenus_verify_65_12", "helenus_verify_x5_12_3", "helenus_verify_65_12_mine", "helenus_verify_65_12_3_4"} {
		if _, _, ok := parts(name); ok {
			t.Errorf("%s is taken for ours", name)
		}
	}
}

// TestSweep: a run removes what dead runs have left behind, and neither what belongs to one that is alive nor what only looks
// like it; and its own keyspaces when it ends.
func TestSweep(t *testing.T) {
	cluster := cassandratest.Config(t, cassandratest.ContactPoints(t)[0])
	ctx := t.Context()
	alive, _, err := open(ctx, cluster, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	make := func(name string) {
		if err := alive.exec(ctx, "CREATE KEYSPACE "+name+" WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}"); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			session, err := cluster.CreateSession()
			if err == nil {
				err = session.Query("DROP KEYSPACE IF EXISTS " + name).Exec()
				session.Close()
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	dead, young, foreign := marker+"5_1_0", fmt.Sprintf("%s%x_1_0", marker, time.Now().Unix()), marker+"of_the_tests"
	for _, name := range []string{dead, marker + "5_1_1", young, foreign} { // dead: a pulse that never was, and a name from 1970
		make(name)
	}
	other, swept, err := open(ctx, cluster, time.Now().Add(-time.Hour)) // its name is old, its pulse is not
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(swept, []string{marker + "5_1_1", dead}) {
		t.Errorf("swept %q", swept)
	}
	third, swept, err := open(ctx, cluster, time.Now().Add(time.Second))
	if err != nil || len(swept) > 0 {
		t.Fatalf("swept %q, %v", swept, err)
	}
	mine, err := third.keyspace(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []*scratch{third, other, alive} {
		if err := s.close(ctx); err != nil {
			t.Error(err)
		}
	}
	session, err := cluster.CreateSession()
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	left, err := keyspaces(ctx, session)
	if err != nil || !slices.Contains(left, young) || !slices.Contains(left, foreign) || slices.Contains(left, mine) || len(left) != 2 {
		t.Errorf("left %q, %v", left, err)
	}
}

// TestNoCassandra: a node that is down from the start is an error that says where it was looked for, and what to do.
func TestNoCassandra(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	cluster := cassandratest.Config(t, address)
	cluster.Logger = quiet{}
	_, err = Run(t.Context(), Options{Cluster: cluster, Names: []string{"random:1"}, Designs: []string{Ours}, Rows: 10, Every: 1})
	if !errors.Is(err, ErrUnreachable) || !strings.Contains(err.Error(), "--contact-point") {
		t.Error(err)
	}
}

type quiet struct{}

func (quiet) Print(...any)          {}
func (quiet) Printf(string, ...any) {}
func (quiet) Println(...any)        {}
