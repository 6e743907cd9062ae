package infer

import (
	"github.com/helenus-db/helenus/capture"
	"github.com/helenus-db/helenus/capture/schema"
)

// Infer is WithCorrections where nobody said anything.
func Infer(snapshot *capture.Snapshot, s *schema.Schema, stats []schema.Stats) (*Model, error) {
	return WithCorrections(snapshot, s, stats, nil)
}

// What tests look at alone.
var (
	DifferentAnyway = differentAnyway
	Roundest        = roundest
)
