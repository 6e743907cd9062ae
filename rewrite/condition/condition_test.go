package condition

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write docs/conditions.md")

const root = "../.."

// tested names, for each condition, tests in which it refuses, or by which it is shown to be held where nothing refuses.
var tested = map[ID][]string{
	"C1":  {"rewrite/lookup/match.TestReadConditions", "rewrite/lookup/match.TestTableConditions", "rewrite/lookup/match.TestJudge", "rewrite.TestReadsAsWritten"},
	"C2":  {"rewrite/lookup/match.TestReadConditions"},
	"C3":  {"rewrite/lookup/match.TestJudge", "rewrite.TestReadsAsWritten", "rewrite/lookup.TestReadFails"},
	"C4":  {"rewrite/lookup/match.TestReadConditions"},
	"C5":  {"rewrite/lookup/match.TestReadConditions"},
	"C6":  {"rewrite/lookup/match.TestReadConditions", "rewrite/lookup/match.TestJudge", "rewrite/lookup/match.TestEffects", "rewrite.TestReadsAsWritten"},
	"C7":  {"rewrite.TestTwinInMemory", "rewrite.TestEveryInterleaving"},
	"C8":  {"rewrite/lookup/match.TestTableConditions", "rewrite/lookup/match.TestReadConditions"},
	"C9":  {"rewrite/lookup/match.TestTableConditions", "rewrite/lookup/match.TestEffects"},
	"C10": {"rewrite/lookup/maintain.TestEntryTTL", "rewrite.TestWritesThatCanBeKnown", "rewrite.TestRowsLiveLonger"},
	"C11": {"rewrite/lookup/match.TestTableConditions", "rewrite.TestWritesThatCanBeKnown"},
	"C12": {"rewrite/lookup/match.TestJudge", "rewrite.TestReadsAsWritten", "rewrite.TestGuards"},
	"C13": {"rewrite/lookup/maintain.TestPutLevel"},
	"C14": {"rewrite.TestReadsAsWritten"},
	"C15": {"rewrite.TestEveryInterleaving"},
	"C16": {"rewrite.TestWritesThatCanBeKnown", "rewrite.TestGarbageGoes"},
	"C17": {"rewrite/lookup/match.TestTableConditions", "advisor.TestApprovalNeedsEligibility", "advisor.TestApprovedDespite"},
	"C18": {"rewrite.TestBatches"},
	"C19": {"rewrite/lookup/match.TestTableConditions", "rewrite/lookup/match.TestReadConditions"},
	"C20": {"rewrite/lookup/match.TestTableConditions", "rewrite/migrate.TestDerived", "rewrite.TestSchemaBreaks", "rewrite.TestIndexDropped", "rewrite.TestStatementsOnOurTable", "rewrite.TestApproval"},
	"C21": {"rewrite.TestReadsAsWritten", "rewrite.TestRoles"},
	"C22": {"advisor/recommend.TestHotelGolden"},
	"C24": {"rewrite/existing.TestJudge"},
	"C23": {"rewrite/lookup/match.TestTableConditions", "rewrite/lookup/match.TestReadConditions"},
}

// tree reads the Go files of the repository that are this package's neither nor data.
func tree(t *testing.T, file func(name string, text []byte)) {
	t.Helper()
	err := filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && slices.Contains([]string{".git", "bin", "testdata", "node_modules", "condition"}, entry.Name()):
			return fs.SkipDir
		case entry.IsDir() || filepath.Ext(name) != ".go":
			return nil
		}
		text, err := os.ReadFile(name)
		if err == nil {
			file(filepath.ToSlash(strings.TrimPrefix(name, root+string(filepath.Separator))), text)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestEachIsTested finds each of the tests that are named, and that they speak of the condition where they are to refuse by it.
func TestEachIsTested(t *testing.T) {
	functions := map[string]bool{}
	tree(t, func(name string, text []byte) {
		if !strings.HasSuffix(name, "_test.go") {
			return
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), name, text, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range parsed.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil {
				functions[filepath.ToSlash(filepath.Dir(name))+"."+f.Name.Name] = true
			}
		}
	})
	for _, c := range All {
		if len(tested[c.ID]) == 0 {
			t.Errorf("no test is named for %s", c.Name())
		}
		for _, name := range tested[c.ID] {
			if !functions[name] {
				t.Errorf("%s: there is no test %s", c.Name(), name)
			}
		}
	}
	if len(tested) != len(All) {
		t.Errorf("tests are named for %d conditions, there are %d", len(tested), len(All))
	}
}

// TestNamedNowhereElse: who speaks of a condition takes its id from here.
func TestNamedNowhereElse(t *testing.T) {
	named := regexp.MustCompile(`\bC[1-9][0-9]?\b`)
	tree(t, func(name string, text []byte) {
		if strings.HasSuffix(name, "_test.go") {
			return
		}
		for i, line := range strings.Split(string(text), "\n") {
			if id := named.FindString(line); Find(ID(id)) != nil {
				t.Errorf("%s:%d names %s: use condition.%s", name, i+1, id, "All, or the one that it means")
			}
		}
	})
}

func TestTexts(t *testing.T) {
	for i, c := range All {
		if c.ID != ID(fmt.Sprintf("C%d", i+1)) || Find(c.ID) != c || c.Index() != i {
			t.Errorf("%s is at place %d", c.ID, i)
		}
		for what, text := range map[string]string{"title": c.Title, "what must hold": c.Says, "why": c.Why, "what to do": c.Help, "example": c.CQL} {
			if strings.TrimSpace(text) == "" || text != strings.TrimSpace(text) {
				t.Errorf("%s: %s is %q", c.Name(), what, text)
			}
		}
		if strings.ToLower(c.Title) != c.Title || strings.ContainsAny(c.Title, ":.|") {
			t.Errorf("%s: the title is not words in small letters", c.Name())
		}
		for what, text := range map[string]string{"what must hold": c.Says, "why": c.Why, "what to do": c.Help} {
			if !strings.ContainsAny(text[len(text)-1:], ".)") || strings.Contains(text, "|") {
				t.Errorf("%s: %s is no sentence that a table can hold: %q", c.Name(), what, text)
			}
		}
		if len(c.Where) == 0 || slices.Contains(c.Where, ByDesign) && len(c.Where) > 1 {
			t.Errorf("%s is checked in %q", c.Name(), c.Where)
		}
		if c.Overrule && !slices.Contains(c.Where, OfWrite) && !slices.Contains(c.Where, OfKept) {
			t.Errorf("%s refuses no table because of a statement: nobody can overrule it", c.Name())
		}
		if strings.Contains(c.CQL, "\t") {
			t.Errorf("%s: there are tabs in the example", c.Name())
		}
	}
}

// TestRefusals: what refuses says by what, why and where to read more, and a text that holds it can be asked which it is.
func TestRefusals(t *testing.T) {
	for _, c := range All {
		r := c.Refuse("%s is not as it was", "column x")
		want := fmt.Sprintf("%s %s: column x is not as it was (%s#c%d)", c.ID, c.Title, Page, c.Index()+1)
		if r.Error() != want {
			t.Errorf("got %q, want %q", r.Error(), want)
		}
		twice := r.Error() + "; and more: " + Statics.Refuse("x").Error() + r.Error()
		want2 := []*Ref{c.Ref(), Statics.Ref()}
		if c == Statics {
			want2 = want2[:1]
		}
		if got := In("change m is failed: " + twice); !reflect.DeepEqual(got, want2) {
			t.Errorf("%s: found %+v", c.ID, got)
		}
		var as *Refusal
		if !errors.As(fmt.Errorf("%w", r), &as) || as.Condition != c.ID || c.ID.Label() != string(c.ID) {
			t.Errorf("%s: %+v", c.ID, as)
		}
	}
	for _, text := range []string{"", "C1: an old reason", "nothing of ours", Page, Page + "#c99)"} {
		if got := In(text); got != nil {
			t.Errorf("%q: found %+v", text, got)
		}
	}
	for want, r := range map[string]*Refusal{"C99: later": {"C99", "later"}, "no condition": {"", "no condition"}} {
		if r.Error() != want || r.Condition.Label() != "unknown" {
			t.Errorf("got %q, want %q", r, want)
		}
	}
}

// TestPage: docs/conditions.md is what the program says (-update, or go generate, writes it), and every link leads to it.
func TestPage(t *testing.T) {
	var page bytes.Buffer
	if err := WritePage(&page); err != nil {
		t.Fatal(err)
	}
	const name = root + "/docs/conditions.md"
	if *update {
		if err := os.WriteFile(name, page.Bytes(), 0o644); err != nil { //nolint:gosec // a page for everybody
			t.Fatal(err)
		}
	}
	have, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(have, page.Bytes()) {
		t.Error("docs/conditions.md is not what the program says: go generate ./rewrite/condition")
	}
	for _, c := range All {
		anchor, _ := strings.CutPrefix(c.Link(), Page+"#")
		for _, want := range []string{`<a id="` + anchor + `"></a>`, "## " + c.Name() + "\n", c.Says, c.Why, c.Help, c.CQL} {
			if !bytes.Contains(have, []byte(want)) {
				t.Errorf("docs/conditions.md does not have %q", want)
			}
		}
	}
	if !strings.HasSuffix(Page, "/docs/conditions.md") {
		t.Errorf("links lead to %s", Page)
	}
}
