package cassandra

import (
	"crypto/tls"
	"fmt"
	"maps"
	"net/netip"
	"os"
	"path/filepath"

	"github.com/helenus-db/helenus/internal/cassandra/authority"
)

// The first user of a Cassandra that asks for passwords; a superuser.
const (
	FirstUser     = "cassandra"
	FirstPassword = "cassandra"
)

// Security says what a node demands of clients; Secure puts it into Options.
type Security struct {
	Mutual bool // clients must show a certificate of the authority
	Open   bool // no password: TLS alone
}

// Secure returns opt for a cluster that speaks only TLS to clients and, unless s says otherwise, asks for a password (of
// FirstUser at first) and checks permissions. The certificates are issued into dir by the authority that is returned, which
// has more for clients; the nodes' one is valid for the addresses of all nodes, 127.0.0.1 and localhost. Cassandra 4.1
// and later read PEM files, so no keystore is made.
func Secure(opt Options, dir string, s Security) (Options, *authority.Authority, error) {
	a, err := authority.New(dir, "ca")
	if err != nil {
		return opt, nil, err
	}
	first, err := firstHost(opt)
	if err != nil {
		return opt, nil, err
	}
	hosts := []string{"localhost", "127.0.0.1"}
	for range max(opt.Nodes, 1) {
		hosts = append(hosts, first.String())
		first = first.Next()
	}
	pair, err := a.Issue(authority.Leaf{Name: "node", Hosts: hosts})
	if err != nil {
		return opt, nil, err
	}
	// Cassandra wants key and chain in one file.
	var both []byte
	for _, path := range []string{pair.Key, pair.Certificate, a.File} {
		text, err := os.ReadFile(path) //nolint:gosec // written just now
		if err != nil {
			return opt, nil, fmt.Errorf("cassandra: %w", err)
		}
		both = append(both, text...)
	}
	store := filepath.Join(dir, "node-store.pem")
	if err := os.WriteFile(store, both, 0o600); err != nil {
		return opt, nil, fmt.Errorf("cassandra: %w", err)
	}
	extra := maps.Clone(opt.Extra)
	if extra == nil {
		extra = make(map[string]any)
	}
	extra["client_encryption_options"] = map[string]any{
		"enabled": true, "optional": false, "require_client_auth": s.Mutual,
		"ssl_context_factory": map[string]any{"class_name": "org.apache.cassandra.security.PEMBasedSslContextFactory"},
		"keystore":            store, "truststore": a.File,
	}
	if !s.Open {
		extra["authenticator"] = "PasswordAuthenticator"
		extra["authorizer"] = "CassandraAuthorizer"
		opt.Username, opt.Password = FirstUser, FirstPassword
	}
	opt.Extra = extra
	name := ""
	if s.Mutual {
		name = "waiting"
	}
	if opt.TLS, err = a.Client(name); err != nil {
		return opt, nil, err
	}
	opt.TLS.ClientSessionCache = tls.NewLRUClientSessionCache(0)
	return opt, a, nil
}

// firstHost is the address of the first node.
func firstHost(opt Options) (netip.Addr, error) {
	switch {
	case opt.Host != "":
		first, err := netip.ParseAddr(opt.Host)
		if err != nil || !first.Is4() || !first.IsLoopback() {
			return first, fmt.Errorf("cassandra: %q is no address in 127.0.0.0/8", opt.Host)
		}
		return first, nil
	case opt.Nodes > 1:
		// Clusters that run side by side live in different third octets, so that one's nodes never dial another's.
		return netip.AddrFrom4([4]byte{127, 0, byte(1 + os.Getpid()%250), 1}), nil
	}
	return netip.AddrFrom4([4]byte{127, 0, 0, 1}), nil
}
