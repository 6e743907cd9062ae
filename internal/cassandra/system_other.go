//go:build !linux

package cassandra

import (
	"context"
	"errors"
	"net/netip"
	"syscall"
)

var errSystem = errors.New("cassandra: test clusters need Linux (its parent death signal and its 127.0.0.0/8 loopback); run this in a Linux machine or container")

type reservation struct{}

func reserve(addr netip.AddrPort) (*reservation, netip.AddrPort, error) { return nil, addr, errSystem }

func (*reservation) release() {}

func lockFile(context.Context, string) (func(), error) { return nil, errSystem }

func memoryKills() int64 { return 0 }
