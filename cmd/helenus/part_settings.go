package main

import (
	"github.com/helenus-db/helenus/advisor/recommend"
	"github.com/helenus-db/helenus/capture"
	"github.com/helenus-db/helenus/internal/config"
	"github.com/helenus-db/helenus/proxy"
	"github.com/helenus-db/helenus/rewrite/lookup"
	"github.com/helenus-db/helenus/rewrite/lookup/verify"
	"github.com/helenus-db/helenus/rewrite/migrate"
)

// This file turns settings into those of the parts. What is not set there has the part's own default, which is the setting's
// (part_settings_test.go).

func changeSettings(s *config.Settings) migrate.Settings {
	return migrate.Settings{
		Settle: s.Settle, Ranges: s.BackfillRanges, Workers: s.Workers, Rate: s.BackfillRate,
		ShadowReads: int64(s.ShadowReads), ShadowFor: s.ShadowFor, ShadowSelf: s.ShadowProbes, SweepEvery: s.SweepEvery,
	}
}

func lookUpSettings(s *config.Settings) lookup.Settings {
	return lookup.Settings{Entries: s.MaxEntries, Verify: verify.Settings{Workers: s.Workers}}
}

func thresholds(s *config.Settings) recommend.Thresholds {
	return recommend.Thresholds{Executions: uint64(s.MinExecutions), SavedSeconds: s.MinSaved.Seconds()} //nolint:gosec // not negative
}

// proxyOptions are those that are settings by themselves.
func proxyOptions(s *config.Settings) proxy.Options {
	return proxy.Options{
		ContactPoints: s.ContactPoints, Listen: s.Listen, Topology: proxy.Topology(s.Topology), Advertise: s.Advertise, Fleet: s.Fleet,
		Traces: s.OTLPEndpoint != "", Username: s.Username, Password: s.Password, MaxFrame: int(s.MaxFrame), MaxConnections: s.MaxConnections,
		DialTimeout: dialTimeout, HandshakeTimeout: s.HandshakeTimeout, RequestTimeout: s.RequestTimeout, StripCompression: s.StripCompression,
		KeepAlive: s.TCPKeepAlive, MaxConnectionsPerClient: s.MaxConnectionsPerClient, MaxRequestsPerClient: s.MaxRequestsPerClient,
		RequestBurst: s.RequestBurst, DrainTimeout: s.DrainTimeout, DrainGrace: s.DrainGrace,
	}
}

func captureOptions(s *config.Settings) capture.Options {
	return capture.Options{Fingerprints: s.MaxStatements, Memory: int64(s.CaptureMemory), Slow: s.SlowRequest}
}
