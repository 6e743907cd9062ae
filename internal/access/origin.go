package access

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"strings"
)

// Hosts are the names that requests may be addressed to. A page of a stranger whose name suddenly means our address (DNS rebinding) is not
// one of them, though its requests reach us from the browser of somebody who may read here.
type Hosts struct {
	names    map[string]bool
	suffixes []string // of names: ".example.org"
	any      bool     // whatever it is
	literals bool     // any IP address: nobody can rebind that
}

// NewHosts are this machine's own names, what the API is bound to, and what is allowed besides: names, *.example.org, or *.
func NewHosts(bound string, allowed []string) Hosts {
	h := Hosts{names: map[string]bool{"localhost": true}}
	host, _, err := net.SplitHostPort(bound)
	if err != nil {
		host = bound
	}
	if ip, err := netip.ParseAddr(host); host == "" || err == nil && ip.IsUnspecified() {
		h.literals = true
		if own, err := os.Hostname(); err == nil {
			h.names[strings.ToLower(own)] = true
		}
	} else {
		h.names[normal(host)] = true
	}
	for _, one := range allowed {
		switch one = strings.TrimSpace(one); {
		case one == "*":
			h.any = true
		case strings.HasPrefix(one, "*."):
			h.suffixes = append(h.suffixes, strings.ToLower(one[1:]))
		default:
			h.names[normal(one)] = true
		}
	}
	return h
}

// normal is a host without its port, brackets and final dot, in lower case.
func normal(host string) string {
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	host = strings.TrimSuffix(strings.TrimPrefix(strings.TrimSuffix(host, "]"), "["), ".")
	if ip, err := netip.ParseAddr(host); err == nil {
		return ip.Unmap().String()
	}
	return strings.ToLower(host)
}

// allow reports whether a request may be addressed so. None at all (HTTP/1.0) is not a browser's.
func (h *Hosts) allow(host string) bool {
	if host == "" || h.any {
		return true
	}
	host = normal(host)
	if h.names[host] {
		return true
	}
	if ip, err := netip.ParseAddr(host); err == nil {
		return h.literals || ip.IsLoopback()
	}
	for _, s := range h.suffixes {
		if strings.HasSuffix(host, s) && len(host) > len(s) {
			return true
		}
	}
	return false
}

// Refusals of requests that a foreign page may have made.
var (
	ErrHost   = errors.New("the API does not answer to this name; if it is one of its own, add it to the setting admin-hosts")
	ErrOrigin = errors.New("a page of another site made this request; if it is one of ours, add its name to the setting admin-hosts")
)

// Check refuses requests that a foreign page may have made a browser send.
func (g *Gate) Check(r *http.Request) error {
	err := g.check(r)
	if err != nil {
		g.counts.Foreign.Add(1)
	}
	return err
}

func (g *Gate) check(r *http.Request) error {
	if !g.o.Hosts.allow(r.Host) {
		return fmt.Errorf("%w: Host %q", ErrHost, r.Host)
	}
	for _, origin := range r.Header.Values("Origin") {
		u, err := url.Parse(origin)
		if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || !g.o.Hosts.allow(u.Host) {
			return fmt.Errorf("%w: Origin %q", ErrOrigin, origin)
		}
	}
	if err := g.cross.Check(r); err != nil {
		return fmt.Errorf("%w: %w", ErrOrigin, err)
	}
	return nil
}

// Policies of content; PolicyPage is that of the console. Data is to be shown by nothing; pages have what they need in files of ours, and nothing in the page itself.
const (
	policyData = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
	PolicyPage = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; font-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)

// Headers sets what tells a browser to be careful with answers.
func Headers(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	policy := PolicyPage
	if strings.HasPrefix(r.URL.Path, "/api/") {
		policy = policyData
		h.Set("Cache-Control", "no-store")
	}
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "same-origin")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	if r.TLS != nil {
		h.Set("Strict-Transport-Security", "max-age=31536000")
	}
}
