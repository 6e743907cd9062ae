// Package handover lets one process go on accepting where another stops, on the same listening sockets, so that no client is
// refused: while nobody accepts, the kernel keeps new connections in the sockets' queues. It imports nothing of ours.
//
// # From systemd
//
// [Activated] returns the sockets that the service manager opened before it started the process (LISTEN_PID, LISTEN_FDS,
// LISTEN_FDNAMES; sd_listen_fds(3)). They outlive the process, so a restart loses nothing.
//
// # From the process before
//
// The running process waits at STATE-DIR/handover.sock ([Listen]). The next one asks there ([Take]) and waits. One message
// each way at a time, JSON with a length before it:
//
//	next                       running
//	hello  ------------------>            magic, version of the protocol, its process id
//	       <------------------  going     it stops now, or refused with the reason
//	                            ...       drains its clients, ends its work, closes its state and its socket
//	       <------------------  sockets   what each is; the file descriptors travel with the message (SCM_RIGHTS)
//	taken  ------------------>            now the running process closes its own copies and ends
//
// The state directory belongs to one process at a time, so the next one can not begin before the running one has closed it:
// new connections wait so long in the queue. That is as long as the requests under way take, and never longer than the
// drain may.
//
// Whoever may open the socket could take the listeners, so only processes of the same user are heard (SO_PEERCRED), on top
// of the socket's mode 0600. If the running process goes away in between, its sockets are gone with it and
// Take says so ([ErrGone]): the next one opens its own. If the next one goes away, the running one has already
// stopped and ends with an error; whoever supervises it starts it again.
//
// Thin: Linux only; elsewhere Listen and Take return [ErrUnsupported]. A unix socket's path is short (107 bytes): a state
// directory with a longer one can not be taken over from.
package handover

import "errors"

// Errors that a caller may decide on.
var (
	// ErrNobody: no process waits there.
	ErrNobody = errors.New("no running process to take over from")
	// ErrRefused: the running process will not hand over; the error says why.
	ErrRefused = errors.New("the running process does not hand over")
	// ErrGone: the running process ended before it had handed over.
	ErrGone = errors.New("the running process went away before it had handed over")
	// ErrUnsupported: not on this system.
	ErrUnsupported = errors.New("sockets can not be handed over on this system")
)
