package test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/lint"
	"helm.sh/helm/v3/pkg/lint/support"
)

// oldest is the oldest Kubernetes that docs/kubernetes.md promises.
const oldest = "v1.30.0"

// TestChartLints does what `helm lint --strict` does, with Helm's own linter, for each row of the matrix: not a word of warning.
func TestChartLints(t *testing.T) {
	for name, values := range matrix {
		given, err := chartutil.ReadValues([]byte(values))
		if err != nil {
			t.Fatal(err)
		}
		version, err := chartutil.ParseKubeVersion(oldest)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range lint.AllWithKubeVersion(filepath.Join("..", "helenus"), given, namespace, version).Messages {
			if m.Severity > support.InfoSev {
				t.Errorf("%s: %s", name, m)
			}
		}
	}
}

// TestKubectlReadsTheChart has kubectl, where there is one, read what the chart makes. It can not go further without an API server, which even `--dry-run=client` asks for the
// kinds that there are: reading is as far as it comes (`kubectl create --dry-run=client` ends with a refused connection), so that it is kustomize that reads here.
func TestKubectlReadsTheChart(t *testing.T) {
	if _, err := exec.LookPath("kubectl"); err != nil {
		t.Skip("no kubectl here")
	}
	o := install(t, matrix["both"])
	dir := t.TempDir()
	for name, text := range map[string]string{"all.yaml": o.text, "kustomization.yaml": "resources: [all.yaml]\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	out, err := exec.Command("kubectl", "kustomize", dir).CombinedOutput() //nolint:gosec // the test's own
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if got, want := bytes.Count(out, []byte("\nkind: ")), strings.Count("\n"+o.text, "\nkind: "); got != want {
		t.Errorf("kubectl reads %d objects, the chart made %d", got, want)
	}
}
