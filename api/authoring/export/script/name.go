package script

import (
	"slices"
	"strings"
)

// title is the name of a case as words of lower-case ASCII letters and digits,
// from which the names of files, classes and functions are made.
type title []string

// maxTitle bounds the names: file systems take 255 bytes, readers far less.
const maxTitle = 60

// devices are names that no file may have on Windows, whatever its extension.
var devices = []string{"con", "prn", "aux", "nul", "com1", "com2", "com3", "com4", "com5", "com6", "com7", "com8", "com9",
	"lpt1", "lpt2", "lpt3", "lpt4", "lpt5", "lpt6", "lpt7", "lpt8", "lpt9"}

// plain turns the letters of western European languages into ASCII.
var plain = strings.NewReplacer("ä", "ae", "ö", "oe", "ü", "ue", "ß", "ss", "à", "a", "á", "a", "â", "a", "ã", "a", "å", "a",
	"æ", "ae", "ç", "c", "è", "e", "é", "e", "ê", "e", "ë", "e", "ì", "i", "í", "i", "î", "i", "ï", "i", "ñ", "n", "ò", "o",
	"ó", "o", "ô", "o", "õ", "o", "ø", "o", "ù", "u", "ú", "u", "û", "u", "ý", "y", "ÿ", "y", "œ", "oe")

// newTitle is never empty: a name without letters and digits becomes "case" with
// the id of the case.
func newTitle(name, id string) title {
	t := words(name)
	if len(t) == 0 {
		t = append(title{"case"}, words(id)...)
	}
	if first := t[0][0]; '0' <= first && first <= '9' || len(t) == 1 && slices.Contains(devices, t[0]) {
		t = append(title{"case"}, t...)
	}
	return t
}

func words(text string) title {
	var t title
	length := 0
	// A hostile name may be long, and no more of it can matter.
	text = text[:min(len(text), 1000)]
	for _, w := range strings.FieldsFunc(plain.Replace(strings.ToLower(text)), func(r rune) bool {
		return !('a' <= r && r <= 'z' || '0' <= r && r <= '9')
	}) {
		w = w[:min(len(w), maxTitle-length)]
		if w == "" {
			break
		}
		t = append(t, w)
		length += len(w)
	}
	return t
}

// Kebab is sign-in-works.
func (t title) Kebab() string { return strings.Join(t, "-") }

// Snake is sign_in_works.
func (t title) Snake() string { return strings.Join(t, "_") }

// Pascal is SignInWorks.
func (t title) Pascal() string {
	var b strings.Builder
	for _, w := range t {
		b.WriteString(strings.ToUpper(w[:1]) + w[1:])
	}
	return b.String()
}
