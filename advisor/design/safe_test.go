package design_test

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/helenus-db/helenus/advisor/design"
	"github.com/helenus-db/helenus/advisor/safety"
	"github.com/helenus-db/helenus/advisor/workload"
)

// board is a workload whose messages are found by topic, of which a table that is there has the ids alone.
const board = `
name: board
model:
  entities:
    - {name: User, count: 1000, key: [user_id], attributes: [{name: user_id, type: uuid}]}
    - {name: Topic, count: 1000, key: [topic_id], attributes: [{name: topic_id, type: uuid}]}
    - name: Message
      count: 20000
      key: [message_id]
      attributes: [{name: message_id, type: uuid}, {name: text, type: text, size: 200}]
  relationships:
    - {name: author, from: Message, to: User, kind: "n:1", forward: author, backward: messages}
    - {name: topic, from: Message, to: Topic, kind: "n:1", forward: topic, backward: messages}
statements:
  - {id: read, text: "SELECT Message.message_id, Message.text FROM Message.topic WHERE Topic.topic_id = ?", weight: 10}
  - {id: post, text: "INSERT INTO Message SET message_id = ?, text = ? AND CONNECT TO author(?), topic(?)", weight: 2}
tables:
  - {keyspace: board, name: topics, partition: [Topic.topic_id], clustering: [Message.message_id]}
`

// designed is the board's design with what is asked of safety, and its new tables that are unsafe.
func designed(t *testing.T, s *design.Safety) (d *design.Design, unsafe []string) {
	t.Helper()
	w := read(t, board)
	var err error
	if s.Principal, err = safety.PrincipalOf(w); err != nil || s.Principal.Name() != "User" {
		t.Fatal(s.Principal, err)
	}
	d, err = design.Choose(context.Background(), w, design.Options{Solver: solver(), Safety: s})
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range d.Tables {
		if x.IsNew() && x.Safety == "" {
			t.Errorf("nothing is said of %s", x.Table)
		}
		if strings.HasPrefix(x.Safety, string(safety.Unsafe)) {
			unsafe = append(unsafe, x.Table.String())
		}
	}
	return d, unsafe
}

func read(t *testing.T, text string) *workload.Workload {
	t.Helper()
	w, err := workload.Read("test.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// TestSafetyChangesTheDesign: by itself the board keeps texts by topic, where users meet. A hard constraint takes
// another design, which costs more; a penalty does from somewhere on, and below that it is charged.
func TestSafetyChangesTheDesign(t *testing.T) {
	free, unsafe := designed(t, &design.Safety{})
	if len(unsafe) == 0 || free.Penalty != 0 {
		t.Fatalf("unsafe %v, penalty %g: the board shows nothing", unsafe, free.Penalty)
	}
	safe, unsafe := designed(t, &design.Safety{Require: true})
	if len(unsafe) > 0 || safe.After <= free.After || !safe.Proven {
		t.Errorf("required: %v, cost %g against %g, proven %v", unsafe, safe.After, free.After, safe.Proven)
	}
	cheap, unsafe := designed(t, &design.Safety{Penalty: 0.01})
	if len(unsafe) == 0 || cheap.Penalty <= 0 || math.Abs(cheap.After-cheap.Penalty-free.After) > 1e-6*free.After {
		t.Errorf("a small penalty: %v, cost %g with %g of penalty, against %g", unsafe, cheap.After, cheap.Penalty, free.After)
	}
	dear, unsafe := designed(t, &design.Safety{Penalty: 1000})
	if len(unsafe) > 0 || dear.Penalty != 0 || math.Abs(dear.After-safe.After) > 1e-6*safe.After {
		t.Errorf("a large penalty: %v, penalty %g, cost %g, want that of the constraint, %g", unsafe, dear.Penalty, dear.After, safe.After)
	}
	other, unsafe := designed(t, &design.Safety{Require: true, Classes: []safety.Class{safety.LWT}})
	if math.Abs(other.After-free.After) > 1e-6*free.After {
		t.Errorf("no lightweight transactions are there to be kept apart, yet %v, cost %g", unsafe, other.After)
	}
	var text strings.Builder
	if err := cheap.Text(&text); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"is the penalty for writes to tables in which several writers can meet", "by two writers meet in one partition (append)"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("no %q in the text", want)
		}
	}
}

// counters is a workload whose only query can not be had safely: anyone may send its write.
const counters = `
name: visits
model:
  entities:
    - name: Page
      count: 1000
      attributes: [{name: page_id, type: uuid}, {name: visits, type: int}]
      key: [page_id]
statements:
  - {id: visits, text: "SELECT Page.visits FROM Page WHERE Page.page_id = ?", weight: 10}
  - {id: visit, text: "UPDATE Page SET visits = ? WHERE Page.page_id = ?", weight: 1}
safety:
  owners: {visit: "*"}
  require_safe: true
`

// TestNothingIsLeft: the statement that can not be had safely is named, with the table that it would need.
func TestNothingIsLeft(t *testing.T) {
	w := read(t, counters)
	_, err := design.Choose(context.Background(), w, design.Options{Solver: solver()})
	var unsafe *design.UnsafeError
	if !errors.As(err, &unsafe) || unsafe.Statement != "visits" || !strings.Contains(err.Error(), "visit by two writers meet in one partition (overwrite)") {
		t.Fatalf("%v", err)
	}
	w.Safety.Owners = map[string]string{"visit": "Page.page_id"}
	if _, err = design.Choose(context.Background(), w, design.Options{Solver: solver()}); err != nil {
		t.Errorf("with a writer for each page: %v", err)
	}
}
