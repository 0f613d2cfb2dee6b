package respond

import (
	"mime"
	"strings"
	"testing"
	"unicode/utf8"
)

func FuzzAttachment(f *testing.F) {
	for _, seed := range []string{"a.txt", "", "..", "../../etc/passwd", "a\r\nX: y", `"; filename="b`, "\xff",
		"ü\u202etxt.exe", strings.Repeat("é", 500) + ".ipa"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, name string) {
		header := Attachment(name, "attachment")
		kind, parameters, err := mime.ParseMediaType(header)
		if err != nil || kind != "attachment" || len(parameters) > 1 {
			t.Fatalf("%q gives %q: %v", name, header, err)
		}
		got := parameters["filename"]
		if strings.ContainsAny(got, "/\\\r\n\x00") || utf8.RuneCountInString(got) > maxFileName || strings.ContainsAny(header, "\r\n") {
			t.Fatalf("%q gives %q", name, header)
		}
	})
}
