package match

import (
	"fmt"
	"strings"

	"github.com/helenus-db/helenus/capture/schema"
	"github.com/helenus-db/helenus/rewrite/exec"
)

// At names rows by the place on the ring that the values of some columns have as a partition key, as CQL: `token(email) = 17`. Who may read the table
// finds them by it. It is what is said of rows in findings, reasons and logs, which are kept and shown: their values never are.
func At(columns []schema.Column, values [][]byte) string {
	names := make([]string, len(columns))
	for i, c := range columns {
		names[i] = quote(c.Name)
	}
	return fmt.Sprintf("token(%s) = %d", strings.Join(names, ", "), exec.TokenOf(exec.PartitionKey(values)))
}
