package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/helenus-db/helenus/advisor/model"
)

// usage makes a complaint about arguments a usage error. Of a command that has others below it, an argument was meant for one of them.
func usage(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		err := check(c, args)
		if err != nil && c.HasSubCommands() && len(args) > 0 {
			var names []string
			for _, below := range c.Commands() {
				if !below.Hidden {
					names = append(names, below.Name())
				}
			}
			err = fmt.Errorf("unknown command %q for %q%s", args[0], c.CommandPath(), alike(args[0], names))
		}
		if err == nil && len(args) > 0 && args[0] == "" {
			err = errors.New("the first argument is empty: was it a variable that is not set?")
		}
		if err != nil {
			return usageError{fmt.Errorf("%w; see `%s --help`", err, c.CommandPath())}
		}
		return nil
	}
}

// strictHelp has cobra's own commands, help and completion, refuse names that there are not: they print help, as if all were well.
func strictHelp(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	for _, c := range root.Commands() {
		switch c.Name() {
		case "completion":
			c.Args, c.RunE = usage(cobra.NoArgs), func(c *cobra.Command, _ []string) error { return c.Help() }
		case "help":
			c.Args = func(c *cobra.Command, args []string) error {
				of, rest, err := c.Root().Find(args)
				if err != nil || of.HasSubCommands() && len(rest) > 0 {
					return usage(cobra.NoArgs)(of, rest)
				}
				return nil
			}
		}
	}
}

// wrongFlag is the error of a flag that is not there, with the one that is most like it, or whose value is wrong.
func wrongFlag(c *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	if errors.As(err, &unknown) {
		var names []string
		c.Flags().VisitAll(func(f *pflag.Flag) {
			if !f.Hidden {
				names = append(names, f.Name)
			}
		})
		near := alike(unknown.GetSpecifiedName(), names)
		if near == "" && len(unknown.GetSpecifiedName()) == 1 { // a word behind one dash
			near = alike(strings.TrimLeft(strings.SplitN(unknown.GetSpecifiedShortnames(), "=", 2)[0], "-"), names)
		}
		err = fmt.Errorf("%w%s", err, strings.Replace(near, "did you mean ", "did you mean --", 1))
	}
	return usageError{fmt.Errorf("%w; see `%s --help`", err, c.CommandPath())}
}

// alike says which of the known names may have been meant, "" if none is near.
func alike(name string, known []string) string {
	if near := model.Nearest(name, known); near != "" {
		return "; did you mean " + near + "?"
	}
	return ""
}
