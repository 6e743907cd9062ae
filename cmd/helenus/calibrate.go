package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/gocql/gocql"
	"github.com/spf13/cobra"

	"github.com/helenus-db/helenus/rewrite/calibrate"
	"github.com/helenus-db/helenus/rewrite/scratch"
)

// calibrateFlags are what `helenus calibrate` is asked for.
type calibrateFlags struct {
	calibrate.Options
	connection
	out, plot, measurements string
	json                    bool
}

func calibrateCommand() *cobra.Command {
	var f calibrateFlags
	c := &cobra.Command{
		Use: "calibrate", Short: "Fit the cost model to a cluster by measuring it, and write its parameters to a file", Args: usage(cobra.NoArgs),
		Long: `Calibrate measures reads, writes, indexes and scans on scratch keyspaces that it makes and drops, fits the parameters of the cost
model cassandra to what it measured, and writes them to a file for --cost of design and the setting cost of run. It wants an
idle cluster, and refuses one under load. docs/calibrate.md explains what is measured and how far the parameters are to be believed.

It is refused while the cluster is under load, or another calibration is at work.

` + exitsText(exitDone, exitFailed, exitUsage, exitRefused, exitUnreachable),
		RunE: func(c *cobra.Command, _ []string) error { return f.run(c) },
	}
	flags := c.Flags()
	f.connection.flags(flags)
	flags.StringVar(&f.out, "out", "calibration.yaml", "the file of parameters to write")
	flags.StringVar(&f.plot, "plot", "", "an SVG to write: the fit against the measurements")
	flags.StringVar(&f.measurements, "measurements", "", "fit the measurements of this file, as --json prints them, without a cluster")
	flags.StringVar(&f.Prefix, "keyspace", calibrate.DefaultPrefix, "what the names of the scratch keyspaces begin with")
	flags.IntVar(&f.Replication, "replication", 0, "replicas of each row in it; 0: 3, or as many as there are nodes")
	flags.StringVar(&f.Consistency, "consistency", "LOCAL_QUORUM", "the consistency level of reads and writes")
	f.Budget = 3 * time.Minute
	flags.Var((*span)(&f.Budget), "budget", "how long it may take, about; tables are loaded and five rounds measured in any case")
	flags.BoolVar(&f.Quick, "quick", false, "small tables: less exact, and done in half a minute with --budget 30s")
	flags.BoolVar(&f.Force, "force", false, "measure a cluster under load, too")
	flags.Int64Var(&f.Seed, "seed", 1, "of the data and of the order of measurements")
	flags.BoolVar(&f.json, "json", false, "print JSON, with all measurements")
	return c
}

func (f *calibrateFlags) run(c *cobra.Command) error {
	if err := calibrate.CheckConsistency(f.Consistency); err != nil {
		return usageError{err}
	}
	if err := scratch.CheckPrefix(f.Prefix); err != nil {
		return usageError{fmt.Errorf("--keyspace: %w", err)}
	}
	if f.Budget <= 0 || f.Replication < 0 {
		return usageError{fmt.Errorf("--budget %v, --replication %d: they can not be less than nothing", f.Budget, f.Replication)}
	}
	// Files that can not be written are known before minutes of measuring.
	var outputs []*outputFile
	defer func() {
		for _, o := range outputs {
			o.discard()
		}
	}()
	for _, name := range []string{f.out, f.plot} {
		if name == "" {
			continue
		}
		o, err := newOutputFile(name)
		if err != nil {
			return usageError{err}
		}
		outputs = append(outputs, o)
	}
	set, err := f.measured(c)
	if err != nil {
		return err
	}
	r, err := calibrate.Fit(set)
	if err != nil {
		return err
	}
	writers := map[string]func(io.Writer) error{f.plot: r.Plot, f.out: r.WriteParameters}
	for _, o := range outputs {
		if err := o.finish(writers[o.name]); err != nil {
			return err
		}
	}
	if f.json {
		return r.JSON(c.OutOrStdout())
	}
	if err := r.Text(c.OutOrStdout()); err != nil {
		return err
	}
	for _, o := range outputs {
		if _, err := fmt.Fprintln(c.OutOrStdout(), "wrote", o.name); err != nil {
			return err
		}
	}
	return nil
}

// measured measures, or reads what was measured.
func (f *calibrateFlags) measured(c *cobra.Command) (*calibrate.Set, error) {
	if f.measurements != "" {
		data, err := os.ReadFile(f.measurements)
		if err != nil {
			return nil, usageError{err}
		}
		set, err := calibrate.Read(f.measurements, data)
		if err != nil {
			return nil, usageError{err}
		}
		return set, nil
	}
	reached, err := f.sessions()
	if err != nil {
		return nil, err
	}
	o := f.Options
	o.Connect = func(node string) (*gocql.Session, error) { return reached.only(node, 4, 30*time.Second) }
	p := &calibrateProgress{out: c.ErrOrStderr()}
	o.Progress = p.tell
	set, err := calibrate.Measure(c.Context(), o)
	var (
		busy    *calibrate.BusyError
		other   *scratch.AtWorkError
		setting *calibrate.SettingError
		away    *calibrate.ConnectError
	)
	switch {
	case err == nil:
	case errors.As(err, &setting):
		err = usageError{err}
	case errors.As(err, &busy), errors.As(err, &other):
		err = exitError{err, exitRefused}
	case errors.As(err, &away):
		err = exitError{err, exitUnreachable}
	case errors.Is(err, context.Canceled):
		err = fmt.Errorf("stopped; nothing was written: %w", err)
	}
	return set, err
}

// calibrateProgress says now and then how far a calibration is.
type calibrateProgress struct {
	out   io.Writer
	last  time.Time
	phase string
}

func (p *calibrateProgress) tell(x calibrate.Progress) {
	if x.Text != "" {
		fmt.Fprintln(p.out, x.Text)
		return
	}
	if x.Phase == p.phase && time.Since(p.last) < often {
		return
	}
	p.phase, p.last = x.Phase, time.Now()
	fmt.Fprintf(p.out, "%s: %.0f %%, about %v left\n", x.Phase, 100*x.Done, x.Left.Round(time.Second))
}

// outputFile is a file that is there as a whole or not at all.
type outputFile struct {
	name string
	file *os.File // beside it; nil when done
}

func newOutputFile(name string) (*outputFile, error) {
	file, err := os.CreateTemp(filepath.Dir(name), "."+filepath.Base(name)+".*")
	if err != nil {
		return nil, fmt.Errorf("%s can not be written: %w", name, err)
	}
	return &outputFile{name, file}, nil
}

// finish writes the file and puts it in its place.
func (o *outputFile) finish(write func(io.Writer) error) error {
	err := errors.Join(write(o.file), o.file.Chmod(0o644), o.file.Close())
	if err == nil {
		err = os.Rename(o.file.Name(), o.name)
	}
	if err != nil {
		_ = os.Remove(o.file.Name())
		err = fmt.Errorf("%s could not be written: %w", o.name, err)
	}
	o.file = nil
	return err
}

// discard removes what was not finished.
func (o *outputFile) discard() {
	if o.file != nil {
		_ = o.file.Close()
		_ = os.Remove(o.file.Name())
	}
}
