package outbound

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPages(t *testing.T) {
	t.Parallel()
	strict, err := New(Config{})
	require.NoError(t, err)
	private, err := New(Config{AllowPrivate: true})
	require.NoError(t, err)
	open, err := New(Config{AllowPrivate: true, AllowMetadata: true})
	require.NoError(t, err)
	for _, c := range []struct {
		name    string
		pages   Pages
		address string
		want    error
	}{
		{"a public address", Pages{Guard: strict}, "https://93.184.216.34/a?b=c#d", nil},
		{"with a user", Pages{Guard: strict}, "https://me:secret@93.184.216.34/", nil},
		{"a blank page", Pages{Guard: strict}, "about:blank", nil},
		{"a name that is known elsewhere", Pages{Guard: strict}, "http://shop.invalid/", nil},
		{"loopback", Pages{Guard: strict}, "http://127.0.0.1:8080/", ErrForbiddenAddress},
		{"loopback, allowed", Pages{Guard: private}, "http://127.0.0.1:8080/", nil},
		{"metadata", Pages{Guard: private}, "http://169.254.169.254/latest/meta-data/", ErrForbiddenAddress},
		{"metadata with a user", Pages{Guard: private}, "http://x@169.254.169.254/", ErrForbiddenAddress},
		{"metadata, allowed", Pages{Guard: open}, "http://169.254.169.254/", nil},
		{"a file", Pages{Guard: open}, "file:///etc/passwd", ErrForbiddenAddress},
		{"a file in capitals", Pages{Guard: open}, "FILE:///etc/passwd", ErrForbiddenAddress},
		{"a file, allowed", Pages{Guard: strict, AllowFiles: true}, "file:///srv/page.html", nil},
		{"the browser's own pages", Pages{Guard: open, AllowFiles: true}, "chrome://settings", ErrForbiddenAddress},
		{"about", Pages{Guard: open}, "about:config", ErrForbiddenAddress},
		{"the source of a file", Pages{Guard: open}, "view-source:file:///etc/passwd", ErrForbiddenAddress},
		{"script", Pages{Guard: open}, "javascript:alert(1)", ErrForbiddenAddress},
		{"data", Pages{Guard: open}, "data:text/html,x", ErrForbiddenAddress},
		{"relative", Pages{Guard: open}, "/cart", ErrInvalidURL},
		{"nothing", Pages{Guard: open}, "", ErrInvalidURL},
		{"control characters", Pages{Guard: open}, "http://a\n.example/", ErrInvalidURL},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			err := c.pages.Check(t.Context(), c.address)
			if c.want == nil {
				require.NoError(t, err)
				return
			}
			require.ErrorIs(t, err, c.want)
		})
	}
}
