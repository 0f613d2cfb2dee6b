package conventions

import (
	"bytes"
	"go/ast"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// moduleRoot is the root folder, seen from this package's.
const moduleRoot = "../.."

// modulePath begins the import path of every package here.
const modulePath = "github.com/slipway-qa/slipway"

// tiers lists the top-level folders that each one may import, besides itself:
// cmd -> api, worker, scheduler -> tasks -> storage -> migrations. Work crosses
// from one tier to another as rows of the ledger, never as calls.
var tiers = map[string][]string{
	"cmd":        {"api", "worker", "scheduler", "tasks", "storage", "migrations"},
	"api":        {"tasks", "storage"},
	"worker":     {"tasks", "storage"},
	"scheduler":  {"tasks", "storage"},
	"tasks":      {"storage"},
	"storage":    {"migrations"},
	"migrations": {},
}

// leaves are the packages of plain rules and formats, in order: a leaf imports
// the standard library, the modules named here, and leaves above it. They read
// what unknown senders sent, so they reach nothing: no network, no program, no
// database, no queue, no router. A leaf that does not exist yet is bound by its
// line from its first file on.
var leaves = []leaf{
	{"storage/report", nil, "the crash report: its limits, checks and scrubbing stand before everything that keeps one"},
	{"storage/step", []string{"github.com/theory/jsonpath", "go.yaml.in/yaml/v3"},
		"test steps, locators and capabilities: documents that every area stores or replays"},
	{"storage/artifact", []string{"golang.org/x/image", "google.golang.org/protobuf", "howett.net/plist"},
		"packages of apps, read through an io.ReaderAt: knows nothing of where the bytes are"},
	{"storage/symbol", []string{"github.com/ianlancetaylor/demangle", "github.com/klauspost/compress", "github.com/therootcompany/xz"},
		"the index of symbols and its lookup: reads files of artifacts and serves frames of reports"},
	{"storage/cron", nil, "when an expression fires: the api checks with it what the store computes"},
	{"worker/crash/fingerprint", []string{"github.com/ianlancetaylor/demangle"}, "what makes two crashes the same: a pure rule over a report"},
	{"worker/symbols/dump", nil, "what a native dump says, as plain data that goes from the process that reads it to the one that walks it"},
	{"worker/symbols/reason", nil, "names of exceptions and signals"},
	{"worker/symbols/minidump", nil, "minidumps of unknown senders, read through an io.ReaderAt"},
	{"worker/symbols/engine", nil, "crash archives of game engines, read through an io.ReaderAt"},
	{"worker/symbols/plcrash", []string{"google.golang.org/protobuf"}, "reports of PLCrashReporter, read through an io.ReaderAt"},
	{"worker/symbols/walk", nil, "the stacks of dumps: a rule over registers and memory"},
	{"api/authoring/export", []string{"go.yaml.in/yaml/v3"}, "test cases written as code: text out of steps"},
}

type leaf struct {
	folder  string
	modules []string
	reason  string
}

// leafOf returns the index of a folder among the leaves; -1 if it is in none.
func leafOf(folder string) int {
	return slices.IndexFunc(leaves, func(l leaf) bool { return under(folder, l.folder) })
}

// confined names modules that only some folders may import, outside of tests: a
// replacement of one must not reach further than these. A folder stands for all
// below it; with a dot at the end, for itself alone.
var confined = []struct {
	module  string
	folders []string
	reason  string
}{
	{"github.com/gin-gonic/gin", []string{"api", "cmd/bench"}, "handlers are the api's; the bench measures it as a baseline"},
	{"github.com/go-jose/go-jose/v4", []string{"api/auth"}, "signatures of tokens are verified in one place"},
	{"github.com/hibiken/asynq", []string{"tasks/dispatch", "worker/.", "scheduler/."},
		"the ledger is the truth; asynq only carries deliveries"},
	{"github.com/jmoiron/sqlx", []string{"storage", "tasks/dispatch"}, "queries are written in storage"},
	{"github.com/lib/pq", []string{"storage", "tasks/dispatch", "cmd/localservice"},
		"so are the driver's errors read there; a started server is ready when it has answered a query"},
	{"github.com/minio/minio-go/v7", []string{"storage", "tasks/dispatch", "cmd/bench", "cmd/localservice/servicetest"},
		"objects are reached through storage/object; the bench measures it as a baseline"},
	{"github.com/redis/go-redis/v9", []string{"storage", "tasks/dispatch", "cmd/localservice"},
		"Redis holds deliveries only; a started server is ready when it has answered"},
	{"github.com/coder/websocket", []string{"worker/browser", "worker/run/replay"}, "the browser room talks to browsers"},
	{"database/sql", []string{"storage", "cmd/localservice"},
		"queries are written in storage; a started server is ready when it has answered one"},
	{"github.com/alecthomas/kong", []string{"cmd"}, "settings are read once, in main, and handed down"},
	{"github.com/stretchr/testify", []string{"cmd/localservice/servicetest"}, "tests only"},
	{"go.uber.org/goleak", nil, "tests only"},
	{"testing", []string{"cmd/localservice/servicetest"}, "tests only"},
	{modulePath + "/cmd/localservice/servicetest", []string{"cmd/localservice/servicetest", "cmd/bench"},
		"tests, and the bench for the cases that it runs beside Playwright"},
}

// goFile is what the rules look at in one file.
type goFile struct {
	name    string // from the root, with slashes
	folder  string
	test    bool
	pkg     string
	doc     string
	imports []string
}

// ours returns the folder of an import of this module.
func ours(importPath string) (string, bool) {
	return strings.CutPrefix(importPath, modulePath+"/")
}

// projectFiles returns the files of the project: those that git tracks or would
// track; without git, those that .gitignore does not name.
func projectFiles(t *testing.T) []string {
	t.Helper()
	names, err := listFiles()
	require.NoError(t, err)
	return names
}

func listFiles() ([]string, error) {
	git := exec.Command("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	git.Dir = moduleRoot
	out, err := git.Output()
	if err != nil || len(out) == 0 {
		return walkFiles()
	}
	var names []string
	for name := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		if info, err := os.Lstat(filepath.Join(moduleRoot, name)); err == nil && info.Mode().IsRegular() {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	names = slices.Compact(names)
	return names, readFolders(names)
}

// readFolders lists the folders of files. Go's cache of test results then knows that a
// test depends on them: it does not see what git reads.
func readFolders(names []string) error {
	seen := map[string]bool{}
	for _, name := range names {
		for dir := path.Dir(name); !seen[dir]; dir = path.Dir(dir) {
			seen[dir] = true
			if _, err := os.ReadDir(filepath.Join(moduleRoot, dir)); err != nil {
				return err
			}
		}
	}
	return nil
}

func walkFiles() (names []string, err error) {
	err = fs.WalkDir(os.DirFS(moduleRoot), ".", func(name string, d fs.DirEntry, err error) error {
		if d != nil && d.IsDir() && slices.Contains([]string{".git", "bin", "data", ".cache", "node_modules"}, d.Name()) {
			return fs.SkipDir
		}
		if err == nil && d.Type().IsRegular() && name != ".env" {
			names = append(names, name)
		}
		return err
	})
	return names, err
}

// isSource reports whether a file is Go code of the module.
func isSource(name string) bool {
	return path.Ext(name) == ".go" && !strings.Contains(name, "/testdata/")
}

// parseFiles returns the imports and package docs of all Go files, whatever system
// they are for.
func parseFiles(t *testing.T) []goFile {
	t.Helper()
	var files []goFile
	for _, s := range sources(t) {
		files = append(files, readFile(s.name, s.file))
	}
	return files
}

func readFile(name string, parsed *ast.File) goFile {
	f := goFile{name: name, folder: path.Dir(name), test: strings.HasSuffix(name, "_test.go"),
		pkg: parsed.Name.Name, doc: parsed.Doc.Text()}
	for _, spec := range parsed.Imports {
		importPath, _ := strconv.Unquote(spec.Path.Value) // the parser has read it
		f.imports = append(f.imports, importPath)
	}
	return f
}

// under reports whether a folder is the other one or below it.
func under(folder, top string) bool {
	if alone, ok := strings.CutSuffix(top, "/."); ok {
		return folder == alone
	}
	return folder == top || strings.HasPrefix(folder, top+"/")
}

// standard reports whether an import is of the standard library: the first part of
// any other path has a dot.
func standard(importPath string) bool {
	first, _, _ := strings.Cut(importPath, "/")
	return !strings.Contains(first, ".")
}

// wrongImport returns what is wrong with one import of one file; "" if nothing.
func wrongImport(f goFile, importPath string) string {
	if f.test {
		return ""
	}
	for _, rule := range confined {
		if under(importPath, rule.module) && !slices.ContainsFunc(rule.folders, func(top string) bool { return under(f.folder, top) }) {
			return "is confined to " + strings.Join(rule.folders, ", ") + ": " + rule.reason
		}
	}
	from := leafOf(f.folder)
	if from >= 0 && standard(importPath) {
		pure := []string{"net/url", "net/netip"} // texts of addresses, no connections
		for _, banned := range []string{"net", "os/exec", "database/sql", "syscall", "plugin"} {
			if under(importPath, banned) && !slices.Contains(pure, importPath) {
				return "reaches out of a leaf"
			}
		}
	}
	if standard(importPath) {
		return ""
	}
	folder, here := ours(importPath)
	switch {
	case !here && from >= 0 && !slices.ContainsFunc(leaves[from].modules, func(m string) bool { return under(importPath, m) }):
		return "is no module that this leaf may use"
	case !here:
		return ""
	case from >= 0:
		if to := leafOf(folder); to < 0 || to > from {
			return "is no leaf above this one"
		}
		return ""
	}
	tier, _, _ := strings.Cut(f.folder, "/")
	target, _, _ := strings.Cut(folder, "/")
	if allowed, known := tiers[tier]; !known || target != tier && !slices.Contains(allowed, target) {
		return "is against the direction cmd -> api, worker, scheduler -> tasks -> storage -> migrations"
	}
	shared := under(folder, "cmd/localservice") || under(f.folder, "cmd/slipway") && under(folder, "cmd/slipway-ci") || // slipway ci
		under(folder, "cmd/slipway-ci/client") // what any Go program would call the api with
	if tier == "cmd" && target == "cmd" && !shared && !under(folder, command(f.folder)) {
		return "is another command"
	}
	return ""
}

// command returns the folder of the command that a folder belongs to: cmd/bench of
// cmd/bench/progress.
func command(folder string) string {
	_, rest, _ := strings.Cut(folder, "/")
	name, _, _ := strings.Cut(rest, "/")
	return "cmd/" + name
}

func TestImportDirection(t *testing.T) {
	t.Parallel()
	for _, f := range parseFiles(t) {
		for _, importPath := range f.imports {
			if wrong := wrongImport(f, importPath); wrong != "" {
				t.Errorf("%s: import of %s %s", f.name, importPath, wrong)
			}
		}
	}
}

// The rules themselves: what they allow and what not.
func TestWrongImport(t *testing.T) {
	t.Parallel()
	m := modulePath + "/"
	for _, c := range []struct {
		folder, importPath string
		wrong              bool
	}{
		{"api/crash", m + "tasks/dispatch", false},
		{"api/crash", m + "storage/crash", false},
		{"api/crash", m + "api/respond", false},
		{"api/authoring", m + "storage/cron", false},
		{"api/crash", m + "worker", true},
		{"api/crash", m + "scheduler", true},
		{"worker/crash", m + "api/respond", true},
		{"worker/crash", m + "worker", false},
		{"scheduler", m + "worker", true},
		{"tasks", m + "worker", true},
		{"tasks/dispatch", m + "storage/ledger", false},
		{"storage/ledger", m + "tasks", true},
		{"storage", m + "migrations", false},
		{"migrations", m + "storage", true},
		{"cmd/slipway", m + "api/ops", false},
		{"cmd/slipway", m + "cmd/slipway-ci/command", false},
		{"cmd/slipway-ci/command", m + "cmd/slipway/terminal", true},
		{"cmd/slipway", m + "cmd/bench", true},
		{"cmd/bench", m + "cmd/slipway-ci/client", false},
		{"cmd/bench", m + "cmd/slipway-ci/command", true},
		{"cmd/slipway", m + "cmd/bench/progress", true},
		{"cmd/bench", m + "cmd/bench/progress", false},
		{"elsewhere", m + "storage", true},
		{"storage/report", "encoding/json", false},
		{"storage/report", "net/url", false},
		{"storage/report", "net", true},
		{"storage/report", "net/http", true},
		{"storage/report", "os/exec", true},
		{"storage/report", "database/sql", true},
		{"storage/report", "github.com/google/uuid", true},
		{"storage/report", m + "storage", true},
		{"storage/report", m + "worker/crash/fingerprint", true},
		{"worker/crash/fingerprint", m + "storage/report", false},
		{"worker/crash/fingerprint", m + "worker", true},
		{"storage/cron", "github.com/hibiken/asynq", true},
		{"storage/cron", m + "storage/report", false},
		{"storage/cron", m + "storage", true},
		{"api/crash", "github.com/gin-gonic/gin/binding", false},
		{"cmd/bench", "github.com/gin-gonic/gin", false},
		{"cmd/slipway", "github.com/gin-gonic/gin", true},
		{"worker", "github.com/hibiken/asynq", false},
		{"worker/crash", "github.com/hibiken/asynq", true},
		{"api/ops", "github.com/hibiken/asynq", true},
		{"api", "github.com/hibiken/asynq", true},
		{"api/crash", "github.com/lib/pq", true},
		{"storage/crash", "github.com/lib/pq", false},
		{"worker/crash", "github.com/minio/minio-go/v7/pkg/credentials", true},
		{"api/ops", "database/sql", true},
		{"api/ops", m + "cmd/localservice/servicetest", true},
		{"cmd/localservice/servicetest", "testing", false},
		{"cmd/slipway", m + "cmd/localservice", false},
		{"storage/object", m + "cmd/localservice", true},
	} {
		got := wrongImport(goFile{folder: c.folder}, c.importPath)
		require.Equal(t, c.wrong, got != "", "%s imports %s: %q", c.folder, c.importPath, got)
	}
}

func TestFolders(t *testing.T) {
	t.Parallel()
	top := []string{"cmd", "api", "worker", "scheduler", "tasks", "storage", "migrations", "docs", ".ci"}
	root := []string{"go.mod", "go.sum", "compose.yaml", "README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md",
		"Makefile", "Dockerfile", "LICENSE", ".gitignore", ".golangci.yml"}
	// Names that state where a thing was put, not what it is.
	vague := regexp.MustCompile(`^(internal|pkg|utils?|common|helpers?|managers?|misc|base|shared|lib)$`)
	for _, name := range projectFiles(t) {
		parts := strings.Split(name, "/")
		if len(parts) == 1 {
			require.Contains(t, root, name, "a file in the root folder")
			continue
		}
		require.Contains(t, top, parts[0], "the top-level folder of %s", name)
		for _, part := range parts[:len(parts)-1] {
			require.False(t, vague.MatchString(part), "%s: a folder is named for what is in it", name)
		}
		if stem := strings.TrimSuffix(parts[len(parts)-1], ".go"); stem != parts[len(parts)-1] {
			require.False(t, vague.MatchString(stem), "%s: a file is named for what is in it", name)
		}
	}
}

// Files mention nothing of the machine on which they were written, and name no
// package registry: each machine's settings choose it.
func TestFilesSpeakOfTheProjectOnly(t *testing.T) {
	t.Parallel()
	// Written in pieces, so that this file passes.
	foreign := []string{"registry.npm" + "js.org", "registry.yarn" + "pkg.com", "proxy.gol" + "ang.org", "sum.gol" + "ang.org",
		"deb.deb" + "ian.org", "py" + "pi.org", "files.python" + "hosted.org", "regis" + "try-1.docker.io", "index.docker" + ".io",
		"static.cra" + "tes.io", "/wo" + "rk/main", "/wo" + "rk/shared", "/ro" + "ot/go/", "/ro" + "ot/.npm", "/tmp/ba" + "sh_jobs"}
	for _, name := range projectFiles(t) {
		b, err := os.ReadFile(filepath.Join(moduleRoot, name))
		require.NoError(t, err)
		for _, word := range foreign {
			if bytes.Contains(b, []byte(word)) {
				t.Errorf("%s names %s", name, word)
			}
		}
	}
}

// Secrets and data that make and slipway write must not be committed by accident.
func TestIgnored(t *testing.T) {
	t.Parallel()
	b, err := os.ReadFile(filepath.Join(moduleRoot, ".gitignore"))
	require.NoError(t, err)
	require.Subset(t, strings.Fields(string(b)), []string{"/bin/", "/data/", "/.env"})
}
