package refine

import (
	"strings"
	"unicode"

	"github.com/slipway-qa/slipway/worker/generation/intent"
)

// mentions reports whether a text has a value as whole words, whatever the case.
func mentions(text, value string) bool { return indexWord(text, value) >= 0 }

// indexWord returns where a value stands in a text as whole words; -1 if nowhere.
func indexWord(text, value string) int {
	low, wanted := strings.ToLower(text), strings.ToLower(strings.TrimSpace(value))
	if wanted == "" || len(low) != len(text) {
		return -1
	}
	for from := 0; from <= len(low)-len(wanted); {
		i := strings.Index(low[from:], wanted)
		if i < 0 {
			return -1
		}
		i += from
		if edge(low, i) && edgeAfter(low, i+len(wanted)) {
			return i
		}
		from = i + 1
	}
	return -1
}

func edge(text string, at int) bool {
	return at == 0 || !wordByte(text[at-1]) && !inAddress(text, at-1, at-2)
}

func edgeAfter(text string, at int) bool {
	return at >= len(text) || !wordByte(text[at]) && !inAddress(text, at, at+1)
}

// inAddress reports whether a mark joins words to one: ann@example.com has no ann.
func inAddress(text string, mark, beyond int) bool {
	return strings.IndexByte("@._-/", text[mark]) >= 0 && beyond >= 0 && beyond < len(text) && wordByte(text[beyond])
}

// wordByte reports whether a byte belongs to a word; bytes of other letters do.
func wordByte(b byte) bool {
	return b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= '0' && b <= '9' || b >= 0x80
}

// replaceWord returns a text with a value in place of another, as whole words.
func replaceWord(text, old, now string) string {
	at := indexWord(text, old)
	if at < 0 {
		return text
	}
	end := at + len(strings.TrimSpace(old))
	return text[:at] + likeCase(text[at:end], now) + text[end:]
}

// likeCase returns a word that begins as another does: "chair" instead of "Lamp" is
// "Chair".
func likeCase(old, now string) string {
	a, b := []rune(old), []rune(now)
	if len(a) == 0 || len(b) == 0 || !unicode.IsUpper(a[0]) || !unicode.IsLower(b[0]) || strings.ContainsAny(now, "@{/") {
		return now
	}
	b[0] = unicode.ToUpper(b[0])
	return string(b)
}

// withValue returns the text of a goal with a value in place of another. It reports whether the
// text has the other.
func (o *origin) withValue(old string, now value) (string, bool) {
	at := indexWord(o.text, old)
	if at < 0 {
		return "", false
	}
	end := at + len(strings.TrimSpace(old))
	text := likeCase(o.text[at:end], now.text)
	if now.quoted && !quotedAt(o.text, intent.Span{From: at, To: end}) {
		text = `"` + now.text + `"`
	}
	return o.text[:at] + text + o.text[end:], true
}

// withNewValue returns the text of a goal that is about one value with another one.
func (o *origin) withNewValue(now value) string {
	v, ok := o.value()
	if !ok {
		return o.text
	}
	text, ok := o.withValue(v.text, now)
	if !ok {
		return o.text
	}
	return text
}
