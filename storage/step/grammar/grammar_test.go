package grammar_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/step/grammar"
)

func TestReader(t *testing.T) {
	t.Parallel()
	r := grammar.Reader{Text: "a\x00"}
	require.False(t, r.Take('b'))
	require.True(t, r.Take('a'))
	require.True(t, r.Take(0), "a NUL in the text is no end")
	require.False(t, r.Take(0))
	require.Zero(t, r.Next())
	require.Zero(t, r.Peek(5))
}

// Positions count characters, and what was read counts bytes: with the one that was
// looked at, and those that it leaves open.
func TestFail(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text                     string
		read, at, position, upTo int
	}{
		{"éa", 3, 2, 2, 4}, {"ab", 1, 0, 1, 2}, {"a-b", 1, 1, 2, 3}, {"a--b", 1, 1, 2, 4}, {"a---b", 1, 1, 2, 4},
		{"aéb", 1, 1, 2, 3}, {"", 0, 0, 1, 1},
	} {
		r := grammar.Reader{Text: c.text, At: c.read, Undecided: "-"}
		err := r.Fail(c.at, "no %s", "good")
		require.Equal(t, grammar.Error{Position: c.position, Read: c.upTo, Msg: "no good"}, *err, c.text)
	}
	require.EqualError(t, &grammar.Error{Position: 3, Msg: "no"}, "character 3: no")
}

func TestShorten(t *testing.T) {
	t.Parallel()
	require.Equal(t, strings.Repeat("x", 40), grammar.Shorten(strings.Repeat("x", 40)))
	require.Equal(t, strings.Repeat("x", 39)+"...", grammar.Shorten(strings.Repeat("x", 39)+"é"))
}
