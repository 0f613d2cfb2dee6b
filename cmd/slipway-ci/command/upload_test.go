package command

import (
	"bytes"
	"encoding/json"
	"mime"
	"mime/multipart"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/slipway-ci/outcome"
)

// uploaded is what the server answers to an upload.
func uploaded(more map[string]any) map[string]any {
	of := map[string]any{"status": "ok", "build_id": "12", "project_id": "3", "app_name": "Shop", "app_version": "1.4.2",
		"version_code": "142",
		"build_url":    "https://qa.example.com/install/x", "verification": "pending", "warnings": []string{},
		"invalid_groups": []string{}, "task_ids": []string{}, "sha256": fileDigest}
	for name, value := range more {
		of[name] = value
	}
	return of
}

// form reads the form of a request.
func form(t *testing.T, c call) (texts, files map[string]string) {
	t.Helper()
	_, parameters, err := mime.ParseMediaType(c.header.Get("Content-Type"))
	require.NoError(t, err)
	f, err := multipart.NewReader(bytes.NewReader(c.body), parameters["boundary"]).ReadForm(10 << 20)
	require.NoError(t, err)
	texts, files = map[string]string{}, map[string]string{}
	for name, values := range f.Value {
		texts[name] = strings.Join(values, "|")
	}
	for name, list := range f.File {
		in, err := list[0].Open()
		require.NoError(t, err)
		var content bytes.Buffer
		_, err = content.ReadFrom(in)
		require.NoError(t, err)
		files[name] = list[0].Filename + ": " + content.String()
	}
	return texts, files
}

func TestUploadSendsWhatWasAskedFor(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.server.answer("POST /api/upload", answer{body: uploaded(map[string]any{"warnings": []string{"no icon\x1b[2J"},
		"invalid_groups": []string{"Beta"}})})
	w.server.answer("GET /api/v3/projects", answer{body: map[string]any{"projects": []any{map[string]any{"id": 3, "name": "Shop"},
		map[string]any{"id": 4, "name": "Shop Admin"}}}})
	w.file("slipway.yaml", []byte("app: shop\ngroups: [QA, Beta]\nchannel: beta\nnotes: NOTES.md\nmetadata: {arch: arm64}\n"))
	w.file(".git/HEAD", nil)
	w.file("NOTES.md", []byte("- faster"))
	w.file("out/app.apk", []byte("package"))
	w.file("out/mapping.txt", []byte("a.B -> c:"))
	for name, value := range map[string]string{"GITHUB_ACTIONS": "true", "GITHUB_SHA": "c0ffee", "GITHUB_REF_NAME": "main",
		"GITHUB_SERVER_URL": "https://github.com",
		"GITHUB_REPOSITORY": "acme/shop", "GITHUB_RUN_ID": "7", "GITHUB_JOB": "build"} {
		w.env[name] = value
	}
	w.dir = filepath.Join(w.dir, "out") // the settings are found above
	r := w.run("upload", "app.apk", "--mapping", "mapping.txt", "--metadata", "flavour=full", "--notify")
	require.Equal(t, outcome.Passed, r.code, r.err)
	require.Equal(t, "build 12: Shop 1.4.2 (142) https://qa.example.com/install/x\n", r.out)
	require.Contains(t, r.err, "warning: app.apk: no icon [2J")
	require.Contains(t, r.err, `there is no group of testers called "Beta"`)
	calls := w.server.to("POST /api/upload")
	require.Len(t, calls, 1)
	texts, files := form(t, calls[0])
	require.Equal(t, map[string]string{"project_id": "3", "release_notes": "- faster", "groups": "QA,Beta",
		"metadata.arch": "arm64", "metadata.channel": "beta",
		"metadata.commit": "c0ffee", "metadata.branch": "main", "metadata.ci_url": "https://github.com/acme/shop/actions/runs/7",
		"metadata.flavour": "full", "notify": "on"}, texts)
	require.Equal(t, map[string]string{"file": "app.apk: package", "symbols_file": "mapping.txt: a.B -> c:"}, files)
	require.Equal(t, key, calls[0].header.Get("X-Api-Key"))
	require.Regexp(t, "^ci-[0-9a-f]{40}$", calls[0].header.Get("Idempotency-Key"))
	require.Regexp(t, "^slipway-ci/", calls[0].header.Get("User-Agent"))

	r = w.run("upload", "app.apk", "--group", "QA", "--notes", "by hand", "--channel", "stable", "--json")
	require.Equal(t, outcome.Passed, r.code, r.err)
	calls = w.server.to("POST /api/upload")
	texts, _ = form(t, calls[1])
	require.Equal(t, []string{"QA", "by hand", "stable"}, []string{texts["groups"], texts["release_notes"],
		texts["metadata.channel"]}, "flags win over slipway.yaml")
	var document struct{ Uploads []map[string]any }
	require.NoError(t, json.Unmarshal([]byte(r.out), &document), r.out)
	require.Equal(t, "12", document.Uploads[0]["build_id"])
	require.NotEqual(t, calls[0].header.Get("Idempotency-Key"), calls[1].header.Get("Idempotency-Key"), "another upload of the job")
}

// A job that is run again makes no second build, and what is another upload has another key.
func TestKeysOfUploads(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.server.answer("POST /api/upload", answer{body: uploaded(nil)})
	w.file("app.apk", []byte("package"))
	w.file("other.apk", []byte("another"))
	w.file("mapping.txt", []byte("a.B -> c:"))
	for name, value := range map[string]string{"GITLAB_CI": "true", "CI_SERVER_URL": "https://gitlab.com", "CI_PIPELINE_ID": "7",
		"CI_JOB_NAME": "build", "CI_JOB_URL": "https://gitlab.com/1"} {
		w.env[name] = value
	}
	n := 0
	keys := func(args ...string) (keys []string) {
		t.Helper()
		r := w.run(append([]string{"upload"}, args...)...)
		require.Equal(t, outcome.Passed, r.code, r.err)
		calls := w.server.to("POST /api/upload")
		for _, c := range calls[n:] {
			keys = append(keys, c.header.Get("Idempotency-Key"))
		}
		n = len(calls)
		return keys
	}
	first := keys("app.apk", "--mapping", "mapping.txt")
	w.env["CI_JOB_URL"] = "https://gitlab.com/2"
	require.Equal(t, first, keys("app.apk", "--mapping", "mapping.txt"), "the job is run again")
	seen := map[string]string{first[0]: "first"}
	for _, args := range [][]string{{"app.apk"}, {"app.apk", "--group", "QA"}, {"app.apk", "--channel", "beta"},
		{"app.apk", "--notes", "x"}, {"app.apk", "--metadata", "a=b"},
		{"app.apk", "--notify"}, {"app.apk", "--app-version", "2"}, {"app.apk", "--folder", "f"}, {"other.apk"}} {
		for _, k := range keys(args...) {
			require.Empty(t, seen[k], "%v", args)
			seen[k] = strings.Join(args, " ")
		}
	}
	w.file("app.apk", []byte("packagE"))
	require.NotEqual(t, first, keys("app.apk", "--mapping", "mapping.txt"), "a build of the same size")
	w.file("app.apk", []byte("package"))
	w.file("mapping.txt", []byte("a.B -> d:"))
	require.NotEqual(t, first, keys("app.apk", "--mapping", "mapping.txt"), "other symbols")

	require.Equal(t, []string{"mine"}, keys("app.apk", "--idempotency-key", "mine"))
	two := keys("app.apk", "other.apk", "--idempotency-key", "mine")
	require.Len(t, two, 2)
	require.NotEqual(t, two[0], two[1], "each file is a build")
	require.Equal(t, two, keys("app.apk", "other.apk", "--idempotency-key", "mine"))
}

// Where the server has another file under the key, nothing was uploaded.
func TestUploadThatIsAnother(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.file("app.apk", []byte("package"))
	w.server.answer("POST /api/upload", answer{body: uploaded(map[string]any{"sha256": strings.Repeat("0", 64)})})
	r := w.run("upload", "app.apk", "--json")
	require.Equal(t, outcome.Failed, r.code)
	require.Contains(t, r.err, "app.apk: the server has another file under this Idempotency-Key")
	require.JSONEq(t, `{"uploads":[]}`, r.out)
}

func TestUploadOutsideOfCIIsAnotherBuild(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.server.answer("POST /api/upload", answer{status: http.StatusServiceUnavailable,
		header: map[string]string{"Retry-After": "0"}}, answer{body: uploaded(nil)})
	w.file("app.apk", []byte("package"))
	require.Equal(t, outcome.Passed, w.run("upload", "app.apk").code)
	require.Equal(t, outcome.Passed, w.run("upload", "app.apk").code)
	calls := w.server.to("POST /api/upload")
	require.Len(t, calls, 3)
	keys := []string{calls[0].header.Get("Idempotency-Key"), calls[1].header.Get("Idempotency-Key"), calls[2].header.Get("Idempotency-Key")}
	require.Equal(t, keys[0], keys[1], "the same upload, sent again")
	require.NotEqual(t, keys[1], keys[2], "the same file once more is meant")
}

// Nothing is sent before all is looked at.
func TestUploadThatIsWrong(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"empty":            {[]string{"app.apk", "empty.apk"}, "empty.apk is empty: it has 0 bytes"},
		"missing":          {[]string{"none.apk"}, "no such file"},
		"a folder":         {[]string{"folder"}, "folder is a folder"},
		"no file":          {nil, "<file>"},
		"mapping and dsym": {[]string{"app.apk", "--mapping", "app.apk", "--dsym", "app.apk"}, "can't be used together"},
		"no mapping":       {[]string{"app.apk", "--mapping", "none.txt"}, "no such file"},
		"no dSYM in it":    {[]string{"app.apk", "--dsym", "folder"}, "there is no dSYM in it"},
		"no notes":         {[]string{"app.apk", "--notes", "@none.md"}, "release notes: "},
		"no repository":    {[]string{"app.apk", "--notes-from-git"}, "--notes-from-git"},
		"a comma":          {[]string{"app.apk", "--group", "QA,Beta"}, "a comma cannot be sent"},
		"no app":           {[]string{"app.apk", "--app", "Shap"}, `no app is called "Shap"; there is Shop (Android, id 3)`},
		"two apps": {[]string{"app.apk", "--app", "Twin"},
			`2 apps are called "Twin": name one by its id: Twin (Android, id 5), Twin (iOS, id 6)`},
		"mapping of two": {[]string{"app.apk", "app.apk", "--mapping", "app.apk"}, "upload the files one by one"},
		"no threshold":   {[]string{"app.apk", "--part-threshold", "many"}, `"many" is no size`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			shop := map[string]any{"id": 3, "name": "Shop", "platform": "Android"}
			if name == "two apps" {
				w.server.answer("GET /api/v3/projects",
					answer{body: map[string]any{"projects": []any{map[string]any{"id": 5, "name": "Twin", "platform": "Android"},
						map[string]any{"id": 6, "name": "Twin", "platform": "iOS"}}}})
			} else {
				w.server.answer("GET /api/v3/projects", answer{body: map[string]any{"projects": []any{shop}}})
			}
			w.file("app.apk", []byte("package"))
			w.file("empty.apk", nil)
			w.file("folder/x", []byte("x"))
			r := w.run(append([]string{"upload"}, c.args...)...)
			require.Equal(t, outcome.Misused, r.code, r.err)
			require.Contains(t, r.err, c.want)
			require.Empty(t, w.server.to("POST /api/upload"))
		})
	}
	w := newWorld(t)
	w.file("app.apk", []byte("package"))
	w.file("slipway.yaml", []byte("server: x\ngruop: QA\n"))
	r := w.run("upload", "app.apk")
	require.Equal(t, outcome.Misused, r.code)
	require.Contains(t, r.err, `slipway.yaml: line 2: unknown member "gruop", did you mean "group"?`)
}

func TestUploadThatIsRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.file("app.apk", []byte("package"))
	for status, code := range map[int]outcome.Code{400: outcome.Failed, 401: outcome.Refused, 403: outcome.Refused, 404: outcome.Misused,
		409: outcome.Failed, 413: outcome.Failed,
		422: outcome.Failed, 500: outcome.NotAsked} {
		w.server.answer("POST /api/upload", answer{status: status, body: map[string]any{"status": "fail", "code": 105,
			"message": "the file cannot be read"}})
		r := w.run("upload", "app.apk")
		require.Equal(t, code, r.code, "%d: %s", status, r.err)
		require.Contains(t, r.err, "the file cannot be read")
	}
	w.server.answer("POST /api/upload", answer{status: 409, body: map[string]any{"status": "fail", "message": "no"}})
	r := w.run("upload", "app.apk", "--allow-failure")
	require.Equal(t, outcome.Passed, r.code)
	require.Contains(t, r.err, "no")
	require.Contains(t, r.err, "allowed by --allow-failure")
}

func TestUploadWaitsForTheSignature(t *testing.T) {
	t.Parallel()
	task := func(kind, state string) map[string]any {
		return map[string]any{"id": "t-" + kind, "type": kind, "state": state, "error": "the map is cut off"}
	}
	for verification, code := range map[string]outcome.Code{"verified": outcome.Passed, "unsigned": outcome.Passed,
		"failed": outcome.Failed} {
		w := newWorld(t)
		w.file("app.apk", []byte("package"))
		w.server.answer("POST /api/upload", answer{body: uploaded(nil)})
		w.server.answer("GET /api/v3/tasks", answer{body: map[string]any{"tasks": []any{task("build:verify", "queued"),
			task("symbol:index", "queued"), task("build:notify", "queued")}}})
		w.server.answer("GET /api/v3/tasks/t-build:verify", answer{body: map[string]any{"task": task("build:verify", "running")}},
			answer{body: map[string]any{"task": task("build:verify", "succeeded")}})
		w.server.answer("GET /api/v3/tasks/t-symbol:index", answer{body: map[string]any{"task": task("symbol:index", "dead")}})
		w.server.answer("GET /api/v3/builds/12",
			answer{body: map[string]any{"build": map[string]any{"id": 12, "verification": verification, "status": "enabled",
				"status_reason": "digest of AndroidManifest.xml", "cautions": []any{map[string]any{"code": "expires", "text": "expires in 3 days"}}}}})
		r := w.run("upload", "app.apk", "--wait")
		require.Equal(t, code, r.code, r.err)
		require.Contains(t, r.err, "warning: build 12: expires in 3 days")
		require.Contains(t, r.err, "the symbols of build 12 could not be read: the map is cut off")
		require.Empty(t, w.server.to("GET /api/v3/tasks/t-build:notify"), "nobody waits for mail")
		require.Equal(t, "request_id=r-1", strings.Split(w.server.to("GET /api/v3/tasks")[0].path, "&")[1])
		require.Equal(t, 1, w.server.most, "one request at a time")
		if code == outcome.Failed {
			require.Contains(t, r.err, "the signature does not hold: digest of AndroidManifest.xml")
		} else {
			require.Contains(t, r.out, "build 12: inspected, signature "+verification)
		}
	}
}

func TestNotesFromGit(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("there is no git on this machine")
	}
	w := newWorld(t)
	w.server.answer("POST /api/upload", answer{body: uploaded(nil)})
	w.file("app.apk", []byte("package"))
	git := func(args ...string) {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-c", "user.name=a", "-c", "user.email=a@example.com", "-c",
			"commit.gpgsign=false"}, args...)...)
		cmd.Dir = w.dir
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1")
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", out)
	}
	git("init", "-q")
	for _, subject := range []string{"first", "second"} {
		git("commit", "-q", "--allow-empty", "-m", subject)
	}
	notes := func() string {
		t.Helper()
		r := w.run("upload", "app.apk", "--notes-from-git")
		require.Equal(t, outcome.Passed, r.code, r.err)
		calls := w.server.to("POST /api/upload")
		texts, _ := form(t, calls[len(calls)-1])
		return texts["release_notes"]
	}
	require.Regexp(t, `^- second \([0-9a-f]+\)\n- first \([0-9a-f]+\)$`, notes(), "no tag: all of the newest")
	git("tag", "v1")
	git("commit", "-q", "--allow-empty", "-m", "third")
	git("tag", "v2")
	require.Regexp(t, `^- third \([0-9a-f]+\)$`, notes(), "the tag of this build is not since when")
}
