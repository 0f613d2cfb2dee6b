package suspect_test

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest/fixture"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/crash"
	"github.com/slipway-qa/slipway/storage/distribution/buildcommit"
	"github.com/slipway-qa/slipway/storage/suspect"
)

// world has an app whose builds come with commits, and a crash project of it.
type world struct {
	*fixture.Fixture
	project int64
}

func newWorld(t *testing.T) *world {
	w := &world{Fixture: fixture.New(t)}
	w.project = w.Org.CrashProject("app")
	return w
}

// build uploads a build of a commit on a branch, with commits that it came with (nil: none are sent).
func (w *world) build(version, branch, commit string, commits ...buildcommit.Commit) int64 {
	w.T.Helper()
	u := w.NewUpload(fixture.APK("com.example.shop", version, version))
	u.Metadata = map[string]string{"branch": branch, "commit": commit}
	up := w.Upload(u)
	w.Exec(`update crash_projects set project_id = $1 where id = $2`, up.Project.ID, w.project)
	if commits != nil {
		w.set(up.Build.ID, commits...)
	}
	return up.Build.ID
}

func (w *world) set(build int64, commits ...buildcommit.Commit) {
	w.T.Helper()
	w.Must(func(ctx context.Context, tx *storage.Tx) error {
		return buildcommit.Set(ctx, tx, w.Org.Member.Writer, build, &buildcommit.Commits{Commits: commits})
	})
}

func change(id, email string, paths ...string) buildcommit.Commit {
	return buildcommit.Commit{ID: id + strings.Repeat("0", 40-len(id)), AuthorName: "somebody", AuthorEmail: email,
		At: time.Unix(1_700_000_000, 0), Message: id, Paths: paths}
}

// crash records a crash of a version and returns its group.
func (w *world) crash(key, version string) (group int64) {
	w.T.Helper()
	id, err := uuid.NewV7()
	require.NoError(w.T, err)
	c := crash.Crash{ID: id, ProjectID: w.project, UUID: uuid.New(), State: crash.Processed, Format: "json",
		OccurredAt: time.Now(), ReceivedAt: time.Now(),
		Duplicates: 1, Attributes: `{}`, Version: version, Build: crash.BuildRef{Version: version},
		Group: &crash.Grouping{Key: sha256.Sum256([]byte(key)), Algorithm: 1, Title: key}}
	w.Must(func(ctx context.Context, tx *storage.Tx) error {
		list := []crash.Crash{c}
		if err := crash.Lock(ctx, tx, list); err != nil {
			return err
		}
		return crash.Record(ctx, tx, w.Org.ID, list)
	})
	return w.ID(`select id from crash_groups where title = $1`, key)
}

func (w *world) find(group int64, frames ...suspect.Frame) *suspect.Changes {
	w.T.Helper()
	found, err := suspect.Find(fixture.Context(w.T), w.DB, w.Org.ID, group, frames)
	require.NoError(w.T, err)
	return found
}

func messages(list []suspect.Ranked) (texts []string) {
	for _, c := range list {
		texts = append(texts, c.Message)
	}
	return texts
}

func TestSuspectsBetweenBuilds(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	own := true
	pay := suspect.Frame{Function: "pay", File: "/builds/x/src/cart/pay.c", Own: &own}
	old := w.build("1", "main", "a1", change("c1", "", "src/cart/pay.c"))
	w.build("2", "feature", "b1", change("f1", "", "src/cart/pay.c"))
	w.build("3", "main", "a1") // of the same commit as 1: no code is before or behind it
	between := w.build("4", "main", "a2", change("c2", "MEMBER@acme.example.com", "src/cart/pay.c"), change("c1", "", "src/cart/pay.c"))
	group := w.crash("k", "4")
	found := w.find(group, pay)
	require.Equal(t, suspect.Found, found.State)
	require.Equal(t, between, found.Range.First.ID)
	require.Equal(t, w.ID(`select max(id) from builds where version = '3'`), found.Range.Before.ID)
	// The build 3 has no list, and 1 is no part of the range: what 4 says counts.
	require.Equal(t, []string{"c2", "c1"}, messages(found.Suspects))
	require.Equal(t, w.Org.Member.ID, found.Member(&found.Suspects[0].Commit).ID)
	require.Nil(t, found.Member(&found.Suspects[1].Commit))

	// What the build before has too is not new in the first.
	w.set(w.ID(`select max(id) from builds where version = '3'`), change("c1", ""))
	require.Equal(t, []string{"c2"}, messages(w.find(group, pay).Suspects))

	// Nothing matches: the range, and nobody is suspected.
	found = w.find(group, suspect.Frame{Function: "pay", File: "/builds/x/src/cart/repay.c", Own: &own})
	require.Equal(t, suspect.Found, found.State, "the folder is a reason")
	found = w.find(group, suspect.Frame{Function: "pay", File: "/builds/x/src/other/pay.h", Own: &own})
	require.Equal(t, suspect.NoMatch, found.State)
	require.Empty(t, found.Suspects)
	require.Equal(t, []string{"c2"}, messages(found.Others))

	// A build of another channel between two of one belongs to the range, one of another branch does not.
	beta := func(version, branch, commit string, commits ...buildcommit.Commit) {
		u := w.NewUpload(fixture.APK("com.example.shop", version, version))
		u.Metadata = map[string]string{"branch": branch, "commit": commit, "channel": "beta"}
		w.set(w.Upload(u).Build.ID, commits...)
	}
	beta("5", "main", "a3", change("c3", "", "src/cart/pay.c"))
	beta("6", "feature", "b2", change("f2", "", "src/cart/pay.c"))
	w.build("7", "main", "a4", change("c4", "", "x"))
	found = w.find(w.crash("l", "7"), pay)
	require.Equal(t, between, found.Range.Before.ID)
	require.Equal(t, []string{"c3"}, messages(found.Suspects))
	require.Equal(t, []string{"c4"}, messages(found.Others))
	require.False(t, found.Incomplete)

	// Without commits, without a build, of a build that is gone.
	w.build("8", "main", "a5")
	found = w.find(w.crash("m", "8"), pay)
	require.Equal(t, suspect.NoCommits, found.State)
	require.True(t, found.Incomplete)
	require.Equal(t, suspect.NoBuild, w.find(w.crash("n", "unknown"), pay).State)
	w.Exec(`update builds set deleted_at = now() where id = $1`, between)
	require.Equal(t, suspect.NoBuild, w.find(group, pay).State)

	// The first of all has its own; those of another organization are nobody's.
	found = w.find(w.crash("o", "1"), pay)
	require.Nil(t, found.Range.Before)
	require.Equal(t, old, found.Range.First.ID)
	require.Equal(t, []string{"c1"}, messages(found.Suspects))
	_, err := suspect.Find(t.Context(), w.DB, w.Rival.ID, group, nil)
	require.ErrorIs(t, err, storage.ErrNotFound)
}

// Blocked people and testers are no members whom a commit is shown of.
func TestMembersOfCommits(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	tester := w.Org.NewUser("tester", account.Tester)
	w.build("1", "", "", change("c1", "member@acme.example.com", "a/b.c"), change("c2", "tester@acme.example.com", "a/b.c"),
		change("c3", "member@rival.example.com", "a/b.c"))
	group := w.crash("k", "1")
	found := w.find(group, suspect.Frame{File: "/x/a/b.c"})
	require.Len(t, found.Suspects, 3)
	of := map[string]bool{}
	for i := range found.Suspects {
		of[found.Suspects[i].Message] = found.Member(&found.Suspects[i].Commit) != nil
	}
	require.Equal(t, map[string]bool{"c1": true, "c2": false, "c3": false}, of)
	require.NotZero(t, tester.ID)
	w.Exec(`update memberships set blocked_at = now() where user_id = $1`, w.Org.Member.ID)
	found = w.find(group, suspect.Frame{File: "/x/a/b.c"})
	for i := range found.Suspects {
		require.Nil(t, found.Member(&found.Suspects[i].Commit))
	}
}

// The lists are bounded, and so are the builds that are read; each statement reads an index.
func TestManyCommitsAreBounded(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.build("0", "main", "a0")
	for i := range 25 {
		var list []buildcommit.Commit
		for j := range buildcommit.MaxCommits {
			list = append(list, change(fmt.Sprintf("%04x%04x", i+1, j), "", "src/cart/pay.c"))
		}
		u := w.NewUpload(fixture.APK("com.example.shop", fmt.Sprint(i+1), "1"))
		u.Metadata = map[string]string{"branch": "main", "commit": fmt.Sprintf("a%d", i+1), "channel": fmt.Sprint("nightly", i)}
		if i == 24 {
			delete(u.Metadata, "channel")
		}
		w.set(w.Upload(u).Build.ID, list...)
	}
	found := w.find(w.crash("k", "25"), suspect.Frame{File: "/x/src/cart/pay.c"})
	require.Len(t, found.Range.Builds, 20)
	require.True(t, found.Range.Cut)
	require.True(t, found.Incomplete)
	require.Len(t, found.Suspects, 10)
	require.Empty(t, found.Others)
	require.Equal(t, 20*buildcommit.MaxCommits-10, found.Omitted)
}

func TestPlansOfSuspectChanges(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	up := w.App("com.example.shop")
	// 50,000 builds of 100 apps; the app has 500 of them.
	w.Exec(`insert into projects (organization_id, team_id, token, name, package_name, platform, landing_page_mode)
		select organization_id, team_id, 'p' || n, 'p' || n, 'p' || n, platform, landing_page_mode from projects, generate_series(1, 100) n
		where id = $1`, up.Project.ID)
	w.Exec(`insert into builds (organization_id, project_id, token, app_name, version, platform, kind, file_id, file_name, metadata)
		select b.organization_id, (select min(id) from projects) + n % 101, 'b' || n, b.app_name, n::text, b.platform, b.kind, b.file_id,
			b.file_name, '{"branch":"main"}'
		from builds b, generate_series(1, 50000) n where b.id = $1`, up.Build.ID)
	w.Exec(`insert into build_commits (build_id, organization_id, commits) select id, organization_id, '[]' from builds`)
	w.Exec(`analyze`)
	build := w.ID(`select max(id) from builds where project_id = $1`, up.Project.ID)
	for name, query := range map[string]string{"range": buildcommit.RangeQuery, "commits": buildcommit.Query} {
		var plan []byte
		args := []any{w.Org.ID, build, 1001}
		if name == "commits" {
			args = []any{fmt.Sprintf("{%d}", build), w.Org.ID}
		}
		require.NoError(t, w.DB.GetContext(t.Context(), &plan, "explain (analyze, format json) "+query, args...))
		require.NotContains(t, string(plan), "Seq Scan", "%s: %s", name, plan)
		var read []struct {
			Time float64 `json:"Execution Time"`
		}
		require.NoError(t, json.Unmarshal(plan, &read))
		t.Logf("%s: %.2f ms", name, read[0].Time)
	}
}
