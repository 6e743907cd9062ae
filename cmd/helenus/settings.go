package main

import (
	"errors"
	"fmt"
	"net"
	"os"

	"github.com/spf13/cobra"

	"github.com/helenus-db/helenus/advisor/cost"
	"github.com/helenus-db/helenus/advisor/solve"
	"github.com/helenus-db/helenus/internal/config"
	"github.com/helenus-db/helenus/internal/keyspace"
	"github.com/helenus-db/helenus/proxy"
)

func configCommand() *cobra.Command {
	parent := &cobra.Command{Use: "config", Short: "The configuration", Args: usage(cobra.NoArgs), RunE: func(c *cobra.Command, _ []string) error { return c.Help() }}
	var file string
	check := &cobra.Command{
		Use: "check", Short: "Read the configuration and the TLS files that it names, say what is wrong and where, print what is in force", Args: usage(cobra.NoArgs),
	}
	check.Flags().StringVar(&file, "config", "", "YAML file")
	settings := config.Flags(check.Flags())
	check.RunE = func(c *cobra.Command, _ []string) error {
		s, err := settings(file, os.LookupEnv)
		if err != nil {
			return usageError{err}
		}
		for _, text := range config.Misspelt(os.Environ()) {
			if _, err := fmt.Fprintln(c.ErrOrStderr(), "warning:", text); err != nil {
				return err
			}
		}
		if _, err := secure(s, logger(s)); err != nil {
			return usageError{err}
		}
		if _, err := measured(s); err != nil {
			return err
		}
		if err := startable(s); err != nil {
			return usageError{err}
		}
		if s.Solver != "" { // run goes on without it, and says so in its log
			if err := solve.New(solve.Config{Path: s.Solver}).Ready(); err != nil {
				return usageError{err}
			}
		}
		_, err = fmt.Fprint(c.OutOrStdout(), s.YAML())
		return err
	}
	parent.AddCommand(check)
	return parent
}

// startable says what the proxy and the shared state refuse of the settings when they are made, before anything is connected. That a name is not known here says
// nothing: it may be where the settings are for.
func startable(s *config.Settings) error {
	if _, err := webConfig(s.AdminWebConfig); err != nil {
		return fmt.Errorf("setting admin-web-config: %w", err)
	}
	_, err := proxy.New(proxyOptions(s))
	if unknown := (*net.DNSError)(nil); errors.As(err, &unknown) {
		err = nil
	}
	if err == nil && s.Shared() {
		_, err = keyspace.New(keyspace.Options{Keyspace: s.StateKeyspace, Replication: s.StateReplication})
	}
	return err
}

// measured is the cost model that the settings name; nil if they name none.
func measured(s *config.Settings) (*cost.Cassandra, error) {
	if s.Cost == "" {
		return nil, nil //nolint:nilnil // none is no error
	}
	m, err := cost.OpenCassandra(s.Cost)
	if err != nil {
		return nil, usageError{fmt.Errorf("setting cost: %w; helenus calibrate writes such a file", err)}
	}
	return m, nil
}
