package intake

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// What comes behind a complete report cannot make it lost: the last attachment may
// lack its boundary, and what is damaged is left out.
func TestEndsBehindTheReport(t *testing.T) {
	t.Parallel()
	report, first := filePart("upload_file", "r.json", minimal), filePart("attachment_a", "a", "one")
	large := strings.Repeat("0123456789abcdef", 20_000)
	for name, tc := range map[string]struct {
		body  string
		files []string
		cut   int
	}{
		"no boundary": {"--B\r\n" + report + "\r\n--B\r\n" + first + "\r\n--B\r\n" + filePart("attachment_b", "b", "two"),
			[]string{"one", "two"}, 1},
		"no boundary, large": {"--B\r\n" + report + "\r\n--B\r\n" + filePart("attachment_b", "b", large), []string{large}, 1},
		"no boundary, field": {"--B\r\n" + report + "\r\n--B\r\n" + fieldPart("note", "x"), nil, 1},
		"nothing in it":      {"--B\r\n" + report + "\r\n--B\r\n" + filePart("attachment_b", "b", ""), []string{""}, 1},
		"cut in the headers": {"--B\r\n" + report + "\r\n--B\r\n" + first + "\r\n--B\r\nContent-Dispo", []string{"one"}, 1},
		"damaged headers": {"--B\r\n" + report + "\r\n--B\r\n" + first + "\r\n--B\r\n: :\r\n\r\n" + large + "\r\n--B--\r\n",
			[]string{"one"}, 1},
		"another boundary":    {"--B\r\n" + report + "\r\n--B\r\n" + first + "\r\n--C--\r\n", []string{"one\r\n--C--"}, 1},
		"broken end":          {"--B\r\n" + report + "\r\n--B\r\n" + first + "\r\n--B\r\n--", []string{"one"}, 0},
		"as it should be":     {form(report, first), []string{"one"}, 0},
		"text behind the end": {form(report, first) + "rest", []string{"one"}, 0},
	} {
		for _, encoding := range []string{"", "gzip"} {
			t.Run(name+" "+encoding, func(t *testing.T) {
				t.Parallel()
				w := newWorld(t, nil)
				body, headers := tc.body, []string{"Content-Type", multipartB}
				if encoding != "" {
					body, headers = gzipped(body), append(headers, "Content-Encoding", encoding)
				}
				requireOK(t, w.post("/post?token=good", body, headers...))
				require.Equal(t, tc.files, w.stored(t))
				require.Len(t, w.submit.got[0].Attachments, len(tc.files))
				require.Equal(t, tc.cut, w.counts.cut)
			})
		}
	}
}

// A body that breaks off is refused: its client sends the report again, and a resend
// would not bring the attachments.
func TestBodiesThatBreakOff(t *testing.T) {
	t.Parallel()
	report := filePart("upload_file", "r.json", minimal)
	whole := gzipped("--B\r\n" + report + "\r\n--B\r\n" + filePart("attachment_b", "b", strings.Repeat("x", 10_000)))
	w := newWorld(t, nil)
	requireFailure(t, w.post("/post?token=good", whole[:len(whole)-12], "Content-Type", multipartB, "Content-Encoding", "gzip"),
		400, 5, "inflated")
	// The file of a late upload needs its end.
	requireFailure(t, w.post("/post?token=good&object="+ownedUUID, "--B\r\n"+filePart("upload_file", "x", "late"),
		"Content-Type", multipartB), 400, 1, "early")
	require.Empty(t, w.stored(t))
	require.Zero(t, w.counts.cut)
}
