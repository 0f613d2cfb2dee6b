package body

// Depth returns how deep arrays and objects of a JSON text lie in each other. The
// text may be broken. Decoders follow a text as deep as it leads, and what they
// build is walked again by those who check and store it: whoever takes JSON from
// outside bounds the depth first.
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
