package verify

import (
	"errors"
	"net"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/helenus-db/helenus/advisor/solve/coin"
	"github.com/helenus-db/helenus/internal/cassandra/cassandratest"
)

func TestMain(m *testing.M) {
	coin.ServeIfWorker()
	goleak.VerifyTestMain(m, cassandratest.Outliving())
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
