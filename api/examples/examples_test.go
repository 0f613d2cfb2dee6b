package examples

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/api/description"
)

// The page /docs fills an example in: the id of a real thing may only stand where it is read.
func TestChangesHaveNoExampleOfAnID(t *testing.T) {
	t.Parallel()
	all, err := All()
	require.NoError(t, err)
	require.Equal(t, "1", all["deleteProject"].Request.Path["id"])
	document, err := description.Parse([]byte(`{
		"paths": {"/projects/{id}": {
			"get": {"operationId": "getProject", "parameters": [{"name": "id", "in": "path", "schema": {"type": "integer"}}]},
			"delete": {"operationId": "deleteProject", "parameters": [{"name": "id", "in": "path", "schema": {"type": "integer"}}]},
			"put": {"operationId": "updateProject", "parameters": [{"$ref": "#/components/parameters/id"}]}
		}},
		"components": {"parameters": {"id": {"name": "id", "in": "path", "schema": {"type": "integer"}}}}
	}`))
	require.NoError(t, err)
	require.NoError(t, Add(document))
	item := document.Get("paths", "/projects/{id}")
	require.NotNil(t, item.Get("get", "parameters").Values[0].Get("example"))
	require.Nil(t, item.Get("delete", "parameters").Values[0].Get("example"))
	require.Nil(t, document.Get("components", "parameters", "id", "example"))
}

// What a person wrote is the better example.
func TestWrittenExamplesStay(t *testing.T) {
	t.Parallel()
	for before, kept := range map[string]bool{`{}`: false, `{"example": {"written": true}}`: true,
		`{"examples": {"a": {"value": {}}}}`: true} {
		media, err := description.Parse([]byte(before))
		require.NoError(t, err)
		response, content := &description.Node{Kind: description.Object}, &description.Node{Kind: description.Object}
		content.Set("application/json", media)
		response.Set("content", content)
		answer := Answer{Status: 200, Type: "application/json", Body: description.NewLiteral("recorded")}
		answer.addTo(response)
		require.Equal(t, !kept, media.Get("example").Is("recorded"), before)
	}
}
