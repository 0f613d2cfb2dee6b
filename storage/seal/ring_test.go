package seal

import (
	"bytes"
	"crypto/rand"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRing(t *testing.T) {
	t.Parallel()
	a, b, c := strings.Repeat("a", 32), strings.Repeat("b", 40), strings.Repeat("c", 32)
	before, err := NewRing(a, "")
	require.NoError(t, err)
	sealed, err := Seal(before, Tunnel, "s3cret")
	require.NoError(t, err)
	require.True(t, before.Current(sealed))

	after, err := NewRing(b, a+"\n "+c+" "+b)
	require.NoError(t, err)
	require.Len(t, after, 3)
	require.Equal(t, []string{Fingerprint([]byte(b)), Fingerprint([]byte(a)), Fingerprint([]byte(c))}, after.Fingerprints())
	require.False(t, after.Current(sealed))
	require.Equal(t, Fingerprint([]byte(a)), after.SealedBy(Tunnel, sealed))
	text, err := Unseal(after, Tunnel, sealed)
	require.NoError(t, err)
	require.Equal(t, "s3cret", text)

	anew, err := Seal(after, Tunnel, text)
	require.NoError(t, err)
	require.True(t, after.Current(anew))
	_, err = Unseal(before, Tunnel, anew)
	require.ErrorIs(t, err, ErrUnseal, "the key of before does not open what the new one sealed")
	_, err = Unseal(Ring{[]byte(b)}, Tunnel, sealed)
	require.ErrorIs(t, err, ErrUnseal)
	require.Empty(t, Ring{[]byte(b)}.SealedBy(Tunnel, sealed))
}

// TestUnnamedKey reads secrets of version 1, which do not name their key.
func TestUnnamedKey(t *testing.T) {
	t.Parallel()
	key := bytes.Repeat([]byte("k"), 32)
	gcm, err := sealCipher(key, Webhook)
	require.NoError(t, err)
	sealed := gcm.Seal([]byte{1}, nil, []byte("of before"), []byte{1})
	text, err := Unseal(Ring{bytes.Repeat([]byte("l"), 32), key}, Webhook, sealed)
	require.NoError(t, err)
	require.Equal(t, "of before", text)
	_, err = Unseal(Ring{bytes.Repeat([]byte("l"), 32)}, Webhook, sealed)
	require.ErrorIs(t, err, ErrUnseal)
}

func TestRingRefuses(t *testing.T) {
	t.Parallel()
	key := strings.Repeat("k", 32)
	_, err := NewRing("", key)
	require.ErrorContains(t, err, "SLIPWAY_SIGNING_KEY is not")
	_, err = NewRing(key, "short")
	require.ErrorContains(t, err, "SLIPWAY_SIGNING_KEYS_OLD")
	require.NotContains(t, err.Error(), "short")
	for _, current := range []string{"abc", key[1:]} {
		_, err = NewRing(current, "")
		require.ErrorContains(t, err, "SLIPWAY_SIGNING_KEY must have at least 32 bytes; openssl rand -hex 32 makes one")
		require.NotContains(t, err.Error(), current)
	}
	none, err := NewRing("", " \n")
	require.NoError(t, err)
	require.False(t, none.CanSeal())
	_, err = Seal(none, Tunnel, rand.Text())
	require.ErrorContains(t, err, "SLIPWAY_SIGNING_KEY")
}

func TestFingerprint(t *testing.T) {
	t.Parallel()
	key := []byte(strings.Repeat("k", 32))
	require.Regexp(t, `^[0-9a-f]{32}$`, Fingerprint(key))
	require.NotEqual(t, Fingerprint(key), Fingerprint(append(bytes.Clone(key), 'k')))
	require.Len(t, ShortFingerprint(Fingerprint(key)), 8)
}
