package account_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/account"
)

func TestIssuerMakesParsableKeys(t *testing.T) {
	t.Parallel()
	keys := issuer(t, "eu-1")
	seen := map[string]bool{}
	for _, kind := range []account.KeyKind{account.KindAPI, account.KindAccess, account.KindCrash, account.KindOperator} {
		s, err := keys.New(kind)
		require.NoError(t, err)
		require.Regexp(t, `^slp_eu-1_`+string(kind)+`_[0-9A-Za-z]{40}$`, s.Text)
		require.Equal(t, s.Text[len(s.Text)-4:], s.Hint)
		require.NotContains(t, fmt.Sprintf("%v %+v %#v %s", s, s, s, s), s.Text)
		key, err := account.ParseKey(s.Text)
		require.NoError(t, err)
		require.Equal(t, account.Key{Region: "eu-1", Kind: kind, Digest: s.Digest}, key)
		require.False(t, seen[s.Text])
		seen[s.Text] = true
	}
}

func TestIssuerUsesEveryCharacterEvenly(t *testing.T) {
	t.Parallel()
	// Bytes 248 to 255 must be dropped: from a source of only those and 61s,
	// nothing but the last character may come.
	source := bytes.NewReader(bytes.Repeat([]byte{255, 61, 248}, 100))
	keys, err := account.NewIssuer("local", source)
	require.NoError(t, err)
	s, err := keys.New(account.KindAPI)
	require.NoError(t, err)
	require.True(t, strings.HasSuffix(s.Text, "_"+strings.Repeat("z", 40)))
	empty, err := account.NewIssuer("local", strings.NewReader("short"))
	require.NoError(t, err)
	_, err = empty.New(account.KindAPI)
	require.Error(t, err, "a source that ends must not give a weak key")
}

func TestParseKeyRefuses(t *testing.T) {
	t.Parallel()
	random := strings.Repeat("a", 40)
	for _, text := range []string{
		"", "slp", "slp___", "slp_local_api_", "slp_local_api_" + random + "a", "slp_local_api_" + random[1:],
		"slp_local_api_" + random[1:] + "-", "slp_LOCAL_api_" + random, "slp__api_" + random,
		"slp_-x_api_" + random, "slp_local_root_" + random, "slq_local_api_" + random,
		"slp_local_api_" + random + "_x", " slp_local_api_" + random, strings.Repeat("x", 1<<20),
	} {
		_, err := account.ParseKey(text)
		require.ErrorIs(t, err, account.ErrMalformedKey, "%.60q", text)
	}
}

func TestKeyOfAnotherRegion(t *testing.T) {
	t.Parallel()
	s, err := issuer(t, "eu").New(account.KindAPI)
	require.NoError(t, err)
	key, err := account.ParseKey(s.Text)
	require.NoError(t, err)
	require.NoError(t, key.In("eu"))
	var re *account.RegionError
	require.True(t, errors.As(key.In("us"), &re))
	require.Equal(t, account.RegionError{Have: "eu", Want: "us"}, *re)
	require.Contains(t, re.Error(), `"eu"`)
}

func TestNewIssuerRefusesRegions(t *testing.T) {
	t.Parallel()
	for _, region := range []string{"", "EU", "e_u", "-eu", "eu-", strings.Repeat("a", 33)} {
		_, err := account.NewIssuer(region, nil)
		require.Error(t, err, region)
	}
}

func FuzzParseKey(f *testing.F) {
	f.Add("slp_local_api_" + strings.Repeat("0", 40))
	f.Add("slp_eu-1_crash_" + strings.Repeat("z", 40))
	f.Add("slp____")
	f.Fuzz(func(t *testing.T, text string) {
		key, err := account.ParseKey(text)
		if err != nil {
			return
		}
		if !strings.HasPrefix(text, "slp_"+key.Region+"_"+string(key.Kind)+"_") || key.Digest != account.DigestOf(text) {
			t.Fatalf("%q read as %+v", text, key)
		}
	})
}
