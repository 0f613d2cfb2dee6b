package description_test

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/api/description"
	"github.com/slipway-qa/slipway/api/examples"
)

// Reading and writing the file changes no byte of it, so that a change shows as what it is.
func TestTextStaysAsItIs(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../openapi.json")
	require.NoError(t, err)
	document, err := description.Parse(text)
	require.NoError(t, err)
	require.Equal(t, string(text), string(document.Text()))
}

// The file has the examples and is of OpenAPI 3.1 (go run ./cmd/describe api/openapi.json makes
// it so), and making a change twice is making it once.
func TestFileIsFinished(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../openapi.json")
	require.NoError(t, err)
	document, err := description.Parse(text)
	require.NoError(t, err)
	for range 2 {
		require.NoError(t, examples.Add(document))
		description.Modernize(document)
		require.Equal(t, string(text), string(document.Text()))
	}
}

func TestParse(t *testing.T) {
	t.Parallel()
	for text, fault := range map[string]string{
		`{"a":{"b":1,"c":[],"b":2}}`: "/a/b: is there twice",
		`{"a":1} 2`:                  "something follows the document",
		`[1,`:                        "EOF",
	} {
		_, err := description.Parse([]byte(text))
		require.ErrorContains(t, err, fault, text)
	}
	document, err := description.Parse([]byte(`{"b":"<é>","a":[1.50,{}],"n":null}`))
	require.NoError(t, err)
	require.Equal(t, "{\n  \"b\": \"<é>\",\n  \"a\": [\n    1.50,\n    {}\n  ],\n  \"n\": null\n}\n", string(document.Text()))
}

func TestModernize(t *testing.T) {
	t.Parallel()
	for before, after := range map[string]string{
		`{"type":"string","nullable":true}`:                               `{"type":["string","null"]}`,
		`{"type":"string","nullable":false,"example":"x"}`:                `{"type":"string","examples":["x"]}`,
		`{"type":"string","enum":["a",null],"nullable":true}`:             `{"type":["string","null"],"enum":["a",null]}`,
		`{"type":"number","minimum":1,"exclusiveMinimum":true}`:           `{"type":"number","exclusiveMinimum":1}`,
		`{"type":"number","maximum":1,"exclusiveMaximum":false}`:          `{"type":"number","maximum":1}`,
		`{"type":"object","allOf":[{"$ref":"#/x"}],"nullable":true}`:      `{"anyOf":[{"$ref":"#/x"},{"type":"null"}]}`,
		`{"oneOf":[{"type":"string"}],"nullable":true,"type":"string"}`:   `{"oneOf":[{"type":"string"},{"type":"null"}]}`,
		`{"type":"object","properties":{"example":{"type":"integer"}}}`:   `{"type":"object","properties":{"example":{"type":"integer"}}}`,
		`{"type":"array","items":{"type":"string","nullable":true}}`:      `{"type":"array","items":{"type":["string","null"]}}`,
		`{"type":"object","example":{"nullable":true,"example":1}}`:       `{"type":"object","examples":[{"nullable":true,"example":1}]}`,
		`{"additionalProperties":{"type":"object","nullable":true}}`:      `{"additionalProperties":{"type":["object","null"]}}`,
		`{"type":["string","null"],"examples":["already as it must be"]}`: `{"type":["string","null"],"examples":["already as it must be"]}`,
	} {
		document, err := description.Parse([]byte(`{"openapi":"3.0.3","components":{"schemas":{"a":` + before +
			`}},"paths":{"/p":{"get":{"parameters":[{"example":1,"schema":` + before + `}]}}}}`))
		require.NoError(t, err)
		description.Modernize(document)
		var got struct {
			OpenAPI    string `json:"openapi"`
			Components struct {
				Schemas map[string]json.RawMessage `json:"schemas"`
			} `json:"components"`
			Paths map[string]map[string]struct {
				Parameters []struct {
					Example json.RawMessage `json:"example"`
					Schema  json.RawMessage `json:"schema"`
				} `json:"parameters"`
			} `json:"paths"`
		}
		require.NoError(t, json.Unmarshal(document.Text(), &got))
		require.Equal(t, description.Version, got.OpenAPI)
		require.JSONEq(t, after, string(got.Components.Schemas["a"]), before)
		require.JSONEq(t, after, string(got.Paths["/p"]["get"].Parameters[0].Schema), before)
		require.Equal(t, "1", string(got.Paths["/p"]["get"].Parameters[0].Example))
	}
}
