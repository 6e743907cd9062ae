package proxy

import (
	"slices"
	"time"

	"github.com/helenus-db/helenus/proxy/login"
)

// ConnectionInfo is what is known of a client connection at a moment.
type ConnectionInfo struct {
	ID      uint64 `json:"id"`
	Address string `json:"client"`         // host:port
	Listen  string `json:"listen"`         // the listener that it came to, host:port
	Node    string `json:"node,omitempty"` // its Cassandra node, host:port

	// What the client says of itself.
	Application        string `json:"application,omitempty"`
	ApplicationVersion string `json:"application_version,omitempty"`
	Driver             string `json:"driver,omitempty"`
	DriverVersion      string `json:"driver_version,omitempty"`
	Instance           string `json:"client_id,omitempty"`
	Version            byte   `json:"protocol,omitempty"` // 0 before STARTUP
	Compression        string `json:"compression,omitempty"`

	Authenticated bool     `json:"authenticated"`  // Cassandra asked it to log in
	Role          string   `json:"role,omitempty"` // that it logged in as, if that can be seen
	TLS           *TLSInfo `json:"tls,omitempty"`  // nil without TLS
	Keyspace      string   `json:"keyspace,omitempty"`

	InFlight  int    `json:"in_flight"`
	Requests  uint64 `json:"requests"` // answered
	Errors    uint64 `json:"errors"`   // of those, by an ERROR
	BytesUp   uint64 `json:"request_bytes"`
	BytesDown uint64 `json:"response_bytes"`

	Since time.Time `json:"since"`
	Idle  float64   `json:"idle_seconds"` // since a request or an answer was last sent on
}

// TLSInfo is how a client's connection is encrypted.
type TLSInfo struct {
	Version string `json:"version"`
	Cipher  string `json:"cipher"`
	Subject string `json:"subject,omitempty"` // of the client's certificate
}

// Connections lists the client connections that have reached a node, the oldest first.
func (s *Server) Connections() []ConnectionInfo {
	list := s.connections()
	slices.SortFunc(list, func(a, b *conn) int { return int(int64(a.client.Load().ID) - int64(b.client.Load().ID)) })
	now := s.now()
	out := make([]ConnectionInfo, len(list))
	for i, c := range list {
		out[i] = c.info(now)
	}
	return out
}

func (c *conn) info(now int64) ConnectionInfo {
	n, sum := c.client.Load(), c.sheet.Sum()
	return ConnectionInfo{
		ID: n.ID, Address: n.Address, Listen: c.gate.listener.Addr().String(), Node: n.Node,
		Application: n.Application, ApplicationVersion: n.ApplicationVersion, Driver: n.Driver, DriverVersion: n.DriverVersion,
		Instance: n.Instance, Version: n.Version, Compression: n.Compression,
		Authenticated: n.User, Role: n.Role, TLS: tlsInfo(n.TLS), Keyspace: login.Name([]byte(c.currentKeyspace())),
		InFlight: c.inFlight(), Requests: sum.Requests, Errors: sum.Errors, BytesUp: sum.BytesUp, BytesDown: sum.BytesDown,
		Since: c.since.UTC(), Idle: time.Duration(max(now-c.active.Load(), 0)).Seconds(),
	}
}

// tlsInfo is what the handshake found out.
func tlsInfo(t *TLS) *TLSInfo {
	if t == nil {
		return nil
	}
	return &TLSInfo{Version: t.Version, Cipher: t.Cipher, Subject: login.Name([]byte(t.Peer))}
}
