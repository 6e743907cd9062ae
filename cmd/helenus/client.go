package main

import (
	"bytes"
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

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"github.com/helenus-db/helenus/internal/admin"
	"github.com/helenus-db/helenus/internal/config"
)

// remote is how a command reaches the running process.
type remote struct {
	server, token, stateDir string
	ca, cert, key           string // of https
	json                    bool
}

// flags adds the flags that every command of this kind has.
func (r *remote) flags(c *cobra.Command) {
	defaults := config.Defaults()
	env := func(name, otherwise string) string {
		if v, ok := os.LookupEnv(name); ok {
			return v
		}
		return otherwise
	}
	c.Flags().StringVar(&r.server, "server", env("HELENUS_ADMIN", ""), "admin address of the running process, host:port or https://host:port [HELENUS_ADMIN]; else the one kept in --state-dir, or "+defaults.Admin)
	c.Flags().StringVar(&r.token, "token", "", "your token (helenus token create) [HELENUS_ADMIN_TOKEN]; else the bootstrap one kept in --state-dir")
	c.Flags().StringVar(&r.ca, "server-ca", env("HELENUS_SERVER_CA", ""), "PEM file of the CAs that vouch for an https --server [HELENUS_SERVER_CA]; default: those that the machine trusts")
	c.Flags().StringVar(&r.cert, "server-cert", env("HELENUS_SERVER_CERT", ""), "PEM file of the certificate to show it, if it asks for one [HELENUS_SERVER_CERT]")
	c.Flags().StringVar(&r.key, "server-key", env("HELENUS_SERVER_KEY", ""), "PEM file of its key [HELENUS_SERVER_KEY]")
	c.Flags().StringVar(&r.stateDir, "state-dir", env("HELENUS_STATE_DIR", defaults.StateDir), "state directory of the running process [HELENUS_STATE_DIR]")
	c.Flags().BoolVar(&r.json, "json", false, "print JSON")
}

func (r *remote) client() (*admin.Client, error) {
	r.server = cmp.Or(r.server, admin.ReadAddress(r.stateDir), config.Defaults().Admin)
	r.server = strings.TrimSuffix(r.server, "/")
	if _, _, err := net.SplitHostPort(strings.TrimPrefix(r.server, "https://")); err != nil {
		return nil, usageError{fmt.Errorf("--server %q is not host:port, or https://host:port: %w", r.server, err)}
	}
	secured, err := r.secureClient()
	if err != nil {
		return nil, err
	}
	token := r.token
	if token == "" {
		token = os.Getenv("HELENUS_ADMIN_TOKEN")
	}
	if token == "" {
		if token, err = admin.ReadToken(r.stateDir); err != nil {
			return nil, usageError{fmt.Errorf("%w; name the state directory of the running process with --state-dir, or give --token", err)}
		}
	}
	return &admin.Client{Address: r.server, Token: token, HTTP: secured}, nil
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
	if r.json {
		_, err := w.Write(raw)
		return err
	}
	var v T
	if err := json.Unmarshal(raw, &v); err != nil {
		return fmt.Errorf("the answer could not be read; are command and process of one version? %w", err)
	}
	return render(w, v)
}

// showChosen gets path and prints what choose leaves of the answer, in JSON, too.
func showChosen[T any](c *cobra.Command, r *remote, path string, choose func(T) T, render func(w io.Writer, v T) error) error {
	if !r.json {
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
	out := json.NewEncoder(c.OutOrStdout())
	out.SetIndent("", "  ")
	return out.Encode(choose(v))
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
	c.Flags().Var(limit, "limit", "how many to list, 0 for all; with --json all, unless it is given")
}

// cutJSON is the begin of a list that is printed as JSON. (Tables are cut where they are printed, and say so.)
func cutJSON[T any](c *cobra.Command, r *remote, list []T, limit rowLimit) []T {
	if !r.json || limit == 0 || !c.Flags().Changed("limit") {
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
	if !r.json {
		path += "?format=text"
	}
	var raw []byte
	if err := client.Get(c.Context(), path, &raw); err != nil {
		return err
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

// newTable is a plain table: columns, two spaces between, no frame.
func newTable(headers ...any) table.Writer {
	t := table.NewWriter()
	style := table.StyleDefault
	style.Options = table.OptionsNoBordersAndSeparators
	style.Box.PaddingLeft, style.Box.PaddingRight = "", "  "
	t.SetStyle(style)
	t.AppendHeader(headers)
	return t
}

func render(w io.Writer, t table.Writer) error {
	lines := bytes.Split([]byte(t.Render()), []byte("\n"))
	for _, line := range lines {
		if _, err := fmt.Fprintf(w, "%s\n", bytes.TrimRight(line, " ")); err != nil {
			return err
		}
	}
	return nil
}

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
