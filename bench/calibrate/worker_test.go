package calibrate

import (
	"os"
	"testing"

	"github.com/helenus-db/helenus/advisor/solve"
)

func TestMain(m *testing.M) {
	solve.ServeIfWorker()
	os.Exit(m.Run())
}
