// Package long tells tests that `make test` leaves out from those that it runs: they take minutes, or a cluster of their own for something
// that is tested in other ways, too. `make test-long` runs all.
package long

import (
	"os"
	"testing"
)

// Tests tells whether tests may take long.
func Tests() bool { return os.Getenv("HELENUS_TEST_LONG") != "" }

// Only skips a test unless tests may take long. why says what it takes, and what of it other tests have.
func Only(t testing.TB, why string) {
	t.Helper()
	if !Tests() {
		t.Skip("HELENUS_TEST_LONG is not set: " + why)
	}
}
