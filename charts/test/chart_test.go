package test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"
)

// What the chart is installed as.
const (
	releaseName = "helenus"
	namespace   = "shop"
)

var loadChart = sync.OnceValues(func() (*chart.Chart, error) { return loader.LoadDir("../helenus") })

// render is what `helm template` does: values (YAML) are checked by the schema, and the templates filled in. Nothing is asked of a cluster.
func render(values ...string) (map[string]string, error) {
	c, err := loadChart()
	if err != nil {
		return nil, err
	}
	given := chartutil.Values{}
	for _, text := range values {
		more, err := chartutil.ReadValues([]byte(text))
		if err != nil {
			return nil, err
		}
		given = chartutil.CoalesceTables(more.AsMap(), given)
	}
	all, err := chartutil.ToRenderValues(c, given, chartutil.ReleaseOptions{Name: releaseName, Namespace: namespace, Revision: 1, IsInstall: true}, nil)
	if err != nil {
		return nil, err
	}
	return engine.Engine{Strict: true}.Render(c, all)
}

// objects are what the chart makes, decoded strictly: a field that Kubernetes does not know is an error.
type objects struct {
	text     string // of all
	notes    string
	stateful *appsv1.StatefulSet
	services []*corev1.Service
	configs  []*corev1.ConfigMap
	accounts []*corev1.ServiceAccount
	budgets  []*policyv1.PodDisruptionBudget
	policies []*networkingv1.NetworkPolicy
	monitors []*serviceMonitor
	rules    []*prometheusRule
	metas    []metav1.ObjectMeta
}

// serviceMonitor and prometheusRule are those of Prometheus's operator, as far as the chart uses them.
type serviceMonitor struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Spec              struct {
		JobLabel          string                        `json:"jobLabel"`
		NamespaceSelector struct{ MatchNames []string } `json:"namespaceSelector"`
		Selector          metav1.LabelSelector          `json:"selector"`
		Endpoints         []struct {
			Port, Path, Scheme, Interval string
			TLSConfig                    map[string]any                                      `json:"tlsConfig"`
			Authorization                struct{ Credentials corev1.SecretKeySelector }      `json:"authorization"`
			Relabelings                  []struct{ TargetLabel, Replacement, Action string } `json:"relabelings"`
		} `json:"endpoints"`
	} `json:"spec"`
}

type prometheusRule struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Spec              struct {
		Groups []struct {
			Name, Interval string
			Rules          []struct {
				Alert, Record, Expr, For string
				KeepFiringFor            string `json:"keep_firing_for"`
				Labels, Annotations      map[string]string
			}
		} `json:"groups"`
	} `json:"spec"`
}

// install renders the chart, and decodes all that it makes.
func install(t *testing.T, values ...string) *objects {
	t.Helper()
	files, err := render(values...)
	if err != nil {
		t.Fatal(err)
	}
	o, err := decode(files)
	if err != nil {
		t.Fatalf("%v\n%s", err, o.text)
	}
	return o
}

func decode(files map[string]string) (*objects, error) {
	o := &objects{}
	seen := map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if strings.HasSuffix(name, "NOTES.txt") {
			o.notes = files[name]
			continue
		}
		if strings.HasSuffix(name, ".tpl") {
			continue
		}
		o.text += files[name] + "\n---\n"
		for documents := kyaml.NewYAMLReader(bufio.NewReader(strings.NewReader(files[name]))); ; {
			document, err := documents.Read()
			if err == io.EOF { //nolint:errorlint // as the reader says it
				break
			}
			if err != nil {
				return o, fmt.Errorf("%s: %w", name, err)
			}
			if err := o.add(document, seen); err != nil {
				return o, fmt.Errorf("%s: %w\n%s", name, err, document)
			}
		}
	}
	return o, nil
}

func (o *objects) add(document []byte, seen map[string]bool) error {
	var head struct {
		metav1.TypeMeta   `json:",inline"`
		metav1.ObjectMeta `json:"metadata"`
	}
	if err := yaml.Unmarshal(document, &head); err != nil {
		return err
	}
	if head.Kind == "" { // comments alone
		return nil
	}
	var err error
	switch head.APIVersion + " " + head.Kind {
	case "apps/v1 StatefulSet":
		err = strictly(document, &o.stateful)
	case "v1 Service":
		err = collect(document, &o.services)
	case "v1 ConfigMap":
		err = collect(document, &o.configs)
	case "v1 ServiceAccount":
		err = collect(document, &o.accounts)
	case "policy/v1 PodDisruptionBudget":
		err = collect(document, &o.budgets)
	case "networking.k8s.io/v1 NetworkPolicy":
		err = collect(document, &o.policies)
	case "monitoring.coreos.com/v1 ServiceMonitor":
		err = collect(document, &o.monitors)
	case "monitoring.coreos.com/v1 PrometheusRule":
		err = collect(document, &o.rules)
	default:
		err = fmt.Errorf("the tests know no %s %s", head.APIVersion, head.Kind)
	}
	if err != nil {
		return err
	}
	id := head.Kind + " " + head.Name
	if seen[id] {
		return fmt.Errorf("there are two of %s", id)
	}
	seen[id] = true
	o.metas = append(o.metas, head.ObjectMeta)
	return nil
}

func collect[T any](document []byte, all *[]*T) error {
	var one *T
	err := strictly(document, &one)
	*all = append(*all, one)
	return err
}

// strictly decodes as the API server does that was told to refuse unknown and repeated fields.
func strictly(document []byte, v any) error {
	text, err := yaml.YAMLToJSONStrict(document)
	if err != nil {
		return err
	}
	in := json.NewDecoder(bytes.NewReader(text))
	in.DisallowUnknownFields()
	return in.Decode(v)
}

func (o *objects) container() *corev1.Container { return &o.stateful.Spec.Template.Spec.Containers[0] }

// settings is the file that helenus reads.
func (o *objects) settings() string {
	for _, c := range o.configs {
		if text, ok := c.Data["helenus.yaml"]; ok {
			return text
		}
	}
	return ""
}

// tls is every secret that the chart knows of.
const (
	tls = `
cql: {tls: {existingSecret: listen, clientCAKey: ca.crt}}
cassandra: {tls: {enabled: true, existingSecret: cassandra, certKey: tls.crt, keyKey: tls.key, serverName: cassandra.example.org}, auth: {existingSecret: role}}
admin: {existingSecret: token, webConfig: {existingSecret: web}}
`
	monitored = `
serviceMonitor: {enabled: true, cluster: orders, dc: east, labels: {release: prometheus}}
prometheusRule: {enabled: true, labels: {release: prometheus}}
dashboards: {enabled: true}
`
)

// matrix is what the chart is installed with.
var matrix = map[string]string{
	"default":      "",
	"tls":          tls,
	"monitored":    monitored,
	"both":         tls + monitored + "\nservice: {type: LoadBalancer}\n",
	"mirror":       "cql: {topology: mirror, mirrorNodes: 4}",
	"fleet":        "{replicas: 3, cql: {topology: fleet}}",
	"told":         "webhooks: {existingSecret: hooks, slackKey: slack, signatureKey: sign, console: 'https://helenus.example.org'}",
	"no volume":    "persistence: {enabled: false}",
	"least":        "{networkPolicy: {enabled: false}, podDisruptionBudget: {enabled: false}, serviceAccount: {create: false}, topologySpread: [], resources: {}, drain: {endpointSeconds: 0}, goMemoryLimit: ''}",
	"openshift":    "securityContext: {runAsUser: null, runAsGroup: null, fsGroup: null}",
	"outside":      "service: {type: LoadBalancer, admin: false}",
	"own account":  "serviceAccount: {create: false, name: cassandra-proxy}",
	"settings":     "config: {log-format: json, keyspaces: [shop, stock], settle: 10s, max-connections: 10000000, max-frame: 8MiB, sample-values: false}",
	"closed in":    "networkPolicy: {clients: [], admins: [{namespaceSelector: {matchLabels: {name: monitoring}}}], egress: [{ports: [{port: 9042}]}]}",
	"longest name": "fullnameOverride: " + strings.Repeat("n", 90),
}
