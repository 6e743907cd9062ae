package drivers

import (
	"context"
	"crypto/sha256"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/helenus-db/helenus/internal/cassandra"
)

// sources are the programs that are not Go, with the files that pin their drivers' versions.
//
//go:embed python/main.py python/requirements.txt java/pom.xml java/*.java node/main.js node/package.json
var sources embed.FS

// Languages are all drivers that there is a program for, in the order in which tables show them. Short ones run in CI.
var (
	Languages = []string{"gocql", "apache", "python", "java", "node"}
	Short     = []string{"gocql", "apache", "python", "java"}
)

// Command returns how the program of a language is started, and fetches or builds what it needs first. What is built is
// kept in the cache, or in scratch if it is Go's. Error: what is missing, and how to get it.
func Command(ctx context.Context, language, scratch string) ([]string, error) {
	switch language {
	case "gocql", "apache":
		binary := filepath.Join(scratch, language)
		return []string{binary}, run(ctx, "", "go", "build", "-o", binary, "github.com/helenus-db/helenus/internal/drivers/"+language)
	case "python":
		dir, err := fetch(language, []string{"python3"}, "apt-get install -y python3-venv", func(dir string) error {
			if err := run(ctx, dir, "python3", "-m", "venv", "venv"); err != nil {
				return fmt.Errorf("python3 can not make virtual environments (on Debian: apt-get install -y python3-venv): %w", err)
			}
			return run(ctx, dir, filepath.Join("venv", "bin", "pip"), "install", "-q", "--disable-pip-version-check", "-r", "python/requirements.txt")
		})
		return []string{filepath.Join(dir, "venv", "bin", "python"), filepath.Join(dir, "python", "main.py")}, err
	case "java":
		dir, err := fetch(language, []string{"mvn", "javac", "java"}, "apt-get install -y maven openjdk-17-jdk-headless", func(dir string) error {
			if err := run(ctx, dir, "mvn", "-q", "-B", "-f", "java/pom.xml", "dependency:copy-dependencies", "-DincludeScope=runtime",
				"-DoutputDirectory="+filepath.Join(dir, "jars")); err != nil {
				return err
			}
			files, err := filepath.Glob(filepath.Join(dir, "java", "*.java"))
			if err != nil {
				return err
			}
			return run(ctx, dir, "javac", append([]string{"-cp", "jars/*", "-d", "classes"}, files...)...)
		})
		return []string{"java", "-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp",
			filepath.Join(dir, "classes") + ":" + filepath.Join(dir, "jars", "*"), "Main"}, err
	case "node":
		dir, err := fetch(language, []string{"node", "npm"}, "apt-get install -y nodejs npm", func(dir string) error {
			return run(ctx, filepath.Join(dir, "node"), "npm", "install", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error")
		})
		return []string{"node", filepath.Join(dir, "node", "main.js")}, err
	}
	return nil, fmt.Errorf("drivers: there is no program for %q", language)
}

// Cqlsh returns how Cassandra's own shell is started; it comes with the Python driver.
func Cqlsh(ctx context.Context) ([]string, error) {
	python, err := Command(ctx, "python", "")
	if err != nil {
		return nil, err
	}
	return []string{python[0], filepath.Join(filepath.Dir(python[0]), "cqlsh")}, nil
}

// fetch returns a directory in the cache that holds a language's sources and what build made of them. Its name carries
// the sources' hash, so that a changed program or version is built anew; it is there whole or not at all.
func fetch(language string, tools []string, install string, build func(dir string) error) (string, error) {
	for _, tool := range tools {
		if _, err := exec.LookPath(tool); err != nil {
			return "", fmt.Errorf("drivers: the %s program needs %s, which is missing; on Debian, install it with: %s", language, tool, install)
		}
	}
	cache, err := cassandra.CacheDir()
	if err != nil {
		return "", err
	}
	h := sha256.New()
	names, err := fs.Glob(sources, language+"/*")
	if err != nil {
		return "", err
	}
	for _, name := range names {
		text, err := sources.ReadFile(name)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(h, "%s %d\n%s", name, len(text), text)
	}
	dir := filepath.Join(cache, fmt.Sprintf("driver-%s-%.8x", language, h.Sum(nil)))
	done := filepath.Join(dir, "done")
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return "", err
	}
	lock, err := os.Create(dir + ".lock")
	if err != nil {
		return "", err
	}
	defer func() { _ = lock.Close() }() // which unlocks it
	if err := unix.Flock(int(lock.Fd()), unix.LOCK_EX); err != nil {
		return "", fmt.Errorf("drivers: locking the cache: %w", err)
	}
	if _, err := os.Stat(done); err == nil {
		return dir, nil
	}
	if err := os.RemoveAll(dir); err != nil { // an attempt that was cut off; an environment of Python can not be moved
		return "", err
	}
	for _, name := range names {
		text, err := sources.ReadFile(name)
		if err == nil {
			err = errors.Join(os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o750), os.WriteFile(filepath.Join(dir, name), text, 0o600))
		}
		if err != nil {
			return "", err
		}
	}
	if err := build(dir); err != nil {
		return "", fmt.Errorf("drivers: getting the %s driver ready (are the package registries reachable?): %w", language, err)
	}
	return dir, os.WriteFile(done, nil, 0o600)
}

func run(ctx context.Context, dir string, name string, args ...string) error {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, out)
	}
	return nil
}
