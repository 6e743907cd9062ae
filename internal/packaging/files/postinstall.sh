#!/bin/sh
# After the files are there, also on an upgrade: the user that helenus runs as, who may read the configuration, and the units.
set -e
if ! getent passwd helenus >/dev/null; then
	useradd --system --user-group --home-dir /var/lib/helenus --no-create-home --shell /usr/sbin/nologin helenus
fi
chgrp helenus /etc/helenus/helenus.yaml
chmod 0640 /etc/helenus/helenus.yaml
if [ -d /run/systemd/system ]; then
	systemctl daemon-reload || true
	systemctl try-restart helenus.service || true
fi
