package api_test

import (
	"regexp"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/stretchr/testify/require"
)

var parameter = regexp.MustCompile(`[:*]([A-Za-z]+)`)

// TestDescriptionAgreesWithRoutes compares both ways: every route is described,
// everything described is a route.
func TestDescriptionAgreesWithRoutes(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	rec := w.do(t, "GET", "/openapi.json")
	require.Equal(t, 200, rec.Code)
	loader := openapi3.NewLoader()
	doc, err := loader.LoadFromData(rec.Body.Bytes())
	require.NoError(t, err)
	require.NoError(t, doc.Validate(loader.Context))
	require.Equal(t, "3.0.3", doc.OpenAPI)

	described := map[string]*openapi3.Operation{}
	ids := map[string]bool{}
	for path, item := range doc.Paths.Map() {
		for method, operation := range item.Operations() {
			described[method+" "+path] = operation
			require.False(t, ids[operation.OperationID], operation.OperationID)
			ids[operation.OperationID] = true
		}
	}
	for _, route := range w.cfg.Routes {
		name := route.Method + " " + parameter.ReplaceAllString(route.Path, "{$1}")
		operation, ok := described[name]
		require.True(t, ok, "%s is not described", name)
		delete(described, name)
		require.NotNil(t, operation.Security, name)
		if route.Public == "" {
			require.NotEmpty(t, *operation.Security, "%s needs credentials", name)
			require.NotNil(t, operation.Responses.Value("401"), name)
			require.NotNil(t, operation.Responses.Value("403"), name)
		} else if route.Path != "/metrics" {
			require.Empty(t, *operation.Security, "%s is public", name)
		}
	}
	require.Empty(t, described, "described, but no route")
}
