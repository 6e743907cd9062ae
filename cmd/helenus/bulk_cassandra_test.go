package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gocql/gocql"

	"github.com/helenus-db/helenus/internal/admin"
	"github.com/helenus-db/helenus/internal/cassandra"
	"github.com/helenus-db/helenus/internal/cassandra/cassandratest"
	"github.com/helenus-db/helenus/internal/long"
	"github.com/helenus-db/helenus/rewrite/migrate"
)

// sparkVersion is of the Spark that runs the script here.
const sparkVersion = "3.5.8"

// spark returns spark-submit, and how to call it: what PyPI has as pyspark, fetched once into the cache.
func spark(t *testing.T) (program string, env []string) {
	t.Helper()
	cache, err := cassandra.CacheDir()
	if err != nil {
		t.Fatal(err)
	}
	home := filepath.Join(cache, "spark-"+sparkVersion)
	if _, err := os.Stat(home); err != nil {
		work := t.TempDir()
		for _, args := range [][]string{
			{"python3", "-m", "venv", filepath.Join(work, "venv")},
			{filepath.Join(work, "venv", "bin", "pip"), "install", "-q", "--disable-pip-version-check", "--target", filepath.Join(work, "spark"), "pyspark==" + sparkVersion},
			{"mkdir", "-p", cache},
			{"cp", "-r", filepath.Join(work, "spark"), home + ".part"},
			{"mv", home + ".part", home},
		} {
			if out, err := exec.Command(args[0], args[1:]...).CombinedOutput(); err != nil { //nolint:gosec // what stands above
				t.Fatalf("%v: %v\n%s", args, err, out)
			}
		}
	}
	return filepath.Join(home, "pyspark", "bin", "spark-submit"), []string{"SPARK_HOME=" + filepath.Join(home, "pyspark"), "PYTHONPATH=" + home, "SPARK_LOCAL_IP=127.0.0.1"}
}

// TestSparkFillsALookUp has Spark fill a look-up of a real Cassandra by the script of `helenus bulk`, while the application writes: every row has the entry that
// Helenus itself would have written, at its cell's time, and what verifies afterwards finds nothing missing.
func TestSparkFillsALookUp(t *testing.T) {
	contact := cassandratest.ContactPoints(t)[0]
	long.Only(t, "it fetches Spark, 300 MB")
	program, env := spark(t)
	for _, e := range env {
		name, value, _ := strings.Cut(e, "=")
		t.Setenv(name, value)
	}
	direct := session(t, contact)
	s := newShop(t, direct)
	defer must(t, direct, "DROP KEYSPACE "+s.keyspace)
	row := "INSERT INTO " + s.table() + " (day, number, customer, total) VALUES (?, ?, ?, ?)"
	must(t, direct, row+" USING TIMESTAMP 12345 AND TTL 90000", 1, 3_000_001, "expires", 1)
	must(t, direct, row, 1, 3_000_002, nil, 1)
	must(t, direct, row, 1, 3_000_003, "", 1)
	must(t, direct, row, 1, 3_000_004, "quotes \"\"\" ' \\ ü\x00", 1)
	latest := int64(1<<31-2) - time.Now().Unix() // for which Cassandra lets a cell live
	must(t, direct, fmt.Sprintf("%s USING TTL %d", row, latest-20_000), 1, 3_000_005, "nearly for ever", 1)
	p := s.process(contact)
	id, lookUp := s.propose(p)
	if err := p.client().Post(context.Background(), "changes/"+id+"/approve", admin.Decision{Actor: "test", Fill: migrate.FillBulk}, &migrate.Change{}); err != nil {
		t.Fatal(err)
	}
	await(t, "it waits for the bulk job", func() bool {
		m := p.migration(id)
		return m.State == migrate.Backfill && m.Progress.Throttled == migrate.WaitsForBulk
	})
	stop := s.write(p.listen)
	host, port, _ := strings.Cut(contact, ":")
	began := time.Now()
	code, out := command(t, p, "bulk", id, "--submit", "--spark-submit", program, "--", "--master", "local[2]", "--conf", "spark.ui.enabled=false", "--driver-memory", "1g",
		"--conf", "spark.cassandra.connection.host="+host, "--conf", "spark.cassandra.connection.port="+port, "--conf", "spark.sql.shuffle.partitions=4")
	written, failed := stop()
	if code != exitDone {
		t.Fatalf("it ended with %d:\n%s", code, out)
	}
	for line := range strings.SplitSeq(out, "\n") {
		if strings.HasPrefix(line, "helenus-bulk:") {
			t.Logf("%s; with Spark's start %v; meanwhile %d statements were written, %d failed", line, time.Since(began).Round(time.Second), written, failed)
		}
	}
	through := session(t, p.listen)
	m := s.serving(p, id, through)
	if m.Repaired != 0 {
		t.Errorf("verification had to repair %d entries", m.Repaired)
	}
	s.same(through)
	// Rows that nobody wrote meanwhile have the entry of their cell.
	iter := direct.Query("SELECT day, number, customer, WRITETIME(customer), TTL(customer) FROM " + s.table()).Iter()
	var day, number int
	var who *string
	var at int64
	var ttl *int
	entries, expiring := 0, 0
	for iter.Scan(&day, &number, &who, &at, &ttl) {
		if who == nil || *who == "" || number < contended {
			continue
		}
		var kind int8
		var entry, entryAt int64
		var entryTTL *int
		err := direct.Query(fmt.Sprintf("SELECT entry_kind, entry_id, WRITETIME(written), TTL(written) FROM %s WHERE customer = ? AND day = ? AND number = ? AND entry_kind = 0 AND entry_id = 0", lookUp),
			*who, day, number).Consistency(gocql.Quorum).Scan(&kind, &entry, &entryAt, &entryTTL)
		if err != nil {
			t.Fatalf("the entry of (%d, %d) %q: %v", day, number, *who, err)
		}
		entries++
		switch {
		case entryAt != at:
			t.Errorf("the entry of (%d, %d) is of %d, its cell of %d", day, number, entryAt, at)
		case *who == "expires":
			expiring++
			if ttl == nil || entryTTL == nil || *entryTTL-*ttl < 3590 || *entryTTL-*ttl > 3600+600 {
				t.Errorf("the entry lives for %v s, its cell for %v", entryTTL, ttl)
			}
		case entryTTL != nil:
			t.Errorf("the entry of (%d, %d) expires", day, number)
		}
	}
	if err := iter.Close(); err != nil {
		t.Fatal(err)
	}
	if entries < orders-contended || expiring != 1 {
		t.Errorf("%d entries were looked at, %d of cells that expire", entries, expiring)
	}
	if code, out := command(t, p, "bulk", id, "--done"); code != exitRefused {
		t.Errorf("done while it serves: %d, %s", code, out)
	}
}
