package calibrate_test

import (
	"net"
	"strconv"
	"testing"
	"time"

	"github.com/gocql/gocql"

	"github.com/helenus-db/helenus/internal/cassandra/cassandratest"
)

// connect opens sessions to the Cassandra of the tests.
func connect(t *testing.T) func(node string) (*gocql.Session, error) {
	t.Helper()
	point := cassandratest.ContactPoints(t)[0]
	return func(node string) (*gocql.Session, error) {
		host, text, err := net.SplitHostPort(point)
		if err != nil {
			return nil, err
		}
		port, err := strconv.Atoi(text)
		if err != nil {
			return nil, err
		}
		c := gocql.NewCluster(host)
		if node != "" {
			c.Hosts = []string{node}
			c.HostFilter = gocql.WhiteListHostFilter(node)
		}
		c.Port, c.ProtoVersion, c.Timeout, c.ConnectTimeout, c.NumConns = port, 4, 30*time.Second, 10*time.Second, 4
		c.WriteCoalesceWaitTime = 0 // as the sessions whose requests are predicted
		return c.CreateSession()
	}
}
