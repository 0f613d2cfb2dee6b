package session_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"image/png"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	api "github.com/slipway-qa/slipway/api/session"
	"github.com/slipway-qa/slipway/cmd/localservice/servicetest/fixture"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/distribution"
)

const feedbacks = "/api/1/sdk/feedbacks"

func TestFeedbackWithScreenshot(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := uuid.NewString()
	_, started := w.sdk("POST", sessions, fmt.Sprintf(`{"session_id":%q,"version":"1.2","email":"ann@example.com","device":"Pixel 8"}`, id))
	shot := picture(t, 40, 30)
	body, kind := form(t, shot, "token", w.token, "text", "It <b>crashes</b>\nhere", "session_id", id, "source", "shake",
		"uuid", uuid.NewString())
	for range 2 { // sent again, it counts once
		rec := w.do(nil, "POST", feedbacks, body, "Content-Type", kind)
		require.Equal(t, http.StatusOK, rec.Code, rec.Body.String())
		require.Equal(t, map[string]any{"status": "ok", "feedback_id": "1"}, object(t, rec))
	}
	require.Equal(t, 1, w.Count(`select feedbacks from builds where id = $1`, w.build.ID))
	require.Equal(t, 1, w.Count(`select count(*) from audit_events where type = $1`, int(account.FeedbackReceived)))

	rec := w.do(w.member, "GET", "/api/1/feedbacks", "")
	require.Contains(t, rec.Header().Get("Cache-Control"), "no-store", "links are credentials")
	one := object(t, rec)["feedbacks"].([]any)[0].(map[string]any)
	link := one["screenshotUrl"].(string)
	require.Equal(t, one["recordedAt"], one["recorded_at"])
	delete(one, "screenshotUrl")
	delete(one, "recordedAt")
	delete(one, "recorded_at")
	require.Equal(t, map[string]any{"feedbackId": "1", "text": "It <b>crashes</b>\nhere", "buildId": fmt.Sprint(w.build.ID),
		"projectId": fmt.Sprint(w.build.ProjectID), "source": "shake", "reported_by": "ann@example.com",
		"session_id": fmt.Sprint(started["id"])}, one)
	at, err := url.Parse(link)
	require.NoError(t, err)
	served := serve(w.Objects().ServeSigned(), at.RequestURI())
	require.Equal(t, http.StatusOK, served.Code)
	size, err := png.DecodeConfig(served.Body)
	require.NoError(t, err)
	require.Equal(t, []int{40, 30}, []int{size.Width, size.Height}, "written anew")
	require.Equal(t, "image/png", served.Header().Get("Content-Type"))

	view := object(t, w.do(w.member, "GET", "/api/v3/feedbacks/1", ""))["feedback"].(map[string]any)
	require.Equal(t, "Pixel 8", view["device"].(map[string]any)["model"], "of the session")
	require.Equal(t, "192.0.2.9", view["ip_address"])
	require.Equal(t, 204, w.do(w.owner, "DELETE", "/api/v3/feedbacks/1", "").Code)
	require.Equal(t, 404, w.do(w.owner, "DELETE", "/api/v3/feedbacks/1", "").Code)
	require.Zero(t, w.Count(`select feedbacks from builds where id = $1`, w.build.ID))
	require.Equal(t, http.StatusNotFound, serve(w.Objects().ServeSigned(), at.RequestURI()).Code, "the picture is gone")
}

func TestHostileFeedback(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	bomb := picture(t, 4, 4)
	binary.BigEndian.PutUint32(bomb[16:], 60_000) // the width that the head states
	for name, tc := range map[string]struct {
		file []byte
		text string
	}{
		"a script":  {[]byte("<script>alert(1)</script>"), "PNG"},
		"an SVG":    {[]byte(`<svg xmlns="http://www.w3.org/2000/svg" onload="x()"/>`), "PNG"},
		"a bomb":    {bomb, "screenshot"},
		"cut off":   {picture(t, 4, 4)[:12], "PNG"},
		"a program": {[]byte("\x7fELF"), "PNG"},
	} {
		body, kind := form(t, tc.file, "text", "x")
		refused(t, w.do(nil, "POST", feedbacks, body, "Content-Type", kind, api.TokenHeader, w.token), 400, 1, tc.text)
		_ = name
	}
	body, kind := form(t, bytes.Repeat([]byte("x"), 11<<20), "text", "x")
	refused(t, w.do(nil, "POST", feedbacks, body, "Content-Type", kind, api.TokenHeader, w.token), 413, 413, "screenshot")
	body, kind = form(t, picture(t, 4, 4))
	rec := w.do(nil, "POST", feedbacks, body, "Content-Type", kind)
	refused(t, rec, 401, 5, "token")
	refused(t, w.do(nil, "POST", feedbacks, body[:len(body)-30], "Content-Type", kind, api.TokenHeader, w.token), 400, 1, "body")
	for _, tc := range []struct{ body, text string }{
		{`{}`, "text"}, {`{"text":" "}`, "text"}, {`{"text":"x","uuid":"7"}`, "uuid"}, {`{"text":"x","session_id":"7"}`, "session_id"},
		{fmt.Sprintf(`{"text":%q}`, strings.Repeat("x", 10_001)), "text"}, {`{"text":"x","email":"a\nb"}`, "email"},
	} {
		refused(t, w.do(nil, "POST", feedbacks, tc.body, api.TokenHeader, w.token), 400, 1, tc.text)
	}
	refused(t, w.do(nil, "POST", feedbacks, `{"text":"x","build_id":999}`, api.TokenHeader, w.token), 404, 404, "build_id")
	require.Zero(t, w.Count(`select count(*) from feedbacks`))
	keys, err := w.Objects().List(t.Context(), "feedbacks/", "", 10)
	require.NoError(t, err)
	require.Empty(t, keys, "nothing is left of what was refused")
	body, kind = form(t, picture(t, 4, 4), "token", w.token)
	require.Equal(t, http.StatusOK, w.do(nil, "POST", feedbacks, body, "Content-Type", kind).Code, "a picture without a text")
}

func TestReadersOfSessions(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, started := w.sdk("POST", sessions,
		fmt.Sprintf(`{"session_id":%q,"version":"1.2","email":"ann@example.com","device":"Pixel 8"}`, uuid.New()))
	w.sdk("POST", feedbacks, `{"text":"hello","version":"1.2"}`)
	other := w.Upload(w.NewUpload(fixture.APK("com.example.other", "1", "1"))).Build
	id := int64(started["id"].(float64))
	v1 := fmt.Sprintf("/api/1/projects/%d/builds/%d/sessions", w.build.ProjectID, w.build.ID)
	build, project, one := fmt.Sprintf("/api/v3/builds/%d", w.build.ID), fmt.Sprintf("/api/v3/projects/%d", w.build.ProjectID),
		fmt.Sprintf("/api/v3/sessions/%d", id)
	paths := []string{v1, fmt.Sprintf("%s/%d", v1, id), build + "/sessions", project + "/sessions", build + "/devices", project + "/devices",
		one, one + "/events", "/api/v3/feedbacks/1", project + "/sdk-tokens"}
	for _, path := range paths {
		require.Equal(t, http.StatusOK, w.do(w.owner, "GET", path, "").Code, path)
		require.Equal(t, http.StatusNotFound, w.do(w.stranger, "GET", path, "").Code, path)
		require.Equal(t, http.StatusForbidden, w.do(w.tester, "GET", path, "").Code, path)
	}
	for _, path := range []string{"/api/1/feedbacks", "/api/v3/feedbacks"} {
		require.Empty(t, object(t, w.do(w.stranger, "GET", path, ""))["feedbacks"])
		require.Len(t, object(t, w.do(w.member, "GET", path, ""))["feedbacks"], 1)
	}
	require.Equal(t, http.StatusNotFound, w.do(w.stranger, "DELETE", "/api/v3/feedbacks/1", "").Code)
	require.Equal(t, http.StatusForbidden, w.do(w.member, "DELETE", "/api/v3/feedbacks/1", "").Code)
	refused(t, w.do(w.owner, "GET", fmt.Sprintf("/api/1/projects/%d/builds/%d/sessions/%d", other.ProjectID, other.ID, id), ""), 404, 404, "")
	refused(t, w.do(w.owner, "GET", fmt.Sprintf("/api/1/projects/%d/builds/%d/sessions", other.ProjectID, w.build.ID), ""), 404, 404, "")
	refused(t, w.do(w.tester, "GET", v1, ""), 403, 133, "")

	for query, want := range map[string]int{"": 1, "?search=ANN": 1, "?search=bob": 0, "?crashed=false": 1, "?crashed=true": 0} {
		list := object(t, w.do(w.member, "GET", fmt.Sprintf("/api/v3/builds/%d/sessions%s", w.build.ID, query), ""))
		require.Len(t, list["sessions"], want, query)
		require.EqualValues(t, want, list["pagination"].(map[string]any)["total"], query)
	}
	for query, want := range map[string]int{"?search=HELLO": 1, "?search=bye": 0, "?project_id=999": 0,
		fmt.Sprintf("?build_id=%d", w.build.ID): 1} {
		require.Len(t, object(t, w.do(w.member, "GET", "/api/v3/feedbacks"+query, ""))["feedbacks"], want, query)
	}
	for _, path := range []string{"/api/v3/feedbacks?project_id=x", "/api/v3/feedbacks?per_page=0",
		fmt.Sprintf("/api/v3/builds/%d/sessions?crashed=x", w.build.ID)} {
		require.Equal(t, http.StatusBadRequest, w.do(w.member, "GET", path, "").Code, path)
	}
	devices := object(t, w.do(w.member, "GET", fmt.Sprintf("/api/v3/builds/%d/devices", w.build.ID), ""))["devices"].([]any)
	require.EqualValues(t, 1, devices[0].(map[string]any)["sessions"])
	behind := object(t, w.do(w.member, "GET", fmt.Sprintf("/api/v3/builds/%d/devices?page=2", w.build.ID), ""))
	require.Empty(t, behind["devices"], "a page behind the last")
	require.EqualValues(t, 1, behind["pagination"].(map[string]any)["total"])

	// What belongs to a deleted build is not shown.
	w.Must(func(ctx context.Context, tx *storage.Tx) error {
		return distribution.DeleteBuild(ctx, tx, w.Org.Owner.Writer, w.build.ProjectID, w.build.ID)
	})
	require.Equal(t, http.StatusNotFound, w.do(w.member, "GET", v1, "").Code)
	require.Empty(t, object(t, w.do(w.member, "GET", "/api/1/feedbacks", ""))["feedbacks"])
	code, answer := w.sdk("POST", sessions, fmt.Sprintf(`{"session_id":%q,"version":"1.2"}`, uuid.New()))
	require.Equal(t, http.StatusOK, code)
	require.Equal(t, "", answer["build_id"])
}

func TestTokensOverHTTP(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	path := fmt.Sprintf("/api/v3/projects/%d/sdk-tokens", w.build.ProjectID)
	rec := w.do(w.owner, "POST", path, `{"name":"beta","scopes":"session:post","quota_per_minute":600}`)
	require.Equal(t, http.StatusCreated, rec.Code, rec.Body.String())
	require.Contains(t, rec.Header().Get("Cache-Control"), "no-store")
	made := object(t, rec)
	require.Regexp(t, `^slp_local_sdk_`, made["secret"])
	row := made["sdk_token"].(map[string]any)
	require.Equal(t, []any{"session:post"}, row["scopes"])
	require.Equal(t, 404, w.do(w.stranger, "POST", path, `{}`).Code)
	require.Equal(t, 403, w.do(w.member, "POST", path, `{}`).Code)
	require.Equal(t, 403, w.do(w.member, "GET", path, "").Code)
	for _, body := range []string{`{"scopes":["all"]}`, `{"quota_per_minute":-1}`, `{"name":"a\nb"}`} {
		require.Equal(t, 400, w.do(w.owner, "POST", path, body).Code, body)
	}
	list := w.do(w.owner, "GET", path, "")
	require.Len(t, object(t, list)["sdk_tokens"], 2)
	require.NotContains(t, list.Body.String(), made["secret"].(string)[20:])
	one := fmt.Sprintf("%s/%v", path, row["id"])
	require.Equal(t, 404, w.do(w.stranger, "DELETE", one, "").Code)
	require.Equal(t, 204, w.do(w.owner, "DELETE", one, "").Code)
	require.Equal(t, 404, w.do(w.owner, "DELETE", one, "").Code)
	refused(t, w.do(nil, "POST", sessions, `{}`, api.TokenHeader, made["secret"].(string)), 401, 5, "revoked")
}

func TestUpdate(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	upload := func(version, code string, auto bool) *distribution.Build {
		u := w.NewUpload(fixture.APK("com.example.shop", version, code))
		u.AutoUpdate = auto
		b := w.Upload(u).Build
		_, err := w.DB.ExecContext(t.Context(), `update builds set verification = 'verified' where id = $1`, b.ID)
		require.NoError(t, err)
		return b
	}
	ask := func(query string) map[string]any {
		rec := w.do(nil, "GET", "/api/1/sdk/update?token="+w.token+"&"+query, "")
		require.Equal(t, http.StatusOK, rec.Code, rec.Body.String())
		return object(t, rec)
	}
	require.Equal(t, map[string]any{"status": "ok", "update_available": false, "build": nil}, ask("version_code=12"))
	nine := upload("1.9", "9", true)
	hundred := upload("2.0", "100", true)
	upload("1.99", "99", true)
	upload("3.0", "200", false)
	answer := ask("version_code=12")
	require.Equal(t, true, answer["update_available"])
	build := answer["build"].(map[string]any)
	require.Equal(t, fmt.Sprint(hundred.ID), build["id"], "compared as numbers")
	require.Equal(t, fixture.PublicURL+"/install/"+hundred.Token, build["install_url"])
	require.Equal(t, false, ask("version_code=100")["update_available"])
	require.Equal(t, false, ask("version_code=9999999999999999999999")["update_available"])
	require.Equal(t, fmt.Sprint(hundred.ID), ask("version=1.9")["build"].(map[string]any)["id"], "by the order of uploads")
	_, err := w.DB.ExecContext(t.Context(), `update builds set state = 'disabled' where id = $1`, hundred.ID)
	require.NoError(t, err)
	require.NotEqual(t, fmt.Sprint(hundred.ID), ask("version_code=12")["build"].(map[string]any)["id"])
	require.NotZero(t, nine.ID)
	refused(t, w.do(nil, "GET", "/api/1/sdk/update?token="+w.token, ""), 400, 1, "version_code")
	refused(t, w.do(nil, "GET", "/api/1/sdk/update?version_code=1", ""), 401, 5, "token")
}
