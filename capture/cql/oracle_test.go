package cql

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/helenus-db/helenus/capture/cql/lexer"
)

// servers are the versions whose parsers judge, with the folder of their jars under the cache directory.
var servers = []struct {
	version Version
	folder  string
}{{V41, "cassandra-4.1.10"}, {V50, "cassandra-5.0.8"}}

// TestOracle compares with Cassandra's own parser, on HELENUS_CQL_ORACLE random statements and mutations of them per version.
// It needs Java 17 and the jars that internal/cassandra/with fetches. HELENUS_CQL_ORACLE_SEED begins another sequence.
func TestOracle(t *testing.T) {
	n, err := strconv.Atoi(os.Getenv("HELENUS_CQL_ORACLE"))
	if err != nil {
		n = 0
	}
	seed, err := strconv.ParseUint(os.Getenv("HELENUS_CQL_ORACLE_SEED"), 10, 64)
	if err != nil {
		seed = 1
	}
	for _, s := range servers {
		t.Run(s.folder, func(t *testing.T) {
			if n == 0 {
				compareWithCorpus(t, s.version, s.folder)
				return
			}
			compareWithServer(t, s.version, s.folder, n, seed)
		})
	}
}

// judge is a running Oracle.java.
type judge struct {
	in  *bufio.Writer
	out *bufio.Reader
}

func startJudge(t *testing.T, folder string) *judge {
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	jars := filepath.Join(cache, "helenus", folder)
	classes := t.TempDir()
	compile := exec.Command("javac", "-nowarn", "-cp", jars+"/*", "-d", classes, "testdata/oracle/Oracle.java")
	if out, err := compile.CombinedOutput(); err != nil {
		t.Fatalf("compile the oracle: %v\n%s", err, out)
	}
	args := []string{"-n", "19", "java", "-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=4", "-Dlogback.configurationFile=testdata/oracle/logback.xml"}
	options, err := os.ReadFile("../../internal/cassandra/jvm17.options")
	if err != nil {
		t.Fatal(err)
	}
	args = append(args, strings.Fields(string(options))...)
	java := exec.Command("nice", append(args, "-cp", classes+":"+jars+"/*", "Oracle")...)
	in, err := java.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := java.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	complaints := &bytes.Buffer{}
	java.Stderr = complaints
	if err := java.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = in.Close()
		if err := java.Wait(); err != nil {
			t.Errorf("the oracle: %v\n%s", err, complaints)
		}
	})
	return &judge{bufio.NewWriterSize(in, 1<<16), bufio.NewReaderSize(out, 1<<16)}
}

// ask returns the answers to some texts.
func (j *judge) ask(texts []string) ([]string, error) {
	wrote := make(chan error, 1)
	go func() {
		for _, text := range texts {
			_, _ = j.in.WriteString("." + base64.StdEncoding.EncodeToString([]byte(text)) + "\n")
		}
		_ = j.in.WriteByte('\n')
		wrote <- j.in.Flush()
	}()
	answers := make([]string, 0, len(texts))
	for range texts {
		line, err := j.out.ReadString('\n')
		if err != nil {
			return answers, fmt.Errorf("read an answer: %w", err)
		}
		answers = append(answers, strings.TrimSpace(line))
	}
	return answers, <-wrote
}

// unjudged are refusals that say nothing of the syntax: classes that are not on the class path and types that are not in the
// schema. The parser names them by loading them.
var unjudged = []string{"Cannot parse type", "Error setting type", "Unknown type", "Unknown keyspace", "Non-frozen", "ConfigurationException", "NoSuchElementException", "NullPointerException"}

func compareWithServer(t *testing.T, version Version, folder string, n int, seed uint64) {
	j := startJudge(t, folder)
	random := rand.New(rand.NewPCG(seed, uint64(version)))
	seeds := grammarTexts(t)
	judged, skipped, accepted, wrong := 0, 0, 0, 0
	corpus := map[string]string{}
	for judged < n {
		texts := statements(seeds, random, 2000)
		answers, err := j.ask(texts)
		if err != nil {
			t.Fatal(err)
		}
		for i, text := range texts {
			answer := answers[i]
			if slices.ContainsFunc(unjudged, func(s string) bool { return strings.Contains(answer, s) }) {
				skipped++
				continue
			}
			judged++
			if answer == "+" {
				accepted++
			}
			if share := map[bool]int{true: 3000, false: 800}[answer == "+"]; len(text) < 300 && random.IntN(n/share+1) == 0 {
				corpus[text] = answer[:1]
			}
			_, err := ParseAs(text, version)
			if (err == nil) != (answer == "+") {
				if wrong++; wrong <= 60 {
					t.Errorf("%q\nserver %s\nours   %v", text, answer, err)
				}
			}
		}
		if wrong > 500 {
			break
		}
	}
	t.Logf("%s: %d statements, of which the server accepts %d; %d disagreements; %d more not judged, because of classes or types it could not load",
		folder, judged, accepted, wrong, skipped)
	if name := os.Getenv("HELENUS_CQL_CORPUS"); name != "" && wrong == 0 {
		writeCorpus(t, folder, corpus)
	}
}

func corpusName(folder string) string { return filepath.Join("testdata", folder+".verdicts") }

func writeCorpus(t *testing.T, folder string, corpus map[string]string) {
	var lines []string
	for text, answer := range corpus {
		lines = append(lines, answer+"\t"+strconv.Quote(text))
	}
	slices.Sort(lines)
	if err := os.WriteFile(corpusName(folder), []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
}

// compareWithCorpus compares with recorded answers.
func compareWithCorpus(t *testing.T, version Version, folder string) {
	data, err := os.ReadFile(corpusName(folder))
	if err != nil {
		t.Fatal(err)
	}
	counts := map[string]int{}
	for _, line := range strings.Split(strings.TrimSpace(string(data)), "\n") {
		answer, quoted, _ := strings.Cut(line, "\t")
		text, err := strconv.Unquote(quoted)
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		counts[answer]++
		if _, err := ParseAs(text, version); (err == nil) != (answer == "+") {
			t.Errorf("%s\t%s\n%v", answer, quoted, err)
		}
	}
	if counts["+"] < 200 || counts["-"] < 200 {
		t.Errorf("the recorded answers are gone: %v", counts)
	}
}

// grammarTexts are the texts of testdata/grammar.txt.
func grammarTexts(t *testing.T) (texts []string) {
	f, err := os.Open(filepath.Join("testdata", "grammar.txt"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if _, quoted, ok := strings.Cut(lines.Text(), "\t"); ok {
			if text, err := strconv.Unquote(quoted); err == nil {
				texts = append(texts, text)
			}
		}
	}
	return texts
}

// statements draws n texts: trees as we print them, recorded texts, and mutations of both.
func statements(seeds []string, random *rand.Rand, n int) (texts []string) {
	draw := rapid.Custom(func(t *rapid.T) string { return trees{t}.statement().String() })
	for len(texts) < n {
		text := draw.Example(int(random.Int32()))
		if random.IntN(4) == 0 {
			text = seeds[random.IntN(len(seeds))]
		}
		texts = append(texts, text)
		for range 3 {
			texts = append(texts, mutate(text, seeds, random))
		}
	}
	return texts
}

// mutate drops, doubles, swaps or replaces a few tokens of a text.
func mutate(text string, seeds []string, random *rand.Rand) string {
	if len(text) > 0 && random.IntN(5) == 0 {
		return scratch(text, random)
	}
	tokens := cut(text)
	for range 1 + random.IntN(3) {
		if len(tokens) == 0 {
			break
		}
		i := random.IntN(len(tokens))
		switch random.IntN(6) {
		case 0:
			tokens = slices.Delete(tokens, i, i+1)
		case 1:
			tokens = slices.Insert(tokens, i, tokens[i])
		case 2:
			k := random.IntN(len(tokens))
			tokens[i], tokens[k] = tokens[k], tokens[i]
		case 3:
			other := cut(seeds[random.IntN(len(seeds))])
			if len(other) > 0 {
				tokens[i] = other[random.IntN(len(other))]
			}
		case 4:
			keywords := lexer.Keywords()
			tokens[i] = strings.ToUpper(keywords[random.IntN(len(keywords))])
		case 5:
			tokens = slices.Insert(tokens, i, fragments[random.IntN(len(fragments))])
		}
	}
	between := " "
	if random.IntN(20) == 0 {
		between = ""
	}
	return strings.Join(tokens, between)
}

// scratch changes single characters, which is hard on the lexer.
func scratch(text string, random *rand.Rand) string {
	const letters = "0123456789abcdefxyzPYMDTHSWmsunoein'\"$-+/*.,:;?!=<>()[]{}_ \t\n#@µé"
	runes, others := []rune(text), []rune(letters)
	for range 1 + random.IntN(3) {
		i := random.IntN(len(runes))
		switch c := others[random.IntN(len(others))]; random.IntN(3) {
		case 0:
			runes[i] = c
		case 1:
			runes = slices.Insert(runes, i, c)
		case 2:
			runes = append(runes[:i], runes[i+1:]...)
			if len(runes) == 0 {
				return ""
			}
		}
	}
	return string(runes)
}

// fragments are tokens that mutations insert.
var fragments = []string{"(", ")", "[", "]", "{", "}", "<", ">", ",", ".", ":", ";", "=", "+", "-", "*", "/", "%", "?", "!=", "<=", ">=", "+=", "-=", "..",
	"1", "-1", "1.5", "'x'", "\"q\"", "\"\"", "a", "B", "0xab", "true", "null", "NaN", "-NaN", "1h", "P1D", "$$y$$", "550e8400-e29b-41d4-a716-446655440000",
	"expr(", "/* c */", "-- c\n", "'a:b=c'", "'a:b=*'", "MBEAN", "ROLE r", "frozen<list<int>>", "vector<float, 3>", "token(a)", "IF EXISTS", "IF NOT EXISTS", "ALLOW FILTERING", "AS b"}

// cut returns the tokens of a text.
func cut(text string) (tokens []string) {
	l := lexer.Lexer{Source: text}
	for t := l.Next(); t.Kind != lexer.End; t = l.Next() {
		tokens = append(tokens, text[t.Start:t.End])
	}
	return tokens
}
