package main

import (
	"flag"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/gocql/gocql"
)

// passwordVariable is where the password of -user is taken from: flags can be read by everybody on the machine.
const passwordVariable = "HOTEL_PASSWORD"

// access is what a cluster may demand of its clients.
type access struct {
	user, authority string
	consistency     gocql.Consistency
}

// flags adds those of what a cluster may demand.
func (a *access) flags(flags *flag.FlagSet) {
	flags.StringVar(&a.user, "user", "", "role to log in as, with the password in "+passwordVariable+" (empty: none is asked for)")
	flags.StringVar(&a.authority, "ca", "", "PEM file of the authority that vouches for the server: TLS is spoken (empty: it is not)")
	a.consistency = gocql.Quorum
	flags.TextVar(&a.consistency, "consistency", a.consistency, "consistency of reads and writes, such as LOCAL_QUORUM")
}

// connect opens a session at "host:port", or several of them separated by commas. Given one address, the driver stays
// with it and asks for no others, as behind a load balancer; given several, it discovers the cluster and routes by
// token. An empty keyspace is none.
func (a *access) connect(hosts, keyspace string) (*gocql.Session, error) {
	list := strings.Split(hosts, ",")
	for i, host := range list {
		name, port, err := net.SplitHostPort(strings.TrimSpace(host))
		if err != nil {
			return nil, usageError(fmt.Sprintf("%q is no address of the form host:port", host))
		}
		if number, err := strconv.ParseUint(port, 10, 16); err != nil || number == 0 || name == "" {
			return nil, usageError(fmt.Sprintf("%q is no address of the form host:port", host))
		}
		list[i] = net.JoinHostPort(name, port)
	}
	cfg := gocql.NewCluster(list...)
	_, port, _ := net.SplitHostPort(list[0]) // checked above
	cfg.Port, _ = strconv.Atoi(port)
	cfg.Keyspace = keyspace
	cfg.ProtoVersion = 4
	cfg.Consistency = a.consistency
	if a.user != "" {
		cfg.Authenticator = gocql.PasswordAuthenticator{Username: a.user, Password: os.Getenv(passwordVariable)}
	}
	if a.authority != "" {
		cfg.SslOpts = &gocql.SslOptions{CaPath: a.authority, EnableHostVerification: true}
	}
	cfg.Timeout, cfg.ConnectTimeout = 15*time.Second, 10*time.Second
	// Each request is sent at once: what is measured is Cassandra, not the timer by which gocql waits for more to send.
	cfg.WriteCoalesceWaitTime = 0
	cfg.ReconnectInterval = time.Second
	// A few tries over some seconds: a server that restarts is an everyday event.
	cfg.RetryPolicy = &gocql.ExponentialBackoffRetryPolicy{NumRetries: 6, Min: 100 * time.Millisecond, Max: 2 * time.Second}
	if len(list) == 1 {
		cfg.DisableInitialHostLookup = true
	} else {
		cfg.PoolConfig.HostSelectionPolicy = gocql.TokenAwareHostPolicy(gocql.RoundRobinHostPolicy())
	}
	session, err := cfg.CreateSession()
	if err != nil {
		return nil, fmt.Errorf("connecting to %s: %w", hosts, err)
	}
	return session, nil
}
