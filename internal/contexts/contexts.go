// Package contexts keeps the servers that a person gives orders to, by name: where each is, the token that it knows the person by, and the
// certificates. They are one file in the person's own configuration directory (Path), with mode 0600, as it may hold tokens.
//
// It imports nothing of ours.
package contexts

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
)

// Context is one server, and how a person is known to it.
type Context struct {
	Name      string `yaml:"name" json:"name"`
	Server    string `yaml:"server" json:"server"` // host:port, or https://host:port
	Token     string `yaml:"token,omitempty" json:"-"`
	TokenFile string `yaml:"token-file,omitempty" json:"token_file,omitempty"`
	CA        string `yaml:"server-ca,omitempty" json:"server_ca,omitempty"` // files in PEM
	Cert      string `yaml:"server-cert,omitempty" json:"server_cert,omitempty"`
	Key       string `yaml:"server-key,omitempty" json:"server_key,omitempty"`
}

// File is all contexts of a person, in the order of their names.
type File struct {
	Current  string    `yaml:"current,omitempty"` // "": none
	Contexts []Context `yaml:"contexts"`

	path string
}

// Errors that a caller may decide on.
var (
	ErrUnknown = errors.New("there is no such context")
	ErrTaken   = errors.New("there is a context of that name")
)

// Path is where the file is.
func Path() (string, error) {
	dir, err := os.UserConfigDir()
	if err != nil {
		return "", fmt.Errorf("no place for contexts: %w", err)
	}
	return filepath.Join(dir, "helenus", "contexts.yaml"), nil
}

// Load reads a file; one that is not there has no contexts. One that others may read is refused, as it may hold tokens.
func Load(path string) (*File, error) {
	f := &File{path: path}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return f, nil
	case err != nil:
		return nil, err
	case info.Mode().Perm()&0o077 != 0:
		return nil, fmt.Errorf("%s may hold tokens, but others may use it (mode %#o): chmod 600 it, and renew the tokens if others were there", path, info.Mode().Perm())
	}
	text, err := os.ReadFile(path) //nolint:gosec // the person's own
	if err != nil {
		return nil, err
	}
	if err := yaml.UnmarshalWithOptions(text, f, yaml.Strict()); err != nil {
		return nil, fmt.Errorf("%s: %s", path, strings.TrimSpace(yaml.FormatError(err, false, false)))
	}
	return f, nil
}

// save writes the file whole, or not at all.
func (f *File) save() error {
	text, err := yaml.Marshal(f)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(f.path), 0o700); err != nil {
		return err
	}
	next, err := os.CreateTemp(filepath.Dir(f.path), ".contexts-*") // of mode 0600
	if err != nil {
		return err
	}
	_, err = next.Write(text)
	if err = errors.Join(err, next.Sync(), next.Close()); err == nil {
		err = os.Rename(next.Name(), f.path)
	}
	if err != nil {
		_ = os.Remove(next.Name())
	}
	return err
}

func (f *File) find(name string) int {
	return slices.IndexFunc(f.Contexts, func(c Context) bool { return c.Name == name })
}

// Names are those of all contexts.
func (f *File) Names() (names []string) {
	for _, c := range f.Contexts {
		names = append(names, c.Name)
	}
	return names
}

// Get is the context of a name.
func (f *File) Get(name string) (Context, error) {
	if i := f.find(name); i >= 0 {
		return f.Contexts[i], nil
	}
	return Context{}, fmt.Errorf("%w: %q", ErrUnknown, name)
}

var allowed = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

// Add adds a context; replace allows it to be there. The first one is the current one.
func (f *File) Add(c Context, replace bool) error {
	switch i := f.find(c.Name); {
	case !allowed.MatchString(c.Name):
		return fmt.Errorf("the name %q: letters, digits, dots, - and _, 64 at most", c.Name)
	case i >= 0 && !replace:
		return fmt.Errorf("%w: %q", ErrTaken, c.Name)
	case i >= 0:
		f.Contexts[i] = c
	default:
		f.Contexts = append(f.Contexts, c)
	}
	slices.SortFunc(f.Contexts, func(a, b Context) int { return strings.Compare(a.Name, b.Name) })
	if len(f.Contexts) == 1 {
		f.Current = c.Name
	}
	return f.save()
}

// Use makes a context the current one; "" none.
func (f *File) Use(name string) error {
	if name != "" {
		if _, err := f.Get(name); err != nil {
			return err
		}
	}
	f.Current = name
	return f.save()
}

// Remove forgets a context. If it was the current one there is none.
func (f *File) Remove(name string) error {
	i := f.find(name)
	if i < 0 {
		return fmt.Errorf("%w: %q", ErrUnknown, name)
	}
	f.Contexts = slices.Delete(f.Contexts, i, i+1)
	if f.Current == name {
		f.Current = ""
	}
	return f.save()
}

// Secret is the context's token: its own, or that of its file; "" if it has none.
func (c *Context) Secret() (string, error) {
	if c.TokenFile == "" {
		return c.Token, nil
	}
	text, err := os.ReadFile(c.TokenFile)
	if err != nil {
		return "", fmt.Errorf("token of context %s: %w", c.Name, err)
	}
	return strings.TrimSpace(string(text)), nil
}
