package upload

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// TestOptionalTextsNeverFailAnUpload: over its bound a text is shortened or left out, and
// the response says which, by how much. Clients are scripts that pass on a whole change log.
func TestOptionalTextsNeverFailAnUpload(t *testing.T) {
	t.Parallel()
	w := newWorld(t, false, nil)
	build := file("file", "a.ipa", ipa("com.example.demo", "1"))
	longKey := "metadata." + strings.Repeat("k", 256)
	many := []field{}
	for i := range 300 {
		many = append(many, textField(fmt.Sprintf("metadata.k%03d", i), "v"))
	}
	full := []field{}
	for i := range 20 {
		full = append(full, textField(fmt.Sprintf("metadata.k%d", i), strings.Repeat("x", maxText)))
	}
	for name, row := range map[string]struct {
		fields  []field
		warning string
	}{
		"notes": {[]field{textField("comment", strings.Repeat("x", maxText+1))}, "comment was shortened to 65536 bytes"},
		"notes, 3 MiB": {[]field{w.key(), textField("release_notes", strings.Repeat("xyz ", 3<<18))},
			"release_notes was shortened to 65536 bytes"},
		"notes cut in a letter": {[]field{textField("release_notes", "x"+strings.Repeat("é", maxText/2))}, "release_notes was shortened"},
		"description":           {[]field{textField("app_description", strings.Repeat("x", maxText+1))}, "app_description was shortened"},
		"tag":                   {[]field{textField("tags", "ci,"+strings.Repeat("x", 100))}, "tags: 1 shortened to 60 characters"},
		"tags":                  {[]field{textField("tags", manyNames())}, "tags: 101 left out"},
		"folder":                {[]field{textField("folder_name", strings.Repeat("f", 300))}, "folder_name was shortened to 255 characters"},
		"app name":              {[]field{textField("app_name", strings.Repeat("n", 300))}, "app_name was shortened to 255 characters"},
		"version":               {[]field{textField("version", strings.Repeat("1", 300))}, "version was shortened to 255 characters"},
		"metadata key": {[]field{textField(longKey, "v"), textField("metadata.commit", "abc")},
			"metadata: keys of more than 255 bytes were left out: " + strings.Repeat("k", 60)},
		"metadata value": {[]field{textField("metadata.log", strings.Repeat("v", 5000))},
			"metadata: values were shortened to 4000 characters: log"},
		"300 keys":        {many, "metadata: keys beyond the first 100 were left out: k100"},
		"more than 1 MiB": {full, "metadata.k16 was left out: the texts together have more than 1048576 bytes"},
		"no text":         {[]field{textField("release_notes", "a\x00b\xff\x1b[0m")}, "left out of: release_notes"},
	} {
		for order, fields := range map[string][]field{"key first": append(append([]field{w.key()}, row.fields...), build),
			"key last": append(append([]field{build}, row.fields...), w.key())} {
			for _, path := range []string{"/upload/", "/api/v3/builds/upload"} {
				status, out := w.post(path, nil, fields...)
				require.Contains(t, []int{200, 201}, status, "%s, %s: %v", name, order, out)
				require.Contains(t, fmt.Sprint(out["warnings"]), row.warning, "%s, %s", name, order)
			}
		}
	}
	notes := w.text(`select release_notes from builds where release_notes like '%é' limit 1`)
	require.True(t, utf8.ValidString(notes))
	require.Equal(t, maxText-1, len(notes))
	require.Equal(t, "abc", w.text(`select metadata->>'commit' from builds where metadata ? 'commit' limit 1`))
	// The warnings stay with the build.
	require.Positive(t, w.count(`select count(*) from builds where array_to_string(warnings, ' ') like '%comment was shortened%'`))
}

func TestCutText(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{"abcdef": "abcd", "abcé": "abc", "ab€d": "ab", "a😀bc": "a", "abé?": "abé",
		"\xff\xff\xff\xff\xff": "\xff\xff\xff\xff"} {
		require.Equal(t, want, string(cutText([]byte(text), 4)), text)
	}
}
