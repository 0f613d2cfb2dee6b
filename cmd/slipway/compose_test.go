package main

import (
	"context"
	"maps"
	"net/url"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/alecthomas/kong"
	"github.com/compose-spec/compose-go/v2/dotenv"
	"github.com/compose-spec/compose-go/v2/loader"
	"github.com/compose-spec/compose-go/v2/types"
	"github.com/stretchr/testify/require"

	pipeline "github.com/slipway-qa/slipway/cmd/slipway-ci/command"
	"github.com/slipway-qa/slipway/cmd/slipway/setting"
	"github.com/slipway-qa/slipway/cmd/slipway/tier"
)

// moduleRoot is the root folder, seen from this package's.
const moduleRoot = "../.."

// secretVariables are what .env must hold.
var secretVariables = []string{"POSTGRES_PASSWORD", "REDIS_PASSWORD", "MINIO_PASSWORD", "SLIPWAY_SIGNING_KEY",
	"SLIPWAY_DATABASE_URL", "SLIPWAY_REDIS_URL", "SLIPWAY_OBJECTS_URL", "SLIPWAY_SMTP_URL", "SLIPWAY_WEBDRIVER_URL"}

// drawEnvironment runs `make .env` in an empty folder and reads what it made
// the way Docker Compose reads it.
func drawEnvironment(t *testing.T) map[string]string {
	t.Helper()
	makefile, err := filepath.Abs(filepath.Join(moduleRoot, "Makefile"))
	require.NoError(t, err)
	dir := t.TempDir()
	draw := exec.Command("make", "-f", makefile, ".env")
	draw.Dir = dir
	out, err := draw.CombinedOutput()
	require.NoError(t, err, "%s", out)
	file := filepath.Join(dir, ".env")
	info, err := os.Stat(file)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	env, err := dotenv.GetEnvFromFile(nil, []string{file})
	require.NoError(t, err)
	return env
}

// loadCompose reads compose.yaml as Docker Compose does: its schema, its
// variables, its references from one part to another.
func loadCompose(env map[string]string) (*types.Project, error) {
	dir, err := filepath.Abs(moduleRoot)
	if err != nil {
		return nil, err
	}
	return loader.LoadWithContext(context.Background(), types.ConfigDetails{
		WorkingDir:  dir,
		ConfigFiles: []types.ConfigFile{{Filename: filepath.Join(dir, "compose.yaml")}},
		Environment: env,
	}, func(o *loader.Options) { o.SetProjectName("slipway", true) })
}

func mustLoad(t *testing.T, env map[string]string) *types.Project {
	t.Helper()
	project, err := loadCompose(env)
	require.NoError(t, err)
	return project
}

func newParser(t *testing.T, c *cli) *kong.Kong {
	t.Helper()
	parser, err := kong.New(c, kong.Name("slipway"), kong.Resolvers(setting.VariableFiles{}))
	require.NoError(t, err)
	return parser
}

// isSlipway reports whether a service runs the product.
func isSlipway(s types.ServiceConfig) bool { return s.Build != nil && s.Build.Target == "slipway" }

func TestComposeNeedsItsSecrets(t *testing.T) {
	t.Parallel()
	whole := drawEnvironment(t)
	require.ElementsMatch(t, secretVariables, slices.Collect(maps.Keys(whole)))
	for _, name := range secretVariables {
		env := maps.Clone(whole)
		delete(env, name)
		_, err := loadCompose(env)
		require.ErrorContains(t, err, name)
		require.ErrorContains(t, err, "make .env")
	}
	again := drawEnvironment(t)
	for _, name := range secretVariables {
		if name == "SLIPWAY_SMTP_URL" || name == "SLIPWAY_WEBDRIVER_URL" {
			continue // the catcher and the browsers take what comes from inside
		}
		require.NotEqual(t, whole[name], again[name], "%s is drawn", name)
	}
	for _, name := range secretVariables[:4] {
		require.Regexp(t, `^[0-9a-f]{48}$`, whole[name])
	}
	require.Contains(t, whole["SLIPWAY_DATABASE_URL"], ":"+whole["POSTGRES_PASSWORD"]+"@")
	database, err := url.Parse(whole["SLIPWAY_DATABASE_URL"])
	require.NoError(t, err)
	require.Equal(t, "disable", database.Query().Get("sslmode"), "the container has no certificate")
	require.Contains(t, whole["SLIPWAY_REDIS_URL"], ":"+whole["REDIS_PASSWORD"]+"@")
	require.Contains(t, whole["SLIPWAY_OBJECTS_URL"], ":"+whole["MINIO_PASSWORD"]+"@")
}

// Each tier starts with what its container gets: the command is one, every
// variable belongs to a setting and has a value that it takes, and the secrets
// arrive through their files.
func TestComposeStartsTiers(t *testing.T) {
	env := drawEnvironment(t)
	project := mustLoad(t, env)
	var commands []string
	for name, service := range project.Services {
		if !isSlipway(service) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			var environ []string
			for variable, value := range service.Environment {
				if value == nil {
					continue // passed on when it is set
				}
				if strings.HasSuffix(variable, "_FILE") {
					require.True(t, strings.HasPrefix(*value, "/run/secrets/"), variable)
					file := filepath.Join(t.TempDir(), path.Base(*value))
					require.NoError(t, os.WriteFile(file, []byte(secretOf(t, project, service, path.Base(*value))), 0o600))
					*value = file
				}
				t.Setenv(variable, *value)
				environ = append(environ, variable+"="+*value)
			}
			var c cli
			parser := newParser(t, &c)
			require.NoError(t, setting.CheckVariables(parser.Model, environ))
			parsed, err := parser.Parse(service.Command)
			require.NoError(t, err)
			commands = append(commands, parsed.Command())
			require.Equal(t, env["SLIPWAY_DATABASE_URL"], string(c.DatabaseURL))
			if parsed.Command() != "migrate apply" {
				require.NoError(t, c.Required(name))
				require.NoError(t, c.Bounds())
				require.Equal(t, env["SLIPWAY_OBJECTS_URL"], string(c.ObjectsURL))
				require.Equal(t, env["SLIPWAY_REDIS_URL"], string(c.RedisURL))
			}
		})
	}
	require.ElementsMatch(t, []string{"api", "worker", "scheduler", "migrate apply"}, commands)
}

// secretOf is the content of a secret that a service may read.
func secretOf(t *testing.T, project *types.Project, service types.ServiceConfig, name string) string {
	t.Helper()
	for _, granted := range service.Secrets {
		if granted.Source == name && (granted.Target == "" || path.Base(granted.Target) == name) {
			value, ok := project.Environment[project.Secrets[name].Environment]
			require.True(t, ok, name)
			return value
		}
	}
	require.Fail(t, "the service has no secret "+name)
	return ""
}

// notInCompose are settings that a container has no use for.
var notInCompose = map[string]string{
	"SLIPWAY_DATA_DIR":        "slipway up and demo only",
	"SLIPWAY_DEMO_SERVER":     "slipway demo only, which runs beside a server",
	"SLIPWAY_DEMO_API_KEY":    "slipway demo only, which runs beside a server",
	"SLIPWAY_DEMO_USER":       "slipway demo only, which runs beside a server",
	"SLIPWAY_DEMO_ACCESS_KEY": "slipway demo only, which runs beside a server",
	"SLIPWAY_DEMO_USER_ID":    "slipway demo only, which runs beside a server",
}

// Every setting can be set in .env, and reaches a process.
func TestComposePassesSettingsOn(t *testing.T) {
	t.Parallel()
	passed := map[string]bool{}
	for _, service := range mustLoad(t, drawEnvironment(t)).Services {
		for variable := range service.Environment {
			passed[strings.TrimSuffix(variable, "_FILE")] = true
		}
	}
	for _, variable := range settingVariables(t) {
		if notInCompose[variable] == "" {
			require.True(t, passed[variable], "%s: put it into compose.yaml, or into notInCompose with the reason", variable)
		}
	}
	env := drawEnvironment(t)
	env["SLIPWAY_CRASH_DAYS"] = "7"
	worker := mustLoad(t, env).Services["worker"]
	require.NotNil(t, worker.Environment["SLIPWAY_CRASH_DAYS"])
	require.Equal(t, "7", *worker.Environment["SLIPWAY_CRASH_DAYS"])
	require.Nil(t, worker.Environment["SLIPWAY_BASE_DOMAIN"])
}

func settingVariables(t *testing.T) []string {
	t.Helper()
	var names []string
	require.NoError(t, kong.Visit(newParser(t, &cli{}).Model, func(node kong.Visitable, next kong.Next) error {
		if flag, ok := node.(*kong.Flag); ok {
			names = append(names, flag.Envs...)
		}
		return next(nil)
	}))
	slices.Sort(names)
	return slices.Compact(names)
}

// defaultOf is the default of the setting that a variable belongs to.
func defaultOf(t *testing.T, variable string) (value string) {
	t.Helper()
	require.NoError(t, kong.Visit(newParser(t, &cli{}).Model, func(node kong.Visitable, next kong.Next) error {
		if flag, ok := node.(*kong.Flag); ok && slices.Contains(flag.Envs, variable) {
			value = flag.Default
		}
		return next(nil)
	}))
	return value
}

func TestComposeServices(t *testing.T) {
	t.Parallel()
	project := mustLoad(t, drawEnvironment(t))
	require.ElementsMatch(t, []string{"proxy", "api", "worker", "scheduler", "migrate", "postgres", "redis", "minio",
		"mail", "browser"}, project.ServiceNames())
	published := map[string]string{}
	for name, service := range project.Services {
		require.Empty(t, service.ContainerName, "%s could not be scaled", name)
		require.Regexp(t, `^[a-z0-9/-]+:(local|v?[0-9][0-9.]*(-[0-9]{8})?)$`, service.Image, "%s: a pinned image", name)
		require.NotNil(t, service.Deploy, name)
		require.NotNil(t, service.Deploy.Resources.Limits, name)
		require.Positive(t, int64(service.Deploy.Resources.Limits.MemoryBytes), name)
		require.Positive(t, float32(service.Deploy.Resources.Limits.NanoCPUs), name)
		for _, port := range service.Ports {
			require.Empty(t, published[port.Published], "port %s of %s", port.Published, name)
			published[port.Published] = name
			require.Equal(t, "127.0.0.1", port.HostIP, "%s is published to this machine unless .env says otherwise", name)
		}
		if name == "migrate" {
			require.Equal(t, types.RestartPolicyNo, service.Restart)
		} else {
			require.Equal(t, types.RestartPolicyUnlessStopped, service.Restart, name)
			require.NotNil(t, service.HealthCheck, name)
			require.NotEmpty(t, service.HealthCheck.Test, name)
		}
		for other, dependency := range service.DependsOn {
			switch dependency.Condition {
			case types.ServiceConditionCompletedSuccessfully:
				require.Equal(t, "migrate", other, "%s waits for an end", name)
			case types.ServiceConditionHealthy:
				require.NotNil(t, project.Services[other].HealthCheck, "%s waits for the health of %s", name, other)
			default:
				require.Fail(t, "a start says nothing", "%s waits for %s: %s", name, other, dependency.Condition)
			}
		}
		if isSlipway(service) {
			drain, err := time.ParseDuration(defaultOf(t, "SLIPWAY_WORKER_DRAIN"))
			require.NoError(t, err)
			require.NotNil(t, service.StopGracePeriod, name)
			require.GreaterOrEqual(t, time.Duration(*service.StopGracePeriod), tier.RequestGrace+tier.StopDelay+drain+20*time.Second, name)
			delay := tier.StopDelay
			limits := setting.Settings{WorkerDrain: drain}
			limits.StopDelay = &delay
			require.Greater(t, time.Duration(*service.StopGracePeriod), tier.StopLimit(&limits),
				"%s ends itself, and says so, before it is killed", name)
		}
		if isSlipway(service) && name != "migrate" {
			require.Empty(t, service.Ports, "%s could not be scaled", name)
			require.Equal(t, types.ServiceConditionCompletedSuccessfully, service.DependsOn["migrate"].Condition, name)
		}
	}
	require.Equal(t, map[string]string{"8080": "proxy", "9000": "minio", "8025": "mail"}, published)
	// The api trusts the network in which the proxy reaches it, and no other.
	require.Equal(t, project.Networks["back"].Ipam.Config[0].Subnet, *project.Services["api"].Environment["SLIPWAY_TRUSTED_PROXIES"])
	require.Equal(t, []string{"back"}, slices.Collect(maps.Keys(project.Services["api"].Networks)))
	// A tested page reaches nothing inside.
	require.Equal(t, []string{"browsers"}, slices.Collect(maps.Keys(project.Services["browser"].Networks)))
	require.Contains(t, project.Services["worker"].Networks, "browsers")
}

func TestDockerfile(t *testing.T) {
	t.Parallel()
	text := readRoot(t, "Dockerfile")
	var stages []string
	for _, match := range regexp.MustCompile(`(?m)^FROM \S+ AS (\S+)$`).FindAllStringSubmatch(text, -1) {
		stages = append(stages, match[1])
	}
	require.NotEmpty(t, stages)
	require.Equal(t, "slipway", stages[len(stages)-1], "what a build without --target makes")
	for name, service := range mustLoad(t, drawEnvironment(t)).Services {
		if service.Build != nil {
			require.Contains(t, stages, service.Build.Target, name)
		}
	}
	for _, stage := range []string{"slipway", "minio"} {
		_, rest, _ := strings.Cut(text, " AS "+stage+"\n")
		body, _, _ := strings.Cut(rest, "\nFROM ")
		require.Contains(t, body, "\nUSER 65532:65532\n", stage)
		require.Contains(t, body, `ENTRYPOINT ["/usr/local/bin/`+stage+`"]`, stage)
	}
}

// README.md and the pages of docs/ name settings and administration commands
// that exist.
func TestDocsNameWhatExists(t *testing.T) {
	t.Parallel()
	known := append(settingVariables(t), pipeline.Variables()...)
	pages, err := filepath.Glob(filepath.Join(moduleRoot, "docs", "*.md"))
	require.NoError(t, err)
	require.NotEmpty(t, pages)
	pages = append(pages, filepath.Join(moduleRoot, "README.md"))
	variable := regexp.MustCompile(`SLIPWAY_[A-Z0-9_]*[A-Z0-9]`)
	for _, page := range pages {
		b, err := os.ReadFile(page)
		require.NoError(t, err)
		for _, name := range variable.FindAllString(string(b), -1) {
			require.Contains(t, known, strings.TrimSuffix(name, "_FILE"), page)
		}
	}
	for name, prefix := range map[string]string{"docs/deployment.md": "docker compose run --rm api ", "docs/reference.md": "bin/slipway "} {
		commands := regexp.MustCompile(`(?m)^`+regexp.QuoteMeta(prefix)+`(admin .*)$`).FindAllStringSubmatch(readRoot(t, name), -1)
		require.NotEmpty(t, commands, name)
		for _, match := range commands {
			_, err := newParser(t, &cli{}).Parse(strings.Fields(match[1]))
			require.NoError(t, err, match[1])
		}
	}
	makefile := readRoot(t, "Makefile")
	targets := regexp.MustCompile("(?m)(?:^|^    |`)make ([a-z.]+)").FindAllStringSubmatch(readRoot(t, "README.md"), -1)
	require.NotEmpty(t, targets)
	for _, match := range targets {
		require.Regexp(t, `(?m)^`+regexp.QuoteMeta(match[1])+`:`, makefile)
	}
}

func readRoot(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(moduleRoot, name))
	require.NoError(t, err)
	return string(b)
}
