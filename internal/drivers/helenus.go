package drivers

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/helenus-db/helenus/internal/child"
)

// Helenus is the real binary, running as a process of its own.
type Helenus struct {
	Listen []string // host:port of each listener, the first node's first

	binary, admin string
	state         string // its directory
	args          []string
	process       *child.Process
	log           buffer
}

// buffer is what a process prints, to be read while it runs.
type buffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

// Build builds helenus into a directory, with the race detector or without.
func Build(ctx context.Context, dir string, race bool) (binary string, err error) {
	binary = filepath.Join(dir, "helenus")
	args := []string{"build", "-o", binary}
	if race {
		args = append(args, "-race")
	}
	return binary, run(ctx, "", "go", append(args, "github.com/helenus-db/helenus/cmd/helenus")...)
}

// Front is what drivers connect to: one helenus with a listener for each node, or the members of a fleet with one each.
type Front []*Helenus

// Listen is host:port of every listener.
func (f Front) Listen() (list []string) {
	for _, h := range f {
		list = append(list, h.Listen...)
	}
	return list
}

// Through prepares a helenus in front of contact points, with n listeners and further flags; Start starts it. Each
// listener has an address of its own: gocql takes hosts of one address for one host whatever their ports, and then knows
// no tokens and no second host.
func Through(binary, state string, contactPoints []string, n int, flags ...string) (Front, error) {
	listen, admin, err := free(n, 1)
	if err != nil {
		return nil, err
	}
	return Front{prepare(binary, state, contactPoints, listen, admin[0], flags...)}, nil
}

// Fleet prepares n helenus that show one another as the nodes, as Through does one.
func Fleet(binary, state string, contactPoints []string, n int, flags ...string) (Front, error) {
	listen, admin, err := free(n, n)
	if err != nil {
		return nil, err
	}
	var f Front
	for i := range n {
		f = append(f, prepare(binary, filepath.Join(state, strconv.Itoa(i)), contactPoints, listen[i:i+1], admin[i],
			append([]string{"--topology", "fleet", "--fleet", strings.Join(listen, ",")}, flags...)...))
	}
	return f, nil
}

func prepare(binary, state string, contactPoints, listen []string, admin string, flags ...string) *Helenus {
	return &Helenus{Listen: listen, binary: binary, admin: admin, state: state, args: append([]string{"run", "--contact-points", strings.Join(contactPoints, ","),
		"--listen", strings.Join(listen, ","), "--admin", admin, "--state-dir", state, "--log-level", "debug"}, flags...)}
}

// free finds n addresses of the loopback on which one port is free, and as many others as asked for.
func free(n, others int) (list, rest []string, err error) {
	for range 50 {
		if list, err = addresses(n + others); err == nil {
			return list[:n], list[n:], nil
		}
	}
	return nil, nil, fmt.Errorf("drivers: no port that is free on %d loopback addresses: %w", n+others, err)
}

// addresses tries a port on the first n addresses of a network of the loopback.
func addresses(n int) (list []string, err error) {
	network, port := fmt.Sprintf("127.%d.%d.", 1+rand.IntN(254), rand.IntN(256)), "0"
	for i := range n {
		l, err := net.Listen("tcp", net.JoinHostPort(network+strconv.Itoa(i+1), port))
		if err != nil {
			return nil, err
		}
		defer l.Close() //nolint:errcheck // it is only tried
		if list = append(list, l.Addr().String()); i == 0 {
			_, port, _ = net.SplitHostPort(list[0])
		}
	}
	return list, nil
}

// Add adds flags to those that it is started with.
func (h *Helenus) Add(flags ...string) { h.args = append(h.args, flags...) }

// Start starts it and waits until it is ready.
func (h *Helenus) Start(ctx context.Context) error {
	if err := h.launch(); err != nil {
		return err
	}
	return h.ready(ctx)
}

// TakeOver starts another one in its place, which takes its sockets over, and waits until the one has ended and the other is ready. Error:
// as of Start and Stop.
func (h *Helenus) TakeOver(ctx context.Context) error {
	before := h.process
	if err := h.launch("--take-over"); err != nil {
		return err
	}
	select {
	case <-before.Done():
	case <-ctx.Done():
		return fmt.Errorf("drivers: the helenus that is taken over from does not end: %w", ctx.Err())
	}
	return errors.Join(before.Wait(), h.sound(), h.ready(ctx))
}

func (h *Helenus) launch(flags ...string) error {
	cmd := exec.Command(h.binary, append(slices.Clone(h.args), flags...)...)
	cmd.Stdout, cmd.Stderr = &h.log, &h.log
	var err error
	if h.process, err = child.Start(cmd); err != nil {
		return fmt.Errorf("drivers: starting helenus: %w", err)
	}
	return nil
}

// ready waits until it is.
func (h *Helenus) ready(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return fmt.Errorf("drivers: helenus is not ready: %w", ctx.Err())
		case <-h.process.Done():
			return fmt.Errorf("drivers: helenus has ended: %w\n%s", h.process.Wait(), h.Log())
		case <-time.After(50 * time.Millisecond):
		}
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+h.admin+"/readyz", nil)
		if err != nil {
			return err
		}
		if a, err := http.DefaultClient.Do(r); err == nil {
			_ = a.Body.Close() // nothing is read from it
			if a.StatusCode == http.StatusOK {
				return nil
			}
		}
	}
}

// Stop asks it to end, as an operator does, and waits. Error: it ended with another status than 0, or had to be killed,
// or the race detector found something.
func (h *Helenus) Stop() error {
	if !h.process.Running() {
		return nil
	}
	h.process.Terminate()
	var err error
	select {
	case <-h.process.Done():
		err = h.process.Wait()
	case <-time.After(5 * time.Minute):
		h.process.Kill()
		err = errors.New("helenus did not end within five minutes of SIGTERM")
	}
	return errors.Join(err, h.sound())
}

// sound looks through the log for what must not be there.
func (h *Helenus) sound() error {
	log := h.log.String()
	if at := max(strings.Index(log, "DATA RACE"), strings.Index(log, "panic:")); at >= 0 {
		return fmt.Errorf("helenus: %.4000s", log[at:])
	}
	return nil
}

// Kill ends it as a crash does, and waits.
func (h *Helenus) Kill() {
	h.process.Kill()
	<-h.process.Done()
}

// Log returns the end of what it printed.
func (h *Helenus) Log() string {
	text := h.log.String()
	return text[max(0, len(text)-6000):]
}
