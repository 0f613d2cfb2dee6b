package gatefile

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
)

func read(t *testing.T, text string) any {
	t.Helper()
	var n yaml.Node
	require.NoError(t, yaml.Unmarshal([]byte(text), &n))
	policy, err := Read(&n)
	require.NoError(t, err)
	return policy
}

func TestSuitesByName(t *testing.T) {
	t.Parallel()
	asked := map[string]int{}
	idOf := func(word string) (string, error) {
		asked[word]++
		if word == "none" {
			return "", errors.New("no suite has the name none")
		}
		return "id of " + word, nil
	}
	policy := read(t, "conditions: [{type: suites, suite_ids: [Smoke, Shop]}, {type: size, max_bytes: 5}, odd, {suite_ids: 7}]\n"+
		"run_suites: [{suite_id: Smoke, url: u}, {url: v}, {suite_id: 3}]\n")
	require.NoError(t, NameSuites(policy, idOf))
	require.Equal(t, read(t,
		"conditions: [{type: suites, suite_ids: [id of Smoke, id of Shop]}, {type: size, max_bytes: 5}, odd, {suite_ids: 7}]\n"+
			"run_suites: [{suite_id: id of Smoke, url: u}, {url: v}, {suite_id: 3}]\n"), policy)
	require.Equal(t, map[string]int{"Smoke": 1, "Shop": 1}, asked)
	require.EqualError(t, NameSuites(read(t, "run_suites: [{suite_id: none}]"), idOf), "no suite has the name none")
	require.NoError(t, NameSuites(read(t, "[1, 2]"), idOf))
	require.NoError(t, NameSuites(nil, idOf))
}

func TestDiffers(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ wanted, have, at string }{
		{"{a: 1}", "{a: 1, b: 2}", ""},
		{"{a: 1}", "{a: 2}", "gate.a"},
		{"{a: [1, {b: x}]}", "{a: [1, {b: y}]}", "gate.a[1].b"},
		{"{a: [1]}", "{a: [1, 2]}", "gate.a"},
		{"{a: {b: 1}}", "{a: 1}", "gate.a"},
	} {
		require.Equal(t, c.at, Differs(read(t, c.wanted), read(t, c.have), "gate"), "%s and %s", c.wanted, c.have)
	}
}
