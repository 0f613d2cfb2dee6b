package generate

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest/sentence"
)

func TestReplaysAreCounted(t *testing.T) {
	t.Parallel()
	var c replayCounts
	c.add(true, true, sentence.Redesign{})
	require.Equal(t, tally{1, 1}, c.plain)
	require.Equal(t, 1, c.none)
	require.Zero(t, c.changed.all, "nothing was changed")
	require.Zero(t, c.both.all)

	c.add(true, true, sentence.Redesign{Changes: []string{sentence.Other}, Parts: []string{sentence.Theme}})
	require.Equal(t, 1, c.theme)
	require.Zero(t, c.changed.all, "only the theme was")
	require.Zero(t, c.together.all)

	c.add(false, true, sentence.Redesign{Changes: []string{sentence.Other}, Parts: []string{sentence.IDs, sentence.Theme}})
	c.add(true, false, sentence.Redesign{Changes: []string{sentence.Wrap}, Parts: []string{sentence.Wrap},
		Left: []sentence.Left{{Change: sentence.Other, Why: sentence.StepsFail}, {Change: sentence.IDs, Why: sentence.StepsFail}}})
	require.Equal(t, tally{3, 4}, c.plain)
	require.Equal(t, tally{1, 2}, c.changed)
	require.Equal(t, tally{1, 1}, c.together)
	require.Equal(t, tally{0, 2}, c.both)
	require.Equal(t, tally{1, 4}, *c.parts[sentence.IDs])
	require.Equal(t, map[string]int{sentence.StepsFail: 1}, c.left[sentence.IDs])
}

func TestReplaysCountInTheDeadline(t *testing.T) {
	t.Parallel()
	c := &Command{Pairs: "^mail-reply$", Timeout: time.Minute}
	sets, err := c.load()
	require.NoError(t, err)
	limit := func(only ...string) time.Duration {
		return (&bench{Command: &Command{Only: only}, sets: sets}).parts()[0].Limit
	}
	require.Greater(t, limit("pairs", "replays"), limit("pairs"))
}
