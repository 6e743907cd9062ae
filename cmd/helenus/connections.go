package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/helenus-db/helenus/proxy"
)

func connectionsCommand() *cobra.Command {
	var (
		r            remote
		limit        rowLimit
		client, node string
	)
	c := &cobra.Command{
		Use: "connections", Short: "The client connections: who, by what driver, as whom, doing what", Args: usage(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error {
			return showChosen(c, &r, "connections", func(all []proxy.ConnectionInfo) []proxy.ConnectionInfo {
				all = slices.DeleteFunc(all, func(x proxy.ConnectionInfo) bool {
					return !strings.HasPrefix(x.Address, client) || !strings.HasPrefix(x.Node, node)
				})
				busiestFirst(all)
				return cutJSON(c, &r, all, limit)
			}, func(w io.Writer, all []proxy.ConnectionInfo) error { return printConnections(w, all, int(limit)) })
		},
	}
	r.flags(c)
	r.limitFlag(c, &limit, 100)
	c.Flags().StringVar(&client, "client", "", "only those of clients whose address begins so")
	c.Flags().StringVar(&node, "node", "", "only those to nodes whose address begins so")
	return c
}

func busiestFirst(all []proxy.ConnectionInfo) {
	slices.SortStableFunc(all, func(a, b proxy.ConnectionInfo) int {
		return cmp.Or(cmp.Compare(b.InFlight, a.InFlight), cmp.Compare(a.Idle, b.Idle))
	})
}

// printConnections lists the busiest first. What a client says of itself is quoted if it could upset a terminal.
func printConnections(w io.Writer, all []proxy.ConnectionInfo, limit int) error {
	if len(all) == 0 {
		_, err := fmt.Fprintln(w, "No client connections.")
		return err
	}
	busiestFirst(all)
	t := newTable("id", "client", "listener", "node", "application", "driver", "protocol", "role", "tls", "keyspace",
		"in flight", "requests", "errors", "in", "out", "age", "idle")
	for i := range all {
		if limit > 0 && i == limit {
			break
		}
		x := &all[i]
		t.AppendRow([]any{
			x.ID, x.Address, x.Listen, orDash(x.Node), versioned(x.Application, x.ApplicationVersion), versioned(x.Driver, x.DriverVersion),
			protocol(x), role(x), tlsText(x.TLS), orDash(plain(x.Keyspace)), x.InFlight, x.Requests, x.Errors,
			bytesText(float64(x.BytesUp)), bytesText(float64(x.BytesDown)), seconds(time.Since(x.Since).Seconds()), seconds(x.Idle),
		})
	}
	if err := render(w, t); err != nil {
		return err
	}
	if limit > 0 && len(all) > limit {
		_, err := fmt.Fprintf(w, "%d of %d connections; --limit 0 lists all\n", limit, len(all))
		return err
	}
	return nil
}

// plain is s, quoted if it has anything but printable characters, and cut to what a column takes.
func plain(s string) string {
	if q := strconv.QuoteToGraphic(s); q != `"`+s+`"` {
		s = q
	}
	return short(s, 40)
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

func versioned(name, version string) string {
	return orDash(strings.TrimSpace(plain(name) + " " + plain(version)))
}

func protocol(x *proxy.ConnectionInfo) string {
	switch {
	case x.Version == 0:
		return "-"
	case x.Compression != "":
		return fmt.Sprintf("v%d %s", x.Version, plain(x.Compression))
	}
	return fmt.Sprintf("v%d", x.Version)
}

// role says as whom the connection works: "yes" if it logged in in a way that does not show.
func role(x *proxy.ConnectionInfo) string {
	switch {
	case x.Role != "":
		return plain(x.Role)
	case x.Authenticated:
		return "yes"
	}
	return "-"
}

func tlsText(t *proxy.TLSInfo) string {
	if t == nil {
		return "-"
	}
	return strings.TrimSpace(t.Version + " " + plain(t.Subject))
}

func seconds(s float64) string {
	d := time.Duration(s * float64(time.Second))
	if d < time.Minute {
		return d.Round(100 * time.Millisecond).String()
	}
	return d.Round(time.Second).String()
}
