package infer

import (
	"time"

	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/workload"
	"github.com/helenus-db/helenus/capture/feed"
)

// Bands of confidence (docs/design/mapping.md 2.7).
const (
	Proven   = 0.95 // good enough to build on
	Probable = 0.70 // good enough to show; below, an assertion is not made
)

// Model is what was concluded. Its JSON form is a description for readers (see Description); the Go values are for the
// optimiser.
type Model struct {
	Graph    *model.Graph
	Tables   []*model.Table     // the existing tables, by keyspace and name
	Workload *workload.Workload // statements by ID; weights are executions per second

	Entities      []Entity       // by name
	Relationships []Relationship // by name
	Joins         []Join         // done by hand, accepted or not, by producer and consumer
	Uses          []Use          // by conceptual statement, then fingerprint
	Unexplained   []Unexplained  // by fingerprint
	Questions     []Question     // what the evidence leaves open, by ID
	Corrections   []Corrected    // what people said, and what became of it
	Seconds       float64        // of traffic that the weights are means over

	tables map[table]*source // of every table that is in the model
	said   []*said           // the statements that are in the workload
	bursts map[*said]*whole  // what writes are parts of
	work   float64           // of all statements

	mirrored []string // materialised views whose reads the workload has, by name
}

// Evidence is one reason for an assertion, in one of the groups of docs/design/mapping.md 2.7.
type Evidence struct {
	Group   string  `json:"group"` // "name", "type", "size", "feed", "values", "dependency", "burst", "definition" or "person"
	LogOdds float64 `json:"log_odds"`
	Text    string  `json:"text"`
}

// Entity is an entity and how it was found.
type Entity struct {
	Name       string     `json:"name"`
	Tables     []string   `json:"tables"` // keyspace.table that hold it, the base table first
	Key        []string   `json:"key"`
	Alternate  []string   `json:"alternate_keys,omitempty"`
	Attributes []string   `json:"attributes"`
	Count      float64    `json:"count"`
	Confidence float64    `json:"confidence"`
	Evidence   []Evidence `json:"evidence"`
}

// Relationship is a relationship and how it was found.
type Relationship struct {
	Name       string     `json:"name"`
	From       string     `json:"from"`
	To         string     `json:"to"`
	Kind       model.Kind `json:"kind"`
	Forward    string     `json:"forward"`  // role of To as seen from From
	Backward   string     `json:"backward"` // role of From as seen from To
	Column     string     `json:"column"`   // keyspace.table.column that holds it
	Confidence float64    `json:"confidence"`
	Evidence   []Evidence `json:"evidence"`
}

// Join is a feed between two statements, as the model sees it.
type Join struct {
	Feed     feed.Feed `json:"feed"`
	From     string    `json:"from"`               // table.column of the producer
	To       string    `json:"to"`                 // table.column of the consumer
	Accepted bool      `json:"accepted"`           // it is part of a path query
	Reason   string    `json:"reason,omitempty"`   // why not
	Share    float64   `json:"share"`              // of the consumer's executions that it accounts for, if accepted
	Query    string    `json:"query,omitempty"`    // ID of the conceptual statement that it became part of
	Producer string    `json:"producer,omitempty"` // normalised texts, for readers
	Consumer string    `json:"consumer,omitempty"`
}

// Use says that one execution of a conceptual statement stands for so many executions of a fingerprint.
type Use struct {
	Statement    string  `json:"statement"`
	Fingerprint  string  `json:"fingerprint"`
	PerExecution float64 `json:"per_execution"`
	Joined       bool    `json:"joined,omitempty"` // fed by another statement of the same path query
}

// Unexplained is a statement that is not in the workload, or only in part.
type Unexplained struct {
	Fingerprint string `json:"fingerprint"`
	Keyspace    string `json:"keyspace,omitempty"`
	Text        string `json:"text"`
	Count       uint64 `json:"count"`
	Reason      string `json:"reason"`
	// Share is that of all work that these executions are, as capture.Statement.Work measures it: 0 to 1.
	Share float64 `json:"share,omitempty"`
}

// Description is a Model for readers: JSON, and the text that Text prints.
type Description struct {
	Entities      []Entity       `json:"entities"`
	Relationships []Relationship `json:"relationships"`
	Tables        []TableView    `json:"tables"`
	Workload      []Conceptual   `json:"workload"`
	Joins         []Join         `json:"joins"`
	Unexplained   []Unexplained  `json:"unexplained"`
	Window        float64        `json:"window_seconds"`
	Questions     []Question     `json:"questions,omitempty"`
	Corrections   []Corrected    `json:"corrections,omitempty"`
}

// TableView is an existing table over the model.
type TableView struct {
	Name  string  `json:"name"`  // keyspace.table
	Holds string  `json:"holds"` // [partition][clustering][values]
	Path  string  `json:"path"`
	Rows  float64 `json:"rows"`
}

// Conceptual is one statement of the workload.
type Conceptual struct {
	ID     string  `json:"id"`
	Weight float64 `json:"weight"` // executions per second
	Text   string  `json:"text"`
	Uses   []Use   `json:"uses"`
}

// table names a table of the application.
type table struct{ keyspace, table string }

func (t table) String() string { return t.keyspace + "." + t.table }

// window is the length of a snapshot in seconds, at least a millisecond.
func window(from, to time.Time) float64 { return max(0.001, to.Sub(from).Seconds()) }
