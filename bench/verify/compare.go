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

	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/workload"
)

// wide is a query for all that is needed to judge an answer to q: before limits, and with what q orders and limits by.
func wide(q *workload.Query) *workload.Query {
	all := *q
	all.Select = model.AppendNew(model.AppendNew(q.Select[:len(q.Select):len(q.Select)], q.Ordered()...), q.Per...)
	all.Limit, all.PerLimit, all.Per = 0, 0, nil
	return &all
}

// line is a row of an answer to the wide query, in words.
type line struct{ out, order, per string }

// lines reads rows of the wide query's answer: its fields, then aggregates.
func lines(q *workload.Query, rows [][]any) []line {
	all := wide(q)
	at := func(list []model.Field) []int {
		var numbers []int
		for _, f := range list {
			for i, s := range all.Select {
				if s == f {
					numbers = append(numbers, i)
				}
			}
		}
		return numbers
	}
	out, order, per := at(q.Select), at(q.Ordered()), at(q.Per)
	for i := range q.Aggregates {
		out = append(out, len(all.Select)+i)
	}
	list := make([]line, len(rows))
	for i, row := range rows {
		part := func(numbers []int) string {
			cells := make([]any, len(numbers))
			for n, c := range numbers {
				cells[n] = row[c]
			}
			return words(cells)
		}
		list[i] = line{part(out), part(order), part(per)}
	}
	return list
}

// judge says what is wrong with an answer, "" if it is one that the query allows; whole is the answer to the wide query, in
// the order asked for. Where limits cut among rows that come equally early, any of those will do; if rows of one parent can not
// be told by what is selected, it is not checked that none has more than its limit.
func judge(q *workload.Query, whole []line, got []string) string {
	kept := whole
	if q.PerLimit > 0 {
		kept = nil
		of := map[string]int{}
		for _, l := range whole {
			if of[l.per]++; of[l.per] <= q.PerLimit {
				kept = append(kept, l)
			}
		}
	}
	if q.Limit > 0 && len(kept) > q.Limit {
		kept = kept[:q.Limit]
	}
	if len(got) != len(kept) {
		return fmt.Sprintf("%d rows, want %d", len(got), len(kept))
	}
	allowed := map[line]int{} // by order and content
	for _, l := range whole {
		allowed[line{out: l.out, order: l.order}]++
	}
	for i, text := range got {
		at := line{out: text, order: kept[i].order}
		if allowed[at]--; allowed[at] < 0 {
			return fmt.Sprintf("row %d is (%s), want one like (%s)", i+1, text, kept[i].out)
		}
	}
	return ""
}

// words writes values so that equal ones look the same: whole and floating numbers of one value do, null and empty do not.
func words(values []any) string {
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
		return "(" + words(v) + ")"
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
