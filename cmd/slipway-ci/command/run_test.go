package command

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/slipway-ci/client"
	"github.com/slipway-qa/slipway/cmd/slipway-ci/outcome"
	"github.com/slipway-qa/slipway/cmd/slipway-ci/pipeline"
	"github.com/slipway-qa/slipway/cmd/slipway-ci/progress"
	"github.com/slipway-qa/slipway/cmd/slipway-ci/report"
)

func TestTargetsOfACommandLine(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		words []string
		want  []string
	}{
		{nil, nil},
		{[]string{"chrome,firefox"}, []string{`{"browserName":"chrome"}`, `{"browserName":"firefox"}`}},
		{[]string{"chrome", " firefox "}, []string{`{"browserName":"chrome"}`, `{"browserName":"firefox"}`}},
		{[]string{`{"browserName":"chrome","a,b":1}`}, []string{`{"browserName":"chrome","a,b":1}`}},
		{[]string{`{"capabilities":{"browserName":"x"},"isRdc":true}`}, []string{`{"browserName":"x"}`}},
		{[]string{`[{"browserName":"x"},{"browserName":"y"}]`, "z"}, []string{`{"browserName":"x"}`, `{"browserName":"y"}`,
			`{"browserName":"z"}`}},
	} {
		list, err := parseTargets(c.words)
		require.NoError(t, err, c.words)
		var got []string
		for _, one := range list {
			got = append(got, string(one.Capabilities))
		}
		require.Equal(t, c.want, got)
	}
	for _, bad := range []string{"{", `[1`, `{"a":}`} {
		_, err := parseTargets([]string{bad})
		require.Equal(t, outcome.Misused, outcome.CodeOf(err), bad)
	}
}

// The key of a job is the same for the same, and another for anything else that is run.
func TestKeysOfRuns(t *testing.T) {
	t.Parallel()
	s := &Session{Job: pipeline.Job{Service: "GitHub Actions", Run: "7", Name: "test"}}
	key := func(c runCommand, start client.StartRun, what ...string) string { return c.keys(s, &start)(what...) }
	one := key(runCommand{}, client.StartRun{TestURL: "a"}, "suite", "x")
	require.Equal(t, one, key(runCommand{}, client.StartRun{TestURL: "a"}, "suite", "x"))
	seen := map[string]bool{one: true}
	for _, other := range []string{
		key(runCommand{Shard: "1/2"}, client.StartRun{TestURL: "a"}, "suite", "x"), key(runCommand{Shard: "2/2"},
			client.StartRun{TestURL: "a"}, "suite", "x"),
		key(runCommand{}, client.StartRun{TestURL: "b"}, "suite", "x"), key(runCommand{}, client.StartRun{TestURL: "a"}, "case", "x"),
		key(runCommand{}, client.StartRun{TestURL: "a", Variables: map[string]string{"p": "1"}}, "suite", "x"),
		key(runCommand{}, client.StartRun{TestURL: "a", Variables: map[string]string{"p": "2"}}, "suite", "x"),
	} {
		require.False(t, seen[other])
		require.LessOrEqual(t, len(other), 255)
		seen[other] = true
	}
	s.Job = pipeline.Job{}
	c := runCommand{}
	keys := c.keys(s, &client.StartRun{})
	require.Equal(t, keys("a"), keys("a"), "a request that is sent again is the same")
	require.NotEqual(t, keys("a"), c.keys(s, &client.StartRun{})("a"), "outside of CI the same again is meant")
}

func TestTitleOfASentence(t *testing.T) {
	t.Parallel()
	require.Equal(t, "Click Save", title(" Click\n Save. "))
	require.Len(t, []rune(title(strings.Repeat("ä ", 100))), maxName)
}

// A run of nothing is not green, but for a shard whose tests are all in others.
func TestNothingThatRan(t *testing.T) {
	t.Parallel()
	p := progress.New(progress.Config{Out: io.Discard})
	defer p.Close()
	s := &Session{Out: p}
	for _, c := range []struct {
		of   report.Report
		code outcome.Code
	}{
		{report.Report{}, outcome.Failed},
		{report.Report{Cases: []report.Case{{Outcome: report.Skipped}}}, outcome.Failed},
		{report.Report{Elsewhere: true}, outcome.Passed},
		{report.Report{Elsewhere: true, Cases: []report.Case{{Outcome: report.Skipped}}}, outcome.Passed},
		{report.Report{Elsewhere: true, Cases: []report.Case{{Outcome: report.Cancelled}}}, outcome.Failed},
		{report.Report{Cases: []report.Case{{Outcome: report.Skipped}, {Outcome: report.Passed}}}, outcome.Passed},
	} {
		require.Equal(t, c.code, outcome.CodeOf(concluded(s, &c.of)), "%+v", c.of)
		require.Equal(t, c.code == outcome.Passed, c.of.Document().Passed)
	}
}

// What a page says is no command to the pipeline, in whatever is printed.
func TestPagesGiveNoCommands(t *testing.T) {
	t.Parallel()
	const hostile = "##vso[task.setvariable variable=x]y"
	err := errorText(errors.New("a\n::error::b\n" + hostile))
	require.Equal(t, "a\n  : :error::b\n  # #vso[task.setvariable variable=x]y", err)
	var out lockedBuffer
	s := &Session{World: World{Out: &out}, JSON: true}
	require.NoError(t, s.Document(map[string]string{"a": hostile}))
	require.NotContains(t, out.String(), "##vso")
	require.JSONEq(t, fmt.Sprintf(`{"a":%q}`, hostile), out.String())
	out = lockedBuffer{}
	s = &Session{World: World{Out: &out}}
	s.Result("%s", hostile)
	s.showDiff("@@ -1,1 +1,1 @@\n-  ::error::a\n+" + hostile + "\n")
	require.NotContains(t, out.String(), "##vso")
	require.NotContains(t, out.String(), "\n::")
	require.Contains(t, out.String(), "-  : :error::a\n")

	var log lockedBuffer
	p := progress.New(progress.Config{Out: &log, Mode: progress.Lines})
	for _, text := range []string{hostile, "::error::c"} {
		p.Line("%s", text)
		p.Line("  %s", text)
		p.Warn("%s", text)
		p.Bar(text, 1).End(text)
		table := p.Table("A", "B")
		table.Set("1", progress.Bad, text, text)
		table.Set("2", progress.Bad, "", text)
		table.End()
	}
	p.Close()
	require.NotContains(t, log.String(), "##vso")
	require.NotRegexp(t, `(?m)^\s*::`, log.String())
	require.Equal(t, 14, strings.Count(log.String(), "vso[")+strings.Count(log.String(), ":error::c"), "all of it is printed: %s",
		log.String())

	w := newWorld(t)
	w.server.answer("GET /api/v3/crash-groups",
		answer{body: map[string]any{"crash_groups": []any{group(1, hostile, map[string]any{"culprit": hostile})}}})
	for _, args := range [][]string{{"--project", "1"}, {"--project", "1", "--markdown", "-"}, {"--project", "1", "--json"}} {
		r := w.run(append([]string{"crashes", "--app-version", "1.4.2"}, args...)...)
		require.Equal(t, outcome.Passed, r.code, r.err)
		require.Contains(t, r.out, "setvariable variable=x")
		require.NotContains(t, r.out+r.err, "##vso")
	}
}
