package report

import "unicode/utf8"

// AppendText appends s to dst as a JSON string; bytes that are not UTF-8 become
// U+FFFD.
func AppendText(dst []byte, s string) []byte {
	const hex = "0123456789abcdef"
	dst = append(dst, '"')
	start := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= 0x20 && c != '"' && c != '\\' && c < utf8.RuneSelf {
			i++
			continue
		}
		if c >= utf8.RuneSelf {
			if r, size := utf8.DecodeRuneInString(s[i:]); r != utf8.RuneError || size > 1 {
				i += size
				continue
			}
			dst = append(append(dst, s[start:i]...), "\uFFFD"...)
		} else if c < 0x20 {
			dst = append(append(dst, s[start:i]...), '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		} else {
			dst = append(append(dst, s[start:i]...), '\\', c)
		}
		i++
		start = i
	}
	return append(append(dst, s[start:]...), '"')
}
