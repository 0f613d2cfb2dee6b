package search

import "unicode"

// piece is a part of a text; Mark where it is what was looked for.
type piece struct {
	Text string
	Mark bool
}

// mark splits a text at each place of a part, in any case of its letters. The template
// escapes each piece.
func mark(text, part string) (pieces []piece) {
	runes, want := []rune(text), fold(part)
	lower := fold(text)
	begin := 0
	for at := 0; len(want) > 0 && at+len(want) <= len(lower); {
		if string(lower[at:at+len(want)]) != string(want) {
			at++
			continue
		}
		if at > begin {
			pieces = append(pieces, piece{Text: string(runes[begin:at])})
		}
		pieces = append(pieces, piece{Text: string(runes[at : at+len(want)]), Mark: true})
		at += len(want)
		begin = at
	}
	if begin < len(runes) {
		pieces = append(pieces, piece{Text: string(runes[begin:])})
	}
	return pieces
}

// fold is a text in lower case, character by character, so that places in it are places in
// the text.
func fold(text string) []rune {
	runes := []rune(text)
	for i, r := range runes {
		runes[i] = unicode.ToLower(r)
	}
	return runes
}
