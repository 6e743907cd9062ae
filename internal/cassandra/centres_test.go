package cassandra

import (
	"testing"

	"github.com/helenus-db/helenus/internal/long"
)

// TestDataCentres: each node says that it is where it was put.
func TestDataCentres(t *testing.T) {
	long.Only(t, "several nodes, or starts, take a minute")
	centres := []string{"east", "west"}
	c := startCluster(t, Options{Nodes: 2, DataCentres: centres})
	for i, want := range centres {
		var got string
		if err := open(t, c.Node(i)).Query("SELECT data_center FROM system.local").Scan(&got); err != nil || got != want {
			t.Errorf("node %d is in %q, %v; want %s", i, got, err, want)
		}
	}
}
