#!/bin/sh
# Before the files go. deb says remove, rpm 0; an upgrade (upgrade, 1) leaves it running until the new one is there.
set -e
case "$1" in
remove | 0)
	if [ -d /run/systemd/system ]; then
		systemctl disable --now helenus.socket helenus.service || true
	fi
	;;
esac
