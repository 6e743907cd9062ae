package main

import (
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gocql/gocql"

	"github.com/helenus-db/helenus/internal/cassandra/cassandratest"
)

// TestFleet runs two members before a real Cassandra: a driver sees them as the nodes of the ring, goes to both, and goes on when one is
// killed.
func TestFleet(t *testing.T) {
	address := cassandratest.ContactPoints(t)[0]
	free, err := net.Listen("tcp", "127.0.71.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_, port, _ := net.SplitHostPort(free.Addr().String())
	_ = free.Close()
	members := []string{"127.0.71.1:" + port, "127.0.71.2:" + port}
	processes := make([]*process, len(members))
	for i, m := range members {
		p := newProcess(t, address, "--topology", "fleet", "--fleet", strings.Join(members, ","), "--listen", m)
		p.listen = m
		p.start()
		processes[i] = p
	}
	for _, p := range processes {
		p.awaitReady()
	}
	c := gocql.NewCluster("127.0.71.1")
	c.Port = asNumber(t, port)
	c.ProtoVersion, c.Timeout, c.ConnectTimeout = 4, 20*time.Second, 20*time.Second
	c.ReconnectInterval = 200 * time.Millisecond
	c.RetryPolicy = &gocql.SimpleRetryPolicy{NumRetries: 3}
	c.Logger = silent{}
	session, err := c.CreateSession()
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	asked := func() (hosts []string) {
		for range 40 {
			q := session.Query("SELECT release_version FROM system.local WHERE key = 'local'")
			iter := q.Iter()
			host := iter.Host()
			if err := iter.Close(); err != nil {
				t.Fatal(err)
			}
			if at := host.ConnectAddress().String(); !slices.Contains(hosts, at) {
				hosts = append(hosts, at)
			}
		}
		slices.Sort(hosts)
		return hosts
	}
	await(t, "both members are asked", func() bool { return slices.Equal(asked(), []string{"127.0.71.1", "127.0.71.2"}) })
	processes[1].kill()
	await(t, "the one that is left is asked", func() bool { return slices.Equal(asked(), []string{"127.0.71.1"}) })
	processes[1].start()
	processes[1].awaitReady()
	await(t, "both are asked again", func() bool { return len(asked()) == 2 })
}

func asNumber(t *testing.T, text string) int {
	t.Helper()
	n, err := net.LookupPort("tcp", text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}
