package usage

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestNearest(t *testing.T) {
	t.Parallel()
	names := []string{"data-dir", "listen", "log-format", "log-level", "public-url", "region", "database-url"}
	for word, want := range map[string]string{"lissten": "listen", "data-folder": "data-dir", "datadir": "data-dir", "loglevl": "log-level",
		"databse-url": "database-url", "regoin": "region", "x": "", "": "", "port": "", "public": ""} {
		require.Equal(t, want, Nearest(word, names), word)
	}
}
