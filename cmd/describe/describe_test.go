package main

import (
	"maps"
	"os"
	"slices"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/api/description"
	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/api/route"
)

func TestDescriptionIsWhatTheCodeSays(t *testing.T) {
	t.Parallel()
	made, err := describe(os.DirFS("../.."))
	require.NoError(t, err)
	kept, err := os.ReadFile("../../api/openapi.json")
	require.NoError(t, err)
	require.True(t, string(kept) == string(made), "api/openapi.json is not what the code says: run make openapi")
}

// parsed is a tree of YAML, as a fragment has it.
func parsed(t *testing.T, content string) *yaml.Node {
	t.Helper()
	var document yaml.Node
	require.NoError(t, yaml.Unmarshal([]byte(content), &document))
	return document.Content[0]
}

// written is a tree as JSON.
func written(t *testing.T, n *yaml.Node) string {
	t.Helper()
	return string(jsonTree(n).Text())
}

func TestFragmentsWriteShortFormsOut(t *testing.T) {
	t.Parallel()
	root, err := parseFragment([]byte(`
tag: things
operations:
  POST /things/{id}:
    summary: Change a thing
    parameters: [numericId, {name: q, in: query, schema: word}]
    requestBody:
      required: true
      schema: {type: object, properties: {name: {type: string}}, additionalProperties: false}
      example: {name: x}
      forms: [multipart/form-data]
    failures: [409]
    responses:
      200: {schema: {type: array, items: thing}}
      404: {description: THING_NOT_FOUND.}
`))
	require.NoError(t, err)
	r := &route.Route{Method: "POST", Path: "/things/:id", Interface: respond.InterfaceV3, Action: auth.ChangeBuilds}
	n, err := merge(operationOf(r), member(root, "operations", "POST /things/{id}"), "")
	require.NoError(t, err)
	want := parsed(t, `
tags: [things]
summary: Change a thing
parameters:
- {$ref: '#/components/parameters/numericId'}
- {name: q, in: query, schema: {$ref: '#/components/schemas/word'}}
requestBody:
  required: true
  content:
    application/json:
      schema: {type: object, properties: {name: {type: string}}, additionalProperties: false}
      example: {name: x}
    multipart/form-data:
      schema: {type: object, properties: {name: {type: string}}}
responses:
  "200":
    description: OK
    headers: {X-Request-Id: {$ref: '#/components/headers/RequestId'}}
    content: {application/json: {schema: {type: array, items: {$ref: '#/components/schemas/thing'}}}}
  "400": {$ref: '#/components/responses/BadRequest'}
  "401": {$ref: '#/components/responses/Unauthorized'}
  "403": {$ref: '#/components/responses/Forbidden'}
  "404":
    description: THING_NOT_FOUND.
    headers: {X-Request-Id: {$ref: '#/components/headers/RequestId'}}
    content: {application/json: {schema: {$ref: '#/components/schemas/error'}}}
  "409": {$ref: '#/components/responses/Conflict'}
  "413": {$ref: '#/components/responses/TooLarge'}
  "429": {$ref: '#/components/responses/TooMany'}
  "500": {$ref: '#/components/responses/Internal'}
  "503": {$ref: '#/components/responses/Unavailable'}
security: [{apiKey: []}, {bearer: []}, {basic: []}, {oidcConfigKey: [], oidcToken: []}]
`)
	whole, err := complete(r, n)
	require.NoError(t, err)
	require.Equal(t, written(t, want), written(t, whole))
}

func TestOperationsCannotContradictTheirRoutes(t *testing.T) {
	t.Parallel()
	for over, want := range map[string]string{
		"security: [{apiKey: []}]":                       "",
		"security: [{apiKey: []}, {}]":                   "GET /things: nobody gets in by []",
		"security: [{oidcToken: [], oidcConfigKey: []}]": "GET /things: nobody gets in by [oidcToken and oidcConfigKey]",
		"failures: [409]":                                "",
		"failures: [418]":                                "GET /things: 418 is no failure that the interface has in common",
	} {
		r := &route.Route{Method: "GET", Path: "/things", Interface: respond.InterfaceV3, Action: auth.ReadBuilds}
		n, err := merge(operationOf(r), parsed(t, over), "")
		require.NoError(t, err)
		if _, err = complete(r, n); want == "" {
			require.NoError(t, err, over)
			continue
		}
		require.ErrorContains(t, err, want, over)
	}
}

// A component that nothing refers to says nothing of any call.
func TestComponentsAreUsed(t *testing.T) {
	t.Parallel()
	content, err := os.ReadFile("../../api/openapi.json")
	require.NoError(t, err)
	document, err := description.Parse(content)
	require.NoError(t, err)
	for _, kind := range componentKinds() {
		if kind == "securitySchemes" { // operations name them without a reference
			continue
		}
		for _, name := range document.Get("components", kind).Names {
			require.Contains(t, string(content), `"$ref": "#/components/`+kind+"/"+name+`"`, "nothing refers to this component")
		}
	}
}

// A new component is the schema of a type. These are none.
func TestComponentsComeFromTypes(t *testing.T) {
	t.Parallel()
	reasons := map[string]string{
		"account_member_body": "one member of a type without a name", "tunnel_create": "two members of a type without a name",
		"authoring_case": "caseView is this and authoring_case_whole", "authoring_case_whole": "likewise",
		"authoring_suite": "suiteView is this and authoring_suite_counted", "authoring_suite_counted": "likewise",
		"stepGroup_whole":            "groupView with groupDetail",
		"authoring_relation":         "relations are read by storage/step: near, below and their like have one shape",
		"authoring_cookieAttributes": "likewise, of a cookie",
		"authoring_route_answer":     "likewise, of route", "authoring_route_change": "likewise",
		"authoring_data_body": "read by storage/rows: rows or csv",
		"authoring_point":     "read by storage/step: a place on a screen",
		"authoring_warned":    "what is beside the data of an answer",
		"error":               "a failure, as package respond writes it", "crash_error": "likewise", "authoring_error": "likewise",
		"distribution_legacy_error": "likewise", "upload_error": "likewise",
		"upload_answer": "a map, whose members are those of the former service", "crash_attributes": "a map",
		"distribution_build1": "a map by the fields that are asked for", "session1_single": "likewise", "tester1": "likewise",
		"distribution_build_status": "words of storage/distribution; a request has fewer",
		"crash_report":              "what clients send, read by storage/report", "crashFormat": "formats of crash submission",
		"crash_submission": "what must be there of crash_report",
		"platform":         "words of storage/artifact", "signature_verification": "likewise",
	}
	c, err := readCode(newRooms(), allTypes())
	require.NoError(t, err)
	fragments, err := readFragments(os.DirFS("../.."), "api")
	require.NoError(t, err)
	var found []string
	for _, f := range fragments {
		require.NoError(t, members(member(f.root, "schemas"), func(name string, _ *yaml.Node) error {
			if c.schemas[name] == nil {
				found = append(found, name)
			}
			return nil
		}))
	}
	require.ElementsMatch(t, slices.Collect(maps.Keys(reasons)), found)
}

func TestFragmentsRefuse(t *testing.T) {
	t.Parallel()
	for content, want := range map[string]string{
		"[]":                                     "is no object",
		"tag: a\ntag: b":                         "tag is there twice",
		"operation: {}":                          "operation is no member of a fragment",
		"schemas: {a: {default: 0090}}":          "0090 is no value of JSON",
		"schemas: {a: {maximum: .inf}}":          ".inf is no value of JSON",
		"schemas: {a: &x {type: string}, b: *x}": "an alias",
		"schemas: {a: {type: string, type: x}}":  "type is there twice",
	} {
		_, err := parseFragment([]byte(content))
		require.ErrorContains(t, err, want, content)
	}
}

type kind string

type inner struct {
	Word string `json:"word"`
}

type outer struct {
	inner
	ID     uuid.UUID      `json:"id"`
	Kind   kind           `json:"kind"`
	At     *time.Time     `json:"at"`
	Size   int64          `json:"size"`
	Share  float64        `json:"share,omitempty"`
	Whole  *inner         `json:"whole"`
	Maybe  *inner         `json:"maybe,omitempty"`
	All    []inner        `json:"all"`
	Labels map[string]any `json:"labels"`
	Own    struct {
		N int `json:"n"`
	} `json:"own"`
	hidden int
}

func TestSchemasOfTypes(t *testing.T) {
	t.Parallel()
	require.Zero(t, outer{}.hidden)
	r, err := newReflector([]route.Types{{Schemas: map[string]any{"inner": inner{}, "outer": outer{}}, Words: []any{[]kind{"a", "b"}}}})
	require.NoError(t, err)
	answer, err := r.answer(outer{})
	require.NoError(t, err)
	require.Equal(t, written(t, parsed(t, `
allOf:
- {$ref: '#/components/schemas/inner'}
- type: object
  properties:
    id: {type: string, format: uuid}
    kind: {type: string, enum: [a, b]}
    at: {type: string, format: date-time, nullable: true}
    size: {type: integer, format: int64}
    share: {type: number}
    whole: {type: object, nullable: true, allOf: [{$ref: '#/components/schemas/inner'}]}
    maybe: {$ref: '#/components/schemas/inner'}
    all: {type: array, items: {$ref: '#/components/schemas/inner'}}
    labels: {type: object, additionalProperties: {}}
    own: {type: object, properties: {n: {type: integer}}, required: [n]}
  required: [id, kind, at, size, whole, all, labels, own]
`)), written(t, answer))

	request, err := r.request(struct {
		Name *string `json:"name"`
	}{}, true)
	require.NoError(t, err)
	require.Equal(t, written(t, parsed(t, `{type: object, properties: {name: {type: string}}, additionalProperties: false}`)),
		written(t, request))
}

func TestFragmentsCompleteTypes(t *testing.T) {
	t.Parallel()
	base := `{type: object, properties: {a: {type: string}, b: {$ref: '#/components/schemas/x'}, c: {}, d: {type: string, nullable: true}, ` +
		`f: {type: string, enum: [x, y]}}, required: [a]}`
	for over, want := range map[string]string{
		`{description: D, required: [a, b]}`: `{type: object, properties: {a: {type: string}, b: {$ref: '#/components/schemas/x'}, c: {}, ` +
			`d: {type: string, nullable: true}, f: {type: string, enum: [x, y]}}, required: [a, b], description: D}`,
		`{properties: {a: {enum: [x]}, b: {description: B}, c: {type: integer}, d: {nullable: false}}}`: `{type: object, properties: {a: ` +
			`{type: string, enum: [x]}, ` +
			`b: {allOf: [{$ref: '#/components/schemas/x'}], description: B}, c: {type: integer}, d: {type: string}, f: {type: string, enum: [x, ` +
			`y]}}, required: [a]}`,
		`{properties: {e: {type: string}}}`:  "the type has no member e",
		`{properties: {a: {type: integer}}}`: "the type is string, not integer",
		`{properties: {b: {type: string}}}`:  "the type is that of another schema",
		`{properties: {f: {enum: [x]}}}`: `{type: object, properties: {a: {type: string}, b: {$ref: '#/components/schemas/x'}, c: {}, ` +
			`d: {type: string, nullable: true}, f: {type: string, enum: [x]}}, required: [a]}`,
		`{properties: {f: {enum: [x, z]}}}`:    "the type has no value z",
		`{$ref: '#/components/schemas/other'}`: "the type has members of its own",
	} {
		merged, err := mergeSchema(parsed(t, base), parsed(t, over), "thing")
		if err != nil {
			require.ErrorContains(t, err, want, over)
			continue
		}
		require.Equal(t, written(t, parsed(t, want)), written(t, merged), over)
	}
}

func TestDescriptionNeedsEachRoute(t *testing.T) {
	t.Parallel()
	_, err := describe(fstest.MapFS{"api/openapi.yaml": {Data: []byte("document: {openapi: 3.0.3}\noperations: {GET /openapi.json: {}}\n")}})
	require.ErrorContains(t, err, "GET /docs is not described: add it to api/reference/openapi.yaml")
	_, err = describe(fstest.MapFS{"api/openapi.yaml": {Data: []byte("operations: {GET /openapi.json: {deprecated: true}}\n")}})
	require.ErrorContains(t, err, "GET /openapi.json: its path says whether it is deprecated")
	_, err = describe(fstest.MapFS{"api/openapi.yaml": {Data: []byte("operations: {GET /docs: {}}\n")}})
	require.ErrorContains(t, err, "api/openapi.yaml: GET /docs is no route of this package")
	_, err = describe(fstest.MapFS{"api/openapi.yaml": {Data: []byte("schemas: {a: {}}\n")},
		"api/crash/openapi.yaml": {Data: []byte("schemas: {a: {}}\n")}})
	require.ErrorContains(t, err, "schemas a stands in another fragment")
}
