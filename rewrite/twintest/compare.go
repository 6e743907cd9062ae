package twintest

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"sort"
	"strings"
	"time"
)

// Difference is what is otherwise on the side that was written through Helenus.
type Difference struct {
	Room, Where, Text string
}

func (d Difference) String() string { return fmt.Sprintf("%s: %s: %s", d.Room, d.Where, d.Text) }

// span is when a statement was under way, in microseconds.
type span struct{ from, to int64 }

// Doer sends statements; a Conn is one.
type Doer interface {
	Do(s Statement) (Answer, error)
}

// Side is one of the two keyspaces, and when each statement of a room was under way there.
type Side struct {
	Doer
	last  int64
	rooms map[string][]span
}

// NewSide is a side that nothing was sent to.
func NewSide(d Doer) *Side { return &Side{Doer: d, rooms: map[string][]span{}} }

// Join adds what another writer sent to the same keyspace, into rooms of its own.
func (s *Side) Join(other *Side) { maps.Copy(s.rooms, other.rooms) }

// Run sends the next statement of a room. It waits for the next millisecond first: coordinators begin each with a round
// timestamp, so what is sent in one of its own can be told from its neighbours.
func (s *Side) Run(room string, st Statement) (Answer, error) {
	for time.Now().UnixMilli() <= s.last {
		time.Sleep(50 * time.Microsecond)
	}
	from := time.Now().UnixMilli()
	a, err := s.Do(st)
	to := time.Now()
	s.last = to.UnixMilli()
	s.rooms[room] = append(s.rooms[room], span{from * 1000, to.UnixMicro()})
	return a, err
}

// statement tells which statement of a room a timestamp is of, 0 for none.
func (s *Side) statement(room string, at int64) int {
	for i, w := range s.rooms[room] {
		if w.from <= at && at <= w.to {
			return i + 1
		}
	}
	return 0
}

// cell is one cell as it is read: its value, and each of its elements' WRITETIME and TTL.
type cell struct {
	value  []byte
	at     []int64
	ttl    []int32
	absent bool
}

type row struct {
	room, where string
	cells       []cell
}

func (s shape) text(keyspace string) string {
	parts := slices.Clone(s.key)
	for _, c := range s.columns {
		parts = append(parts, c.name)
		if c.kind != counter {
			parts = append(parts, "WRITETIME("+c.name+")", "TTL("+c.name+")")
		}
	}
	return "SELECT " + strings.Join(parts, ", ") + " FROM " + keyspace + "." + s.name
}

func (s shape) read(c Doer) (map[string]row, error) {
	a, err := c.Do(Statement{Text: s.text("@"), Page: 1 << 20})
	if err != nil || a.Failed() {
		return nil, fmt.Errorf("read %s: %w %s", s.name, err, a.Message)
	}
	rows := map[string]row{}
	for _, r := range a.Rows {
		rows[fmt.Sprintf("%q", r[:len(s.key)])] = s.row(r)
	}
	return rows, nil
}

func (s shape) row(r [][]byte) row {
	out := row{room: string(r[0]), where: s.name}
	for i := range s.key[1:] {
		out.where += " " + keyText(r[1+i])
	}
	r = r[len(s.key):]
	for _, c := range s.columns {
		one := cell{value: r[0], absent: r[0] == nil}
		if c.kind == counter {
			out.cells, r = append(out.cells, one), r[1:]
			continue
		}
		for _, b := range elements(r[1], c.kind) {
			one.at = append(one.at, int64(binary.BigEndian.Uint64(b))) //nolint:gosec // a bigint
		}
		for _, b := range elements(r[2], c.kind) {
			ttl := int32(0)
			if len(b) == 4 {
				ttl = int32(binary.BigEndian.Uint32(b)) //nolint:gosec // an int
			}
			one.ttl = append(one.ttl, ttl)
		}
		out.cells, r = append(out.cells, one), r[3:]
	}
	return out
}

func keyText(b []byte) string {
	if len(b) == 4 && b[0] == 0 {
		return fmt.Sprint(binary.BigEndian.Uint32(b))
	}
	return string(b)
}

// elements are the one value of WRITETIME or TTL, or those of a collection.
func elements(b []byte, k kind) [][]byte {
	if b == nil {
		return nil
	}
	if k != many {
		return [][]byte{b}
	}
	var out [][]byte
	n := int(binary.BigEndian.Uint32(b))
	for b = b[4:]; n > 0 && len(b) >= 4; n-- {
		size := int32(binary.BigEndian.Uint32(b)) //nolint:gosec // an int
		if b = b[4:]; size < 0 {
			out = append(out, nil)
			continue
		}
		out, b = append(out, b[:size]), b[size:]
	}
	return out
}

// drift is by how many seconds a TTL may differ: both sides are written and read one after the other.
const drift = 120

// Compare returns what is otherwise in the keyspace written through Helenus, and how many cells were looked at. made tells
// of which rooms Cassandra made the tickets up.
func Compare(through, direct *Side, made func(room string) bool) (found []Difference, cells int, err error) {
	for _, s := range shapes {
		got, err := s.read(through)
		if err != nil {
			return nil, 0, err
		}
		want, err := s.read(direct)
		if err != nil {
			return nil, 0, err
		}
		for key, w := range want {
			g, ok := got[key]
			if !ok {
				found = append(found, Difference{w.room, w.where, "the row is missing"})
				continue
			}
			for i, c := range s.columns {
				cells++
				k := c.kind
				if c.name == "ticket" && made(w.room) {
					k = unlike
				}
				if text := differs(through, direct, w.room, k, g.cells[i], w.cells[i]); text != "" {
					found = append(found, Difference{w.room, w.where + " " + c.name, text})
				}
			}
		}
		for key, g := range got {
			if _, ok := want[key]; !ok {
				found = append(found, Difference{g.room, g.where, "the row is there, and is not without Helenus"})
			}
		}
	}
	sort.Slice(found, func(i, j int) bool { return found[i].String() < found[j].String() })
	return found, cells, nil
}

func differs(through, direct *Side, room string, k kind, got, want cell) string {
	if got.absent != want.absent || (k != unlike && !bytes.Equal(got.value, want.value)) {
		return fmt.Sprintf("is %s, and %s without Helenus", shown(got), shown(want))
	}
	if len(got.at) != len(want.at) || len(got.ttl) != len(want.ttl) {
		return fmt.Sprintf("has %d WRITETIMEs and %d TTLs, and %d and %d without Helenus", len(got.at), len(got.ttl), len(want.at), len(want.ttl))
	}
	room = strings.TrimSuffix(room, " too")
	for i := range got.at {
		if got.at[i] == want.at[i] {
			continue
		}
		if g, w := through.statement(room, got.at[i]), direct.statement(room, want.at[i]); g != w || g == 0 {
			return fmt.Sprintf("has WRITETIME %d, of %s; without Helenus %d, of %s", got.at[i], which(g), want.at[i], which(w))
		}
	}
	for i := range got.ttl {
		if g, w := got.ttl[i], want.ttl[i]; (g > 0) != (w > 0) || max(g-w, w-g) > drift {
			return fmt.Sprintf("has TTL %d, and %d without Helenus", g, w)
		}
	}
	return ""
}

func which(n int) string {
	if n == 0 {
		return "no statement"
	}
	return fmt.Sprint("statement ", n)
}

func shown(c cell) string {
	if c.absent {
		return "null"
	}
	return fmt.Sprintf("%.60q", c.value)
}
