package api_test

import (
	"net/http/httptest"
	"os"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

// TestAnswersAreAsDescribed holds real answers against the description: status,
// headers, content type and every member.
func TestAnswersAreAsDescribed(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("openapi.json")
	require.NoError(t, err)
	doc, err := openapi3.NewLoader().LoadFromData(text)
	require.NoError(t, err)
	w := newWorld(t, nil)
	id := w.newTask(t, w.ours.Organization.ID).String()
	us, stranger := key(w.ours.Owner.APIKey), key("nobody")
	for _, tc := range []struct {
		method, path, target string
		status               int
		options              []option
	}{
		{"GET", "/openapi.json", "/openapi.json", 200, nil},
		{"GET", "/api/v3/tasks", "/api/v3/tasks", 200, []option{us}},
		{"GET", "/api/v3/tasks", "/api/v3/tasks?state=dead", 200, []option{us}},
		{"GET", "/api/v3/tasks", "/api/v3/tasks", 200, []option{operator(w.ours)}},
		{"GET", "/api/v3/tasks", "/api/v3/tasks?page=0", 400, []option{us}},
		{"GET", "/api/v3/tasks", "/api/v3/tasks", 401, nil},
		{"GET", "/api/v3/tasks", "/api/v3/tasks", 401, []option{stranger}},
		{"GET", "/api/v3/tasks", "/api/v3/tasks", 403, []option{key(w.theirs.Owner.APIKey), host("ours." + baseDomain)}},
		{"GET", "/api/v3/tasks/{id}", "/api/v3/tasks/" + id, 200, []option{us}},
		{"GET", "/api/v3/tasks/{id}", "/api/v3/tasks/x", 400, []option{us}},
		{"GET", "/api/v3/tasks/{id}", "/api/v3/tasks/" + uuid.NewString(), 404, []option{us}},
		{"POST", "/api/v3/tasks/{id}/retry", "/api/v3/tasks/" + id + "/retry", 409, []option{operator(w.ours)}},
		{"POST", "/api/v3/tasks/{id}/run", "/api/v3/tasks/" + id + "/run", 200, []option{us}},
		{"POST", "/api/v3/tasks/{id}/run", "/api/v3/tasks/" + uuid.NewString() + "/run", 404, []option{us}},
		{"POST", "/api/v3/tasks/retry", "/api/v3/tasks/retry?queue=crash", 200, []option{us}},
		{"POST", "/api/v3/tasks/retry", "/api/v3/tasks/retry?state=queued", 400, []option{us}},
		{"POST", "/api/v3/tasks/retry", "/api/v3/tasks/retry?type=test:job", 403, []option{us}},
		{"POST", "/api/v3/tasks/cancel", "/api/v3/tasks/cancel?queue=crash", 200, []option{us}},
		{"POST", "/api/v3/tasks/cancel", "/api/v3/tasks/cancel?state=dead", 400, []option{us}},
		{"POST", "/api/v3/tasks/cancel", "/api/v3/tasks/cancel?type=test:job", 403, []option{us}},
		{"POST", "/api/v3/tasks/run", "/api/v3/tasks/run?queue=crash", 200, []option{us}},
		{"POST", "/api/v3/tasks/run", "/api/v3/tasks/run?state=running", 400, []option{us}},
		{"POST", "/api/v3/tasks/run", "/api/v3/tasks/run?type=test:job", 403, []option{us}},
		{"GET", "/api/v3/tasks", "/api/v3/tasks?organization_id=99999", 403, []option{us}},
		{"POST", "/api/v3/tasks/{id}/cancel", "/api/v3/tasks/" + id + "/cancel", 200, []option{operator(w.ours)}},
		{"POST", "/api/v3/tasks/{id}/cancel", "/api/v3/tasks/" + id + "/cancel", 409, []option{operator(w.ours)}},
		{"POST", "/api/v3/tasks/{id}/run", "/api/v3/tasks/" + id + "/run", 409, []option{operator(w.ours)}},
		{"POST", "/api/v3/tasks/{id}/cancel", "/api/v3/tasks/" + id + "/cancel", 403, []option{us}},
		{"GET", "/api/v3/tasks/{id}", "/api/v3/tasks/" + id, 200, []option{us}},
		{"POST", "/api/v3/tasks/{id}/retry", "/api/v3/tasks/" + id + "/retry", 200, []option{operator(w.ours)}},
		{"POST", "/api/v3/tasks/{id}/retry", "/api/v3/tasks/" + uuid.NewString() + "/retry", 404, []option{us}},
	} {
		rec := w.do(t, tc.method, tc.target, tc.options...)
		require.Equal(t, tc.status, rec.Code, "%s %s: %s", tc.method, tc.target, rec.Body)
		item := doc.Paths.Value(tc.path)
		require.NotNil(t, item, tc.path)
		route := &routers.Route{Spec: doc, Path: tc.path, PathItem: item, Method: tc.method, Operation: item.GetOperation(tc.method)}
		input := &openapi3filter.ResponseValidationInput{
			RequestValidationInput: &openapi3filter.RequestValidationInput{Request: httptest.NewRequest(tc.method, tc.target, nil), Route: route},
			Status:                 rec.Code, Header: rec.Header(),
			Options: &openapi3filter.Options{IncludeResponseStatus: true, MultiError: true},
		}
		input.SetBodyBytes(rec.Body.Bytes())
		require.NoError(t, openapi3filter.ValidateResponse(t.Context(), input), "%s %s", tc.method, tc.target)
	}
}
