package lint

import (
	"slices"

	"github.com/helenus-db/helenus/advisor/rules"
	"github.com/helenus-db/helenus/advisor/trial"
	"github.com/helenus-db/helenus/capture/cql"
	"github.com/helenus-db/helenus/capture/schema"
)

// Input is what is looked at.
type Input struct {
	Name      string
	Schema    *schema.Schema
	Questions []Question
	// Facts are known of tables, by Reference.
	Facts map[Reference]*Fact
	// Attributes are what the model wants stored; empty if there is no model.
	Attributes []Attribute
	// Writes are statements that are only classified.
	Writes []Classified
	// Changes are the writes of which the text is known: fixes say what each of them takes, and are tried with them.
	Changes     []Change
	Unsupported []rules.Unsupported
	// Support are tables that are read besides: to find out what to write, or by statements that were prepared only.
	Support []Reference
	// Partial: not all reads are known (what was captured is what was said so far), so that an unread table is a note, and that only of one that is
	// Touched: written by what was seen. Others are other applications' for all that is known.
	Partial bool
	Touched map[Reference]bool

	taken map[Reference]*Finding // names of tables that other fixes make

	// Of one made by With: what it was made of, the questions of which the plan changed, and the tables that came.
	from    *Input
	changed map[string]Planned
	come    []Reference

	readers map[Reference]int // questions by table that they read, once counted
}

// Reference names a table.
type Reference struct{ Keyspace, Table string }

// String is the name as people write it.
func (r Reference) String() string {
	if r.Keyspace == "" {
		return r.Table
	}
	return r.Keyspace + "." + r.Table
}

// Column is a column that is, or has to be, in a table.
type Column struct{ Name, Type string }

// Fact is what is known of a table besides its definition. The zero value of a field stands for not known.
type Fact struct {
	Of         string   // what a row stands for
	Key        []Column // of that: must be in the primary key
	Rows       float64
	RowBytes   float64
	Partitions float64            // 0: from Distinct
	Distinct   map[string]float64 // by column
	Named      map[string]bool    // columns that are a part of some entity's key: as many as there are entities
	Statics    []string           // columns that the partition key determines
	Bucketed   bool               // the partition key has a bucket
	Unmeasured bool               // the table is live, and there are no statistics of it
}

// Question is what an application asks.
type Question struct {
	ID    string // of the statement, or its fingerprint
	Text  string
	Reads []Read
	Count uint64 // how often it was seen; 0: not known
	// Tables that it is answered from, if more than Reads say: the statements of a join by hand are questions of their own.
	Tables []Reference
	// Mapped is the table that the mapping rules make of the whole question, if its meaning is known.
	Mapped *rules.Trace
	// Access is the class of the whole question.
	Access rules.Access
	// Lost says why no table answers it.
	Lost string
}

// Change is a write of one table, as the application says it.
type Change struct {
	Keyspace  string // in use
	Statement cql.Statement
}

// Read is a SELECT.
type Read struct {
	Keyspace string // in use
	Select   *cql.Select
	// Client tells that the application does not send it like this: parts of it are done in the client.
	Client bool
}

// On is the table that it reads.
func (r *Read) On() Reference {
	ref := r.Select.Table.In(r.Keyspace)
	return Reference{ref.Keyspace, ref.Table}
}

// Place is a column of a table.
type Place struct {
	Table  Reference
	Column string
}

// Attribute is an attribute of the model and where it may stand.
type Attribute struct {
	Name   string
	Places []Place
	Home   *Column // the column that it would be in the table Owner; nil: nobody knows
	Create string  // the table Owner, if it is not there
	Owner  Reference
}

// Classified is a statement with its class of access.
type Classified struct {
	Statement string       `json:"statement"`
	Text      string       `json:"text"`
	Access    rules.Access `json:"access"`
	Class     schema.Class `json:"class,omitempty"` // of a single statement on one table
	Tables    []string     `json:"tables"`
	Rules     []string     `json:"rules,omitempty"` // findings
}

// Fix is a change that was tried.
type Fix struct {
	CQL        []string `json:"cql"`
	Statements []string `json:"statements,omitempty"` // as they read then
	Says       string   `json:"says"`
	// Writes says what each write of the application that is known takes besides.
	Writes []*trial.Upkeep `json:"writes,omitempty"`

	last            []string  // what is defined when all that Says tells was done; it is not printed: carried out before, it loses the rows
	of, to          Reference // the table that is copied, and the copy; to is zero where statements change only
	element         *trial.Element
	bucket          *trial.Bucket
	asks            []trial.Ask
	unique, settled []string
	lacks           []schema.Column         // of the table that is copied
	replaces        map[Reference]Reference // tables, in all statements that read them
	question        *Question               // in place of the finding's
	facts           map[Reference]*Fact     // of new tables
	maker           *Finding                // whose fix makes the table that this one reads
}

// definitions are the definitions of a fix that was carried out to its end.
func (f *Fix) definitions() []string { return slices.Concat(f.CQL, f.last) }

// Finding is a breach of a rule.
type Finding struct {
	Rule      string   `json:"rule"`
	Name      string   `json:"name"`
	Severity  Severity `json:"severity"`
	Table     string   `json:"table,omitempty"`
	Statement string   `json:"statement,omitempty"` // id or fingerprint
	Text      string   `json:"text,omitempty"`
	Columns   []string `json:"columns,omitempty"`
	Reason    string   `json:"reason"`
	Fix       *Fix     `json:"fix,omitempty"`
	NoFix     string   `json:"no_fix,omitempty"`    // why there is none
	ChangeID  string   `json:"change_id,omitempty"` // the change that answers the statement, or reads the table, in the application's stead

	on       Reference
	question *Question
	read     *Read
}

// key tells findings apart.
func (f *Finding) key() string { return f.Rule + " " + f.Table + " " + f.Statement }

// Report is what was found.
type Report struct {
	Name        string              `json:"name"`
	Tables      int                 `json:"tables"`
	Statements  []Classified        `json:"statements"`
	Findings    []Finding           `json:"findings"` // the worst first
	Unsupported []rules.Unsupported `json:"unsupported"`
}

// Worst reports whether there is a finding as bad as a severity.
func (r *Report) Worst(than Severity) bool {
	for i := range r.Findings {
		if r.Findings[i].Severity.AtLeast(than) {
			return true
		}
	}
	return false
}
