package seal

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSeal(t *testing.T) {
	t.Parallel()
	key := Ring{bytes.Repeat([]byte("k"), 32)}
	for _, secret := range []string{"", "s3cret", strings.Repeat("x", 4000)} {
		a, err := Seal(key, Connection, secret)
		require.NoError(t, err)
		b, err := Seal(key, Connection, secret)
		require.NoError(t, err)
		require.NotEqual(t, a, b, "a nonce each")
		if secret != "" {
			require.NotContains(t, string(a), secret)
		}
		got, err := Unseal(key, Connection, a)
		require.NoError(t, err)
		require.Equal(t, secret, got)
		for i := range min(len(a), 60) {
			damaged := bytes.Clone(a)
			damaged[i] ^= 1
			_, err := Unseal(key, Connection, damaged)
			require.ErrorIs(t, err, ErrUnseal)
			_, err = Unseal(key, Connection, a[:i])
			require.ErrorIs(t, err, ErrUnseal)
		}
		_, err = Unseal(Ring{bytes.Repeat([]byte("l"), 32)}, Connection, a)
		require.ErrorIs(t, err, ErrUnseal)
	}
	_, err := Seal(Ring{key[0][:31]}, Connection, "x")
	require.ErrorContains(t, err, "SLIPWAY_SIGNING_KEY must have at least 32 bytes")
	_, err = Unseal(nil, Connection, []byte{1})
	require.ErrorContains(t, err, "SLIPWAY_SIGNING_KEY")
}

func TestPurposes(t *testing.T) {
	t.Parallel()
	key := Ring{bytes.Repeat([]byte("k"), 32)}
	sealed, err := Seal(key, Variable, "s3cret")
	require.NoError(t, err)
	_, err = Unseal(key, Tunnel, sealed)
	require.ErrorIs(t, err, ErrUnseal)
}
