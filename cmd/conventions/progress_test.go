package conventions

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// What make up prints while it installs and builds; here no terminal reads it.
func TestProgress(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, reads, says string
		args              []string
	}{
		{"apt", "dlstatus:1:3.0:Retrieving file 1 of 12 (20s remaining)\ndlstatus:2:4.0:Retrieving file 2 of 12\n" +
			"pmstatus:chromium:45.5:Installing\x1b[2J\nodd\n",
			"downloading: 3 % Retrieving file 1 of 12 (20s remaining)\ninstalling: 45 % Installing[2J\n", []string{"apt"}},
		{"a build", "go: downloading a v1\nfmt\ngithub.com/a/b-c\n# example.com/x\n./x.go:1:2: undefined: y\n",
			"downloading a v1\ncompiled 1 of at most 4 packages\ncompiled 2 of at most 4 packages\n# example.com/x\n./x.go:1:2: undefined: y\n",
			[]string{"build", "4"}},
		{"more packages than were counted", "fmt\nos\nio\n", "compiled 1 of at most 1 packages\n", []string{"build", "1"}},
		{"a build whose packages cannot be counted", "go: downloading a v1\nfmt\nos\nx.go:3:2: no required module provides package y\n",
			"downloading a v1\nx.go:3:2: no required module provides package y\n", []string{"build", "0"}},
		{"nothing to build", "", "", []string{"build", "4"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			cmd := exec.CommandContext(t.Context(), filepath.Join(moduleRoot, ".ci/progress"), c.args...)
			var out bytes.Buffer
			cmd.Stdin, cmd.Stderr = strings.NewReader(c.reads), &out
			require.NoError(t, cmd.Run(), out.String())
			// How long is left depends on the machine.
			var lines []string
			for line := range strings.Lines(out.String()) {
				line, _, _ = strings.Cut(strings.TrimSuffix(line, "\n"), ", at most ")
				lines = append(lines, line+"\n")
			}
			require.Equal(t, c.says, strings.Join(lines, ""))
		})
	}
}

// Counting the packages downloads all modules; so it waits until they are there.
func TestProgressCountsAfterDownloads(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "go"), []byte("#!/bin/sh\n: >\"$0.asked\"\nprintf 'fmt\\nos\\n'\n"), 0o755))
	says := func(reads string) string {
		cmd := exec.CommandContext(t.Context(), filepath.Join(moduleRoot, ".ci/progress"), "build")
		cmd.Env = append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"))
		cmd.Stdin = strings.NewReader(reads)
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", out)
		return string(out)
	}
	require.Equal(t, "downloading a v1\n", says("go: downloading a v1\n"))
	require.NoFileExists(t, filepath.Join(dir, "go.asked"))
	require.Equal(t, "downloading a v1\ncompiled 1 of at most 2 packages\n", says("go: downloading a v1\nfmt\n"))
	require.FileExists(t, filepath.Join(dir, "go.asked"))
}
