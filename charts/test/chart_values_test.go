package test

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// TestBadValues: what can not be meant is refused, with words that say what to do.
func TestBadValues(t *testing.T) {
	for values, want := range map[string]string{
		"replicaz: 2":           "replicaz",
		"replicas: 0":           "replicas",
		"replicas: two":         "replicas",
		"replicas: 2":           "cql.topology to fleet",
		"cql: {topology: ring}": "topology",
		"cql: {port: 70000}":    "port",
		"cql: {port: 19080}":    "admin.port 19080",
		"cql: {topology: mirror, mirrorNodes: 3, port: 19078}":           "admin.port 19080",
		"{replicas: 2, cql: {topology: fleet, advertise: x}}":            "cql.advertise",
		"cassandra: {contactPoints: []}":                                 "contactPoints",
		"cassandra: {contactPoints: [cassandra]}":                        "contactPoints",
		"cassandra: {auth: {password: hush}}":                            "password",
		"cassandra: {tls: {verify: maybe}}":                              "verify",
		"cassandra: {tls: {existingSecret: x}}":                          "cassandra.tls.enabled",
		"admin: {token: hush}":                                           "token",
		"config: {password: hush}":                                       "password",
		"config: {admin-token: hush}":                                    "admin-token",
		"config: {state-dir: /elsewhere}":                                "state-dir",
		"config: {webhooks: ['https://hooks.example.org/secret']}":       "webhooks",
		"config: {no-such-setting: 1}":                                   "no-such-setting",
		"config: {sample-values: 7}":                                     "sample-values",
		"image: {digest: abc}":                                           "digest",
		"image: {pullPolicy: Sometimes}":                                 "pullPolicy",
		"service: {type: LoadBalancer}":                                  "service.admin to false",
		"service: {type: ExternalName}":                                  "type",
		"drain: {graceSeconds: 10}":                                      "drain.graceSeconds",
		"drain: {timeoutSeconds: soon}":                                  "timeoutSeconds",
		"persistence: {size: plenty}":                                    "size",
		"securityContext: {runAsUser: 0}":                                "runAsUser",
		"securityContext: {privileged: true}":                            "privileged",
		"resources: {limit: {cpu: 1}}":                                   "limit",
		"{admin: {metricsToken: true}, serviceMonitor: {enabled: true}}": "serviceMonitor.token.existingSecret",
		"webhooks: {existingSecret: x, urlsKey: ''}":                     "urlsKey",
		"webhooks: {console: here}":                                      "console",
		"topologySpread: [{maxSkew: 1}]":                                 "topologyKey",
	} {
		if _, err := render(values); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v; want an error that names %s", values, err, want)
		}
	}
}

// others are values that mean something else than the defaults, where that is not told by the type alone; and what must be so for them to matter.
var others = map[string]struct {
	value any
	given string
}{
	"replicas":                            {3, "cql: {topology: fleet}"},
	"image.digest":                        {"sha256:" + strings.Repeat("0a", 32), ""},
	"image.pullPolicy":                    {"Always", ""},
	"image.pullSecrets":                   {[]string{"registry"}, ""},
	"cassandra.contactPoints":             {[]string{"10.0.0.1:9042", "10.0.0.2:9042"}, ""},
	"cassandra.auth.usernameKey":          {"role", tls},
	"cassandra.auth.passwordKey":          {"word", tls},
	"cassandra.tls.existingSecret":        {"files", "cassandra: {tls: {enabled: true}}"},
	"cassandra.tls.caKey":                 {"root.pem", tls},
	"cassandra.tls.certKey":               {"own.pem", tls},
	"cassandra.tls.keyKey":                {"own.key", tls},
	"cassandra.tls.serverName":            {"other", tls},
	"cassandra.tls.verify":                {"chain", tls},
	"cql.topology":                        {"mirror", ""},
	"cql.mirrorNodes":                     {5, "cql: {topology: mirror}"},
	"cql.tls.certKey":                     {"x.pem", tls},
	"cql.tls.keyKey":                      {"x.key", tls},
	"cql.tls.clientCAKey":                 {"x.ca", tls},
	"admin.tokenKey":                      {"bootstrap", tls},
	"admin.hosts":                         {[]string{"helenus.example.org"}, ""},
	"admin.webConfig.key":                 {"other.yml", tls},
	"webhooks.urlsKey":                    {"x", "webhooks: {existingSecret: hooks}"},
	"webhooks.slackKey":                   {"x", "webhooks: {existingSecret: hooks}"},
	"webhooks.signatureKey":               {"x", "webhooks: {existingSecret: hooks}"},
	"webhooks.console":                    {"https://helenus.example.org", ""},
	"openid.secretKey":                    {"x", "openid: {existingSecret: provider}"},
	"config":                              {map[string]any{"log-format": "json"}, ""},
	"drain.endpointSeconds":               {30, ""},
	"drain.timeoutSeconds":                {60, ""},
	"drain.graceSeconds":                  {2, ""},
	"persistence.size":                    {"100Gi", ""},
	"persistence.whenDeleted":             {"Delete", ""},
	"service.type":                        {"NodePort", tls},
	"resources":                           {map[string]any{"requests": map[string]any{"cpu": "2"}}, ""},
	"goMemoryLimit":                       {"4GiB", ""},
	"networkPolicy.clients":               {[]any{map[string]any{"ipBlock": map[string]any{"cidr": "10.0.0.0/8"}}}, ""},
	"networkPolicy.admins":                {[]any{map[string]any{"ipBlock": map[string]any{"cidr": "10.0.0.0/8"}}}, ""},
	"networkPolicy.egress":                {[]any{map[string]any{"ports": []any{map[string]any{"port": 9042}}}}, ""},
	"topologySpread":                      {[]any{map[string]any{"topologyKey": "rack"}}, ""},
	"tolerations":                         {[]any{map[string]any{"key": "cassandra", "operator": "Exists"}}, ""},
	"affinity":                            {map[string]any{"podAntiAffinity": map[string]any{}}, ""},
	"extraEnv":                            {[]any{map[string]any{"name": "TZ", "value": "UTC"}}, ""},
	"extraVolumes":                        {[]any{map[string]any{"name": "cost", "configMap": map[string]any{"name": "cost"}}}, ""},
	"extraVolumeMounts":                   {[]any{map[string]any{"name": "tmp", "mountPath": "/scratch"}}, ""},
	"serviceMonitor.interval":             {"30s", monitored},
	"serviceMonitor.labels":               {map[string]any{"team": "data"}, monitored},
	"serviceMonitor.cluster":              {"other", monitored},
	"serviceMonitor.dc":                   {"other", monitored},
	"serviceMonitor.token.existingSecret": {"viewer", monitored},
	"serviceMonitor.token.key":            {"x", monitored + "\n"},
	"serviceMonitor.tlsConfig":            {map[string]any{"insecureSkipVerify": true}, monitored},
	"prometheusRule.labels":               {map[string]any{"team": "data"}, monitored},
	"dashboards.labels":                   {map[string]any{"team": "data"}, monitored},
	"dashboards.annotations":              {map[string]any{"team": "data"}, monitored},
}

// needed is what the value at the end of path needs besides its row of others.
var needed = map[string]string{"serviceMonitor.token.key": "serviceMonitor: {enabled: true, token: {existingSecret: viewer}}"}

// TestEveryValueMatters: there is no value of the schema that changes nothing.
func TestEveryValueMatters(t *testing.T) {
	text, err := os.ReadFile("../helenus/values.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	var schema node
	if err := json.Unmarshal(text, &schema); err != nil {
		t.Fatal(err)
	}
	leaves := map[string]*node{}
	schema.leaves("", leaves)
	delete(leaves, "global")
	if len(leaves) < 60 {
		t.Fatalf("%d values", len(leaves))
	}
	for path, leaf := range leaves {
		one, said := others[path]
		if !said {
			one.value = leaf.other(t, path)
		}
		given := one.given
		if more, ok := needed[path]; ok {
			given = more
		}
		changed, err := yaml.Marshal(nested(path, one.value))
		if err != nil {
			t.Fatal(err)
		}
		before, err := render(given)
		if err != nil {
			t.Errorf("%s: without: %v", path, err)
			continue
		}
		after, err := render(given, string(changed))
		if err != nil {
			t.Errorf("%s: %v\n%s", path, err, changed)
			continue
		}
		was, err := decode(before)
		if err != nil {
			t.Fatal(err)
		}
		is, err := decode(after)
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		if was.text == is.text {
			t.Errorf("%s: %v changes nothing", path, one.value)
		}
	}
	for path := range others {
		if leaves[path] == nil {
			t.Errorf("there is no value %s", path)
		}
	}
}

// node is a JSON Schema, as far as the chart's has it.
type node struct {
	Type                 any
	Description          string
	Properties           map[string]*node
	AdditionalProperties any
	Enum                 []any
}

func (n *node) leaves(path string, all map[string]*node) {
	for name, p := range n.Properties {
		at := strings.TrimPrefix(path+"."+name, ".")
		if p.Description == "" { // a group
			p.leaves(at, all)
			continue
		}
		all[at] = p
	}
}

// other is a value that is no default.
func (n *node) other(t *testing.T, path string) any {
	types := fmt.Sprint(n.Type)
	switch {
	case strings.Contains(types, "integer"):
		return 4711
	case types == "string":
		return "other"
	case types == "boolean":
		at := defaults(t)
		parts := strings.Split(path, ".")
		for _, key := range parts[:len(parts)-1] {
			at, _ = at[key].(map[string]any)
		}
		on, _ := at[parts[len(parts)-1]].(bool)
		return !on
	case types == "object":
		return map[string]any{"example.org/other": "other"}
	}
	t.Errorf("%s: the test knows no other value of type %v", path, n.Type)
	return nil
}

func defaults(t *testing.T) (all map[string]any) {
	t.Helper()
	c, err := loadChart()
	if err != nil {
		t.Fatal(err)
	}
	return c.Values
}

func nested(path string, v any) any {
	parts := strings.Split(path, ".")
	slices.Reverse(parts)
	for _, key := range parts {
		v = map[string]any{key: v}
	}
	return v
}
