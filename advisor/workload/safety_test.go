package workload_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/helenus-db/helenus/advisor/workload"
)

const visits = `
name: visits
model:
  entities:
    - name: Page
      count: 1000
      attributes: [{name: page_id, type: uuid}, {name: visits, type: int}]
      key: [page_id]
statements:
  - {id: visit, text: "UPDATE Page SET visits = ? WHERE Page.page_id = ?", weight: 1}
safety: %s
`

// TestSafety reads what a file says of safety, and writes it as it was.
func TestSafety(t *testing.T) {
	for text, want := range map[string]*workload.Safety{
		"{principal: Page, owners: {visit: Page.page_id}, require_safe: true}": {Principal: "Page", Owners: map[string]string{"visit": "Page.page_id"}, Require: true},
		"{require_safe: [lwt, counter], penalty: 2.5}":                         {Require: true, Classes: []string{"lwt", "counter"}, Penalty: 2.5},
		"{owners: {visit: '*'}}":                                               {Owners: map[string]string{"visit": "*"}},
	} {
		w, err := workload.Read("visits.yaml", fmt.Appendf(nil, visits, text))
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		var b bytes.Buffer
		if err := workload.Save(&b, w); err != nil {
			t.Fatal(err)
		}
		again, err := workload.Read("again.yaml", b.Bytes())
		if err != nil {
			t.Errorf("%v\n%s", err, b.String())
			continue
		}
		for _, w := range []*workload.Workload{w, again} {
			if d := cmp.Diff(want, w.Safety); d != "" {
				t.Errorf("%s: %s", text, d)
			}
		}
	}
	for text, want := range map[string]string{
		"{principal: Pag}":                   "visits.yaml:11:21: principal: no entity",
		"{owners: {vist: '*'}}":              "no statement is called",
		"{owners: {visit: Page.name}}":       "no attribute of Page",
		"{require_safe: [lwt, lost]}":        "no class of writes is called",
		"{penalty: -1}":                      "penalty -1 is not a number from 0 on",
		"{require_safe: {all: true}}":        "visits.yaml",
		"{requires_safe: true, penalty: 10}": "requires_safe",
	} {
		if _, err := workload.Read("visits.yaml", fmt.Appendf(nil, visits, text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}
