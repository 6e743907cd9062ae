package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/gocql/gocql"
	"github.com/spf13/cobra"

	"github.com/helenus-db/helenus/capture/schema"
	"github.com/helenus-db/helenus/internal/check"
	"github.com/helenus-db/helenus/internal/config"
	"github.com/helenus-db/helenus/internal/keyspace"
	"github.com/helenus-db/helenus/rewrite"
)

// checkPatience is how long each node may take to say of itself what is asked.
const checkPatience = 15 * time.Second

func checkCommand() *cobra.Command {
	var f form
	var file string
	c := &cobra.Command{
		Use: "check", Short: "Say what of a cluster stands in the way of learning from it and of serving on it, and what helps", Args: usage(cobra.NoArgs),
		Long: `Check asks every node of the cluster, as the role that Helenus has, and changes nothing: versions, partitioner, what the role may do and lacks, with
the GRANT to copy, guardrails, how long permissions are remembered, replication, clocks, who else is connected, and drivers that do not choose nodes by token. The process that runs with --state-dir, if
one does, is asked who was connected past it in the last month.

What blocks makes the exit code ` + strconv.Itoa(exitFindings) + `; what a person should know does not.

` + exitsText(exitDone, exitFailed, exitUsage, exitUnreachable, exitFindings),
	}
	f.flags(c)
	c.Flags().StringVar(&file, "config", "", "YAML file of settings, as for run")
	settings := config.Flags(c.Flags(), append(slices.Clone(config.Connection), "keyspaces", "data-keyspace", "state-dir", "permissions-validity", "max-entries", "topology", "state", "state-keyspace", "state-replication")...)
	c.RunE = func(c *cobra.Command, _ []string) error {
		s, err := settings(file, os.LookupEnv)
		if err != nil {
			return usageError{err}
		}
		security, err := secure(s, logger(s))
		if err != nil {
			return usageError{err}
		}
		security.member = visitor + strconv.Itoa(os.Getpid())
		facts, err := looked(c.Context(), sessions{s, security.dialer()}, security.member)
		if err != nil {
			return err
		}
		remembered(c.Context(), s.StateDir, facts)
		found := check.All(facts)
		if f.structured() {
			err = f.encode(c.OutOrStdout(), found)
		} else {
			err = sayFindings(f.paper(c.OutOrStdout()), found)
		}
		if err == nil && found[0].Level == check.Blocks {
			err = exitError{errors.New("something stands in the way"), exitFindings}
		}
		return err
	}
	return c
}

// remembered asks the process that runs with a state directory who was connected past it.
func remembered(ctx context.Context, stateDir string, f *check.Facts) {
	r := remote{stateDir: stateDir, given: func(flag string) bool { return flag == "state-dir" }}
	client, err := r.client()
	var all rewrite.Sightings
	if err == nil {
		err = client.Get(ctx, "others", &all)
	}
	if err != nil {
		f.Forgotten = fmt.Sprintf("no helenus answers that runs with state-dir %s", stateDir)
		return
	}
	for _, x := range all.Seen {
		f.Seen = append(f.Seen, check.Seen{Client: check.Client{User: x.User, Driver: x.Driver, Address: x.Address, Count: x.Most}, First: x.First, Last: x.Last, Looks: x.Looks})
	}
}

// sayFindings writes a table, and below it what to do, whole.
func sayFindings(w io.Writer, found []check.Finding) error {
	t := newTable("level", "check", "says")
	for _, x := range found {
		t.AppendRow([]any{string(x.Level), x.Check, cut(x.Says, 110)})
	}
	if err := render(w, t); err != nil {
		return err
	}
	head := "\nWhat helps:\n"
	for _, x := range found {
		if x.Level == check.Fine || x.Do == "" {
			continue
		}
		if _, err := fmt.Fprintf(w, "%s\n%s: %s\n    %s\n", head, x.Check, x.Says, x.Do); err != nil {
			return err
		}
		head = ""
	}
	return nil
}

// looked reads what is to be checked. member is what our own connections say of whose they are.
func looked(ctx context.Context, s sessions, member string) (*check.Facts, error) {
	session, err := s.reading()
	if err != nil {
		return nil, exitError{noSession(s.Settings, err), exitUnreachable}
	}
	defer session.Close()
	f := &check.Facts{Role: s.Username, Named: s.Keyspaces, Wants: check.Wants{Permissions: s.PermissionsValidity, Entries: s.MaxEntries, Topology: s.Topology}}
	if f.Keyspaces, err = keyspacesOf(ctx, session, s); err != nil {
		return nil, err
	}
	if s.Shared() {
		if f.State, err = stateOfFleet(ctx, session, s); err != nil {
			return nil, err
		}
	}
	f.Rights = rightsOf(ctx, session, s.Username)
	for _, table := range []string{"system_views.clients", "system_views.settings", "system.prepared_statements"} {
		if err := session.Query("SELECT * FROM " + table + " LIMIT 1").WithContext(ctx).Exec(); err != nil {
			f.Unreadable = append(f.Unreadable, table)
		}
	}
	addresses, err := nodesOf(ctx, session)
	if err != nil {
		return nil, err
	}
	for _, address := range addresses {
		f.Nodes = append(f.Nodes, s.ask(ctx, address))
	}
	o := &onlookers{nodes: func() []string { return addresses }, open: s.asking}
	defer o.close()
	seen := o.look(ctx, member)
	f.Unseen = seen.Unseen
	for _, p := range seen.Helenus {
		if !slices.Contains(f.Owners, p.Owner) {
			f.Owners = append(f.Owners, p.Owner)
		}
	}
	for _, p := range seen.Clients {
		f.Clients = append(f.Clients, check.Client{User: p.User, Driver: p.Driver, Address: p.Address, Count: p.Count})
	}
	return f, nil
}

// noSession says why none could be opened, and what helps. A driver that is refused says it in Cassandra's words only.
func noSession(s *config.Settings, err error) error {
	at := strings.Join(s.ContactPoints, ", ")
	switch text := err.Error(); {
	case strings.Contains(text, "Password must not be null"), strings.Contains(text, "authentication required"):
		return notLetIn{fmt.Errorf("Cassandra at %s asks for a role and its password: set username and HELENUS_PASSWORD (%w)", at, err)} //nolint:revive,staticcheck // a name
	case strings.Contains(text, "password are incorrect"), strings.Contains(text, "not permitted to log in"):
		return notLetIn{fmt.Errorf("Cassandra at %s does not let %q in: set username and HELENUS_PASSWORD as in CREATE ROLE ... WITH PASSWORD ... AND LOGIN = true (%w)", at, s.Username, err)} //nolint:revive,staticcheck // a name
	case !s.CassandraTLS && (errors.Is(err, syscall.ECONNRESET) || strings.Contains(text, "connection reset") || strings.Contains(text, "EOF")):
		return notLetIn{fmt.Errorf("Cassandra at %s ended the connection before it said anything: if it asks for TLS there, set cassandra-tls (%w)", at, err)} //nolint:revive,staticcheck // a name
	}
	return fmt.Errorf("no node of %s can be reached: %w", at, err)
}

// notLetIn is an error that stays until a person sets something.
type notLetIn struct{ error }

// Is implements errors.Is.
func (notLetIn) Is(target error) bool { return target == keyspace.ErrNotLetIn }

func (e notLetIn) Unwrap() error { return e.error }

// keyspacesOf are the application's, each with the one of ours that goes with it.
func keyspacesOf(ctx context.Context, session *gocql.Session, s sessions) (out []check.Keyspace, err error) {
	all, err := schema.Read(ctx, session)
	if err != nil {
		return nil, err
	}
	for _, k := range all.WithoutOwn(s.DataKeyspace).Keyspaces {
		if len(s.Keyspaces) > 0 && !slices.Contains(s.Keyspaces, k.Name) || s.Shared() && k.Name == s.StateKeyspace { // which may have no tables yet, by which it is known
			continue
		}
		data := check.Data{Name: schema.DataKeyspace(s.DataKeyspace, k.Name)}
		data.Make, data.Follow = k.CreateLike(data.Name), k.AlterLike(data.Name)
		if own := all.Keyspace(data.Name); own != nil {
			data.Replication = own.Replication
		}
		out = append(out, check.Keyspace{Name: k.Name, Replication: k.Replication, Tables: len(k.Tables), Data: data})
	}
	return out, nil
}

// stateOfFleet is the keyspace of the state, and how it is made.
func stateOfFleet(ctx context.Context, session *gocql.Session, s sessions) (*check.State, error) {
	all, err := schema.Read(ctx, session)
	if err != nil {
		return nil, err
	}
	out := &check.State{Name: s.StateKeyspace}
	if own := all.Keyspace(out.Name); own != nil {
		out.Replication = own.Replication
		out.Bare = !slices.ContainsFunc(own.Tables, func(t schema.Table) bool { return t.Name == "state" })
		return out, nil
	}
	replication := s.StateReplication
	if replication == "" {
		if replication, err = keyspace.Replication(ctx, session); err != nil {
			return nil, err
		}
	}
	out.Make = keyspace.Statement(out.Name, replication)
	return out, nil
}

// rightsOf lists what a role may do, as it may see that itself.
func rightsOf(ctx context.Context, s *gocql.Session, role string) (r check.Rights) {
	if role == "" {
		return check.Rights{Unchecked: true}
	}
	quoted := `"` + strings.ReplaceAll(role, `"`, `""`) + `"`
	rows, err := s.Query("LIST ROLES OF " + quoted).WithContext(ctx).Iter().SliceMap()
	if err != nil {
		return check.Rights{Failed: err.Error()}
	}
	for _, row := range rows {
		super, _ := row["super"].(bool)
		r.Super = r.Super || super
	}
	rows, err = s.Query("LIST ALL PERMISSIONS OF " + quoted).WithContext(ctx).Iter().SliceMap()
	var refused gocql.RequestError
	switch {
	case errors.As(err, &refused) && strings.Contains(refused.Message(), "AllowAllAuthorizer"):
		r.Unchecked = true
	case err != nil:
		r.Failed = err.Error()
	}
	for _, row := range rows {
		resource, _ := row["resource"].(string)
		permission, _ := row["permission"].(string)
		r.Grants = append(r.Grants, check.Grant{Resource: resource, Permission: permission})
	}
	return r
}

// nodesOf lists the nodes of the cluster, host:port, the one that is asked first.
func nodesOf(ctx context.Context, session *gocql.Session) (list []string, err error) {
	add := func(address net.IP, port int) {
		if at := net.JoinHostPort(address.String(), strconv.Itoa(port)); !slices.Contains(list, at) {
			list = append(list, at)
		}
	}
	var address net.IP
	var port int
	iter := session.Query("SELECT native_address, native_port FROM system.peers_v2").WithContext(ctx).Iter()
	if answered := iter.Host(); answered != nil { // whichever it was: its peers are all nodes but itself, and another one's system.local would be none of them
		add(answered.ConnectAddress(), answered.Port())
	}
	for iter.Scan(&address, &port) {
		add(address, port)
	}
	if err := iter.Close(); err != nil {
		return nil, fmt.Errorf("ask which nodes there are: %w", err)
	}
	return list, nil
}

// ask asks one node about itself.
func (s sessions) ask(ctx context.Context, address string) (n check.Node) {
	n.Address = address
	ctx, cancel := context.WithTimeout(ctx, checkPatience)
	defer cancel()
	session, err := s.asking(address)
	if err == nil {
		defer session.Close()
		err = session.Query("SELECT release_version, partitioner, data_center FROM system.local").WithContext(ctx).Scan(&n.Version, &n.Partitioner, &n.DC)
	}
	if err != nil {
		n.Failed = err.Error()
		return n
	}
	for i := range 5 { // the quickest answer tells the time best
		var id gocql.UUID
		began := time.Now()
		if err := session.Query("SELECT now() FROM system.local").WithContext(ctx).Scan(&id); err != nil {
			break
		}
		if doubt := time.Since(began)/2 + time.Millisecond; i == 0 || doubt < n.Doubt {
			n.Offset, n.Doubt = id.Time().Sub(began.Add(time.Since(began)/2)), doubt
		}
	}
	iter := session.Query("SELECT name, value FROM system_views.settings").WithContext(ctx).Iter()
	settings := map[string]string{}
	var key, value string
	for iter.Scan(&key, &value) {
		settings[key] = value
		value = ""
	}
	if iter.Close() == nil {
		n.Settings = settings
	}
	return n
}
