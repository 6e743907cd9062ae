package main

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/helenus-db/helenus/internal/admin"
)

// Exit codes. Each has one meaning, whatever the command: exits says which.
const (
	exitDone         = 0
	exitFailed       = 1
	exitUsage        = 2
	exitNotFound     = 3
	exitRefused      = 4
	exitUnreachable  = 5
	exitNotConfirmed = 6
	exitGap          = 7
	exitNoPlan       = 8
	exitFindings     = 9
	exitWrong        = 10
	exitNotAllowed   = 11
)

// exits are all of them, as help, man pages and docs/cli.md say it.
var exits = []struct {
	code    int
	meaning string
}{
	{exitDone, "done"},
	{exitFailed, "it failed; the message says what"},
	{exitUsage, "wrong usage, input or configuration"},
	{exitNotFound, "there is no such thing"},
	{exitRefused, "refused: what is asked for can not be now, or must not be"},
	{exitUnreachable, "the process, or the cluster, can not be reached"},
	{exitNotConfirmed, "not confirmed: nothing was done"},
	{exitGap, "a design is printed, but was not proven the best (design)"},
	{exitNoPlan, "no plan for a statement (design, options, safety)"},
	{exitFindings, "findings as bad as asked for (lint), or that stand in the way (check)"},
	{exitWrong, "a design answers wrongly when it is tried (design)"},
	{exitNotAllowed, "not allowed: no token, a wrong one, or one whose role is not enough"},
}

// exitsText lists some exit codes, or all, for help.
func exitsText(codes ...int) string {
	var parts []string
	for _, e := range exits {
		listed := len(codes) == 0
		for _, c := range codes {
			listed = listed || c == e.code
		}
		if listed {
			meaning, _, _ := strings.Cut(e.meaning, " (")
			parts = append(parts, fmt.Sprintf("  %2d  %s", e.code, meaning))
		}
	}
	return "Exit codes:\n" + strings.Join(parts, "\n")
}

// usageError is an error of the command line or the configuration, as opposed to one of what was asked for.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

// exitError is an error with its own exit code.
type exitError struct {
	error
	code int
}

func (e exitError) Unwrap() error { return e.error }

func exitCode(err error) int {
	var (
		usage usageError
		api   *admin.Error
		own   exitError
	)
	switch {
	case err == nil:
		return exitDone
	case errors.As(err, &own):
		return own.code
	case errors.As(err, &usage):
		return exitUsage
	case errors.Is(err, admin.ErrUnreachable):
		return exitUnreachable
	case errors.As(err, &api):
		switch api.Status {
		case http.StatusNotFound:
			return exitNotFound
		case http.StatusConflict:
			return exitRefused
		case http.StatusUnauthorized, http.StatusForbidden:
			return exitNotAllowed
		case http.StatusBadRequest, http.StatusRequestEntityTooLarge:
			return exitUsage
		}
	}
	return exitFailed
}
