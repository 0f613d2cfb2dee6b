package api_test

import (
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
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

// TestListsRefuseUnknownParameters holds the parameters that reading and removing take in
// version 3 against the description: with a misspelt filter that is ignored a caller
// would read, or remove, everything.
func TestListsRefuseUnknownParameters(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	text, err := os.ReadFile("openapi.json")
	require.NoError(t, err)
	doc, err := openapi3.NewLoader().LoadFromData(text)
	require.NoError(t, err)
	seen := 0
	for _, route := range w.cfg.Routes {
		if !strings.HasPrefix(route.Path, "/api/v3/") || route.Method != http.MethodGet && route.Method != http.MethodDelete {
			continue
		}
		seen++
		item := doc.Paths.Value(parameter.ReplaceAllString(route.Path, "{$1}"))
		require.NotNil(t, item, route.Path)
		var names []string
		for _, p := range slices.Concat(item.Parameters, item.GetOperation(route.Method).Parameters) {
			if p.Value.In != openapi3.ParameterInQuery {
				continue
			}
			name := strings.TrimSuffix(p.Value.Name, "KEY") // attribute.KEY
			if p.Value.Schema.Value.Type.Is("array") {
				name += "[]"
			}
			names = append(names, name)
		}
		require.NotNil(t, route.Query, "%s %s ignores what it does not know", route.Method, route.Path)
		require.ElementsMatch(t, names, route.Query, "%s %s", route.Method, route.Path)
	}
	require.Greater(t, seen, 80)
}
