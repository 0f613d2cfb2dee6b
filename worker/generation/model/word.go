package model

import (
	"slices"
	"strings"
	"unicode"
)

// maxWords bounds the words of a text that are compared: an intent has up to 20,000
// characters.
const maxWords = 5_000

// folds are letters that people leave out or write otherwise.
var folds = strings.NewReplacer("ä", "ae", "ö", "oe", "ü", "ue", "ß", "ss", "é", "e", "è", "e", "ê", "e", "á", "a", "à", "a",
	"í", "i", "ó", "o", "ú", "u", "ñ", "n", "ç", "c", "’", "'", "‘", "'", "“", `"`, "”", `"`, "„", `"`)

// fold returns a text as it is compared: lower case, single spaces.
func fold(text string) string {
	return folds.Replace(strings.ToLower(strings.Join(strings.Fields(text), " ")))
}

// wordsOf returns the words and numbers of a folded text. Numbers have no leading
// zeros.
func wordsOf(folded string) []string {
	list := strings.FieldsFunc(folded, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	list = list[:min(len(list), maxWords)]
	for i, word := range list {
		if short := strings.TrimLeft(word, "0"); short != "" && isNumber(word) {
			list[i] = short
		}
	}
	return list
}

func isNumber(word string) bool {
	return word != "" && strings.IndexFunc(word, func(r rune) bool { return r < '0' || r > '9' }) < 0
}

// stem returns a word without the endings of plurals and verbs; the forms of one word
// have the same.
func stem(word string) string {
	for _, ending := range []string{"ings", "ing", "ies", "ied", "ed", "es", "en", "s", "e", "n", "y"} {
		if short, ok := strings.CutSuffix(word, ending); ok && len(short) >= 3 {
			return strings.TrimSuffix(short, "i")
		}
	}
	return word
}

// vocabulary is what a text says, for comparing.
type vocabulary struct {
	folded string
	words  []string
	stems  map[string]bool
	// orders are the words at which something is asked for: the first of each sentence
	// and part of one.
	orders  map[string]bool
	presses bool // it asks to click or press something
}

func read(text string) *vocabulary {
	v := &vocabulary{folded: fold(text), stems: map[string]bool{}, orders: map[string]bool{}}
	v.words = wordsOf(v.folded)
	for _, word := range v.words {
		v.stems[stem(word)] = true
		v.presses = v.presses || slices.Contains(pressing, word)
	}
	if leaves(v.words) {
		v.stems["logout"] = true
	}
	for part := range strings.FieldsFuncSeq(v.folded, func(r rune) bool { return strings.ContainsRune(",;.:!?()", r) }) {
		first := true
		for _, word := range wordsOf(part) {
			if first {
				v.orders[stem(word)] = true
			}
			first = slices.Contains(connectors, word)
		}
	}
	return v
}

// connectors are words after which the next thing is asked for.
var connectors = []string{"and", "then", "to", "please", "also", "or", "next", "finally", "now",
	"und", "dann", "danach", "bitte", "anschliessend", "zuletzt", "oder"}

// pressing are words of clauses that name a thing to be pressed by what it is called.
var pressing = []string{"click", "press", "hit", "tap", "push", "button", "klicke", "klick", "druecke", "tippe", "knopf", "schaltflaeche"}

// nouns are words that ask for something as verbs only: "order the lamp", not "open the
// order".
var nouns = []string{"order", "orders", "book", "booking", "post", "share", "transfer", "wire", "format", "rent", "trash", "bin", "reset",
	"mail", "email", "message", "answer", "reply", "comment", "place", "sign", "update", "search", "vote", "log", "purchase", "checkout",
	"payment", "reservation", "bestellung", "zahlung", "buchung", "reservierung", "kasse", "papierkorb",
	"nachricht", "suche"}

// says reports whether one of the words is in the text, in any of its forms.
func (v *vocabulary) says(words []string) bool {
	return slices.ContainsFunc(words, func(word string) bool { return v.stems[stem(word)] })
}

// asks reports whether one of the words is in the text as what is to be done.
func (v *vocabulary) asks(words []string) bool {
	return slices.ContainsFunc(words, func(word string) bool {
		s := stem(word)
		return v.stems[s] && (v.presses || v.orders[s] || !slices.Contains(nouns, word))
	})
}

// shares reports whether a name has something to do with the text: a word of content
// in common, or one of the same meaning.
func (v *vocabulary) shares(name string) bool {
	folded := fold(name)
	if folded == "" {
		return false
	}
	for _, word := range wordsOf(folded) {
		if slices.Contains(fillWords, word) {
			continue
		}
		if v.stems[stem(word)] {
			return true
		}
		for _, alike := range alikes {
			if slices.Contains(alike, word) && v.says(alike) {
				return true
			}
		}
	}
	// Languages without spaces: the whole name within the text.
	return len([]rune(folded)) >= 2 && strings.IndexFunc(folded, func(r rune) bool { return r >= 0x2e80 }) >= 0 && strings.Contains(v.folded, folded)
}

// fillWords are in every sentence and on every page: what they have in common means
// nothing.
var fillWords = []string{"a", "an", "the", "of", "to", "in", "on", "at", "by", "for", "from", "with", "and", "or", "is", "are", "be",
	"it", "this", "that", "then", "as", "into", "you", "your", "i", "my", "me", "we", "our", "please", "here", "now",
	"click", "press", "tap", "button", "link", "field", "page", "site", "website", "text", "box", "element", "item",
	"der", "die", "das", "den", "dem", "des", "ein", "eine", "einen", "einem", "und", "oder", "in", "im", "auf", "an", "am",
	"zu", "zum", "zur", "von", "vom", "mit", "fuer", "ist", "sind", "sie", "ihr", "ihre", "bitte", "hier", "jetzt",
	"klicke", "klicken", "druecke", "druecken", "knopf", "schaltflaeche", "feld", "seite"}

// alikes are words that name the same thing: what one says, a page may call by
// another. They are in folded letters.
var alikes = [][]string{
	{"log", "login", "sign", "signin", "anmelden", "einloggen"},
	{"register", "registration", "sign", "signup", "join", "account", "enroll", "registrieren", "registrierung", "konto"},
	{"search", "find", "look", "magnifier", "suche", "suchen", "finden", "lupe"},
	{"save", "store", "apply", "update", "ok", "okay", "done", "speichern", "sichern", "uebernehmen", "fertig"},
	{"edit", "change", "modify", "rename", "pencil", "bearbeiten", "aendern", "umbenennen", "stift"},
	{"add", "create", "new", "plus", "insert", "compose", "write", "hinzufuegen", "neu", "neue", "neues", "anlegen", "schreiben", "verfassen"},
	{"close", "dismiss", "cancel", "x", "schliessen", "abbrechen"},
	{"like", "heart", "favorite", "favourite", "star", "thumb", "upvote", "gefaellt", "favorit", "herz", "stern"},
	{"cart", "basket", "bag", "warenkorb", "einkaufswagen"},
	{"retweet", "repost", "share", "teilen"},
	{"settings", "preferences", "options", "configuration", "gear", "cog", "einstellungen", "optionen"},
	{"accept", "agree", "allow", "consent", "akzeptieren", "zustimmen"},
	{"delete", "remove", "erase", "trash", "bin", "loeschen", "entfernen", "papierkorb"},
	{"buy", "purchase", "order", "pay", "checkout", "kaufen", "bestellen", "zahlen", "bezahlen", "kasse"},
	{"book", "reserve", "reservation", "buchen", "reservieren"},
	{"send", "submit", "senden", "absenden", "abschicken", "verschicken", "schicken"},
	{"forward", "weiterleiten"},
	{"reply", "respond", "answer", "antworten", "antwort"},
	{"quantity", "amount", "number", "count", "menge", "anzahl"},
	{"mail", "email", "inbox", "message", "nachricht", "posteingang"},
	{"phone", "telephone", "mobile", "telefon", "handy"},
	{"departure", "depart", "leave", "outbound", "abflug", "hinflug", "abreise"},
	{"arrival", "arrive", "return", "inbound", "ankunft", "rueckflug", "rueckreise"},
}

// describers are words of clauses that describe what they mean instead of naming it:
// "the cheapest one", "words similar to big", "the second result".
var describers = []string{"first", "second", "third", "fourth", "fifth", "last", "next", "previous", "any", "each", "every", "all", "both",
	"other", "others", "similar", "synonym", "synonyms", "related", "like", "same", "opposite", "most", "least", "best", "worst",
	"random", "matching", "correct", "right", "which", "whose", "where", "that", "who", "costs", "under", "over", "above", "below",
	"between", "more", "less", "fewer", "than", "only", "except", "not",
	"erste", "ersten", "zweite", "zweiten", "dritte", "dritten", "letzte", "letzten", "naechste", "naechsten", "jede", "jeden", "jedes",
	"alle", "aehnlich", "aehnliche", "beliebig", "beliebige", "passende", "richtige", "welche", "deren", "dessen", "ueber", "unter",
	"zwischen", "mehr", "weniger", "als", "nur", "ausser"}

// describes reports whether a text describes what it means: by one of the words above,
// a superlative, or an ordinal in digits.
func (v *vocabulary) describes() bool {
	return slices.ContainsFunc(v.words, func(word string) bool {
		return slices.Contains(describers, word) || len(word) > 5 && (strings.HasSuffix(word, "est") || strings.HasSuffix(word, "ste") || strings.HasSuffix(word, "sten")) ||
			len(word) <= 5 && word[0] >= '0' && word[0] <= '9' && (strings.HasSuffix(word, "st") || strings.HasSuffix(word, "nd") || strings.HasSuffix(word, "rd") || strings.HasSuffix(word, "th"))
	})
}
