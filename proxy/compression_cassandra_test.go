package proxy_test

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	apache "github.com/apache/cassandra-gocql-driver/v2"
	apachelz4 "github.com/apache/cassandra-gocql-driver/v2/lz4"
	"github.com/gocql/gocql"

	"github.com/helenus-db/helenus/proxy"
	"github.com/helenus-db/helenus/proxy/compress"
	"github.com/helenus-db/helenus/proxy/proxytest"
	"github.com/helenus-db/helenus/proxy/wire"
)

// lz4Compressor is gocql's lz4, which is a module of its own.
type lz4Compressor struct{}

func (lz4Compressor) Name() string { return "lz4" }
func (lz4Compressor) Encode(data []byte) ([]byte, error) {
	return proxytest.Compress(compress.LZ4, data), nil
}
func (lz4Compressor) Decode(data []byte) ([]byte, error) {
	n, _, err := compress.LZ4.Length(data)
	if err != nil {
		return nil, err
	}
	plain := make([]byte, n)
	return plain, compress.LZ4.Decode(plain, data)
}

// driver is what the sessions of the two drivers have in common.
type driver struct {
	exec func(text string, values ...any) error
	// scan reads one row of a text.
	scan  func(into any, text string, values ...any) error
	close func()
}

func gocqlSession(t *testing.T, address string, version int, c gocql.Compressor) driver {
	t.Helper()
	cluster := gocql.NewCluster(address)
	cluster.ProtoVersion, cluster.Compressor, cluster.NumConns = version, c, 1
	cluster.Timeout, cluster.ConnectTimeout = 2*time.Minute, 2*time.Minute
	s, err := cluster.CreateSession()
	if err != nil {
		t.Fatal(err)
	}
	return driver{
		func(text string, values ...any) error { return s.Query(text, values...).Exec() },
		func(into any, text string, values ...any) error { return s.Query(text, values...).Scan(into) }, s.Close,
	}
}

func apacheSession(t *testing.T, address string, version int, c apache.Compressor) driver {
	t.Helper()
	cluster := apache.NewCluster(address)
	cluster.ProtoVersion, cluster.Compressor, cluster.NumConns = version, c, 1
	cluster.Timeout, cluster.ConnectTimeout = 2*time.Minute, 2*time.Minute
	s, err := cluster.CreateSession()
	if err != nil {
		t.Fatal(err)
	}
	return driver{
		func(text string, values ...any) error { return s.Query(text, values...).Exec() },
		func(into any, text string, values ...any) error { return s.Query(text, values...).Scan(into) }, s.Close,
	}
}

// TestDriversCompressThroughTheProxy: real drivers and a real Cassandra, which agree on compression (or think so); long
// values both ways, and everything that the proxy says itself: a changed text, answers and refusals in Cassandra's place,
// requests that were held and forwarded with a timestamp.
func TestDriversCompressThroughTheProxy(t *testing.T) {
	points := realCassandra(t)
	for _, x := range []struct {
		name    string
		connect func(t *testing.T, address string) driver
	}{
		{"gocql v3 snappy", func(t *testing.T, a string) driver { return gocqlSession(t, a, 3, gocql.SnappyCompressor{}) }},
		{"gocql v4 snappy", func(t *testing.T, a string) driver { return gocqlSession(t, a, 4, gocql.SnappyCompressor{}) }},
		{"gocql v3 lz4", func(t *testing.T, a string) driver { return gocqlSession(t, a, 3, lz4Compressor{}) }},
		{"gocql v4 lz4", func(t *testing.T, a string) driver { return gocqlSession(t, a, 4, lz4Compressor{}) }},
		{"apache v4 lz4", func(t *testing.T, a string) driver { return apacheSession(t, a, 4, apachelz4.LZ4Compressor{}) }},
		{"apache v5 lz4", func(t *testing.T, a string) driver { return apacheSession(t, a, 5, apachelz4.LZ4Compressor{}) }},
		{"apache v5", func(t *testing.T, a string) driver { return apacheSession(t, a, 5, nil) }},
	} {
		for _, strip := range []bool{false, true} {
			t.Run(x.name+map[bool]string{true: " stripped"}[strip], func(t *testing.T) {
				recorder, w := &tally{}, &scripted{}
				s := startProxy(t, nil, proxy.Options{ContactPoints: points, Recorder: recorder, Rewriter: w, StripCompression: strip})
				await(t, s.Ready)
				through := x.connect(t, s.Addrs()[0])
				defer through.close()
				keyspace := fmt.Sprintf("proxy_c%d_%d", time.Now().UnixNano(), os.Getpid())
				run := func(text string, values ...any) {
					t.Helper()
					if err := through.exec(text, values...); err != nil {
						t.Fatalf("%s: %v", text, err)
					}
				}
				run("CREATE KEYSPACE " + keyspace + " WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}")
				defer run("DROP KEYSPACE " + keyspace)
				run("CREATE TABLE " + keyspace + ".t (a int PRIMARY KEY, b text)")
				insert := "INSERT INTO " + keyspace + ".t (a, b) VALUES (?, ?)"
				read := "SELECT b FROM " + keyspace + ".t WHERE a = ?"
				at := "SELECT WRITETIME(b) FROM " + keyspace + ".t WHERE a = ?"
				for i, n := range []int{0, 10, 1000, 100_000, 131_000, 400_000, 3_000_000} {
					value := strings.Repeat("value", n/5)
					run(insert, i, value)
					var got string
					if err := through.scan(&got, read, i); err != nil || got != value {
						t.Errorf("a value of %d bytes came back with %d: %v", n, len(got), err)
					}
				}
				await(t, func() bool { return len(recorder.find(insert)) == 7 && len(recorder.find(read)) == 7 })
				for i, y := range recorder.find(insert) {
					if n := []int{0, 10, 1000, 100_000, 131_000, 400_000, 3_000_000}[i]; y.RequestBytes < n || y.RequestBytes > n+100 {
						t.Errorf("a value of %d bytes is counted as a request of %d", n, y.RequestBytes)
					}
				}
				if y := recorder.find(read)[6]; y.Rows != 1 || y.ResponseBytes < 3_000_000 {
					t.Errorf("counted %+v", y)
				}
				if w.opaque.Load() != 0 {
					t.Error("a connection is not read")
				}

				// Now the proxy itself speaks.
				w.takes(func(r *proxy.Request) bool { go r.Forward(proxy.Forward{}); return true })
				w.set(insert, rule(""))
				run(insert, 100, strings.Repeat("taken", 10_000))
				var micros int64
				if err := through.scan(&micros, at, 100); err != nil || micros == 0 {
					t.Errorf("written at %d: %v", micros, err)
				}
				w.takes(func(r *proxy.Request) bool {
					r.Answer(proxy.Rows{{bytes.Repeat([]byte("answered "), 20_000)}})
					return true
				})
				w.set(read, rule(""))
				var got string
				if err := through.scan(&got, read, 1); err != nil || len(got) != 180_000 {
					t.Errorf("answered %d bytes: %v", len(got), err)
				}
				w.takes(func(r *proxy.Request) bool { r.Fail(wire.ErrInvalid, "the proxy says no"); return true })
				if err := through.scan(&got, read, 1); err == nil || !strings.Contains(err.Error(), "the proxy says no") {
					t.Errorf("refused: %v", err)
				}
				w.takes(nil)
				other := "SELECT b FROM " + keyspace + ".t WHERE a = ? ALLOW FILTERING"
				w.set(other, rule(read))
				if err := through.scan(&got, other, 2); err != nil || len(got) != 1000 {
					t.Errorf("with another text %d bytes: %v", len(got), err)
				}
			})
		}
	}
}

// TestCassandraTakesPlainAmongCompressed: what the proxy says to it, it says plain.
func TestCassandraTakesPlainAmongCompressed(t *testing.T) {
	points := realCassandra(t)
	for _, d := range dialects {
		if d.strip {
			continue
		}
		c, err := proxytest.Connect(points[0], d.version, d.options()...)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		text := "SELECT key FROM system.local WHERE key = 'local' /* " + strings.Repeat("long ", 50) + "*/"
		frame := c.Frame(1, wire.OpQuery, 0, proxytest.QueryBody(d.version, text))
		for _, b := range [][]byte{c.Framing().Append(nil, frame), c.Framing().AppendPlain(nil, frame), c.Framing().Append(nil, frame)} {
			if _, err := c.Conn.Write(b); err != nil {
				t.Fatal(err)
			}
			if h, body, err := c.Read(); err != nil || h.Opcode != wire.OpResult {
				t.Errorf("%s: answered %+v %q %v", d.name, h, body, err)
			}
		}
	}
}
