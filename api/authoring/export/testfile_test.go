package export

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/api/authoring/export/script"
	"github.com/slipway-qa/slipway/storage/step/testfile"
)

// A file of tests is what the writer of files writes.
func TestTestFile(t *testing.T) {
	t.Parallel()
	file := &testfile.Case{ID: "64f0c2a7b1d0e5f3a1b2c4aa", Name: "Sign in", URL: "https://shop.example",
		Steps: []testfile.Step{{Body: []byte(`{"tool":{"type":"click","args":{"selector":{"type":"css","value":"#go"}}}}`)}}}
	file.Revision = file.Stamp("64f0c2a7b1d0e5f3a1b2c4ab")
	want, err := file.Write()
	require.NoError(t, err)
	f := export(t, YAML, script.Case{Name: "Sign in", File: file})
	require.Equal(t, File{Name: "sign-in.yaml", ContentType: "application/yaml", Code: string(want)}, f)
	read, err := testfile.Read([]byte(f.Code))
	require.NoError(t, err)
	require.False(t, read.Changed())
	_, _, err = Export(YAML, script.Case{Name: "Sign in"})
	require.ErrorIs(t, err, errNoFile)
}
