package command

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/slipway-ci/client"
	"github.com/slipway-qa/slipway/cmd/slipway-ci/outcome"
)

// repository is a real one in the folder of a world.
type repository struct {
	*world
}

func newRepository(t *testing.T) *repository {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("there is no git on this machine")
	}
	r := &repository{newWorld(t)}
	r.server.answer("POST /api/upload", answer{body: uploaded(nil)})
	r.server.answer("PUT /api/v3/builds/12/commits", answer{body: map[string]any{"build_commits": map[string]any{}}})
	r.builds()
	r.file("app.apk", []byte("package"))
	r.git("init", "-q", "-b", "main")
	return r
}

func (r *repository) git(args ...string) string {
	r.t.Helper()
	cmd := exec.Command("git", append([]string{"-c", "user.name=Ann Ünal", "-c", "user.email=ann@example.com", "-c",
		"commit.gpgsign=false"}, args...)...)
	cmd.Dir = r.dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1")
	out, err := cmd.CombinedOutput()
	require.NoError(r.t, err, "%s", out)
	return strings.TrimSpace(string(out))
}

// commit commits changes of files and returns its id.
func (r *repository) commit(message string, files ...string) string {
	r.t.Helper()
	for _, name := range files {
		r.file(name, []byte(message))
		r.git("add", "--", name)
	}
	r.git("commit", "-q", "--allow-empty", "-m", message)
	return r.git("rev-parse", "HEAD")
}

// builds are those that the server has, newest first, as commit and branch.
func (r *repository) builds(list ...[2]string) {
	builds := []any{map[string]any{"id": 12, "metadata": map[string]string{"commit": "1111111111111111111111111111111111111111",
		"branch": "main"}}}
	for i, b := range list {
		builds = append(builds, map[string]any{"id": 11 - i, "metadata": map[string]string{"commit": b[0], "branch": b[1]}})
	}
	r.server.answer("GET /api/v3/projects/3/builds", answer{body: map[string]any{"builds": builds}})
}

// upload uploads and returns what was sent.
func (r *repository) upload(args ...string) (sent client.Commits) {
	r.t.Helper()
	result := r.run(append([]string{"upload", "app.apk"}, args...)...)
	require.Equal(r.t, outcome.Passed, result.code, result.err)
	calls := r.server.to("PUT /api/v3/builds/12/commits")
	require.NotEmpty(r.t, calls)
	require.NoError(r.t, json.Unmarshal(calls[len(calls)-1].body, &sent))
	return sent
}

func subjects(c client.Commits) (list []string) {
	for _, one := range c.Commits {
		list = append(list, one.Message)
	}
	return list
}

func TestCommitsFromGit(t *testing.T) {
	t.Parallel()
	r := newRepository(t)
	first := r.commit("first", "a.c")
	r.commit("second\n\nwith a body", "src/cart/päy 1.c", "src/line\nend.c", "a.c")
	r.git("mv", "a.c", "b.c")
	third := r.commit("third")
	r.git("checkout", "-q", "-b", "side", first)
	r.commit("aside", "c.c")
	r.git("checkout", "-q", "main")
	r.git("merge", "-q", "--no-ff", "-m", "merge", "side")

	sent := r.upload("--commits-from-git")
	require.ElementsMatch(t, []string{"aside", "third", "second", "first"}, subjects(sent), "no build before: the newest, without merges")
	require.Zero(t, sent.Omitted)

	for name, value := range map[string]string{"GITLAB_CI": "true", "CI_COMMIT_REF_NAME": "main"} {
		r.env[name] = value
	}
	r.builds([2]string{"--output=x", "main"}, [2]string{"2222222222222222222222222222222222222222", "main"},
		[2]string{third, "other"}, [2]string{first, "main"})
	sent = r.upload("--commits-from-git")
	require.ElementsMatch(t, []string{"aside", "third", "second"}, subjects(sent), "since the last build of the branch whose commit is here")
	for _, c := range sent.Commits {
		require.Len(t, c.ID, 40)
		require.Equal(t, client.Author{Name: "Ann Ünal", Email: "ann@example.com"}, c.Author)
		require.False(t, c.CommittedAt.IsZero())
		switch c.Message {
		case "second":
			require.ElementsMatch(t, []string{"a.c", "src/cart/päy 1.c"}, c.Paths)
			require.Equal(t, 1, c.PathsOmitted, "a name of two lines is no path that the server takes")
		case "third":
			require.ElementsMatch(t, []string{"a.c", "b.c"}, c.Paths, "a file that was renamed has both names")
		}
	}
	r.builds([2]string{third, "other"})
	require.ElementsMatch(t, []string{"aside"}, subjects(r.upload("--commits-from-git")), "of another branch where the branch has none")
	r.builds([2]string{r.git("rev-parse", "HEAD"), "main"}, [2]string{first, "main"})
	require.Len(t, r.upload("--commits-from-git").Commits, 3, "a build of the same commit is not before it")

	require.ElementsMatch(t, []string{"third", "second"}, subjects(r.upload("--commit-range", first+".."+third)))
	require.ElementsMatch(t, []string{"aside", "third", "second"}, subjects(r.upload("--commit-range", first)))
	require.ElementsMatch(t, []string{"aside"}, subjects(r.upload("--commit-range", third+"..")))
}

// A range that is none ends the command before anything is sent, and nothing of it reaches a shell or
// the options of git.
func TestCommitRangesThatAreNone(t *testing.T) {
	t.Parallel()
	r := newRepository(t)
	r.commit("first")
	for _, text := range []string{"--output=stolen..HEAD", "-x", "$(touch stolen)", "HEAD;touch stolen", "`touch stolen`..HEAD",
		"HEAD..--output=stolen", "a b", "nothing..HEAD", "HEAD...HEAD", "..HEAD", "\n"} {
		result := r.run("upload", "app.apk", "--commit-range="+text)
		require.Equal(t, outcome.Misused, result.code, "%q: %s", text, result.err)
	}
	require.Empty(t, r.server.to("POST /api/upload"))
	require.NoFileExists(t, filepath.Join(r.dir, "stolen"))

	w := newWorld(t)
	w.file("app.apk", []byte("package"))
	if _, err := os.Stat("/.git"); err == nil {
		t.Skip("the folder of tests is in a repository")
	}
	result := w.run("upload", "app.apk", "--commits-from-git")
	require.Equal(t, outcome.Misused, result.code, result.err)
	require.Contains(t, result.err, "--commits-from-git")
	require.Empty(t, w.server.to("POST /api/upload"))
}

// What is longer than the server takes is left out and counted.
func TestManyCommitsFromGit(t *testing.T) {
	t.Parallel()
	r := newRepository(t)
	first := r.commit("first")
	var many []string
	for i := range client.MaxCommitPaths + 7 {
		many = append(many, filepath.Join("f", strings.Repeat("x", i%50+1), itoa(int64(i))+".c"))
	}
	r.commit("files", many...)
	for range client.MaxCommits {
		r.git("commit", "-q", "--allow-empty", "-m", strings.Repeat("ö", 400))
	}
	sent := r.upload("--commit-range", first)
	require.Len(t, sent.Commits, client.MaxCommits)
	require.Equal(t, 1, sent.Omitted)
	require.Equal(t, strings.Repeat("ö", client.MaxCommitMessage), sent.Commits[0].Message)
	sent = r.upload("--commit-range", first+".."+"HEAD~"+itoa(client.MaxCommits))
	require.Len(t, sent.Commits, 1)
	require.Len(t, sent.Commits[0].Paths, client.MaxCommitPaths)
	require.Equal(t, 7, sent.Commits[0].PathsOmitted)
}

func TestFitOfCommits(t *testing.T) {
	t.Parallel()
	var list client.Commits
	for range client.MaxCommits {
		c := client.Commit{}
		for range client.MaxCommitPaths {
			c.Paths = append(c.Paths, strings.Repeat("p", client.MaxCommitPath))
		}
		list.Commits = append(list.Commits, c)
	}
	list.Commits[0].Paths = list.Commits[0].Paths[:1]
	fit(&list)
	require.LessOrEqual(t, sizeOf(&list), client.MaxCommitBytes)
	require.Equal(t, []int{1, 0}, []int{len(list.Commits[0].Paths), list.Commits[0].PathsOmitted}, "what changes little keeps all")
	require.Equal(t, client.MaxCommitPaths, len(list.Commits[1].Paths)+list.Commits[1].PathsOmitted)
	require.NotEmpty(t, list.Commits[1].Paths)
}

func FuzzHistory(f *testing.F) {
	f.Add("\x00be6501a6419b528de5bb7760cd9b3893f770ca13\x00A\x00a@x\x002026-11-30T02:48:00+00:00\x00ren\x00\nx.txt\x00y.txt\x00")
	f.Add("\x00\x00\x00\x00\x00\x00\x00")
	f.Fuzz(func(t *testing.T, text string) {
		for _, c := range parseHistory(text) {
			if !isFullCommit(c.ID) || len(c.Paths) > client.MaxCommitPaths {
				t.Fatalf("%+v", c)
			}
		}
	})
}
