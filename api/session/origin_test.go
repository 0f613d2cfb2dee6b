package session_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
)

// The pages of the origins that the crash projects of an app allow may read what the SDK is
// told; to those of others nothing is said.
func TestOriginsOfTheSDK(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const shop, other = "https://shop.example", "https://other.example"
	said := func(method, origin string, headers ...string) (int, string) {
		rec := w.do(nil, method, "/api/1/sdk/update?token="+w.token, "", append([]string{"Origin", origin}, headers...)...)
		return rec.Code, rec.Header().Get("Access-Control-Allow-Origin")
	}
	for _, method := range []string{"GET", "OPTIONS"} {
		_, origin := said(method, shop)
		require.Empty(t, origin, "the app has no crash project")
	}
	project := w.Org.CrashProject("web")
	w.Exec(`update crash_projects set project_id = $2, allowed_origins = '{https://shop.example}' where id = $1`, project, w.build.ProjectID)
	w.token = w.newToken(w.build.ProjectID) // what is remembered of the other is older
	for _, method := range []string{"GET", "OPTIONS"} {
		_, origin := said(method, shop)
		require.Equal(t, shop, origin, method)
		_, origin = said(method, other)
		require.Empty(t, origin, method)
	}
	rec := w.do(nil, "OPTIONS", "/api/1/sdk/sessions", "", "Origin", other)
	require.Equal(t, http.StatusNoContent, rec.Code)
	require.Equal(t, other, rec.Header().Get("Access-Control-Allow-Origin"), "the token comes in a header")
	require.Contains(t, rec.Header().Get("Access-Control-Allow-Headers"), "X-SDK-Token")
	require.Equal(t, 401, w.do(nil, "OPTIONS", "/api/1/sdk/feedbacks?token=wrong", "", "Origin", shop).Code)
}
