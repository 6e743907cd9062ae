// Package certs makes TLS configurations out of PEM files and keeps them up to date: what Helenus shows to its clients
// ([Listen]) and what it shows to, and asks of, Cassandra ([Dial]). It imports nothing of ours.
//
// # Reloading
//
// Files are looked at when somebody needs them (a handshake, a reading of the metrics), at most once a second, by one
// goroutine while the others go on with what is there. A file that is not the one that was loaded (another inode,
// size or modification time; links are followed, so Kubernetes' way of changing secrets is seen) makes all be loaded anew:
//
//	loaded -- files changed, sound ----> loaded   the new generation serves new handshakes
//	loaded -- files changed, unsound --> stale    the old generation stays; said once, counted
//	stale  -- files changed, unsound --> stale    said again, with the new reason
//	stale  -- files changed, sound ----> loaded
//
// A generation is immutable. Connections that stand are not touched: they keep the keys that they agreed on. Between the
// writing of a certificate and of its key the two do not match: that is such an unsound moment, and the next second
// mends it.
//
// # Resumption
//
// The dialling side resumes sessions, which spares both ends the signature when a client reconnects. The sessions belong
// to their generation, so that what a replaced CA had vouched for is asked again. On the listening side a resumed
// client's certificate is verified anew against the CA of today.
//
// # Thin
//
// There is no revocation (CRL, OCSP): take the CA away, or wait for the certificate to expire. Keys are files; a key in
// an HSM or behind a password can not be used. A file that changes without changing size, time or inode is not seen.
package certs

import (
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"time"
)

// What can be wrong with a file. A *FileError wraps one of them.
var (
	ErrUnreadable = errors.New("it can not be read")
	ErrContent    = errors.New("it does not hold what it should")
	ErrEncrypted  = errors.New("the key is encrypted")
	ErrMismatch   = errors.New("the key is not that of the certificate")
	ErrOrder      = errors.New("the certificates are in the wrong order")
	ErrExpired    = errors.New("it has expired")
	ErrNotYet     = errors.New("it is not valid yet")
)

// FileError is a file, or a certificate and its key, that can not be used.
type FileError struct {
	File   string // path
	Reason error  // one of Err...
	Detail string // what was found, and what to do
}

func (e *FileError) Error() string { return fmt.Sprintf("%s: %v: %s", e.File, e.Reason, e.Detail) }

// Unwrap gives the reason.
func (e *FileError) Unwrap() error { return e.Reason }

// Version is the oldest version of TLS to accept.
type Version string

// Versions. The zero value is TLS12.
const (
	TLS12 Version = "1.2"
	TLS13 Version = "1.3"
)

func (v Version) number() (uint16, error) {
	switch v {
	case "", TLS12:
		return tls.VersionTLS12, nil
	case TLS13:
		return tls.VersionTLS13, nil
	}
	return 0, fmt.Errorf("TLS version %q is neither %s nor %s", v, TLS12, TLS13)
}

// Verify says how Cassandra's certificate is verified.
type Verify string

// Ways to verify. The zero value is Full.
const (
	// Full: a known CA vouches for it, and it names the server (Dialling.ServerName, or the host that was dialled).
	Full Verify = "full"
	// Chain: a known CA vouches for it, whatever name it bears. Cassandra's certificates often lack the node's address.
	Chain Verify = "chain"
	// None: anybody is believed. Who stands between Helenus and Cassandra can read and change everything.
	None Verify = "none"
)

// Common is what both sides have.
type Common struct {
	Minimum Version
	Log     *slog.Logger     // of reloads; nil: none
	Now     func() time.Time // nil: the machine's clock
}

// Listening says what clients are shown, and asked for.
type Listening struct {
	Certificate, Key string // PEM files; the certificate first, then those that lead to the CA
	ClientCA         string // PEM file; if set, clients must show a certificate that one of these CAs vouches for
	Common
}

// Dialling says what Cassandra is shown, and asked for.
type Dialling struct {
	CA               string // PEM file of the CAs that vouch for Cassandra; empty: those of the machine
	Certificate, Key string // PEM files, if Cassandra asks for a certificate
	ServerName       string // to verify; empty: the host that is dialled
	Verify           Verify
	Common
}

// Listen loads the files. Its error wraps a *FileError, or names the field that is wrong.
func Listen(o Listening) (*Front, error) {
	if o.Certificate == "" || o.Key == "" {
		return nil, errors.New("a listener that speaks TLS needs both a certificate and its key")
	}
	minimum, err := o.Minimum.number()
	if err != nil {
		return nil, err
	}
	f := &Front{}
	f.source = newSource("client", o.Common, files{o.Certificate, o.Key, o.ClientCA}, func(m *material) *tls.Config {
		c := &tls.Config{MinVersion: minimum, Certificates: []tls.Certificate{*m.pair},
			DynamicRecordSizingDisabled: true} // full records from the start: fewer writes, and nobody renders as it comes
		if m.pool != nil {
			c.ClientAuth, c.ClientCAs = tls.RequireAndVerifyClientCert, m.pool
			c.VerifyConnection = func(s tls.ConnectionState) error {
				if !s.DidResume {
					return nil // verified just now
				}
				return m.verifyChain(s, f.source.now(), x509Client)
			}
		}
		return c
	})
	if err := f.source.load(); err != nil {
		return nil, err
	}
	return f, nil
}

// Front is the listening side.
type Front struct{ *source }

// Config returns a configuration that follows the files.
func (f *Front) Config() *tls.Config {
	return &tls.Config{MinVersion: tls.VersionTLS12, // each handshake takes the generation's
		GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) { return f.config(), nil }}
}

// Dial loads the files. Its error wraps a *FileError, or names the field that is wrong.
func Dial(o Dialling) (*Back, error) {
	if (o.Certificate == "") != (o.Key == "") {
		return nil, errors.New("a certificate for Cassandra needs its key, and a key its certificate")
	}
	minimum, err := o.Minimum.number()
	if err != nil {
		return nil, err
	}
	switch o.Verify {
	case "", Full, Chain, None:
	default:
		return nil, fmt.Errorf("to verify %q is none of %s, %s, %s", o.Verify, Full, Chain, None)
	}
	b := &Back{serverName: o.ServerName}
	b.source = newSource("cassandra", o.Common, files{o.Certificate, o.Key, o.CA}, func(m *material) *tls.Config {
		c := &tls.Config{MinVersion: minimum, RootCAs: m.pool, ClientSessionCache: tls.NewLRUClientSessionCache(256),
			DynamicRecordSizingDisabled: true}
		if m.pair != nil {
			// Shown whatever list of CAs the server sends: Cassandra's is sometimes not the client certificate's.
			c.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return m.pair, nil }
		}
		switch o.Verify {
		case Chain:
			c.InsecureSkipVerify = true //nolint:gosec // the chain is verified, the name is not: Chain says so
			c.VerifyConnection = func(s tls.ConnectionState) error { return m.verifyChain(s, b.source.now(), x509Server) }
		case None:
			c.InsecureSkipVerify = true //nolint:gosec // None says so, and is warned of
		}
		return c
	})
	if err := b.source.load(); err != nil {
		return nil, err
	}
	if o.Verify == None {
		b.source.log.Warn("Cassandra's certificate is not verified: whoever stands between Helenus and Cassandra can read and change " +
			"everything, passwords included; use this to try things out only")
	}
	return b, nil
}

// Back is the dialling side.
type Back struct {
	*source
	serverName string
}

// For returns the configuration for the next connection to a host.
func (b *Back) For(host string) *tls.Config {
	c := b.config().Clone()
	if c.ServerName = b.serverName; c.ServerName == "" {
		c.ServerName = host
	}
	return c
}
