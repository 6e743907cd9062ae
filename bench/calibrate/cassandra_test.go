package calibrate_test

import (
	"encoding/json"
	"net"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/gocql/gocql"

	"github.com/helenus-db/helenus/bench/calibrate"
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
		return c.CreateSession()
	}
}

func TestMeasure(t *testing.T) {
	set, err := calibrate.Measure(t.Context(), calibrate.Options{
		Connect: connect(t), Quick: true, Force: true, Budget: 10 * time.Second, Seed: 1,
		Progress: func(p calibrate.Progress) {
			if p.Text != "" {
				t.Log(p.Text)
			}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	if name := os.Getenv("HELENUS_CALIBRATE_OUT"); name != "" {
		data, _ := json.MarshalIndent(set, "", " ")
		if err := os.WriteFile(name, data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
