// Command packaging makes what is given away of Helenus, out of the programs that `make dist` has built: a tarball, packages for Debian and for
// Fedora and its kin, a bill of materials, and their checksums. The same programs, version and time give the same bytes.
//
// It is a module of its own, as what it needs (nfpm) is not needed to build, test or run Helenus.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

// release is what is to be made.
type release struct {
	programs string // folder with helenus and helenus-solver
	source   string // the repository
	out      string
	version  string
	arch     string // as Go calls it
	at       time.Time
}

func main() {
	r := release{arch: runtime.GOARCH}
	var epoch int64
	flag.StringVar(&r.programs, "programs", "../../bin/dist", "folder with helenus and helenus-solver")
	flag.StringVar(&r.source, "source", "../..", "the repository")
	flag.StringVar(&r.out, "out", "../../dist", "folder to write to; what is in it is removed")
	flag.StringVar(&r.version, "version", "", "version of the programs")
	flag.Int64Var(&epoch, "epoch", 0, "time of everything, in seconds since 1970 (SOURCE_DATE_EPOCH)")
	flag.Parse()
	r.at = time.Unix(epoch, 0).UTC()
	if err := r.make(); err != nil {
		fmt.Fprintln(os.Stderr, "packaging:", err)
		os.Exit(1)
	}
}

func (r *release) make() error {
	if r.version == "" || strings.ContainsAny(r.version, "/- \t\n") {
		return fmt.Errorf("version %q: it may have no slash, dash or space, and must not be empty", r.version)
	}
	if err := errors.Join(os.RemoveAll(r.out), os.MkdirAll(r.out, 0o755)); err != nil {
		return err
	}
	for _, make := range []func() error{r.tarball, r.packages, r.bill, r.checksums} {
		if err := make(); err != nil {
			return err
		}
	}
	return nil
}

// write makes a file in out.
func (r *release) write(name string, content []byte) error {
	return os.WriteFile(filepath.Join(r.out, name), content, 0o644)
}

// program is one of those that were built.
func (r *release) program(name string) string { return filepath.Join(r.programs, name) }

// file is one of the repository.
func (r *release) file(name string) string { return filepath.Join(r.source, filepath.FromSlash(name)) }
