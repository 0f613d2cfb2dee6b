package api_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"
)

// doubled returns the places of members that a JSON object has twice. Most decoders keep
// the last one and say nothing; Swagger UI and generators of clients refuse the file.
func doubled(d *json.Decoder, at string) ([]string, error) {
	token, err := d.Token()
	if err != nil {
		return nil, err
	}
	var found []string
	switch token {
	case json.Delim('{'):
		seen := map[string]bool{}
		for d.More() {
			name, err := d.Token()
			if err != nil {
				return nil, err
			}
			place := at + "/" + name.(string)
			if seen[place] {
				found = append(found, place)
			}
			seen[place] = true
			inner, err := doubled(d, place)
			if err != nil {
				return nil, err
			}
			found = append(found, inner...)
		}
	case json.Delim('['):
		for i := 0; d.More(); i++ {
			inner, err := doubled(d, fmt.Sprintf("%s/%d", at, i))
			if err != nil {
				return nil, err
			}
			found = append(found, inner...)
		}
	default:
		return nil, nil
	}
	_, err = d.Token() // the end
	return found, err
}

func TestDoubledFindsMembers(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		`{"a":1,"b":{"a":1},"c":[{"a":1},{"a":1}]}`:      nil,
		`{"a":1,"b":[{"c":1,"d":[],"c":{}}],"\u0061":2}`: {"/b/0/c", "/a"},
	} {
		found, err := doubled(json.NewDecoder(strings.NewReader(text)), "")
		require.NoError(t, err)
		require.Equal(t, want, found, text)
	}
}

// The description can be read by all who read such files: no member is there twice, it
// keeps the schema of OpenAPI 3.1 as the OpenAPI Initiative publishes it (kin-openapi, in
// TestDescriptionAgreesWithRoutes, is the other opinion), and generators of clients find one
// name for one thing. Its schemas are those of JSON Schema 2020-12.
func TestDescriptionCanBeRead(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("openapi.json")
	require.NoError(t, err)
	d := json.NewDecoder(bytes.NewReader(text))
	found, err := doubled(d, "")
	require.NoError(t, err)
	require.Empty(t, found, "members that are there twice")
	_, err = d.Token()
	require.ErrorIs(t, err, io.EOF, "nothing follows the document")

	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	require.NoError(t, err)
	schema, err := jsonschema.NewCompiler().Compile("testdata/openapi-3.1.schema.json")
	require.NoError(t, err)
	require.NoError(t, schema.Validate(document))

	root := document.(map[string]any)
	compiler := jsonschema.NewCompiler()
	require.NoError(t, compiler.AddResource("openapi.json", document))
	for name := range root["components"].(map[string]any)["schemas"].(map[string]any) {
		_, err := compiler.Compile("openapi.json#/components/schemas/" + name)
		require.NoError(t, err, name)
	}
	require.Empty(t, sharedNames(root["components"].(map[string]any)))
	require.Empty(t, faults(root, ""))
}

// sharedNames are the names that two components have once a generator has made names of
// Go or TypeScript of them.
func sharedNames(components map[string]any) (list []string) {
	by := map[string]string{}
	for kind, all := range components {
		if kind == "headers" || kind == "securitySchemes" {
			continue // no types are made of these
		}
		for name := range all.(map[string]any) {
			plain := identifier(name)
			if other := by[plain]; other != "" {
				list = append(list, other+" and "+kind+"/"+name)
			}
			by[plain] = kind + "/" + name
		}
	}
	return list
}

// identifier is what generators make of a name, whatever they do with its case.
func identifier(name string) string {
	return strings.ToLower(strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return r
		}
		return -1
	}, name))
}

// sharedMembers are members of one object that would share a name, such as recorded_at and
// recordedAt: x-go-name tells them apart.
func sharedMembers(members map[string]any, at string) (list []string) {
	seen := map[string]bool{}
	for name, schema := range members {
		if named, ok := schema.(map[string]any)["x-go-name"].(string); ok {
			name = named
		}
		if seen[identifier(name)] {
			list = append(list, at+": another member has the name "+name+" in Go")
		}
		seen[identifier(name)] = true
	}
	return list
}

// faults are what validators let pass and readers stumble over.
func faults(value any, at string) (list []string) {
	switch v := value.(type) {
	case map[string]any:
		if required, ok := v["required"].([]any); ok && len(required) == 0 {
			list = append(list, at+": required names nothing")
		}
		if members, ok := v["properties"].(map[string]any); ok {
			list = append(list, sharedMembers(members, at)...)
		}
		if _, operation := v["operationId"]; operation {
			list = append(list, operationFaults(v, at)...)
		}
		for name, inner := range v {
			list = append(list, faults(inner, at+"/"+name)...)
		}
	case []any:
		for i, inner := range v {
			list = append(list, faults(inner, fmt.Sprintf("%s/%d", at, i))...)
		}
	}
	return list
}

// longestSummary is what a line of a list of operations has room for.
const longestSummary = 120

func operationFaults(operation map[string]any, at string) (list []string) {
	summary, _ := operation["summary"].(string)
	if summary == "" || len(summary) > longestSummary || strings.ContainsAny(summary, "\n") {
		list = append(list, at+": its summary must be one short line: "+summary)
	}
	responses, _ := operation["responses"].(map[string]any)
	if !strings.HasSuffix(at, "/head") {
		return list
	}
	for status, r := range responses {
		members := r.(map[string]any)
		if _, described := members["content"]; described || members["$ref"] != nil {
			list = append(list, at+": "+status+": an answer to HEAD has no body")
		}
	}
	slices.Sort(list)
	return list
}
