package generate

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest/sentence"
)

func TestPairsAreChosen(t *testing.T) {
	t.Parallel()
	all, err := (&Command{Pairs: "."}).load()
	require.NoError(t, err)
	some, err := (&Command{Pairs: "^(drag|mail-reply)$"}).load()
	require.NoError(t, err)
	require.Less(t, len(some[0].Pairs), len(all[0].Pairs))
	for _, p := range some[0].Pairs {
		require.True(t, p.Kind == "drag" || p.Name == "mail-reply", p.Name)
	}
	_, err = (&Command{Pairs: "no such pair"}).load()
	require.ErrorContains(t, err, "no pair")
	_, err = (&Command{Pairs: "("}).load()
	require.Error(t, err)
	_, err = (&Command{Pairs: ".", Set: t.TempDir()}).load()
	require.Error(t, err, "an empty set")
}

func TestPartsOfGenerateHaveDeadlines(t *testing.T) {
	t.Parallel()
	c := &Command{Pairs: "^mail-reply$", Only: []string{"nonsense"}, Timeout: time.Minute}
	require.ErrorContains(t, c.Run(t.Context()), `no part "nonsense"`, "before a browser is started")
	sets, err := c.load()
	require.NoError(t, err)
	var names []string
	for _, b := range []*bench{{Command: c, sets: sets}, {Command: &Command{Page: "a.html", Timeout: time.Minute}}} {
		for _, p := range b.parts() {
			require.NotNil(t, p.Run, p.Name)
			require.Positive(t, p.Limit, p.Name)
			names = append(names, p.Name)
		}
	}
	require.Equal(t, []string{"pairs", "changes", "replays", "check", "overhead", "throughput", "try"}, names)
}

func TestTally(t *testing.T) {
	t.Parallel()
	var c tally
	require.Equal(t, "-", c.String())
	c.add(true)
	c.add(false)
	require.Equal(t, "1 of 2 (50.0 %)", c.String())
}

func TestRatesAreByEffect(t *testing.T) {
	t.Parallel()
	c := &generateCounts{kinds: map[string]*tally{}}
	p := &sentence.Pair{Kind: "shop", Lang: "en"}
	c.add(p, "Add the lamp to the cart. Add the chair to the cart. The total is 12.", &sentence.Ending{}, "")
	c.add(p, "Delete the lamp", &sentence.Ending{}, "STEP_FAILED")
	got := map[string]string{}
	for name, rate := range c.kinds {
		got[name] = rate.String()
	}
	require.Equal(t, map[string]string{"kind: shop": "1 of 2 (50.0 %)", "language: en": "1 of 2 (50.0 %)", "effect: add": "1 of 1 (100.0 %)",
		"effect: check": "1 of 1 (100.0 %)", "effect: remove": "0 of 1 (0.0 %)"}, got)
}

func TestShortStep(t *testing.T) {
	t.Parallel()
	require.Equal(t, `{"selector":{"type":"css","value":"a"},"text":"x"}`, shortStep.ReplaceAllString(
		`{"selector":{"type":"css","value":"a","fingerprint":{"tag":"a","attributes":{"id":"b"},"surroundings":{"before":{"tag":"i"}}}},`+
			`"text":"x"}`, ""))
}

func TestReplaysAreCounted(t *testing.T) {
	t.Parallel()
	c := replayCounts{parts: map[string]*tally{}}
	c.add(true, true, sentence.Redesign{Changes: []string{sentence.Other}, Parts: []string{sentence.IDs, sentence.Theme}})
	c.add(true, false, sentence.Redesign{Changes: []string{sentence.Theme}, Parts: []string{sentence.Theme}})
	c.add(false, true, sentence.Redesign{})
	require.Equal(t, "2 of 3 (66.7 %)", c.plain.String())
	require.Equal(t, "1 of 2 (50.0 %)", c.changed.String())
	require.Equal(t, "1 of 3 (33.3 %)", c.both.String())
	require.Equal(t, "1 of 3 (33.3 %)", c.parts[sentence.IDs].String())
	require.Equal(t, "0 of 3 (0.0 %)", c.parts[sentence.Order].String())
	require.Equal(t, "2 of 3 (66.7 %)", c.parts[sentence.Theme].String())
}
