package main

import (
	"strings"
	"testing"
)

// TestRPM reads the rpms that `make dist` has made as rpm itself does, and has it install and erase them, with their scripts, on a Debian: there is no Fedora here, so what they
// need is read, and not looked for.
func TestRPM(t *testing.T) {
	m := another(t)
	m.install(t, "rpm", "libcap2-bin")
	here(t, "cp", shipped(t, "helenus-[0-9]*.x86_64.rpm"), m.root+"/helenus.rpm")
	here(t, "cp", shipped(t, "helenus-solver-*.x86_64.rpm"), m.root+"/helenus-solver.rpm")
	for _, ask := range []struct {
		args string
		want []string
	}{
		{"-qlp /helenus.rpm", []string{"/usr/bin/helenus\n", "/etc/helenus/helenus.yaml\n", "/usr/lib/systemd/system/helenus.service\n", "/usr/lib/systemd/system/helenus.socket\n", "/usr/share/man/man1/helenus.1.gz\n",
			"/usr/share/bash-completion/completions/helenus\n", "/usr/share/zsh/site-functions/_helenus\n", "/usr/share/licenses/helenus/LICENSE\n"}},
		{"-qcp /helenus.rpm", []string{"/etc/helenus/helenus.yaml\n"}},
		{"-qp --scripts /helenus.rpm", []string{"postinstall scriptlet", "useradd", "preuninstall scriptlet", "postuninstall scriptlet"}},
		{"-qp --requires /helenus.rpm", []string{"shadow-utils\n"}},
		{"-qp --recommends /helenus.rpm", []string{"helenus-solver\n"}},
		{"-qp --requires /helenus-solver.rpm", []string{"coin-or-Cbc\n", "coin-or-Clp\n", "glibc\n"}},
		{"-qip /helenus.rpm", []string{"Apache-2.0", "Architecture: x86_64"}},
		{"-K --nosignature /helenus.rpm", []string{"digests OK"}},
	} {
		out := m.run(t, append([]string{"rpm"}, strings.Fields(ask.args)...)...)
		for _, want := range ask.want {
			if !strings.Contains(out, want) {
				t.Errorf("rpm %s does not say %q:\n%s", ask.args, want, out)
			}
		}
	}

	m.run(t, "rpm", "-i", "--nodeps", "/helenus.rpm", "/helenus-solver.rpm")
	if out, err := m.try("rpm", "-V", "--nodeps", "helenus", "helenus-solver"); err != nil && !strings.Contains(out, "/etc/helenus/helenus.yaml") { // whose group a script sets
		t.Errorf("installed, it is not what the package says: %v\n%s", err, out)
	}
	if out := m.run(t, "stat", "-c", "%U %G %a", "/etc/helenus/helenus.yaml"); !strings.HasPrefix(out, "root helenus 640") {
		t.Errorf("the configuration is %s", out)
	}
	m.run(t, "helenus", "config", "check", "--config", "/etc/helenus/helenus.yaml")
	// The line of the unit, as its user, in the state that systemd would make; it ends well when it is told to.
	m.write(t, "/start", `set -e
install -d -m 0700 -o helenus -g helenus /var/lib/helenus
line=$(sed -n 's/^ExecStart=//p' /usr/lib/systemd/system/helenus.service)
cd /
HELENUS_LISTEN=`+free(t)+` HELENUS_ADMIN=`+free(t)+` HELENUS_CONTACT_POINTS=`+free(t)+` timeout --preserve-status -s TERM 5 setpriv --reuid=helenus --regid=helenus --clear-groups --no-new-privs $line
`)
	if out := m.run(t, "sh", "/start"); !strings.Contains(out, "msg=listening") {
		t.Errorf("it does not listen:\n%s", out)
	}

	m.run(t, "rpm", "-U", "--nodeps", "--replacepkgs", "/helenus.rpm") // as an upgrade: what was set stays
	m.write(t, "/etc/helenus/helenus.yaml", "contact-points: [10.0.0.1]\n")
	m.run(t, "rpm", "-e", "--nodeps", "helenus", "helenus-solver")
	for path, stays := range map[string]bool{"/usr/bin/helenus": false, "/usr/bin/helenus-solver": false, "/usr/lib/systemd/system/helenus.service": false, "/etc/helenus/helenus.yaml": false,
		"/etc/helenus/helenus.yaml.rpmsave": true, "/var/lib/helenus/helenus.db": true} {
		if m.has(path) != stays {
			t.Errorf("erased, %s: %v, want %v", path, m.has(path), stays)
		}
	}
}
