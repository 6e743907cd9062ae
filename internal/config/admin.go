package config

import (
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// Proxies are the networks of admin-trusted-proxies.
func (s *Settings) Proxies() (out []netip.Prefix, err error) {
	for _, one := range s.AdminTrustedProxies {
		p, err := netip.ParsePrefix(one)
		if ip, alone := netip.ParseAddr(one); alone == nil {
			p, err = netip.PrefixFrom(ip, ip.BitLen()), nil
		}
		if err != nil {
			return nil, err
		}
		out = append(out, p.Masked())
	}
	return out, nil
}

// roles are what admin-header-role may be if it is no header.
var roles = []string{"viewer", "operator", "admin"}

// validateAdmin checks which settings of the admin address stand together.
func (s *Settings) validateAdmin(wrong func(name, format string, args ...any)) {
	if s.Approvers != 1 && s.Approvers != 2 {
		wrong("approvers", "is %d; it may be 1 or 2", s.Approvers)
	}
	for _, one := range s.AdminHosts {
		if strings.Contains(one, "/") || strings.Contains(strings.TrimPrefix(one, "*."), "*") && one != "*" {
			wrong("admin-hosts", "%q is no name, such as helenus.example.org, *.example.org or *", one)
		}
	}
	if _, err := s.Proxies(); err != nil {
		wrong("admin-trusted-proxies", "is no list of addresses such as 10.0.0.0/8: %v", err)
	}
	switch {
	case s.AdminTrustedHeader != "" && len(s.AdminTrustedProxies) == 0:
		wrong("admin-trusted-proxies", "is empty, but admin-trusted-header is set: everybody could say to be anybody; name the addresses of the proxy")
	case s.AdminTrustedHeader == "" && len(s.AdminTrustedProxies) > 0:
		wrong("admin-trusted-header", "is empty, but admin-trusted-proxies is set; name the header in which the proxy says who somebody is")
	case strings.EqualFold(s.AdminTrustedHeader, "Authorization"), strings.EqualFold(s.AdminTrustedHeader, "Cookie"):
		wrong("admin-trusted-header", "is %q, which clients send; name one that the proxy sets, such as X-Forwarded-User", s.AdminTrustedHeader)
	}
	s.validateOpenID(wrong)
	if !slices.Contains(roles, s.AdminHeaderRole) && !strings.Contains(s.AdminHeaderRole, "-") {
		wrong("admin-header-role", "is %q; it may be %s, or the name of a header such as X-Forwarded-Role", s.AdminHeaderRole, strings.Join(roles, ", "))
	}
}

// validateOpenID checks what is said of the provider that people log in with.
func (s *Settings) validateOpenID(wrong func(name, format string, args ...any)) {
	if s.OpenIDIssuer == "" {
		if s.OpenIDClient != "" || s.OpenIDSecret != "" || len(s.OpenIDRoles) > 0 {
			wrong("openid-issuer", "is empty, but other settings of openid are not; name the provider, such as https://login.example.org/realms/staff")
		}
		return
	}
	u, err := url.Parse(s.OpenIDIssuer)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http":
		wrong("openid-issuer", "is %q; it is an address such as https://login.example.org/realms/staff", s.OpenIDIssuer)
	case u.Scheme == "http" && u.Hostname() != "localhost" && u.Hostname() != "127.0.0.1" && u.Hostname() != "::1":
		wrong("openid-issuer", "is %q: without https anybody between could be the provider; only one on this machine may speak http", s.OpenIDIssuer)
	}
	if s.OpenIDClient == "" {
		wrong("openid-client", "is empty; the provider gives it when Helenus is registered there")
	}
	if s.OpenIDName == "" || s.OpenIDClaim == "" {
		wrong("openid-claim", "and openid-name each name a claim; groups and email are usual")
	}
	if len(s.OpenIDRoles) == 0 {
		wrong("openid-roles", "is empty, so that nobody would be let in; say who has which role, such as sre=admin,*=viewer")
	}
	for _, rule := range s.OpenIDRoles {
		at := strings.LastIndexByte(rule, '=')
		if at <= 0 || !slices.Contains(roles, rule[at+1:]) {
			wrong("openid-roles", "%q is no VALUE=ROLE, such as sre=admin; roles are %s", rule, strings.Join(roles, ", "))
		}
	}
}
