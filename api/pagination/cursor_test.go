package pagination

import (
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

func TestCursor(t *testing.T) {
	t.Parallel()
	at, id := time.Date(2026, 1, 2, 3, 4, 5, 678_000, time.UTC), uuid.Must(uuid.NewV7())
	read := func(text string) (time.Time, uuid.UUID, error) { return Cursor(url.Values{"cursor": {text}}, "cursor") }
	gotAt, gotID, err := read(CursorText(at, id))
	require.NoError(t, err)
	require.Equal(t, at, gotAt)
	require.Equal(t, id, gotID)
	_, gotID, err = read("")
	require.NoError(t, err)
	require.Equal(t, uuid.Nil, gotID)
	for _, text := range []string{"x", strings.Repeat("x", 32) + "x", strings.Repeat("!", 32), strings.Repeat("_", 32),
		CursorText(at, uuid.Nil),
		CursorText(time.Date(12000, 1, 1, 0, 0, 0, 0, time.UTC), id)} {
		_, _, err := read(text)
		require.ErrorContains(t, err, "cursor", text)
	}
}

// Whatever a caller sends is refused, or written again as it was.
func FuzzCursor(f *testing.F) {
	f.Add("")
	f.Add(CursorText(time.Now(), uuid.Must(uuid.NewV7())))
	f.Fuzz(func(t *testing.T, text string) {
		at, id, err := Cursor(url.Values{"cursor": {text}}, "cursor")
		if err != nil || id == uuid.Nil {
			return
		}
		require.Equal(t, strings.TrimSpace(text), CursorText(at, id))
	})
}
