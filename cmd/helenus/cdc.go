package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/helenus-db/helenus/internal/admin"
	"github.com/helenus-db/helenus/internal/cdc"
	"github.com/helenus-db/helenus/internal/commitlog"
	"github.com/helenus-db/helenus/rewrite"
)

func cdcAgentCommand() *cobra.Command {
	var (
		r    remote
		s    cdc.Settings
		node string
		once bool
	)
	c := &cobra.Command{
		Use: "cdc-agent", Short: "On a Cassandra node: tell Helenus which rows were written there, so that writes around it are found", Args: usage(cobra.NoArgs),
		Long: `Runs beside a Cassandra node (4.0 to 5.0) with cdc_enabled, reads the commit log in its cdc_raw_directory, and tells Helenus the keys, and
nothing but the keys, of rows in which a column was written that a change looks up. Helenus compares these rows with their entries: who wrote
around it is found within seconds, repaired and counted, not at the next sweep.

It needs no connection to Cassandra: a token of role agent (helenus token create NAME --role agent) and the folder are enough. The tables that are
watched must have cdc = true, which is yours to set: ALTER TABLE ks.t WITH cdc = true.

` + exitsText(exitDone, exitFailed, exitUsage, exitUnreachable, exitNotAllowed),
		RunE: func(c *cobra.Command, _ []string) error {
			if s.Dir == "" {
				return usageError{errors.New("--dir is needed: cdc_raw_directory in cassandra.yaml")}
			}
			if net.ParseIP(node) == nil {
				return usageError{fmt.Errorf("--node %q is to be the IP address of this node, as clients reach it (rpc_address in system.local)", node)}
			}
			client, err := r.client()
			if err != nil {
				return err
			}
			log := slog.New(slog.NewTextHandler(c.ErrOrStderr(), nil))
			agent, err := cdc.New(s, &cdcServer{client, node}, log, time.Now)
			if err != nil {
				return usageError{err}
			}
			if once {
				err = agent.Round(c.Context())
			} else {
				log.Info("reading the commit log", "dir", s.Dir, "node", node, "server", client.Address, "delete", s.Delete)
				agent.Run(c.Context())
			}
			n := agent.Counts()
			log.Info("ended", "told", n.Told, "deletes", n.Deletes, "unread", n.Unread, "removed", n.Removed)
			return err
		},
	}
	r.reach(c)
	f := c.Flags()
	f.StringVar(&s.Dir, "dir", os.Getenv("HELENUS_CDC_DIR"), "cdc_raw_directory of the node [HELENUS_CDC_DIR]")
	f.StringVar(&node, "node", os.Getenv("HELENUS_CDC_NODE"), "IP address of the node, as clients reach it [HELENUS_CDC_NODE]")
	f.StringVar(&s.Checkpoint, "checkpoint", "", "file that says what was told; default: helenus-cdc.json in --dir")
	f.BoolVar(&s.Delete, "delete", false, "remove segments that are completed and told; without it whoever else reads them has to, or cdc_raw fills up to cdc_total_space")
	s.Every = 2 * time.Second
	f.Var((*span)(&s.Every), "every", "how often to look for what is new")
	f.BoolVar(&once, "once", false, "read what is there, and end")
	return c
}

// cdcServer is the process that an agent tells.
type cdcServer struct {
	client *admin.Client
	node   string
}

// Tables implements cdc.Server.
func (s *cdcServer) Tables(ctx context.Context) ([]cdc.Table, error) {
	var said []rewrite.CDCTable
	if err := s.client.Get(ctx, "cdc/tables", &said); err != nil {
		return nil, err
	}
	tables := make([]cdc.Table, len(said))
	for i, t := range said {
		tables[i] = cdc.Table{Keyspace: t.Keyspace, Name: t.Name, ID: t.ID, Watch: t.Watch}
		for _, c := range t.Columns {
			tables[i].Columns = append(tables[i].Columns, commitlog.Column{Name: c.Name, Kind: string(c.Kind), Type: c.Type})
		}
	}
	return tables, nil
}

// Tell implements cdc.Server.
func (s *cdcServer) Tell(ctx context.Context, r *cdc.Report) error {
	report := rewrite.CDCReport{Node: s.node, Unread: r.Unread, Behind: r.Behind}
	for _, row := range r.Rows {
		report.Rows = append(report.Rows, rewrite.CDCRow(row))
	}
	var found rewrite.CDCFindings
	return s.client.Post(ctx, "cdc/rows", &report, &found)
}
