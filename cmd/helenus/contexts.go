package main

import (
	"bufio"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/helenus-db/helenus/internal/contexts"
)

func contextCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "context", Short: "The servers that you give orders to, by name", Args: usage(cobra.NoArgs),
		Long: `A context is a server, your token there, and its certificates, under a name. Every command asks the context in use, or the one that
--context names, unless --server or --state-dir says where else.

  helenus context add prod --server https://helenus.example.org:19080 --token-file ~/.helenus-token --server-ca ca.pem
  helenus context use prod
  helenus recommendations --context staging

They are kept in helenus/contexts.yaml of your configuration directory (XDG_CONFIG_HOME, ~/.config), which only you may read.`,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(contextAddCommand(), contextListCommand(), contextUseCommand(), contextRemoveCommand())
	return c
}

// own are the contexts of whoever runs the command.
func own() (*contexts.File, error) {
	path, err := contexts.Path()
	if err != nil {
		return nil, usageError{err}
	}
	file, err := contexts.Load(path)
	if err != nil {
		return nil, usageError{err}
	}
	return file, nil
}

// wrongContext is an error of the contexts with its exit code.
func wrongContext(file *contexts.File, name string, err error) error {
	switch {
	case errors.Is(err, contexts.ErrUnknown):
		return exitError{fmt.Errorf("%w%s", err, alike(name, file.Names())), exitNotFound}
	case errors.Is(err, contexts.ErrTaken):
		return exitError{fmt.Errorf("%w; --replace replaces it", err), exitRefused}
	}
	return err
}

func contextAddCommand() *cobra.Command {
	var (
		x            contexts.Context
		use, replace bool
	)
	c := &cobra.Command{
		Use: "add NAME --server ADDRESS", Short: "Keep a server, your token and its certificates under a name; the first is in use at once", Args: usage(cobra.ExactArgs(1)),
		RunE: func(c *cobra.Command, args []string) (err error) {
			x.Name = args[0]
			if x.Server, err = serverAddress(x.Server); err != nil {
				return err
			}
			secured := x.CA != "" || x.Cert != "" || x.Key != ""
			switch {
			case x.Token != "" && x.TokenFile != "":
				return usageError{errors.New("--token and --token-file both say what your token is: give one")}
			case secured && !strings.HasPrefix(x.Server, "https://"):
				return usageError{errors.New("--server-ca, --server-cert and --server-key are for an https --server")}
			case (x.Cert == "") != (x.Key == ""):
				return usageError{errors.New("--server-cert and --server-key go together")}
			}
			if x.Token == "-" {
				line, err := bufio.NewReader(c.InOrStdin()).ReadString('\n')
				if x.Token = strings.TrimSpace(line); x.Token == "" {
					return usageError{fmt.Errorf("--token -: no token came on standard input: %w", err)}
				}
			}
			for _, file := range []*string{&x.TokenFile, &x.CA, &x.Cert, &x.Key} { // it is used from any folder
				if *file != "" {
					if *file, err = filepath.Abs(*file); err != nil {
						return err
					}
				}
			}
			if _, err := x.Secret(); err != nil {
				return usageError{fmt.Errorf("--token-file: %w", err)}
			}
			file, err := own()
			if err != nil {
				return err
			}
			if err := file.Add(x, replace); err != nil {
				return wrongContext(file, x.Name, err)
			}
			if use {
				if err := file.Use(x.Name); err != nil {
					return err
				}
			}
			text := "kept"
			if file.Current == x.Name {
				text = "kept, and in use"
			}
			_, err = fmt.Fprintf(c.OutOrStdout(), "%s is %s.\n", x.Name, text)
			return err
		},
	}
	f := c.Flags()
	f.StringVar(&x.Server, "server", "", "its admin address, host:port or https://host:port")
	f.StringVar(&x.Token, "token", "", "your token there, which is then kept in the file; -: read it from standard input, which no list of processes shows")
	f.StringVar(&x.TokenFile, "token-file", "", "the file that has your token")
	f.StringVar(&x.CA, "server-ca", "", "PEM file of the CAs that vouch for it")
	f.StringVar(&x.Cert, "server-cert", "", "PEM file of the certificate to show it")
	f.StringVar(&x.Key, "server-key", "", "PEM file of its key")
	f.BoolVar(&use, "use", false, "use it from now on")
	f.BoolVar(&replace, "replace", false, "replace the one of that name")
	return c
}

// listedContext is a context as it is listed: without its token.
type listedContext struct {
	contexts.Context
	Current bool `json:"current"`
	Kept    bool `json:"token_kept"` // its token is in the file of contexts
}

func contextListCommand() *cobra.Command {
	var o form
	c := &cobra.Command{
		Use: "list", Short: "List them, without their tokens; * is the one in use", Args: usage(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error {
			file, err := own()
			if err != nil {
				return err
			}
			list := []listedContext{}
			for _, one := range file.Contexts {
				list = append(list, listedContext{one, one.Name == file.Current, one.Token != ""})
			}
			w := o.paper(c.OutOrStdout())
			switch {
			case o.structured():
				return o.encode(w, list)
			case len(list) == 0:
				_, err := fmt.Fprintln(w, "No context; `helenus context add NAME --server ADDRESS` makes one.")
				return err
			}
			t := newTable("", "name", "server", "token", wideOnly("CA"), wideOnly("certificate"))
			for _, one := range list {
				mark, token := "", "none"
				if one.Current {
					mark = "*"
				}
				switch {
				case one.Kept:
					token = "kept"
				case one.TokenFile != "":
					token = one.TokenFile
				}
				t.AppendRow([]any{mark, one.Name, one.Server, token, orDash(one.CA), orDash(one.Cert)})
			}
			return render(w, t)
		},
	}
	o.flags(c)
	return c
}

func contextUseCommand() *cobra.Command {
	var none bool
	c := &cobra.Command{
		Use: "use NAME | --none", Short: "Ask this server from now on", Args: usage(cobra.MaximumNArgs(1)),
		RunE: func(c *cobra.Command, args []string) error {
			if none == (len(args) == 1) {
				return usageError{errors.New("name a context, or say --none")}
			}
			file, err := own()
			if err != nil {
				return err
			}
			name, text := "", "No context is in use: commands ask the process of this machine.\n"
			if len(args) == 1 {
				name, text = args[0], args[0]+" is in use.\n"
			}
			if err := file.Use(name); err != nil {
				return wrongContext(file, name, err)
			}
			_, err = fmt.Fprint(c.OutOrStdout(), text)
			return err
		},
		ValidArgsFunction: completeContexts,
	}
	c.Flags().BoolVar(&none, "none", false, "none: ask the process of this machine, by its state directory")
	return c
}

func contextRemoveCommand() *cobra.Command {
	return &cobra.Command{
		Use: "remove NAME", Short: "Forget one, and the token that was kept with it", Args: usage(cobra.ExactArgs(1)),
		RunE: func(c *cobra.Command, args []string) error {
			file, err := own()
			if err != nil {
				return err
			}
			if err := file.Remove(args[0]); err != nil {
				return wrongContext(file, args[0], err)
			}
			_, err = fmt.Fprintf(c.OutOrStdout(), "%s is forgotten. The token is valid until it is revoked (helenus token revoke).\n", args[0])
			return err
		},
		ValidArgsFunction: completeContexts,
	}
}
