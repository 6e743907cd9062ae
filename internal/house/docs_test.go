package house

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
)

const (
	acceptanceFile = "docs/design/acceptance.md"   // holds the lines that tests cite as W-41, one table row each
	casesFile      = "docs/design/cases.md"        // what tests cite as case 04
	index          = "docs/index.md"               // leads to all pages
	architecture   = "docs/architecture.md"        // has each package of the product
	breaks         = "internal/house/docs_test.go" // its examples break the rules
)

var (
	link      = regexp.MustCompile(`\[[^\]]*\]\(([^)\s]+)\)`)
	code      = regexp.MustCompile("`[^`\n]+`")
	heading   = regexp.MustCompile(`^#{1,6} +(.+)$`)
	anchorID  = regexp.MustCompile(`<a (?:id|name)="([^"]+)"`)
	dropped   = regexp.MustCompile(`[^\p{L}\p{N} _-]`)                          // of a heading, in its anchor
	line      = regexp.MustCompile(`\b[BDNSW]-\d+\b`)                           // of the acceptance list
	lineRow   = regexp.MustCompile(`(?m)^\| ([BDNSW]-\d+) \|`)                  // where it stands
	lines     = regexp.MustCompile(`\b([BDNSW])-(\d+) to (?:[BDNSW]-)?(\d+)\b`) // from one to another
	wrapped   = regexp.MustCompile(`\n\s*// ?`)                                 // a comment goes on
	testName  = regexp.MustCompile(`(?m)^func Test\w+`)                         // may hold lines as in TestS09S12
	inName    = regexp.MustCompile(`([BDNSW])0?(\d+)`)
	aCase     = regexp.MustCompile(`//.*\b[Cc]ases? (\d\d)(?: and (\d\d))?\b`)                             // in a comment
	page      = regexp.MustCompile(`\bdocs/[\w./-]+\.md\b|\bdocs/decisions/\d{3}\b`)                       // as code names it
	chapter   = regexp.MustCompile(`docs/design/(\w+\.md),? (?:sections? )?(\d(?:\.\d)?)`)                 // and a chapter of it
	elsewhere = regexp.MustCompile(`\.\./shared\b|(?:^|[^\w/.-])(?:\.\./)?design/[a-z]+|\b[Ii]ssue \d+\b`) // a file, or a plan, outside of the repository
)

// papers are the pages and the sources of a tree, and what they refer to that is not there.
type papers struct {
	tree           fs.FS
	pages, sources map[string]string // by path
	tested         map[string]bool   // by line of the acceptance list: whether a test cites it
	found          []finding
}

// inspectDocs finds what the pages and the comments of the code refer to and is not there.
func inspectDocs(tree fs.FS) ([]finding, error) {
	p := &papers{tree: tree, pages: map[string]string{}, sources: map[string]string{}, tested: map[string]bool{}}
	if err := fs.WalkDir(tree, ".", p.read); err != nil {
		return nil, err
	}
	for _, row := range lineRow.FindAllStringSubmatch(p.pages[acceptanceFile], -1) {
		p.tested[row[1]] = false
	}
	p.inspectPages()
	for name, text := range p.sources {
		p.inspectSource(name, text)
	}
	for id, tested := range p.tested {
		if !tested {
			p.add(acceptanceFile, "no test cites %s", id)
		}
	}
	for _, pkg := range p.unnamed(p.pages[architecture]) {
		p.add(architecture, "does not say what package %s is", pkg)
	}
	slices.SortFunc(p.found, func(a, b finding) int { return strings.Compare(a.String(), b.String()) })
	return p.found, nil
}

func (p *papers) add(where, what string, args ...any) {
	p.found = append(p.found, finding{where: where, what: fmt.Sprintf(what, args...)})
}

// read is for fs.WalkDir.
func (p *papers) read(name string, entry fs.DirEntry, err error) error {
	if err != nil {
		return err
	}
	if entry.IsDir() {
		if name != "." && (slices.Contains(ignored, name) || entry.Name() == "testdata" || entry.Name() == "node_modules") {
			return fs.SkipDir
		}
		return nil
	}
	into := map[string]map[string]string{".md": p.pages, ".go": p.sources}[path.Ext(name)]
	if into == nil || name == breaks {
		return nil
	}
	text, err := fs.ReadFile(p.tree, name)
	into[name] = string(text)
	return err
}

// inspect looks at what pages and sources may both refer to.
func (p *papers) inspect(name, text string) {
	for _, id := range line.FindAllString(text, -1) {
		if _, known := p.tested[id]; !known {
			p.add(name, "cites %s, which is not in %s", id, acceptanceFile)
		}
	}
	if !strings.Contains(text, "design/") && !strings.Contains(text, "../shared") && !strings.Contains(text, "ssue ") {
		return // most of a large tree
	}
	for _, to := range elsewhere.FindAllString(link.ReplaceAllString(text, ""), -1) { // links are looked at by themselves
		p.add(name, "refers to what is outside of the repository: %q", strings.TrimSpace(to))
	}
}

func (p *papers) inspectPages() {
	linked := map[string]bool{}
	for name, text := range p.pages {
		p.inspect(name, text)
		broken, sound := p.links(name)
		for _, to := range broken {
			p.add(name, "links to %s, which is not there", to)
		}
		for _, to := range sound {
			linked[to] = linked[to] || to != name
		}
		for _, to := range p.missing(name, text) {
			p.add(name, "names `%s`, which is not there", to)
		}
	}
	for name := range p.pages {
		if p.pages[index] != "" && strings.HasPrefix(name, "docs/") && name != index && !linked[name] {
			p.add(name, "no page links to it")
		}
	}
}

func (p *papers) inspectSource(name, text string) {
	p.inspect(name, text)
	if strings.HasSuffix(name, "_test.go") {
		for _, id := range cited(text) {
			if _, known := p.tested[id]; known {
				p.tested[id] = true
			}
		}
	}
	for _, m := range aCase.FindAllStringSubmatch(text, -1) {
		for _, number := range m[1:] {
			if number != "" && !strings.Contains(p.pages[casesFile], "\n| "+number+" |") {
				p.add(name, "cites case %s, which is not in %s", number, casesFile)
			}
		}
	}
	if !strings.Contains(text, "docs/") {
		return
	}
	for _, to := range page.FindAllString(text, -1) {
		if there, _ := fs.Glob(p.tree, to+"*"); len(there) == 0 {
			p.add(name, "names %s, which is not there", to)
		}
	}
	for _, to := range chapter.FindAllStringSubmatch(text, -1) {
		if !strings.Contains(p.pages["docs/design/"+to[1]], "\n## "+to[2]+" ") {
			p.add(name, "names chapter %s of docs/design/%s, which is not there", to[2], to[1])
		}
	}
}

// product are the folders whose packages a newcomer has to place.
var product = []string{"proxy", "capture", "advisor", "rewrite", "internal"}

// unnamed are the packages right below those folders that a page does not name in code font, in whole or by their last part.
func (p *papers) unnamed(text string) (pkgs []string) {
	if text == "" {
		return nil
	}
	seen := map[string]bool{}
	for name := range p.sources {
		dir := path.Dir(name)
		top, last, _ := strings.Cut(dir, "/")
		if !slices.Contains(product, top) || last == "" || strings.Contains(last, "/") || seen[dir] {
			continue
		}
		seen[dir] = true
		if !strings.Contains(text, "`"+dir+"`") && !strings.Contains(text, "`"+last+"`") {
			pkgs = append(pkgs, dir)
		}
	}
	return pkgs
}

// cited are the lines of the acceptance list that a test file names: by themselves, in ranges, or in the names of tests.
func cited(text string) (ids []string) {
	text = wrapped.ReplaceAllString(text, " ")
	ids = line.FindAllString(text, -1)
	for _, m := range lines.FindAllStringSubmatch(text, -1) {
		from, _ := strconv.Atoi(m[2])
		to, _ := strconv.Atoi(m[3])
		for n := from; n <= to; n++ {
			ids = append(ids, fmt.Sprintf("%s-%d", m[1], n))
		}
	}
	for _, name := range testName.FindAllString(text, -1) {
		for _, m := range inName.FindAllStringSubmatch(name, -1) {
			ids = append(ids, m[1]+"-"+m[2])
		}
	}
	return ids
}

// prose is a page without what stands in fences.
func prose(text string) (lines []string) {
	fenced := false
	for l := range strings.Lines(text) {
		l = strings.TrimRight(l, "\n")
		if strings.HasPrefix(strings.TrimSpace(l), "```") {
			fenced = !fenced
		} else if !fenced {
			lines = append(lines, l)
		}
	}
	return lines
}

// links are a page's links to what is not in the repository, as they are written, and the files that the others lead to.
func (p *papers) links(name string) (broken, sound []string) {
	for _, l := range prose(p.pages[name]) {
		for _, m := range link.FindAllStringSubmatch(code.ReplaceAllString(l, ""), -1) {
			if strings.Contains(m[1], "://") || strings.HasPrefix(m[1], "mailto:") {
				continue
			}
			file, anchor, _ := strings.Cut(m[1], "#")
			to := name
			if file != "" {
				to = path.Join(path.Dir(name), file)
			}
			if _, err := fs.Stat(p.tree, to); err != nil || anchor != "" && !slices.Contains(anchors(p.pages[to]), anchor) {
				broken = append(broken, m[1])
			} else {
				sound = append(sound, to)
			}
		}
	}
	return broken, sound
}

// anchors are what GitHub makes of a page's headings, and those that it gives itself.
func anchors(text string) (all []string) {
	times := map[string]int{}
	for _, l := range prose(text) {
		for _, m := range anchorID.FindAllStringSubmatch(l, -1) {
			all = append(all, m[1])
		}
		m := heading.FindStringSubmatch(l)
		if m == nil {
			continue
		}
		title := link.ReplaceAllStringFunc(m[1], func(l string) string { return l[1:strings.Index(l, "]")] })
		slug := strings.ReplaceAll(dropped.ReplaceAllString(strings.ToLower(title), ""), " ", "-")
		if n := times[slug]; n > 0 {
			all = append(all, fmt.Sprintf("%s-%d", slug, n))
		} else {
			all = append(all, slug)
		}
		times[slug]++
	}
	return all
}

// missing are files and folders of the repository that a page names in code font and that are not there. Decisions and the change log
// tell what was, so they are not asked.
func (p *papers) missing(name, text string) (missing []string) {
	if name == "CHANGELOG.md" || path.Dir(name) == "docs/decisions" || path.Dir(name) == "docs/results" {
		return nil
	}
	for _, l := range prose(text) {
		for _, token := range code.FindAllString(l, -1) {
			to := strings.Trim(token, "`")
			top, _, deep := strings.Cut(to, "/")
			if !deep || !slices.Contains(folders, top) || strings.ContainsAny(to, " *?{}()<>=…") {
				continue
			}
			to, _, _ = strings.Cut(to, ":") // a line of it
			if _, err := fs.Stat(p.tree, strings.TrimSuffix(to, "/")); err != nil {
				missing = append(missing, to)
			}
		}
	}
	return missing
}

func TestDocs(t *testing.T) {
	found, err := inspectDocs(os.DirFS(filepath.Join("..", "..")))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range found {
		t.Error(f)
	}
}

// TestDocsBite shows that each rule of pages finds what breaks it, and nothing else.
func TestDocsBite(t *testing.T) {
	file := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }
	list := file("| N-2 | x |\n| N-3 | x |\n| N-4 | x |\n| S-9 | x |\n| W-41 | fewest tables |\n")
	tests := []struct {
		name string
		tree fstest.MapFS
		want []string // the findings' beginnings
	}{
		{"nothing wrong", fstest.MapFS{
			"README.md":              file("# It\n[a](docs/a.md#what-it-is-2) [b](https://x.y/z#q) `[c](d)` [e](#it)\n```\n[f](g)\n```\n"),
			"docs/a.md":              file("# What it *is*, 2\n## Same\n## Same\n<a id=\"c1\"></a>\n[up](../README.md) [here](#same-1) [c](#c1) `docs/a.md` `advisor/plan` `bin/helenus` `docs/*.md`\n"),
			"advisor/plan/plan.go":   file("// Package plan is docs/a.md, docs/design/map.md 2.5 and docs/decisions/007: W-41.\npackage plan\n"),
			"advisor/plan/a_test.go": file("// N-2 to\n// N-4\npackage plan\n\n// It holds.\nfunc TestS09AndW41() {}\n"),
			"docs/decisions/007.md":  file("`advisor/gone` was there\n"),
			"docs/design/map.md":     file("# Map\n## 2.5 Joins\n"),
			acceptanceFile:           list,
		}, nil},
		{"a file that is gone", fstest.MapFS{"docs/a.md": file("[x](b.md)")}, []string{"docs/a.md: links to b.md"}},
		{"a heading that is gone", fstest.MapFS{"docs/a.md": file("# A\n[x](#b) [y](b.md#c)"), "docs/b.md": file("# B\n```\n# C\n```\n")},
			[]string{"docs/a.md: links to #b", "docs/a.md: links to b.md#c"}},
		{"a page that nothing leads to", fstest.MapFS{index: file("[a](a.md)"), "docs/a.md": file("[me](a.md)"), "docs/b.md": file("[me](b.md) [a](a.md)")}, []string{"docs/b.md: no page links to it"}},
		{"a path that is gone", fstest.MapFS{"docs/a.md": file("see `proxy/x.go:3`")}, []string{"docs/a.md: names `proxy/x.go`"}},
		{"an unknown line", fstest.MapFS{"a.go": file("// W-41, W-99"), "docs/a.md": file("D-1"), acceptanceFile: file("| W-41 | x |\n"), "a_test.go": file("// W-41")},
			[]string{"a.go: cites W-99", "docs/a.md: cites D-1"}},
		{"an unknown case", fstest.MapFS{"a_test.go": file("// Cases 04 and 05.\nswitch {\ncase 10: // ten\n}"), casesFile: file("# Cases\n| 04 | x |\n")}, []string{"a_test.go: cites case 05"}},
		{"a line without a test", fstest.MapFS{"a.go": file("// N-3"), "a_test.go": file("// W-41, S-9; N-2\nfunc TestN4x() {}\n"), acceptanceFile: list}, []string{acceptanceFile + ": no test cites N-3"}},
		{"a package without a word", fstest.MapFS{architecture: file("`proxy/wire` and `pipe`"), "proxy/wire/a.go": file(""), "proxy/pipe/a.go": file(""), "proxy/ring/a.go": file(""), "bench/b/b.go": file("")},
			[]string{architecture + ": does not say what package proxy/ring is"}},
		{"outside", fstest.MapFS{"docs/a.md": file("[x](design/b.md)"), "docs/design/b.md": file("as [y](../a.md)"), "a.go": file("// see ../shared/x.md"), "b.go": file("// (design/mapping.md 2)"), "c.go": file("// as issue 8 has it")},
			[]string{"a.go: refers to what is outside", "b.go: refers to what is outside", "c.go: refers to what is outside"}},
		{"pages that code names", fstest.MapFS{"a.go": file("// docs/b.md docs/decisions/008 docs/design/map.md 2.6"), "docs/design/map.md": file("# Map\n## 2.5 Joins\n")},
			[]string{"a.go: names chapter 2.6 of docs/design/map.md", "a.go: names docs/b.md", "a.go: names docs/decisions/008"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			found, err := inspectDocs(tt.tree)
			if err != nil {
				t.Fatal(err)
			}
			for i, f := range found {
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
