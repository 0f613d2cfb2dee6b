package grouping

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/worker/crash/fingerprint/labelled"
)

const groupingSet = `language C
lang c
agent test
same two lines of one function
why The function is the same.
a
class SIGSEGV
  parse | file a.c:1
  main
b
  parse | file a.c:2
  main
other one class, two functions, labelled wrongly on purpose
why The test wants a wrong pair: these are equal to every rule.
a
class SIGSEGV
  parse | file a.c:1
  main
b
  parse | file a.c:3
  main
crash bug
  parse
  main
language Go
lang go
agent test
same nothing in common, labelled wrongly on purpose
why The test wants a wrong pair.
a
message connection refused
b
message out of paper
`

func TestGroupingPrintsATable(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(folder, "set.txt"), []byte(groupingSet), 0o600))
	var out bytes.Buffer
	c := Command{Set: folder, Failures: true}
	require.NoError(t, c.print(&out))
	text := out.String()
	require.Contains(t, text, "| C | 2 | 1 of 1 | 0 of 1 | 0.500 | 1.000 |\n")
	require.Contains(t, text, "| Go | 1 | 0 of 1 | 0 of 0 | 1.000 | 0.000 |\n")
	require.Contains(t, text, "| Total | 3 | 1 of 2 | 0 of 1 | 0.500 | 0.500 |\n")
	require.Contains(t, text, "1 crashes of 1 bugs in 1 groups: B-cubed precision 1.000, recall 1.000")
	require.Contains(t, text, "joined, but two bugs. The test wants a wrong pair: these are equal to every rule.")
	require.Contains(t, text, "kept apart, but one bug.")
	require.Contains(t, text, "key from stack:")

	out.Reset()
	c = Command{Set: folder, Language: "go"}
	require.NoError(t, c.print(&out))
	require.NotContains(t, out.String(), "| C |")

	c = Command{Set: folder, Language: "cobol"}
	require.EqualError(t, c.Run(t.Context()), `grouping: the set has nothing in "cobol"`, "it is a part")
}

func TestGroupingPrintsCrashesThatAreMixed(t *testing.T) {
	t.Parallel()
	crash := func(bug, message string) labelled.Crash {
		c, err := labelled.NewCrash("C", labelled.Text{Lang: "c", Agent: "test", Message: []string{message}})
		require.NoError(t, err)
		c.Bug = bug
		return *c
	}
	var out bytes.Buffer
	printMixed(&out, []labelled.Crash{crash("whole", "disk is full"), crash("whole", "disk is full"),
		crash("split", "connection refused"), crash("split", "out of paper")})
	require.NotContains(t, out.String(), "whole")
	require.Contains(t, out.String(), "C split: in 2 groups")
}
