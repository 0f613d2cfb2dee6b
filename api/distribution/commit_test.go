package distribution_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/distribution/buildcommit"
)

const commitID = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"

// commitsOf is a body with commits.
func commitsOf(commits ...string) string { return `{"commits":[` + strings.Join(commits, ",") + `]}` }

func oneCommit(members string) string {
	return fmt.Sprintf(`{"id":%q,"committed_at":"2026-01-02T04:04:05+01:00"%s}`, commitID, members)
}

func TestCommitsOfABuild(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	b := w.build().Build
	path := p("/api/v3/builds/%d/commits", b.ID)
	got := w.ok(w.neighbor, 200, "GET", path, "")["build_commits"].(map[string]any)
	require.Empty(t, got["commits"])
	require.Nil(t, got["set_at"])

	sent := commitsOf(strings.Replace(oneCommit(""), commitID, strings.ToUpper(commitID), 1),
		`{"id":"abcdef0","author":{"name":" Ann ","email":"ann@example.com"},`+
			`"committed_at":"2026-01-01T00:00:00Z","message":"Pay once","paths":["a/b.kt","ä b.c"],"paths_omitted":3}`)
	put := w.ok(w.member, 200, "PUT", path, strings.Replace(sent, `"commits"`, `"omitted":4,"commits"`, 1))["build_commits"].(map[string]any)
	got = w.ok(w.neighbor, 200, "GET", path, "")["build_commits"].(map[string]any)
	require.Equal(t, put["commits"], got["commits"])
	require.EqualValues(t, 4, got["omitted"])
	require.EqualValues(t, b.ID, got["build_id"])
	list := got["commits"].([]any)
	require.Equal(t, map[string]any{"id": commitID, "author": map[string]any{"name": ""}, "committed_at": "2026-01-02T03:04:05Z",
		"message": "", "paths": []any{}, "paths_omitted": 0.0}, list[0])
	require.Equal(t, map[string]any{"id": "abcdef0", "author": map[string]any{"name": "Ann"},
		"committed_at": "2026-01-01T00:00:00Z", "message": "Pay once",
		"paths": []any{"a/b.kt", "ä b.c"}, "paths_omitted": 3.0}, list[1], "without the mail address")
	require.Equal(t, 1, w.count(`select count(*) from audit_events where detail ->> 'commits' = '2'`))

	w.refused(w.neighbor, 403, "PUT", path, sent)
	w.refused(w.stranger, 404, "PUT", path, sent)
	w.refused(w.stranger, 404, "GET", path, "")
	require.Equal(t, got, w.ok(w.member, 200, "GET", path, "")["build_commits"], "what was refused changed nothing")

	many := make([]string, buildcommit.MaxCommits+1)
	for i := range many {
		many[i] = fmt.Sprintf(`{"id":"%07x","committed_at":"2026-01-01T00:00:00Z"}`, i)
	}
	long := strings.Repeat("x", 401)
	paths := func(n, length int) string {
		list := make([]string, n)
		for i := range list {
			list[i] = fmt.Sprintf("%q", fmt.Sprintf("%0*d", length, i))
		}
		return `,"paths":[` + strings.Join(list, ",") + `]`
	}
	heavy := make([]string, 20)
	for i := range heavy {
		heavy[i] = fmt.Sprintf(`{"id":"%07x","committed_at":"2026-01-01T00:00:00Z"%s}`, i, paths(100, 300))
	}
	for body, member := range map[string]string{
		`{}`:                                   "commits: ",
		`{"commits":null}`:                     "commits: ",
		`{"commits":{}}`:                       "commits",
		`{"commits":[],"omitted":-1}`:          "omitted: ",
		`{"commits":[],"ommitted":1}`:          "ommitted",
		commitsOf(oneCommit(`,"url":1`)):       "url",
		commitsOf(`{"id":"` + commitID + `"}`): "commits[0].committed_at: ",
		commitsOf(`{"id":"abc","committed_at":"2026-01-01T00:00:00Z"}`):     "commits[0].id: ",
		commitsOf(`{"id":"abcdefg","committed_at":"2026-01-01T00:00:00Z"}`): "commits[0].id: ",
		commitsOf(oneCommit(""), oneCommit("")):                             "commits[1].id: ",
		commitsOf(oneCommit(`,"message":"a\nb"`)):                           "commits[0].message: ",
		commitsOf(oneCommit(`,"message":"` + long + `"`)):                   "commits[0].message: ",
		commitsOf(oneCommit(`,"author":{"name":"` + long + `"}`)):           "commits[0].author.name: ",
		commitsOf(oneCommit(`,"author":{"email":"` + long + `"}`)):          "commits[0].author.email: ",
		commitsOf(oneCommit(`,"author":{"mail":"x"}`)):                      "mail",
		commitsOf(oneCommit(`,"paths":[""]`)):                               "commits[0].paths[0]: ",
		commitsOf(oneCommit(`,"paths":["a","` + long + `"]`)):               "commits[0].paths[1]: ",
		commitsOf(oneCommit(paths(201, 4))):                                 "commits[0].paths: ",
		commitsOf(oneCommit(`,"paths_omitted":-1`)):                         "commits[0].paths_omitted: ",
		commitsOf(many...):  "commits: ",
		commitsOf(heavy...): "commits: ",
	} {
		w.refused(w.member, 400, "PUT", path, body, member)
	}
	require.Equal(t, 413, w.call(w.member, "PUT", path, `{"commits":[],"x":"`+strings.Repeat("x", 2<<20)+`"}`).Code)
	w.ok(w.member, 200, "PUT", path, commitsOf(many[1:]...))

	// They go with their build.
	w.ok(w.owner, 200, "PUT", path, `{"commits":[]}`)
	require.Equal(t, 204, w.call(w.owner, "DELETE", p("/api/v3/builds/%d", b.ID), "").Code)
	w.refused(w.member, 404, "GET", path, "")
	w.refused(w.member, 404, "PUT", path, sent)
}
