// Package redaction takes the values of secret variables out of texts: messages, pages, logs and
// traces of tests.
//
// A secret is found as it is and in the spellings that pages, addresses and logs have for it. What
// is not found stays, so whoever stores a text of a page takes it whole, and takes no part of it
// before a Redactor has seen all.
package redaction

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"html"
	"net/url"
	"slices"
	"strings"
	"unicode/utf16"
)

const (
	// mask replaces a secret.
	mask = "***"
	// MinSecret is the shortest secret, in characters: shorter ones occur
	// everywhere, so that replacing them would destroy the text and disclose the
	// secret by the gaps.
	MinSecret = 3
	// MinEncoded is the shortest secret that is looked for in Base64 of a longer text: what
	// is left there of a shorter one, without its ends, is too little.
	MinEncoded = 8
)

// Redactor replaces secrets in texts: values of secret variables in messages,
// page sources and logs. A secret is found as it is and as pages, addresses and
// logs write it: escaped for JSON, HTML and URLs, in Base64 and hexadecimal; one of
// MinEncoded bytes also in Base64 of a longer text, as in the credentials of Basic. One
// that is cut in two is not found; EndsInPart looks for one that the end of a text has cut.
//
// The nil Redactor changes nothing. A Redactor is safe for concurrent use.
type Redactor struct {
	forms    []string
	replacer *strings.Replacer
}

// New returns a redactor of secrets. Those of less than MinSecret bytes are
// left out; no variable has one. It is nil when none is left.
func New(secrets []string) *Redactor {
	var forms []string
	for _, secret := range secrets {
		if len(secret) >= MinSecret {
			forms = append(forms, spellings(secret)...)
		}
	}
	if len(forms) == 0 {
		return nil
	}
	// The replacer uses the first that matches at a position, which must be the
	// longest: one secret may begin with another.
	slices.SortFunc(forms, func(a, b string) int {
		if len(a) != len(b) {
			return len(b) - len(a)
		}
		return strings.Compare(a, b)
	})
	forms = slices.Compact(forms)
	pairs := make([]string, 0, 2*len(forms))
	for _, form := range forms {
		pairs = append(pairs, form, mask)
	}
	return &Redactor{forms: forms, replacer: strings.NewReplacer(pairs...)}
}

// Text returns a text with its secrets replaced.
func (r *Redactor) Text(text string) string {
	if r == nil {
		return text
	}
	return r.replacer.Replace(text)
}

// EndsInPart reports whether a text ends with the beginning of a secret: MinSecret
// bytes of it at least. It is for texts that were cut before they came here.
func (r *Redactor) EndsInPart(text string) bool {
	if r == nil {
		return false
	}
	return slices.ContainsFunc(r.forms, func(form string) bool {
		for n := min(len(form)-1, len(text)); n >= MinSecret; n-- {
			if strings.HasSuffix(text, form[:n]) {
				return true
			}
		}
		return false
	})
}

// spellings returns a secret and its encodings, none shorter than the secret.
func spellings(secret string) []string {
	raw := []byte(secret)
	query, path := url.QueryEscape(secret), url.PathEscape(secret)
	list := []string{
		secret,
		query, path, encodeURIComponent(query), encodeURI(secret),
		base64.StdEncoding.EncodeToString(raw), base64.RawStdEncoding.EncodeToString(raw),
		base64.URLEncoding.EncodeToString(raw), base64.RawURLEncoding.EncodeToString(raw),
		hex.EncodeToString(raw), strings.ToUpper(hex.EncodeToString(raw)),
	}
	list = append(list, encodedWithin(raw)...)
	for _, escaped := range []string{query, path, encodeURIComponent(query), encodeURI(secret)} {
		list = append(list, lowerEscapes(escaped))
	}
	// What pages and logs hold is often escaped twice: JSON in an attribute.
	for _, text := range append([]string{secret}, jsonForms(secret)...) {
		list = append(list, text)
		list = append(list, htmlForms(text)...)
		list = append(list, jsonForms(text)...) // a body of JSON that another one quotes
	}
	return list
}

// encodedWithin returns how Base64 of a longer text has a secret: by where it begins in a group
// of three bytes, without the characters that depend on what stands beside it.
func encodedWithin(secret []byte) (list []string) {
	if len(secret) < MinEncoded {
		return nil
	}
	for before := range 3 {
		text := append(make([]byte, before, before+len(secret)), secret...)
		from, to := (before*8+5)/6, len(text)*8/6
		for _, encoding := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
			list = append(list, encoding.EncodeToString(text)[from:to])
		}
	}
	return list
}

// jsonForms returns a secret as written by encoding/json, by JavaScript, by
// Chromium's console, and by writers that escape the solidus or all that is not
// ASCII.
func jsonForms(secret string) []string {
	escaped, _ := json.Marshal(secret) // a string always can be
	var plain bytes.Buffer
	encoder := json.NewEncoder(&plain)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(secret)
	text := strings.TrimSuffix(plain.String(), "\n")
	text = text[1 : len(text)-1]
	return []string{string(escaped[1 : len(escaped)-1]), text, strings.ReplaceAll(text, "/", `\/`), ascii(text),
		strings.ReplaceAll(text, "<", `\u003C`)}
}

// ascii escapes what is not ASCII, as Python's json does.
func ascii(text string) string {
	var out strings.Builder
	for _, r := range text {
		if r < 0x80 {
			out.WriteRune(r)
			continue
		}
		for _, unit := range utf16.AppendRune(nil, r) {
			out.WriteString(`\u`)
			out.WriteString(hex.EncodeToString([]byte{byte(unit >> 8), byte(unit)}))
		}
	}
	return out.String()
}

// htmlForms returns a text as HTML: Go and many frameworks write quotes as
// numbers, others as names, and browsers that write a page's source escape them
// in attributes only.
func htmlForms(text string) []string {
	all := html.EscapeString(text)
	body := strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", "\u00a0", "&nbsp;").Replace(text)
	return []string{
		all, body,
		strings.ReplaceAll(body, `"`, "&quot;"),
		strings.NewReplacer("&#34;", "&quot;", "&#39;", "&apos;").Replace(all),
		strings.NewReplacer("&#34;", "&quot;").Replace(all),
		strings.NewReplacer("&#34;", "&quot;", "&#39;", "&#x27;").Replace(all),
		strings.NewReplacer("&", "&amp;", `"`, "&quot;").Replace(text),
	}
}

// encodeURIComponent converts the output of url.QueryEscape to that of JavaScript's
// encodeURIComponent.
func encodeURIComponent(query string) string {
	return strings.NewReplacer("+", "%20", "%21", "!", "%27", "'", "%28", "(", "%29", ")", "%2A", "*").Replace(query)
}

// encodeURI escapes as JavaScript's encodeURI and the address bars of browsers
// do: only what cannot stand anywhere in an address.
func encodeURI(text string) string {
	var out strings.Builder
	for i := range len(text) {
		c := text[i]
		if c <= ' ' || c >= 0x7f || strings.IndexByte("\"<>\\^`{|}%", c) >= 0 {
			out.WriteByte('%')
			out.WriteString(strings.ToUpper(hex.EncodeToString([]byte{c})))
			continue
		}
		out.WriteByte(c)
	}
	return out.String()
}

// lowerEscapes writes %2F as %2f.
func lowerEscapes(escaped string) string {
	out := []byte(escaped)
	for i := 0; i+2 < len(out); i++ {
		if out[i] == '%' {
			copy(out[i+1:i+3], bytes.ToLower(out[i+1:i+3]))
			i += 2
		}
	}
	return string(out)
}
