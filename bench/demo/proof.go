package main

import "fmt"

// claim is one thing that the README promises.
type claim struct {
	holds bool
	text  string
}

// proof is what was claimed so far, and whether it holds.
type proof struct {
	story  *story
	claims []claim
}

func (p *proof) claim(holds bool, format string, args ...any) {
	c := claim{holds, fmt.Sprintf(format, args...)}
	p.claims = append(p.claims, c)
	mark := "holds  "
	if !holds {
		mark = "FAILS  "
	}
	p.story.say("%s%s", mark, c.text)
}

// summary shows all claims; if some do not hold it is an error.
func (p *proof) summary() error {
	p.story.heading("What was claimed, and what was seen")
	failed := 0
	for _, c := range p.claims {
		mark := "holds"
		if !c.holds {
			mark, failed = "FAILS", failed+1
		}
		p.story.say("%s  %s", mark, c.text)
	}
	if failed > 0 {
		return fmt.Errorf("%d of %d claims do not hold on this machine", failed, len(p.claims))
	}
	return nil
}
