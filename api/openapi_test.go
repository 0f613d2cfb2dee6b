package api_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/api/description"
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
	require.Equal(t, description.Version, doc.OpenAPI)

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
		} else if len(*operation.Security) > 0 {
			require.Contains(t, *operation.Security, openapi3.SecurityRequirement{}, "%s is public, so credentials are optional", name)
		}
	}
	require.Empty(t, described, "described, but no route")
}

// TestListsRefuseUnknownParameters holds the parameters that reading and removing take in
// version 3 and in the authoring interface against the description: with a misspelt filter that is ignored a caller
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
		strict := strings.HasPrefix(route.Path, "/api/v3/") || strings.HasPrefix(route.Path, "/v1/ai-authoring/")
		if !strict || route.Method != http.MethodGet && route.Method != http.MethodDelete {
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
		require.ElementsMatch(t, names, route.Query,
			"%s %s: what is described (openapi.yaml beside the handler, then make openapi) is what Query of the route has", route.Method, route.Path)
	}
	require.Greater(t, seen, 100)
}

// TestRoutesWithoutABodyAreBare: a route of version 3 that has no body refuses one.
func TestRoutesWithoutABodyAreBare(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	doc, err := openapi3.NewLoader().LoadFromFile("openapi.json")
	require.NoError(t, err)
	for _, route := range w.cfg.Routes {
		if !strings.HasPrefix(route.Path, "/api/v3/") || route.Method == http.MethodGet || route.Method == http.MethodHead {
			continue
		}
		operation := doc.Paths.Value(parameter.ReplaceAllString(route.Path, "{$1}")).GetOperation(route.Method)
		require.Equal(t, operation.RequestBody == nil, route.Bare, "%s %s", route.Method, route.Path)
	}
}

// A JSON reader keeps one of two members of the same name, and nobody says which. An empty
// list of required members is of no use.
func TestDescriptionHasNothingTwice(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("openapi.json")
	require.NoError(t, err)
	decoder := json.NewDecoder(bytes.NewReader(text))
	require.NoError(t, readOnce(decoder, "", ""))
	require.ErrorContains(t, readOnce(json.NewDecoder(strings.NewReader(`{"a":[{"b":1,"c":2,"b":3}]}`)), "", ""), "/a/b is there twice")
	require.ErrorContains(t, readOnce(json.NewDecoder(strings.NewReader(`{"a":{"required":[]}}`)), "", ""), "/a/required is empty")
}

// readOnce reads a value, whose members have different names.
func readOnce(decoder *json.Decoder, path, name string) error {
	token, err := decoder.Token()
	if err != nil {
		return err
	}
	switch token {
	case json.Delim('['):
		if name == "required" && !decoder.More() {
			return fmt.Errorf("%s is empty", path)
		}
		for decoder.More() {
			if err := readOnce(decoder, path, ""); err != nil {
				return err
			}
		}
	case json.Delim('{'):
		seen := map[string]bool{}
		for decoder.More() {
			token, err := decoder.Token()
			if err != nil {
				return err
			}
			member, _ := token.(string)
			if below := path + "/" + member; seen[member] {
				return fmt.Errorf("%s is there twice", below)
			} else if err := readOnce(decoder, below, member); err != nil {
				return err
			}
			seen[member] = true
		}
	default:
		return nil
	}
	_, err = decoder.Token()
	return err
}
