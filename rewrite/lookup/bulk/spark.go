package bulk

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/helenus-db/helenus/capture/schema"
	"github.com/helenus-db/helenus/rewrite/kind"
	"github.com/helenus-db/helenus/rewrite/lookup/maintain"
	"github.com/helenus-db/helenus/rewrite/lookup/match"
)

// job is what a script is told of a look-up.
type job struct {
	Change     string            `json:"change"`
	Base       table             `json:"base"`
	LookUp     table             `json:"look_up"`
	Column     string            `json:"column"`
	Text       bool              `json:"text"` // the column's values may have any length
	Key        []string          `json:"key"`
	Fixed      int               `json:"fixed_key_bytes"` // of the key's columns that have one length
	Varying    []string          `json:"varying_key"`     // its others
	Own        map[string]string `json:"own"`             // names of the look-up's own columns
	Stamped    int               `json:"entry_kind"`
	ID         int               `json:"entry_id"`
	Margin     int64             `json:"margin_seconds"`
	Expires    bool              `json:"entries_expire"`
	MaxTTL     int64             `json:"max_ttl"`
	LastSecond int64             `json:"last_second"`
	MaxValue   int               `json:"max_value_bytes"`
	MaxKey     int               `json:"max_key_bytes"`
	Read       string            `json:"read_consistency"`
	Write      string            `json:"write_consistency"`
}

type table struct {
	Keyspace string `json:"keyspace"`
	Table    string `json:"table"`
}

// lengths of the types whose values Spark gives back byte by byte; 0: they have any.
var lengths = map[string]int{
	"ascii": 0, "text": 0, "varchar": 0, "blob": 0,
	"boolean": 1, "tinyint": 1, "smallint": 2, "int": 4, "bigint": 8, "date": 4, "time": 8, "timestamp": 8, "uuid": 16, "timeuuid": 16, "inet": 16,
}

//go:embed spark.py
var script string

// here is where the script is told about the job.
const here = "JOB = {}\n"

// Spark writes the PySpark script that fills the look-up of a change. An error wraps kind.ErrNoBulk if it can not.
func Spark(change string, l *match.LookUp, e maintain.CellEntry, how kind.Filling) (string, error) {
	j := job{
		Change: change, Base: table{l.Keyspace, l.Rewrite.Base}, LookUp: table{l.Rewrite.Home(), l.Table}, Column: l.By.Name,
		Own:     map[string]string{"kind": l.EntryKind, "id": l.EntryID, "written": l.Written},
		Stamped: int(e.Kind), ID: e.ID, Margin: int64(e.Margin / time.Second), Expires: l.Base.DefaultTTL == 0, MaxTTL: e.MaxTTL, LastSecond: e.LastSecond,
		MaxValue: match.MaxValue, MaxKey: match.MaxEntryKey, Read: how.Read.String(), Write: how.Write.String(),
	}
	for _, c := range append([]schema.Column{l.By}, l.Key...) {
		n, known := lengths[c.Type]
		switch {
		case !known:
			return "", fmt.Errorf("%w: Spark does not give values of the type %s of column %s back byte by byte", kind.ErrNoBulk, c.Type, c.Name)
		case !plain.MatchString(c.Name) || strings.HasPrefix(c.Name, reserved):
			return "", fmt.Errorf("%w: Spark does not take the name of column %q for what it is, as it is not of lower-case letters, digits and underlines alone, or begins with %s",
				kind.ErrNoBulk, c.Name, reserved)
		case c.Name == l.By.Name:
			j.Text = n == 0
			continue
		case n == 0:
			j.Varying = append(j.Varying, c.Name)
		default:
			j.Fixed += n
		}
		j.Key = append(j.Key, c.Name)
	}
	text, err := json.MarshalIndent(&j, "", "    ")
	if err != nil {
		return "", err
	}
	told := fmt.Sprintf("JOB = json.loads(%s)\n", pythonText(string(text)))
	return strings.Replace(script, here, told, 1), nil
}

// plain are names that Spark's expressions take as they are. Of others it takes a dot for a field, and what follows a back quote for code: whoever may
// make a column would have it run with the rights of the job.
var plain = regexp.MustCompile(`^[a-z0-9_]+$`)

// reserved begins the names of columns that the script makes.
const reserved = "helenus_"

// pythonText writes a text as a Python literal over several lines.
func pythonText(s string) string {
	return `"""` + strings.NewReplacer(`\`, `\\`, `"""`, `\"\"\"`).Replace(s) + `"""`
}
