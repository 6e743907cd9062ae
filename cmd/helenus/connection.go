package main

import (
	"os"

	"github.com/spf13/pflag"

	"github.com/helenus-db/helenus/internal/config"
)

// connection is how a command that works on Cassandra by itself reaches it: by the flags of run that say so, by the file of settings, and
// by the environment.
type connection struct {
	file     string
	settings func(file string, lookup func(string) (string, bool)) (*config.Settings, error)
}

// flags adds them. The one of the contact points may be called --contact-point, too: one will do.
func (c *connection) flags(flags *pflag.FlagSet) {
	c.settings = config.Flags(flags, config.Connection...)
	flags.StringVar(&c.file, "config", "", "YAML file of settings, as for run")
	flags.SetNormalizeFunc(func(_ *pflag.FlagSet, name string) pflag.NormalizedName {
		if name == "contact-point" {
			name = "contact-points"
		}
		return pflag.NormalizedName(name)
	})
}

// sessions are what it connects by. The error is one of usage.
func (c *connection) sessions() (sessions, error) {
	s, err := c.settings(c.file, os.LookupEnv)
	if err != nil {
		return sessions{}, usageError{err}
	}
	security, err := secure(s, logger(s))
	if err != nil {
		return sessions{}, usageError{err}
	}
	return sessions{s, security.dialer()}, nil
}
