package main

import (
	"bufio"
	crypto "crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"runtime"
	"runtime/pprof"
	"strings"
	"syscall"
	"time"

	"github.com/helenus-db/helenus/internal/child"
)

// The bench is several processes of one program: the one that was called is the client, and starts the others by calling
// itself with roleVariable set to a role and the address to relay to. A child says on its standard output where it
// listens, and then one line for every line that it reads: its use of the machine until now. It ends with its input.
const roleVariable = "HELENUS_BENCH_ROLE"

// usage is what a process has used since it began.
type usage struct {
	Addr     string        `json:"addr"`
	CPU      time.Duration `json:"cpu"`   // user and system time when it was asked
	Since    time.Duration `json:"since"` // the same when it answered: the answer's own cost lies between
	Mallocs  uint64        `json:"mallocs"`
	Resident int64         `json:"resident"` // bytes now
	Sampling bool          `json:"sampling"` // a value window is open now
	Requests uint64        `json:"requests"` // that Helenus counted
	Failures uint64        `json:"failures"`
}

// serve is a child's life. It returns its exit status.
func serve(role string) int {
	name, target, _ := strings.Cut(role, " ")
	var own usage
	update := func() {}
	failed := make(chan error, 1)
	var tls *secured
	if files := os.Getenv(tlsVariable); files != "" {
		var err error
		if tls, err = load(files); err != nil {
			return complain(err)
		}
	}
	if strings.HasPrefix(name, "helenus") {
		r, err := startHelenus(target, name, tls)
		if err != nil {
			return complain(err)
		}
		own.Addr = r.server.Addrs()[0]
		update = func() {
			s := r.server.Stats()
			own.Sampling, own.Requests, own.Failures = r.sampling(), s.Requests, s.Failures
		}
	} else {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return complain(err)
		}
		own.Addr = l.Addr().String()
		if tls != nil {
			l = crypto.NewListener(l, tls.server)
		}
		go func() {
			if name == "backend" {
				failed <- backend(l)
			} else {
				failed <- splice(l, target, tls)
			}
		}()
	}
	lines, out := bufio.NewScanner(os.Stdin), json.NewEncoder(os.Stdout)
	if err := out.Encode(own); err != nil {
		return complain(err)
	}
	for lines.Scan() {
		command, argument, _ := strings.Cut(lines.Text(), " ")
		switch command {
		case "profile":
			if err := profile(argument); err != nil {
				return complain(err)
			}
		case "garbage":
			garbage()
		}
		own.CPU = cpuTime()
		select {
		case err := <-failed:
			return complain(err)
		default:
		}
		update()
		if err := own.measure(); err != nil {
			return complain(err)
		}
		if err := out.Encode(own); err != nil {
			return complain(err)
		}
	}
	return 0
}

func complain(err error) int {
	_, _ = fmt.Fprintln(os.Stderr, os.Getenv(roleVariable)+":", err)
	return 1
}

// profile begins a CPU profile into a file; "" ends it.
func profile(file string) error {
	if file == "" {
		pprof.StopCPUProfile()
		return nil
	}
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	return pprof.StartCPUProfile(f)
}

func (u *usage) measure() error {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	u.Mallocs = m.Mallocs
	b, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return err
	}
	var pages int64
	if _, err := fmt.Sscan(string(b), new(int64), &pages); err != nil {
		return err
	}
	u.Resident = pages * int64(os.Getpagesize())
	u.Since = cpuTime()
	return nil
}

// cpuTime is what the process has used until now.
func cpuTime() time.Duration {
	var r syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &r) // can not fail for itself
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}

// process is a child, from outside.
type process struct {
	role  string
	addr  string
	child *child.Process
	in    io.WriteCloser
	out   *bufio.Scanner

	profiled bool // until it is stopped
}

// spawn starts a child in a role, before target if it is a relay.
func spawn(role, target string, tls *secured) (*process, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	c := exec.Command(self)
	c.Env = append(os.Environ(), roleVariable+"="+role+" "+target)
	if tls != nil {
		c.Env = append(c.Env, tlsVariable+"="+tls.files)
	}
	c.Stderr = os.Stderr
	in, err := c.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := c.StdoutPipe()
	if err != nil {
		return nil, err
	}
	p := &process{role: role, in: in, out: bufio.NewScanner(out)}
	if p.child, err = child.Start(c); err != nil {
		return nil, err
	}
	u, err := p.read()
	p.addr = u.Addr
	return p, err
}

func (p *process) read() (u usage, err error) {
	if !p.out.Scan() {
		return u, fmt.Errorf("the %s process ended: %w", p.role, errors.Join(p.out.Err(), io.EOF))
	}
	return u, json.Unmarshal(p.out.Bytes(), &u)
}

// ask sends a command, "" for none, and returns what the process has used until now.
func (p *process) ask(command string) (usage, error) {
	if _, err := io.WriteString(p.in, command+"\n"); err != nil {
		return usage{}, fmt.Errorf("the %s process: %w", p.role, err)
	}
	return p.read()
}

func (p *process) stop() {
	if p.profiled {
		_, _ = p.ask("profile") // else it ended, and said why
	}
	p.in.Close()
	p.child.Stop(5 * time.Second)
}
