package testrun

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/slipway-ci/client"
)

// Whatever is asked, each test is in exactly one shard, and no shard takes longer than it
// must by more than its longest test.
func TestEachTestIsInOneShard(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	for round := range 300 {
		tests, parts := random.IntN(60), 1+random.IntN(12)
		ids, took := []string{}, map[string]time.Duration{}
		var sum, longest time.Duration
		for i := range tests {
			id := fmt.Sprintf("%024x", random.Uint64())
			ids = append(ids, id)
			if round%3 > 0 || i%2 == 0 {
				took[id] = time.Duration(random.IntN(100)) * time.Second
			}
		}
		shards := split(ids, took, parts)
		require.Len(t, shards, parts)
		require.ElementsMatch(t, ids, slices.Concat(shards...))
		for _, id := range ids {
			sum, longest = sum+took[id], max(longest, took[id])
		}
		if len(took) == len(ids) {
			for _, shard := range shards {
				var length time.Duration
				for _, id := range shard {
					length += took[id]
				}
				require.LessOrEqual(t, length, sum/time.Duration(parts)+longest)
			}
		}
		// Another order of the same tests, as another job may read them, changes nothing.
		other := slices.Clone(ids)
		random.Shuffle(len(other), func(i, k int) { other[i], other[k] = other[k], other[i] })
		require.Equal(t, shards, split(other, took, parts))
	}
}

func TestTheLongestTestIsFirst(t *testing.T) {
	t.Parallel()
	took := map[string]time.Duration{"a": 10 * time.Second, "b": 6 * time.Second, "c": 5 * time.Second, "d": 4 * time.Second}
	require.Equal(t, [][]string{{"a"}, {"b"}, {"c", "d"}}, split([]string{"d", "c", "b", "a"}, took, 3))
	require.Equal(t, [][]string{{"a", "c"}, {"b"}}, split([]string{"a", "b", "c", "a"}, nil, 2), "unknown ones are spread; one that stands twice is one")
}

func TestParseShard(t *testing.T) {
	t.Parallel()
	s, err := ParseShard("2/4")
	require.NoError(t, err)
	require.Equal(t, Shard{2, 4}, s)
	require.Equal(t, "2/4", s.String())
	for _, text := range []string{"", "2", "0/4", "5/4", "-1/4", "a/4", "1/0", "1/1001", "1/2/3", "1/"} {
		_, err := ParseShard(text)
		var usage *UsageError
		require.ErrorAs(t, err, &usage, text)
	}
}

// Only runs that were over by the instant count: so all jobs of a pipeline see the same.
func TestMedianOfRunsBeforeAnInstant(t *testing.T) {
	t.Parallel()
	ms := func(n int64) *int64 { return &n }
	runs := []client.PastRun{
		{Status: "PASSED", EndDate: "2026-11-29T08:00:01.000Z", DurationMS: ms(100_000)},
		{Status: "FAILED", EndDate: "2026-11-29T08:00:00.000Z", DurationMS: ms(3000)},
		{Status: "RUNNING"},
		{Status: "CANCELLED", EndDate: "2026-11-28T08:00:00.000Z", DurationMS: ms(1)},
		{Status: "PASSED", EndDate: "2026-11-28T08:00:00.000Z", DurationMS: ms(5000)},
		{Status: "ERROR", EndDate: "2026-11-27T08:00:00.000Z", DurationMS: ms(600_000)},
		{Status: "FLAKY", EndDate: "2026-11-27T08:00:00.000Z", DurationMS: ms(4000)},
	}
	at := time.Date(2026, 11, 29, 8, 0, 0, 0, time.UTC)
	d, ok := median(runs, at)
	require.True(t, ok)
	require.Equal(t, 4*time.Second, d)
	d, ok = median(runs, time.Time{})
	require.True(t, ok)
	require.Equal(t, 5*time.Second, d)
	_, ok = median(runs[:1], at)
	require.False(t, ok)
}
