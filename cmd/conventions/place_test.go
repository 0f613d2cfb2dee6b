package conventions

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// rooms are the folders below storage. Storage holds rows, objects, their formats
// and the rules that decide what a row becomes, nothing else: each reason says
// which of these a room is.
var rooms = map[string]string{
	"storage":                           "transactions, errors and the schema, which all stores share",
	"storage/account":                   "rows: organizations, people, their keys, the audit",
	"storage/artifact":                  "format: packages of apps",
	"storage/artifact/android":          "format: Android packages and bundles",
	"storage/artifact/apple":            "format: packages of Apple's systems",
	"storage/artifact/archive":          "format: archives that packages are made of",
	"storage/artifact/artifacttest":     "format: packages that hurt their readers, for tests and the bench",
	"storage/artifact/icon":             "format: icons of apps, as they are stored",
	"storage/artifact/inspect":          "format: which kind of package a file is, and what it states",
	"storage/artifact/signature":        "format: signatures of Android packages, and of what Apple signs",
	"storage/artifact/mapping":          "format: files that undo obfuscation",
	"storage/audit":                     "rows: the audit log as it is read, and how long it is kept",
	"storage/authoring":                 "rows: test cases, revisions, suites, variables, tunnels",
	"storage/backup":                    "rows: one state of the database for a backup, and the objects that it names",
	"storage/baseline":                  "rows: pictures that steps are compared with, and accepted findings of accessibility",
	"storage/change":                    "rule: what a request changes of a row, and what the audit log keeps of it",
	"storage/commitstatus":              "rows: where the statuses of commits go, and the newest of each build",
	"storage/crash":                     "rows: crashes and their groups, with the rules by which they are counted",
	"storage/crash/appversion":          "rule: the order of the versions of apps",
	"storage/crash/array":               "rows: ids, bytes, times and numbers as texts in arrays of statements",
	"storage/crash/bulk":                "rows: changes of all crash groups that a filter selects",
	"storage/crash/condition":           "rule: which crashes and groups a statement selects, and how attributes are indexed",
	"storage/crash/crashproject":        "rows: crash projects and their tokens",
	"storage/crash/distinct":            "rule: how many users there are, of few or of millions",
	"storage/crash/need":                "rows: the files with symbols that crashes lack, and sets of them",
	"storage/crash/pattern":             "rule: patterns of the places and texts of reports",
	"storage/crash/projectlock":         "rows: the lock of each crash project, shared or alone",
	"storage/crash/reading":             "rows: what lists and pages show of crashes and their groups",
	"storage/crash/received":            "rows: reports as they were received, in batches, with their files and uuids",
	"storage/crash/rule":                "rows: what is to happen when a crash group is new, is back, or occurs often, with the rule of when",
	"storage/crash/span":                "rule: the first and the last time of what was seen",
	"storage/crash/usage":               "rows: versions of crash projects, with their crashes, sessions and users by day",
	"storage/cron":                      "rule: when the schedule in a row is due next",
	"storage/device":                    "rows: devices that testers registered",
	"storage/distribution":              "rows: projects, builds and folders",
	"storage/distribution/announcement": "rows: whom a build reaches by mail and by invitations of groups",
	"storage/distribution/buildcommit":  "rows: the commits of builds, and the builds in which a change came",
	"storage/distribution/grant":        "rows: which groups of testers may install an app or a build",
	"storage/distribution/installpage":  "rows: what install pages show, to whom, and the downloads",
	"storage/distribution/landing":      "rows: limits and passwords of landing pages",
	"storage/distribution/storedfile":   "rows: stored objects that builds, apps and symbols name, and their removal",
	"storage/distribution/testergroup":  "rows: groups of testers, who is in them, and what they have",
	"storage/distribution/text":         "rule: how texts of builds and apps are taken, shortened or refused",
	"storage/distribution/visitor":      "rows: who is signed in on install pages",
	"storage/environment":               "rows: environments, which are named sets of what tests run with",
	"storage/failure":                   "rows: why jobs failed, the groups of failures of suite runs, and what the last good jobs saw",
	"storage/gate":                      "rows: gates of builds and the policies of apps, with the rules of their conditions",
	"storage/generation":                "rows: tests that are written from a sentence, their files, and what models cost",
	"storage/history":                   "rows: runs of tests over time, and which are kept",
	"storage/idempotency":               "rows: requests that a client sends twice and that count once",
	"storage/install":                   "rows: who got which build, how, and on which device",
	"storage/ledger":                    "rows: tasks, with the rules of their states",
	"storage/live":                      "rows: the versions of what open pages show, of all kinds",
	"storage/login":                     "rows: what the logins of suite runs have left, sealed",
	"storage/mail":                      "rows: mail to be sent and kept, its templates and settings, and who gets none",
	"storage/object":                    "objects: the store of files, in S3 or a folder",
	"storage/oidc":                      "rows: how organizations sign in by tokens of issuers of their own",
	"storage/removal":                   "rows: objects that are deleted after a delay",
	"storage/overview":                  "rows: what happened lately in an organization, of all kinds",
	"storage/quarantine":                "rows: cases that fail no suite for some time",
	"storage/quota":                     "rows: what organizations use and may use, with the rules of their bounds",
	"storage/report":                    "format: crash reports",
	"storage/resumable":                 "rows: files that come in parts, until a build or symbols take them",
	"storage/rows":                      "rows: data rows of test cases, and their forms",
	"storage/run":                       "rows: runs of tests, their jobs, events and files",
	"storage/run/attempt":               "rows: the attempts of jobs before the last, and which failures another follows",
	"storage/schedule":                  "rows: schedules and their firings",
	"storage/seal":                      "format: secrets in rows, encrypted",
	"storage/search":                    "rows: what an organization has by a text, of all kinds",
	"storage/session":                   "rows: sessions of apps, their events, feedback and tokens",
	"storage/setting":                   "rows: what an organization has set for itself",
	"storage/signing":                   "rows: the signing keys of the installation, and all that they sealed",
	"storage/step":                      "format: test steps and selectors",
	"storage/step/capability":           "format: what a test runs on, and the settings of a case",
	"storage/step/jsonpath":             "format: paths into JSON documents",
	"storage/step/keyboard":             "format: the names of keys",
	"storage/step/playback":             "format: what a run found out about each step",
	"storage/step/redaction":            "rule: how secrets are taken out of texts before they are stored",
	"storage/step/group":                "rule: how the steps of step groups stand in a test",
	"storage/step/css":                  "format: the syntax of selectors by CSS",
	"storage/step/grammar":              "format: what the checks of CSS and XPath share",
	"storage/step/xpath":                "format: the syntax of selectors by XPath",
	"storage/step/testfile":             "format: a case as a file of a repository",
	"storage/stepgroup":                 "rows: step groups, their revisions, and who uses them",
	"storage/run/reading":               "rows: what lists and pages show of runs, their jobs and their history",
	"storage/run/need":                  "rule: whether a job may begin whose test needs others",
	"storage/suiteplan":                 "rows: which cases a suite runs, in which order, and the plans of its runs",
	"storage/suiteplan/shard":           "rule: how tests are divided into parts that take about the same time",
	"storage/suspect":                   "rule: which commits of a build may have caused a crash",
	"storage/symbol":                    "format: identifiers and the container of an index",
	"storage/symbol/binary":             "format: ELF, Mach-O and PE",
	"storage/symbol/breakpad":           "format: Breakpad's symbol files",
	"storage/symbol/dwarf":              "format: DWARF",
	"storage/symbol/filetype":           "format: which kind of symbol file a file is",
	"storage/symbol/javascript":         "format: scripts, as far as their functions need it",
	"storage/symbol/native":             "format: the index of native code",
	"storage/symbol/pdb":                "format: program databases",
	"storage/symbol/portablepdb":        "format: portable PDBs of .NET",
	"storage/symbol/proguard":           "format: mappings and traces of ProGuard and R8",
	"storage/symbol/sourcemap":          "format: source maps and scripts",
	"storage/symbol/unwind":             "format: call frame information",
	"storage/symbol/wasm":               "format: modules of WebAssembly",
	"storage/symbolfile":                "rows of symbol files and their identifiers",
	"storage/symbolication":             "format: what symbols made of a crash",
	"storage/tester":                    "rows: testers of an organization, and the invitations that they were sent",
	"storage/webhook":                   "rows: webhooks, their deliveries, with the rules of their states",
}

// sharedBelow are packages that lie below the only tier that imports them, with
// the reason why they stay there.
var sharedBelow = map[string]string{
	"migrations":                       "the SQL is a top-level folder, which operators and reviewers open first",
	"storage/overview":                 "SQL is written in storage, whoever asks",
	"storage/oidc":                     "SQL is written in storage, whoever asks",
	"storage/quarantine":               "SQL is written in storage, whoever asks",
	"storage/live":                     "SQL is written in storage, whoever asks",
	"storage/suspect":                  "SQL is written in storage, whoever asks",
	"storage/distribution/installpage": "SQL is written in storage, whoever asks",
	"storage/step/testfile":            "one form of the documents below storage/step, which slipway-ci reads and writes, too",
	"tasks/admission":                  "a rule without HTTP, like the other rules of tasks: for whatever a process shares out",
	"storage/artifact/inspect":         "one format with its parts below storage/artifact, which stored rows and objects have",
	"storage/symbol/filetype":          "one look at what is below storage/symbol, for those who send files too",
	"storage/symbol/proguard":          "one of the formats below storage/symbol, whose files are stored and whose indexes are objects",
	"storage/symbol/breakpad":          "one of the formats below storage/symbol, whose files are stored and whose indexes are objects",
	"storage/symbol/pdb":               "one of the formats below storage/symbol, whose files are stored and whose indexes are objects",
	"storage/symbol/portablepdb":       "one of the formats below storage/symbol, whose files are stored and whose indexes are objects",
	"storage/symbol/sourcemap":         "one of the formats below storage/symbol, whose files are stored and whose indexes are objects",
	"storage/symbol/wasm":              "one of the formats below storage/symbol, whose files are stored and whose indexes are objects",
	"storage/symbol/unwind":            "one of the formats below storage/symbol, whose files are stored and whose indexes are objects",
}

func TestRoomsOfStorage(t *testing.T) {
	t.Parallel()
	var found []string
	for _, f := range parseFiles(t) {
		if under(f.folder, "storage") && !f.test {
			found = append(found, f.folder)
		}
	}
	slices.Sort(found)
	require.Equal(t, slices.Sorted(maps.Keys(rooms)), slices.Compact(found),
		"a new room below storage needs a line in rooms: is it rows, objects, a format, or a rule of what a row becomes?")
}

// A package lives in the lowest tier that all its importers share. The tiers'
// direction keeps it from being too high; here it is not too low. cmd imports
// what it starts, so its imports do not count.
func TestPackagesLiveWithTheirImporters(t *testing.T) {
	t.Parallel()
	importers := map[string]map[string]bool{} // tiers by folder
	for _, f := range parseFiles(t) {
		if f.test {
			continue
		}
		for _, importPath := range f.imports {
			folder, here := ours(importPath)
			if !here || tierOf(f.folder) == "cmd" {
				continue
			}
			if importers[folder] == nil {
				importers[folder] = map[string]bool{}
			}
			importers[folder][tierOf(f.folder)] = true
		}
	}
	var low []string
	for folder, from := range importers {
		if len(from) == 1 && !from[tierOf(folder)] {
			low = append(low, folder)
			if sharedBelow[folder] == "" {
				t.Errorf("%s: only %v imports it, so it belongs there", folder, slices.Collect(maps.Keys(from)))
			}
		}
	}
	for folder := range sharedBelow {
		require.Contains(t, low, folder, "an exception that is not needed any more")
	}
}

// tierOf returns the top-level folder.
func tierOf(folder string) string {
	tier, _, _ := strings.Cut(folder, "/")
	return tier
}

// The documents name files that exist: a reader follows them.
func TestDocumentsNameFiles(t *testing.T) {
	t.Parallel()
	named := regexp.MustCompile("`((?:api|worker|scheduler|tasks|storage|cmd|migrations)/[\\w/.-]+\\.(?:go|sql))`")
	for document, text := range markdownPages(t) {
		for _, match := range named.FindAllStringSubmatch(text, -1) {
			_, err := os.Stat(filepath.Join(moduleRoot, match[1]))
			require.NoError(t, err, "%s names %s", document, match[1])
		}
	}
}
