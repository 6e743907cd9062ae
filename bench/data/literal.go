package data

import (
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gocql/gocql"
	"gopkg.in/inf.v0"

	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/workload"
)

// Literal is the value of a literal of a statement, compared with an attribute of a type: a number, or a text in quotes. A
// boolean may be 0 or 1, a timestamp milliseconds or a text.
func Literal(cqlType, text string) (any, error) {
	body, quoted := strings.CutPrefix(text, "'")
	if quoted {
		body = strings.ReplaceAll(strings.TrimSuffix(body, "'"), "''", "'")
	}
	wrong := func() error { return fmt.Errorf("%s is no literal of type %s", text, cqlType) }
	switch strings.ToLower(cqlType) {
	case "text", "varchar", "ascii":
		return body, nil
	case "boolean":
		b, err := strconv.ParseBool(body)
		if err != nil {
			return nil, wrong()
		}
		return b, nil
	case "tinyint", "smallint", "int", "bigint", "counter":
		n, err := strconv.ParseInt(body, 10, 64)
		if err != nil {
			return nil, wrong()
		}
		return n, nil
	case "float", "double":
		x, err := strconv.ParseFloat(body, 64)
		if err != nil {
			return nil, wrong()
		}
		return x, nil
	case "decimal":
		if d, ok := new(inf.Dec).SetString(body); ok {
			return d, nil
		}
	case "varint":
		if n, ok := new(big.Int).SetString(body, 10); ok {
			return n, nil
		}
	case "uuid", "timeuuid":
		id, err := gocql.ParseUUID(body)
		if err != nil {
			return nil, wrong()
		}
		return id, nil
	case "timestamp", "date":
		if n, err := strconv.ParseInt(body, 10, 64); err == nil {
			return time.UnixMilli(n).UTC(), nil
		}
		for _, form := range []string{time.RFC3339, "2006-01-02 15:04:05", "2006-01-02"} {
			if at, err := time.Parse(form, body); err == nil {
				return at.UTC(), nil
			}
		}
	}
	return nil, wrong()
}

// texts are the literals of a predicate. The pattern of LIKE is none.
func texts(p workload.Predicate) []string {
	if p.Op == workload.Like {
		return nil
	}
	return slices.DeleteFunc(p.List(), func(text string) bool { return strings.HasPrefix(text, "?") })
}

// literals are those that the statements of a workload compare attributes with.
func literals(w *workload.Workload) (map[*model.Attribute][]any, error) {
	found := map[*model.Attribute][]any{}
	if w == nil {
		return found, nil
	}
	add := func(where []workload.Predicate) error {
		for _, p := range where {
			for _, text := range texts(p) {
				a := p.Field.Attribute
				v, err := Literal(a.Type, text)
				if err != nil {
					return fmt.Errorf("%s: %w", p.Field, err)
				}
				if natural(v, a) || slices.Contains(found[a], v) {
					continue
				}
				found[a] = append(found[a], v)
			}
		}
		return nil
	}
	for _, s := range w.Statements {
		var err error
		if s.Query != nil {
			err = add(s.Query.Where)
		} else if s.Write != nil {
			err = add(s.Write.Where)
		}
		if err != nil {
			return nil, fmt.Errorf("statement %s: %w", s.ID, err)
		}
	}
	return found, nil
}

// natural tells whether a value is made anyway, or can not be compared here.
func natural(v any, a *model.Attribute) bool {
	switch x := v.(type) {
	case int64:
		return x >= 1 && float64(x) <= max(1, a.Distinct)
	case string, gocql.UUID, float64:
		return false
	}
	return true
}
