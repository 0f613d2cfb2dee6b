package text

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage"
)

func FuzzFolder(f *testing.F) {
	for _, seed := range []string{"", "/", "a/b", " /a//b / ", "a\x00", "\xff", strings.Repeat("é/", 200), "\u00a0/x\u00a0"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, path string) {
		clean, err := Folder(path)
		if err != nil {
			return
		}
		require.True(t, utf8.ValidString(clean))
		require.LessOrEqual(t, utf8.RuneCountInString(clean), 255)
		require.False(t, strings.ContainsFunc(clean, unicode.IsControl))
		if clean != "" {
			require.NotContains(t, "/"+clean+"/", "//", "no empty segment")
		}
		again, err := Folder(clean)
		require.NoError(t, err)
		require.Equal(t, clean, again)
	})
}

func FuzzScrub(f *testing.F) {
	for _, seed := range []string{"", "a\x00b", "\xff\xfe", " \n ", strings.Repeat("é", 300)} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		clean := Scrub(text, MaxLine)
		require.LessOrEqual(t, utf8.RuneCountInString(clean), MaxLine)
		_, err := storage.Line("field", clean, MaxLine)
		require.NoError(t, err, "a scrubbed text is a line")
		require.NotContains(t, FileName(text), "/")
		require.NotEmpty(t, FileName(text))
	})
}
