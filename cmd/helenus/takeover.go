package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"

	"github.com/helenus-db/helenus/internal/config"
	"github.com/helenus-db/helenus/internal/handover"
	"github.com/helenus-db/helenus/proxy"
)

// What listening sockets are for: the names under which they are handed over, and which a systemd unit may give
// (FileDescriptorName=).
const (
	socketCQL   = "cql"
	socketAdmin = "admin"
)

// inheritance is the listening sockets that this process did not open itself.
type inheritance struct {
	gates   []proxy.Listener // from the process before
	sockets *handover.Sockets
}

// inherit collects them. With takeOver the process that runs with the state directory ends in the course of it.
func inherit(ctx context.Context, s *config.Settings, takeOver bool, log *slog.Logger) (*inheritance, error) {
	list, err := handover.Activated()
	if err != nil {
		return nil, err
	}
	for _, one := range list {
		log.Info("socket from the service manager", "name", one.Name, "address", one.Addr().String())
	}
	i := &inheritance{}
	if takeOver {
		taken, err := handover.Take(ctx, s.StateDir)
		switch {
		case errors.Is(err, handover.ErrNobody):
			log.Info("nobody to take over from: starting afresh", "state_dir", s.StateDir)
		case errors.Is(err, handover.ErrGone):
			log.Warn("not taken over: opening sockets of our own", "error", err)
		case err != nil:
			return nil, fmt.Errorf("take over: %w", err)
		}
		for _, one := range taken {
			switch {
			case one.Name == socketCQL && one.Address == s.Listen:
				l := proxy.Listener{}
				if err := json.Unmarshal([]byte(one.Note), &l); err != nil {
					return nil, fmt.Errorf("take over: what the process before says of its sockets can not be read: %w", err)
				}
				l.Listener = one.Listener
				i.gates = append(i.gates, l)
			case one.Name == socketAdmin && one.Address == s.Admin:
				list = append(list, one)
			default:
				log.Warn("a socket of the process before is not needed: the settings name another address", "name", one.Name, "address", one.Address)
				_ = one.Close()
			}
		}
		log.Info("taken over", "sockets", len(taken))
	}
	i.sockets = handover.NewSockets(list)
	return i, nil
}

func (i *inheritance) openCQL(ctx context.Context, address string) (net.Listener, error) {
	return i.sockets.Open(ctx, socketCQL, address)
}

func (i *inheritance) openAdmin(ctx context.Context, address string) (net.Listener, error) {
	return i.sockets.Open(ctx, socketAdmin, address)
}

// close closes what nobody uses.
func (i *inheritance) close() {
	for _, g := range i.gates {
		_ = g.Close()
	}
	_ = i.sockets.Rest()
}

// giver waits for the next process. Without it all works but the hand-over.
func (h *helenus) giver() *handover.Giver {
	g, err := handover.Listen(h.settings.StateDir, h.settings.DrainTimeout+2*closeFor, h.log)
	if err != nil {
		h.log.Warn("no other process can take over from this one", "error", err)
		return nil
	}
	return g
}

// agree says yes to the next process, and copies the sockets while their listeners are open; nil if that can not be.
func (h *helenus) agree(next *handover.Request) []handover.Kept {
	kept, err := h.keep()
	if err != nil {
		h.log.Warn("not handed over", "to", next.PID, "error", errors.Join(err, next.Refuse(err.Error())))
		return nil
	}
	if err := next.Going(); err != nil {
		h.log.Warn("not handed over: the other process went away", "to", next.PID, "error", err)
		release(kept)
		return nil
	}
	h.log.Info("handing over", "to", next.PID, "sockets", len(kept))
	return kept
}

func (h *helenus) keep() (kept []handover.Kept, err error) {
	add := func(l net.Listener, name, address, note string) {
		k, failed := handover.Keep(l, name, address, note)
		if err = errors.Join(err, failed); failed == nil {
			kept = append(kept, k)
		}
	}
	for _, l := range h.server.Listeners() {
		note, failed := json.Marshal(proxy.Listener{Slot: l.Slot, Node: l.Node})
		err = errors.Join(err, failed)
		add(l.Listener, socketCQL, h.settings.Listen, string(note))
	}
	add(h.listener, socketAdmin, h.settings.Admin, "")
	if err != nil {
		release(kept)
		return nil, err
	}
	return kept, nil
}

func release(kept []handover.Kept) {
	for _, k := range kept {
		_ = k.Close()
	}
}

// handOver stops, closes the state, and gives the sockets away.
func (h *helenus) handOver(next *handover.Request, kept []handover.Kept, giver *handover.Giver, end func(func(context.Context) error) error) error {
	defer release(kept)
	err := end(h.server.HandOver)
	giver.Close() // its path is the next one's
	h.close()
	if failed := next.Give(kept); failed != nil {
		return errors.Join(err, fmt.Errorf("stopped to hand over, but: %w; start helenus again", failed))
	}
	h.log.Info("handed over", "to", next.PID, "pid", os.Getpid())
	return err
}
