package infer_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/helenus-db/helenus/advisor/infer"
	"github.com/helenus-db/helenus/advisor/infer/infertest"
)

// TestDifferentAnyway: that rows have a value each says something of them only where it would be odd if they were drawn as they come.
func TestDifferentAnyway(t *testing.T) {
	for _, x := range []struct {
		rows, keys float64
		anyway     bool
	}{
		{278, 19920, true},    // a table that was measured while it was filled
		{19000, 19920, false}, // nearly all of them: by chance a third would be there twice
		{2000, 19920, false},
		{30, 40, false},
		{500, 0, false}, // not known of how many
		{0, 100, false},
	} {
		if got := infer.DifferentAnyway(x.rows, x.keys); got != x.anyway {
			t.Errorf("%.0f rows of %.0f keys: %v", x.rows, x.keys, got)
		}
	}
}

// TestRoundest: a LIMIT is what people write, as far as the histogram can not tell it from that.
func TestRoundest(t *testing.T) {
	for v, want := range map[float64]int{0: 0, 1: 1, 7: 7, 10: 10, 33: 33, 63: 63, 101.5: 100, 202: 200, 251: 250, 507: 500, 999.5: 1000, 4960: 5000, 130: 130, 4224: 4200} {
		if got := infer.Roundest(v); got != want {
			t.Errorf("%g: %d, not %d", v, got, want)
		}
	}
}

// A table that has few rows yet, each of another partner, is not a copy of the partners.
func TestFewRowsOfManyPartners(t *testing.T) {
	s := single("ks",
		infertest.Table("ks", "riders", "rider_id uuid", "", "name text", "email text"),
		infertest.Table("ks", "rides_by_bike", "bike_id uuid", "started timestamp", "rider_id uuid", "rider_name text", "cents int"))
	for rows, want := range map[float64]string{278: "ks.riders", 19000: "ks.riders ks.rides_by_bike"} {
		m := inferred(t, &infertest.Traffic{Keyspace: "ks", Seconds: 10}, s, infertest.Measured("ks", "riders", 19920, 19920, "rider_id 19920 16", "name 19000 10", "email 19920 20"),
			infertest.Measured("ks", "rides_by_bike", rows, rows, fmt.Sprintf("bike_id %g 16", min(rows*0.96, 3000)), fmt.Sprintf("started %g 8", rows), fmt.Sprintf("rider_id %g 16", rows), "rider_name 270 8", "cents 100 4"))
		if got := strings.Join(entity(m, "Rider").Tables, " "); got != want {
			t.Errorf("%.0f rows: riders are in %s, not %s", rows, got, want)
		}
	}
}

// What a person says of a column holds though a copy has it, too.
func TestCorrectionOfACopiedColumn(t *testing.T) {
	s := single("ks",
		infertest.Table("ks", "users", "user_id uuid", "", "name text"),
		infertest.Table("ks", "orders", "order_id uuid", "", "user_id uuid", "total int"),
		infertest.Table("ks", "orders_by_user", "user_id uuid", "order_id uuid", "total int"))
	traffic := &infertest.Traffic{Keyspace: "ks", Seconds: 10}
	for _, column := range []string{"", "ks.orders.user_id", "ks.orders_by_user.user_id"} {
		text := ""
		if column != "" {
			text = "- relationship: " + column + "\n  to: none\n"
		}
		m, err := infer.WithCorrections(traffic.Snapshot(), s, nil, lines(t, text))
		if err != nil {
			t.Fatal(err)
		}
		if got := len(m.Relationships) == 0; got != (column != "") {
			t.Errorf("%q is said to hold no key: %+v", column, m.Relationships)
		}
	}
}
