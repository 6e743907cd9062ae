package solve

import (
	"context"
	"encoding/gob"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

// Variable is the environment variable that names the solver's program where Config.Path does not: that of the setting solver.
const Variable = "HELENUS_SOLVER"

// program is the solver's name.
const program = "helenus-solver"

// MissingError says why there is no exact solver, and what to do. Designs are made without it then, by the Heuristic.
type MissingError struct {
	Path string // the program that was refused; "": none was found
	Why  string
}

func (e *MissingError) Error() string {
	text := "no exact solver: "
	if e.Path != "" {
		text += e.Path + " "
	}
	return text + e.Why
}

// Unwrap is ErrNoSimplex.
func (e *MissingError) Unwrap() error { return ErrNoSimplex }

// Ready returns nil if there is a solver that speaks as this program does, or else a *MissingError. It looks where Config.Path says; else where the environment does (Variable);
// else for helenus-solver beside the running program, and in PATH. What was not there, or was refused, before is looked for anew.
func (w *Process) Ready() error {
	w.mu.Lock()
	w.path, w.missing = "", nil
	w.mu.Unlock()
	path, missing := w.programPath()
	if missing == nil {
		missing = w.greetWorker(path)
	}
	if missing != nil {
		return w.rememberMissing(missing)
	}
	return nil
}

// programPath is the path of the solver.
func (w *Process) programPath() (string, *MissingError) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.path == "" && w.missing == nil {
		w.path, w.missing = findProgram(w.config.Path)
	}
	return w.path, w.missing
}

// rememberMissing remembers why there is no solver.
func (w *Process) rememberMissing(missing *MissingError) *MissingError {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.missing = missing
	return missing
}

// findProgram looks for the solver.
func findProgram(path string) (string, *MissingError) {
	if path == "" {
		path = os.Getenv(Variable)
	}
	if path != "" {
		found, err := exec.LookPath(path)
		if err != nil {
			return "", &MissingError{path, "which the setting solver names can not be run: " + err.Error()}
		}
		return found, nil
	}
	beside := "the folder of this program"
	if self, err := os.Executable(); err == nil {
		beside = filepath.Dir(self)
		if found, err := exec.LookPath(filepath.Join(beside, program)); err == nil {
			return found, nil
		}
	}
	if found, err := exec.LookPath(program); err == nil {
		return found, nil
	}
	return "", &MissingError{"", fmt.Sprintf("%s is neither in %s nor in PATH: put there the one that came with this program (`make build` makes both), or name it by the setting solver", program, beside)}
}

// greetWorker starts the solver and hears whether it speaks as this program does.
func (w *Process) greetWorker(path string) *MissingError {
	runtime.LockOSThread() // as in call
	defer runtime.UnlockOSThread()
	ctx, cancel := context.WithTimeout(context.Background(), greetWithin)
	defer cancel()
	words := &tail{}
	command := w.workerCommand(ctx, path, words)
	out, err := command.StdoutPipe()
	if err != nil {
		return &MissingError{path, "can not be started: " + err.Error()}
	}
	if err := command.Start(); err != nil {
		return &MissingError{path, "can not be started: " + err.Error()}
	}
	stranger := readGreeting(gob.NewDecoder(out))
	if stranger == nil {
		_ = command.Process.Kill() // it has nothing to do
	}
	ended := command.Wait()
	if stranger != nil {
		return stranger.missingError(path, words.String(), ended)
	}
	return nil
}

// greetWithin is how long a solver may take to start.
const greetWithin = 10 * time.Second

// strangerError is of a program that does not greet as this one expects.
type strangerError struct{ said string } // "": nothing that could be understood

func (e *strangerError) Error() string { return "it did not greet as a solver" }

// readGreeting reads a worker's first words.
func readGreeting(from *gob.Decoder) *strangerError {
	var first reply
	if err := from.Decode(&first); err != nil || first.Greeting != Protocol {
		return &strangerError{first.Greeting}
	}
	return nil
}

// missingError says what is wrong with the program.
func (e *strangerError) missingError(path, words string, ended error) *MissingError {
	switch {
	case e.said != "":
		return &MissingError{path, fmt.Sprintf("speaks %q, and this program %q: take the %s that came with this program", e.said, Protocol, program)}
	case strings.Contains(words, "shared libraries"):
		return &MissingError{path, "lacks libraries (" + words + "): install COIN-OR, Debian's coinor-libcbc3 and coinor-libclp1, Fedora's coin-or-Cbc"}
	case words != "":
		return &MissingError{path, "is no solver: it did not greet, and said: " + words}
	}
	return &MissingError{path, fmt.Sprintf("is no solver: it did not greet (%v)", ended)}
}
