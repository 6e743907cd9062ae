package capture

import (
	"sync"

	"github.com/dgraph-io/ristretto/v2"

	"github.com/helenus-db/helenus/capture/cql"
)

// Reports and rounds of advice ask for the syntax trees of the same normalised texts again and again: a round some ten times for each statement.
// So the trees that are asked for most are kept. A tree is dear to make beside finding it, large, and may be missing, as it
// is made anew then: what is said of a statement is the same either way.

// treesBytes bounds what is kept, as treeBytes estimates it.
const treesBytes = 16 << 20

// tree is a parsed text. Nobody may change it: others look at it, too.
type tree struct {
	text   string
	parsed cql.Statement
}

// treeBytes estimates the memory of a tree: a node or two for each word of the text.
func treeBytes(text string) int64 { return 512 + 16*int64(len(text)) }

var trees = sync.OnceValue(func() *ristretto.Cache[string, *tree] {
	c, err := ristretto.NewCache(&ristretto.Config[string, *tree]{NumCounters: 100_000, MaxCost: treesBytes, BufferItems: 64})
	if err != nil {
		return nil // no setting of ours is refused; without it texts are parsed each time, which is what a nil cache does
	}
	return c
})

// parseText returns the syntax tree of a normalised text, which is not to be changed.
func parseText(text string) (cql.Statement, error) {
	if t, ok := trees().Get(text); ok && t.text == text { // the cache knows texts by hashes alone
		return t.parsed, nil
	}
	parsed, err := cql.Parse(text)
	if err == nil {
		trees().Set(text, &tree{text, parsed}, treeBytes(text))
	}
	return parsed, err
}
