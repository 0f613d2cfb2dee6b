package testfile

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const surrounded = `name: Buy a lamp
trace: "on"
setUp:
  - tool:
      type: run_group
      args:
        groupId: "0198c0de-aaaa-7000-8000-00000000000b"
        with:
          index: "007"
          user: '{{user}}'
steps:
  - tool:
      type: go_to_url
      args:
        url: /
tearDown:
  - tool:
      type: reload
`

// Steps around a test, and the values of parameters, whatever these are called, come back
// as they were written.
func TestStepsAroundATest(t *testing.T) {
	t.Parallel()
	c, err := Read([]byte(surrounded))
	require.NoError(t, err)
	require.Len(t, c.SetUp, 1)
	require.Len(t, c.TearDown, 1)
	require.JSONEq(t, `{"tool":{"type":"run_group","args":{"groupId":"0198c0de-aaaa-7000-8000-00000000000b","with":{"index":"007",`+
		`"user":"{{user}}"}}}}`,
		string(c.SetUp[0].Body))
	text, err := c.Write()
	require.NoError(t, err)
	require.Equal(t, surrounded, string(text))

	plainly, err := Read([]byte(strings.ReplaceAll(surrounded, `"007"`, `007`)))
	require.NoError(t, err)
	require.True(t, c.Same(plainly), "a plain 007 is the text that stands there")
	without := *c
	without.Trace = ""
	require.False(t, c.Same(&without))
	without = *c
	without.TearDown = nil
	require.False(t, c.Same(&without))
	_, err = Read([]byte(strings.ReplaceAll(surrounded, "user:", "index:")))
	require.EqualError(t, err, "line 10: index stands twice")
}
