package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"

	"github.com/goreleaser/nfpm/v2"
	"github.com/goreleaser/nfpm/v2/deb"
	"github.com/goreleaser/nfpm/v2/files"
	"github.com/goreleaser/nfpm/v2/rpm"
)

// system is a family of distributions.
type system struct {
	packager nfpm.Packager
	file     func(name, version, arch string) string
	arch     map[string]string // by Go's name
	zsh      string            // where its completions are
	licence  string            // where its text is, %s is the package
	// solver is what helenus-solver needs: COIN-OR as the distribution has it, which mends it, and answers for its licence.
	solver []string
}

var systems = map[string]system{
	"deb": {packager: deb.Default, file: func(name, version, arch string) string { return fmt.Sprintf("%s_%s_%s.deb", name, version, arch) },
		arch: map[string]string{"amd64": "amd64", "arm64": "arm64"}, zsh: "/usr/share/zsh/vendor-completions/_helenus", licence: "/usr/share/doc/%s/copyright",
		solver: []string{"libc6", "libgcc-s1", "libstdc++6", "coinor-libcbc3", "coinor-libclp1", "coinor-libcoinutils3v5"}},
	"rpm": {packager: rpm.DefaultRPM, file: func(name, version, arch string) string { return fmt.Sprintf("%s-%s-1.%s.rpm", name, version, arch) },
		arch: map[string]string{"amd64": "x86_64", "arm64": "aarch64"}, zsh: "/usr/share/zsh/site-functions/_helenus", licence: "/usr/share/licenses/%s/LICENSE",
		solver: []string{"glibc", "libgcc", "libstdc++", "coin-or-Cbc", "coin-or-Clp", "coin-or-CoinUtils"}},
}

// packages makes helenus, which needs nothing, and helenus-solver, which it recommends, for each system.
func (r *release) packages() error {
	made, err := os.MkdirTemp("", "helenus-packages-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(made) }()
	for format, s := range systems {
		for _, info := range []*nfpm.Info{r.info(s, "helenus"), r.info(s, "helenus-solver")} {
			if format == "rpm" { // which must have one
				info.Release = "1"
			}
			if info.Name == "helenus" {
				err = r.contents(s, info, made)
			} else {
				info.Depends = s.solver
				info.Contents = append(info.Contents, r.content(r.program("helenus-solver"), "/usr/bin/helenus-solver", 0o755), r.content(r.file("LICENSE"), fmt.Sprintf(s.licence, info.Name), 0o644))
				info.Description = "Solves integer programs for Helenus, by COIN-OR\nWithout it Helenus works out designs and calendars by a heuristic, and says so."
			}
			if err == nil {
				err = r.pack(format, info)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

func (r *release) info(s system, name string) *nfpm.Info {
	return nfpm.WithDefaults(&nfpm.Info{
		Name: name, Arch: s.arch[r.arch], Platform: "linux", Version: r.version, VersionSchema: "none", Section: "database", Priority: "optional",
		Maintainer: "The Helenus authors <helenus@localhost>", License: "Apache-2.0", MTime: r.at,
		Description: "A proxy for Apache Cassandra that learns the workload\nHelenus advises on tables that would serve the workload better, and, once a person approves, makes the change while the application runs.",
	})
}

func (r *release) content(from, to string, mode os.FileMode) *files.Content {
	return &files.Content{Source: from, Destination: to, FileInfo: &files.ContentFileInfo{Mode: mode, MTime: r.at, Owner: "root", Group: "root"}}
}

// contents are the files of package helenus; what has to be made of others is made in a folder.
func (r *release) contents(s system, info *nfpm.Info, made string) error {
	info.Recommends = []string{"helenus-solver"}
	if s.zsh == systems["deb"].zsh { // rpms need what their scripts call
		info.Depends = []string{"passwd"}
	} else {
		info.Depends = []string{"shadow-utils"}
	}
	settings := r.content(r.file("internal/packaging/files/helenus.yaml"), "/etc/helenus/helenus.yaml", 0o640)
	settings.Type = files.TypeConfigNoReplace
	info.Contents = append(info.Contents, settings,
		r.content(r.program("helenus"), "/usr/bin/helenus", 0o755),
		r.content(r.file("internal/packaging/files/helenus.service"), "/usr/lib/systemd/system/helenus.service", 0o644),
		r.content(r.file("internal/packaging/files/helenus.socket"), "/usr/lib/systemd/system/helenus.socket", 0o644),
		r.content(r.file("LICENSE"), fmt.Sprintf(s.licence, info.Name), 0o644))
	pages, err := filepath.Glob(r.file("docs/man/*.1"))
	if err != nil || len(pages) == 0 {
		return fmt.Errorf("no man pages in %s: %w", r.file("docs/man"), err)
	}
	for _, page := range append(pages, r.file("CHANGELOG.md")) {
		to := path.Join("/usr/share/man/man1", filepath.Base(page)+".gz")
		if filepath.Base(page) == "CHANGELOG.md" {
			to = "/usr/share/doc/helenus/changelog.gz"
		}
		packed := filepath.Join(made, filepath.Base(page)+".gz")
		if err := squeeze(page, packed); err != nil {
			return err
		}
		info.Contents = append(info.Contents, r.content(packed, to, 0o644))
	}
	for shell, to := range map[string]string{"bash": "/usr/share/bash-completion/completions/helenus", "zsh": s.zsh, "fish": "/usr/share/fish/vendor_completions.d/helenus.fish"} {
		script, err := r.completion(shell)
		if err != nil {
			return err
		}
		from := filepath.Join(made, "completion."+shell)
		if err := os.WriteFile(from, script, 0o600); err != nil {
			return err
		}
		info.Contents = append(info.Contents, r.content(from, to, 0o644))
	}
	info.Scripts = nfpm.Scripts{PostInstall: r.file("internal/packaging/files/postinstall.sh"), PreRemove: r.file("internal/packaging/files/preremove.sh"), PostRemove: r.file("internal/packaging/files/postremove.sh")}
	return nil
}

// completion is what the program prints for a shell.
func (r *release) completion(shell string) ([]byte, error) {
	program, err := filepath.Abs(r.program("helenus"))
	if err != nil {
		return nil, err
	}
	out, err := exec.Command(program, "completion", shell).Output()
	if err != nil {
		return nil, fmt.Errorf("completion of %s: %w", shell, err)
	}
	return out, nil
}

// squeeze packs a file, with no name and time of its own.
func squeeze(from, to string) error {
	text, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return err
	}
	if _, err := w.Write(text); err != nil {
		return err
	}
	if err := w.Close(); err != nil {
		return err
	}
	return os.WriteFile(to, b.Bytes(), 0o600)
}

func (r *release) pack(format string, info *nfpm.Info) error {
	s := systems[format]
	if err := nfpm.PrepareForPackager(info, format); err != nil {
		return err
	}
	var b bytes.Buffer
	if err := s.packager.Package(info, &b); err != nil {
		return fmt.Errorf("%s: %w", info.Name, err)
	}
	return r.write(s.file(info.Name, r.version, info.Arch), b.Bytes())
}
