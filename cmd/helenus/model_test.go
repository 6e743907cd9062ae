package main

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/helenus-db/helenus/advisor"
	"github.com/helenus-db/helenus/advisor/correction"
	"github.com/helenus-db/helenus/advisor/infer"
	"github.com/helenus-db/helenus/advisor/recommend"
	"github.com/helenus-db/helenus/internal/admin"
)

// modelAPI answers as a process would that has a question, and keeps the bodies that it was sent.
func modelAPI(t *testing.T, status int) *[]string {
	t.Helper()
	bodies := &[]string{}
	q := infer.Question{ID: "q-1", Text: "Whose key is shop.orders.buyer?", Candidates: []infer.Candidate{
		{Answer: "shop.users", Text: "a user's", Certainty: 0.6, Used: true, Evidence: []infer.Evidence{{Group: "name", LogOdds: 1, Text: "alike"}}}, {Answer: infer.None, Text: "nobody's", Certainty: 0.4}}}
	line := correction.List{{Rename: "shop.users", To: "Account"}}
	imported := advisor.Imported{Version: 3, Changed: true, Comparison: infer.Comparison{Corrections: line, Notes: []string{"a pin"},
		Changes: []infer.Difference{{What: "entity", Name: "Account", After: "key id"}}, Unused: []infer.Difference{{What: "weight", Name: "q-2", Before: "9 executions a second", After: "2 executions a second"}},
		States: []infer.Corrected{{Text: "a line", Why: "it is gone"}}}}
	about := map[string]any{
		"GET model/versions": []advisor.Version{{Number: 3, Actor: "ann", What: "import", Reason: "so it is", Corrections: line, File: true}},
		"GET questions":      advisor.Questions{Open: []recommend.Asked{{Question: q, Worth: 3, Advice: []string{"r-1"}}}, More: 2, Answered: []advisor.Answered{{ID: "q-9", Corrections: line}}},
		"POST model/import":  imported, "POST model/reset": imported, "POST model/diff": admin.ModelDiff{Differences: imported.Changes}, "GET model/diff": admin.ModelDiff{Version: 3, Differences: imported.Changes},
		"POST questions/q-1/answer": advisor.Version{Number: 4, What: "answer to q-1: nobody's"}, "POST questions/q-1/undo": advisor.Version{Number: 5, What: "answer to q-1 taken back"},
	}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, _ := io.ReadAll(r.Body)
		key := r.Method + " " + strings.TrimPrefix(r.URL.Path, "/api/v1/")
		*bodies = append(*bodies, key+" "+r.URL.RawQuery+" "+string(text))
		if key == "GET model/export" {
			_, _ = io.WriteString(w, "name: observed\n")
			return
		}
		if answer, ok := about[key]; ok && status == http.StatusOK {
			_ = json.NewEncoder(w).Encode(answer)
			return
		}
		w.WriteHeader(status)
		_ = json.NewEncoder(w).Encode(&admin.Error{Code: "invalid", Message: "model file:3:5: there is no table"})
	}))
	t.Cleanup(s.Close)
	t.Setenv(envServer, strings.TrimPrefix(s.URL, "http://"))
	t.Setenv(envToken, "secret")
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	return bodies
}

func TestModelCommands(t *testing.T) {
	bodies := modelAPI(t, http.StatusOK)
	file := filepath.Join(t.TempDir(), "m.yaml")
	if err := os.WriteFile(file, []byte("name: observed\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		args []string
		sent string // what the last request had
		says []string
	}{
		{[]string{"model", "export"}, "GET model/export", []string{"name: observed\n"}},
		{[]string{"model", "export", "--version", "2"}, "version=2", []string{"name: observed\n"}},
		{[]string{"model", "import", file, "--why", "so it is"}, `"reason":"so it is","file":"name: observed`, []string{"Version 3 is in force, with 1 correction", "a pin", "+ entity Account: key id", "Not taken", "~ weight q-2", "CONTRADICTED: a line\n  not in force: it is gone"}},
		{[]string{"model", "import", file, "--dry-run"}, `"dry_run":true`, nil},
		{[]string{"model", "diff", file}, `"file":"name: observed`, []string{"+ entity Account: key id"}},
		{[]string{"model", "diff"}, "GET model/diff", []string{"+ entity Account"}},
		{[]string{"model", "versions"}, "GET model/versions", []string{"so it is", "kept", "ann"}},
		{[]string{"model", "reset", "2"}, `"version":2`, []string{"Version 3 is in force"}},
		{[]string{"model", "reset"}, "POST model/reset", []string{"Version 3"}},
		{[]string{"model", "import", file, "-o", "yaml"}, "POST model/import", []string{"rename: shop.users"}},
		{[]string{"questions"}, "GET questions", []string{"q-1  Whose key is shop.orders.buyer?", "1  a user's (60 % certain, taken for now)", "name +1.0: alike", "worth 3 ms of work each second; on it rest r-1", "2 more", "answered  q-9  shop.users is called Account"}},
		{[]string{"questions", "--json"}, "GET questions", []string{`"worth":3`}},
		{[]string{"answer", "q-1", "2", "--why", "a voucher"}, `"reason":"a voucher","choice":"2"`, []string{"answer to q-1: nobody's. Version 4 is in force"}},
		{[]string{"answer", "q-1", "--undo"}, "POST questions/q-1/undo", []string{"Version 5"}},
		{[]string{"answer", "q-1", "2", "--dry-run"}, "GET questions", []string{"Nothing was done", "nobody's"}},
		{[]string{"answer", "q-9", "--undo", "--dry-run"}, "GET questions", []string{"the correction goes: shop.users is called Account"}},
	} {
		*bodies = nil
		out, err := said(tt.args...)
		if err != nil || len(*bodies) != 1 || !strings.Contains((*bodies)[0], tt.sent) {
			t.Errorf("%v: %v, sent %v", tt.args, err, *bodies)
		}
		for _, text := range tt.says {
			if !strings.Contains(out, text) {
				t.Errorf("%v does not say %q:\n%s", tt.args, text, out)
			}
		}
	}
}

func TestModelCommandsRefuse(t *testing.T) {
	bodies := modelAPI(t, http.StatusBadRequest)
	dir := t.TempDir()
	empty, huge := filepath.Join(dir, "empty.yaml"), filepath.Join(dir, "huge.yaml")
	if err := errors.Join(os.WriteFile(empty, nil, 0o600), os.WriteFile(huge, make([]byte, 17<<20), 0o600)); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		args []string
		code int
		says string
		sent int
	}{
		{[]string{"model", "import"}, exitUsage, "accepts 1 arg", 0},
		{[]string{"model", "import", empty}, exitUsage, "is empty; helenus model export makes", 0},
		{[]string{"model", "import", huge}, exitUsage, "larger than", 0},
		{[]string{"model", "import", filepath.Join(dir, "none")}, exitUsage, "no such file", 0},
		{[]string{"model", "reset", "x"}, exitUsage, "is no version", 0},
		{[]string{"answer", "q-1"}, exitUsage, "name the choice", 0},
		{[]string{"answer", "q-1", "1", "--undo"}, exitUsage, "and no choice", 0},
		{[]string{"answer", "q-1", "1"}, exitUsage, "model file:3:5: there is no table", 1},
		{[]string{"model", "diff"}, exitUsage, "there is no table", 1},
	} {
		*bodies = nil
		_, err := said(tt.args...)
		if err == nil || exitCode(err) != tt.code || !strings.Contains(err.Error(), tt.says) || len(*bodies) != tt.sent {
			t.Errorf("%v: %v (%d), want %q; sent %v", tt.args, err, exitCode(err), tt.says, *bodies)
		}
	}
}
