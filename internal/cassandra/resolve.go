package cassandra

import (
	"bytes"
	"context"
	_ "embed" // for the pom and the JVM options
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/helenus-db/helenus/internal/child"
)

// DefaultVersion is the release of Apache Cassandra that is started when none is named.
const DefaultVersion = "5.0.8"

// javaRelease is the one feature release of Java that both Cassandra 4.1 and 5.0 run on with jvm17.options.
const javaRelease = "17"

var (
	//go:embed pom.xml
	pom []byte
	//go:embed jvm17.options
	jvmOptions []byte

	versionForm = regexp.MustCompile(`^[0-9]+\.[0-9]+(\.[0-9]+)?(-[0-9A-Za-z.]+)?$`)
	javaVersion = regexp.MustCompile(`version "(?:1\.)?([0-9]+)`)
)

// MissingToolError says that a program that Cassandra needs is not on this machine.
type MissingToolError struct {
	Tool    string // what is missing, such as "mvn (Apache Maven)"
	Detail  string // what was looked at, in a few words; may be empty
	Install string // the command that installs it on Debian
}

func (e *MissingToolError) Error() string {
	detail := e.Detail
	if detail != "" {
		detail = " (" + detail + ")"
	}
	return fmt.Sprintf("cassandra: %s is missing%s; on Debian, install it with: %s", e.Tool, detail, e.Install)
}

// CacheDir returns the directory that holds downloaded releases: $HELENUS_CACHE, or else helenus in the user's
// cache directory (~/.cache/helenus).
func CacheDir() (string, error) {
	if dir := os.Getenv("HELENUS_CACHE"); dir != "" {
		return filepath.Abs(dir)
	}
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("cassandra: no cache directory (set HELENUS_CACHE to one): %w", err)
	}
	return filepath.Join(dir, "helenus"), nil
}

// Resolve returns the directory that holds the jars of the release, downloading them first when the cache lacks
// them (about 67 MB; 15 s). Several processes may call it at once: one downloads, the others wait. An empty
// version means DefaultVersion; progress may be nil. It returns a *MissingToolError when mvn is needed and absent.
func Resolve(ctx context.Context, version string, progress func(string)) (string, error) {
	if version == "" {
		version = DefaultVersion
	}
	if !versionForm.MatchString(version) {
		return "", fmt.Errorf("cassandra: %q is no version of Apache Cassandra; write one such as %s", version, DefaultVersion)
	}
	cache, err := CacheDir()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(cache, "cassandra-"+version)
	if complete(dir, version) {
		return dir, nil
	}
	if err := os.MkdirAll(cache, 0o750); err != nil {
		return "", fmt.Errorf("cassandra: cannot make the cache (set HELENUS_CACHE to a writable directory): %w", err)
	}
	unlock, err := lockFile(ctx, dir+".lock")
	if err != nil {
		return "", fmt.Errorf("cassandra: locking the cache: %w", err)
	}
	defer unlock()
	if complete(dir, version) { // another process was quicker
		return dir, nil
	}
	if progress != nil {
		progress(fmt.Sprintf("downloading Apache Cassandra %s from Maven Central (67 MB, once) into %s", version, dir))
	}
	return dir, download(ctx, version, dir)
}

// complete reports whether dir holds the release: the jar itself, and the agent that it does not start without.
func complete(dir, version string) bool {
	if _, err := os.Stat(filepath.Join(dir, "cassandra-all-"+version+".jar")); err != nil {
		return false
	}
	_, err := agentJar(dir)
	return err == nil
}

// agentJar returns the path of the object size agent, the name of which carries a version of its own.
func agentJar(dir string) (string, error) {
	jars, err := filepath.Glob(filepath.Join(dir, "jamm-*.jar"))
	if err != nil || len(jars) == 0 {
		return "", fmt.Errorf("cassandra: no jamm-*.jar in %s; remove the directory, it is downloaded again", dir)
	}
	return jars[0], nil
}

// download lets Maven copy the release and its dependencies into a fresh directory and renames that to dir, so
// that dir is either whole or absent.
func download(ctx context.Context, version, dir string) error {
	mvn, err := exec.LookPath("mvn")
	if err != nil {
		return &MissingToolError{Tool: "mvn (Apache Maven)", Install: "apt-get install -y maven"}
	}
	work, err := os.MkdirTemp(filepath.Dir(dir), "download-")
	if err != nil {
		return fmt.Errorf("cassandra: %w", err)
	}
	defer func() { _ = os.RemoveAll(work) }()
	pomFile, jars := filepath.Join(work, "pom.xml"), filepath.Join(work, "jars")
	if err := os.WriteFile(pomFile, pom, 0o600); err != nil {
		return fmt.Errorf("cassandra: %w", err)
	}
	cmd := exec.Command(mvn, "-q", "-B", "-f", pomFile, "dependency:copy-dependencies",
		"-DincludeScope=runtime", "-DoutputDirectory="+jars, "-Dcassandra.version="+version)
	if out, err := run(ctx, cmd); err != nil {
		return fmt.Errorf("cassandra: Maven could not download Apache Cassandra %s (is Maven Central reachable, does the release exist?): %w\n%s",
			version, err, lastLines(out, 15))
	}
	if !complete(jars, version) {
		return fmt.Errorf("cassandra: Maven reported success, but %s holds no whole Apache Cassandra %s", jars, version)
	}
	if err := os.RemoveAll(dir); err != nil { // a partial copy made by hand
		return fmt.Errorf("cassandra: %w", err)
	}
	if err := os.Rename(jars, dir); err != nil {
		return fmt.Errorf("cassandra: %w", err)
	}
	return nil
}

// findJava returns the path of a Java of the right feature release: that of JAVA_HOME, that of PATH, or one of the
// places where distributions keep it, whichever fits first.
func findJava(ctx context.Context) (string, error) {
	var candidates []string
	if home := os.Getenv("JAVA_HOME"); home != "" {
		candidates = append(candidates, filepath.Join(home, "bin", "java"))
	}
	if java, err := exec.LookPath("java"); err == nil {
		candidates = append(candidates, java)
	}
	for _, pattern := range []string{"/usr/lib/jvm/*" + javaRelease + "*/bin/java", "/opt/*jdk*" + javaRelease + "*/bin/java"} {
		found, _ := filepath.Glob(pattern) // the pattern is ours and well formed
		candidates = append(candidates, found...)
	}
	var seen []string
	for _, java := range candidates {
		out, err := run(ctx, exec.Command(java, "-version"))
		if ctx.Err() != nil {
			return "", fmt.Errorf("cassandra: looking for Java: %w", ctx.Err())
		}
		if err != nil {
			continue
		}
		if m := javaVersion.FindSubmatch(out); m != nil {
			if string(m[1]) == javaRelease {
				return java, nil
			}
			seen = append(seen, fmt.Sprintf("%s is Java %s", java, m[1]))
		}
	}
	return "", &MissingToolError{
		Tool:    "Java " + javaRelease,
		Detail:  strings.Join(seen, ", "),
		Install: "apt-get install -y openjdk-17-jdk-headless",
	}
}

// run runs a command to its end, or kills it when the context ends, and returns what it printed. The command dies
// with this process.
func run(ctx context.Context, cmd *exec.Cmd) ([]byte, error) {
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	p, err := child.Start(cmd)
	if err != nil {
		return nil, err
	}
	select {
	case <-p.Done():
		return out.Bytes(), p.Wait()
	case <-ctx.Done():
		p.Kill()
		<-p.Done()
		return out.Bytes(), errors.Join(ctx.Err(), p.Wait())
	}
}

// lastLines returns at most n last lines of a text, indented, for an error message.
func lastLines(text []byte, n int) string {
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	if len(lines) > n {
		lines = lines[len(lines)-n:]
	}
	return "    " + strings.Join(lines, "\n    ")
}
