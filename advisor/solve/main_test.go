package solve_test

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/helenus-db/helenus/advisor/solve"
	"github.com/helenus-db/helenus/advisor/solve/coin"
)

func TestMain(m *testing.M) {
	solve.Misbehave()
	coin.ServeIfWorker()
	solve.Exact = coin.Engine{}
	goleak.VerifyTestMain(m)
}
