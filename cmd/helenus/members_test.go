package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/gocql/gocql"

	"github.com/helenus-db/helenus/capture/store"
	"github.com/helenus-db/helenus/internal/admin"
	"github.com/helenus-db/helenus/internal/cassandra/cassandratest"
	"github.com/helenus-db/helenus/internal/config"
	"github.com/helenus-db/helenus/internal/fleet"
	"github.com/helenus-db/helenus/internal/keyspace"
	"github.com/helenus-db/helenus/rewrite/migrate"
)

// members makes processes that share a state in a keyspace of Cassandra, one with each call: its ports are free until it listens only.
func (s *shop) members(contactPoints string, more ...string) (another func() *process) {
	s.t.Helper()
	state := strings.Replace(s.keyspace, "shop", "state", 1)
	s.t.Cleanup(func() { _ = s.direct.Query("DROP KEYSPACE IF EXISTS " + state).Exec() })
	return func() *process {
		return s.process(contactPoints, append([]string{"--state", "cassandra", "--state-keyspace", state, "--serving-lease", "10s", "--topology", "single"}, more...)...)
	}
}

func (p *process) fleet() (f fleet.Fleet) {
	_ = p.client().Get(context.Background(), "members", &f) // it may be down just now
	return f
}

// leader is the process that leads, as all say who are asked.
func leaderOf(t *testing.T, all ...*process) (leader *process) {
	t.Helper()
	await(t, "one of the members leads", func() bool {
		for _, p := range all {
			if p.cmd != nil && p.fleet().Role == "leader" {
				leader = p
				return true
			}
		}
		return false
	})
	return leader
}

// answering waits until a member answers by a change again.
func (s *shop) answering(p *process, id string) {
	s.t.Helper()
	p.awaitReached(id, migrate.Serving)
	through := session(s.t, p.listen)
	before := p.metric("helenus_change_reads_total{", `result="served"`)
	await(s.t, "a read is answered by the change", func() bool {
		if err := through.Query(s.byCustomer(), customer(1)).Iter().Close(); err != nil {
			s.t.Log(err)
		}
		return p.metric("helenus_change_reads_total{", `result="served"`) > before
	})
}

func (p *process) trail() (out []string) {
	var a admin.AuditAnswer
	if err := p.client().Get(context.Background(), "audit?limit=1000", &a); err != nil {
		p.t.Fatal(err)
	}
	for _, e := range a.Entries {
		out = append(out, fmt.Sprintf("%d %s %s %s %s>%s", e.Seq, e.Actor, e.Action, e.Target, e.Before, e.After))
	}
	return out
}

// TestMembersShareOneTruth: two members before one node. What is said at one is so at the other, whoever is killed or stands still.
func TestMembersShareOneTruth(t *testing.T) {
	address := cassandratest.ContactPoints(t)[0]
	s := newShop(t, session(t, address))
	another := s.members(address)
	a := another()
	id, lookUp := s.propose(a) // alone, it leads
	b := another()
	b.start()
	b.awaitReady()
	await(t, "both know of each other", func() bool { return len(a.fleet().Members) == 2 && len(b.fleet().Members) == 2 })
	if f := b.fleet(); f.Role != "follower" || f.Leader == f.Self {
		t.Errorf("the second is %s, and %s leads", f.Role, f.Leader)
	}
	var advised admin.Recommendations
	await(t, "the advice is known at the follower", func() bool {
		return b.client().Get(context.Background(), "recommendations", &advised) == nil && len(advised.Recommendations) > 0 && !advised.At.IsZero()
	})
	if advised.Recommendations[0].ID != id {
		t.Errorf("the follower knows %s, not %s", advised.Recommendations[0].ID, id)
	}
	stops := []func() (int64, int64){s.write(a.listen), s.write(b.listen)}
	compares := []func() (int, []string){s.compare(a.listen), s.compare(b.listen)}
	if err := b.approve(id); err != nil { // at the follower
		t.Fatal(err)
	}
	s.answering(a, id)
	s.answering(b, id)

	t.Log("the leader is killed")
	a.kill()
	killed := time.Now()
	if leaderOf(t, b) != b {
		t.Fatal("nobody leads")
	}
	t.Logf("another leads after %v", time.Since(killed).Round(100*time.Millisecond))
	s.answering(b, id)
	t.Logf("it serves after %v", time.Since(killed).Round(100*time.Millisecond))
	a.start()
	a.awaitReady()
	s.answering(a, id)

	t.Log("the leader stands still")
	if err := b.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	if leaderOf(t, a) != a {
		t.Fatal("nobody leads")
	}
	await(t, "nobody serves while a member may write by what it knew", func() bool { return !a.fleet().Serving })
	served := a.metric("helenus_change_reads_total{", `result="served"`)
	time.Sleep(15 * time.Second) // it is connected: nobody takes it off
	if n := len(a.fleet().Members); n != 2 {
		t.Errorf("%d members while one stands still", n)
	}
	if now := a.metric("helenus_change_reads_total{", `result="served"`); now != served {
		t.Errorf("%v reads were served meanwhile", now-served)
	}
	if err := b.cmd.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	s.answering(a, id)
	s.answering(b, id)
	for i, stop := range compares {
		compared, wrong := stop()
		t.Logf("through member %d: %d answers compared", i+1, compared)
		if len(wrong) > 0 || compared == 0 {
			t.Errorf("%d of %d answers through member %d were wrong: %s", len(wrong), compared, i+1, strings.Join(wrong, "; "))
		}
	}
	for i, stop := range stops {
		written, failed := stop()
		t.Logf("through member %d: %d writes, %d failed", i+1, written, failed)
	}
	s.serves(a, lookUp)
	s.serves(b, lookUp)

	if code, out := command(t, b, "rollback", id); code != 0 {
		t.Fatalf("rollback: %d %s", code, out)
	}
	a.awaitRolledBack(id)
	b.awaitRolledBack(id)
	await(t, "the trail is one", func() bool { return slices.Equal(a.trail(), b.trail()) })
	if _, out := command(t, a, "status"); !strings.Contains(out, "2 members") || !strings.Contains(out, "is the leader") && !strings.Contains(out, "is a follower") {
		t.Errorf("status says nothing of the fleet: %s", out)
	}

	move := func(to string) (int, string) {
		return command(t, a, "state", "move", "--to", to, "--contact-points", address, "--state-keyspace", strings.Replace(s.keyspace, "shop", "state", 1))
	}
	if code, out := move("sqlite"); code == 0 || !strings.Contains(out, "members run on the state") {
		t.Errorf("the state was moved under processes that run: %d %s", code, out)
	}
	trail := a.trail()
	if code := b.stop(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	await(t, "who ended is off the register", func() bool { return len(a.fleet().Members) == 1 })
	a.stop()
	if code, out := move("sqlite"); code != 0 {
		t.Fatalf("move: %d %s", code, out)
	}
	if code, out := command(t, a, b.args...); code == 0 || !strings.Contains(out, "it was moved to the file") {
		t.Errorf("a process began on a state that was moved away: %d %s", code, out)
	}
	with := a.args
	a.args = slices.Clone(with)
	a.args[slices.Index(a.args, "cassandra")] = "sqlite"
	a.start()
	a.awaitReady()
	if m := a.migration(id); m.State != migrate.RolledBack {
		t.Errorf("in the file the change is %q", m.State)
	}
	if now := a.trail(); len(now) < len(trail) || !strings.Contains(strings.Join(now, "\n"), "state.move") {
		t.Errorf("%d lines of %d are in the file", len(now), len(trail))
	}
	a.stop()
	if code, out := move("cassandra"); code != 0 {
		t.Fatalf("move back: %d %s", code, out)
	}
	a.args = with
	a.start()
	a.awaitReady()
	if m := a.migration(id); m.State != migrate.RolledBack {
		t.Errorf("back in the keyspace the change is %q", m.State)
	}
}

// TestACopiedStateIsFound: two processes with a state in a file each, one a copy of the other, so that both have one owner: no change is taken on.
func TestACopiedStateIsFound(t *testing.T) {
	address := cassandratest.ContactPoints(t)[0]
	s := newShop(t, session(t, address))
	a := s.process(address)
	id, _ := s.propose(a)
	a.stop()
	b := s.process(address)
	text, err := os.ReadFile(filepath.Join(a.state, store.File))
	if err == nil {
		err = os.WriteFile(filepath.Join(b.state, store.File), text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	b.start()
	b.awaitReady()
	a.start()
	a.awaitReady()
	var refused error
	await(t, "the approval is judged", func() bool { refused = a.approve(id); return refused != nil || a.migration(id).State != "" })
	if !refusedWith(refused, "with a copy of this state") {
		t.Errorf("approved beside a process with a copy of the state: %v", refused)
	}
	b.stop()
	await(t, "alone, it may", func() bool { return a.approve(id) == nil })
}

// asServed is for how long a change is left to answer reads between two faults.
const asServed = time.Minute

// TestMembersWithstand: three members before three nodes; leaders and followers are killed and stand still in every state, while writers work through all, and every answer is checked: by what
// was written (registers), and of rows that many write by Cassandra's own answers (compare).
// HELENUS_WITHSTAND_FOR=20m goes on with such faults, and those of nodes, for so long once it serves, and says how many answers were compared.
func TestMembersWithstand(t *testing.T) {
	c, direct := nodes(t)
	points := strings.Join(c.ContactPoints(), ",")
	s := newReplicatedShop(t, direct, 3)
	another := s.members(points, "--state-replication", "{'class': 'SimpleStrategy', 'replication_factor': 3}")
	all := []*process{another()}
	id, lookUp := s.propose(all[0])
	var stops []func() (int64, int64)
	var compares []func() (int, []string)
	var addresses []string
	long, err := time.ParseDuration(cmp.Or(os.Getenv("HELENUS_WITHSTAND_FOR"), "0s"))
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		p := another()
		p.start()
		p.awaitReady()
		all = append(all, p)
	}
	for _, p := range all {
		stops = append(stops, s.write(p.listen))
		compares = append(compares, s.compare(p.listen))
		addresses = append(addresses, p.listen)
	}
	registers, checked, settled := s.registered(addresses)
	defer func() { t.Log(checked) }()
	if err := all[2].approve(id); err != nil {
		t.Fatal(err)
	}
	states := []migrate.State{migrate.Approved, migrate.DualWrite, migrate.Backfill, migrate.Verify, migrate.Shadow, migrate.Serving}
	for i, state := range states {
		for _, who := range []string{"leader", "follower"} {
			victim := leaderOf(t, all...)
			if who == "follower" {
				victim = all[(slices.Index(all, victim)+1)%3]
			}
			others := slices.DeleteFunc(slices.Clone(all), func(p *process) bool { return p == victim })
			at := others[0].awaitReached(id, state)
			t.Log(checked)
			if i%2 == 0 {
				t.Logf("the %s is killed in state %s", who, at)
				victim.kill()
				began := time.Now()
				leaderOf(t, others...)
				t.Logf("somebody else leads after %v", time.Since(began).Round(100*time.Millisecond))
				victim.start()
				victim.awaitReady()
				continue
			}
			t.Logf("the %s stands still in state %s", who, at)
			if err := victim.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
				t.Fatal(err)
			}
			time.Sleep(20 * time.Second)
			if err := victim.cmd.Process.Signal(syscall.SIGCONT); err != nil {
				t.Fatal(err)
			}
		}
	}
	answered := func(after string) time.Duration {
		ended := time.Now()
		for _, p := range all {
			s.answering(p, id)
		}
		took := time.Since(ended)
		t.Logf("%s: all answer by the change %v after that has ended; %s", after, took.Round(100*time.Millisecond), checked)
		if took > 2*time.Minute { // a minute is asked, where each node has a processor (docs/results/faults-real.md)
			t.Errorf("%s: it serves %v after that has ended", after, took.Round(time.Second))
		}
		return took
	}
	longest, faults := answered("the last fault of a state"), 2*len(states)
	for began := time.Now(); time.Since(began) < long; faults++ {
		longest = max(longest, answered(blow(t, faults, c, all)))
		time.Sleep(asServed) // else most reads run as written, of which a second has a few; those that it answers are to be looked at
	}
	settled()
	if n := len(checked.wrong); n > 0 {
		t.Errorf("%d of %d answers can not have been: %s", n, checked.compared.Load(), strings.Join(checked.wrong[:min(n, 20)], "; "))
	}
	sum := 0
	for i, stop := range compares {
		compared, wrong := stop()
		sum += compared
		t.Logf("through member %d: %d answers compared with Cassandra's own", i+1, compared)
		if len(wrong) > 0 || compared == 0 {
			t.Errorf("%d of %d answers through member %d were wrong: %s", len(wrong), compared, i+1, strings.Join(wrong, "; "))
		}
	}
	t.Logf("%d answers checked by what was written, %d compared with Cassandra's own, under %d faults; the longest until all answered by the change was %v",
		checked.compared.Load(), sum, faults, longest.Round(100*time.Millisecond))
	for i, stop := range stops {
		written, failed := stop()
		t.Logf("through member %d: %d writes, %d failed", i+1, written, failed)
	}
	for _, p := range all {
		s.serves(p, lookUp)
		s.settled(registers, session(t, p.listen))
	}
}

// answer is what a session answers for a customer.
func (s *shop) answer(through *gocql.Session, who string) (out []string, err error) {
	var day, number int
	var total *int
	iter := through.Query(s.byCustomer(), who).Iter()
	for iter.Scan(&day, &number, &total) {
		text := "null"
		if total != nil {
			text = fmt.Sprint(*total)
		}
		out = append(out, fmt.Sprintf("%d/%d=%s", day, number, text))
		total = nil
	}
	return out, iter.Close()
}

// gone tells whether a driver has given its one host up.
func gone(err error) bool {
	return errors.Is(err, gocql.ErrNoConnections) || errors.Is(err, gocql.ErrSessionClosed)
}

// compare compares answers through a member with Cassandra's own, while others write: an answer counts as wrong if Cassandra's own was the same before and after, three times
// in a row, and both were the same each time: a row that comes and goes between the two may lawfully be in an answer, but it does not stay. What can not be asked is not compared.
func (s *shop) compare(address string) (stop func() (compared int, wrong []string)) {
	var (
		wait     sync.WaitGroup
		done     = make(chan struct{})
		compared int
		wrong    []string
	)
	wait.Go(func() {
		var through *gocql.Session
		defer func() {
			if through != nil {
				through.Close()
			}
		}()
		doubted := ""
		for i, doubts := 0, 0; ; {
			select {
			case <-done:
				return
			default:
			}
			if through == nil {
				var err error
				if through, err = openSession(address); err != nil {
					time.Sleep(100 * time.Millisecond)
					continue
				}
			}
			who, asked := customer(i%moving), time.Now()
			before, err1 := s.answer(s.direct, who)
			got, err2 := s.answer(through, who)
			after, err3 := s.answer(s.direct, who)
			time.Sleep(min(12*time.Since(asked), 2*time.Second)) // Cassandra's own read whole tables: others are to get on meanwhile
			switch {
			case gone(err2): // the driver has given its one host up
				through.Close()
				through = nil
				continue
			case err1 != nil || err2 != nil || err3 != nil:
				continue
			case slices.Equal(before, got) || slices.Equal(after, got):
				compared++
				i, doubts = i+1, 0
				continue
			case !slices.Equal(before, after): // written meanwhile, more than once
				continue
			}
			if this := fmt.Sprint(before, got); this != doubted {
				doubted, doubts = this, 0
			}
			if doubts++; doubts == 3 {
				wrong = append(wrong, fmt.Sprintf("%v %s: %v, want %v", time.Now().Format(time.TimeOnly), who, got, before))
				i, doubts = i+1, 0
			}
		}
	})
	return func() (int, []string) {
		close(done)
		wait.Wait()
		return compared, wrong
	}
}

// A member's lease is counted by a clock that goes on while the machine is suspended.
func TestALeaseEndsWhileTheMachineSleeps(t *testing.T) {
	h := &helenus{settings: config.Defaults(), shared: &keyspace.Store{}, onlookers: &onlookers{}}
	h.join()
	if before, now, after := fleet.Elapsed(), h.member.Moment(), fleet.Elapsed(); now < before || now > after {
		t.Errorf("it is %v, by the member's clock %v", after, now)
	}
}
