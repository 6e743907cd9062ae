package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/prometheus/exporter-toolkit/web"
	"github.com/spf13/cobra"

	"github.com/helenus-db/helenus/internal/access"
	"github.com/helenus-db/helenus/internal/access/openid"
	"github.com/helenus-db/helenus/internal/admin"
	"github.com/helenus-db/helenus/internal/config"
)

// gate is who may use the admin port. What it can not read of tokens does not keep the relay from working: then only the bootstrap token
// is known, or nobody's.
func (h *helenus) gate(ctx context.Context) (*access.Gate, error) {
	s := h.settings
	if _, err := webConfig(s.AdminWebConfig); err != nil {
		return nil, usageError{fmt.Errorf("setting admin-web-config: %w", err)}
	}
	token, err := admin.Token(s.AdminToken, s.StateDir)
	if err != nil {
		h.log.Error("nobody has the bootstrap token of the API: give one with --admin-token, or mend the file and start again", "error", err)
	}
	var tokens *access.Tokens
	err = h.patiently(ctx, func() (err error) { tokens, err = access.LoadTokens(ctx, h.store, time.Now); return err })
	h.tokens = tokens
	if err != nil {
		h.log.Error("some tokens are not known: their holders are refused", "error", err)
	}
	var sessions *access.Sessions
	err = h.patiently(ctx, func() (err error) { sessions, err = access.LoadSessions(ctx, h.store); return err })
	h.sessions = sessions
	if err != nil {
		h.log.Error("the sessions of before are not known yet: they are looked for when they are shown", "error", err)
	}
	proxies, err := s.Proxies()
	if err != nil {
		return nil, err // Validate has checked it
	}
	return access.New(access.Options{Bootstrap: token, Tokens: tokens, Sessions: sessions, Hosts: access.NewHosts(s.Admin, s.AdminHosts), Header: s.AdminTrustedHeader,
		HeaderRole: s.AdminHeaderRole, Proxies: proxies, Log: h.log}), nil
}

// webConfig checks a file of exporter-toolkit, and reads whether it has TLS.
func webConfig(file string) (tls bool, err error) {
	if file == "" {
		return false, nil
	}
	if err := web.Validate(file); err != nil {
		return false, err
	}
	text, err := os.ReadFile(file) //nolint:gosec // the operator names it
	if err != nil {
		return false, err
	}
	var c struct {
		TLS   map[string]any    `yaml:"tls_server_config"`
		Users map[string]string `yaml:"basic_auth_users"`
	}
	if err := yaml.Unmarshal(text, &c); err != nil {
		return false, err
	}
	if len(c.Users) > 0 {
		return false, errors.New("basic_auth_users can not be used beside tokens, which come in the same header: remove it, and make tokens (helenus token create)")
	}
	return len(c.TLS) > 0, nil
}

// adminAddress is where commands reach the API.
func (h *helenus) adminAddress() string {
	address := h.listener.Addr().String()
	if tls, err := webConfig(h.settings.AdminWebConfig); err == nil && tls {
		return "https://" + address
	}
	return address
}

// secureClient is what a command speaks to the API with, nil if nothing was said of how.
func (r *remote) secureClient() (*http.Client, error) {
	if r.ca == "" && r.cert == "" && r.key == "" {
		return nil, nil //nolint:nilnil // as it is without
	}
	if !strings.HasPrefix(r.server, "https://") {
		return nil, usageError{errors.New("--server-ca, --server-cert and --server-key are for an https --server")}
	}
	c := &tls.Config{MinVersion: tls.VersionTLS12}
	if r.ca != "" {
		text, err := os.ReadFile(r.ca)
		if err != nil {
			return nil, usageError{fmt.Errorf("--server-ca: %w", err)}
		}
		if c.RootCAs = x509.NewCertPool(); !c.RootCAs.AppendCertsFromPEM(text) {
			return nil, usageError{fmt.Errorf("--server-ca: %s has no certificate in PEM", r.ca)}
		}
	}
	if r.cert != "" || r.key != "" {
		own, err := tls.LoadX509KeyPair(r.cert, r.key)
		if err != nil {
			return nil, usageError{fmt.Errorf("--server-cert, --server-key: %w", err)}
		}
		c.Certificates = []tls.Certificate{own}
	}
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.TLSClientConfig = c
	return &http.Client{Transport: t}, nil
}

// provider is whom people log in with at the console, besides tokens; nil if nobody.
func (h *helenus) provider() (*openid.Provider, error) {
	s := h.settings
	if s.OpenIDIssuer == "" {
		return nil, nil //nolint:nilnil // as it is without
	}
	rules, err := openid.ParseRules(s.OpenIDRoles)
	if err != nil {
		return nil, usageError{fmt.Errorf("setting openid-roles: %w", err)}
	}
	return openid.New(openid.Options{
		Issuer: s.OpenIDIssuer, Client: s.OpenIDClient, Secret: s.OpenIDSecret, Scopes: s.OpenIDScopes,
		Name: s.OpenIDName, Claim: s.OpenIDClaim, Roles: rules, Address: s.WebhookConsole,
	}), nil
}

func tokenCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "token", Short: "Who may use the API: make, list and revoke tokens", Args: usage(cobra.NoArgs),
		Long: `Each person, and each program, has a token of its own: the audit trail names it, and it can be revoked without the others. Roles:

viewer    reads
operator  approves, dismisses, rolls back, resumes, verifies
admin     makes and revokes tokens, drops, bypasses, says what is sampled, reads pprof

A command takes its token from --token or HELENUS_ADMIN_TOKEN; without either, the one in the state directory, which is the first
admin's and says in the trail who the operating system says it is.`,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(tokenCreateCommand(), tokenListCommand(), tokenRevokeCommand(), tokenLogoutCommand())
	return c
}

func tokenCreateCommand() *cobra.Command {
	var (
		r             remote
		role, expires string
	)
	c := &cobra.Command{
		Use: "create NAME", Short: "Make a token; it is shown once, and kept nowhere", Args: usage(cobra.ExactArgs(1)),
		RunE: func(c *cobra.Command, args []string) error {
			order := admin.TokenOrder{Actor: actor(), Name: args[0]}
			var err error
			if order.Role, err = access.ParseRole(role); err != nil {
				return usageError{fmt.Errorf("--role: %w", err)}
			}
			if expires != "" {
				d, err := config.Duration(expires)
				if err != nil || d <= 0 {
					return usageError{fmt.Errorf("--expires %q: it may be such as 12h or 90d", expires)}
				}
				order.Expires = time.Now().Add(d).UTC().Truncate(time.Second)
			}
			client, err := r.client()
			if err != nil {
				return err
			}
			var raw []byte
			if err := client.Post(c.Context(), "tokens", order, &raw); err != nil {
				return err
			}
			return printed(c.OutOrStdout(), &r, raw, func(w io.Writer, t admin.TokenMade) error {
				if _, err := fmt.Fprintf(c.ErrOrStderr(), "Token of %s, role %s%s. It is shown this once:\n", t.Name, t.Role, until(t.Expires)); err != nil {
					return err
				}
				_, err := fmt.Fprintln(w, t.Text)
				return err
			})
		},
	}
	r.flags(c)
	c.Flags().StringVar(&role, "role", string(access.Viewer), "viewer, operator or admin; or agent, which is for cdc-agent alone")
	c.Flags().StringVar(&expires, "expires", "", "after how long it is not valid any more, such as 12h or 90d; default: never")
	return c
}

func until(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return ", until " + t.Format(time.RFC3339)
}

func tokenLogoutCommand() *cobra.Command {
	var r remote
	c := &cobra.Command{
		Use: "logout NAME", Short: "End all sessions of somebody in the console, at all members of a fleet", Args: usage(cobra.ExactArgs(1)),
		Long: `Ends the sessions that were begun with the token of that name, or, with OpenID Connect, by the person of that name: as one who has lost his role at the provider, which
is not asked again before a session ends by itself. "api" are those of the bootstrap token. The token itself stays valid; "helenus token revoke" ends both.`,
		RunE: func(c *cobra.Command, args []string) error {
			client, err := r.client()
			if err != nil {
				return err
			}
			var raw []byte
			if err := client.Delete(c.Context(), "sessions/"+url.PathEscape(args[0]), admin.Decision{Actor: actor()}, &raw); err != nil {
				return err
			}
			return printed(c.OutOrStdout(), &r, raw, func(w io.Writer, e admin.SessionsEnded) error {
				_, err := fmt.Fprintf(w, "Sessions of %s that were ended: %d.\n", e.Name, e.Sessions)
				return err
			})
		},
	}
	r.flags(c)
	return c
}

func tokenListCommand() *cobra.Command {
	var r remote
	c := &cobra.Command{
		Use: "list", Short: "List the tokens, without their texts", Args: usage(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error {
			return show(c, &r, "tokens", func(w io.Writer, list []access.Token) error {
				if len(list) == 0 {
					_, err := fmt.Fprintln(w, "No token but the one in the state directory; `helenus token create NAME` makes one.")
					return err
				}
				t := newTable("name", "role", "created", "by", "expires")
				for _, one := range list {
					expires := "never"
					switch {
					case one.Expires.IsZero():
					case one.Expires.Before(time.Now()):
						expires = "EXPIRED " + one.Expires.Format(time.DateOnly)
					default:
						expires = one.Expires.Format(time.RFC3339)
					}
					t.AppendRow([]any{one.Name, one.Role, one.Created.Format(time.RFC3339), one.Creator, expires})
				}
				return render(w, t)
			})
		},
	}
	r.flags(c)
	return c
}

func tokenRevokeCommand() *cobra.Command {
	var r remote
	c := &cobra.Command{
		Use: "revoke NAME", Short: "End a token at once, and the sessions begun with it", Args: usage(cobra.ExactArgs(1)),
		RunE: func(c *cobra.Command, args []string) error {
			client, err := r.client()
			if err != nil {
				return err
			}
			var raw []byte
			if err := client.Delete(c.Context(), "tokens/"+url.PathEscape(args[0]), admin.Decision{Actor: actor()}, &raw); err != nil {
				return err
			}
			return printed(c.OutOrStdout(), &r, raw, func(w io.Writer, t access.Token) error {
				_, err := fmt.Fprintf(w, "The token of %s is not valid any more.\n", t.Name)
				return err
			})
		},
	}
	r.flags(c)
	return c
}
