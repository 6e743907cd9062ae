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

// inspectDocs finds what the pages and the comments of the code refer to and is not there.
func inspectDocs(tree fs.FS) (found []finding, err error) {
	pages, sources := map[string]string{}, map[string]string{}
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
		if ext := path.Ext(name); (ext == ".md" || ext == ".go") && name != breaks {
			text, err := fs.ReadFile(tree, name)
			if err != nil {
				return err
			}
			if ext == ".md" {
				pages[name] = string(text)
			} else {
				sources[name] = string(text)
			}
		}
		return nil
	})
	known := map[string]bool{} // lines; whether a test cites it
	for _, row := range lineRow.FindAllStringSubmatch(pages[acceptanceFile], -1) {
		known[row[1]] = false
	}
	add := func(where, what string, args ...any) {
		found = append(found, finding{where: where, what: fmt.Sprintf(what, args...)})
	}
	common := func(name, text string) {
		for _, id := range line.FindAllString(text, -1) {
			if _, ok := known[id]; !ok {
				add(name, "cites %s, which is not in %s", id, acceptanceFile)
			}
		}
		if !strings.Contains(text, "design/") && !strings.Contains(text, "../shared") && !strings.Contains(text, "ssue ") {
			return // most of a large tree
		}
		for _, to := range elsewhere.FindAllString(link.ReplaceAllString(text, ""), -1) { // links are looked at by themselves
			add(name, "refers to what is outside of the repository: %q", strings.TrimSpace(to))
		}
	}
	for name, text := range pages {
		common(name, text)
		for _, to := range brokenLinks(tree, pages, name) {
			add(name, "links to %s, which is not there", to)
		}
		for _, to := range missingPaths(tree, name, text) {
			add(name, "names `%s`, which is not there", to)
		}
	}
	for name, text := range sources {
		common(name, text)
		if strings.HasSuffix(name, "_test.go") {
			for _, id := range cited(text) {
				if _, ok := known[id]; ok {
					known[id] = true
				}
			}
		}
		for _, m := range aCase.FindAllStringSubmatch(text, -1) {
			for _, number := range m[1:] {
				if number != "" && !strings.Contains(pages[casesFile], "\n| "+number+" |") {
					add(name, "cites case %s, which is not in %s", number, casesFile)
				}
			}
		}
		if !strings.Contains(text, "docs/") {
			continue
		}
		for _, to := range page.FindAllString(text, -1) {
			if there, _ := fs.Glob(tree, to+"*"); len(there) == 0 {
				add(name, "names %s, which is not there", to)
			}
		}
		for _, to := range chapter.FindAllStringSubmatch(text, -1) {
			if !strings.Contains(pages["docs/design/"+to[1]], "\n## "+to[2]+" ") {
				add(name, "names chapter %s of docs/design/%s, which is not there", to[2], to[1])
			}
		}
	}
	for _, pkg := range unnamed(pages[architecture], sources) {
		add(architecture, "does not say what package %s is", pkg)
	}
	for id, tested := range known {
		if !tested {
			add(acceptanceFile, "no test cites %s", id)
		}
	}
	slices.SortFunc(found, func(a, b finding) int { return strings.Compare(a.String(), b.String()) })
	return found, err
}

// product are the folders whose packages a newcomer has to place.
var product = []string{"proxy", "capture", "advisor", "rewrite", "internal"}

// unnamed are the packages right below those folders that a page does not name in code font, in whole or by their last part.
func unnamed(text string, sources map[string]string) (pkgs []string) {
	if text == "" {
		return nil
	}
	seen := map[string]bool{}
	for name := range sources {
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

// brokenLinks are a page's links to files or headings of the repository that are not there.
func brokenLinks(tree fs.FS, pages map[string]string, name string) (broken []string) {
	for _, l := range prose(pages[name]) {
		for _, m := range link.FindAllStringSubmatch(code.ReplaceAllString(l, ""), -1) {
			if strings.Contains(m[1], "://") || strings.HasPrefix(m[1], "mailto:") {
				continue
			}
			file, anchor, _ := strings.Cut(m[1], "#")
			to := name
			if file != "" {
				to = path.Join(path.Dir(name), file)
			}
			_, err := fs.Stat(tree, to)
			if err != nil || anchor != "" && !slices.Contains(anchors(pages[to]), anchor) {
				broken = append(broken, m[1])
			}
		}
	}
	return broken
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

// missingPaths are files and folders of the repository that a page names in code font and that are not there. Decisions and the change log
// tell what was, so they are not asked.
func missingPaths(tree fs.FS, name, text string) (missing []string) {
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
			if _, err := fs.Stat(tree, strings.TrimSuffix(to, "/")); err != nil {
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
