package agent

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestOutline(t *testing.T) {
	t.Parallel()
	source := `<html><!-- a
	b --><head><STYLE>p { }</STYLE><script src="x">alert("</p>")</script></head>

	<body>   <p>Pay</p><img src="data:image/png;base64,` + strings.Repeat("A", 100) + `"><svg><path/></svg></body></html>`
	require.Equal(t, `<html><head></head>
<body> <p>Pay</p><img src="data:..."></body></html>`, outline(source))
	require.Equal(t, "<script", outline("<script"), "a source that ends anywhere stays")
}

func TestPart(t *testing.T) {
	t.Parallel()
	source := strings.Repeat("é", maxPage)
	var read strings.Builder
	for at := 0; ; {
		text, next := part(source, at, maxAnswer)
		require.LessOrEqual(t, len(text), maxPage)
		read.WriteString(string(text))
		if next == 0 {
			break
		}
		at = next
	}
	require.Equal(t, source, read.String())
	text, next := part("short", 99, maxAnswer)
	require.Empty(t, text)
	require.Zero(t, next)
}
