package test

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// at each alert: series that fire it, and series like them that do not. Labels of the scrape are added, one sample is a minute's; what is
// asked is whether it fires at the end of half an hour, and for a longer range of the last hour and a half.
type firing struct{ fires, quiet string }

var alertSeries = map[string]firing{
	"HelenusAbsent":   {fires: `helenus_proxy_ready 1x90`, quiet: `helenus_build_info{version="1"} 1x90`},
	"HelenusNotReady": {"helenus_proxy_ready 0x90\nhelenus_proxy_draining 0x90", "helenus_proxy_ready 0x90\nhelenus_proxy_draining 1x90"},
	"HelenusAddsLatency": {
		"helenus_proxy_added_seconds_bucket{le=\"0.004\"} 0x90\nhelenus_proxy_added_seconds_bucket{le=\"0.016\"} 0+6000x90\nhelenus_proxy_added_seconds_bucket{le=\"+Inf\"} 0+6000x90\nhelenus_proxy_requests_total{class=\"query\"} 0+6000x90",
		"helenus_proxy_added_seconds_bucket{le=\"0.004\"} 0x90\nhelenus_proxy_added_seconds_bucket{le=\"0.016\"} 0+6x90\nhelenus_proxy_added_seconds_bucket{le=\"+Inf\"} 0+6x90\nhelenus_proxy_requests_total{class=\"query\"} 0+6x90", // few
	},
	"HelenusRefusesRequests": {
		"helenus_proxy_requests_refused_total{error=\"Overloaded\"} 0+20x90\nhelenus_proxy_requests_total{class=\"query\"} 0+1000x90",
		"helenus_proxy_requests_refused_total{error=\"Overloaded\"} 0+5x90\nhelenus_proxy_requests_total{class=\"query\"} 0+1000x90",
	},
	"HelenusLosesConnections":   {`helenus_proxy_connections_closed_total{reason="refused"} 0+60x90`, `helenus_proxy_connections_closed_total{reason="client"} 0+60x90`},
	"HelenusNodesUnlistened":    {`helenus_proxy_nodes_unlistened 1x90`, `helenus_proxy_nodes_unlistened 0x90`},
	"HelenusCutsConnections":    {`helenus_proxy_connections_cut_total 0x80 2x10`, `helenus_proxy_connections_cut_total 2x90`},
	"HelenusCertificateExpires": {`helenus_tls_certificate_expiry_timestamp_seconds{side="client",kind="own"} 864000x90`, `helenus_tls_certificate_expiry_timestamp_seconds{side="client",kind="own"} 8640000x90`},
	"HelenusTLSFilesStale":      {`helenus_tls_files_stale{side="client"} 1x90`, `helenus_tls_files_stale{side="client"} 0x90`},
	"HelenusPanics":             {`helenus_panics_total{part="reads"} 0x80 1x10`, `helenus_panics_total{part="reads"} 1x90`},
	"HelenusShadowDifference":   {`helenus_change_differences_total{change_id="r-1",result="unexplained"} 0x80 1x10`, `helenus_change_differences_total{change_id="r-1",result="explained"} 0x80 1x10`},
	"HelenusChangeDivergent":    {`helenus_change_divergent_rows{change_id="r-1",reason="missing"} 3x90`, `helenus_change_divergent_rows{change_id="r-1",reason="orphan"} 3x90`},
	"HelenusNoCleanPass": {
		"helenus_change_last_clean_pass_timestamp_seconds{change_id=\"r-1\"} -90000x90\nhelenus_change_state{change_id=\"r-1\",state=\"serving\"} 1x90",
		"helenus_change_last_clean_pass_timestamp_seconds{change_id=\"r-1\"} -90000x90\nhelenus_change_state{change_id=\"r-1\",state=\"serving\"} 0x90",
	},
	"HelenusWritesMissed":  {`helenus_change_writes_total{change_id="r-1",result="missed"} 0x80 5x10`, `helenus_change_writes_total{change_id="r-1",result="written"} 0+5x90`},
	"HelenusTableTouched":  {`helenus_change_touched_total{change_id="r-1"} 0x80 1x10`, `helenus_change_touched_total{change_id="r-1"} 1x90`},
	"HelenusOtherInstance": {`helenus_cluster_others{kind="helenus"} 1x90`, `helenus_cluster_others{kind="client"} 1x90`},
	"HelenusOtherWriters": {
		"helenus_cluster_others{kind=\"client\"} 1x90\nhelenus_change_state{change_id=\"r-1\",state=\"serving\"} 1x90",
		"helenus_cluster_others{kind=\"client\"} 1x90\nhelenus_change_state{change_id=\"r-1\",state=\"serving\"} 0x90",
	},
	"HelenusWritesAround": {`helenus_change_written_around_total{change_id="r-1"} 0x80 4x10`, `helenus_change_written_around_total{change_id="r-1"} 4x90`},
	"HelenusSlowerThanBefore": {
		"helenus_change_gain_ratio{change_id=\"r-1\",source=\"measured\"} 0.8x90\nhelenus_change_state{change_id=\"r-1\",state=\"serving\"} 1x90",
		"helenus_change_gain_ratio{change_id=\"r-1\",source=\"promised\"} 0.8x90\nhelenus_change_gain_ratio{change_id=\"r-1\",source=\"measured\"} 1.2x90\nhelenus_change_state{change_id=\"r-1\",state=\"serving\"} 1x90",
	},
	"HelenusChangeSuspended": {`helenus_change_state{change_id="r-1",state="failed"} 1x90`, "helenus_change_state{change_id=\"r-1\",state=\"suspended\"} 0x90\nhelenus_change_state{change_id=\"r-1\",state=\"serving\"} 1x90"},
	"HelenusChangeStalled": {
		"helenus_change_progress_ratio{change_id=\"r-1\"} 0.3x90\nhelenus_change_state{change_id=\"r-1\",state=\"backfill\"} 1x90",
		"helenus_change_throttled{change_id=\"r-4\",reason=\"paused\"} 1x90\nhelenus_change_progress_ratio{change_id=\"r-4\"} 0.2x90\nhelenus_change_state{change_id=\"r-4\",state=\"verify\"} 1x90\nhelenus_change_throttled{change_id=\"r-3\",reason=\"bulk\"} 1x90\nhelenus_change_progress_ratio{change_id=\"r-3\"} 0x90\nhelenus_change_state{change_id=\"r-3\",state=\"backfill\"} 1x90\nhelenus_change_progress_ratio{change_id=\"r-1\"} 0+0.01x90\nhelenus_change_state{change_id=\"r-1\",state=\"backfill\"} 1x90\nhelenus_change_progress_ratio{change_id=\"r-2\"} 0x90\nhelenus_change_state{change_id=\"r-2\",state=\"serving\"} 1x90",
	},
	"HelenusChangeThrottled":     {`helenus_change_throttled{change_id="r-1",reason="cassandra"} 1x90`, "helenus_change_throttled{change_id=\"r-1\",reason=\"cassandra\"} 0x90\nhelenus_change_throttled{change_id=\"r-1\",reason=\"throttled\"} 1x90"},
	"HelenusGarbageDropped":      {`helenus_change_reconciled_total{outcome="dropped"} 0+100x90`, `helenus_change_reconciled_total{outcome="removed"} 0+100x90`},
	"HelenusCalendarFailing":     {`helenus_calendar_failing 1x90`, `helenus_calendar_failing 0x90`},
	"HelenusCalendarOff":         {`helenus_calendar_off_ratio{change_id="r-1"} 1.5x90`, `helenus_calendar_off_ratio{change_id="r-1"} 0.9x90`},
	"HelenusOrdersPending":       {`helenus_orders_pending 1x90`, `helenus_orders_pending 0x90`},
	"HelenusStateDamaged":        {`helenus_state_damaged 1x90`, `helenus_state_damaged 0x90`},
	"HelenusHistoryNotWritable":  {`helenus_history_writable 0x90`, `helenus_history_writable 1x90`},
	"HelenusAdviceFails":         {"helenus_advisor_rounds_total{result=\"failed\"} 0+1x90\nhelenus_advisor_rounds_total{result=\"ok\"} 5x90", "helenus_advisor_rounds_total{result=\"failed\"} 0+1x90\nhelenus_advisor_rounds_total{result=\"ok\"} 0+1x90"},
	"HelenusStatementsUncounted": {"helenus_capture_dropped_total 0+200x90\nhelenus_statement_executions_total{fingerprint=\"a\"} 0+1000x90", "helenus_capture_dropped_total 0+50x90\nhelenus_statement_executions_total{fingerprint=\"a\"} 0+1000x90"},
	"HelenusRecommendationPending": {
		"helenus_recommendation_info{change_id=\"r-1\",title=\"t\",state=\"open\",eligible=\"true\"} 1x90\nhelenus_recommendation_saved_seconds_per_second{change_id=\"r-1\"} 0.5x90",
		"helenus_recommendation_info{change_id=\"r-1\",title=\"t\",state=\"approved\",eligible=\"true\"} 1x90\nhelenus_recommendation_saved_seconds_per_second{change_id=\"r-1\"} 0.5x90",
	},
	"HelenusBypassed":     {`helenus_proxy_bypass 1x90`, `helenus_proxy_bypass 0x90`},
	"HelenusTokenGuessed": {`helenus_admin_unauthorised_total{token="wrong"} 0+5x90`, `helenus_admin_unauthorised_total{token="missing"} 0+5x90`},
}

// scraped gives each series the labels of a scrape, as promqltest loads it.
func scraped(series string) string {
	var b strings.Builder
	b.WriteString("load 1m\n")
	for line := range strings.SplitSeq(series, "\n") {
		name, values, _ := strings.Cut(line, " ")
		if !strings.HasSuffix(name, "}") {
			name += "{}"
		}
		name = strings.Replace(name, "{", `{job="helenus",instance="a",`, 1)
		fmt.Fprintf(&b, "  %s %s\n", strings.Replace(name, ",}", "}", 1), values)
	}
	return b.String()
}

// Each alert fires on what it is for, for as long as it asks, with its labels filled in, and not on what is only like it.
func TestAlertsFire(t *testing.T) {
	seen := map[string]bool{}
	for _, r := range rules(t) {
		if r.Alert == "" {
			continue
		}
		seen[r.Alert] = true
		t.Run(r.Alert, func(t *testing.T) {
			x, ok := alertSeries[r.Alert]
			if !ok {
				t.Fatal("it has no test")
			}
			const end = 90 * time.Minute
			on, off := load(t, scraped(x.fires)), load(t, scraped(x.quiet))
			v, err := on.at(t, r.Expr, end)
			if err != nil || len(v) != 1 {
				t.Fatalf("it does not fire: %v %v", v, err)
			}
			for at := end - time.Duration(r.For); at < end; at += time.Minute {
				if v, err := on.at(t, r.Expr, at); err != nil || len(v) != 1 {
					t.Fatalf("it does not fire at %v, so not for %v: %v %v", at, r.For, v, err)
				}
			}
			labels := v[0].Metric.Map()
			for _, m := range templated.FindAllStringSubmatch(r.Annotations["description"], -1) {
				if labels[m[1]] == "" {
					t.Errorf("its description names the label %s, which it has not: %v", m[1], labels)
				}
			}
			if v, err := off.at(t, r.Expr, end); err != nil || len(v) != 0 {
				t.Errorf("it fires on what is only like it: %v %v", v, err)
			}
		})
	}
	for name := range alertSeries {
		if !seen[name] {
			t.Errorf("there is no alert %s", name)
		}
	}
}

// On a run where all is well no alert fires, and every recording rule has something to record.
func TestRulesOnRecordedScrapes(t *testing.T) {
	a := load(t, recordedSeries(t))
	for _, r := range rules(t) {
		v, err := a.at(t, r.Expr, (recorded-1)*recordEvery)
		switch {
		case err != nil:
			t.Errorf("%s%s: %v", r.Alert, r.Record, err)
		case r.Record != "" && len(v) == 0:
			t.Errorf("%s records nothing", r.Record)
		case r.Alert == "HelenusAddsLatency": // a machine that also runs Cassandra and tests may be slow
		case r.Alert != "" && len(v) > 0:
			t.Errorf("%s fires: %v", r.Alert, v)
		}
	}
}
