package authoring_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/api/authoring/export"
)

func TestCodeTargets(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	path := "/testcases/" + w.newCase(w.member, "case", nil) + "/code/targets"
	got := w.ok(w.owner, 200, "GET", path, "")
	targets := export.Targets()
	require.EqualValues(t, len(targets), got["total"])
	require.Len(t, got["items"], len(targets))
	for i, item := range got["items"].([]any) {
		require.Equal(t, tree{"id": targets[i].ID, "name": targets[i].Name, "language": targets[i].Language,
			"framework": targets[i].Framework, "contentType": targets[i].ContentType}, item)
	}
	for _, id := range []string{"javascript_playwright", "javascript_webdriverio", "python_selenium", "java_selenium",
		"side", "javascript_cypress", "yaml_maestro", "yaml"} {
		require.True(t, slices.Contains(names(got, "id"), id), id)
	}
	w.refused(w.stranger, 404, "TEST_CASE_NOT_FOUND", "GET", path, "")
	w.refused(w.member, 400, "INVALID_PARAMS", "GET", "/testcases/x/code/targets", "", "id")
}

func TestCode(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	made := w.ok(w.member, 201, "POST", "/testcases", importText(t, "Log in / out", nil))
	path := "/testcases/" + made["id"].(string) + "/code"
	revision := made["revisions"].([]any)[0].(tree)["id"].(string)
	for _, target := range export.Targets() {
		got := w.ok(w.owner, 200, "GET", path+"?target="+target.ID, "")
		require.Equal(t, target.ID, got["target"])
		require.Equal(t, target.ContentType, got["contentType"])
		require.NotEmpty(t, got["fileName"])
		require.NotContains(t, got["fileName"], "/")
		require.Contains(t, got["code"], "#go")
		require.Equal(t, got, w.ok(w.member, 200, "GET", path+"?target="+target.ID+"&revisionId="+strings.ToUpper(revision), ""))

		for _, ask := range [][]string{{"&download=1", ""}, {"&download=true", "application/json"}, {"", "text/plain"}, {"", "text/plain, */*"}} {
			rec := w.call(w.member, "GET", path+"?target="+target.ID+ask[0], "", "Accept", ask[1])
			require.Equal(t, 200, rec.Code)
			require.Equal(t, got["code"], rec.Body.String())
			require.Equal(t, "text/plain; charset=utf-8", rec.Header().Get("Content-Type"))
			require.Contains(t, rec.Header().Get("Content-Disposition"), "attachment")
		}
		for _, accept := range []string{"", "*/*", "application/json, text/plain, */*"} {
			rec := w.call(w.member, "GET", path+"?target="+target.ID+"&download=0", "", "Accept", accept)
			require.Contains(t, rec.Header().Get("Content-Type"), "application/json", accept)
		}
	}
}

func TestCodeRefuses(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.newCase(w.member, "case", nil)
	path := "/testcases/" + id + "/code"
	for _, query := range []string{"", "?target=", "?target=Java", "?target=a%20b", "?target=../x", "?target=" + strings.Repeat("x", 65)} {
		w.refused(w.member, 400, "CODE_GENERATION_TARGET_INVALID", "GET", path+query, "", "target")
	}
	w.refused(w.member, 404, "CODE_GENERATION_TARGET_NOT_FOUND", "GET", path+"?target=cobol_selenium", "", "cobol_selenium")
	w.refused(w.member, 400, "INVALID_QUERY", "GET", path+"?target=side&revisionId=7", "", "revisionId")
	w.refused(w.member, 400, "INVALID_QUERY", "GET", path+"?target=side&download=maybe", "", "download")
	w.refused(w.member, 404, "TEST_CASE_REVISION_NOT_FOUND", "GET", path+"?target=side&revisionId="+noCase, "")
	other := w.ok(w.member, 201, "POST", "/testcases", importText(t, "other", nil))["revisions"].([]any)[0].(tree)["id"].(string)
	w.refused(w.member, 404, "TEST_CASE_REVISION_NOT_FOUND", "GET", path+"?target=side&revisionId="+other, "")
	w.refused(w.stranger, 404, "TEST_CASE_NOT_FOUND", "GET", path+"?target=side", "")
	w.refused(w.member, 404, "TEST_CASE_NOT_FOUND", "GET", "/testcases/"+noCase+"/code?target=side", "")
	w.refused(w.member, 400, "INVALID_PARAMS", "GET", "/testcases/x/code?target=side", "", "id")
	_, err := w.db.ExecContext(t.Context(), `update test_revisions set steps = '[]' where case_id = $1`, id)
	require.NoError(t, err)
	w.refused(w.member, 400, "TEST_CASE_EMPTY", "GET", path+"?target=side", "")
}

// What a target has no words for is a refusal that names the member.
func TestCodeUnsupported(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.newCase(w.member, "case", tree{"steps": []any{tree{"tool": tree{"type": "click", "args": tree{"selector": "a"}}},
		tree{"tool": tree{"type": "route", "args": tree{"url": "**", "abort": "failed"}}}}})
	path := "/testcases/" + id + "/code?target="
	for _, target := range []string{"javascript_webdriverio", "python_selenium", "java_selenium", "side", "javascript_cypress",
		"yaml_maestro"} {
		w.refused(w.member, 409, "CODE_GENERATION_UNSUPPORTED", "GET", path+target, "", "steps[1].tool.type")
	}
	require.Contains(t, w.ok(w.member, 200, "GET", path+"javascript_playwright", "")["code"], "abort: 'failed'")
	require.Contains(t, w.ok(w.member, 200, "GET", path+"yaml", "")["code"], "abort: failed")
}
