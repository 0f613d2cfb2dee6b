package processtest

import (
	"bytes"
	"context"
	"crypto/sha256"
	little "encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/api/auth/issuer/issuertest"
	"github.com/slipway-qa/slipway/cmd/localservice/servicetest"
)

// ciService is a CI service whose file docs/ci.md shows.
type ciService struct {
	name  string // the heading of its chapter
	steps func(t *testing.T, file string) []pipelineStep
	// shell is how the service runs a script, which it writes to a file first.
	shell []string
	// variables are what the service sets in each job, and the team in its settings.
	variables func(p *pipelines, repository string) map[string]string
	// refused is what the last step rightly ends with, as this machine cannot sign for Apple's
	// devices; "" for a job that passes.
	refused string
}

// ciServices are all of them, with what their documentation says that a job has.
var ciServices = []ciService{
	{"GitHub Actions", githubSteps, []string{"bash", "-e"}, func(p *pipelines, _ string) map[string]string {
		return map[string]string{"GITHUB_ACTIONS": "true", "GITHUB_SERVER_URL": "https://github.com", "GITHUB_REPOSITORY": "acme/app",
			"GITHUB_RUN_ID": "17", "GITHUB_JOB": "slipway", "GITHUB_SHA": commitOfJobs, "GITHUB_REF_NAME": "main",
			"GITHUB_STEP_SUMMARY":            filepath.Join(p.folder, "summary.md"),
			"ACTIONS_ID_TOKEN_REQUEST_URL":   p.issuer.URL + "/token?api-version=2.0",
			"ACTIONS_ID_TOKEN_REQUEST_TOKEN": "of-the-job"}
	}, ""},
	{"GitLab", gitlabSteps, []string{"sh", "-e"}, func(p *pipelines, _ string) map[string]string {
		return map[string]string{"GITLAB_CI": "true", "CI_SERVER_URL": "https://gitlab.com", "CI_PIPELINE_ID": "18", "CI_JOB_NAME": "slipway",
			"CI_COMMIT_SHA": commitOfJobs, "CI_COMMIT_REF_NAME": "main", "CI_JOB_URL": "https://gitlab.com/acme/app/-/jobs/1",
			"SLIPWAY_ID_TOKEN": p.issuer.Token(nil), "SLIPWAY_OIDC": p.oidc, "SLIPWAY_SERVER": p.in.base, "TOOLS_URL": p.files}
	}, ""},
	{"Jenkins", jenkinsSteps, []string{"sh", "-xe"}, func(*pipelines, string) map[string]string {
		return map[string]string{"JENKINS_URL": "https://jenkins.example.com/", "BUILD_URL": "https://jenkins.example.com/job/app/19/",
			"GIT_COMMIT": commitOfJobs, "GIT_BRANCH": "main", "STAGE_NAME": "Slipway"}
	}, ""},
	{"Bitrise", bitriseSteps, []string{"bash"}, func(p *pipelines, _ string) map[string]string {
		return map[string]string{"BITRISE_IO": "true", "BITRISE_BUILD_SLUG": "20", "BITRISE_BUILD_URL": "https://app.bitrise.io/build/20",
			"BITRISE_GIT_COMMIT": commitOfJobs, "BITRISE_GIT_BRANCH": "main", "BITRISE_TRIGGERED_WORKFLOW_ID": "primary",
			"SLIPWAY_SERVER": p.in.base, "TOOLS_URL": p.files, "SLIPWAY_KEY": p.in.boot.Owner.APIKey}
	}, ""},
	{"Xcode Cloud", xcodeSteps, []string{"sh"}, func(p *pipelines, repository string) map[string]string {
		return map[string]string{"CI_XCODE_CLOUD": "TRUE", "CI_BUILD_ID": "21", "CI_WORKFLOW": "Release",
			"CI_COMMIT": commitOfJobs, "CI_BRANCH": "main",
			"CI_XCODEBUILD_ACTION": "archive", "CI_PRIMARY_REPOSITORY_PATH": repository,
			"CI_ARCHIVE_PATH":           filepath.Join(repository, "App.xcarchive"),
			"CI_AD_HOC_SIGNED_APP_PATH": filepath.Join(repository, "signed"),
			"SLIPWAY_SERVER":            p.in.base, "TOOLS_URL": p.files, "SLIPWAY_KEY": p.in.boot.Owner.APIKey}
	}, "the signature does not hold"},
	{"CircleCI", circleSteps, []string{"bash", "-eo", "pipefail"}, func(p *pipelines, _ string) map[string]string {
		return map[string]string{"CIRCLECI": "true", "CIRCLE_PIPELINE_ID": "22", "CIRCLE_JOB": "slipway",
			"CIRCLE_SHA1": commitOfJobs, "CIRCLE_BRANCH": "main",
			"CIRCLE_BUILD_URL": "https://circleci.com/gh/acme/app/22", "CIRCLE_OIDC_TOKEN_V2": p.issuer.Token(nil),
			"SLIPWAY_OIDC": p.oidc, "SLIPWAY_SERVER": p.in.base, "TOOLS_URL": p.files}
	}, ""},
	{"Azure Pipelines", azureSteps, []string{"bash", "--noprofile", "--norc"}, func(*pipelines, string) map[string]string {
		return map[string]string{"TF_BUILD": "True", "SYSTEM_COLLECTIONURI": "https://dev.azure.com/acme/",
			"SYSTEM_TEAMPROJECTID": "7", "SYSTEM_TEAMPROJECT": "app",
			"BUILD_BUILDID": "23", "SYSTEM_JOBNAME": "slipway", "BUILD_SOURCEVERSION": commitOfJobs, "BUILD_SOURCEBRANCHNAME": "main"}
	}, ""},
}

// commitOfJobs is what services say that they build.
const commitOfJobs = "0123456789abcdef0123456789abcdef01234567"

// pipelines is an installation that the jobs of a team talk to.
type pipelines struct {
	t      *testing.T
	in     *installation
	folder string
	files  string // address of the folder that make release writes
	issuer *issuertest.Issuer
	oidc   string // configuration key
}

// Each file of docs/ci.md works as it stands: its commands run as the service runs them, with
// the variables that the service and the file set, in a repository whose build makes a package.
// The build is there afterwards, with the job's commit and a gate that is green.
func TestPipelines(t *testing.T) {
	t.Parallel()
	p := newPipelines(t)
	for _, service := range ciServices {
		t.Run(service.name, func(t *testing.T) {
			repository := p.repository(t)
			variables := service.variables(p, repository)
			steps := service.steps(t, pipelineFile(t, service.name))
			for i, step := range steps {
				out, err := p.step(t, service, step, variables, repository)
				require.NotContains(t, out, p.in.boot.Owner.APIKey)
				if service.refused != "" && i == len(steps)-1 {
					require.ErrorContains(t, err, "exit status 1", "%s", out)
					require.Contains(t, out, service.refused)
					break
				}
				require.NoError(t, err, "step %d:\n%s\n%s", i+1, step.script, out)
			}
			p.check(t, service, repository)
		})
	}
	summary, err := os.ReadFile(filepath.Join(p.folder, "summary.md"))
	require.NoError(t, err)
	require.Contains(t, string(summary), "Smoke")
	require.Zero(t, p.in.signal(t, os.Interrupt))
	checkNoSecrets(t, p.in)
}

func newPipelines(t *testing.T) *pipelines {
	t.Helper()
	p := &pipelines{t: t, in: startUp(t, t.TempDir()), folder: t.TempDir(), issuer: issuertest.New()}
	t.Cleanup(p.issuer.Close)
	p.issuer.Serve("/token", func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer of-the-job" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"value": p.issuer.Token(map[string]any{"aud": r.URL.Query().Get("audience")})})
	})
	p.release()
	var saved struct {
		OIDC struct {
			Key string `json:"config_key"`
		} `json:"oidc"`
	}
	p.post("/api/v3/settings/oidc", http.StatusOK, obj{"issuer_url": p.issuer.URL, "audience": "slipway",
		"required_claims": obj{"repository": []string{"acme/app"}}}, &saved)
	p.oidc = saved.OIDC.Key
	p.smoke()
	return p
}

// release is what make release writes, served as a bucket serves it: the program, under the
// names of the machines of the services.
func (p *pipelines) release() {
	t := p.t
	program, err := os.ReadFile(pipelineBinary)
	require.NoError(t, err)
	sum := sha256.Sum256(program)
	folder := filepath.Join(p.folder, "release")
	require.NoError(t, os.Mkdir(folder, 0o755))
	var sums strings.Builder
	for _, name := range []string{"slipway-ci-linux-amd64", "slipway-ci-darwin-arm64"} {
		require.NoError(t, os.WriteFile(filepath.Join(folder, name), program, 0o600))
		fmt.Fprintf(&sums, "%s  %s\n", hex.EncodeToString(sum[:]), name)
	}
	require.NoError(t, os.WriteFile(filepath.Join(folder, "SHA256SUMS"), []byte(sums.String()), 0o600))
	server := httptest.NewServer(http.FileServer(http.Dir(folder)))
	t.Cleanup(server.Close)
	p.files = server.URL
}

// post sends JSON with the owner's key.
func (p *pipelines) post(path string, want int, body, into any) {
	p.t.Helper()
	p.send(http.MethodPost, path, want, body, into)
}

func (p *pipelines) send(method, path string, want int, body, into any) {
	p.t.Helper()
	doc, err := json.Marshal(body)
	require.NoError(p.t, err)
	res, text := p.in.do(p.t, method, path, doc, asJSON)
	require.Equal(p.t, want, res.StatusCode, "%s %s: %s", method, path, text)
	if into != nil {
		require.NoError(p.t, json.Unmarshal(text, into), "%s", text)
	}
}

// smoke makes the suite that the pipelines run, and an app whose gate asks for it. The group of
// testers is the one that slipway.yaml names.
func (p *pipelines) smoke() {
	t := p.t
	s := newTester(p.in)
	var made struct{ ID string }
	s.ok(t, http.StatusCreated, http.MethodPost, "/testcases", obj{"name": "It answers",
		"runSettings": obj{"testUrl": p.in.base + "/healthz", "target": obj{"capabilities": obj{"browserName": "chrome"}}},
		"steps":       []obj{{"tool": obj{"type": "pause", "args": obj{"time": 1}}}}}, &made)
	var suite struct{ ID string }
	s.ok(t, http.StatusCreated, http.MethodPost, "/testsuites", obj{"name": "Smoke", "testCases": []string{made.ID}}, &suite)
	p.post("/api/v3/groups", http.StatusCreated, obj{"name": "QA Team"}, nil)
	for _, path := range []string{demoAPK(t), p.ipa(t)} {
		var up struct {
			ProjectID json.Number `json:"project_id"`
		}
		content, err := os.ReadFile(path)
		require.NoError(t, err)
		body, kind := form(t, field{name: "file", file: filepath.Base(path), value: string(content)})
		res, text := p.in.do(t, http.MethodPost, "/api/upload", body.Bytes(), func(r *http.Request) { r.Header.Set("Content-Type", kind) })
		require.Equal(t, http.StatusOK, res.StatusCode, "%s", text)
		require.NoError(t, json.Unmarshal(text, &up))
		p.send(http.MethodPut, "/api/v3/projects/"+up.ProjectID.String()+"/gate-policy", http.StatusOK, policyOfPipelines(path, suite.ID), nil)
	}
}

// policyOfPipelines asks what can be known of a build at once: the signature of the package for
// Android, which is a real one, and the suite on it; of the other, which nobody signed, its size.
func policyOfPipelines(path, suite string) obj {
	if strings.HasSuffix(path, ".ipa") {
		return obj{"conditions": []obj{{"name": "small", "type": "size", "max_bytes": 100 << 20}}}
	}
	return obj{"conditions": []obj{{"name": "signed", "type": "signature"}, {"name": "smoke", "type": "suites", "suite_ids": []string{suite}}},
		"run_suites": []obj{{"suite_id": suite}}, "hold_notifications": true}
}

// demoAPK is the path of a real package for Android.
func demoAPK(t *testing.T) string {
	t.Helper()
	return filepath.Join(servicetest.NodeModules(t, "android-apidemos"), "android-apidemos", "apks", "ApiDemos-debug.apk")
}

func (p *pipelines) ipa(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "Shop.ipa")
	require.NoError(t, os.WriteFile(path, newIPA(t, "com.example.shop", "2.0", "20"), 0o600))
	return path
}

// dsym is the file of a dSYM: a Mach-O header of that type with a UUID (mach-o/loader.h), and no
// debug information.
func dsym() []byte {
	var file []byte
	for _, word := range []uint32{0xfeedfacf, 0x0100000c, 0, 10 /* MH_DSYM */, 1, 24, 0, 0, 0x1b /* LC_UUID */, 24, 1, 2, 3, 4} {
		file = little.LittleEndian.AppendUint32(file, word)
	}
	return file
}

// gradle stands for the build of an app: it makes a package and its mapping.
const gradle = `#!/bin/sh
set -e
[ "$1" = assembleRelease ]
mkdir -p app/build/outputs/apk/release app/build/outputs/mapping/release
cp "$PREBUILT_APK" app/build/outputs/apk/release/app-release.apk
printf 'com.example.Cart -> a.a:\n    1:1:void add(int):10:10 -> a\n' > app/build/outputs/mapping/release/mapping.txt
`

// repository is a repository with a build, its settings and two commits.
func (p *pipelines) repository(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	write := func(path string, mode os.FileMode, text string) {
		path = filepath.Join(folder, path)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(text), mode))
	}
	write("gradlew", 0o755, gradle)
	write("slipway.yaml", 0o644, "groups: [QA Team]\n")
	write(".gitignore", 0o644, "app\nslipway-ci*\nSHA256SUMS\n")
	ipa, err := os.ReadFile(p.ipa(t))
	require.NoError(t, err)
	write("signed/App.ipa", 0o644, string(ipa))
	write("App.xcarchive/dSYMs/App.app.dSYM/Contents/Resources/DWARF/App", 0o644, string(dsym()))
	for _, args := range [][]string{{"init", "-q", "-b", "main"}, {"add", "."}, {"commit", "-q", "-m", "First"}, {"tag", "v1"},
		{"commit", "-q", "--allow-empty", "-m", "Sort the cart by price"}} {
		git := exec.CommandContext(t.Context(), "git", args...)
		git.Dir = folder
		git.Env = append(typed(os.DevNull), "GIT_AUTHOR_NAME=A", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=A",
			"GIT_COMMITTER_EMAIL=a@example.com")
		out, err := git.CombinedOutput()
		require.NoError(t, err, "%s", out)
	}
	return folder
}

// step runs a script as the service does: written to a file, by its shell, in the repository.
func (p *pipelines) step(t *testing.T, service ciService, step pipelineStep, variables map[string]string,
	repository string) (string, error) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "step.sh")
	require.NoError(t, os.WriteFile(file, []byte(step.script), 0o600))
	ctx, cancel := context.WithTimeout(t.Context(), pageLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, service.shell[0], append(service.shell[1:], file)...)
	cmd.Dir = repository
	cmd.Env = append(typed(os.DevNull), "CI=true", "PREBUILT_APK="+demoAPK(t))
	all := maps.Clone(variables)
	maps.Copy(all, step.variables)
	for name, value := range all {
		cmd.Env = append(cmd.Env, name+"="+p.fill(t, value))
	}
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	return out.String(), err
}

// fill is the value of a variable of a file: what the team has set for its name, in place of
// what stands there for it.
func (p *pipelines) fill(t *testing.T, value string) string {
	t.Helper()
	for placeholder, text := range map[string]string{
		"${{ vars.SLIPWAY_SERVER }}": p.in.base, "${{ vars.SLIPWAY_OIDC }}": p.oidc, "${{ vars.TOOLS_URL }}": p.files,
		"https://qa.example.com": p.in.base, "https://files.example.com/slipway-ci": p.files,
		"slipway-key": p.in.boot.Owner.APIKey, "$(SLIPWAY_KEY)": p.in.boot.Owner.APIKey,
	} {
		if value == placeholder {
			return text
		}
	}
	require.NotContains(t, value, "${{")
	return value
}

// check looks at what a pipeline left: a build of the commit, with the notes from git and a gate
// that is green, and the report of its tests.
func (p *pipelines) check(t *testing.T, service ciService, repository string) {
	t.Helper()
	var projects struct {
		Projects []struct {
			Platform string
			Latest   struct {
				ID int64 `json:"id"`
			} `json:"latest_build"`
		}
	}
	p.in.get(t, "/api/v3/projects", &projects)
	want := "Android"
	if service.name == "Xcode Cloud" {
		want = "iOS"
	}
	for _, project := range projects.Projects {
		if project.Platform != want {
			continue
		}
		var build struct {
			Build struct {
				Notes    string            `json:"release_notes"`
				Metadata map[string]string `json:"metadata"`
			}
		}
		p.in.get(t, fmt.Sprintf("/api/v3/builds/%d", project.Latest.ID), &build)
		require.Equal(t, commitOfJobs, build.Build.Metadata["commit"])
		require.Equal(t, "main", build.Build.Metadata["branch"])
		require.Contains(t, build.Build.Notes, "Sort the cart by price")
		require.NotContains(t, build.Build.Notes, "First")
		var gate struct {
			Gate struct{ State string }
		}
		p.in.get(t, fmt.Sprintf("/api/v3/builds/%d/gate?wait=60", project.Latest.ID), &gate)
		require.Equal(t, "pass", gate.Gate.State)
		if service.name == "Xcode Cloud" {
			return
		}
		reports, err := filepath.Glob(filepath.Join(repository, "results*"))
		require.NoError(t, err)
		require.NotEmpty(t, reports)
		return
	}
	t.Fatalf("no app for %s", want)
}
