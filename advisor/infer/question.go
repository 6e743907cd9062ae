package infer

import "github.com/helenus-db/helenus/advisor/correction"

// QuestionKind says what is not certain.
type QuestionKind string

// The kinds of questions, with what Subject and Candidate.Answer are.
const (
	// SameEntity: does a table hold the entity of another one? Subject and Answer are tables, "keyspace.table".
	SameEntity QuestionKind = "same entity"
	// WhichRelationship: whose key does a column hold? Subject is the column, "keyspace.table.column"; Answer the table
	// of the entity, "keyspace.table".
	WhichRelationship QuestionKind = "relationship"
	// IsJoin: does a statement ask for what another one delivered? Subject is the bound column, Answer the delivered one, both
	// "fingerprint:keyspace.table.column".
	IsJoin QuestionKind = "join"
	// IsCopy: does a table hold the rows of another one, whole? Subject and Answer are tables, "keyspace.table".
	IsCopy QuestionKind = "copy"
)

// None is the answer of a candidate by which none of the others holds.
const None = "none"

// Question is something that the evidence leaves open. What is open is not used for anything that a person would carry
// out: the model is as Used says, and changes with the answer.
type Question struct {
	ID         string       `json:"id"` // of kind and subject: it stays while these do
	Kind       QuestionKind `json:"kind"`
	Subject    string       `json:"subject"`
	Text       string       `json:"text"`       // the question, for people
	Candidates []Candidate  `json:"candidates"` // the likeliest first, None among them; two at least
	// Rate is the executions per second of statements that mean something else with another answer: an upper bound of what knowing it
	// is worth.
	Rate float64 `json:"rate"`
}

// Candidate is one answer to a question.
type Candidate struct {
	Answer    string     `json:"answer"` // as QuestionKind says, or None
	Text      string     `json:"text"`   // the answer, for people
	Certainty float64    `json:"certainty"`
	Evidence  []Evidence `json:"evidence,omitempty"`
	Used      bool       `json:"used,omitempty"` // the model is as if it held; of one candidate at most
}

// Answered is an answer in the words of a model file.
func (q *Question) Answered(chosen *Candidate) (out correction.List) {
	none := chosen.Answer == None
	switch q.Kind {
	case SameEntity:
		if !none {
			return correction.List{{Same: []string{chosen.Answer, q.Subject}}}
		}
		for _, c := range q.Candidates {
			if c.Answer != None {
				out = append(out, correction.Correction{Different: []string{c.Answer, q.Subject}})
			}
		}
	case WhichRelationship:
		return correction.List{{Relationship: q.Subject, To: chosen.Answer}}
	case IsCopy:
		return correction.List{{Copy: q.Subject, Of: chosen.Answer}}
	case IsJoin:
		if !none {
			return correction.List{{Join: correction.Accept, From: chosen.Answer, To: q.Subject}}
		}
		for _, c := range q.Candidates {
			if c.Answer != None {
				out = append(out, correction.Correction{Join: correction.Reject, From: c.Answer, To: q.Subject})
			}
		}
	}
	return out
}
