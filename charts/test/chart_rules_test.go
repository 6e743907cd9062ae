package test

import (
	"bytes"
	"compress/gzip"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"math/big"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/yaml"
)

// TestChart installs the chart with each row of the matrix, and holds what it makes to what must be so always.
func TestChart(t *testing.T) {
	for name, values := range matrix {
		t.Run(name, func(t *testing.T) {
			o := install(t, values)
			checkNames(t, o)
			checkSelectors(t, o)
			checkPorts(t, o)
			checkRestricted(t, o)
			checkVolumes(t, o)
			checkDrain(t, o)
		})
	}
}

func checkNames(t *testing.T, o *objects) {
	for _, m := range o.metas {
		if errs := validation.IsDNS1123Label(m.Name); len(errs) > 0 {
			t.Errorf("name %q: %v", m.Name, errs)
		}
		if m.Namespace != namespace {
			t.Errorf("%s is in namespace %q", m.Name, m.Namespace)
		}
		for _, label := range []string{"app.kubernetes.io/name", "app.kubernetes.io/instance", "app.kubernetes.io/version", "helm.sh/chart"} {
			if m.Labels[label] == "" {
				t.Errorf("%s has no label %s", m.Name, label)
			}
		}
		for k, v := range m.Labels {
			if errs := append(validation.IsQualifiedName(k), validation.IsValidLabelValue(v)...); len(errs) > 0 {
				t.Errorf("%s: label %s=%q: %v", m.Name, k, v, errs)
			}
		}
	}
	// The pod's name and a hash are a label of it.
	if n := len(o.stateful.Name); n > 52 {
		t.Errorf("the StatefulSet's name has %d bytes", n)
	}
}

// checkSelectors: what is selected is the pods, and the monitor finds one service, whose pods are each scraped once.
func checkSelectors(t *testing.T, o *objects) {
	pod := labels.Set(o.stateful.Spec.Template.Labels)
	match := func(what string, s *metav1.LabelSelector) {
		selector, err := metav1.LabelSelectorAsSelector(s)
		if err != nil || selector.Empty() || !selector.Matches(pod) {
			t.Errorf("%s selects %v, not pods with %v (%v)", what, s, pod, err)
		}
	}
	match("the StatefulSet", o.stateful.Spec.Selector)
	for _, s := range o.services {
		match("service "+s.Name, &metav1.LabelSelector{MatchLabels: s.Spec.Selector})
	}
	for _, b := range o.budgets {
		match("the budget", b.Spec.Selector)
	}
	for _, p := range o.policies {
		match("the network policy", &p.Spec.PodSelector)
	}
	for i := range o.stateful.Spec.Template.Spec.TopologySpreadConstraints {
		match("the spread", o.stateful.Spec.Template.Spec.TopologySpreadConstraints[i].LabelSelector)
	}
	for _, m := range o.monitors {
		selector, err := metav1.LabelSelectorAsSelector(&m.Spec.Selector)
		if err != nil {
			t.Fatal(err)
		}
		found := 0
		for _, s := range o.services {
			if selector.Matches(labels.Set(s.Labels)) {
				found++
			}
		}
		if found != 1 {
			t.Errorf("the monitor finds %d services", found)
		}
	}
	headless := ""
	for _, s := range o.services {
		if s.Spec.ClusterIP == corev1.ClusterIPNone {
			headless = s.Name
		}
	}
	if o.stateful.Spec.ServiceName == "" || o.stateful.Spec.ServiceName != headless {
		t.Errorf("the StatefulSet's service is %q, the headless one %q", o.stateful.Spec.ServiceName, headless)
	}
}

// checkPorts: ports have names, what points to a port points to one by its name, and helenus listens there.
func checkPorts(t *testing.T, o *objects) {
	named := map[string]int32{}
	for _, p := range o.container().Ports {
		if errs := validation.IsValidPortName(p.Name); len(errs) > 0 {
			t.Errorf("port %d is named %q: %v", p.ContainerPort, p.Name, errs)
		}
		for other, n := range named {
			if other == p.Name || n == p.ContainerPort {
				t.Errorf("ports %s and %s: %d and %d", other, p.Name, n, p.ContainerPort)
			}
		}
		named[p.Name] = p.ContainerPort
	}
	there := func(what string, p intstr.IntOrString) {
		if p.Type != intstr.String || named[p.StrVal] == 0 {
			t.Errorf("%s points to port %s, which the container has not: %v", what, p.String(), named)
		}
	}
	for _, s := range o.services {
		for _, p := range s.Spec.Ports {
			there("service "+s.Name, p.TargetPort)
			if named[p.TargetPort.StrVal] != p.Port {
				t.Errorf("service %s port %s is %d, the pod's %d: what is advertised would not be reached", s.Name, p.Name, p.Port, named[p.Name])
			}
		}
	}
	for _, policy := range o.policies {
		for _, rule := range policy.Spec.Ingress {
			if len(rule.From) == 0 || len(rule.Ports) == 0 {
				t.Error("a rule of the network policy lets anybody in, or to any port")
			}
			for _, p := range rule.Ports {
				there("the network policy", *p.Port)
			}
		}
	}
	for _, m := range o.monitors {
		for _, e := range m.Spec.Endpoints {
			there("the monitor", intstr.FromString(e.Port))
		}
	}
	for _, probe := range []*corev1.Probe{o.container().StartupProbe, o.container().LivenessProbe, o.container().ReadinessProbe} {
		there("a probe", probe.HTTPGet.Port)
	}
	var s struct{ Admin, Listen string }
	if err := yaml.Unmarshal([]byte(o.settings()), &s); err != nil {
		t.Fatal(err)
	}
	for where, name := range map[string]string{s.Admin: "admin", s.Listen: "cql"} {
		if want := intstr.FromInt32(named[name]); where != "0.0.0.0:"+want.String() {
			t.Errorf("helenus listens at %s, port %s is %s", where, name, want.String())
		}
	}
}

// checkRestricted: the pod security standard "restricted", a root that is only read, and nobody to ask Kubernetes as.
func checkRestricted(t *testing.T, o *objects) {
	pod := o.stateful.Spec.Template.Spec
	c, s := o.container().SecurityContext, pod.SecurityContext
	if s.RunAsNonRoot == nil || !*s.RunAsNonRoot || s.SeccompProfile == nil || s.SeccompProfile.Type != corev1.SeccompProfileTypeRuntimeDefault || s.RunAsUser != nil && *s.RunAsUser == 0 {
		t.Errorf("the pod is not restricted: %+v", s)
	}
	if *c.Privileged || *c.AllowPrivilegeEscalation || !*c.ReadOnlyRootFilesystem || len(c.Capabilities.Add) > 0 || len(c.Capabilities.Drop) != 1 || c.Capabilities.Drop[0] != "ALL" {
		t.Errorf("the container is not restricted: %+v", c)
	}
	if pod.HostNetwork || pod.HostPID || pod.HostIPC || len(pod.InitContainers) > 0 || len(pod.Containers) != 1 {
		t.Error("the pod has more than it needs")
	}
	if pod.AutomountServiceAccountToken == nil || *pod.AutomountServiceAccountToken {
		t.Error("a token is mounted")
	}
	for _, a := range o.accounts {
		if a.AutomountServiceAccountToken == nil || *a.AutomountServiceAccountToken || a.Name != pod.ServiceAccountName {
			t.Errorf("service account %s mounts its token, or is not the pod's (%s)", a.Name, pod.ServiceAccountName)
		}
	}
	for _, e := range o.container().Env {
		if secret := strings.Contains(e.Name, "PASSWORD") || strings.Contains(e.Name, "TOKEN") || strings.Contains(e.Name, "WEBHOOK"); secret && (e.Value != "" || e.ValueFrom == nil || e.ValueFrom.SecretKeyRef == nil) {
			t.Errorf("%s is not from a secret", e.Name)
		}
	}
}

// checkVolumes: each mount has a volume and each volume a mount; what helenus writes and reads lies on them.
func checkVolumes(t *testing.T, o *objects) {
	volumes := map[string]bool{} // and whether they can be written
	for _, v := range o.stateful.Spec.Template.Spec.Volumes {
		volumes[v.Name] = v.EmptyDir != nil
		if v.HostPath != nil {
			t.Errorf("volume %s is of the host", v.Name)
		}
	}
	for _, c := range o.stateful.Spec.VolumeClaimTemplates {
		volumes[c.Name] = true
	}
	writable, mounted := map[string]bool{}, map[string]bool{}
	for _, m := range o.container().VolumeMounts {
		w, ok := volumes[m.Name]
		if !ok {
			t.Errorf("mount %s has no volume", m.Name)
		}
		mounted[m.Name] = true
		writable[m.MountPath] = w && !m.ReadOnly
	}
	for name := range volumes {
		if !mounted[name] {
			t.Errorf("volume %s is not mounted", name)
		}
	}
	var s map[string]any
	if err := yaml.Unmarshal([]byte(o.settings()), &s); err != nil {
		t.Fatal(err)
	}
	if dir, _ := s["state-dir"].(string); !writable[dir] || !writable["/tmp"] {
		t.Errorf("state-dir %s and /tmp can not both be written: %v", dir, writable)
	}
	for name, v := range s {
		text, _ := v.(string)
		if !strings.HasPrefix(text, "/") || name == "state-dir" {
			continue
		}
		if _, ok := writable[filepath.Dir(text)]; !ok {
			t.Errorf("setting %s is %s, which is not mounted", name, text)
		}
	}
}

// checkDrain: what the pod is given to end in is more than it may take.
func checkDrain(t *testing.T, o *objects) {
	var s struct {
		DrainTimeout string `json:"drain-timeout"`
	}
	if err := yaml.Unmarshal([]byte(o.settings()), &s); err != nil {
		t.Fatal(err)
	}
	takes, err := time.ParseDuration(s.DrainTimeout)
	if err != nil {
		t.Fatal(err)
	}
	const rest = 10 * time.Second // closeFor of cmd/helenus/run.go
	if l := o.container().Lifecycle; l != nil {
		takes += time.Duration(l.PreStop.Sleep.Seconds) * time.Second
	}
	if given := time.Duration(*o.stateful.Spec.Template.Spec.TerminationGracePeriodSeconds) * time.Second; given < takes+rest+5*time.Second {
		t.Errorf("the pod may take %v to end, and is given %v", takes+rest, given)
	}
}

// helenus is the program, built of this tree.
var helenus = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "helenus-chart-")
	if err != nil {
		return "", err
	}
	file := filepath.Join(dir, "helenus")
	build := exec.Command("go", "build", "-buildvcs=false", "-o", file, "./cmd/helenus")
	build.Dir = filepath.Join("..", "..")
	build.Env = append(os.Environ(), "GOFLAGS=")
	text, err := build.CombinedOutput()
	if err != nil {
		err = &exec.Error{Name: "go build: " + string(text), Err: err}
	}
	return file, err
})

// TestSettingsAreRead has the program itself read what the ConfigMap holds, with certificates where it names some.
func TestSettingsAreRead(t *testing.T) {
	file, err := helenus()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(filepath.Dir(file)) })
	dir := t.TempDir()
	certificates(t, dir)
	for name, values := range matrix {
		t.Run(name, func(t *testing.T) {
			o := install(t, values)
			text := o.settings()
			for _, mount := range []string{"listen", "cassandra", "admin"} {
				text = strings.ReplaceAll(text, "/etc/helenus/"+mount+"/", dir+"/")
			}
			path := filepath.Join(t.TempDir(), "helenus.yaml")
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			check := exec.Command(file, "config", "check", "--config", path)
			for _, e := range o.container().Env {
				if strings.HasPrefix(e.Name, "HELENUS_") {
					value := e.Value
					if e.ValueFrom != nil {
						value = "https://secret.example.org/"
					}
					check.Env = append(check.Env, e.Name+"="+value)
				}
			}
			if out, err := check.CombinedOutput(); err != nil {
				t.Errorf("%v: %s\n%s", err, out, text)
			}
		})
	}
}

// certificates writes one that vouches for itself, as each file that a secret holds.
func certificates(t *testing.T, dir string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "helenus"}, NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true}
	der, err := x509.CreateCertificate(rand.Reader, c, c, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	for name, block := range map[string]*pem.Block{"tls.crt": {Type: "CERTIFICATE", Bytes: der}, "ca.crt": {Type: "CERTIFICATE", Bytes: der}, "tls.key": {Type: "PRIVATE KEY", Bytes: secret}} {
		if err := os.WriteFile(filepath.Join(dir, name), pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "web.yml"), []byte("tls_server_config: {cert_file: tls.crt, key_file: tls.key}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestProbesAreServed: the paths that the kubelet asks, and Prometheus, are those of the admin port; what asks them by the pod's IP is let in.
func TestProbesAreServed(t *testing.T) {
	server, err := os.ReadFile("../../internal/admin/server.go")
	if err != nil {
		t.Fatal(err)
	}
	o := install(t, monitored)
	c := o.container()
	paths := []string{c.StartupProbe.HTTPGet.Path, c.LivenessProbe.HTTPGet.Path, c.ReadinessProbe.HTTPGet.Path, o.monitors[0].Spec.Endpoints[0].Path}
	for i, want := range []string{"/healthz", "/healthz", "/readyz", "/metrics"} {
		if paths[i] != want || !bytes.Contains(server, []byte(`"GET `+want+`"`)) {
			t.Errorf("%s is asked, and %s served", paths[i], want)
		}
	}
	if !strings.Contains(o.settings(), "admin: 0.0.0.0:") {
		t.Error("the admin port answers to an IP address only if it is bound to all")
	}
	for _, probe := range []*corev1.Probe{c.StartupProbe, c.LivenessProbe, c.ReadinessProbe} {
		if probe.HTTPGet.Scheme != corev1.URISchemeHTTP {
			t.Errorf("plain HTTP is served, %s asked", probe.HTTPGet.Scheme)
		}
	}
	secure := install(t, tls)
	if secure.container().ReadinessProbe.HTTPGet.Scheme != corev1.URISchemeHTTPS {
		t.Error("the probes do not speak TLS")
	}
}

// TestMonitoringIsWhatIsHere: rules and dashboards are those beside the chart, all of them, and fit into a release.
func TestMonitoringIsWhatIsHere(t *testing.T) {
	o := install(t, monitored)
	want := map[string]bool{}
	for _, file := range []string{"../rules/alerts.yaml", "../rules/recording.yaml"} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var r struct {
			Groups []struct {
				Rules []struct{ Alert, Record, Expr string }
			}
		}
		if err := yaml.Unmarshal(text, &r); err != nil {
			t.Fatal(err)
		}
		for _, g := range r.Groups {
			for _, one := range g.Rules {
				want[one.Alert+one.Record+" "+one.Expr] = true
			}
		}
	}
	got := 0
	for _, g := range o.rules[0].Spec.Groups {
		for _, one := range g.Rules {
			if got++; !want[one.Alert+one.Record+" "+one.Expr] {
				t.Errorf("rule %s %s is not of charts/rules", one.Alert, one.Record)
			}
			if one.Alert != "" && (one.Annotations["runbook_url"] == "" || !strings.Contains(strings.Join([]string{one.Annotations["description"], one.Annotations["summary"]}, ""), " ")) {
				t.Errorf("alert %s lost its annotations: %v", one.Alert, one.Annotations)
			}
		}
	}
	if got != len(want) || got < 10 {
		t.Errorf("%d rules of %d", got, len(want))
	}
	found := 0
	for _, d := range dashboards(t) {
		text, err := os.ReadFile("../dashboards/" + d.file)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range o.configs {
			if got, ok := c.Data[d.file]; ok {
				found++
				if strings.TrimSpace(got) != strings.TrimSpace(string(text)) || c.Labels["grafana_dashboard"] != "1" || !json.Valid([]byte(got)) {
					t.Errorf("%s is not the dashboard, or the sidecar does not find it", c.Name)
				}
			}
		}
	}
	if found != len(dashboards(t)) {
		t.Errorf("%d dashboards of %d", found, len(dashboards(t)))
	}
	// Helm keeps a release in a Secret of 1 MiB: chart and manifest, compressed, in base64.
	c, err := loadChart()
	if err != nil {
		t.Fatal(err)
	}
	release, err := json.Marshal(map[string]any{"chart": c, "manifest": o.text})
	if err != nil {
		t.Fatal(err)
	}
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	if _, err := z.Write(release); err != nil || z.Close() != nil {
		t.Fatal(err)
	}
	if n := packed.Len() * 4 / 3; n > 700<<10 {
		t.Errorf("a release takes %d KiB of a Secret's 1,024", n>>10)
	}
}
