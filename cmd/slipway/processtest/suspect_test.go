package processtest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

// TestSuspectChange uploads two builds of a real repository with their commits, as a CI job does,
// and a crash of the second: the commit that changed the file of its frame is suspected.
func TestSuspectChange(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("there is no git on this machine")
	}
	in := startUp(t, t.TempDir())
	folder := t.TempDir()
	git := func(args ...string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "git", append([]string{"-c", "user.name=Noa", "-c", "user.email=" +
			in.boot.Owner.Email, "-c", "commit.gpgsign=false"}, args...)...)
		cmd.Dir = folder
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1")
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", out)
		return strings.TrimSpace(string(out))
	}
	commit := func(message, name string) string {
		t.Helper()
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(folder, name)), 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(folder, name), []byte(message), 0o600))
		git("add", "--", name)
		git("commit", "-q", "-m", message)
		return git("rev-parse", "HEAD")
	}
	git("init", "-q", "-b", "main")
	upload := func(version string) (up struct {
		BuildID   string `json:"build_id"`
		ProjectID string `json:"project_id"`
	}) {
		t.Helper()
		require.NoError(t, os.WriteFile(filepath.Join(folder, "Shop.ipa"), newIPA(t, "com.example.shop", version, version), 0o600))
		r := runProgram(t, binary, folder, []string{"SLIPWAY_SERVER=" + in.base, "SLIPWAY_KEY=" + in.boot.Owner.APIKey,
			"GITLAB_CI=true", "CI_COMMIT_REF_NAME=main",
			"CI_COMMIT_SHA=" + git("rev-parse", "HEAD")}, "ci", "upload", "Shop.ipa", "--commits-from-git", "--json")
		require.Zero(t, r.code, r.stderr)
		var got struct {
			Uploads []json.RawMessage `json:"uploads"`
		}
		require.NoError(t, json.Unmarshal([]byte(r.stdout), &got), r.stdout)
		require.NoError(t, json.Unmarshal(got.Uploads[0], &up))
		return up
	}
	commit("begin", "shop/cart/pay.py")
	before := upload("1.0")
	guilty := commit("charge twice", "shop/cart/pay.py")
	commit("words", "docs/pay.md")
	first := upload("2.0")

	res, text := in.do(t, http.MethodPut, fmt.Sprintf("/api/v3/crash-projects/%d", in.boot.Crash.Project),
		fmt.Appendf(nil, `{"project_id":%s}`, first.ProjectID), asJSON)
	require.Equal(t, http.StatusOK, res.StatusCode, "%s", text)
	id := in.post(t, in.boot.Crash.Token,
		fmt.Appendf(nil, `{"uuid":%q,"timestamp":%d,"lang":"python","langVersion":"3.11","agent":"a","agentVersion":"1","mainThread":"m",
		"classifiers":["ChargeError"],"attributes":{"error.message":"charged twice","application.version":"2.0"},
		"threads":{"m":{"fault":true,"stack":[{"funcName":"charge","line":7,"sourceCode":"s"},{"funcName":"main","line":9,"sourceCode":"w"}]}},
		"sourceCode":{"s":{"path":"/srv/app/shop/cart/pay.py"},"w":{"path":"/srv/app/shop/work.py"}}}`, uuid.New(), time.Now().Unix()))
	var crash struct {
		Crash symbolicatedCrash `json:"crash"`
	}
	eventually(t, "the crash is read", func() bool {
		in.get(t, "/api/v3/crashes/"+id.String(), &crash)
		return crash.Crash.GroupID != 0
	})
	var got struct {
		Changes struct {
			State      string `json:"state"`
			FirstBuild struct {
				ID int64 `json:"id"`
			} `json:"first_build"`
			BuildBefore struct {
				ID int64 `json:"id"`
			} `json:"build_before"`
			Suspects []struct {
				ID     string `json:"id"`
				Author struct {
					Name   string `json:"name"`
					Member struct {
						Email string `json:"email"`
					} `json:"member"`
				} `json:"author"`
				Reasons []struct {
					What  string   `json:"what"`
					Files []string `json:"files"`
				} `json:"reasons"`
			} `json:"suspects"`
			Others []struct {
				Message string `json:"message"`
			} `json:"others"`
		} `json:"suspect_changes"`
	}
	in.get(t, fmt.Sprintf("/api/v3/crash-groups/%d/suspect-changes", crash.Crash.GroupID), &got)
	changes := got.Changes
	require.Equal(t, "suspects", changes.State)
	require.Equal(t, []string{first.BuildID, before.BuildID}, []string{fmt.Sprint(changes.FirstBuild.ID), fmt.Sprint(changes.BuildBefore.ID)})
	require.Len(t, changes.Suspects, 1)
	require.Equal(t, guilty, changes.Suspects[0].ID)
	require.Equal(t, "Noa", changes.Suspects[0].Author.Name)
	require.Equal(t, in.boot.Owner.Email, changes.Suspects[0].Author.Member.Email)
	require.Equal(t, "crashing_frame_file", changes.Suspects[0].Reasons[0].What)
	require.Equal(t, []string{"shop/cart/pay.py"}, changes.Suspects[0].Reasons[0].Files)
	require.Len(t, changes.Others, 1)
	require.Equal(t, "words", changes.Others[0].Message)

	page := in.fetch(t, fmt.Sprintf("/api/v3/builds/%s/commits", first.BuildID))
	require.Contains(t, string(page), "charge twice")
	require.NotContains(t, string(page), in.boot.Owner.Email, "addresses are only written")
	require.Zero(t, in.signal(t, os.Interrupt))
}
