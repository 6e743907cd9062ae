package house

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"math"
	"os"
	"path"
	"path/filepath"
	"slices"
	"sort"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
)

const module = "github.com/helenus-db/helenus"

// mayImport names, for each folder, what of our own its packages may import: a name with a trailing slash means the
// package and everything below it, a bare name that one package. What is not named is forbidden. The innermost folder
// that is listed decides.
var mayImport = map[string][]string{
	"cmd":               {"cmd/", "proxy/", "capture/", "advisor/", "rewrite/", "internal/"}, // what only measures or reproduces is in bench
	"proxy":             {"proxy/", "internal/guard", "internal/native"},                     // it defines the interfaces it needs
	"proxy/wire":        {},                                                                  // frames and bodies in place: all of the proxy rests on it
	"proxy/inflight":    {},
	"proxy/rule":        {},
	"proxy/statement":   {"proxy/wire"},
	"proxy/message":     {"proxy/wire"}, // it speaks, and so is not for what passes
	"proxy/recall":      {"proxy/message", "proxy/proxytest", "proxy/statement", "proxy/wire"},
	"proxy/fleet":       {"proxy/message", "proxy/wire", "internal/guard"},
	"proxy/handshake":   {"proxy/compress", "proxy/login", "proxy/pipe", "proxy/ring", "proxy/wire"},
	"capture":           {"capture/", "proxy", "internal/guard", "internal/native"},                                                                                                       // proxy: the hooks it implements
	"advisor":           {"advisor/", "capture/", "rewrite/condition", "internal/change", "internal/child", "internal/guard", "internal/words"},                                           // snapshots; by which condition advice is refused
	"rewrite":           {"rewrite/", "capture/", "advisor/plan", "advisor/model", "advisor/workload", "proxy", "internal/change", "internal/guard", "internal/native", "internal/sleep"}, // the plan is the contract, and says what it means in terms of tables and statements
	"rewrite/condition": {},                                                                                                                                                               // words alone: what advises and what carries out both speak them, so they rest on nothing
	"rewrite/exec":      {"rewrite/exec/", "capture/", "proxy", "internal/guard"},                                                                                                         // statements of ours; capture: its tests' database
	"rewrite/planrun":   {"rewrite/exec", "advisor/plan", "advisor/model", "advisor/workload", "capture/", "internal/guard"},                                                              // plans, for commands and bench
	"rewrite/kind":      {"rewrite/kind/", "rewrite/exec", "rewrite/condition", "advisor/plan", "capture/", "proxy"},                                                                      // the seam, and what a kind may know beside it
	"rewrite/lookup":    {"rewrite/lookup/", "rewrite/kind", "rewrite/exec/", "rewrite/condition", "advisor/plan", "capture/", "proxy", "internal/guard"},
	// a look-up whose table is the application's: it reads as look-ups do
	"rewrite/existing": {"rewrite/lookup", "rewrite/lookup/", "rewrite/kind", "rewrite/kinds", "rewrite/exec/", "rewrite/condition", "advisor/plan", "capture/", "proxy", "internal/guard"},
	"rewrite/rehearse": {"rewrite/exec", "rewrite/planrun", "advisor/", "capture/"}, // it runs a design as it is printed
	// it measures the executor, to fit what the plans are said to cost
	"rewrite/calibrate": {"rewrite/exec", "rewrite/planrun", "rewrite/scratch", "advisor/cost", "advisor/model", "advisor/plan", "advisor/workload", "internal/chart", "internal/guard", "internal/words", "internal/sleep"},
	"bench":             {"bench/", "proxy/", "capture/", "advisor/", "rewrite/", "internal/cassandra/", "internal/change", "internal/chart", "internal/child", "internal/config", "internal/fleet", "internal/guard", "internal/words", "internal/sleep"},
	"examples":          {}, // ordinary applications know nothing of Helenus
	"internal":          {"internal/"},
	"internal/change":   {"capture/store"},                                                                              // the record that all share who advise, carry out and show: below them
	"internal/check":    {"internal/", "capture/cql/lexer"},                                                             // how CQL writes names
	"internal/keyspace": {"internal/guard", "capture/store"},                                                            // the state, as capture/store has it
	"internal/fleet":    {"internal/guard", "capture/store", "internal/sleep"},                                          // who shares it
	"internal/preview":  {"internal/words", "advisor/plan", "advisor/recommend", "rewrite/calendar", "rewrite/migrate"}, // what an order would do, in words
	"internal/access":   {"internal/", "capture/store"},                                                                 // the tokens, and who acts in the audit trail
	"internal/spans":    {"internal/guard", "capture", "capture/slow"},                                                  // what is said of a request
	"internal/webhook":  {"internal/", "capture/store", "rewrite/condition"},                                            // what the audit trail says, in words
	"internal/admin":    {"internal/", "capture/", "advisor/", "rewrite/"},                                              // the API of the whole, for cmd alone
	"internal/console":  {"internal/", "capture/", "advisor/", "rewrite/", "proxy"},                                     // its pages, of the same things
	"charts":            {},
	"charts/generate":   {"internal/config"}, // the settings that values of the Helm chart may name
	"docs":              {},
}

// testsMayImport names what the tests of any folder but examples may import besides.
var testsMayImport = []string{"internal/cassandra/", "internal/long", "internal/schematest", "bench/generate", "internal/fleet",
	"proxy/proxytest", "proxy/wire"} // a node, published schemas, made-up workloads, other members; a client that says anything

// onlyFrom names, for folders of kinds, who may import them besides themselves, but for tests: whoever else would know a kind otherwise than
// through rewrite/kind. planrun is what commands and bench run, and nothing that serves (docs/decisions/045).
var onlyFrom = map[string][]string{
	"rewrite/lookup":   {"rewrite/kinds", "rewrite/existing", "cmd/"}, // cmd: its settings
	"rewrite/existing": {"rewrite/kinds"},
	"rewrite/planrun":  {"rewrite/calibrate", "rewrite/rehearse", "bench/"},
}

// folders and files are all that may lie at the top.
var (
	folders = []string{".ci", "advisor", "bench", "capture", "charts", "cmd", "docs", "examples", "internal", "proxy", "rewrite"}
	files   = []string{".gitattributes", ".gitignore", ".golangci.yml", "CHANGELOG.md", "CONTRIBUTING.md", "LICENSE", "Makefile", "NOTICE", "README.md", "SECURITY.md", "go.mod", "go.sum"}
	ignored = []string{".git", "bin", "dist"} // not part of the source
)

// mayNotReach names, for each program, what it may not link, by however many steps: with a trailing slash a folder of ours and all below it, else the path of a package.
var mayNotReach = map[string][]string{
	"cmd/helenus":        {"bench/", "internal/cassandra/", "internal/drivers/", "advisor/solve/coin", "C"}, // the laboratory; what needs cgo
	"cmd/helenus-solver": {"bench/", "internal/cassandra/", "internal/drivers/", "proxy/", "capture/", "rewrite/"},
}

// guarded are the folders of the process that applications depend on: there every goroutine is started by package guard, but for those in
// starts, each for its reason.
var (
	guarded = []string{"cmd/helenus/", "proxy/", "capture/", "advisor/", "rewrite/", "internal/"}
	starts  = map[string]string{
		"internal/guard/guard.go":        "it is the guard",
		"proxy/pipe/writer.go":           "flush recovers itself: one is started for many answers, and a closure each would be an allocation each",
		"cmd/helenus/main.go":            "hears signals before there is anything to guard",
		"cmd/helenus/design_progress.go": "of a command that ends with its answer",
		"cmd/helenus/orders.go":          "of a command that ends with its answer",
		"internal/child/child.go":        "locks its thread to a child, and calls nothing of ours",
	}
	unguarded = []string{"proxy/proxytest/", "internal/drivers/", "internal/cassandra/"} // of tests
)

const (
	longFile    = 600  // lines of a file that is no test: reported
	tooLongFile = 700  // refused
	longPackage = 2000 // of a package without its tests: reported only, since a grammar or an API may need it
)

// finding is one breach. A warning is only reported.
type finding struct {
	where, what string
	warning     bool
}

func (f finding) String() string { return f.where + ": " + f.what }

// inspect applies every rule to the tree.
func inspect(tree fs.FS) ([]finding, error) {
	found, err := inspectTop(tree)
	if err != nil {
		return nil, err
	}
	documented := map[string]bool{} // by folder
	lines := map[string]int{}
	working := map[string][]*works{}      // one of each of workers
	links := map[string]map[string]bool{} // what a folder's files import, without its tests
	err = fs.WalkDir(tree, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			if name != "." && (slices.Contains(ignored, name) || entry.Name() == "testdata" || entry.Name() == "node_modules") {
				return fs.SkipDir
			}
			return nil
		}
		if path.Ext(name) != ".go" {
			return nil
		}
		text, err := fs.ReadFile(tree, name)
		if err != nil {
			return err
		}
		file, complaint := parser.ParseFile(token.NewFileSet(), name, text, parser.SkipObjectResolution|parser.ParseComments)
		if complaint != nil {
			found = append(found, finding{where: name, what: "does not parse: " + complaint.Error()})
			return nil //nolint:nilerr // a finding, not a failure of the walk
		}
		test := strings.HasSuffix(name, "_test.go")
		found = append(found, inspectImports(name, test, file)...)
		if working[path.Dir(name)] == nil {
			for _, pkg := range workers {
				working[path.Dir(name)] = append(working[path.Dir(name)], &works{worker: pkg})
			}
		}
		for _, w := range working[path.Dir(name)] {
			w.note(test, file.Name.Name == "main", string(text))
		}
		if test || ast.IsGenerated(file) {
			return nil
		}
		found = append(found, inspectStarts(name, file)...)
		if links[path.Dir(name)] == nil {
			links[path.Dir(name)] = map[string]bool{}
		}
		for _, spec := range file.Imports {
			if target, err := strconv.Unquote(spec.Path.Value); err == nil {
				links[path.Dir(name)][strings.TrimPrefix(target, module+"/")] = true
			}
		}
		dir, n := path.Dir(name), strings.Count(string(text), "\n")
		documented[dir] = documented[dir] || packageComment(file)
		lines[dir] += n
		found = append(found, inspectLength(name, n, longFile, tooLongFile)...)
		return nil
	})
	for dir, ok := range documented {
		if !ok {
			found = append(found, finding{where: dir, what: "no file has a package comment (// Package " + path.Base(dir) + " ...)"})
		}
		found = append(found, inspectLength(dir, lines[dir], longPackage, math.MaxInt)...)
	}
	for program, forbidden := range mayNotReach {
		found = append(found, inspectReach(links, program, forbidden)...)
	}
	for dir, each := range working {
		for _, w := range each {
			found = append(found, w.inspect(dir)...)
		}
	}
	sort.Slice(found, func(i, j int) bool { return found[i].String() < found[j].String() })
	return found, err
}

// workers are the packages that start workers: the program once more, or, of solve, helenus-solver, which only the product's programs find; the others are their own.
var workers = []worker{{starts: "solve", serves: "coin", product: true}, {starts: "round", serves: "round"}}

// worker is one of them.
type worker struct {
	starts, serves string // the package whose New is called; the one that serves
	product        bool   // the product's programs need not serve
}

// works is what a folder does with one of them.
type works struct {
	worker
	calls                     bool // it starts workers
	program, tests            bool // it is a program, it has tests
	programServes, testsServe bool // when they are started as a worker
}

func (w *works) note(test, program bool, text string) {
	w.calls = w.calls || strings.Contains(text, w.starts+".New(")
	w.program, w.tests = w.program || program && !test, w.tests || test
	serves := strings.Contains(text, w.serves+".ServeIfWorker(") || strings.Contains(text, w.serves+".Worker(")
	w.programServes, w.testsServe = w.programServes || serves && !test, w.testsServe || serves && test
}

// inspect finds programs and tests that would begin all they do anew in each worker: nothing else tells, as without a solver there are answers, too, only worse and later.
func (w *works) inspect(dir string) (found []finding) {
	if finds := w.product && strings.HasPrefix(dir, "cmd/"); w.calls && w.program && !w.programServes && !finds {
		found = append(found, finding{where: dir, what: "its main must begin with " + w.serves + ".ServeIfWorker()"})
	}
	if w.calls && w.tests && !w.testsServe {
		found = append(found, finding{where: dir, what: "its tests must have a TestMain that begins with " + w.serves + ".ServeIfWorker()"})
	}
	return found
}

// inspectTop looks at the names at the top.
func inspectTop(tree fs.FS) ([]finding, error) {
	entries, err := fs.ReadDir(tree, ".")
	if err != nil {
		return nil, err
	}
	var found []finding
	for _, entry := range entries {
		allowed := slices.Concat(files, ignored) // .git is a file in a worktree
		if entry.IsDir() {
			allowed = folders
		}
		if slices.Contains(ignored, entry.Name()) { // .git is a file in a worktree
			continue
		}
		if !slices.Contains(allowed, entry.Name()) {
			found = append(found, finding{where: entry.Name(), what: "does not belong at the top; the folders are " + strings.Join(folders, " ")})
		}
	}
	return found, nil
}

func inspectImports(name string, test bool, file *ast.File) []finding {
	folder := path.Dir(name)
	for folder != "." && mayImport[folder] == nil {
		folder = path.Dir(folder)
	}
	allowed, known := mayImport[folder]
	if !known {
		return []finding{{where: name, what: "Go code does not belong here"}}
	}
	if test && folder != "examples" {
		allowed = slices.Concat(allowed, testsMayImport)
	}
	var found []finding
	for _, spec := range file.Imports {
		target, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			continue // the parser has checked it
		}
		own, ok := strings.CutPrefix(target, module+"/")
		if !ok && target != module {
			continue
		}
		if own != path.Dir(name) && !permits(allowed, own) { // an external test imports its own package
			found = append(found, finding{where: name, what: fmt.Sprintf("may not import %s (%s may import of ours: %s)", target, folder, list(allowed))})
			continue
		}
		for kept, by := range onlyFrom {
			if below := []string{kept + "/"}; !test && permits(below, own) && !permits(below, path.Dir(name)) && !permits(by, path.Dir(name)) {
				found = append(found, finding{where: name, what: fmt.Sprintf("may not import %s (only %s may)", target, list(by))})
			}
		}
	}
	return found
}

// inspectReach finds what a program links and may not, with a way there.
func inspectReach(links map[string]map[string]bool, program string, forbidden []string) (found []finding) {
	from := map[string]string{program: ""} // who imports it
	for queue := []string{program}; len(queue) > 0; queue = queue[1:] {
		at := queue[0]
		for _, next := range slices.Sorted(maps.Keys(links[at])) {
			if _, seen := from[next]; seen {
				continue
			}
			if from[next] = at; permits(forbidden, next) {
				way := next
				for by := at; by != ""; by = from[by] {
					way = by + " -> " + way
				}
				found = append(found, finding{where: program, what: "may not link " + next + ": " + way})
				continue // what that links in turn is its own affair
			}
			queue = append(queue, next)
		}
	}
	return found
}

// inspectStarts finds goroutines whose panic would end the process: go statements, and WaitGroup.Go.
func inspectStarts(name string, file *ast.File) (found []finding) {
	in := func(prefix string) bool { return strings.HasPrefix(name, prefix) }
	if !slices.ContainsFunc(guarded, in) || slices.ContainsFunc(unguarded, in) || starts[name] != "" {
		return nil
	}
	ast.Inspect(file, func(n ast.Node) bool {
		bare := false
		switch n := n.(type) {
		case *ast.GoStmt:
			bare = true
		case *ast.CallExpr:
			method, ok := n.Fun.(*ast.SelectorExpr)
			bare = ok && method.Sel.Name == "Go" && len(n.Args) == 1 // guard's have a part besides
		}
		if bare {
			found = append(found, finding{where: name, what: "starts a goroutine whose panic would end the process: use package guard"})
		}
		return true
	})
	return found
}

// permits reports whether one of the entries covers the package.
func permits(allowed []string, pkg string) bool {
	return slices.ContainsFunc(allowed, func(entry string) bool {
		folder, whole := strings.CutSuffix(entry, "/")
		return pkg == folder || whole && strings.HasPrefix(pkg, entry)
	})
}

func list(allowed []string) string {
	if len(allowed) == 0 {
		return "nothing"
	}
	return strings.Join(allowed, ", ")
}

// packageComment reports whether the file has a package comment in the usual form.
func packageComment(file *ast.File) bool {
	text := file.Doc.Text()
	if file.Name.Name == "main" {
		return strings.HasPrefix(text, "Command ") || strings.HasPrefix(text, "Package main ")
	}
	return strings.HasPrefix(text, "Package "+file.Name.Name+" ")
}

func inspectLength(name string, lines, long, tooLong int) []finding {
	if lines <= long {
		return nil
	}
	return []finding{{where: name, what: fmt.Sprintf("%d lines; more than %d: would two rooms read better?", lines, long), warning: lines <= tooLong}}
}

func TestHouse(t *testing.T) {
	root := filepath.Join("..", "..")
	if _, err := os.Stat(filepath.Join(root, "go.mod")); err != nil {
		t.Fatal(err)
	}
	found, err := inspect(os.DirFS(root))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range found {
		if f.warning {
			t.Log(f)
		} else {
			t.Error(f)
		}
	}
	if testing.Verbose() {
		t.Log(rooms(t, os.DirFS(root)))
	}
}

// rooms is a table of the lines of Go in each room, which is a folder at the top or one in it.
func rooms(t *testing.T, tree fs.FS) string {
	t.Helper()
	type lines struct{ code, tests int }
	count := map[string]*lines{}
	err := fs.WalkDir(tree, ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (slices.Contains(ignored, name) || entry.Name() == "node_modules"):
			return fs.SkipDir
		case entry.IsDir() || path.Ext(name) != ".go":
			return nil
		}
		text, err := fs.ReadFile(tree, name)
		parts := strings.Split(path.Dir(name), "/")
		for i := range min(2, len(parts)) {
			room := strings.Join(parts[:i+1], "/")
			if count[room] == nil {
				count[room] = &lines{}
			}
			if n := bytes.Count(text, []byte("\n")); strings.HasSuffix(name, "_test.go") {
				count[room].tests += n
			} else {
				count[room].code += n
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "lines of Go by room\n%-28s %8s %8s\n", "", "code", "tests")
	for _, room := range slices.Sorted(maps.Keys(count)) {
		fmt.Fprintf(&b, "%-28s %8d %8d\n", strings.Repeat("  ", strings.Count(room, "/"))+room, count[room].code, count[room].tests)
	}
	return b.String()
}

// TestRulesBite shows that each rule finds what breaks it, and nothing else.
func TestRulesBite(t *testing.T) {
	source := func(doc, name string, imports ...string) *fstest.MapFile {
		text := doc + "\npackage " + name + "\n"
		for _, i := range imports {
			text += "import _ \"" + i + "\"\n"
		}
		return &fstest.MapFile{Data: []byte(text)}
	}
	ours := func(p string) string { return module + "/" + p }
	lines := func(n int) *fstest.MapFile {
		return &fstest.MapFile{Data: []byte("// Package cql reads.\npackage cql\n" + strings.Repeat("\n", n-2))}
	}
	tests := []struct {
		name string
		tree fstest.MapFS
		want []string // the findings' beginnings
	}{
		{"nothing wrong", fstest.MapFS{
			"go.mod":                         {},
			"cmd/helenus/main.go":            source("// Command helenus is it.", "main", ours("proxy"), ours("advisor/plan"), ours("internal/config")),
			"capture/a.go":                   source("// Package capture counts.", "capture", ours("proxy"), ours("capture/cql")),
			"rewrite/planrun/a.go":           source("// Package planrun runs.", "planrun", ours("advisor/plan"), "golang.org/x/sync/errgroup"),
			"rewrite/planrun/a_test.go":      source("", "planrun_test", ours("rewrite/planrun"), ours("internal/cassandra/cassandratest")),
			"examples/hotel/main.go":         source("// Command hotel is ordinary.", "main", "github.com/gocql/gocql"),
			"advisor/testdata/x/x.go":        source("", "x", ours("cmd/helenus")),
			"bin/leftover.go":                source("", "x"),
			"capture/generated/generated.go": source("// Code generated by x; DO NOT EDIT.\n", "generated", ours("capture")),
		}, nil},
		{"proxy knows nobody", fstest.MapFS{"proxy/a.go": source("// Package proxy relays.", "proxy", ours("capture"))}, []string{"proxy/a.go: may not import"}},
		{"capture knows only the hooks", fstest.MapFS{"capture/a.go": source("// Package capture counts.", "capture", ours("proxy/tls"))}, []string{"capture/a.go: may not import"}},
		{"advisor never rewrites", fstest.MapFS{"advisor/a.go": source("// Package advisor advises.", "advisor", ours("rewrite/migrate"))}, []string{"advisor/a.go: may not import"}},
		{"rewrite takes only the plan", fstest.MapFS{"rewrite/a.go": source("// Package rewrite acts.", "rewrite", ours("advisor/plan"), ours("advisor/planner"))}, []string{"rewrite/a.go: may not import"}},
		{"kinds are known through the seam", fstest.MapFS{
			"rewrite/migrate/a.go":      source("// Package migrate moves.", "migrate", ours("rewrite/kind"), ours("rewrite/lookup/match")),
			"rewrite/migrate/a_test.go": source("", "migrate", ours("rewrite/lookup/match")),
			"rewrite/kinds/a.go":        source("// Package kinds lists.", "kinds", ours("rewrite/lookup")),
			"rewrite/lookup/a.go":       source("// Package lookup is one.", "lookup", ours("rewrite/lookup/match"), ours("rewrite/migrate")),
			"rewrite/a.go":              source("// Package rewrite acts.", "rewrite", ours("rewrite/planrun")),
		}, []string{"rewrite/a.go: may not import", "rewrite/lookup/a.go: may not import", "rewrite/migrate/a.go: may not import"}},
		{"bench keeps out of cmd", fstest.MapFS{"bench/a.go": source("// Package bench measures.", "bench", ours("cmd/helenus"))}, []string{"bench/a.go: may not import"}},
		{"the product knows no bench", fstest.MapFS{
			"cmd/helenus/main.go": source("// Command helenus is it.", "main", ours("advisor/a")),
			"advisor/a/a.go":      source("// Package a is between.", "a", ours("bench/b")),
			"bench/b/b.go":        source("// Package b measures.", "b", ours("bench/c")),
			"bench/c/c.go":        source("// Package c measures.", "c"),
		}, []string{"advisor/a/a.go: may not import", "cmd/helenus: may not link bench/b: cmd/helenus -> advisor/a -> bench/b"}},
		{"nor do its tests", fstest.MapFS{"cmd/helenus/a_test.go": source("", "main", ours("bench/contest"), ours("bench/generate"))}, []string{"cmd/helenus/a_test.go: may not import"}},
		{"examples are ordinary", fstest.MapFS{"examples/a/a_test.go": source("", "a", ours("internal/cassandra"))}, []string{"examples/a/a_test.go: may not import"}},
		{"the shipped code has no test cluster", fstest.MapFS{"advisor/a.go": source("// Package advisor advises.", "advisor", ours("internal/cassandra"))}, []string{"advisor/a.go: may not import"}},
		{"the API is for cmd alone", fstest.MapFS{
			"internal/admin/a.go": source("// Package admin serves.", "admin", ours("rewrite/migrate"), ours("internal/config")),
			"bench/a.go":          source("// Package bench measures.", "bench", ours("internal/admin")),
			"internal/b/b.go":     source("// Package b is small.", "b", ours("rewrite")),
		}, []string{"bench/a.go: may not import", "internal/b/b.go: may not import"}},
		{"no code at the top", fstest.MapFS{"main.go": source("// Command x.", "main")}, []string{"main.go: Go code does not belong here", "main.go: does not belong at the top"}},
		{"unknown folder", fstest.MapFS{"utils/a.txt": {}}, []string{"utils: does not belong at the top"}},
		{"no package comment", fstest.MapFS{"advisor/a.go": source("// advises", "advisor")}, []string{"advisor: no file has a package comment"}},
		{"a long file", fstest.MapFS{"capture/cql/a.go": lines(tooLongFile + 1)}, []string{"capture/cql/a.go: 701 lines"}},
		{"a program that is no worker", fstest.MapFS{"bench/a/main.go": source("// Command a solves.\n// solve.New(", "main"), "bench/a/a_test.go": source("", "main")},
			[]string{"bench/a: its main must begin with", "bench/a: its tests must have a TestMain"}},
		{"a program that is no worker of another kind", fstest.MapFS{"bench/a/main.go": source("// Command a advises.\n// round.New( coin.ServeIfWorker()", "main")},
			[]string{"bench/a: its main must begin with round.ServeIfWorker"}},
		{"a worker", fstest.MapFS{"bench/a/main.go": source("// Command a solves.\n// solve.New( coin.ServeIfWorker() round.New( round.Worker(", "main"), "bench/a/a_test.go": source("// coin.ServeIfWorker() round.ServeIfWorker(\n", "main")}, nil},
		{"helenus finds its solver", fstest.MapFS{"cmd/helenus/main.go": source("// Command helenus is it.\n// solve.New(", "main"), "cmd/helenus/a_test.go": source("", "main")}, []string{"cmd/helenus: its tests must have a TestMain"}},
		{"helenus needs no cgo", fstest.MapFS{
			"cmd/helenus/main.go": source("// Command helenus is it.", "main", ours("advisor/a")),
			"advisor/a/a.go":      source("// Package a binds.", "a", "C"),
		}, []string{"cmd/helenus: may not link C: cmd/helenus -> advisor/a -> C"}},
		{"a bare goroutine", fstest.MapFS{
			"capture/a.go":         {Data: []byte("// Package capture counts.\npackage capture\nfunc f() { go f(); var w wait; w.Go(f); guard.Go(1, f, nil) }\n")},
			"bench/a.go":           {Data: []byte("// Package bench measures.\npackage bench\nfunc f() { go f() }\n")},
			"capture/a_test.go":    {Data: []byte("package capture\nfunc f() { go f() }\n")},
			"proxy/pipe/writer.go": {Data: []byte("// Package pipe moves.\npackage pipe\nfunc f() { go f() }\n")},
		}, []string{"capture/a.go: starts a goroutine", "capture/a.go: starts a goroutine"}},
		{"broken source", fstest.MapFS{"proxy/a.go": {Data: []byte("packag")}}, []string{"proxy/a.go: does not parse"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			found, err := inspect(tt.tree)
			if err != nil {
				t.Fatal(err)
			}
			for i, f := range found {
				if f.warning {
					t.Errorf("%s is only a warning", f)
				}
				if i >= len(tt.want) || !strings.HasPrefix(f.String(), tt.want[i]) {
					t.Errorf("finding %d: %s", i, f)
				}
			}
			if len(found) != len(tt.want) {
				t.Errorf("%d findings, want %q", len(found), tt.want)
			}
		})
	}
}

func TestALittleTooLongIsAWarning(t *testing.T) {
	const text = "// Package cql reads.\npackage cql\n"
	tree := fstest.MapFS{}
	for _, name := range []string{"a", "b", "c", "d"} {
		tree["capture/cql/"+name+".go"] = &fstest.MapFile{Data: []byte(text + strings.Repeat("\n", longFile-1))}
	}
	found, err := inspect(tree)
	if err != nil {
		t.Fatal(err)
	}
	if len(found) != 5 || found[4].where != "capture/cql" {
		t.Errorf("got %v, want the package and its four files", found)
	}
	for _, f := range found {
		if !f.warning {
			t.Errorf("%s is refused", f)
		}
	}
}
