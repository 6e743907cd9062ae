package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/gocql/gocql"

	"github.com/helenus-db/helenus/internal/drivers/part"
)

func (p *program) tokenAware(r *part.Result) error {
	const rows, traces = 1000, 20
	table := p.options.Keyspace + "_one.keyed"
	if err := p.all("CREATE TABLE IF NOT EXISTS " + table + " (id int PRIMARY KEY, v int)"); err != nil {
		return err
	}
	for i := range rows {
		if err := p.exec("INSERT INTO "+table+" (id, v) VALUES (?, ?)", i, i); err != nil {
			return err
		}
	}
	tokens := map[int]int64{}
	var id int
	var token int64
	iter := p.session.Query("SELECT id, token(id) FROM " + table).Iter()
	for iter.Scan(&id, &token) {
		tokens[id] = token
	}
	if err := iter.Close(); err != nil {
		return err
	}
	for id, token := range tokens {
		text := strconv.FormatInt(token, 10)
		t := &traced{}
		q := p.session.Query("SELECT v FROM "+table+" WHERE id = ?", id).Consistency(gocql.One)
		if len(r.Traces) < traces {
			q = q.Trace(t)
		}
		iter := q.Iter()
		var v int
		iter.Scan(&v)
		if err := iter.Close(); err != nil {
			return err
		}
		if v != id {
			return fmt.Errorf("row %d says %d", id, v)
		}
		r.Reads = append(r.Reads, [2]string{text, iter.Host().HostID()})
		if len(r.Traces) < traces {
			who, err := p.coordinator(t.id)
			if err != nil {
				return err
			}
			r.Traces = append(r.Traces, [2]string{text, who})
		}
	}
	return nil
}

// hasTable tells what the session's cached description of the keyspace says, which only an event renews.
func (p *program) hasTable(table, column string) bool {
	k, err := p.session.KeyspaceMetadata(p.options.Keyspace)
	if err != nil || k.Tables[table] == nil {
		return false
	}
	return k.Tables[table].Columns[column] != nil
}

func (p *program) events(*part.Result) error {
	if p.hasTable("seen", "id") {
		return errors.New("the table is there already")
	}
	part.Await("events")
	return part.Poll("the new table is known", func() bool { return p.hasTable("seen", "id") })
}

func (p *program) write(key string, value int64) error {
	return p.session.Query("INSERT INTO load (id, v) VALUES (?, ?)", key, value).Idempotent(true).Exec()
}

func (p *program) read(key string) (int64, bool, error) {
	row := map[string]any{}
	err := p.session.Query("SELECT * FROM load WHERE id = ?", key).Idempotent(true).MapScan(row)
	if errors.Is(err, gocql.ErrNotFound) {
		return 0, false, nil
	}
	v, _ := row["v"].(int64)
	return v, err == nil, err
}

func (p *program) disturbed(r *part.Result) error {
	if err := p.all("CREATE TABLE IF NOT EXISTS load (id text PRIMARY KEY, v bigint)"); err != nil {
		return err
	}
	if err := p.session.AwaitSchemaAgreement(context.Background()); err != nil {
		return err
	}
	p.hosts.mu.Lock()
	p.hosts.down, p.hosts.up = nil, nil
	p.hosts.mu.Unlock()
	err := part.Load(r, p.write, p.read)
	p.hosts.mu.Lock()
	defer p.hosts.mu.Unlock()
	r.Down, r.Up = p.hosts.down, p.hosts.up
	return err
}

func (p *program) schemaUnderLoad(r *part.Result) error {
	if err := p.disturbed(r); err != nil {
		return err
	}
	return part.Poll("the new column is known", func() bool { return p.hasTable("load", "z_added") })
}

// nodeAdded waits, under load, until one more host is known.
func (p *program) nodeAdded(r *part.Result) error {
	count := func() int {
		p.hosts.mu.Lock()
		defer p.hosts.mu.Unlock()
		return len(p.hosts.known)
	}
	before := count()
	if err := p.disturbed(r); err != nil {
		return err
	}
	return part.Poll("the new node is known", func() bool { return count() == before+1 })
}

// takenOver is the load of a session that lasts, while sessions come and go.
func (p *program) takenOver(r *part.Result) error {
	return part.Visit(r, func() error {
		session, err := open(p.options)
		if err != nil {
			return err
		}
		defer session.Close()
		return session.Query("SELECT release_version FROM system.local").Exec()
	}, func() error { return p.disturbed(r) })
}

func open(o part.Options) (*gocql.Session, error) {
	cfg, err := config(o)
	if err != nil {
		return nil, err
	}
	return cfg.CreateSession()
}

// noCertificate tries to come in without one.
func (p *program) noCertificate(r *part.Result) error {
	o := p.options
	o.Cert, o.Key = "", ""
	session, err := open(o)
	if err == nil {
		session.Close()
		return errors.New("who has no certificate was let in")
	}
	if r.Detail = fmt.Sprintf("%.120s", err); !strings.Contains(err.Error(), "certificate") {
		return fmt.Errorf("the refusal does not say why: %w", err)
	}
	return nil
}

func (p *program) wrongPassword(r *part.Result) error {
	o := p.options
	o.Password = "wrong"
	other, err := open(o)
	if err == nil {
		other.Close()
		return errors.New("a wrong password was let in")
	}
	if r.Detail = fmt.Sprintf("%.80s", err); !strings.Contains(err.Error(), "incorrect") {
		return fmt.Errorf("the refusal does not say why: %w", err)
	}
	return nil
}
