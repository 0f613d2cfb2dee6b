package setting

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/ledger"
)

// parsed reads a command line with the settings alone.
func parsed(t *testing.T, args ...string) (*Settings, error) {
	t.Helper()
	var c struct {
		Settings
		Version struct{} `cmd:""`
	}
	parser, err := kong.New(&c, kong.Name("slipway"), kong.Resolvers(VariableFiles{}))
	require.NoError(t, err)
	_, err = parser.Parse(args)
	return &c.Settings, err
}

// What the documents promise of the tasks of a lost worker holds by default.
func TestRescueIsTheDefault(t *testing.T) {
	s, err := parsed(t, "version")
	require.NoError(t, err)
	require.Equal(t, ledger.RescueAfter, s.RescueAfter)
}

// These tests set variables of the process, so they do not run in parallel.

func TestSecretsFromFiles(t *testing.T) {
	file := filepath.Join(t.TempDir(), "url")
	require.NoError(t, os.WriteFile(file, []byte("postgres://u:sesame@h/d\r\n"), 0o600))
	for _, c := range []struct {
		name      string
		variables map[string]string
		args      []string
		want      Secret
		fails     string
	}{
		{name: "nothing", want: ""},
		{name: "variable", variables: map[string]string{"SLIPWAY_DATABASE_URL": "postgres://v"}, want: "postgres://v"},
		{name: "file", variables: map[string]string{"SLIPWAY_DATABASE_URL_FILE": file}, want: "postgres://u:sesame@h/d"},
		{name: "the variable wins over the file", want: "postgres://v",
			variables: map[string]string{"SLIPWAY_DATABASE_URL": "postgres://v", "SLIPWAY_DATABASE_URL_FILE": file}},
		{name: "the flag wins over both", want: "postgres://f", args: []string{"--database-url", "postgres://f"},
			variables: map[string]string{"SLIPWAY_DATABASE_URL": "postgres://v", "SLIPWAY_DATABASE_URL_FILE": file}},
		{name: "the flag wins over the file", want: "postgres://f", args: []string{"--database-url", "postgres://f"},
			variables: map[string]string{"SLIPWAY_DATABASE_URL_FILE": file}},
		{name: "no such file", variables: map[string]string{"SLIPWAY_DATABASE_URL_FILE": file + ".missing"},
			fails: "SLIPWAY_DATABASE_URL_FILE"},
		{name: "only secrets have files", variables: map[string]string{"SLIPWAY_REGION_FILE": file}, want: ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			for name, value := range c.variables {
				t.Setenv(name, value)
			}
			s, err := parsed(t, append([]string{"version"}, c.args...)...)
			if c.fails != "" {
				require.ErrorContains(t, err, c.fails)
				return
			}
			require.NoError(t, err)
			require.Equal(t, c.want, s.DatabaseURL)
			require.Equal(t, "local", s.Region)
		})
	}
}

func TestSettingsShowNoSecret(t *testing.T) {
	t.Parallel()
	s := Settings{DatabaseURL: "sesame-1", RedisURL: "sesame-2", ObjectsURL: "sesame-3", SigningKey: "sesame-4", Region: "shown"}
	var log, lines bytes.Buffer
	slog.New(slog.NewJSONHandler(&log, nil)).Info("settings", "settings", s, "pointer", &s, "url", s.DatabaseURL)
	slog.New(slog.NewTextHandler(&lines, nil)).Info("settings", "settings", s, "pointer", &s, "url", s.DatabaseURL)
	doc, err := json.Marshal(s)
	require.NoError(t, err)
	forms := map[string]string{"json": string(doc), "slog json": log.String(), "slog text": lines.String(), "Sprint": fmt.Sprint(s)}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x"} {
		forms["settings "+verb] = fmt.Sprintf(verb, s)
		forms["pointer "+verb] = fmt.Sprintf(verb, &s)
		forms["secret "+verb] = fmt.Sprintf(verb, s.DatabaseURL)
	}
	for form, text := range forms {
		require.NotContains(t, text, "sesame", form)
		require.NotContains(t, text, fmt.Sprintf("%x", "sesame"), form)
		require.NotEmpty(t, text, form)
	}
	require.Contains(t, string(doc), "(redacted)")
	require.Empty(t, Secret("").String(), "an unset secret is told from a set one")
}

func TestRequiredSettings(t *testing.T) {
	t.Parallel()
	key := Secret("0123456789abcdef0123456789abcdef")
	for _, c := range []struct {
		name  string
		s     Settings
		fails []string
	}{
		{"nothing", Settings{}, []string{"slipway api", "SLIPWAY_DATABASE_URL, SLIPWAY_OBJECTS_URL, SLIPWAY_REDIS_URL"}},
		{"no redis", Settings{DatabaseURL: "d", ObjectsURL: "s3://o"}, []string{"SLIPWAY_REDIS_URL"}},
		{"all", Settings{DatabaseURL: "d", RedisURL: "r", ObjectsURL: "s3://o"}, nil},
		{"a folder without a key", Settings{DatabaseURL: "d", RedisURL: "r", ObjectsURL: "file:///o"}, []string{"SLIPWAY_SIGNING_KEY"}},
		{"a folder with a short key", Settings{DatabaseURL: "d", RedisURL: "r", ObjectsURL: "file:///o", SigningKey: key[1:]},
			[]string{"32 bytes", "openssl rand -hex 32"}},
		{"objects in S3 with a key of three bytes", Settings{DatabaseURL: "d", RedisURL: "r", ObjectsURL: "s3://o",
			SigningKey: "abc"}, []string{"slipway api", "32 bytes", "openssl rand -hex 32"}},
		{"objects in S3 with a key", Settings{DatabaseURL: "d", RedisURL: "r", ObjectsURL: "s3://o", SigningKey: key}, nil},
		{"a folder with a key", Settings{DatabaseURL: "d", RedisURL: "r", ObjectsURL: "file:///o", SigningKey: key}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			for _, tier := range []string{"api", "worker", "scheduler"} {
				c.s.PublicURL = "http://h"
				err := c.s.Required(tier)
				if c.fails == nil {
					require.NoError(t, err)
				}
				for _, text := range c.fails {
					require.ErrorContains(t, err, strings.Replace(text, "slipway api", "slipway "+tier, 1))
				}
			}
		})
	}
}

func TestBounds(t *testing.T) {
	t.Parallel()
	const mib = "1048576"
	for _, c := range []struct {
		name  string
		args  []string
		fails []string
	}{
		{"defaults", nil, nil},
		{"largest report", []string{"--crash-report-bytes=67108864", "--crash-bytes-in-flight=268435456"}, nil},
		{"report too large", []string{"--crash-report-bytes=67108865"}, []string{"SLIPWAY_CRASH_REPORT_BYTES is 67108865", "67108864"}},
		{"report too small", []string{"--crash-report-bytes=0"}, []string{"SLIPWAY_CRASH_REPORT_BYTES"}},
		{"negative report", []string{"--crash-report-bytes=-1"}, []string{"SLIPWAY_CRASH_REPORT_BYTES"}},
		{"four reports in flight", []string{"--crash-report-bytes=" + mib, "--crash-bytes-in-flight=4194304"}, nil},
		{"fewer in flight", []string{"--crash-report-bytes=" + mib, "--crash-bytes-in-flight=4194303"},
			[]string{"SLIPWAY_CRASH_BYTES_IN_FLIGHT is 4194303", "four times SLIPWAY_CRASH_REPORT_BYTES, 4194304"}},
		{"no attachment", []string{"--crash-attachments=0"}, []string{"SLIPWAY_CRASH_ATTACHMENTS"}},
		{"attachment of nothing", []string{"--crash-attachment-bytes=0"}, []string{"SLIPWAY_CRASH_ATTACHMENT_BYTES"}},
		{"no duplicates", []string{"--crash-duplicates=0"}, []string{"SLIPWAY_CRASH_DUPLICATES is 0", "1000000"}},
		{"no days", []string{"--crash-days=0"}, []string{"SLIPWAY_CRASH_DAYS"}},
		{"no task days", []string{"--task-days=-1"}, []string{"SLIPWAY_TASK_DAYS"}},
		{"no connection", []string{"--database-conns=0"}, []string{"SLIPWAY_DATABASE_CONNS"}},
		{"negative drain", []string{"--worker-drain=-1s"}, []string{"SLIPWAY_WORKER_DRAIN is -1s", "1h0m0s"}},
		{"no generation", []string{"--generation-parallel=-1"}, []string{"SLIPWAY_GENERATION_PARALLEL"}},
		{"negative budget", []string{"--model-usd-per-day=-0.5"}, []string{"SLIPWAY_MODEL_USD_PER_DAY is -0.5"}},
		{"no number", []string{"--model-output-price=NaN"}, []string{"SLIPWAY_MODEL_OUTPUT_PRICE"}},
		{"a model without a name", []string{"--model-provider=openai"}, []string{"SLIPWAY_MODEL_NAME"}},
		{"always without a model", []string{"--model-use=always"}, []string{"SLIPWAY_MODEL_PROVIDER"}},
		{"a model", []string{"--model-provider=anthropic", "--model-name=m", "--model-use=always", "--model-usd-per-task=0.25"}, nil},
		{"rescued while it works", []string{"--rescue-after=999ms"}, []string{"SLIPWAY_RESCUE_AFTER is 999ms", "1s to 10m0s"}},
		{"rescued never", []string{"--rescue-after=11m"}, []string{"SLIPWAY_RESCUE_AFTER is 11m0s"}},
		{"rescued soon", []string{"--rescue-after=1s"}, nil},
		{"no lag", []string{"--ready-lag=0s"}, []string{"SLIPWAY_READY_LAG"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s, err := parsed(t, append([]string{"version"}, c.args...)...)
			require.NoError(t, err)
			err = s.Bounds()
			if c.fails == nil {
				require.NoError(t, err)
			}
			for _, text := range c.fails {
				require.ErrorContains(t, err, text)
			}
		})
	}
}

// What all variables begin with makes none of them near.
func TestMeantVariable(t *testing.T) {
	known := map[string]bool{"SLIPWAY_REGION": true, "SLIPWAY_LISTEN": true, "SLIPWAY_DATABASE_URL": true, "SLIPWAY_CRASH_DAYS": true}
	require.Empty(t, meant("SLIPWAY_FOO", known))
	require.Empty(t, meant("SLIPWAY_", known))
	require.Equal(t, ", did you mean SLIPWAY_REGION?", meant("SLIPWAY_REGOIN", known))
	require.Equal(t, ", did you mean SLIPWAY_DATABASE_URL?", meant("SLIPWAY_DATABSE_URL", known))
}
