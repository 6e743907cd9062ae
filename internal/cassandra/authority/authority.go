// Package authority is a throw-away certificate authority for tests: it issues certificates as PEM files into a directory,
// sound ones and, on request, ones that are wrong in a known way. It imports nothing of ours, and only tests and
// internal/cassandra import it.
package authority

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"
)

// Authority issues certificates. It is for one goroutine.
type Authority struct {
	Dir  string // where the files go
	File string // the authority's own certificate, PEM

	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
}

// Leaf is a certificate to issue. The zero value of a field is its default.
type Leaf struct {
	Name     string   // common name, and the file's name: NAME.pem, NAME.key
	Hosts    []string // DNS names and IP addresses that it stands for
	From, To time.Time
}

// Pair is an issued certificate: paths of PEM files.
type Pair struct {
	Certificate string
	Key         string // PKCS #8, not encrypted, as Cassandra's PEMBasedSslContextFactory wants it
}

// New makes an authority whose certificate is DIR/NAME.pem. It is valid for a day.
func New(dir, name string) (*Authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("authority: %w", err)
	}
	template := &x509.Certificate{
		SerialNumber: serial(), Subject: pkix.Name{CommonName: name},
		NotBefore: time.Now().Add(-48 * time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageCRLSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, fmt.Errorf("authority: %w", err)
	}
	a := &Authority{Dir: dir, File: filepath.Join(dir, name+".pem"), key: key}
	if a.certificate, err = x509.ParseCertificate(der); err != nil {
		return nil, fmt.Errorf("authority: %w", err)
	}
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return nil, fmt.Errorf("authority: %w", err)
	}
	return a, write(a.File, "CERTIFICATE", der)
}

// Issue writes a certificate and its key, for servers and clients alike. A file of that name is replaced.
func (a *Authority) Issue(l Leaf) (Pair, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return Pair{}, fmt.Errorf("authority: %w", err)
	}
	if l.From.IsZero() {
		l.From = time.Now().Add(-time.Hour)
	}
	if l.To.IsZero() {
		l.To = a.certificate.NotAfter
	}
	template := &x509.Certificate{
		SerialNumber: serial(), Subject: pkix.Name{CommonName: l.Name}, NotBefore: l.From, NotAfter: l.To,
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	for _, h := range l.Hosts {
		if ip := net.ParseIP(h); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else {
			template.DNSNames = append(template.DNSNames, h)
		}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.certificate, key.Public(), a.key)
	if err != nil {
		return Pair{}, fmt.Errorf("authority: %w", err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return Pair{}, fmt.Errorf("authority: %w", err)
	}
	p := Pair{Certificate: filepath.Join(a.Dir, l.Name+".pem"), Key: filepath.Join(a.Dir, l.Name+".key")}
	return p, errors.Join(write(p.Certificate, "CERTIFICATE", der), write(p.Key, "PRIVATE KEY", secret))
}

// Pool holds the authority's certificate.
func (a *Authority) Pool() *x509.CertPool {
	p := x509.NewCertPool()
	p.AddCert(a.certificate)
	return p
}

// Server returns the configuration of a server with a new certificate for these hosts. With mutual set, clients must show
// a certificate of the same authority.
func (a *Authority) Server(name string, mutual bool, hosts ...string) (*tls.Config, error) {
	c, err := a.load(Leaf{Name: name, Hosts: hosts})
	if err != nil {
		return nil, err
	}
	config := &tls.Config{Certificates: []tls.Certificate{c}, MinVersion: tls.VersionTLS12}
	if mutual {
		config.ClientAuth, config.ClientCAs = tls.RequireAndVerifyClientCert, a.Pool()
	}
	return config, nil
}

// Client returns the configuration of a client that trusts the authority and, with a name, shows a new certificate.
func (a *Authority) Client(name string) (*tls.Config, error) {
	config := &tls.Config{RootCAs: a.Pool(), MinVersion: tls.VersionTLS12}
	if name != "" {
		c, err := a.load(Leaf{Name: name})
		if err != nil {
			return nil, err
		}
		config.Certificates = []tls.Certificate{c}
	}
	return config, nil
}

func (a *Authority) load(l Leaf) (tls.Certificate, error) {
	p, err := a.Issue(l)
	if err != nil {
		return tls.Certificate{}, err
	}
	c, err := tls.LoadX509KeyPair(p.Certificate, p.Key)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("authority: %w", err)
	}
	return c, nil
}

func serial() *big.Int {
	n, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		panic(err) // crypto/rand never fails
	}
	return n
}

func write(path, kind string, der []byte) error {
	if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
		return fmt.Errorf("authority: %w", err)
	}
	return nil
}
