package object

import (
	"mime"
	"strings"
	"unicode"
	"unicode/utf8"
)

// InlineType reports whether a browser may show this content type inside the
// page's origin: types that cannot carry script. HTML, SVG, XML and PDF are not
// among them.
func InlineType(contentType string) bool {
	return inlineForm(contentType) != ""
}

// inlineForm returns the header value for an inline type, or "". Parameters are
// dropped: a charset such as UTF-7 would change what plain text means.
func inlineForm(contentType string) string {
	media, _, err := mime.ParseMediaType(contentType)
	if err != nil {
		return ""
	}
	switch media {
	case "image/png", "image/jpeg", "image/gif", "image/webp", "image/avif",
		"video/mp4", "video/webm", "audio/mpeg", "audio/ogg":
		return media
	case "text/plain", "application/json":
		return media + "; charset=utf-8"
	}
	return ""
}

// contentHeaders returns Content-Type and Content-Disposition, which decide what a
// browser does with an object. contentType is that of the link, else the stored
// one.
func contentHeaders(opts SignOptions, contentType string) (typeHeader, disposition string) {
	if form := inlineForm(contentType); form != "" {
		if opts.Inline {
			return form, dispositionHeader("inline", opts.FileName)
		}
		return form, dispositionHeader("attachment", opts.FileName)
	}
	return attachmentForm(contentType), dispositionHeader("attachment", opts.FileName)
}

// attachmentForm keeps the types of packages and archives, on which installers
// rely, and replaces any that a browser might interpret by that of plain bytes.
func attachmentForm(contentType string) string {
	media, _, err := mime.ParseMediaType(contentType)
	if err != nil || !strings.HasPrefix(media, "application/") {
		return defaultType
	}
	for _, active := range []string{"xml", "html", "script", "pdf", "flash"} {
		if strings.Contains(media, active) {
			return defaultType
		}
	}
	return media
}

// dispositionHeader returns a Content-Disposition (RFC 6266): a quoted ASCII
// name that needs no escape, and the exact name in the form of RFC 8187 when it
// differs.
func dispositionHeader(kind, fileName string) string {
	name := cleanFileName(fileName)
	if name == "" {
		return kind
	}
	ascii := []byte(name)[:0:0]
	for _, r := range name {
		if r > 0x7e || r == '"' || r == '%' {
			r = '_'
		}
		ascii = append(ascii, byte(r))
	}
	header := kind + `; filename="` + string(ascii) + `"`
	if string(ascii) == name {
		return header
	}
	var b strings.Builder
	b.WriteString(header)
	b.WriteString("; filename*=UTF-8''")
	const hex = "0123456789ABCDEF"
	for i := range len(name) {
		c := name[i]
		// attr-char of RFC 8187, less the marks that some clients trip over.
		if 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.IndexByte("-._~", c) >= 0 {
			b.WriteByte(c)
		} else {
			b.Write([]byte{'%', hex[c>>4], hex[c&15]})
		}
	}
	return b.String()
}

// maxFileName bounds a file name in a header, in bytes: below what file systems
// allow.
const maxFileName = 200

// cleanFileName returns a name from outside in a form that is harmless in headers,
// in file systems and to the eye: no control characters, path separators or marks that
// reverse the direction of text (which hide an extension), no leading dots, at
// most 200 bytes with the extension kept.
func cleanFileName(name string) string {
	// Bounded before the loop: a name may come from a form of any size.
	if len(name) > 4096 {
		name = name[len(name)-4096:]
	}
	name = strings.Map(func(r rune) rune {
		switch {
		case r == utf8.RuneError, strings.ContainsRune(`/\:*?<>|`, r):
			return '_'
		case unicode.IsControl(r), unicode.Is(unicode.Cf, r), r == 0x2028, r == 0x2029:
			return -1
		case unicode.IsSpace(r):
			return ' '
		}
		return r
	}, name)
	name = strings.TrimRight(strings.TrimLeft(name, ". "), ". ")
	if len(name) <= maxFileName {
		return name
	}
	extension := ""
	if dot := strings.LastIndexByte(name, '.'); dot > 0 && len(name)-dot <= 16 {
		extension = name[dot:]
	}
	cut := maxFileName - len(extension)
	for cut > 0 && !utf8.RuneStart(name[cut]) {
		cut--
	}
	return name[:cut] + extension
}
