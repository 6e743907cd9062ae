package calibrate_test

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/helenus-db/helenus/bench/calibrate"
)

func TestDev(t *testing.T) {
	data, err := os.ReadFile(os.Getenv("SET"))
	if err != nil {
		t.Skip()
	}
	var set calibrate.Set
	if err := json.Unmarshal(data, &set); err != nil {
		t.Fatal(err)
	}
	r, err := calibrate.Fit(&set)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("R2 %.4f median %.3f worst %.3f", r.R2, r.MedianOff, r.MostOff)
	for _, p := range r.Parameters {
		t.Logf("%-22s %10.6f ± %10.6f %v %s", p.Key, p.Value, p.Error, p.Fitted, p.Why)
	}
	for _, s := range r.Shapes {
		t.Logf("%-40s %9.3f %9.3f %+5.0f%% w %.2f", s.Name, s.Median, s.Predicted, 100*s.Error(), s.Weight)
	}
}
