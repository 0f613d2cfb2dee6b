package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/slipway-ci/usage"
)

// helpOf returns the help of a command.
func helpOf(t *testing.T, args ...string) string {
	t.Helper()
	var c cli
	parser, err := commandLine(&c)
	require.NoError(t, err)
	var out bytes.Buffer
	parser.Stdout, parser.Exit = &out, func(int) { panic("help was printed") }
	require.PanicsWithValue(t, "help was printed", func() { _, _ = parser.Parse(append(args, "--help")) })
	return out.String()
}

// Each setting is in one group, and each name in a group is a setting.
func TestEverySettingHasItsHelp(t *testing.T) {
	t.Parallel()
	var c cli
	parser, err := commandLine(&c)
	require.NoError(t, err)
	var have, grouped, commands []string
	for _, flag := range parser.Model.Flags {
		have = append(have, flag.Envs...)
	}
	for _, node := range parser.Model.Children {
		commands = append(commands, node.Name)
	}
	for _, g := range helpGroups {
		for _, name := range strings.Fields(g.settings) {
			grouped = append(grouped, "SLIPWAY_"+name)
		}
		for _, name := range strings.Fields(g.commands) {
			require.Contains(t, commands, name, g.title)
		}
	}
	require.ElementsMatch(t, have, grouped)
}

func TestHelpShowsTheSettingsOfItsCommand(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		args       []string
		shows, not []string
	}{
		{nil, []string{"up ", "doctor ", "--version"}, []string{"SLIPWAY_", "admin org create"}},
		{[]string{"up"}, []string{"SLIPWAY_DATA_DIR", "SLIPWAY_MODEL_KEY", "SLIPWAY_LISTEN", "Services:", "Default: 127.0.0.1:8080.",
			"--log-format=auto|people|json|text"}, []string{"SLIPWAY_OPS_LISTEN"}},
		{[]string{"api"}, []string{"SLIPWAY_LISTEN", "SLIPWAY_CONNECTIONS"}, []string{"SLIPWAY_WORKER_POOLS",
			"SLIPWAY_MODEL_KEY", "SLIPWAY_OPS_LISTEN"}},
		{[]string{"worker"}, []string{"SLIPWAY_WORKER_POOLS", "SLIPWAY_OPS_LISTEN", "Default: 15s."},
			[]string{"SLIPWAY_CONNECTIONS", "SLIPWAY_LISTEN)"}},
		{[]string{"scheduler"}, []string{"SLIPWAY_RESCUE_AFTER"}, []string{"SLIPWAY_WORKER_POOLS", "SLIPWAY_SMTP_URL"}},
		{[]string{"admin", "org", "create"}, []string{"SLIPWAY_DATABASE_URL", "slug"}, []string{"SLIPWAY_LISTEN", "SLIPWAY_CRASH_DAYS"}},
		{[]string{"doctor"}, []string{"SLIPWAY_WEBDRIVER_URL"}, []string{"SLIPWAY_SMTP_URL"}},
		{[]string{"version"}, nil, []string{"SLIPWAY_"}},
	} {
		text := strings.Join(strings.Fields(helpOf(t, c.args...)), " ")
		for _, want := range c.shows {
			require.Contains(t, text, want, "%v", c.args)
		}
		for _, none := range c.not {
			require.NotContains(t, text, none, "%v", c.args)
		}
	}
}

// The groups stand in the order of the table, each once.
func TestHelpIsGrouped(t *testing.T) {
	t.Parallel()
	text := helpOf(t, "worker")
	at := -1
	for _, title := range []string{"Addresses:", "Services:", "Tests:", "Crashes:", "Mail:", "Tasks:", "Health and stop:", "Log:"} {
		require.Equal(t, 1, strings.Count(text, "\n"+title+"\n"), title)
		next := strings.Index(text, "\n"+title+"\n")
		require.Greater(t, next, at, title)
		at = next
	}
}

func TestMisreadLinesNameWhatWasMeant(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		line string
		says []string
	}{
		{"upp", []string{`did you mean one of "up"`, `Run "slipway --help"`}},
		{"schedular", []string{`did you mean "scheduler"?`}},
		{"up --lissten=x", []string{`did you mean "--listen"?`, `Run "slipway up --help"`}},
		{"up --data-folder=x", []string{`did you mean "--data-dir"?`}},
		{"worker --data-dir=x", []string{"unknown flag --data-dir"}},
		{"admin organization", []string{`Run "slipway admin --help"`}},
		{"admin org craete", []string{`did you mean "create"?`}},
		{"admin org remove", []string{"unexpected argument remove"}},
		{"up --log-format=jsn", []string{`"auto","people","json","text"`}},
	} {
		var p cli
		parser, err := commandLine(&p)
		require.NoError(t, err)
		_, err = parser.Parse(strings.Fields(c.line))
		require.Error(t, err, c.line)
		for _, want := range c.says {
			require.Contains(t, usage.Misread(err), want, c.line)
		}
	}
}
