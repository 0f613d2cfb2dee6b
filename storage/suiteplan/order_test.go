package suiteplan

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage"
)

func TestOrder(t *testing.T) {
	t.Parallel()
	for name, of := range map[string]struct {
		cases, first []string
		needs        map[string][]string
		want         []Planned
	}{
		"by their ids": {cases: []string{"b", "a"}, want: []Planned{{"a", []string{}, false}, {"b", []string{}, false}}},
		"as the order says, the others after": {cases: []string{"a", "b", "c"}, first: []string{"c", "x", "b"},
			want: []Planned{{"c", []string{}, false}, {"b", []string{}, false}, {"a", []string{}, false}}},
		"what is needed goes before, whatever the order": {cases: []string{"a", "b", "c"}, first: []string{"a"},
			needs: map[string][]string{"a": {"c", "x"}, "c": {"b"}},
			want:  []Planned{{"b", []string{}, true}, {"c", []string{"b"}, true}, {"a", []string{"c"}, false}}},
		"each need once": {cases: []string{"a", "b"}, needs: map[string][]string{"b": {"a", "a"}},
			want: []Planned{{"a", []string{}, true}, {"b", []string{"a"}, false}}},
		"no cases": {first: []string{"a"}, needs: map[string][]string{"a": {"b"}}, want: []Planned{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, of.want, order(of.cases, of.first, of.needs))
		})
	}
}

func TestCycles(t *testing.T) {
	t.Parallel()
	names := map[string]string{"a": "Pay", "b": "Cart"}
	for name, of := range map[string]struct {
		needs map[string][]string
		want  string
	}{
		"none":          {map[string][]string{"a": {"b", "c"}, "b": {"c"}}, ""},
		"itself":        {map[string][]string{"a": {"a"}}, `has a cycle: "Pay" needs "Pay"`},
		"over others":   {map[string][]string{"a": {"b"}, "b": {"c"}, "c": {"a"}}, `has a cycle: "Pay" needs "Cart" needs c needs "Pay"`},
		"behind others": {map[string][]string{"a": {"b"}, "b": {"c"}, "c": {"b"}}, `has a cycle: "Cart" needs c needs "Cart"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := checkNeeds(of.needs, names)
			if of.want == "" {
				require.NoError(t, err)
				return
			}
			var wrong *storage.InvalidError
			require.ErrorAs(t, err, &wrong)
			require.Equal(t, of.want, wrong.Msg)
		})
	}
	many := map[string][]string{}
	for i := range MaxNeeds + 1 {
		many[fmt.Sprint(i)] = []string{"x"}
	}
	require.ErrorContains(t, checkNeeds(many, nil), "at most 1000 dependencies")
}

// FuzzOrder: whatever the dependencies, each case stands once in the plan, behind all that it
// needs; and what has a cycle is refused.
func FuzzOrder(f *testing.F) {
	f.Add(uint64(1), uint8(5), uint8(3))
	f.Add(uint64(9), uint8(40), uint8(80))
	f.Fuzz(func(t *testing.T, seed uint64, cases, edges uint8) {
		random := rand.New(rand.NewPCG(seed, 1))
		ids, needs := make([]string, int(cases)+1), map[string][]string{}
		for i := range ids {
			ids[i] = fmt.Sprintf("%03d", i)
		}
		for range edges {
			a, b := ids[random.IntN(len(ids))], ids[random.IntN(len(ids))]
			needs[a] = append(needs[a], b)
		}
		acyclic := checkNeeds(needs, nil) == nil
		place := map[string]int{}
		for i, p := range order(ids, ids[:random.IntN(len(ids))], needs) {
			require.NotContains(t, place, p.CaseID)
			place[p.CaseID] = i
			for _, need := range p.Needs {
				if acyclic {
					require.Contains(t, place, need)
				}
			}
		}
		require.Len(t, place, len(ids))
	})
}

func TestShardIsChecked(t *testing.T) {
	t.Parallel()
	for _, of := range []struct {
		s     Shard
		field string
	}{
		{Shard{1, 1, "a"}, ""}, {Shard{256, 256, "a"}, ""}, {Shard{0, 4, "a"}, "shard.index"}, {Shard{5, 4, "a"}, "shard.index"},
		{Shard{1, 0, "a"}, "shard.of"}, {Shard{1, 257, "a"}, "shard.of"}, {Shard{1, 4, " "}, "shard.key"},
	} {
		err := of.s.Check()
		if of.field == "" {
			require.NoError(t, err)
			continue
		}
		var wrong *storage.InvalidError
		require.ErrorAs(t, err, &wrong)
		require.Equal(t, of.field, wrong.Field)
	}
}
