package main

import (
	"io"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/stretchr/testify/require"
)

// Three answers that no valid request of the walks brings about are described as they are.
func TestRareAnswersAreDescribed(t *testing.T) {
	t.Parallel()
	w := newSurface(t)
	text, err := os.ReadFile("../../api/openapi.json")
	require.NoError(t, err)
	doc, err := openapi3.NewLoader().LoadFromData(text)
	require.NoError(t, err)
	// ask sends a request and holds the answer against the description.
	ask := func(method, address, pattern string, header http.Header, want int) receivedAnswer {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), method, address, http.NoBody)
		require.NoError(t, err)
		req.Header = header
		client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
		res, err := client.Do(req)
		require.NoError(t, err)
		defer res.Body.Close()
		body, err := io.ReadAll(res.Body)
		require.NoError(t, err)
		got := receivedAnswer{res.StatusCode, res.Header, body}
		require.Equal(t, want, got.status, "%s %s: %s", method, address, body)
		require.NoError(t, describes(doc.Paths.Value(pattern).GetOperation(method), got), "%s %s: %s", method, address, body)
		return got
	}
	own := http.Header{"X-Api-Key": {w.key}}

	// A path that may be one of crash submission, with a format that there is not.
	const path = "/{universe}/{token}/{format}"
	got := ask(post, w.base+"/main/"+w.boot.Crash.Token+"/poem", path, nil, http.StatusNotFound)
	require.NotNil(t, member(got.body, "error.message"), "in the shape of crash submission: %s", got.body)
	got = ask(post, w.base+"/main/anything/poem", path, nil, http.StatusNotFound)
	require.IsType(t, "", member(got.body, "error"), "in the shape of version 3: %s", got.body)

	// The headers of a stored file.
	for _, r := range []request{
		{method: put, path: v3 + "/settings/organization", body: `{"generic_files":true}`},
		{method: post, path: v3 + "/builds/upload", files: uploadOf("shop.zip"), save: "build=build.id"},
	} {
		code, answer := w.send(r)
		require.Equal(t, 2, code/100, "%s", answer)
		w.keep(r.save, answer)
	}
	got = ask(http.MethodGet, w.base+v3+"/builds/"+w.ids["build"]+"/download", v3+"/builds/{id}/download", own.Clone(), http.StatusOK)
	link, _ := member(got.body, "url").(string)
	const key = "/objects/{key}"
	for _, c := range []struct {
		link   string
		header http.Header
		want   int
	}{
		{link, nil, http.StatusOK},
		{link, http.Header{"Range": {"bytes=0-1"}}, http.StatusPartialContent},
		{strings.Replace(link, "sig=", "sig=x", 1), nil, http.StatusForbidden},
		{w.base + "/objects/none", nil, http.StatusForbidden},
	} {
		got = ask(http.MethodHead, c.link, key, c.header, c.want)
		require.Empty(t, got.body)
	}

	// A member of a team who is a tester of the organization.
	w.ids["kim"] = w.one(`insert into users (uuid, username, email) values (gen_random_uuid(), 'kim', 'kim@example.com') returning id::text`)
	for _, statement := range []string{
		`insert into memberships (organization_id, user_id, role) values ($1, $2::bigint, 'tester')`,
		`insert into team_memberships (team_id, user_id) select id, $2::bigint from teams where organization_id = $1`,
	} {
		_, err = w.db.ExecContext(t.Context(), statement, w.boot.Organization.ID, w.ids["kim"])
		require.NoError(t, err)
	}
	got = ask(http.MethodGet, w.base+v3+"/teams/"+w.ids["team"]+"/members", v3+"/teams/{id}/members", own.Clone(), http.StatusOK)
	require.Contains(t, string(got.body), `"role":"tester"`)
}
