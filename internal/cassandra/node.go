package cassandra

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/helenus-db/helenus/internal/child"
)

// Node is one member of a cluster. Its methods may be called from several goroutines; a start and a stop exclude
// each other.
type Node struct {
	cluster *Cluster
	token   int64
	joins   bool // a cluster that has data: it streams its part
	addr    netip.AddrPort
	jmx     uint16
	dir     string
	centre  string // its data centre; "": Cassandra's default

	mu    sync.Mutex                    // held while the state changes
	proc  atomic.Pointer[child.Process] // nil before the first start
	ended atomic.Pointer[child.Process] // the last one that was ended by us
	kills atomic.Int64                  // see memoryKills, at the start
}

const logbackConfig = `<configuration>
  <appender name="OUT" class="ch.qos.logback.core.ConsoleAppender">
    <encoder><pattern>%-5level %d{HH:mm:ss.SSS} [%thread] %logger{20} %msg%n</pattern></encoder>
  </appender>
  <root level="INFO"><appender-ref ref="OUT"/></root>
</configuration>
`

// Addr returns the host:port of the native protocol.
func (n *Node) Addr() string { return n.addr.String() }

// LogFile returns the path of the node's log, to which every start appends.
func (n *Node) LogFile() string { return filepath.Join(n.dir, "cassandra.log") }

// Pid returns the process id, or 0 when the node does not run.
func (n *Node) Pid() int {
	if p := n.proc.Load(); p.Running() {
		return p.Pid()
	}
	return 0
}

// exhausted is the status that Java exits with when its heap is full (-XX:+ExitOnOutOfMemoryError).
const exhausted = 3

// Died says how the node's process ended, with the end of its log; nil if it runs, or was ended by Stop or Kill, or never started.
func (n *Node) Died() error {
	p := n.proc.Load()
	if p == nil || p.Running() || n.ended.Load() == p {
		return nil
	}
	cause := p.Wait()
	if cause == nil {
		cause = errEnded
	}
	why := ""
	var exit *exec.ExitError
	if errors.As(cause, &exit) {
		switch {
		case exit.ExitCode() == exhausted:
			why = fmt.Sprintf(": its heap of %s is full", n.cluster.opt.Heap)
		case exit.ExitCode() < 0 && memoryKills() > n.kills.Load(): // by a signal
			why = ": since it was started the kernel has killed processes for want of memory: give it less heap, or run less beside it"
		}
	}
	log, _ := os.ReadFile(n.LogFile())
	return fmt.Errorf("cassandra: the node at %s has died (%w)%s; the end of its log:\n%s", n.addr, cause, why, lastLines(log, 12))
}

// Start starts the node on its data and its ports, and returns when it answers statements and sees the other running
// nodes. A node that runs already is left as it is. On failure the error ends with the last lines of the log, and the
// node does not run.
func (n *Node) Start(ctx context.Context) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.proc.Load().Running() {
		return nil
	}
	begin := time.Now()
	if err := n.launch(); err != nil {
		return fmt.Errorf("cassandra: starting the node at %s: %w", n.addr, err)
	}
	n.cluster.opt.Log.Info("Cassandra node started", "addr", n.addr.String(), "pid", n.Pid(), "log", n.LogFile())
	wait, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	if err := n.await(wait); err != nil {
		n.end()
		log, _ := os.ReadFile(n.LogFile())
		return fmt.Errorf("cassandra: the node at %s did not become ready within %.0f s: %w; the end of its log:\n%s",
			n.addr, time.Since(begin).Seconds(), err, lastLines(log, 12))
	}
	n.cluster.opt.Log.Info("Cassandra node ready", "addr", n.addr.String(), "after", time.Since(begin).Round(time.Millisecond))
	return nil
}

// Stop ends the node cleanly: it flushes, and closes its connections. Its data and ports stay, so Start brings it back.
func (n *Node) Stop() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	p := n.proc.Load()
	if !p.Running() {
		return nil
	}
	n.ended.Store(p)
	p.Terminate()
	select {
	case <-p.Done():
	case <-time.After(stopTimeout):
		n.end()
		return fmt.Errorf("cassandra: the node at %s did not stop within %s and was killed", n.addr, stopTimeout)
	}
	n.cluster.opt.Log.Info("Cassandra node stopped", "addr", n.addr.String())
	return nil
}

// Kill ends the node as a crash does (SIGKILL). Its data and ports stay, so Start brings it back, by way of its
// commit log. Cassandra replays a commit log up to its last marker, so that writes acknowledged in the last tenth of a
// second or so are lost; a test that must not lose any sets Durable in Options.
func (n *Node) Kill() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.proc.Load().Running() {
		n.end()
		n.cluster.opt.Log.Info("Cassandra node killed", "addr", n.addr.String())
	}
	return nil
}

// NodeTool runs a nodetool command against the node and returns what it printed. It takes about two seconds, most
// of them the start of a Java of its own.
func (n *Node) NodeTool(ctx context.Context, args ...string) (string, error) {
	java := []string{
		"@" + n.optionsFile(), "-Xmx64m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1",
		"-Dcom.sun.jndi.rmiURLParsing=legacy", // without it new Javas refuse the tool's own JMX address
		"-Duser.home=" + n.dir,                // where the tool keeps a history of commands
		"-Dlogback.configurationFile=" + n.logbackFile(),
		"-cp", filepath.Join(n.cluster.lib, "*"),
		"org.apache.cassandra.tools.NodeTool", "-h", "127.0.0.1", "-p", strconv.Itoa(int(n.jmx)),
	}
	out, err := run(ctx, exec.Command(n.cluster.java, append(java, args...)...))
	if err != nil {
		return "", fmt.Errorf("cassandra: nodetool %q on %s: %w\n%s", args, n.addr, err, lastLines(out, 10))
	}
	return string(out), nil
}

// end kills the process and waits until it is reaped. The caller holds the lock.
func (n *Node) end() {
	p := n.proc.Load()
	n.ended.Store(p)
	p.Kill()
	<-p.Done()
}

func (n *Node) configFile() string  { return filepath.Join(n.dir, "conf", "cassandra.yaml") }
func (n *Node) optionsFile() string { return filepath.Join(n.dir, "conf", "jvm.options") }
func (n *Node) placeFile() string   { return filepath.Join(n.dir, "conf", "cassandra-rackdc.properties") }
func (n *Node) logbackFile() string { return filepath.Join(n.dir, "conf", "logback.xml") }

// launch writes the configuration and starts the process.
func (n *Node) launch() error {
	conf := filepath.Dir(n.configFile())
	if err := os.MkdirAll(conf, 0o750); err != nil {
		return err
	}
	config, err := n.config()
	if err != nil {
		return err
	}
	for path, content := range map[string][]byte{n.configFile(): config, n.logbackFile(): []byte(logbackConfig), n.optionsFile(): jvmOptions,
		n.placeFile(): []byte("dc=" + n.centre + "\nrack=rack1\n")} {
		if err := os.WriteFile(path, content, 0o600); err != nil {
			return err
		}
	}
	agent, err := agentJar(n.cluster.lib)
	if err != nil {
		return err
	}
	log, err := os.OpenFile(n.LogFile(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer func() { _ = log.Close() }() // the child has its own copy
	heap, ringDelay := n.cluster.opt.Heap, 1000
	if n.joins { // it has to hear of the schema before it knows what to stream
		ringDelay = 4000
	}
	if n.centre != "" { // which nobody waits for, but a node that has not heard of the others by then ends: a busy machine takes its time
		ringDelay = 20000
	}
	compiler := "-XX:TieredStopAtLevel=4" // both of Java's compilers
	if n.cluster.opt.Brief || testing.Testing() {
		compiler = "-XX:TieredStopAtLevel=1" // the first alone
	}
	cmd := exec.Command(n.cluster.java,
		"@"+n.optionsFile(), "-javaagent:"+agent, compiler,
		"-Xms"+heap, "-Xmx"+heap, "-Xss512k", "-XX:+UseSerialGC", "-XX:+PerfDisableSharedMem", "-XX:+ExitOnOutOfMemoryError",
		"-Djdk.attach.allowAttachSelf=true",
		"-Dcassandra.config=file://"+n.configFile(),
		"-Dcassandra-rackdc.properties=file://"+n.placeFile(),
		"-Dlogback.configurationFile="+n.logbackFile(),
		"-Dcassandra.storagedir="+n.dir,
		"-Dcassandra-foreground=yes",
		"-Dcassandra.ring_delay_ms="+strconv.Itoa(ringDelay),
		"-Dcassandra.skip_wait_for_gossip_to_settle=0",
		"-Dcassandra.superuser_setup_delay_ms=0",
		"-Dcassandra.shutdown_announce_in_ms=200", // of 2000: the wait of a node that stops
		"-Dcassandra.jmx.local.port="+strconv.Itoa(int(n.jmx)),
		"-Djava.io.tmpdir="+conf,
		"-cp", filepath.Join(n.cluster.lib, "*"),
		"org.apache.cassandra.service.CassandraDaemon")
	cmd.Dir = n.dir
	cmd.Stdout, cmd.Stderr = log, log
	n.kills.Store(memoryKills())
	p, err := child.Start(cmd)
	if err == nil {
		n.proc.Store(p)
	}
	return err
}

// config renders cassandra.yaml, as JSON, which is YAML. All its keys are known to 4.1 and to 5.0.
func (n *Node) config() ([]byte, error) {
	c := n.cluster
	settings := map[string]any{
		"cluster_name":                   "helenus",
		"num_tokens":                     1,
		"initial_token":                  strconv.FormatInt(n.token, 10),
		"auto_bootstrap":                 n.joins, // a new cluster has nothing to stream
		"partitioner":                    "org.apache.cassandra.dht.Murmur3Partitioner",
		"commitlog_sync":                 "periodic",
		"commitlog_sync_period":          "1000ms",
		"data_file_directories":          []string{filepath.Join(n.dir, "data")},
		"commitlog_directory":            filepath.Join(n.dir, "commitlog"),
		"hints_directory":                filepath.Join(n.dir, "hints"),
		"saved_caches_directory":         filepath.Join(n.dir, "saved_caches"),
		"cdc_raw_directory":              filepath.Join(n.dir, "cdc"),
		"listen_address":                 n.addr.Addr().String(),
		"rpc_address":                    n.addr.Addr().String(),
		"native_transport_port":          n.addr.Port(),
		"storage_port":                   c.storagePort,
		"endpoint_snitch":                "SimpleSnitch",
		"memtable_heap_space":            "64MiB",
		"memtable_offheap_space":         "64MiB",
		"commitlog_segment_size":         "8MiB",
		"commitlog_total_space":          "64MiB",
		"auto_snapshot":                  false,
		"materialized_views_enabled":     true,
		"user_defined_functions_enabled": true,
		"sasi_indexes_enabled":           true,
		"seed_provider": []any{map[string]any{
			"class_name": "org.apache.cassandra.locator.SimpleSeedProvider",
			"parameters": []any{map[string]any{
				"seeds": netip.AddrPortFrom(c.Node(0).addr.Addr(), c.storagePort).String(),
			}},
		}},
	}
	if n.centre != "" {
		settings["endpoint_snitch"] = "GossipingPropertyFileSnitch" // which reads placeFile
	}
	if c.opt.Durable {
		settings["commitlog_sync"] = "batch"
		delete(settings, "commitlog_sync_period")
	}
	maps.Copy(settings, c.opt.Extra)
	if v, ok := c.opt.Extra["num_tokens"]; ok && v != 1 { // vnodes choose their tokens themselves
		delete(settings, "initial_token")
	}
	text, err := json.MarshalIndent(settings, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("extra settings cannot be written as YAML: %w", err)
	}
	return text, nil
}

// token returns the token of node i of n, so that each owns an equal part of the ring.
func token(i, n int) int64 {
	width := math.MaxUint64 / uint64(n)
	return math.MinInt64 + 1 + int64(uint64(i)*width)
}
