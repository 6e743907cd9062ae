package window

import (
	"encoding/binary"
	"fmt"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/helenus-db/helenus/capture/trace"
	"github.com/helenus-db/helenus/capture/value"
	"github.com/helenus-db/helenus/proxy"
)

// literals notes the texts of those values of a sample whose literals are allowed. The book decides which; nothing is
// looked at that is never to be.
func (w *Windows) literals(s *sample, e *trace.Execution) {
	k := w.decoder.known[s.statement.Fingerprint]
	note := func(c *proxy.Column, b []byte) {
		if text, ok := spell(&c.Type, b); ok {
			w.book.Literal(c.Keyspace, c.Table, trace.ColumnOf(c.Name), text, e.Process)
		}
	}
	for i := range s.values {
		if v := place(s.statement, s.values, i); v >= 0 && k.looked[v] {
			note(&s.statement.Variables[v], s.values[i].Bytes)
		}
	}
	if len(s.response) > 0 {
		value.Rows(s.response, s.statement.Results, func(_, c int, cell []byte) {
			if k.read[c] {
				note(&s.statement.Results[c], cell)
			}
		})
	}
}

// spell writes out a value of a simple type.
func spell(t *proxy.Type, b []byte) (string, bool) {
	if len(b) == 0 {
		return "", false
	}
	switch c := value.ClassOf(t); {
	case t.Code == proxy.TypeBoolean:
		return strconv.FormatBool(b[0] != 0), true
	case t.Code == proxy.TypeList || t.Code == proxy.TypeSet:
		return "", false
	case c == value.Text:
		return string(b), utf8.Valid(b)
	case c == value.UUID && len(b) == 16:
		return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:]), true
	case c == value.Integer && len(b) <= 8:
		return strconv.FormatInt(signed(b), 10), true
	case c == value.Timestamp && len(b) == 8:
		return time.UnixMilli(signed(b)).UTC().Format(time.RFC3339Nano), true
	case c == value.Date && len(b) == 4:
		return time.Unix((int64(binary.BigEndian.Uint32(b))-1<<31)*86_400, 0).UTC().Format(time.DateOnly), true
	}
	return "", false
}

func signed(b []byte) int64 {
	n := int64(int8(b[0]))
	for _, c := range b[1:] {
		n = n<<8 | int64(c)
	}
	return n
}
