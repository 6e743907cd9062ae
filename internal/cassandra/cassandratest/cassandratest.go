// Package cassandratest gives an integration test a keyspace of its own on a real Cassandra.
//
// The node comes from the environment variable HELENUS_TEST_CASSANDRA (host:port, or several separated by commas),
// which `make test` sets by way of internal/cassandra/with. Without it the test is skipped, and says why. The package
// imports nothing else of the project, and only tests import it.
package cassandratest

import (
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gocql/gocql"
	"go.uber.org/goleak"
)

// Variable names the environment variable that holds the contact points.
const Variable = "HELENUS_TEST_CASSANDRA"

// sequence tells the keyspaces of one process apart.
var sequence atomic.Uint64

// Outliving excuses to goleak the one goroutine of gocql that a session's Close leaves behind: told of a new keyspace or
// table, it asks for the cluster's agreement every 200 ms, and asks on after its connection is closed, until
// MaxWaitSchemaAgreement (a minute) is over (gocql 1.7.0, Conn.awaitSchemaAgreement).
func Outliving() goleak.Option {
	return goleak.IgnoreAnyFunction("github.com/gocql/gocql.(*Conn).awaitSchemaAgreement")
}

// ContactPoints returns the host:port of every node, or skips the test when none is named.
func ContactPoints(t testing.TB) []string {
	t.Helper()
	value := os.Getenv(Variable)
	if value == "" {
		t.Skipf("%s is not set: needs a real Cassandra (make test starts one)", Variable)
	}
	return strings.Split(value, ",")
}

// Config returns a client configuration for one contact point, which takes the address as it is given, as an
// application behind a proxy does. A bad address ends the test.
func Config(t testing.TB, point string) *gocql.ClusterConfig {
	t.Helper()
	host, text, err := net.SplitHostPort(point)
	if err != nil {
		t.Fatalf("%s: %v", Variable, err)
	}
	port, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("%s: port of %q: %v", Variable, point, err)
	}
	cfg := gocql.NewCluster(host)
	cfg.Port = port
	cfg.ProtoVersion = 4
	cfg.DisableInitialHostLookup = true
	cfg.Timeout, cfg.ConnectTimeout = 30*time.Second, 30*time.Second // the machine may be busy
	return cfg
}

// Keyspace makes a new keyspace of replication factor 1 on the first contact point and returns its name with a session
// that uses it. Both end with the test. Without a Cassandra it skips the test.
func Keyspace(t testing.TB) (session *gocql.Session, keyspace string) {
	t.Helper()
	cfg := Config(t, ContactPoints(t)[0])
	admin := connect(t, cfg)
	keyspace = fmt.Sprintf("test_%x_%d_%d", time.Now().UnixNano(), os.Getpid(), sequence.Add(1))
	exec(t, admin, "CREATE KEYSPACE "+keyspace+" WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}")
	t.Cleanup(func() {
		exec(t, admin, "DROP KEYSPACE "+keyspace)
		admin.Close()
	})
	own := *cfg
	own.Keyspace = keyspace
	session = connect(t, &own)
	t.Cleanup(session.Close)
	return session, keyspace
}

func connect(t testing.TB, cfg *gocql.ClusterConfig) *gocql.Session {
	t.Helper()
	session, err := cfg.CreateSession()
	if err != nil {
		t.Fatalf("connecting to Cassandra at %s:%d: %v", cfg.Hosts[0], cfg.Port, err)
	}
	return session
}

func exec(t testing.TB, session *gocql.Session, statement string) {
	t.Helper()
	if err := session.Query(statement).Exec(); err != nil {
		t.Errorf("%s: %v", statement, err)
	}
}
