package jsonpath_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/step/jsonpath"
)

func TestPaths(t *testing.T) {
	t.Parallel()
	doc := []byte(`{"a":[{"n":1.50,"s":"x"},{"n":2,"s":"y","o":{"k":null}}],"b":true}`)
	for path, want := range map[string][]string{
		"$.a[0].n": {"1.50"}, "$.a[*].s": {"x", "y"}, "$..s": {"x", "y"}, "$.b": {"true"}, "$.none": nil, "$.a[1].o": {`{"k":null}`},
		"$.a[-1:].s": {"y"}, `$.a[?@.s == "y"].n`: {"2"}, `$["a"][0]["s"]`: {"x"},
	} {
		parsed, err := jsonpath.Parse(path)
		require.NoError(t, err, path)
		found, err := parsed.Select(doc)
		require.NoError(t, err)
		require.Equal(t, want, found, path)
	}
	for _, path := range []string{"", "a", "$.", "$[0,0]", "$..a..b", "$..[?@.a]", "$[?@.a == $.b]", "$[?@[?@.a]]",
		"$" + strings.Repeat(".a", 300)} {
		_, err := jsonpath.Parse(path)
		require.Error(t, err, path)
	}
	parsed, err := jsonpath.Parse("$.a")
	require.NoError(t, err)
	_, err = parsed.Select([]byte("<html>"))
	require.Error(t, err)
}

func FuzzPath(f *testing.F) {
	for _, seed := range []string{"$.a", "$..a", `$[?@.a=="b"]`, "$[0:9:-2]", "$['a']", "$[?match(@.a,'(a*)*b')]"} {
		f.Add(seed, []byte(`{"a":[1,{"b":"c"}]}`))
	}
	f.Fuzz(func(t *testing.T, path string, doc []byte) {
		parsed, err := jsonpath.Parse(path)
		if err != nil || len(doc) > 1<<10 {
			return
		}
		if found, err := parsed.Select(doc); err == nil && len(found) > 2<<10 {
			t.Fatalf("%d results of %d bytes", len(found), len(doc))
		}
	})
}
