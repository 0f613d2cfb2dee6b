package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/slipway-qa/slipway/worker/generation/tagger"
)

// Run in a folder with a corpus, train writes weights that the tagger reads.
func TestRun(t *testing.T) {
	t.Chdir(t.TempDir())
	corpus := filepath.Join(folder, "corpus")
	if err := os.MkdirAll(corpus, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := run(nil); err == nil {
		t.Error("weights of no texts were written")
	}
	lines := strings.Repeat("en\t[remove Delete {t:the blue van}]\n", 10)
	if err := os.WriteFile(filepath.Join(corpus, "en.txt"), []byte(lines), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := run(nil); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(filepath.Join(folder, "weights.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	read, err := tagger.Read(f)
	if err != nil {
		t.Fatal(err)
	}
	samples, err := tagger.Corpus(os.DirFS(corpus))
	if err != nil || read.Digest() != tagger.Digest(samples) {
		t.Errorf("the weights are not of the texts: %v", err)
	}
	before, err := os.Stat(filepath.Join(folder, "weights.gz"))
	if err != nil {
		t.Fatal(err)
	}
	if err := run([]string{"--check", "5"}); err != nil {
		t.Error(err)
	}
	if after, err := os.Stat(filepath.Join(folder, "weights.gz")); err != nil || after.ModTime() != before.ModTime() {
		t.Error("--check wrote the weights")
	}
	if err := run([]string{"--no-such"}); err == nil {
		t.Error("an unknown option was taken")
	}
	if err := os.WriteFile(filepath.Join(corpus, "de.txt"), []byte("de\t[mow x]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := run(nil); err == nil || !strings.Contains(err.Error(), "de.txt, line 1") {
		t.Errorf("error %v, want the file and line", err)
	}
}
