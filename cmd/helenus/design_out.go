package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/helenus-db/helenus/advisor/design"
)

// writeDesign writes a design to a folder, which is made if it is not there. Each file is whole or not changed.
func writeDesign(folder string, d *design.Design) error {
	if err := os.MkdirAll(folder, 0o750); err != nil {
		return usageError{fmt.Errorf("--out: %w", err)}
	}
	for _, f := range []struct {
		name  string
		write func(io.Writer) error
	}{{"schema.cql", d.Schema}, {"plans.yaml", d.Plans}, {"report.txt", d.Text}, {"design.json", d.JSON}} {
		if err := writeWhole(filepath.Join(folder, f.name), f.write); err != nil {
			return fmt.Errorf("--out: %w", err)
		}
	}
	return nil
}

// writeWhole writes beside the file and renames.
func writeWhole(name string, write func(io.Writer) error) error {
	f, err := os.CreateTemp(filepath.Dir(name), filepath.Base(name)+".*")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(f.Name()) }() // after the rename there is none
	if err := write(f); err != nil {
		_ = f.Close() // the first error counts
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	if err := os.Chmod(f.Name(), 0o644); err != nil { // #nosec G302 -- to be read by whoever may read the folder
		return err
	}
	return os.Rename(f.Name(), name)
}
