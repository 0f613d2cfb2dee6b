package find

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/slipway-qa/slipway/worker/generation/intent"
	"github.com/slipway-qa/slipway/worker/generation/lexicon"
	"github.com/slipway-qa/slipway/worker/generation/page"
)

// words knows the languages that the texts of a page may be in.
type words struct {
	langs []string
	page  string // the language of the page, "en" where it does not say
}

// wordsOf returns the languages of a page: its own first, then all others, since pages are
// often in another language than they say.
func wordsOf(m *page.Model) *words {
	w := &words{page: "en"}
	if code, _, _ := strings.Cut(strings.ToLower(m.Lang), "-"); slices.Contains(lexicon.Codes(), code) {
		w.langs, w.page = append(w.langs, code), code
	}
	for _, code := range lexicon.Codes() {
		if !slices.Contains(w.langs, code) {
			w.langs = append(w.langs, code)
		}
	}
	return w
}

// factor returns how many base units a unit is.
func factor(unit string) float64 {
	for _, code := range lexicon.Codes() {
		if e := lexicon.Language(code).Entry(unit, lexicon.Unit); e != nil {
			if e.Value != 0 {
				return e.Value
			}
			if f, err := strconv.ParseFloat(e.Attr("factor"), 64); err == nil {
				return f
			}
		}
	}
	return 1
}

// entry returns the first sense of a class that a text as a whole has in any language of the
// page.
func (w *words) entry(s string, class lexicon.Class) *lexicon.Entry {
	for _, code := range w.langs {
		if e := lexicon.Language(code).Entry(s, class); e != nil {
			return e
		}
	}
	return nil
}

// unit returns the class of a unit, "" of what is none.
func (w *words) unit(u string) string {
	if e := w.entry(u, lexicon.Unit); e != nil {
		return e.Name
	}
	return ""
}

// unitIn returns the class of the first unit among the words of a label: "Alter (Tage)".
func (w *words) unitIn(s string) string {
	if s == "" {
		return ""
	}
	if u := w.unit(s); u != "" {
		return u
	}
	for _, t := range split(s) {
		if u := w.unit(t); u != "" && len(t) > 1 {
			return u
		}
	}
	return ""
}

// concepts returns what the words of a text may mean.
func (w *words) concepts(s string, langs ...string) []lexicon.ConceptID {
	if len(langs) == 0 {
		langs = w.langs
	}
	var out []lexicon.ConceptID
	add := func(x string) {
		for _, code := range langs {
			for _, c := range lexicon.Language(code).Concepts(x) {
				if !slices.Contains(out, c) {
					out = append(out, c)
				}
			}
		}
	}
	add(s)
	if ts := split(s); len(ts) > 1 && len(ts) < 6 {
		for _, t := range ts {
			add(t)
		}
	}
	return out
}

// related are the concepts in which a measure is shown, besides the one of its name.
var related = map[string][]string{
	"price":       {"price", "cost", "amount", "fee", "fare", "total", "rate", "revenue", "sum", "value"},
	"age":         {"age", "birthday", "birth", "born", "date_of_birth", "year"},
	"date":        {"date", "day", "time", "created", "updated", "due", "deadline"},
	"duration":    {"duration", "time", "length", "days", "hours", "minutes"},
	"size":        {"size", "area", "surface"},
	"rating":      {"rating", "stars", "score", "review", "reviews", "grade"},
	"popularity":  {"popularity", "used", "uses", "use", "views", "votes", "likes", "sales", "downloads", "helpful"},
	"income":      {"salary", "income", "wage", "revenue"},
	"stock":       {"stock", "quantity", "inventory"},
	"overdue":     {"overdue", "due", "days", "deadline"},
	"priority":    {"priority", "urgency"},
	"weight":      {"weight"},
	"name":        {"name", "title"},
	"temperature": {"temperature"},
	"number":      {"number", "quantity", "amount", "count"},
}

// measures says how well a name, of a column or field, is one for a measure.
func (w *words) measures(name, class string) float64 {
	if name == "" {
		return 0
	}
	return w.measured(w.concepts(name), class)
}

// measuresIn reports whether a word of a language is one for a measure.
func (w *words) measuresIn(word, class, lang string) bool {
	return w.measured(w.concepts(word, langsOf(lang)...), class) > 0.9
}

func (w *words) measured(cs []lexicon.ConceptID, class string) float64 {
	for i, name := range append([]string{class}, related[class]...) {
		if id := lexicon.Named(name); id != 0 && slices.Contains(cs, id) {
			return 1 - 0.03*float64(min(i, 8))
		}
	}
	return 0
}

func langsOf(lang string) []string {
	if lang == "" {
		return nil
	}
	return []string{lang}
}

// names reports whether a word means the name of a thing: name, title, subject.
func (w *words) names(word, lang string) bool {
	cs := w.concepts(word, langsOf(lang)...)
	return w.anyOf(cs, "name", "title", "subject", "label", "heading")
}

// tells reports whether a word means what a thing says: text, content, description.
func (w *words) tells(word, lang string) bool {
	return w.anyOf(w.concepts(word, langsOf(lang)...), "text", "content", "description", "body")
}

// anyOf reports whether one of the named concepts is among some.
func (w *words) anyOf(cs []lexicon.ConceptID, names ...string) bool {
	for _, name := range names {
		if id := lexicon.Named(name); id != 0 && slices.Contains(cs, id) {
			return true
		}
	}
	return false
}

// fieldKind says what a text field of a name is for: email, phone, url, password, search, name.
func (w *words) fieldKind(name string) string {
	cs := w.concepts(name)
	for _, k := range []string{"email", "phone", "url", "password", "search", "name"} {
		for _, concept := range []string{k, map[string]string{"url": "website", "phone": "telephone", "name": "full_name", "email": "mail"}[k]} {
			if id := lexicon.Named(concept); id != 0 && slices.Contains(cs, id) {
				return k
			}
		}
	}
	return ""
}

// hasNumber reports whether a text has a number, at words that another match did not take.
func (ix *index) hasNumber(id int, want float64, taken match) bool {
	for _, n := range ix.numbersOf(id) {
		if math.Abs(n.value-want) < 1e-9 && !slices.Contains(taken.at, n.at) {
			return true
		}
	}
	return false
}

// hasDate reports whether a text has a date, as far as it is said.
func (w *words) hasDate(s string, d *intent.Date) bool {
	if d.Day == 0 || d.Month == 0 {
		return false
	}
	day, month := strconv.Itoa(d.Day), time.Month(d.Month)
	ts := split(s)
	hasDay, hasMonth, hasYear := false, false, d.Year == 0
	for _, t := range ts {
		bare := strings.TrimLeft(t, "0")
		hasDay = hasDay || bare == day || bare == day+"st" || bare == day+"nd" || bare == day+"rd" || bare == day+"th"
		hasMonth = hasMonth || bare == strconv.Itoa(int(month)) && bare != day || w.month(t) == int(month)
		hasYear = hasYear || t == strconv.Itoa(d.Year)
	}
	return hasDay && (hasMonth || d.Day == d.Month) && hasYear
}

// month returns the number of a month, 0 of what is none.
func (w *words) month(t string) int {
	if e := w.entry(t, lexicon.Month); e != nil {
		return int(e.Value)
	}
	return 0
}
