package upload

import (
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/slipway-qa/slipway/api/body"
)

// maxFileName bounds a kept file name in bytes: what file systems allow.
const maxFileName = 255

// part is the head of a part.
type part struct {
	name     string
	fileName string // without folders; "" when it has none
	isFile   bool   // it came with a file name, or with a content type that is no text
	kind     string // content type, "" when it has none
}

// header reads a line of a part's head; lines that cannot be read are ignored.
func (p *part) header(line string) {
	key, value, _ := strings.Cut(line, ":")
	switch strings.ToLower(strings.TrimSpace(key)) {
	case "content-disposition":
		var named bool
		p.name, _ = body.Parameter(value, "name")
		p.fileName, named = fileName(value)
		p.isFile = p.isFile || named
	case "content-type":
		p.kind = strings.TrimSpace(value)
		text := len(p.kind) >= 5 && strings.EqualFold(p.kind[:5], "text/")
		p.isFile = p.isFile || p.kind != "" && !text
	}
}

// boundaryOf returns the boundary of a multipart content type, "" for any other
// type. Clients write boundaries that the grammar of parameters does not allow
// without quotes, so the value is taken as it stands.
func boundaryOf(contentType string) string {
	const form = "multipart/"
	if len(contentType) < len(form) || !strings.EqualFold(contentType[:len(form)], form) {
		return ""
	}
	text, _ := body.Parameter(contentType, "boundary")
	return text
}

// fileName returns the last part of the file name in a Content-Disposition, and
// whether there is one. Build servers send whole paths, of Windows too.
func fileName(disposition string) (string, bool) {
	name, ok := body.Parameter(disposition, "filename")
	if text, extended := body.Parameter(disposition, "filename*"); extended {
		// charset'language'percent-encoded text (RFC 5987)
		if f := strings.SplitN(text, "'", 3); len(f) == 3 && strings.EqualFold(f[0], "utf-8") {
			if decoded, err := url.PathUnescape(f[2]); err == nil {
				name, ok = decoded, true
			}
		}
	}
	name = clean(name[strings.LastIndexAny(name, `/\`)+1:])
	for len(name) > maxFileName {
		// The end is kept: it shows what kind of file it is.
		_, size := utf8.DecodeRuneInString(name)
		name = name[size:]
	}
	return name, ok
}

// clean drops what no stored text may hold: broken UTF-8, and control characters
// such as the colours of a build log. The rest of the text is worth more than a
// refused build.
func clean(s string) string {
	return strings.Map(func(r rune) rune {
		if r == utf8.RuneError || unicode.IsControl(r) && !strings.ContainsRune("\r\n\t", r) {
			return -1
		}
		return r
	}, s)
}
