#!/bin/sh
# After the files went. Only a purge, which rpm does not know, takes the configuration, the state and the user away.
set -e
if [ -d /run/systemd/system ]; then
	systemctl daemon-reload || true
fi
if [ "$1" = purge ]; then
	rm -rf /etc/helenus /var/lib/helenus
	if getent passwd helenus >/dev/null; then
		userdel helenus
	fi
	if getent group helenus >/dev/null; then
		groupdel helenus
	fi
fi
