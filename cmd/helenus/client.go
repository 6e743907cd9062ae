package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"os/user"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/helenus-db/helenus/internal/admin"
	"github.com/helenus-db/helenus/internal/config"
	"github.com/helenus-db/helenus/internal/contexts"
)

// remote is how a command reaches the running process.
type remote struct {
	server, token, stateDir string
	ca, cert, key           string // of https
	context                 string // the name of one
	given                   func(flag string) bool
	form
}

// flags adds the flags that every command of this kind has.
func (r *remote) flags(c *cobra.Command) {
	r.reach(c)
	r.form.flags(c)
}

// reach adds those that say where the process is, for commands that print nothing of its answer.
func (r *remote) reach(c *cobra.Command) {
	defaults := config.Defaults()
	flags := c.Flags()
	r.given = flags.Changed
	flags.StringVar(&r.server, "server", os.Getenv(envServer), "admin address of the running process, host:port or https://host:port ["+envServer+"]; else the one kept in --state-dir, or "+defaults.Admin)
	flags.StringVar(&r.context, "context", os.Getenv(envContext), "the server, token and certificates of that name (helenus context) ["+envContext+"]; else the one in use, unless --server or --state-dir is given")
	flags.StringVar(&r.token, "token", "", "your token (helenus token create) ["+envToken+"]; else the context's, or the bootstrap one kept in --state-dir")
	flags.StringVar(&r.ca, "server-ca", os.Getenv("HELENUS_SERVER_CA"), "PEM file of the CAs that vouch for an https --server [HELENUS_SERVER_CA]; default: those that the machine trusts")
	flags.StringVar(&r.cert, "server-cert", os.Getenv("HELENUS_SERVER_CERT"), "PEM file of the certificate to show it, if it asks for one [HELENUS_SERVER_CERT]")
	flags.StringVar(&r.key, "server-key", os.Getenv("HELENUS_SERVER_KEY"), "PEM file of its key [HELENUS_SERVER_KEY]")
	flags.StringVar(&r.stateDir, "state-dir", cmp.Or(os.Getenv(envState), defaults.StateDir), "state directory of the running process ["+envState+"]")
	offerBy(c, "context", contextNames)
}

// The environment variables that say where a command's process is.
const (
	envServer  = "HELENUS_ADMIN"
	envContext = "HELENUS_CONTEXT"
	envToken   = "HELENUS_ADMIN_TOKEN"
	envState   = "HELENUS_STATE_DIR"
)

// chosen is the context to use, nil if none is: a flag beats the environment, which beats the one in use. A token is for its own
// server only, so a context is not used in part.
func (r *remote) chosen() (*contexts.Context, error) {
	elsewhere := os.Getenv(envServer) != "" || os.Getenv(envState) != ""
	switch byFlag := r.given("server") || r.given("state-dir"); {
	case r.given("context") && byFlag:
		return nil, usageError{errors.New("--context names a server: leave --server and --state-dir out")}
	case byFlag:
		return nil, nil //nolint:nilnil // none
	case !r.given("context") && elsewhere && r.context != "":
		return nil, usageError{fmt.Errorf("%s names a server, and so does %s or %s: unset one", envContext, envServer, envState)}
	case !r.given("context") && elsewhere:
		return nil, nil //nolint:nilnil // none
	}
	path, err := contexts.Path()
	if err != nil && r.context == "" {
		return nil, nil //nolint:nilnil,nilerr // nobody's, as of a service: there are none
	}
	if err != nil {
		return nil, usageError{err}
	}
	file, err := contexts.Load(path)
	if err != nil {
		return nil, usageError{err}
	}
	name := cmp.Or(r.context, file.Current)
	if name == "" {
		return nil, nil //nolint:nilnil // none
	}
	c, err := file.Get(name)
	if err != nil {
		return nil, usageError{fmt.Errorf("%w%s; see `helenus context list`", err, alike(name, file.Names()))}
	}
	return &c, nil
}

// in lets a context say what no flag does.
func (r *remote) in(c *contexts.Context) (err error) {
	r.server = c.Server
	for _, one := range []struct {
		flag     string
		is, says *string
	}{{"server-ca", &r.ca, &c.CA}, {"server-cert", &r.cert, &c.Cert}, {"server-key", &r.key, &c.Key}} {
		if !r.given(one.flag) {
			*one.is = *one.says
		}
	}
	if r.token == "" {
		if r.token, err = c.Secret(); err != nil {
			return usageError{err}
		}
	}
	if r.token = cmp.Or(r.token, os.Getenv(envToken)); r.token == "" {
		return usageError{fmt.Errorf("context %s has no token: give --token, or add it again with --token-file", c.Name)}
	}
	return nil
}

// here finds the process by its state directory, unless something else was said.
func (r *remote) here() (err error) {
	r.server = cmp.Or(r.server, admin.ReadAddress(r.stateDir), config.Defaults().Admin)
	if r.token = cmp.Or(r.token, os.Getenv(envToken)); r.token == "" {
		if r.token, err = admin.ReadToken(r.stateDir); err != nil {
			return usageError{fmt.Errorf("%w; name the state directory of the running process with --state-dir, or give --token, or a --context", err)}
		}
	}
	return nil
}

func (r *remote) client() (*admin.Client, error) {
	context, err := r.chosen()
	if err != nil {
		return nil, err
	}
	find := r.here
	if context != nil {
		find = func() error { return r.in(context) }
	}
	if err := find(); err != nil {
		return nil, err
	}
	if r.server, err = serverAddress(r.server); err != nil {
		return nil, err
	}
	secured, err := r.secureClient()
	if err != nil {
		return nil, err
	}
	return &admin.Client{Address: r.server, Token: r.token, HTTP: secured}, nil
}

// serverAddress checks host:port, or https://host:port.
func serverAddress(text string) (string, error) {
	text = strings.TrimSuffix(text, "/")
	if _, _, err := net.SplitHostPort(strings.TrimPrefix(text, "https://")); err != nil {
		return "", usageError{fmt.Errorf("--server %q is not host:port, or https://host:port: %w", text, err)}
	}
	return text, nil
}

// show gets path and prints it: as JSON if asked for, else as render makes it.
func show[T any](c *cobra.Command, r *remote, path string, render func(w io.Writer, v T) error) error {
	client, err := r.client()
	if err != nil {
		return err
	}
	var raw []byte
	if err := client.Get(c.Context(), path, &raw); err != nil {
		return err
	}
	return printed(c.OutOrStdout(), r, raw, render)
}

func printed[T any](w io.Writer, r *remote, raw []byte, render func(w io.Writer, v T) error) error {
	if r.structured() {
		return r.write(w, raw)
	}
	var v T
	if err := json.Unmarshal(raw, &v); err != nil {
		return fmt.Errorf("the answer could not be read; are command and process of one version? %w", err)
	}
	return render(r.paper(w), v)
}

// showChosen gets path and prints what choose leaves of the answer, in JSON and YAML, too.
func showChosen[T any](c *cobra.Command, r *remote, path string, choose func(T) T, render func(w io.Writer, v T) error) error {
	if !r.structured() {
		return show(c, r, path, func(w io.Writer, v T) error { return render(w, choose(v)) })
	}
	client, err := r.client()
	if err != nil {
		return err
	}
	var v T
	if err := client.Get(c.Context(), path, &v); err != nil {
		return err
	}
	return r.encode(c.OutOrStdout(), choose(v))
}

// rowLimit is the flag --limit of a list that the command itself cuts.
type rowLimit int

// Type is how help calls it.
func (*rowLimit) Type() string { return "int" }

// String is the number.
func (l *rowLimit) String() string { return strconv.Itoa(int(*l)) }

// Set reads 0 or more.
func (l *rowLimit) Set(text string) error {
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		return errors.New("it may be 0, which lists all, or more")
	}
	*l = rowLimit(n)
	return nil
}

// limitFlag adds --limit, which cuts JSON only if it is given: a script is not to miss rows by a default.
func (r *remote) limitFlag(c *cobra.Command, limit *rowLimit, many int) {
	*limit = rowLimit(many)
	c.Flags().Var(limit, "limit", "how many to list, 0 for all; with -o json and yaml all, unless it is given")
}

// cutJSON is the begin of a list that is printed as JSON or YAML. (Tables are cut where they are printed, and say so.)
func cutJSON[T any](c *cobra.Command, r *remote, list []T, limit rowLimit) []T {
	if !r.structured() || limit == 0 || !c.Flags().Changed("limit") {
		return list
	}
	return list[:min(len(list), int(limit))]
}

// showText prints what the API wrote for people, or JSON.
func showText(c *cobra.Command, r *remote, path string) error {
	client, err := r.client()
	if err != nil {
		return err
	}
	if !r.structured() {
		path += "?format=text"
	}
	var raw []byte
	if err := client.Get(c.Context(), path, &raw); err != nil {
		return err
	}
	if r.structured() {
		return r.write(c.OutOrStdout(), raw)
	}
	_, err = c.OutOrStdout().Write(raw)
	return err
}

// decide posts a decision and returns the answer.
func decide(ctx context.Context, r *remote, path string, reason string) ([]byte, error) {
	client, err := r.client()
	if err != nil {
		return nil, err
	}
	var raw []byte
	err = client.Post(ctx, path, admin.Decision{Actor: actor(), Reason: reason}, &raw)
	return raw, err
}

// actor is who gives the order: kept with the decision.
func actor() string {
	if u, err := user.Current(); err == nil {
		return u.Username
	}
	return "cli"
}

func pathID(parent, id string) string { return parent + "/" + url.PathEscape(id) }

// ms prints microseconds as milliseconds with three digits that matter.
func ms(microseconds float64) string {
	switch v := microseconds / 1000; {
	case v == 0:
		return "-"
	case v < 10:
		return fmt.Sprintf("%.2f", v)
	case v < 100:
		return fmt.Sprintf("%.1f", v)
	default:
		return fmt.Sprintf("%.0f", v)
	}
}

// short cuts a text to n characters, on one line.
func short(s string, n int) string {
	runes := []rune(strings.Join(strings.Fields(s), " "))
	if len(runes) <= n {
		return string(runes)
	}
	return string(runes[:n-1]) + "…"
}

func ago(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return time.Since(t).Round(time.Second).String() + " ago"
}
