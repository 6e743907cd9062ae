// Command apache runs the conformance checks with Apache's gocql v2, as an ordinary application. internal/drivers says what each
// check means and runs it.
package main

import (
	"errors"
	"fmt"
	"net"
	"reflect"
	"strconv"
	"sync"
	"time"

	gocql "github.com/apache/cassandra-gocql-driver/v2"
	"github.com/apache/cassandra-gocql-driver/v2/lz4"
	"github.com/apache/cassandra-gocql-driver/v2/snappy"

	"github.com/helenus-db/helenus/internal/drivers/part"
)

type program struct {
	options part.Options
	session *gocql.Session
	hosts   *hosts
}

// hosts is told what becomes of the nodes.
type hosts struct {
	mu       sync.Mutex
	down, up []string
}

// OnHostUp implements gocql.HostStatusChangeListener.
func (h *hosts) OnHostUp(e gocql.HostUpEvent) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.up = append(h.up, e.Host.HostID())
}

// OnHostDown implements gocql.HostStatusChangeListener.
func (h *hosts) OnHostDown(e gocql.HostDownEvent) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.down = append(h.down, e.Host.HostID())
}

func config(o part.Options) (*gocql.ClusterConfig, error) {
	cfg := gocql.NewCluster()
	for _, p := range o.Points {
		host, text, err := net.SplitHostPort(p)
		if err != nil {
			return nil, err
		}
		if cfg.Port, err = strconv.Atoi(text); err != nil {
			return nil, err
		}
		cfg.Hosts = append(cfg.Hosts, host)
	}
	cfg.Keyspace = o.Keyspace
	cfg.ProtoVersion = o.Protocol
	cfg.DisableSkipMetadata = o.Described
	cfg.Timeout, cfg.ConnectTimeout = time.Minute, time.Minute
	cfg.MaxWaitSchemaAgreement = part.Patience
	cfg.Consistency = gocql.Quorum
	cfg.RetryPolicy = &gocql.SimpleRetryPolicy{NumRetries: 3}
	if o.Username != "" {
		cfg.Authenticator = gocql.PasswordAuthenticator{Username: o.Username, Password: o.Password}
	}
	if o.CA != "" {
		cfg.SslOpts = &gocql.SslOptions{CaPath: o.CA, CertPath: o.Cert, KeyPath: o.Key, EnableHostVerification: true}
	}
	switch o.Compression {
	case "":
	case "lz4":
		cfg.Compressor = lz4.LZ4Compressor{}
	case "snappy":
		cfg.Compressor = snappy.SnappyCompressor{}
	default:
		return nil, errors.New("compression is lz4 or snappy")
	}
	return cfg, nil
}

func main() {
	p := &program{options: part.Parse(), hosts: &hosts{}}
	cfg, err := config(p.options)
	if err != nil {
		part.Fail(err)
	}
	cfg.PoolConfig.HostSelectionPolicy = gocql.TokenAwareHostPolicy(gocql.RoundRobinHostPolicy())
	cfg.Metadata.CacheMode = gocql.Full
	cfg.Metadata.HostListener.HostStateChangeListener = p.hosts
	if p.session, err = cfg.CreateSession(); err != nil {
		part.Fail(err)
	}
	defer p.session.Close()
	part.Run(p.options, map[string]func(*part.Result) error{
		"connect": p.connect, "prepared": p.prepared, "batch": p.batch, "paging": p.paging, "collections": p.collections,
		"udt": p.udt, "vector": p.vector, "lwt": p.lwt, "tracing": p.tracing, "warnings": p.warnings, "errors": p.errors,
		"use": p.use, "large": p.large, "concurrent": p.concurrent, "payload": p.payload, "speculative": p.speculative,
		"describe": p.describe, "metadata": p.metadata, "token-aware": p.tokenAware, "events": p.events,
		"schema-under-load": p.schemaUnderLoad, "node-restart": p.disturbed, "first-node-restart": p.disturbed, "node-added": p.nodeAdded, "drained": p.disturbed,
		"taken-over": p.takenOver, "member-lost": p.disturbed, "member-back": p.disturbed,
		"looked-up": p.lookedUp, "masked": p.masked, "not-allowed": p.notAllowed, "wrong-password": p.wrongPassword, "no-certificate": p.noCertificate,
	})
}

func (p *program) exec(statement string, values ...any) error {
	if err := p.session.Query(statement, values...).Exec(); err != nil {
		return fmt.Errorf("%.80s: %w", statement, err)
	}
	return nil
}

func (p *program) all(statements ...string) error {
	for _, s := range statements {
		if err := p.exec(s); err != nil {
			return err
		}
	}
	return nil
}

func differ(what string, got, want any) error {
	if reflect.DeepEqual(got, want) {
		return nil
	}
	return fmt.Errorf("%s: got %v, want %v", what, got, want)
}
