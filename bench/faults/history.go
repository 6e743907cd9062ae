package main

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/anishathalye/porcupine"
)

// The guarantee that is checked: each row of the base is a register, which a write sets, or empties, at some moment between its being sent and its being answered. One whose
// outcome the client does not know does so at some moment from its being sent on, or never. A read by the looked-up column observes each row there is at some moment
// between its being sent and answered: that it has the value, and with which note, or that it has not. Thus an answer never lacks a row that was put there by a write acknowledged
// before, and that nothing took away since, and never has a row whose column has another value. Rows are observed each at its own moment: Cassandra promises no more.

// fate is what a client knows of a request.
type fate int

// The fates.
const (
	unknown  fate = iota // no answer, or one that says so: it may have been carried out, or be yet
	answered             // it was carried out
	refused              // it was not
)

// seen is a row of an answer.
type seen struct{ row, note int }

// outcome is what became of an operation.
type outcome struct {
	fate   fate
	rows   []seen // of a read, in their order
	served bool   // it was answered by the change
}

// entry is an operation of a history.
type entry struct {
	operation
	outcome
	sent, back time.Duration // back: when the client went on, also if it knew nothing
}

func (e entry) String() string {
	text := fmt.Sprintf("%8.3fs-%8.3fs %s", e.sent.Seconds(), e.back.Seconds(), e.operation)
	switch {
	case e.act == read && e.fate == answered:
		how := "as written"
		if e.served {
			how = "by the change"
		}
		return fmt.Sprintf("%s, answered %s: %v", text, how, e.rows)
	case e.fate == unknown:
		return text + ", whose outcome is not known"
	case e.fate == refused:
		return text + ", refused"
	}
	return text
}

// history is what clients have seen.
type history struct {
	mu      sync.Mutex
	entries []entry
}

func (h *history) add(e entry) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.entries = append(h.entries, e)
}

// register is the value of a row: no guest, if there is no row.
type register struct{ guest, note int }

// access is an operation as it concerns one row: a write of a value, or a look whether a guest is in it.
type access struct {
	write bool
	value register // written
	guest int      // asked for
}

// sight is what a look saw: 0, or the note of the row.
type sight struct {
	there bool
	note  int
}

// rowModel is the register of one row.
var rowModel = porcupine.Model{
	Init: func() any { return register{} },
	Step: func(state, input, output any) (bool, any) {
		a := input.(access)
		if a.write {
			return true, a.value
		}
		have, saw := state.(register), output.(sight)
		there := have.guest == a.guest
		return there == saw.there && (!there || have.note == saw.note), state
	},
}

// fault is a row whose history can not have been.
type breach struct {
	row     int
	culprit entry   // the answer without which it could
	around  []entry // what was asked of the row until then
}

func (b *breach) String() string {
	var text strings.Builder
	fmt.Fprintf(&text, "row %d: no order of what was asked explains %s\n", b.row, b.culprit)
	for _, e := range b.around {
		fmt.Fprintf(&text, "  %s\n", e)
	}
	return text.String()
}

// patience is how long the order of the accesses to one row is looked for.
const patience = 20 * time.Second

// check looks for a row whose history can not have been, from the rows as they were at the beginning. undecided counts rows with too many possible orders.
func check(entries []entry, start map[int]register) (first *breach, undecided int) {
	rows := map[int]bool{}
	for row := range start {
		rows[row] = true
	}
	for _, e := range entries {
		if e.act != read {
			rows[e.row] = true
		}
		for _, s := range e.rows {
			rows[s.row] = true
		}
	}
	for row := range rows {
		switch judge(entries, row, start[row]) {
		case porcupine.Unknown:
			undecided++
		case porcupine.Illegal:
			if first == nil || row < first.row {
				first = locate(entries, row, start[row])
			}
		}
	}
	return first, undecided
}

// judge says whether the history of one row can have been.
func judge(entries []entry, row int, start register) porcupine.CheckResult {
	model := rowModel
	model.Init = func() any { return start }
	var all []porcupine.Operation
	for _, e := range entries {
		op := porcupine.Operation{ClientId: e.client, Call: int64(e.sent), Return: int64(e.back)}
		switch {
		case e.act != read && (e.row != row || e.fate == refused), e.act == read && e.fate != answered:
			continue
		case e.act != read:
			a := access{write: true}
			if e.act != remove {
				a.value = register{e.guest, e.id}
			}
			op.Input, op.Output = a, sight{}
			if e.fate == unknown {
				op.Return = math.MaxInt64 // which, after all reads, is never
			}
		default:
			saw := sight{}
			for _, s := range e.rows {
				if s.row == row {
					saw = sight{true, s.note}
				}
			}
			op.Input, op.Output = access{guest: e.guest}, saw
		}
		all = append(all, op)
	}
	return porcupine.CheckOperationsTimeout(model, all, patience)
}

// locate finds the first answer that makes the history of a row impossible.
func locate(entries []entry, row int, start register) *breach {
	reads := slices.Clone(entries)
	slices.SortStableFunc(reads, func(a, b entry) int { return int(a.back - b.back) })
	until := func(n int) []entry { // the first n answers, and all that was written
		var some []entry
		for i, e := range reads {
			if i < n || e.act != read {
				some = append(some, e)
			}
		}
		return some
	}
	least, most := 0, len(reads) // legal, illegal
	for most-least > 1 {
		middle := (least + most) / 2
		if judge(until(middle), row, start) == porcupine.Illegal {
			most = middle
		} else {
			least = middle
		}
	}
	b := &breach{row: row, culprit: reads[most-1]}
	for i, e := range reads {
		asked := e.act == read && e.guest == b.culprit.guest && i < most
		if e.act != read && e.row == row && e.sent <= b.culprit.back || asked {
			b.around = append(b.around, e)
		}
	}
	if many := len(b.around); many > 40 {
		b.around = b.around[many-40:]
	}
	return b
}
