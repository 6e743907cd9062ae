package infer_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/helenus-db/helenus/advisor/infer"
	"github.com/helenus-db/helenus/advisor/infer/infertest"
)

var update = flag.Bool("update", false, "write the golden files anew")

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(file, got, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file) //nolint:gosec // our own file
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s (run with -update if the change is meant; -want +got):\n%s", file, diff)
	}
}

func TestHotelModel(t *testing.T) {
	m, err := infer.Infer(infertest.Hotel().Snapshot(), infertest.HotelSchema(), infertest.HotelStatistics())
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	if err := m.Describe().Text(&text); err != nil {
		t.Fatal(err)
	}
	golden(t, "hotel.txt", text.Bytes())
	form, err := json.MarshalIndent(m.Describe(), "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "hotel.json", append(form, '\n'))
}
