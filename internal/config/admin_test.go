package config

import (
	"strings"
	"testing"
)

func TestAdminSettings(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*Settings)
		wrong  string // the setting that is complained of; "" for none
	}{
		"a proxy": {func(s *Settings) {
			s.AdminTrustedHeader, s.AdminTrustedProxies = "X-Forwarded-User", []string{"10.0.0.0/8", "::1"}
		}, ""},
		"its role's header":     {func(s *Settings) { s.AdminHeaderRole = "X-Forwarded-Role" }, ""},
		"names":                 {func(s *Settings) { s.AdminHosts = []string{"a.example", "*.b.example", "*"} }, ""},
		"two approvers":         {func(s *Settings) { s.Approvers = 2 }, ""},
		"three approvers":       {func(s *Settings) { s.Approvers = 3 }, "approvers"},
		"none":                  {func(s *Settings) { s.Approvers = 0 }, "approvers"},
		"anybody's header":      {func(s *Settings) { s.AdminTrustedHeader = "X-Forwarded-User" }, "admin-trusted-proxies"},
		"proxies for nothing":   {func(s *Settings) { s.AdminTrustedProxies = []string{"10.0.0.0/8"} }, "admin-trusted-header"},
		"no address":            {func(s *Settings) { s.AdminTrustedHeader, s.AdminTrustedProxies = "X-User", []string{"proxy"} }, "admin-trusted-proxies"},
		"a provider, no client": {openID(func(s *Settings) { s.OpenIDClient = "" }), "openid-client"},
		"a client, no provider": {openID(func(s *Settings) { s.OpenIDIssuer = "" }), "openid-issuer"},
		"a provider by http":    {openID(func(s *Settings) { s.OpenIDIssuer = "http://login.example.org" }), "openid-issuer"},
		"a provider's name":     {openID(func(s *Settings) { s.OpenIDIssuer = "login.example.org" }), "openid-issuer"},
		"roles for nobody":      {openID(func(s *Settings) { s.OpenIDRoles = nil }), "openid-roles"},
		"a role that is none":   {openID(func(s *Settings) { s.OpenIDRoles = []string{"sre=root"} }), "openid-roles"},
		"roles by no claim":     {openID(func(s *Settings) { s.OpenIDClaim = "" }), "openid-claim"},
		"a header of clients":   {func(s *Settings) { s.AdminTrustedHeader, s.AdminTrustedProxies = "cookie", []string{"::1"} }, "admin-trusted-header"},
		"no role":               {func(s *Settings) { s.AdminHeaderRole = "root" }, "admin-header-role"},
		"an address for a name": {func(s *Settings) { s.AdminHosts = []string{"https://a.example"} }, "admin-hosts"},
		"a pattern for a name":  {func(s *Settings) { s.AdminHosts = []string{"a.*.example"} }, "admin-hosts"},
	} {
		s := Defaults()
		c.change(s)
		err := s.Validate()
		if c.wrong == "" && err != nil || c.wrong != "" && (err == nil || !strings.Contains(err.Error(), "setting "+c.wrong+":")) {
			t.Errorf("%s: %v", name, err)
		}
	}
	s := Defaults()
	s.AdminTrustedProxies = []string{"10.1.2.3/8", "192.0.2.7", "2001:db8::/32"}
	list, err := s.Proxies()
	if err != nil || len(list) != 3 || list[0].String() != "10.0.0.0/8" || list[1].String() != "192.0.2.7/32" || list[2].String() != "2001:db8::/32" {
		t.Errorf("%v, %v", list, err)
	}
}

// openID is a change of settings in which a provider is set as it should be.
func openID(change func(*Settings)) func(*Settings) {
	return func(s *Settings) {
		s.OpenIDIssuer, s.OpenIDClient, s.OpenIDRoles = "https://login.example.org", "helenus", []string{"cn=dba,dc=x=admin", "*=viewer"}
		change(s)
	}
}
