package shard_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/suiteplan/shard"
)

func TestSplit(t *testing.T) {
	t.Parallel()
	for name, of := range map[string]struct {
		ids   []string
		took  map[string]time.Duration
		needs map[string][]string
		parts int
		want  [][]string
	}{
		"the longest first, to the part that has least": {
			ids: []string{"a", "b", "c", "d"}, took: map[string]time.Duration{"a": 1, "b": 4, "c": 3, "d": 2}, parts: 2,
			want: [][]string{{"b", "a"}, {"c", "d"}}},
		"none was run: by their number": {ids: []string{"d", "c", "b", "a"}, parts: 2, want: [][]string{{"a", "c"}, {"b", "d"}}},
		"one that was not run counts as the mean": {
			ids: []string{"a", "b", "c"}, took: map[string]time.Duration{"a": 30, "b": 10}, parts: 2, want: [][]string{{"a"}, {"c", "b"}}},
		"those that take no time are spread": {
			ids: []string{"a", "b", "c"}, took: map[string]time.Duration{"a": 0, "b": 0, "c": 0}, parts: 3, want: [][]string{{"a"}, {"b"}, {"c"}}},
		"what needs one another stays together": {
			ids: []string{"a", "b", "c", "d"}, needs: map[string][]string{"d": {"a"}, "a": {"c"}}, parts: 2,
			want: [][]string{{"a", "c", "d"}, {"b"}}},
		"needs of tests that are not there": {ids: []string{"a", "b"}, needs: map[string][]string{"a": {"x"}, "b": {"x"}},
			parts: 2, want: [][]string{{"a"}, {"b"}}},
		"more parts than tests, and one twice": {ids: []string{"a", "a"}, parts: 3, want: [][]string{{"a"}, nil, nil}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, of.want, shard.Split(of.ids, of.took, of.needs, of.parts))
		})
	}
}

// Whatever the tests, each is in one part, those that need one another are in the same, the order
// they come in means nothing, and no part is far behind.
func TestEachTestIsInOnePart(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(7, 7))
	for range 300 {
		var ids []string
		took, needs := map[string]time.Duration{}, map[string][]string{}
		var longest, sum time.Duration
		for i := range random.IntN(200) {
			id := fmt.Sprintf("%03d", i)
			if ids = append(ids, id); random.IntN(4) > 0 {
				took[id] = time.Duration(random.IntN(1000)) * time.Millisecond
			}
			if i > 0 && random.IntN(5) == 0 {
				needs[id] = []string{ids[random.IntN(i)]}
			}
		}
		parts := 1 + random.IntN(256)
		split := shard.Split(ids, took, needs, parts)
		require.Len(t, split, parts)
		in := map[string]int{}
		var all []string
		for i, part := range split {
			for _, id := range part {
				in[id], all = i, append(all, id)
			}
		}
		slices.Sort(all)
		require.Equal(t, ids, all, "each once")
		for id, list := range needs {
			require.Equal(t, in[id], in[list[0]], "%s needs %s", id, list[0])
		}
		random.Shuffle(len(ids), func(i, j int) { ids[i], ids[j] = ids[j], ids[i] })
		require.Equal(t, split, shard.Split(ids, took, needs, parts))
		if len(needs) > 0 || len(took) < len(ids) {
			continue
		}
		for _, d := range took {
			longest, sum = max(longest, d), sum+d
		}
		for _, part := range split {
			var of time.Duration
			for _, id := range part {
				of += took[id]
			}
			require.LessOrEqual(t, of, sum/time.Duration(parts)+longest)
		}
	}
}
