package token

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Kind is what a token is.
type Kind uint8

// The kinds.
const (
	Word    Kind = iota // letters, with inner hyphens and apostrophes: "e-mail", "don't", "T5"
	Number              // 12.40, 1.000,50, -3
	Time                // 10:30
	Date                // 14/04/2031, 2031-05-06
	Address             // an e-mail address, a URL, a path, a name of a file
	Symbol              // € $ % + *
	Quote               // any quotation mark
	Punct               // . , : ; ! ? ( )
)

// Token is a part of a text: bytes From to To.
type Token struct {
	Kind     Kind
	From, To int
	Text     string
}

// maxTokens bounds a text; what follows is not read.
const maxTokens = 20000

// Split cuts a text into tokens. A word is cut after an apostrophe where elides says that
// what stands before it is a word of its own ("l'").
func Split(text string, elides func(string) bool) []Token {
	s := splitter{text: text, elides: elides}
	for s.at < len(text) && len(s.out) < maxTokens {
		s.next()
	}
	return s.out
}

type splitter struct {
	text   string
	at     int
	out    []Token
	elides func(string) bool
}

func (s *splitter) emit(k Kind, to int) {
	s.out = append(s.out, Token{k, s.at, to, s.text[s.at:to]})
	s.at = to
}

func (s *splitter) next() {
	r, size := utf8.DecodeRuneInString(s.text[s.at:])
	switch {
	case unicode.IsSpace(r) || !visible(r):
		s.at += size
	case s.address():
	case isDigit(r), r == '-' && s.free() && s.digit(s.at+size), r == '−' && s.digit(s.at+size):
		s.number(size)
	case letter(r) || r >= '0' && unicode.IsDigit(r):
		s.word()
	case strings.ContainsRune(`"“”„‟«»‹›‘‚‛'’`+"`´", r):
		s.emit(Quote, s.at+size)
	case strings.ContainsRune(".,:;!?()[]{}…¡¿-–—·•|/", r):
		s.emit(Punct, s.at+size)
	default:
		s.emit(Symbol, s.at+size)
	}
}

func visible(r rune) bool {
	return !unicode.Is(unicode.Cf, r) && !unicode.Is(unicode.Cc, r) && r != '\ufe0f'
}

func letter(r rune) bool { return unicode.IsLetter(r) || unicode.Is(unicode.Mn, r) || r == '_' }

func isDigit(r rune) bool { return r >= '0' && r <= '9' }

func (s *splitter) digit(i int) bool { return i < len(s.text) && isDigit(rune(s.text[i])) }

// free reports whether what is next stands apart from what is before it.
func (s *splitter) free() bool {
	r, _ := utf8.DecodeLastRuneInString(s.text[:s.at])
	return s.at == 0 || !letter(r) && !isDigit(r) && r != ')'
}

// word reads letters and digits, with hyphens and apostrophes between them.
func (s *splitter) word() {
	i := s.at
	for i < len(s.text) {
		r, size := utf8.DecodeRuneInString(s.text[i:])
		switch {
		case letter(r) || unicode.IsDigit(r) || r == '\u00ad':
			i += size
			continue
		case apostrophe(r) && s.letterAt(i+size):
			if s.elides != nil && s.elides(Fold(s.text[s.at:i+size])) {
				s.emit(Word, i+size)
				return
			}
			i += size
			continue
		case (r == '-' || r == '‐' || r == '‑') && s.letterAt(i+size):
			i += size
			continue
		}
		break
	}
	s.emit(Word, i)
}

func apostrophe(r rune) bool { return r == '\'' || r == '’' || r == 'ʼ' }

func (s *splitter) letterAt(i int) bool {
	r, _ := utf8.DecodeRuneInString(s.text[i:])
	return i < len(s.text) && (unicode.IsLetter(r) || unicode.IsDigit(r))
}

// number reads a number, a time or a date; digits with letters among them are a word, but
// not where only letters follow ("40W" is 40 and W).
func (s *splitter) number(sign int) {
	i := s.at
	if !s.digit(i) {
		i += sign
	}
	colons, marks := 0, 0
	for i < len(s.text) {
		r, size := utf8.DecodeRuneInString(s.text[i:])
		switch {
		case isDigit(r):
		case r == ':' && s.digit(i+1) && s.digit(i+2):
			colons++
		case (r == '/' || r == '-') && s.digit(i+1):
			marks++
		case (r == '.' || r == ',') && s.digit(i+1):
		case (r == '\'' || r == '’' || r == '\u00a0' || r == '\u202f' || r == '\u2009') && s.group(i+size):
		default:
			s.endNumber(i, colons, marks)
			return
		}
		i += size
	}
	s.endNumber(i, colons, marks)
}

// group reports whether exactly three digits stand at i.
func (s *splitter) group(i int) bool {
	return s.digit(i) && s.digit(i+1) && s.digit(i+2) && !s.digit(i+3)
}

func (s *splitter) endNumber(i, colons, marks int) {
	if mixed := s.letters(i); mixed > i {
		s.emit(Word, mixed)
		return
	}
	dots := strings.Count(s.text[s.at:i], ".")
	switch {
	case marks > 0:
		s.emit(Date, i)
	case colons > 0:
		s.emit(Time, i)
	case dots == 2 && i-s.at <= 10 && !s.grouped(i):
		s.emit(Date, i)
	default:
		s.emit(Number, i)
	}
}

// grouped reports whether each dot up to i has three digits after it.
func (s *splitter) grouped(i int) bool {
	for _, part := range strings.Split(s.text[s.at:i], ".")[1:] {
		if len(part) != 3 {
			return false
		}
	}
	return true
}

// letters returns the end of letters and digits from i on, or i where only letters follow.
func (s *splitter) letters(i int) int {
	end, digits := i, false
	for end < len(s.text) {
		r, size := utf8.DecodeRuneInString(s.text[end:])
		if !letter(r) && !isDigit(r) {
			break
		}
		digits = digits || isDigit(r)
		end += size
	}
	if !digits {
		return i
	}
	return end
}

// address reads an e-mail address, a URL, a path or a name with a dot in it, and reports
// whether one was there.
func (s *splitter) address() bool {
	if !s.free() {
		return false
	}
	end := s.at
	for end < len(s.text) && s.text[end] > ' ' && !strings.ContainsRune(`"<>,;()[]{}`, rune(s.text[end])) && s.text[end] < utf8.RuneSelf {
		end++
	}
	word := strings.TrimRight(s.text[s.at:end], ".:!?'")
	if !isAddress(word) {
		return false
	}
	s.emit(Address, s.at+len(word))
	return true
}

func isAddress(w string) bool {
	if len(w) < 4 {
		return false
	}
	if strings.HasPrefix(w, "http://") || strings.HasPrefix(w, "https://") || strings.HasPrefix(w, "www.") {
		return true
	}
	if w[0] == '/' && letter(rune(w[1])) {
		return true
	}
	if at := strings.IndexByte(w, '@'); at > 0 {
		return at+1 < len(w) && w[at+1] != '@'
	}
	dot := strings.LastIndexByte(w, '.')
	if dot <= 0 || len(w)-dot < 3 || len(w)-dot > 7 || strings.IndexByte(w[:dot], '/') >= 0 {
		return false
	}
	for i := dot + 1; i < len(w); i++ {
		if w[i] < 'a' || w[i] > 'z' {
			return false
		}
	}
	// "e.g." and "p.m" are no names; a number before the dot is one of a sentence.
	return dot > 1 && !isDigit(rune(w[dot-1])) || dot > 1 && strings.ContainsFunc(w[:dot], unicode.IsLetter)
}
