package certs

import (
	"crypto"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"
)

// files are the paths that a side is made of; "" for none.
type files struct{ certificate, key, ca string }

func (f files) each() []string {
	var list []string
	for _, path := range []string{f.certificate, f.key, f.ca} {
		if path != "" {
			list = append(list, path)
		}
	}
	return list
}

// material is what the files held.
type material struct {
	pair        *tls.Certificate // nil for none
	certificate time.Time        // when the first certificate of the pair's chain expires
	pool        *x509.CertPool   // nil for none
	ca          time.Time        // when the first CA expires
}

const (
	x509Client = x509.ExtKeyUsageClientAuth
	x509Server = x509.ExtKeyUsageServerAuth
)

// verifyChain verifies a peer's certificate whatever its name.
func (m *material) verifyChain(s tls.ConnectionState, now time.Time, usage x509.ExtKeyUsage) error {
	if len(s.PeerCertificates) == 0 {
		return errors.New("the peer showed no certificate")
	}
	between := x509.NewCertPool()
	for _, c := range s.PeerCertificates[1:] {
		between.AddCert(c)
	}
	_, err := s.PeerCertificates[0].Verify(x509.VerifyOptions{Roots: m.pool, Intermediates: between, CurrentTime: now,
		KeyUsages: []x509.ExtKeyUsage{usage}})
	return err
}

func (f files) read(now time.Time) (*material, error) {
	m := &material{}
	var err error
	if f.certificate != "" {
		if m.pair, m.certificate, err = readPair(f.certificate, f.key, now); err != nil {
			return nil, err
		}
	}
	if f.ca == "" {
		return m, nil
	}
	list, err := readCertificates(f.ca, "CA certificate")
	if err != nil {
		return nil, err
	}
	m.pool = x509.NewCertPool()
	for _, c := range list {
		m.pool.AddCert(c)
		// A bundle may hold old ones; those do not vouch for anybody.
		if now.Before(c.NotAfter) && (m.ca.IsZero() || c.NotAfter.Before(m.ca)) {
			m.ca = c.NotAfter
		}
	}
	if m.ca.IsZero() {
		return nil, expired(f.ca, list[0])
	}
	return m, nil
}

func read(path string) ([]byte, error) {
	text, err := os.ReadFile(path) //nolint:gosec // the operator names the file
	if err != nil {
		return nil, &FileError{path, ErrUnreadable, err.Error() + "; check the path, and that the user Helenus runs as may read it"}
	}
	return text, nil
}

// blocks lists the PEM blocks of a text; what is not PEM between them is left out, as OpenSSL does.
func blocks(text []byte) []*pem.Block {
	var list []*pem.Block
	for {
		var b *pem.Block
		if b, text = pem.Decode(text); b == nil {
			return list
		}
		list = append(list, b)
	}
}

// found says what a file holds, for those who gave the wrong one.
func found(text []byte) string {
	list := blocks(text)
	switch {
	case len(text) == 0:
		return "it is empty"
	case len(list) == 0 && (text[0] == 0x30 || strings.HasPrefix(string(text), "\xfe\xed\xfe\xed")):
		return "it is not PEM but binary (DER, PKCS #12 or a Java keystore): export PEM from it, for PKCS #12 with " +
			"`openssl pkcs12 -in FILE -nodes`, for a Java keystore after `keytool -importkeystore -deststoretype PKCS12`"
	case len(list) == 0:
		return "it is not PEM: nothing in it begins with -----BEGIN"
	}
	var kinds []string
	for _, b := range list {
		kinds = append(kinds, b.Type)
	}
	return "it holds " + strings.Join(kinds, ", ")
}

func readCertificates(path, what string) ([]*x509.Certificate, error) {
	text, err := read(path)
	if err != nil {
		return nil, err
	}
	var list []*x509.Certificate
	for _, b := range blocks(text) {
		if b.Type != "CERTIFICATE" {
			continue
		}
		c, err := x509.ParseCertificate(b.Bytes)
		if err != nil {
			return nil, &FileError{path, ErrContent, fmt.Sprintf("its certificate number %d is damaged: %v", len(list)+1, err)}
		}
		list = append(list, c)
	}
	if len(list) == 0 {
		return nil, &FileError{path, ErrContent, "no " + what + " in it (-----BEGIN CERTIFICATE-----): " + found(text)}
	}
	return list, nil
}

// readPair reads a certificate, those that lead to its CA, and its key. expires is when the first of them does.
func readPair(certificate, key string, now time.Time) (pair *tls.Certificate, expires time.Time, err error) {
	chain, err := readCertificates(certificate, "certificate")
	if err != nil {
		return nil, expires, err
	}
	text, err := read(key)
	if err != nil {
		return nil, expires, err
	}
	secret, err := parseKey(key, text)
	if err != nil {
		return nil, expires, err
	}
	leaf := chain[0]
	switch own := ownerOf(secret, chain); {
	case own < 0:
		return nil, expires, &FileError{certificate, ErrMismatch, fmt.Sprintf("the certificate of %q was made for another key than %s: "+
			"give the two that were made together", leaf.Subject.CommonName, key)}
	case own > 0:
		return nil, expires, &FileError{certificate, ErrOrder, fmt.Sprintf("the certificate of the key stands at place %d: it must be the "+
			"first, then the one that signed it, and so on", own+1)}
	}
	if now.Before(leaf.NotBefore) {
		return nil, expires, &FileError{certificate, ErrNotYet, fmt.Sprintf("the certificate of %q begins %s, and now is %s: wait, or set the clock",
			leaf.Subject.CommonName, stamp(leaf.NotBefore), stamp(now))}
	}
	pair, expires = &tls.Certificate{PrivateKey: secret, Leaf: leaf}, leaf.NotAfter
	for _, c := range chain {
		if now.After(c.NotAfter) {
			return nil, expires, expired(certificate, c)
		}
		if c.NotAfter.Before(expires) {
			expires = c.NotAfter
		}
		pair.Certificate = append(pair.Certificate, c.Raw)
	}
	return pair, expires, nil
}

// ownerOf returns which certificate is the key's, -1 for none.
func ownerOf(secret crypto.Signer, chain []*x509.Certificate) int {
	public, ok := secret.Public().(interface{ Equal(crypto.PublicKey) bool })
	if !ok {
		return -1
	}
	return slices.IndexFunc(chain, func(c *x509.Certificate) bool { return public.Equal(c.PublicKey) })
}

func parseKey(path string, text []byte) (crypto.Signer, error) {
	for _, b := range blocks(text) {
		switch {
		case b.Type == "ENCRYPTED PRIVATE KEY" || strings.Contains(b.Headers["Proc-Type"], "ENCRYPTED"):
			return nil, &FileError{path, ErrEncrypted, "Helenus starts unattended, so it takes no password: write the key without one with " +
				"`openssl pkey -in " + path + " -out NEW`, and let nobody else read NEW"}
		case !strings.HasSuffix(b.Type, "PRIVATE KEY"):
			continue
		}
		var secret any
		var err error
		for _, parse := range []func([]byte) (any, error){
			func(der []byte) (any, error) { return x509.ParsePKCS1PrivateKey(der) },
			func(der []byte) (any, error) { return x509.ParseECPrivateKey(der) },
			x509.ParsePKCS8PrivateKey, // the last, so that its error is the one told
		} {
			if secret, err = parse(b.Bytes); err == nil {
				break
			}
		}
		if err != nil {
			return nil, &FileError{path, ErrContent, "the key is damaged, or of a kind that is not known: " + err.Error()}
		}
		if signer, ok := secret.(crypto.Signer); ok {
			return signer, nil
		}
		return nil, &FileError{path, ErrContent, fmt.Sprintf("a key of kind %T can not sign: RSA, ECDSA and Ed25519 keys can", secret)}
	}
	return nil, &FileError{path, ErrContent, "no private key in it (-----BEGIN PRIVATE KEY-----): " + found(text)}
}

func expired(path string, c *x509.Certificate) error {
	return &FileError{path, ErrExpired, fmt.Sprintf("the certificate of %q ended %s: renew it", c.Subject.CommonName, stamp(c.NotAfter))}
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }
