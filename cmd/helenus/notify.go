package main

import (
	"context"
	"os"
	"strconv"
	"time"

	"github.com/coreos/go-systemd/v22/daemon"

	"github.com/helenus-db/helenus/internal/sleep"
)

// What the service manager is told (sd_notify(3)), if there is one: NOTIFY_SOCKET says so.

// notify tells it something. Whoever does not hear it goes on without.
func (h *helenus) notify(state string) {
	if _, err := daemon.SdNotify(false, state); err != nil {
		h.log.Warn("the service manager was not told", "state", state, "error", err)
	}
}

// notifyReady says that the listeners are open and rules in force. Cassandra may be away: clients are told so, and it is asked again and again.
func (h *helenus) notifyReady() {
	h.notify(daemon.SdNotifyReady + "\nMAINPID=" + strconv.Itoa(os.Getpid()) + "\nSTATUS=listening on " + h.settings.Listen)
}

// perWatchdog is how often the service manager hears of us in the time after which it would take us for stuck.
const perWatchdog = 3

// watchdog lets the service manager know that the relay is not stuck, for as long as that is so. Only what requests go through is asked: nothing
// else is worth cutting clients off for.
func (h *helenus) watchdog(ctx context.Context) {
	within, err := daemon.SdWatchdogEnabled(false)
	if err != nil {
		h.log.Warn("the service manager's watchdog is not served", "error", err)
	}
	if within <= 0 {
		<-ctx.Done()
		return
	}
	for sleep.For(ctx, max(within/perWatchdog, time.Millisecond)) == nil {
		_ = h.server.Stats() // waits for the locks of the relay, and of the rules below: whoever holds one for good is stuck
		_ = h.engine.Bypassed()
		h.notify(daemon.SdNotifyWatchdog)
	}
}
