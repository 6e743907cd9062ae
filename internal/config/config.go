// Package config holds the settings of `helenus run`. A setting is one field of [Settings]: its tag gives its name, which
// is the flag (--state-dir), the environment variable (HELENUS_STATE_DIR) and the YAML key (state-dir); its default; and
// what it does. docs/configuration.md is generated from the same tags, so the four can not drift apart.
//
// A flag beats the environment, which beats the file, which beats the default. An unknown key, or a value that can not be
// read, is an error that says where it stands and which known key is nearest.
//
// It imports nothing of ours.
package config

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"
)

// Settings is everything that can be set. Durations are Go durations or have days and weeks ("30s", "1h30m", "30d"), sizes and numbers may have units ("512MiB", "20k").
type Settings struct {
	ContactPoints []string `name:"contact-points" default:"127.0.0.1:9042" help:"Cassandra nodes, host or host:port, comma separated; without a port: 9042"`
	Listen        string   `name:"listen" default:"127.0.0.1:19042" help:"where applications connect instead; in topology mirror the further nodes take the next ports, or, if several addresses are given, comma separated, one each"`
	Advertise     string   `name:"advertise" default:"" help:"where applications reach the listeners, if that is elsewhere than where Helenus listens (containers, NAT): host, or host:port of the first, or several, comma separated"`
	Topology      string   `name:"topology" default:"mirror" help:"mirror: one listener per node, drivers keep token-aware routing; single: Helenus shows itself as one node; fleet: several Helenus processes show themselves as the nodes"`
	Fleet         []string `name:"fleet" default:"" help:"in topology fleet: all its processes, this one included, host:port as applications reach them; the same list on each"`
	Username      string   `name:"username" default:"" help:"role that Helenus itself connects with, if Cassandra asks for one"`
	Password      string   `name:"password" default:"" help:"its password; better given as HELENUS_PASSWORD"`

	ListenTLSCert     string `name:"listen-tls-cert" default:"" help:"PEM file of the certificate that clients are shown, followed by those that lead to its CA; set: clients must speak TLS. Changed files are used for new connections within a second"`
	ListenTLSKey      string `name:"listen-tls-key" default:"" help:"PEM file of its key, without a password"`
	ListenTLSClientCA string `name:"listen-tls-client-ca" default:"" help:"PEM file of CAs; set: clients must show a certificate that one of them vouches for"`
	ListenTLSMin      string `name:"listen-tls-min" default:"1.2" help:"oldest TLS version that clients may speak: 1.2 or 1.3"`

	CassandraTLS           bool   `name:"cassandra-tls" default:"false" help:"speak TLS to Cassandra"`
	CassandraTLSCA         string `name:"cassandra-tls-ca" default:"" help:"PEM file of the CAs that vouch for Cassandra's certificates; empty: those that the machine trusts"`
	CassandraTLSCert       string `name:"cassandra-tls-cert" default:"" help:"PEM file of the certificate that Cassandra is shown, if it asks for one (require_client_auth)"`
	CassandraTLSKey        string `name:"cassandra-tls-key" default:"" help:"PEM file of its key, without a password"`
	CassandraTLSServerName string `name:"cassandra-tls-server-name" default:"" help:"name that Cassandra's certificates must bear; empty: the address of the node that is connected to"`
	CassandraTLSVerify     string `name:"cassandra-tls-verify" default:"full" help:"full: the CA vouches for the certificate and it bears the name; chain: the CA vouches for it, the name does not matter; none: anybody is believed, for trying out only"`
	CassandraTLSMin        string `name:"cassandra-tls-min" default:"1.2" help:"oldest TLS version to speak with Cassandra: 1.2 or 1.3"`

	Admin      string `name:"admin" default:"127.0.0.1:19080" help:"where the API, /metrics, /healthz and /readyz are served"`
	AdminToken string `name:"admin-token" default:"" help:"bootstrap token, of role admin, with which others are made (helenus token create); if empty, one is made and kept in STATE-DIR/admin.token. Better given as HELENUS_ADMIN_TOKEN"`
	Pprof      bool   `name:"pprof" default:"false" help:"serve /debug/pprof on the admin address, for role admin"`

	MetricsToken        bool     `name:"metrics-token" default:"false" help:"/metrics asks for a token, too; one of role viewer is enough"`
	Approvers           int      `name:"approvers" default:"1" help:"persons that must approve a change: 1, or 2, of which the first proposes it"`
	AdminHosts          []string `name:"admin-hosts" default:"" help:"names under which the admin address is reached, besides this machine's own and the one that it is bound to: name, *.example.org, or * for any; requests that are addressed to another one are refused"`
	AdminWebConfig      string   `name:"admin-web-config" default:"" help:"file of TLS, client certificates and headers of the admin address, in the form of Prometheus's exporter-toolkit (docs/access.md); empty: plain HTTP"`
	AdminTrustedHeader  string   `name:"admin-trusted-header" default:"" help:"header in which a proxy that has authenticated somebody says who it is, such as X-Forwarded-User; empty: none is believed"`
	AdminTrustedProxies []string `name:"admin-trusted-proxies" default:"" help:"addresses (CIDR) that this header is believed from"`
	AdminHeaderRole     string   `name:"admin-header-role" default:"viewer" help:"role of whoever that header names: viewer, operator or admin; or the header that says so, such as X-Forwarded-Role, without which it is viewer"`

	OpenIDIssuer string   `name:"openid-issuer" default:"" help:"OpenID Connect provider that people log in with at the console, as it writes its name in its tokens, such as https://login.example.org/realms/staff; empty: tokens alone"`
	OpenIDClient string   `name:"openid-client" default:"" help:"client id by which the provider knows Helenus"`
	OpenIDSecret string   `name:"openid-secret" default:"" help:"client secret; empty: a public client. Better given as HELENUS_OPENID_SECRET"`
	OpenIDScopes []string `name:"openid-scopes" default:"" help:"what the provider is asked to tell besides openid, profile and email, such as groups"`
	OpenIDName   string   `name:"openid-name" default:"email" help:"claim that says who somebody is in the audit trail; an unverified email is nobody's name, then sub is taken"`
	OpenIDClaim  string   `name:"openid-claim" default:"groups" help:"claim that roles are said by; a dot leads into an object, such as realm_access.roles"`
	OpenIDRoles  []string `name:"openid-roles" default:"" help:"who has which role: VALUE=ROLE of that claim's values, comma separated, such as sre=admin,backend=operator,*=viewer; the highest counts, who has none is not let in"`

	Webhooks       []string      `name:"webhooks" default:"" help:"addresses that are told of new advice and of changes, as JSON (docs/webhooks.md), comma separated; they may hold secrets: better given as HELENUS_WEBHOOKS"`
	WebhooksSlack  []string      `name:"webhooks-slack" default:"" help:"addresses that are told likewise, as messages for Slack and what takes the same; better given as HELENUS_WEBHOOKS_SLACK"`
	WebhookSecret  string        `name:"webhook-secret" default:"" help:"secret by which what is sent is signed (header X-Helenus-Signature); empty: it is not. Better given as HELENUS_WEBHOOK_SECRET"`
	WebhookEvents  []string      `name:"webhook-events" default:"" help:"which events are told (docs/webhooks.md lists them); empty: all"`
	WebhookTimeout time.Duration `name:"webhook-timeout" default:"10s" help:"how long an address may take to answer"`
	WebhookConsole string        `name:"webhook-console" default:"" help:"address of the console as a person's browser reaches it, such as https://helenus.example.org, for the links in what is sent, and for the provider of openid-issuer to send browsers back to; empty: no links, and back as they came"`

	OTLPEndpoint string `name:"otlp-endpoint" default:"" help:"OpenTelemetry collector that is sent spans of requests whose custom payload has a traceparent that is sampled, such as http://127.0.0.1:4318; empty: none are. OTEL_EXPORTER_OTLP_HEADERS and its like in the environment hold too"`

	StateDir string `name:"state-dir" default:"helenus-state" help:"where decisions, changes and history are kept; one process at a time. With state cassandra what is private to the process alone: history, the bootstrap token"`

	State            string        `name:"state" default:"" help:"where decisions and changes are kept: sqlite, in state-dir, for one process, or cassandra, in a keyspace, for several processes that have one truth (docs/fleet.md); empty: cassandra in topology fleet, else sqlite"`
	StateKeyspace    string        `name:"state-keyspace" default:"helenus" help:"the keyspace of state cassandra; it is made if it is missing and the role may"`
	StateReplication string        `name:"state-replication" default:"" help:"its replication if it is made, as {'class': 'NetworkTopologyStrategy', 'dc1': 3}; empty: three copies in each data centre, or as many as it has nodes"`
	ServingLease     time.Duration `name:"serving-lease" default:"4s" help:"with state cassandra: for how long a process may answer reads by changes without news of each of the others, and so how long a write may wait that turns reads back everywhere; the same on each"`

	LogLevel  string `name:"log-level" default:"info" help:"debug, info, warn or error"`
	LogFormat string `name:"log-format" default:"text" help:"text or json"`

	SlowRequest time.Duration `name:"slow-request" default:"500ms" help:"requests that take as long are logged, with their statement's text but without values; 0: none"`

	MaxConnections int  `name:"max-connections" default:"4096" help:"client connections; further ones are answered Overloaded and closed"`
	MaxFrame       Size `name:"max-frame" default:"16MiB" help:"largest request"`

	MaxConnectionsPerClient int `name:"max-connections-per-client" default:"0" help:"client connections from one address; further ones are answered Overloaded and closed; 0: no limit"`
	MaxRequestsPerClient    int `name:"max-requests-per-client" default:"0" help:"requests a second from one address, over all its connections; further ones are answered Overloaded; 0: no limit"`
	RequestBurst            int `name:"request-burst" default:"0" help:"how many of those may come at once; 0: as many as in a second"`

	HandshakeTimeout time.Duration `name:"handshake-timeout" default:"30s" help:"how long a client may take until it is ready or authenticated"`
	StripCompression bool          `name:"strip-compression" default:"false" help:"keep clients' compression from Cassandra: saves both the work where the network is not the limit"`
	TCPKeepAlive     time.Duration `name:"tcp-keep-alive" default:"30s" help:"how long a client or a node may be silent until it is probed; one that is found gone after as long again, or takes nothing of what waits for it for twice as long, loses its connection"`
	DrainTimeout     time.Duration `name:"drain-timeout" default:"10s" help:"how long requests under way are waited for at the end, or when another process takes over; then they are cut off"`
	DrainGrace       time.Duration `name:"drain-grace" default:"1s" help:"how long of it clients that were told that the node is down are still served"`
	RequestTimeout   time.Duration `name:"request-timeout" default:"0s" help:"after how long a request that Cassandra does not answer is answered with an error (WriteTimeout, or ReadTimeout for a SELECT); 0s: never, Cassandra's own limits hold"`

	MaxStatements int  `name:"max-statements" default:"10k" help:"statements counted one by one, those that make the most work; the rest are counted together"`
	CaptureMemory Size `name:"capture-memory" default:"256MiB" help:"memory that counting statements may take; when it is full the lightest statements are counted together"`
	SampleValues  bool `name:"sample-values" default:"true" help:"look at bound and returned values (hashed with a key that is never stored) in short windows, to find the joins that applications do by hand"`

	NeverSample     []string      `name:"never-sample" default:"" help:"columns whose values are never looked at: keyspace.table.column, keyspace.table or keyspace.*, comma separated"`
	LiteralsAllowed []string      `name:"literals-allowed" default:"" help:"columns, in the same form, of which the range of numbers and frequent values (seen at least 5 times, by at least 2 client processes) may be kept and shown"`
	SampleRotation  time.Duration `name:"sample-rotation" default:"24h" help:"how long one hash key is used; with it goes all that was hashed"`
	SampleRetention time.Duration `name:"sample-retention" default:"30d" help:"how long joins and profiles are remembered after they were seen last"`
	SampleSecret    string        `name:"sample-secret" default:"" help:"secret that several processes share so that what they learn can be added up exactly; empty: random keys. Better given as HELENUS_SAMPLE_SECRET"`

	Keyspaces      []string      `name:"keyspaces" default:"" help:"keyspaces to advise on; empty: all that are not Cassandra's own"`
	AdviseEvery    time.Duration `name:"advise-every" default:"1m" help:"how often the advice is worked out anew"`
	AdviseTime     time.Duration `name:"advise-time" default:"10m" help:"how long a round of advice may take; it is a process of its own, with low priority, and is ended then"`
	AdviseMemory   Size          `name:"advise-memory" default:"512MiB" help:"memory that this process may take, and each of its solvers beside; beyond, it is ended. What was advised before stays"`
	Solver         string        `name:"solver" default:"" help:"the program helenus-solver, which solves integer programs; empty: the one beside helenus, else in PATH. Without one, designs and calendars are made without it, and are worse"`
	MinExecutions  int           `name:"min-executions" default:"20" help:"statements executed less often are not advised on"`
	MinSaved       time.Duration `name:"min-saved" default:"1s" help:"work that an advice must save in an hour of traffic like that seen"`
	Cost           string        `name:"cost" default:"" help:"file of the cost model's parameters, as helenus calibrate writes it; its times are scaled to the latencies that are seen. Empty: the defaults"`
	CycleZone      string        `name:"cycle-zone" default:"UTC" help:"whose clock days and weeks go by when calendars are looked for, such as Europe/Berlin"`
	SnapshotsEvery time.Duration `name:"snapshots-every" default:"1m" help:"how often what was counted is written to the history"`
	HistoryMinutes time.Duration `name:"history-minutes" default:"48h" help:"how long the history knows every minute"`
	HistoryHours   time.Duration `name:"history-hours" default:"30d" help:"how long it knows every hour"`
	HistoryDays    time.Duration `name:"history-days" default:"400d" help:"how long it knows every day"`
	AuditKeep      time.Duration `name:"audit-keep" default:"730d" help:"how long the audit trail knows who decided what (0: for ever)"`
	HistorySize    Size          `name:"history-size" default:"512MiB" help:"disk that the history may take; the oldest minutes go first"`

	Settle         time.Duration `name:"settle" default:"5s" help:"wait after dual writes are on, for writes that were still on their way inside Cassandra"`
	BackfillRanges int           `name:"backfill-ranges" default:"256" help:"token ranges that a backfill is cut into; each is a checkpoint"`
	BackfillRate   int           `name:"backfill-rate" default:"20k" help:"rows a second that a backfill may write; 0: no limit"`
	Workers        int           `name:"workers" default:"4" help:"token ranges read at a time by backfill and verification"`
	ShadowReads    int           `name:"shadow-reads" default:"10k" help:"live reads to compare before an approved change serves"`
	ShadowFor      time.Duration `name:"shadow-for" default:"24h" help:"or how long to compare, if that many reads do not come"`
	ShadowProbes   int           `name:"shadow-probes" default:"100" help:"values for which Helenus itself compares both plans before an approved change serves"`
	SweepEvery     time.Duration `name:"sweep-every" default:"1h" help:"how often a serving table is compared with its base in both directions"`
	CDCRate        int           `name:"cdc-rate" default:"500" help:"rows a second that are compared with their entries because CDC agents tell that they were written (docs/cdc.md)"`
	MaxEntries     int           `name:"max-entries" default:"1000" help:"look-up entries of one value above which the original statement runs"`

	DataKeyspace string `name:"data-keyspace" default:"helenus_data" help:"how the keyspaces begin that look-up tables lie in: DATA-KEYSPACE_shop for tables of keyspace shop, replicated as that is. Nobody but Helenus's role needs a right on them"`

	PermissionsValidity time.Duration `name:"permissions-validity" default:"2s" help:"before a look-up is read for a client that logged in, Cassandra must have carried the statement out on the client's own connection at most so long ago; not above Cassandra's own permissions_validity. 0s: just then, each time"`
}

// EnvPrefix begins the name of every environment variable.
const EnvPrefix = "HELENUS_"

// Setting is the description of one field.
type Setting struct {
	Name, Env, Default, Help, Type string
	index                          int
}

// All lists the settings in the order of the struct.
func All() []Setting {
	t := reflect.TypeFor[Settings]()
	all := make([]Setting, t.NumField())
	for i := range all {
		f := t.Field(i)
		name := f.Tag.Get("name")
		all[i] = Setting{
			Name:    name,
			Env:     EnvPrefix + strings.ToUpper(strings.ReplaceAll(name, "-", "_")),
			Default: f.Tag.Get("default"), Help: f.Tag.Get("help"), index: i,
			Type: (&value{reflect.New(f.Type).Elem()}).Type(),
		}
	}
	return all
}

// Defaults returns the settings nobody has touched.
func Defaults() *Settings {
	s := &Settings{}
	for _, one := range All() {
		if err := s.value(one).Set(one.Default); err != nil {
			panic("config: the default of " + one.Name + " can not be read: " + err.Error()) // a test reads them all
		}
	}
	return s
}

func (s *Settings) value(one Setting) *value {
	return &value{reflect.ValueOf(s).Elem().Field(one.index)}
}

// Connection are the names of the settings by which a command reaches Cassandra.
var Connection = []string{"contact-points", "username", "password", "cassandra-tls", "cassandra-tls-ca", "cassandra-tls-cert", "cassandra-tls-key",
	"cassandra-tls-server-name", "cassandra-tls-verify", "cassandra-tls-min"}

// Flags adds a flag for every setting to flags, or for those named, and returns a function that, once the flags are parsed,
// puts the settings together. lookup is os.LookupEnv; file is the path of a YAML file or "".
func Flags(flags *pflag.FlagSet, only ...string) func(file string, lookup func(string) (string, bool)) (*Settings, error) {
	given := Defaults()
	for _, one := range All() {
		if len(only) > 0 && !slices.Contains(only, one.Name) {
			continue
		}
		f := flags.VarPF(given.value(one), one.Name, "", one.Help+" ["+one.Env+"]")
		if one.Type == "bool" {
			f.NoOptDefVal = "true"
		}
	}
	return func(file string, lookup func(string) (string, bool)) (*Settings, error) {
		s := Defaults()
		var wrong []error
		if file != "" {
			wrong = append(wrong, s.readFile(file))
		}
		for _, one := range All() {
			if text, ok := lookup(one.Env); ok {
				if err := s.value(one).Set(text); err != nil {
					wrong = append(wrong, fmt.Errorf("environment variable %s: %w", one.Env, err))
				}
			}
			if flags.Changed(one.Name) {
				reflect.ValueOf(s).Elem().Field(one.index).Set(reflect.ValueOf(given).Elem().Field(one.index))
			}
		}
		s.completeContactPoints()
		return s, errors.Join(append(wrong, s.Validate())...)
	}
}

// Choices are the settings that have few values, and these.
var Choices = map[string][]string{
	"topology": {"mirror", "single", "fleet"}, "state": {"", "sqlite", "cassandra"}, "log-level": {"debug", "info", "warn", "error"}, "log-format": {"text", "json"},
	"listen-tls-min": {"1.2", "1.3"}, "cassandra-tls-min": {"1.2", "1.3"}, "cassandra-tls-verify": {"full", "chain", "none"},
}

// FleetWide are the settings that should be the same at each member of a fleet: whoever leads advises, decides and works by them.
var FleetWide = []string{
	"topology", "fleet", "serving-lease", "keyspaces", "data-keyspace", "approvers", "min-executions", "min-saved", "cycle-zone", "max-entries", "permissions-validity",
	"sample-values", "never-sample", "literals-allowed", "shadow-reads", "shadow-for", "shadow-probes", "settle", "sweep-every", "backfill-rate",
}

// Values are the texts of some settings, by their names.
func (s *Settings) Values(names []string) map[string]string {
	texts := map[string]string{}
	for _, one := range All() {
		if slices.Contains(names, one.Name) {
			texts[one.Name] = s.value(one).String()
		}
	}
	return texts
}

// Shared reports whether the state is in a keyspace of Cassandra, and may have several processes.
func (s *Settings) Shared() bool {
	return s.State == "cassandra" || s.State == "" && s.Topology == "fleet"
}

// longestLease is far above what a busy machine needs, and what drivers wait for an answer: a longer one is a slip of the pen that stops an application.
const longestLease = time.Minute

// Validate checks what a single field's type can not.
func (s *Settings) Validate() error {
	var bad []error
	wrong := func(name, format string, args ...any) {
		bad = append(bad, fmt.Errorf("setting %s: %s", name, fmt.Sprintf(format, args...)))
	}
	if len(s.ContactPoints) == 0 {
		wrong("contact-points", "is empty; name at least one Cassandra node as host:port")
	}
	s.validateAddresses(wrong)
	for _, one := range All() {
		if of, is := Choices[one.Name], s.value(one).String(); of != nil && !slices.Contains(of, is) {
			wrong(one.Name, "is %q; it may be %s", is, strings.Join(of, ", "))
		}
	}
	s.validateFleet(wrong)
	if s.ServingLease < time.Second {
		wrong("serving-lease", "is %v; below 1s no process would serve for long", s.ServingLease)
	} else if s.ServingLease > longestLease {
		wrong("serving-lease", "is %v; an application's write may have to wait as long, so it may be %v at most", s.ServingLease, longestLease)
	}
	if _, err := time.LoadLocation(s.CycleZone); err != nil || s.CycleZone == "Local" {
		wrong("cycle-zone", "is %q; it may be UTC, or a place such as Europe/Berlin", s.CycleZone)
	}
	s.validateTLS(wrong)
	s.validateAdmin(wrong)
	s.validateWebhooks(wrong)
	for name, list := range map[string][]string{"never-sample": s.NeverSample, "literals-allowed": s.LiteralsAllowed} {
		for _, one := range list {
			if parts := strings.Split(strings.TrimSpace(one), "."); len(parts) < 2 || len(parts) > 3 || slices.Contains(parts, "") {
				wrong(name, "%q is not keyspace.table.column, keyspace.table or keyspace.*", one)
			}
		}
	}
	positive := map[string]int64{
		"max-connections": int64(s.MaxConnections), "max-frame": int64(s.MaxFrame), "max-statements": int64(s.MaxStatements), "history-size": int64(s.HistorySize),
		"backfill-ranges": int64(s.BackfillRanges), "workers": int64(s.Workers), "max-entries": int64(s.MaxEntries), "cdc-rate": int64(s.CDCRate),
	}
	for _, one := range All() {
		if n, ok := positive[one.Name]; ok && n <= 0 {
			wrong(one.Name, "is %d; it must be above 0", n)
		} else if v := reflect.ValueOf(s).Elem().Field(one.index); v.CanInt() && v.Int() < 0 {
			wrong(one.Name, "is %s; it may not be negative", s.value(one))
		}
	}
	for _, memory := range []struct {
		name  string
		n, at Size
	}{{"capture-memory", s.CaptureMemory, 16 << 20}, {"advise-memory", s.AdviseMemory, 64 << 20}} {
		if memory.n < memory.at {
			wrong(memory.name, "is %s; it must be at least %s", memory.n, memory.at)
		}
	}
	if s.MaxFrame > 256<<20 {
		wrong("max-frame", "is %s; the protocol allows no frame above 256MiB", s.MaxFrame)
	}
	for _, every := range []struct {
		name string
		d    time.Duration
	}{{"handshake-timeout", s.HandshakeTimeout}, {"tcp-keep-alive", s.TCPKeepAlive}, {"drain-timeout", s.DrainTimeout},
		{"sample-rotation", s.SampleRotation}, {"sample-retention", s.SampleRetention},
		{"advise-every", s.AdviseEvery}, {"advise-time", s.AdviseTime}, {"snapshots-every", s.SnapshotsEvery},
		{"history-minutes", s.HistoryMinutes}, {"history-hours", s.HistoryHours}, {"history-days", s.HistoryDays}, {"sweep-every", s.SweepEvery},
		{"webhook-timeout", s.WebhookTimeout}} {
		if every.d >= 0 && every.d < time.Second {
			wrong(every.name, "is %v; it must be at least 1s", every.d)
		}
	}
	if s.AuditKeep != 0 && s.AuditKeep < 24*time.Hour {
		wrong("audit-keep", "is %v; it must be at least 1d, or 0", s.AuditKeep)
	}
	return errors.Join(bad...)
}

// validateTLS checks which settings of TLS stand together. The files are for who reads them.
func (s *Settings) validateTLS(wrong func(name, format string, args ...any)) {
	pair := func(certificate, cert, key, secret string) {
		if certificate == "" && secret != "" {
			wrong(cert, "is empty, but %s is set; a key needs its certificate", key)
		}
		if certificate != "" && secret == "" {
			wrong(key, "is empty, but %s is set; a certificate needs its key", cert)
		}
	}
	pair(s.ListenTLSCert, "listen-tls-cert", "listen-tls-key", s.ListenTLSKey)
	pair(s.CassandraTLSCert, "cassandra-tls-cert", "cassandra-tls-key", s.CassandraTLSKey)
	if s.ListenTLSClientCA != "" && s.ListenTLSCert == "" {
		wrong("listen-tls-client-ca", "asks clients for certificates, but without listen-tls-cert and listen-tls-key clients can not speak TLS")
	}
	if s.CassandraTLS {
		return
	}
	for _, one := range []struct{ name, value string }{
		{"cassandra-tls-ca", s.CassandraTLSCA}, {"cassandra-tls-cert", s.CassandraTLSCert}, {"cassandra-tls-server-name", s.CassandraTLSServerName},
	} {
		if one.value != "" {
			wrong(one.name, "has no effect unless cassandra-tls is true")
		}
	}
	if s.CassandraTLSVerify != "full" {
		wrong("cassandra-tls-verify", "has no effect unless cassandra-tls is true")
	}
}
