package certs

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"syscall"
	"time"
)

// Dialer connects to Cassandra.
type Dialer struct {
	TLS     func(host string) *tls.Config // for the next connection to a host, as Back.For; nil: none
	Timeout time.Duration                 // of connecting, and again of the TLS handshake
}

// Dial connects to address, host:port, TLS handshake included. Its errors say what to do where Cassandra, or its
// certificate, is not what was expected.
func (d Dialer) Dial(ctx context.Context, address string) (net.Conn, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	return d.DialAs(ctx, address, host)
}

// DialAs is Dial to a host that is known by another name than the address's.
func (d Dialer) DialAs(ctx context.Context, address, host string) (net.Conn, error) {
	plain := net.Dialer{Timeout: d.Timeout}
	c, err := plain.DialContext(ctx, "tcp", address)
	if err != nil || d.TLS == nil {
		return c, err
	}
	limited, cancel := context.WithTimeout(ctx, d.Timeout)
	defer cancel()
	t := tls.Client(c, d.TLS(host))
	if err := t.HandshakeContext(limited); err != nil {
		c.Close()
		return nil, fmt.Errorf("TLS with Cassandra at %s: %w", address, Explain(err))
	}
	return t, nil
}

// Explain adds what to do to an error of a connection to Cassandra that speaks TLS, if it is known.
func Explain(err error) error {
	var (
		header    tls.RecordHeaderError
		authority x509.UnknownAuthorityError
		host      x509.HostnameError
		invalid   x509.CertificateInvalidError
		remote    *net.OpError
		advice    string
	)
	switch {
	case err == nil:
		return nil
	case errors.As(err, &header):
		advice = "it answers without TLS: is client_encryption_options enabled there, and is this its native_transport_port " +
			"(before 5.0 perhaps native_transport_port_ssl)? Without TLS leave cassandra-tls off"
	case errors.As(err, &authority):
		advice = "its certificate is signed by a CA that Helenus does not know: give that CA's certificate as cassandra-tls-ca"
	case errors.As(err, &host):
		advice = "its certificate does not bear that name: have one made that does (subjectAltName), give the name that it bears as " +
			"cassandra-tls-server-name, or set cassandra-tls-verify to chain, which trusts every certificate of the CA"
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		advice = "Cassandra's certificate has expired, or a clock is wrong: renew it there"
	case errors.As(err, &remote) && remote.Op == "remote error": // an alert; crypto/tls keeps its number to itself
		switch remote.Err.Error() {
		case "tls: bad certificate", "tls: unsupported certificate", "tls: unknown certificate", "tls: unknown certificate authority",
			"tls: certificate required", "tls: expired certificate":
			advice = "Cassandra asks for a certificate (require_client_auth) and got none, or one that it does not trust: give one that a CA " +
				"in its truststore vouches for as cassandra-tls-cert and cassandra-tls-key"
		case "tls: handshake failure", "tls: protocol version not supported":
			advice = "the two have no TLS version or cipher in common, or Cassandra asks for a certificate: compare cassandra-tls-min with " +
				"client_encryption_options (protocol, accepted_protocols, cipher_suites)"
		}
	case errors.Is(err, context.DeadlineExceeded):
		advice = "it does not answer the TLS handshake: is that Cassandra's native port?"
	case errors.Is(err, io.EOF), errors.Is(err, syscall.ECONNRESET):
		advice = "it closed the connection during the TLS handshake: does it ask for a certificate (require_client_auth)? Its log says why"
	}
	if advice == "" {
		return err
	}
	return fmt.Errorf("%w (%s)", err, advice)
}
