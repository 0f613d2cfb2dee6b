package tests

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWhatIsImported(t *testing.T) {
	t.Parallel()
	for document, want := range map[string]string{
		`[{"id":"s1"}]`:                        `{"steps":[{"id":"s1"}]}`,
		`{"name":"a","steps":[]}`:              `{"name":"a","steps":[]}`,
		`{"name":"a","tests":[]}`:              `{"name":"a","side":{"name":"a","tests":[]}}`,
		`{"id":"1","name":"a","revisions":[]}`: `{"name":"a"}`,
		`{"data":{"id":"1","name":"a","tags":["x"],"revisions":[{"steps":[1]},{"steps":[2],"intent":"b"}]}}`: `
			{"intent":"b","name":"a","steps":[2],"tags":["x"]}`,
	} {
		body, fault := importOf(document)
		require.Empty(t, fault)
		text, err := json.Marshal(body)
		require.NoError(t, err)
		require.JSONEq(t, want, string(text))
	}
	_, fault := importOf("[\n{\n]")
	require.Contains(t, fault, "in line 3")
	_, fault = importOf(`"a"`)
	require.Contains(t, fault, "must be an array of steps")
}
