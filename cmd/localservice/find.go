package localservice

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"
)

// The programs that Find knows.
const (
	PostgreSQL = "postgresql"
	Redis      = "redis"
	MinIO      = "minio"
	// Chromedriver drives the browser Chromium (or Chrome) over WebDriver; both
	// must have the same major version.
	Chromedriver = "chromedriver"
	Chromium     = "chromium"
)

// minioVersion is the last commit of the archived MinIO repository. Later than
// the last published images, it has their last security fix.
const minioVersion = "v0.0.0-20260212201848-7aac2a2c5b7c"

// Binary is a server program found on this machine.
type Binary struct {
	Program string // one of the programs above
	Path    string // the server's or browser's executable, absolute
	// Major is the major version of PostgreSQL, read from its folder, else from
	// the program when a server starts; 0 while it is unknown.
	Major int
}

// MissingError reports that a program is not installed.
type MissingError struct {
	Program string // one of the programs above
	Install string // the shell line that installs it here
}

func (e *MissingError) Error() string {
	return fmt.Sprintf("%s is not installed; install it with: %s", e.Program, e.Install)
}

// Find returns the newest installed server of a program, or a *MissingError.
// It reads file names only and runs nothing.
func Find(program string) (Binary, error) {
	found := findAll(program, hostSearchPaths())
	if len(found) == 0 {
		return Binary{}, &MissingError{Program: program, Install: installLine(program, hostSearchPaths())}
	}
	return found[0], nil
}

// searchPaths are the folders to search. Tests point them elsewhere.
type searchPaths struct {
	system string   // as runtime.GOOS
	path   []string // the folders of PATH
	root   string   // prefix of the system's folders; "" on a real machine
	cache  string   // the user's cache folder; "" when there is none
}

func hostSearchPaths() searchPaths {
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = ""
	}
	return searchPaths{system: runtime.GOOS, path: filepath.SplitList(os.Getenv("PATH")), cache: cache}
}

// postgresFolders are the folders of packaged server programs, which are not in
// PATH: Debian, Red Hat, Alpine, Homebrew on both processors.
var postgresFolders = [...]string{
	"/usr/lib/postgresql/*/bin",
	"/usr/pgsql-*/bin",
	"/usr/libexec/postgresql*",
	"/opt/homebrew/opt/postgresql*/bin",
	"/usr/local/opt/postgresql*/bin",
}

// findAll returns every installed server of a program, best first: for
// PostgreSQL the one in PATH, then the newest major version first.
func findAll(program string, in searchPaths) []Binary {
	var found []Binary
	add := func(folder, name string, major int) {
		path := filepath.Join(folder, name)
		known := func(b Binary) bool { return b.Path == path }
		if filepath.IsAbs(path) && executable(path) && !slices.ContainsFunc(found, known) {
			found = append(found, Binary{Program: program, Path: path, Major: major})
		}
	}
	switch program {
	case PostgreSQL:
		for _, folder := range in.path {
			// A server without initdb beside it cannot create its data.
			if executable(filepath.Join(folder, "initdb")) {
				add(folder, "postgres", 0)
			}
		}
		for _, folder := range in.postgresPackageFolders() {
			if executable(filepath.Join(folder, "initdb")) {
				add(folder, "postgres", majorOfFolder(folder))
			}
		}
	case Redis:
		folders := append(slices.Clone(in.path), in.root+"/opt/homebrew/bin", in.root+"/usr/local/bin")
		for _, folder := range folders {
			add(folder, "redis-server", 0)
		}
	case MinIO:
		for _, folder := range in.path {
			add(folder, "minio", 0)
		}
		if in.cache != "" {
			add(filepath.Join(in.cache, "slipway", "bin"), "minio", 0)
		}
	case Chromedriver, Chromium:
		for _, path := range in.browserFiles(program) {
			add(filepath.Dir(path), filepath.Base(path), 0)
		}
	}
	return found
}

// postgresPackageFolders lists the folders of packaged PostgreSQL versions, newest first.
func (in searchPaths) postgresPackageFolders() []string {
	var folders []string
	for _, pattern := range postgresFolders {
		matches, _ := filepath.Glob(in.root + pattern) // fails for a bad pattern only
		folders = append(folders, matches...)
	}
	slices.SortStableFunc(folders, func(a, b string) int {
		return cmp.Compare(majorOfFolder(b), majorOfFolder(a))
	})
	return folders
}

// browserFiles lists where chromedriver and the browser may be, best first: PATH,
// then the folders of packages (Red Hat, Ubuntu, snap, Google, macOS).
func (in searchPaths) browserFiles(program string) []string {
	names := []string{"chromedriver"}
	more := []string{
		"/usr/lib/chromium/chromedriver", "/usr/lib64/chromium-browser/chromedriver",
		"/usr/lib/chromium-browser/chromedriver", "/snap/bin/chromium.chromedriver",
		"/opt/homebrew/bin/chromedriver", "/usr/local/bin/chromedriver",
	}
	if program == Chromium {
		names = []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable"}
		more = []string{
			"/usr/bin/chromium", "/usr/bin/google-chrome", "/opt/google/chrome/chrome", "/snap/bin/chromium",
			"/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
			"/Applications/Chromium.app/Contents/MacOS/Chromium",
		}
	}
	var files []string
	for _, name := range names {
		for _, folder := range in.path {
			files = append(files, filepath.Join(folder, name))
		}
	}
	for _, path := range more {
		files = append(files, in.root+path)
	}
	return files
}

var folderMajor = regexp.MustCompile(`(?:postgresql[/@-]?|pgsql-)(\d{1,3})(?:/bin)?$`)

// majorOfFolder returns the major version in the name of a package's folder; 0
// if there is none.
func majorOfFolder(folder string) int {
	match := folderMajor.FindStringSubmatch(folder)
	if match == nil {
		return 0
	}
	major, _ := strconv.Atoi(match[1])
	return major
}

func executable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
}

// installLine returns the command that installs a program with the package
// manager of this machine, or with Debian's where none is found.
func installLine(program string, in searchPaths) string {
	if program == MinIO {
		line := "go install github.com/minio/minio@" + minioVersion
		if in.cache != "" {
			line = "GOBIN=" + shellQuote(filepath.Join(in.cache, "slipway", "bin")) + " " + line
		}
		return line
	}
	managers := []struct{ tool, postgres, redis, browser string }{
		{"apt-get", "apt-get install -y postgresql", "apt-get install -y redis-server", "apt-get install -y chromium chromium-driver"},
		{"dnf", "dnf install -y postgresql-server", "dnf install -y redis", "dnf install -y chromium chromedriver"},
		{"apk", "apk add postgresql", "apk add redis", "apk add chromium chromium-chromedriver"},
		{"brew", "brew install postgresql@17", "brew install redis", "brew install --cask google-chrome chromedriver"},
	}
	if in.system == "darwin" {
		slices.Reverse(managers)
	}
	chosen := managers[0]
	for _, m := range managers {
		has := func(folder string) bool { return executable(filepath.Join(folder, m.tool)) }
		if slices.ContainsFunc(in.path, has) {
			chosen = m
			break
		}
	}
	switch program {
	case Redis:
		return chosen.redis
	case Chromedriver, Chromium:
		return chosen.browser
	}
	return chosen.postgres
}

func shellQuote(word string) string {
	if !strings.ContainsAny(word, " \t\n'\"\\$`&;|<>()*?[]#~!{}") {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

var postgresVersion = regexp.MustCompile(`^postgres \(PostgreSQL\) (\d{1,3})(?:\.|\D|$)`)

// postgresMajor reads the major version from the output of `postgres --version`
// ("postgres (PostgreSQL) 15.14 (Debian 15.14-0+deb12u1)", "... 18beta2").
func postgresMajor(output string) (int, error) {
	match := postgresVersion.FindStringSubmatch(output)
	if match == nil {
		return 0, fmt.Errorf("unknown output %.80q of postgres --version", output)
	}
	return strconv.Atoi(match[1])
}

// versionTime bounds how long a program may take to say its version.
const versionTime = time.Minute

// detectMajor sets b.Major where the name of the folder does not contain it.
func (b *Binary) detectMajor() error {
	if b.Major != 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), versionTime)
	defer cancel()
	output, err := exec.CommandContext(ctx, b.Path, "--version").Output()
	if err != nil {
		return fmt.Errorf("version of %s: %w", b.Path, err)
	}
	b.Major, err = postgresMajor(string(output))
	return err
}
