package plan

import "time"

// Calendar is the contract between timeline advice (advisor/recommend) and who carries it out (rewrite/calendar): which look-ups
// are there through which steps of a cycle. The application's own tables are there always and are no part of it.
type Calendar struct {
	Seasons []Season `json:"seasons"`
}

// Season is one look-up, and the steps of the cycle through which it serves.
type Season struct {
	Rewrite Rewrite `json:"look_up"` // a look-up: of all kinds it alone comes and goes cheaply
	Steps   []bool  `json:"steps"`   // by step of the cycle; all of them: it is made once and stays
	// Fill is how long it is expected to take from the order until the table is filled and verified, nanoseconds.
	Fill  time.Duration `json:"fill"`
	Bytes float64       `json:"bytes"` // expected size, without replication
	CQL   string        `json:"cql"`   // CREATE TABLE, for the eye: a migration writes its own
}

// Always reports whether the look-up is there through all steps.
func (s *Season) Always() bool {
	for _, there := range s.Steps {
		if !there {
			return false
		}
	}
	return true
}

// Turn is what a calendar does at the begin of a step.
type Turn struct {
	Step   int  `json:"step"`
	Season int  `json:"season"` // index in Seasons
	Create bool `json:"create"` // false: drop
}

// Turns lists what is created and dropped in one cycle, by step; at one step what is dropped comes first.
func (c *Calendar) Turns(steps int) []Turn {
	var out []Turn
	for step := range steps {
		before := (step + steps - 1) % steps
		for _, create := range []bool{false, true} {
			for n := range c.Seasons {
				s := &c.Seasons[n]
				if s.Steps[step] != s.Steps[before] && s.Steps[step] == create {
					out = append(out, Turn{Step: step, Season: n, Create: create})
				}
			}
		}
	}
	return out
}
