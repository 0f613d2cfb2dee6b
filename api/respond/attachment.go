package respond

import (
	"mime"
	"strings"
	"unicode"
)

// maxFileName bounds the name in a header, in characters.
const maxFileName = 200

// Attachment is the Content-Disposition of bytes to be saved under a name that came
// from outside, as RFC 6266 wants it, without what could lead out of a folder or
// deceive a reader. A name that nothing is left of becomes the other one.
func Attachment(name, otherwise string) string {
	clean := strings.Map(func(r rune) rune {
		switch {
		case r == unicode.ReplacementChar, strings.ContainsRune(`/\:*?"<>|%`, r):
			return '_'
		case !unicode.IsPrint(r):
			return -1
		}
		return r
	}, strings.ToValidUTF8(name, "_"))
	clean = strings.Trim(clean, ". ")
	if runes := []rune(clean); len(runes) > maxFileName {
		clean = string(runes[len(runes)-maxFileName:]) // the extension is at the end
	}
	if clean == "" {
		clean = otherwise
	}
	if v := mime.FormatMediaType("attachment", map[string]string{"filename": clean}); v != "" {
		return v
	}
	return "attachment"
}
