package condition

import (
	"fmt"
	"io"
	"strings"
)

const intro = `# Conditions: when a read may be answered from a look-up

Written from the program by ` + "`go generate ./rewrite/condition`" + `.

Helenus answers a statement from a look-up table only if the answer is the one that Cassandra would give to the statement as it was
written. What that takes are these conditions. Where one does not hold, the statement runs as it was written: nothing is lost but the time that would have been
saved. Whatever is refused names its condition: in ` + "`helenus explain`, `approve` and `migrations`" + `, in the log, in the API
(` + "`id`, `title`, `link`" + `) and in metrics (label ` + "`condition`" + `).

A few refuse a whole table because of one statement, or warn of one. Such a one may be overruled by who knows that the statement does not come any more:
` + "`helenus approve ID --despite CONDITION:FINGERPRINT`" + `; ` + "`helenus explain`" + ` names both. It is kept in the history, with your name.

The examples are about this table, and a look-up of it by ` + "`guest`" + `, if nothing else is said:

` + "```sql" + `
CREATE TABLE hotel.stays (
  room uuid, day date, floor int STATIC, guest text, status text, rate decimal, tags set<text>,
  PRIMARY KEY (room, day));
` + "```" + `

| condition | may be overruled | what must hold |
| --- | --- | --- |
`

// WritePage writes docs/conditions.md.
func WritePage(w io.Writer) error {
	var b strings.Builder
	b.WriteString(intro)
	for _, c := range All {
		overrule := ""
		if c.Overrule {
			overrule = "yes"
		}
		fmt.Fprintf(&b, "| [%s](#%s) | %s | %s |\n", c.Name(), strings.ToLower(string(c.ID)), overrule, c.Says)
	}
	for _, c := range All {
		c.section(&b)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (c *Condition) section(b *strings.Builder) {
	fmt.Fprintf(b, "\n<a id=%q></a>\n\n## %s\n\n%s\n\n**Why it matters.** %s\n\n**What to do.** %s\n", strings.ToLower(string(c.ID)), c.Name(), c.Says, c.Why, c.Help)
	if c.Overrule {
		b.WriteString("Where it refuses the whole table because of one statement, a person may overrule it.\n")
	}
	b.WriteString("\n**Checked for**\n\n")
	for _, p := range c.Where {
		fmt.Fprintf(b, "- %s\n", p)
	}
	fmt.Fprintf(b, "\n```sql\n%s\n```\n", c.CQL)
}
