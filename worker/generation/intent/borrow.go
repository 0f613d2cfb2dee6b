package intent

import "github.com/slipway-qa/slipway/worker/generation/lexicon"

// UnreadBy returns the content words of a text of a language that no slot of some goals took,
// whoever read them: the same accounting as for the readings of Read.
func UnreadBy(source, lang string, goals []Goal) []Span {
	r := &reader{source: source, lang: lang, lex: lexicon.Language(lang)}
	end := longest(source)
	_, items := r.read(r.unclitic(tokenize(source[:end])))
	left := r.unread(items, goals)
	if len(source) > end {
		left = append(left, Span{end, len(source)})
	}
	return left
}

// ValueAt returns the value that a part of a text of a language is by itself: a number with its
// unit, a date, a quotation without its marks, else the words as they stand.
func ValueAt(source, lang string, at Span) Value {
	part := source[at.From:at.To]
	r := &reader{source: part, lang: lang, lex: lexicon.Language(lang)}
	v := Value{Text: part}
	if items := r.items(r.unclitic(tokenize(part))); len(items) > 0 {
		v = r.value(&phrase{core: items})
	}
	v.Span = at
	return v
}
