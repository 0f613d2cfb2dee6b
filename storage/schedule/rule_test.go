package schedule

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestZonesAreThoseOfTheDatabase(t *testing.T) {
	t.Parallel()
	loaded := zones{}
	for _, name := range []string{"UTC", "Europe/Berlin", "America/Argentina/Buenos_Aires", "Etc/GMT+5"} {
		zone, err := loaded.load(name)
		require.NoError(t, err, name)
		again, err := loaded.load(name)
		require.NoError(t, err, name)
		require.Same(t, zone, again)
	}
	for _, name := range []string{"", "Local", "local", "localtime", "posixrules", "Factory", "right/UTC", "posix/UTC",
		"Europe//Berlin", "Europe/./Berlin", "../etc/passwd", "/etc/localtime", "Europe/Atlantis", "Mars", "+01:00", " UTC"} {
		_, err := loaded.load(name)
		require.ErrorIs(t, err, errUnknownZone, name)
	}
}
