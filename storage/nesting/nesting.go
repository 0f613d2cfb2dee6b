// Package nesting measures how deep a JSON text goes, before anything decodes it.
//
// Decoders follow a text as deep as it leads, and what they build is walked again by
// those who check and store it. Whoever takes JSON from outside bounds the depth
// first. The package is a leaf, because request bodies and stored documents are both
// bounded by it.
package nesting

// Depth is how deep arrays and objects lie in each other; the text may be broken.
func Depth(text []byte) int {
	at, most, inside := 0, 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case inside && c == '\\':
			i++
		case c == '"':
			inside = !inside
		case inside:
		case c == '{' || c == '[':
			at++
			most = max(most, at)
		case c == '}' || c == ']':
			at--
		}
	}
	return most
}
