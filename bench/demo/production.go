package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/gocql/gocql"

	"github.com/helenus-db/helenus/bench/product"
	"github.com/helenus-db/helenus/internal/cassandra"
	"github.com/helenus-db/helenus/internal/cassandra/authority"
)

// production is the same story where production is: three nodes that demand passwords and TLS, two members of a fleet, and an application of
// two processes with a role of its own.
type production struct {
	options
	*story
	*programs
	proof
	dir       string
	cluster   *cassandra.Cluster
	authority *authority.Authority
	session   *gocql.Session // of the first user, straight to a node
	direct    string         // host:port of a node
	members   []*member
	lookUp    recommendation
	failed    bool
}

// member is one Helenus of the fleet.
type member struct {
	name, listen, admin string
	process             *program
	args                []string
}

// The roles of the cluster, besides its first user. Passwords are theirs and a letter.
const (
	applicationRole = "hotel"
	helenusRole     = "helenus"
	strangerRole    = "stranger" // may log in, and nothing else
	adminToken      = "the-token-of-this-demo"
	pace            = "8" // operations per second of each process: three nodes share two processors, and scan all rows for every filtering read
)

// guests are as many as have some reservations each.
func (p *production) guests() string { return strconv.Itoa(p.reservations / 4) }

func password(role string) string { return role + "-s3cret" }

// runProduction tells it.
func runProduction(ctx context.Context, o options) error {
	dir, err := os.MkdirTemp("", "helenus-production-")
	if err != nil {
		return err
	}
	if o.bin, err = filepath.Abs(o.bin); err != nil {
		return err
	}
	o.reservations = min(o.reservations, 40_000) // three nodes share the machine, and each has all
	s := &story{out: os.Stdout, begun: time.Now()}
	p := &production{options: o, story: s, proof: proof{story: s}, programs: &programs{story: s, dir: dir, bin: o.bin}, dir: dir}
	defer p.cleanUp()
	for _, step := range []func(context.Context) error{
		p.startCluster, p.makeRoles, p.startMembers, p.learn, p.showAdvice, p.approve, p.compare, p.loseTheLeader, p.refuseStrangers, p.rollBack,
	} {
		if err := step(ctx); err != nil {
			p.failed = true
			if ctx.Err() != nil {
				return errors.New("interrupted; everything was stopped")
			}
			return err
		}
	}
	err = p.summary()
	p.failed = err != nil
	if o.keep {
		p.heading("Everything is left running; Ctrl-C stops it")
		for _, m := range p.members {
			p.say("%s: clients %s, console http://%s/ui/ (token %s)", m.name, m.listen, m.admin, adminToken)
		}
		<-ctx.Done()
	}
	return err
}

func (p *production) startCluster(ctx context.Context) error {
	p.heading("Three nodes that demand TLS and passwords, and a hotel booking service on them (RF 3)")
	options, a, err := cassandra.Secure(cassandra.Options{
		Dir: filepath.Join(p.dir, "cassandra"), Nodes: 3, Progress: func(line string) { p.say("%s", line) },
	}, p.dir, cassandra.Security{})
	if err != nil {
		return err
	}
	p.authority = a
	if p.cluster, err = cassandra.Start(ctx, options); err != nil {
		return err
	}
	p.direct = p.cluster.ContactPoints()[0]
	if err := p.run(ctx, hotelPassword(cassandra.FirstPassword), append([]string{"hotel", "load", "-hosts", p.direct, "-seed", "1", "-replication", "3", "-guests", p.guests(), "-reservations", strconv.Itoa(p.reservations)},
		p.access(cassandra.FirstUser)...)...); err != nil {
		return err
	}
	p.session, err = p.connect(p.direct, cassandra.FirstUser, cassandra.FirstPassword)
	return err
}

// access are the flags by which the application logs in.
func (p *production) access(role string) []string {
	return []string{"-user", role, "-ca", p.authority.File, "-consistency", "LOCAL_QUORUM"}
}

func hotelPassword(text string) []string { return []string{"HOTEL_PASSWORD=" + text} }

func (p *production) connect(address, role, password string) (*gocql.Session, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	cfg := gocql.NewCluster(host)
	if cfg.Port, err = strconv.Atoi(port); err != nil {
		return nil, err
	}
	cfg.ProtoVersion, cfg.Timeout, cfg.ConnectTimeout = 4, 30*time.Second, 10*time.Second
	cfg.SslOpts = &gocql.SslOptions{CaPath: p.authority.File, EnableHostVerification: true}
	cfg.Authenticator = gocql.PasswordAuthenticator{Username: role, Password: password}
	cfg.DisableInitialHostLookup = true
	cfg.Logger = quiet{}
	return cfg.CreateSession()
}

// makeRoles gives the application what it needs, and Helenus what `helenus check` asks for.
func (p *production) makeRoles(ctx context.Context) error {
	p.heading("Roles: the application's, and Helenus's own, which gets what `helenus check` asks for")
	for _, role := range []string{applicationRole, helenusRole, strangerRole} {
		if err := p.execute(ctx, fmt.Sprintf("CREATE ROLE %s WITH PASSWORD = '%s' AND LOGIN = true", role, password(role))); err != nil {
			return err
		}
	}
	for _, right := range []string{"SELECT", "MODIFY"} {
		if err := p.execute(ctx, fmt.Sprintf("GRANT %s ON KEYSPACE hotel TO %s", right, applicationRole)); err != nil {
			return err
		}
	}
	var found []struct {
		Do string `json:"do"`
	}
	text, err := p.output(ctx, false, []string{"HELENUS_PASSWORD=" + password(helenusRole)}, append([]string{"helenus", "check", "--json", "--state", "cassandra"}, p.reach()...)...)
	if jsonError := json.Unmarshal(text, &found); jsonError != nil {
		return errors.Join(err, jsonError)
	}
	granted := 0
	for _, f := range found {
		for grant := range strings.SplitSeq(f.Do, ";") {
			if grant = strings.TrimSpace(grant); strings.HasPrefix(grant, "GRANT ") || strings.HasPrefix(grant, "CREATE KEYSPACE ") {
				p.say("%s;", grant)
				if err := p.execute(ctx, grant); err != nil {
					return err
				}
				granted++
			}
		}
	}
	p.claim(granted > 0, "`helenus check` says what its role lacks, as text that can be run (%d statements)", granted)
	return nil
}

func (p *production) execute(ctx context.Context, text string) error {
	if err := p.session.Query(text).WithContext(ctx).Exec(); err != nil {
		return fmt.Errorf("%s: %w", text, err)
	}
	return nil
}

// reach are the flags by which Helenus reaches the cluster; its password is in the environment.
func (p *production) reach() []string {
	return []string{"--contact-points", strings.Join(p.cluster.ContactPoints(), ","), "--username", helenusRole, "--cassandra-tls", "--cassandra-tls-ca", p.authority.File, "--keyspaces", "hotel"}
}

// startMembers starts two, which share one state: it is kept in the cluster.
func (p *production) startMembers(ctx context.Context) error {
	p.heading("Two members of one fleet in front of it; what they know is kept in the cluster")
	ports, err := product.FreePorts(3)
	if err != nil {
		return err
	}
	_, port, _ := net.SplitHostPort(ports[0]) // one port, two addresses
	hosts := []string{"127.0.81.1", "127.0.81.2"}
	pair, err := p.authority.Issue(authority.Leaf{Name: "members", Hosts: hosts})
	if err != nil {
		return err
	}
	var fleet []string
	for _, h := range hosts {
		fleet = append(fleet, net.JoinHostPort(h, port))
	}
	for i, listen := range fleet {
		m := &member{name: fmt.Sprintf("member-%d", i+1), listen: listen, admin: ports[i+1]}
		m.args = append([]string{"helenus", "run", "--topology", "fleet", "--fleet", strings.Join(fleet, ","), "--listen", listen, "--admin", m.admin,
			"--listen-tls-cert", pair.Certificate, "--listen-tls-key", pair.Key, "--state-dir", filepath.Join(p.dir, m.name),
			"--advise-every", "5s", "--settle", "2s", "--shadow-reads", "40", "--shadow-for", "20s", "--shadow-probes", "20", "--log-format", "json"}, p.reach()...)
		if err := p.startMember(m); err != nil {
			return err
		}
		p.members = append(p.members, m)
	}
	for _, m := range p.members {
		if err := p.untilReady(ctx, m); err != nil {
			return err
		}
		p.say("%s: clients at %s, console at http://%s/ui/", m.name, m.listen, m.admin)
	}
	_, err = p.cli(ctx, true, p.members[0], "members")
	return err
}

func (p *production) startMember(m *member) (err error) {
	m.process, err = p.startWith(m.name, []string{"HELENUS_PASSWORD=" + password(helenusRole), "HELENUS_ADMIN_TOKEN=" + adminToken}, m.args...)
	return err
}

func (p *production) untilReady(ctx context.Context, m *member) error {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	for {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+m.admin+"/readyz", nil)
		if err != nil {
			return err
		}
		if answer, err := http.DefaultClient.Do(request); err == nil {
			_ = answer.Body.Close()
			if answer.StatusCode == http.StatusOK {
				return nil
			}
		}
		select {
		case <-m.process.Done():
			return fmt.Errorf("%s ended: %w", m.name, m.process.Wait())
		case <-ctx.Done():
			return fmt.Errorf("%s did not become ready within two minutes", m.name)
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// cli runs the helenus command line against a member.
func (p *production) cli(ctx context.Context, show bool, m *member, args ...string) ([]byte, error) {
	if show {
		p.say("\n$ helenus %s      (at %s)", join(args), m.name)
	}
	return p.output(ctx, show, []string{"HELENUS_ADMIN=" + m.admin, "HELENUS_ADMIN_TOKEN=" + adminToken}, append([]string{"helenus"}, args...)...)
}

// applications runs two processes of the application while do runs, or, without do, until both have done their operations; each knows
// both members, as a driver of a cluster does.
func (p *production) applications(ctx context.Context, name string, do func() error, args ...string) (reports []*report, err error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var wait sync.WaitGroup
	errs := make([]error, len(p.members))
	files := make([]string, len(p.members))
	for i := range p.members {
		hosts := []string{p.members[i].listen, p.members[(i+1)%len(p.members)].listen}
		files[i] = filepath.Join(p.dir, fmt.Sprintf("%s-%d.json", name, i+1))
		all := append([]string{"hotel", "run", "-hosts", strings.Join(hosts, ","), "-report", files[i], "-seed", strconv.Itoa(11 + i), "-concurrency", "2", "-guests", p.guests(), "-reservations", strconv.Itoa(p.reservations)}, p.access(applicationRole)...)
		wait.Go(func() {
			_, errs[i] = p.output(ctx, false, hotelPassword(password(applicationRole)), append(all, args...)...)
		})
	}
	if do != nil {
		err = do()
		stop()
	}
	wait.Wait()
	if err != nil {
		return nil, err
	}
	for i, file := range files {
		r, err := readReport(file)
		if err != nil {
			return nil, errors.Join(err, errs[i])
		}
		reports = append(reports, r)
	}
	return reports, nil
}

// total adds up what several processes did.
func total(reports []*report) (operations, faults int) {
	for _, r := range reports {
		operations, faults = operations+r.Count, faults+r.faults()
	}
	return operations, faults
}

func (p *production) learn(ctx context.Context) error {
	p.heading("The application, two processes with a role of its own, works through both members")
	reports, err := p.applications(ctx, "before", nil, "-ops", strconv.Itoa(p.ops/2))
	if err != nil {
		return err
	}
	n, faults := total(reports)
	p.claim(faults == 0, "two processes with passwords did %d operations through two members: %d errors", n, faults)
	return nil
}

func (p *production) showAdvice(ctx context.Context) error {
	p.heading("What both members learned is one: either says the same")
	if _, err := p.cli(ctx, true, p.members[1], "recommendations", "--now"); err != nil {
		return err
	}
	var said [][]string
	for _, m := range p.members {
		var all struct {
			Recommendations []recommendation `json:"recommendations"`
		}
		text, err := p.cli(ctx, false, m, "recommendations", "--json")
		if err != nil {
			return err
		}
		if err := json.Unmarshal(text, &all); err != nil {
			return err
		}
		var ids []string
		for _, r := range all.Recommendations {
			ids = append(ids, r.ID)
			if r.State == "open" && r.Kind == "look-up table" && r.Table == "reservations" && r.Column == "guest_id" {
				p.lookUp = r
			}
		}
		slices.Sort(ids)
		said = append(said, ids)
	}
	p.claim(slices.Equal(said[0], said[1]) && len(said[0]) > 0, "both members give the same advice (%s)", strings.Join(said[0], ", "))
	p.claim(p.lookUp.ID != "" && p.lookUp.Eligible, "the ALLOW FILTERING read gets an eligible look-up table as advice (%s)", p.lookUp.ID)
	if p.lookUp.ID == "" {
		return errors.New("no look-up table for reservations by guest_id was proposed")
	}
	return nil
}

func (p *production) approve(ctx context.Context) error {
	p.heading("Approved at one member, carried out by the fleet, while both processes book on")
	reports, err := p.applications(ctx, "during", func() error {
		_, err := p.cli(ctx, true, p.members[1], "approve", p.lookUp.ID)
		return err
	}, "-for", "20m", "-rate", pace)
	if err != nil {
		return err
	}
	n, faults := total(reports)
	p.claim(faults == 0, "%d operations during the change: %d errors", n, faults)
	_, err = p.cli(ctx, true, p.members[0], "changes")
	return err
}

// compare holds every answer that a member gives against Cassandra's own.
func (p *production) compare(ctx context.Context) error {
	p.heading("Every answer of each member against Cassandra's own")
	for _, m := range p.members {
		if err := p.check(ctx, m); err != nil {
			return err
		}
	}
	return nil
}

func (p *production) check(ctx context.Context, m *member) error {
	args := append([]string{"hotel", "check", "-direct", p.direct, "-through", m.listen, "-keys", strconv.Itoa(p.keys / 10), "-seed", "5", "-guests", p.guests(), "-reservations", strconv.Itoa(p.reservations)}, p.access(applicationRole)...)
	text, err := p.output(ctx, true, hotelPassword(password(applicationRole)), args...)
	p.claim(err == nil, "through %s all answers are Cassandra's own: %s", m.name, strings.TrimSpace(lastLine(text)))
	return ctx.Err()
}

func lastLine(text []byte) string {
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	return lines[len(lines)-1]
}

// stateAt is the state of the change, as a member says it.
func (p *production) stateAt(ctx context.Context, m *member) (state string, err error) {
	var c struct {
		State string `json:"state"`
	}
	text, err := p.cli(ctx, false, m, "changes", p.lookUp.ID, "--json")
	if err != nil {
		return "", err
	}
	return c.State, json.Unmarshal(text, &c)
}

// loseTheLeader kills the member that leads while the application goes on.
func (p *production) loseTheLeader(ctx context.Context) error {
	p.heading("The leader is killed (kill -9) while both processes book on")
	var status struct {
		Fleet struct {
			Leader string `json:"leader"`
			Self   string `json:"self"`
		} `json:"fleet"`
	}
	leader := p.members[0]
	for _, m := range p.members {
		text, err := p.cli(ctx, false, m, "status", "--json")
		if err != nil {
			return err
		}
		if err := json.Unmarshal(text, &status); err != nil {
			return err
		}
		if status.Fleet.Leader != "" && status.Fleet.Leader == status.Fleet.Self {
			leader = m
		}
	}
	other := p.members[0]
	if other == leader {
		other = p.members[1]
	}
	took, serving := time.Duration(0), false
	reports, err := p.applications(ctx, "killed", func() error {
		leader.process.Kill()
		_ = leader.process.Wait()
		p.say("%s is gone; %s is asked", leader.name, other.name)
		if err := p.check(ctx, other); err != nil {
			return err
		}
		begun := time.Now()
		if err := p.startMember(leader); err != nil {
			return err
		}
		if err := p.untilReady(ctx, leader); err != nil {
			return err
		}
		serving = p.untilServing(ctx) == nil
		took = time.Since(begun)
		return ctx.Err()
	}, "-for", "20m", "-rate", pace)
	if err != nil {
		return err
	}
	n, faults := total(reports)
	p.claim(faults <= n/100, "%d operations meanwhile: %d errors (requests that were on their way through it when it was killed)", n, faults)
	p.claim(serving, "it is back, and the change serves at both members again: looked at for %s", took.Round(time.Second))
	for _, m := range p.members {
		if err := p.check(ctx, m); err != nil {
			return err
		}
	}
	return nil
}

// untilServing waits until every member says that the change serves.
func (p *production) untilServing(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 3*time.Minute)
	defer cancel()
	for {
		serving := 0
		for _, m := range p.members {
			if state, err := p.stateAt(ctx, m); err == nil && state == "serving" {
				serving++
			}
		}
		if serving == len(p.members) {
			return nil
		}
		select {
		case <-ctx.Done():
			return errors.New("the change does not serve at all members within three minutes")
		case <-time.After(500 * time.Millisecond):
		}
	}
}

// refuseStrangers asks, with a role that has no rights, for what the change serves.
func (p *production) refuseStrangers(ctx context.Context) error {
	p.heading("A role without rights learns nothing, whoever answers")
	for _, m := range p.members {
		s, err := p.connect(m.listen, strangerRole, password(strangerRole))
		if err != nil {
			return err
		}
		var got int
		err = s.Query("SELECT COUNT(*) FROM hotel.reservations WHERE guest_id = ? ALLOW FILTERING", gocql.UUID{}).WithContext(ctx).Scan(&got)
		s.Close()
		p.claim(err != nil && strings.Contains(err.Error(), "has no SELECT permission"), "through %s Cassandra's own refusal is what it gets: %v", m.name, err)
	}
	return nil
}

func (p *production) rollBack(ctx context.Context) error {
	p.heading("Rolled back at the other member, and the table dropped")
	if _, err := p.cli(ctx, true, p.members[0], "rollback", p.lookUp.ID); err != nil {
		return err
	}
	wait, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	state := ""
	for state != "rolled-back" && wait.Err() == nil {
		var err error
		if state, err = p.stateAt(ctx, p.members[1]); err != nil {
			return err
		}
		time.Sleep(200 * time.Millisecond)
	}
	p.claim(state == "rolled-back", "rolled back at one member, it is %s at the other", state)
	if _, err := p.cli(ctx, true, p.members[1], "drop", "--yes", p.lookUp.ID); err != nil {
		return err
	}
	reports, err := p.applications(ctx, "after", nil, "-ops", strconv.Itoa(p.ops/10))
	if err != nil {
		return err
	}
	n, faults := total(reports)
	p.claim(faults == 0, "%d operations afterwards: %d errors", n, faults)
	return nil
}

func (p *production) cleanUp() {
	p.stopAll()
	if p.session != nil {
		p.session.Close()
	}
	if p.cluster != nil {
		if err := p.cluster.Stop(); err != nil {
			p.say("Cassandra: %v", err)
		}
	}
	remove := p.dir
	if p.failed {
		remove = filepath.Join(p.dir, "cassandra")
		p.say("logs and state are left in %s", p.dir)
	}
	if err := os.RemoveAll(remove); err != nil {
		p.say("could not remove %s: %v", remove, err)
	}
	p.say("Nothing is left running.  [%s]", p.elapsed())
}
