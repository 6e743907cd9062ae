package main

import (
	"os"
	"testing"

	"github.com/helenus-db/helenus/advisor/solve/coin"
)

func TestMain(m *testing.M) {
	coin.ServeIfWorker()
	os.Exit(m.Run())
}
