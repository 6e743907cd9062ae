package verify

import (
	"encoding/hex"
	"fmt"
	"math/big"
	"net"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/gocql/gocql"
	"gopkg.in/inf.v0"
)

// canonical writes values so that equal ones look the same: whole and floating numbers of one value do, null and empty do not.
func canonical(values []any) string {
	parts := make([]string, len(values))
	for i, v := range values {
		parts[i] = word(v)
	}
	return strings.Join(parts, ", ")
}

func word(value any) string {
	switch v := value.(type) {
	case nil:
		return "null"
	case string:
		return strconv.Quote(v)
	case bool:
		return strconv.FormatBool(v)
	case int64:
		return strconv.FormatInt(v, 10)
	case int:
		return strconv.Itoa(v)
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	case time.Time:
		return v.UTC().Format("2006-01-02T15:04:05.000")
	case time.Duration:
		return v.String()
	case gocql.UUID:
		return v.String()
	case []byte:
		return "0x" + hex.EncodeToString(v)
	case net.IP:
		return v.String()
	case *big.Int:
		return v.String()
	case *inf.Dec:
		return v.String()
	case []any:
		return "(" + canonical(v) + ")"
	}
	return fmt.Sprintf("%T %v", value, value)
}

// apart says how two bags of rows differ: what only the one has, and only the other, each sorted; at most so many.
func apart(want, got []string, most int) (missing, extra []string) {
	count := map[string]int{}
	for _, row := range want {
		count[row]++
	}
	for _, row := range got {
		count[row]--
	}
	for row, n := range count {
		for ; n > 0; n-- {
			missing = append(missing, row)
		}
		for ; n < 0; n++ {
			extra = append(extra, row)
		}
	}
	sort.Strings(missing)
	sort.Strings(extra)
	return cut(missing, most), cut(extra, most)
}

// cut shortens a list, and says how much is left out.
func cut(list []string, most int) []string {
	if len(list) <= most {
		return list
	}
	return append(list[:most:most], fmt.Sprintf("and %d more", len(list)-most))
}
