package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// tarball holds both programs, without any library: helenus needs none, and helenus-solver those of COIN-OR, which distributions have and mend.
func (r *release) tarball() error {
	name := fmt.Sprintf("helenus-%s-linux-%s", r.version, r.arch)
	var b bytes.Buffer
	packed, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return err
	}
	w := tar.NewWriter(packed)
	add := func(from, to string, mode int64) error {
		content, err := os.ReadFile(from)
		if err != nil {
			return err
		}
		head := &tar.Header{Typeflag: tar.TypeReg, Name: name + "/" + to, Mode: mode, Size: int64(len(content)), ModTime: r.at, Format: tar.FormatPAX}
		if err := w.WriteHeader(head); err != nil {
			return err
		}
		_, err = w.Write(content)
		return err
	}
	for _, one := range []struct {
		from, to string
		mode     int64
	}{
		{r.program("helenus"), "helenus", 0o755}, {r.program("helenus-solver"), "helenus-solver", 0o755}, {r.file("LICENSE"), "LICENSE", 0o644}, {r.file("docs/install.md"), "INSTALL.md", 0o644},
		{r.file("internal/packaging/files/helenus.yaml"), "helenus.yaml", 0o644}, {r.file("internal/packaging/files/helenus.service"), "helenus.service", 0o644}, {r.file("internal/packaging/files/helenus.socket"), "helenus.socket", 0o644},
	} {
		if err := add(one.from, one.to, one.mode); err != nil {
			return err
		}
	}
	pages, err := filepath.Glob(r.file("docs/man/*.1"))
	if err != nil {
		return err
	}
	for _, page := range pages {
		if err := add(page, "man/"+filepath.Base(page), 0o644); err != nil {
			return err
		}
	}
	if err := w.Close(); err != nil {
		return err
	}
	if err := packed.Close(); err != nil {
		return err
	}
	return r.write(name+".tar.gz", b.Bytes())
}

// checksums are of all that was made, as sha256sum -c reads them.
func (r *release) checksums() error {
	made, err := os.ReadDir(r.out) // by name
	if err != nil {
		return err
	}
	var b strings.Builder
	for _, one := range made {
		content, err := os.ReadFile(filepath.Join(r.out, one.Name()))
		if err != nil {
			return err
		}
		fmt.Fprintf(&b, "%x  %s\n", sha256.Sum256(content), one.Name())
	}
	return r.write("SHA256SUMS", []byte(b.String()))
}
