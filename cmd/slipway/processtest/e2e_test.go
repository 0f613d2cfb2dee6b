package processtest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/account"
)

// TestUp goes through the life of an installation, from an empty folder to a
// start after a crash. Its steps build on one another.
func TestUp(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "a folder's data")
	in := startUp(t, dir)
	t.Logf("first start: %s until the curl was printed", in.took.Round(time.Millisecond))

	t.Run("bootstrap file", func(t *testing.T) { checkBootstrap(t, in) })
	t.Run("printed curl", func(t *testing.T) { checkPrintedCurl(t, in) })
	t.Run("group and crash are read back", func(t *testing.T) { checkReadBack(t, in) })
	t.Run("regression", func(t *testing.T) { checkRegression(t, in) })
	t.Run("merge", func(t *testing.T) { checkMerge(t, in) })
	t.Run("operation", func(t *testing.T) { checkOperation(t, in) })
	t.Run("a second run of the folder is refused", func(t *testing.T) {
		r := command(t, nil, "up", "--data-dir", dir, "--listen", "127.0.0.1:0")
		require.Equal(t, 1, r.code)
		require.Contains(t, r.stderr, "in use by process "+strconv.Itoa(in.cmd.Process.Pid))
		require.Equal(t, http.StatusOK, in.status(t, "/readyz"), "the first run goes on")
	})
	t.Run("doctor", func(t *testing.T) {
		checkDoctor(t, nil, "postgresql", "redis", "Objects", "chromedriver")
		checkDoctor(t, in.variables(t)[:3], "answers at SLIPWAY_DATABASE_URL", "answers at SLIPWAY_REDIS_URL", "answers at SLIPWAY_OBJECTS_URL")
	})

	before := in.groups(t, "?sort=first_seen")
	children := in.children(t)
	require.Len(t, children, 3, "PostgreSQL, Redis, chromedriver")
	began := time.Now()
	require.Zero(t, in.signal(t, os.Interrupt), "exit code after ctrl-C")
	t.Logf("stop: %s", time.Since(began).Round(time.Millisecond))
	for _, pid := range children {
		require.False(t, alive(pid), "process %d is left after ctrl-C", pid)
	}
	checkNoSecrets(t, in)

	second := startUp(t, dir)
	t.Logf("second start: %s", second.took.Round(time.Millisecond))
	require.NotEqual(t, in.boot.BaseURL, second.boot.BaseURL, "the address is that of this run")
	same := in.boot
	same.BaseURL = second.boot.BaseURL
	require.Equal(t, same, second.boot, "ids and keys are made on the first start only")
	require.Equal(t, before, second.groups(t, "?sort=first_seen"), "the data are there again")

	// A crash of the whole: what it answered 200 must be there after.
	children = second.children(t)
	id := second.post(t, second.boot.Crash.Token, sample(uuid.New(), "LastWordError", "last_word"))
	second.kill()
	third := startUp(t, dir)
	t.Logf("start after SIGKILL: %s", third.took.Round(time.Millisecond))
	for _, pid := range children {
		require.False(t, alive(pid), "process %d of the killed run is left", pid)
	}
	third.awaitGroup(t, "LastWordError", 1)
	require.Equal(t, "processed", third.crash(t, id).State)
	require.Zero(t, third.signal(t, syscall.SIGTERM))
	checkNoSecrets(t, second)
	checkNoSecrets(t, third)
}

func checkBootstrap(t *testing.T, in *installation) {
	path := filepath.Join(in.dir, "bootstrap.json")
	for _, name := range []string{"bootstrap.json", "environment"} {
		info, err := os.Stat(filepath.Join(in.dir, name))
		require.NoError(t, err)
		require.Equal(t, os.FileMode(0o600), info.Mode(), name)
	}
	raw, err := os.ReadFile(path)
	require.NoError(t, err)
	var doc map[string]json.RawMessage
	require.NoError(t, json.Unmarshal(raw, &doc))
	for member, members := range map[string][]string{
		"organization": {"id", "uuid", "slug", "name"}, "team": {"id", "uuid", "name"},
		"owner": {"id", "uuid", "email", "api_key", "username", "access_key"},
		"crash": {"project", "project_name", "token"}, "operator": {"username", "password"},
	} {
		var inner map[string]any
		require.NoError(t, json.Unmarshal(doc[member], &inner), member)
		for _, name := range members {
			require.NotEmpty(t, inner[name], "%s.%s", member, name)
		}
	}
	require.True(t, strings.HasPrefix(in.boot.BaseURL, "http://127.0.0.1:"), in.boot.BaseURL)
	require.Contains(t, in.stdout.String(), in.boot.BaseURL)
}

// printed is a shell command that `up` printed under a heading.
func printed(t *testing.T, in *installation, heading string) string {
	t.Helper()
	_, text, ok := strings.Cut(in.stdout.String(), heading+"\n\n")
	require.True(t, ok, "no %q in:\n%s", heading, in.stdout)
	text, _, _ = strings.Cut(text, "\n\n")
	return text
}

func shell(t *testing.T, script string) []byte {
	t.Helper()
	return runScript(t, "bash", script)
}

func runScript(t *testing.T, program, script string) []byte {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), program, "-c", script).CombinedOutput()
	require.NoError(t, err, "%s\n%s", script, out)
	return out
}

func checkPrintedCurl(t *testing.T, in *installation) {
	for _, program := range []string{"bash", "sh"} {
		receipt(t, runScript(t, program, printed(t, in, "Send a crash:")))
	}
	g := in.awaitGroup(t, "ZeroDivisionError", 2)
	require.Contains(t, g.Title, "division by zero")
	require.Contains(t, g.Culprit, "average")
	var list struct {
		Groups []group `json:"crash_groups"`
	}
	for _, program := range []string{"bash", "sh"} {
		require.NoError(t, json.Unmarshal(runScript(t, program, printed(t, in, "Read it back:")), &list))
		require.Len(t, list.Groups, 1)
		require.EqualValues(t, 2, list.Groups[0].Count)
	}
}

func checkReadBack(t *testing.T, in *installation) {
	report := uuid.New()
	doc := sample(report, "ReadBackError", "read_back")
	id := in.post(t, in.boot.Crash.Token, doc)
	g := in.awaitGroup(t, "ReadBackError", 1)
	require.Contains(t, g.Title, "it broke")
	require.Contains(t, g.Culprit, "read_back")
	require.Equal(t, "open", g.State)
	detail := in.group(t, g.ID)
	require.Len(t, detail.Days, 1)
	require.EqualValues(t, 1, detail.Days[0].Count)

	list := in.crashes(t, g.ID)
	require.Len(t, list, 1)
	require.Equal(t, id, list[0].ID)
	c := in.crash(t, id)
	require.Equal(t, report, c.UUID)
	require.Equal(t, "processed", c.State)
	require.Equal(t, g.ID, *c.GroupID)
	require.Equal(t, "host-1", c.Host)
	require.Equal(t, "ReadBackError", c.Attributes["load"])
	require.Len(t, c.Threads, 1)
	require.Len(t, c.Threads[0].Frames, 2)
	require.Equal(t, "read_back", c.Threads[0].Frames[0].Function)
	require.NotNil(t, c.Fingerprint)
	require.Contains(t, string(c.Fingerprint.Explanation), "read_back", "the explanation names the frames that count")

	res, raw := in.do(t, http.MethodGet, "/api/v3/crashes/"+id.String()+"/raw", nil, nil)
	require.Equal(t, http.StatusOK, res.StatusCode)
	require.JSONEq(t, string(doc), string(raw))

	res, text := in.do(t, http.MethodPost, "/post?format=json&token="+in.boot.Crash.Token, doc, nil)
	require.Equal(t, http.StatusBadRequest, res.StatusCode, "a known uuid is refused: %s", text)
	in.awaitGroup(t, "ReadBackError", 1)
}

func checkRegression(t *testing.T, in *installation) {
	post := func() { in.post(t, in.boot.Crash.Token, sample(uuid.New(), "RegressionError", "regress")) }
	post()
	g := in.awaitGroup(t, "RegressionError", 1)
	require.Equal(t, "resolved", in.change(t, g.ID, `{"state":"resolved"}`).State)
	post()
	g = in.awaitGroup(t, "RegressionError", 2)
	require.Equal(t, "open", g.State)
	require.Equal(t, 1, g.Regressions)
}

func checkMerge(t *testing.T, in *installation) {
	post := func(class string) { in.post(t, in.boot.Crash.Token, sample(uuid.New(), class, "in_"+class)) }
	post("SourceError")
	post("TargetError")
	source, target := in.awaitGroup(t, "SourceError", 1), in.awaitGroup(t, "TargetError", 1)
	merged := in.change(t, source.ID, fmt.Sprintf(`{"merge_into":%d}`, target.ID))
	require.Equal(t, target.ID, merged.ID)
	require.EqualValues(t, 2, merged.Count)
	require.Equal(t, target.ID, in.group(t, source.ID).ID, "the old id leads to the group that has the reports")
	post("SourceError")
	require.Equal(t, target.ID, in.awaitGroup(t, "TargetError", 3).ID, "later reports go to the merged group")
}

func checkOperation(t *testing.T, in *installation) {
	open := caller{base: in.base}
	require.Equal(t, http.StatusOK, open.status(t, "/healthz"))
	require.Equal(t, http.StatusOK, open.status(t, "/readyz"))
	eventually(t, "all checks of readiness are good", func() bool {
		var ready struct {
			Status string `json:"status"`
		}
		open.get(t, "/readyz", &ready)
		return ready.Status == "ok"
	})
	var description struct {
		OpenAPI string         `json:"openapi"`
		Paths   map[string]any `json:"paths"`
	}
	open.get(t, "/openapi.json", &description)
	require.True(t, strings.HasPrefix(description.OpenAPI, "3."), description.OpenAPI)
	require.Contains(t, description.Paths, "/api/v3/crash-groups")

	operator := func(r *http.Request) { r.SetBasicAuth(in.boot.Operator.Username, in.boot.Operator.Password) }
	wrong := func(r *http.Request) { r.SetBasicAuth(in.boot.Operator.Username, "wrong") }
	for _, c := range []struct {
		path   string
		change func(*http.Request)
		status int
	}{
		{"/api/v3/operate", operator, 200}, {"/api/v3/operate", wrong, 401}, {"/api/v3/operate", nil, 401},
		{"/metrics", operator, 200}, {"/metrics", nil, 401},
		{"/api/v3/crash-groups", nil, 401}, {"/api/v3/crash-groups", operator, 403},
	} {
		res, text := open.do(t, http.MethodGet, c.path, nil, c.change)
		require.Equal(t, c.status, res.StatusCode, "%s: %.200s", c.path, text)
	}
	require.Equal(t, http.StatusForbidden, in.status(t, "/api/v3/operate"), "a member is no operator")
	_, metrics := open.do(t, http.MethodGet, "/metrics", nil, operator)
	require.Regexp(t, `(?m)^slipway_\w+`, string(metrics))
	require.Contains(t, string(metrics), "crash")
}

func checkDoctor(t *testing.T, variables []string, says ...string) {
	t.Helper()
	r := command(t, variables, "doctor")
	require.Zero(t, r.code, "%s%s", r.stdout, r.stderr)
	for _, text := range says {
		require.Contains(t, r.stdout, text)
	}
	require.NotRegexp(t, `(?m)^(missing|failed)`, r.stdout)
}

// TestDoctorFindsWhatIsAway: one line says what is wrong with each service, and
// nothing else is written.
func TestDoctorFindsWhatIsAway(t *testing.T) {
	t.Parallel()
	r := command(t, []string{"SLIPWAY_DATABASE_URL=postgres://u:sesame@127.0.0.1:1/d?sslmode=disable",
		"SLIPWAY_REDIS_URL=redis://:sesame@127.0.0.1:1", "SLIPWAY_OBJECTS_URL=s3://a:sesame@127.0.0.1:1/b?tls=0",
		"SLIPWAY_WEBDRIVER_URL=http://u:sesame@127.0.0.1:1", "SLIPWAY_CRASH_DAYS=0"}, "doctor")
	require.Equal(t, 1, r.code)
	for _, what := range []string{"Settings", "postgresql", "redis", "Objects", "Browsers"} {
		require.Regexp(t, `(?m)^failed   `+what, r.stdout)
	}
	require.Equal(t, 5, strings.Count(r.stdout, "\n"), r.stdout)
	require.Empty(t, r.stderr)
	require.NotContains(t, r.stdout, "sesame")
}

// TestUpAsAnotherUser runs the whole without root's rights, in a folder that
// belongs to the user.
func TestUpAsAnotherUser(t *testing.T) {
	t.Parallel()
	if os.Getuid() != 0 {
		return // the other tests run as an ordinary user already
	}
	nobody, err := user.Lookup("nobody")
	require.NoError(t, err)
	uid, err := strconv.Atoi(nobody.Uid)
	require.NoError(t, err)
	gid, err := strconv.Atoi(nobody.Gid)
	require.NoError(t, err)
	// The folders of t.TempDir are closed to other users.
	dir, err := os.MkdirTemp("", "slipway-nobody-")
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	require.NoError(t, os.Chown(dir, uid, gid))

	cmd := exec.Command(binary, "up", "--data-dir", dir, "--listen", "127.0.0.1:0")
	cmd.Env, cmd.Dir = environment([]string{"SLIPWAY_LOG_LEVEL=debug", "HOME=/nonexistent"}), "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}
	began := time.Now()
	in := installed(t, dir, began, launch(t, cmd))
	t.Logf("start as %s: %s", nobody.Username, in.took.Round(time.Millisecond))
	in.post(t, in.boot.Crash.Token, sample(uuid.New(), "OtherUserError", "other_user"))
	in.awaitGroup(t, "OtherUserError", 1)
	for _, pid := range in.children(t) {
		info, err := os.Stat(fmt.Sprintf("/proc/%d", pid))
		if onLinux() {
			require.NoError(t, err)
			require.EqualValues(t, uid, info.Sys().(*syscall.Stat_t).Uid, "process %d runs as the user", pid)
		}
	}
	require.Zero(t, in.signal(t, os.Interrupt))
	checkNoSecrets(t, in)
}

// TestUpSweepsItsChildren: what a killed run leaves behind is gone once the next
// one runs, also children that were stopped and took no signal meanwhile.
func TestUpSweepsItsChildren(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	in := startUp(t, dir)
	id := in.post(t, in.boot.Crash.Token, sample(uuid.New(), "SweepError", "sweep"))
	children := in.children(t)
	for _, pid := range children {
		require.NoError(t, syscall.Kill(pid, syscall.SIGSTOP))
		// A group with a stopped process goes on when its parent ends; one
		// that is only about to stop would stay, until the sweep's patience
		// of half a minute is over.
		eventually(t, "the child is stopped", func() bool { return !onLinux() || state(pid) == 'T' })
	}
	in.kill()
	next := startUp(t, dir)
	t.Logf("start after the death of a run with stopped children: %s", next.took.Round(time.Millisecond))
	for _, pid := range children {
		require.False(t, alive(pid), "process %d is left", pid)
	}
	eventually(t, "the report is processed", func() bool { return next.crash(t, id).State == "processed" })
	require.Zero(t, next.signal(t, os.Interrupt))
}

// TestUpEndsWithItsServers: a private server that dies takes the run along,
// which says why and leaves nothing; the next run finds the data.
func TestUpEndsWithItsServers(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	in := startUp(t, dir)
	id := in.post(t, in.boot.Crash.Token, sample(uuid.New(), "ServerError", "server"))
	children := in.children(t)
	require.NoError(t, syscall.Kill(children[0], syscall.SIGKILL))
	require.Equal(t, 1, in.wait(t))
	require.Regexp(t, `slipway: .*ended by itself`, in.stderr.String())
	for _, pid := range children {
		require.False(t, alive(pid), "process %d is left", pid)
	}
	checkNoSecrets(t, in)
	next := startUp(t, dir)
	eventually(t, "the report is processed", func() bool { return next.crash(t, id).State == "processed" })
}

func TestUpRefuses(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	for _, c := range []struct {
		name      string
		variables []string
		args      []string
		code      int
		says      string
	}{
		{"unknown variable", []string{"SLIPWAY_DATABSE_URL=postgres://u:sesame@h/d"}, []string{"up"}, 2,
			"unknown variable SLIPWAY_DATABSE_URL, did you mean SLIPWAY_DATABASE_URL?"},
		{"unknown flag", nil, []string{"up", "--port", "1"}, 2, "unknown flag --port"},
		{"a flag of nearly that name", nil, []string{"up", "--data-folder", "x"}, 2, `did you mean "--data-dir"?`},
		{"no command", nil, nil, 2, "expected one of"},
		{"a file for a folder", nil, []string{"up", "--data-dir", filepath.Join(file, "x")}, 1, "not a directory"},
		{"no such level", nil, []string{"up", "--log-level", "loud"}, 2, "--log-level"},
		{"a secret's file that is missing", []string{"SLIPWAY_REDIS_URL_FILE=" + file + ".no"}, []string{"up"}, 2, "SLIPWAY_REDIS_URL_FILE"},
		{"a database that is none", []string{"SLIPWAY_DATABASE_URL=mysql://u:sesame@h/d"}, []string{"migrate"}, 1, "database URL"},
		{"a bound that does not hold", []string{"SLIPWAY_CRASH_REPORT_BYTES=99999999"}, []string{"up", "--data-dir",
			filepath.Join(file, "x")}, 1, "SLIPWAY_CRASH_REPORT_BYTES"},
		{"a tier without services", nil, []string{"worker"}, 1, "SLIPWAY_DATABASE_URL"},
		{"an api without services", nil, []string{"api", "--listen", "127.0.0.1:0"}, 1, "SLIPWAY_DATABASE_URL"},
		{"admin without a database", nil, []string{"admin", "org", "list"}, 1, "SLIPWAY_DATABASE_URL"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := command(t, c.variables, c.args...)
			require.Equal(t, c.code, r.code, "%s%s", r.stdout, r.stderr)
			require.Contains(t, r.stderr, c.says)
			require.NotContains(t, r.stdout+r.stderr, "sesame")
		})
	}
}

func TestHelpShowsNoSecret(t *testing.T) {
	t.Parallel()
	variables := []string{"SLIPWAY_DATABASE_URL=postgres://u:sesame@h/d", "SLIPWAY_REDIS_URL=redis://:sesame@h",
		"SLIPWAY_OBJECTS_URL=s3://a:sesame@h/b", "SLIPWAY_SIGNING_KEY=sesame-sesame-sesame-sesame-sesame"}
	for _, args := range [][]string{{"--help"}, {"up", "--help"}, {"api", "--help"}, {"admin", "--help"}, {"api", "--no-such-flag"}} {
		r := command(t, variables, args...)
		require.NotContains(t, r.stdout+r.stderr, "sesame", "%v", args)
	}
	help := command(t, nil, "up", "--help")
	require.Zero(t, help.code)
	require.Contains(t, help.stdout, "SLIPWAY_DATABASE_URL")
	for _, args := range []string{"version", "--version"} {
		require.Regexp(t, regexp.MustCompile(`^slipway \S+ \(commit [^()\n]+\)\n$`), command(t, nil, args).stdout)
	}
}

// TestBootstrapIsCompleted: a first start that ended between the file and the
// rows is completed by the next one, with the keys of the file.
func TestBootstrapIsCompleted(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	keys, err := account.NewIssuer("local", nil)
	require.NoError(t, err)
	boot, err := account.NewBootstrap(keys, "http://127.0.0.1:1")
	require.NoError(t, err)
	file, err := json.Marshal(boot)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "bootstrap.json"), file, 0o600))
	in := startUp(t, dir)
	require.Equal(t, boot.Owner.APIKey, in.boot.Owner.APIKey)
	require.Equal(t, boot.Crash.Token, in.boot.Crash.Token)
	require.NotZero(t, in.boot.Crash.Project)
	in.post(t, in.boot.Crash.Token, sample(uuid.New(), "CompletedError", "completed"))
	in.awaitGroup(t, "CompletedError", 1)
}
