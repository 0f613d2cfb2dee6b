package intent

import "strings"

// segment is a part of a sentence that has a verb of its own.
type segment struct {
	span
	// link is what connects it with the one before: "", "and", "," or "then".
	link string
	// weak segments may belong to a name in the one before: "click Save and close".
	weak bool
}

// lookBack and lookAhead bound how far around a place is read to find out what it is,
// so that a text takes time by its length.
const (
	lookBack  = 40
	lookAhead = 40
)

// segments splits a sentence where a new instruction begins.
func (r *segmentReader) segments(s span) []segment {
	var out []segment
	begin, link, weak := 0, "", false
	depth := 0
	for i := max(r.start(s), r.verbEnd(s)); i < len(s); {
		switch {
		case s[i].is("(") || s[i].is("["):
			depth++
		case s[i].is(")") || s[i].is("]"):
			depth = max(0, depth-1)
		}
		kind, n := r.link(s, i)
		if n == 0 && depth == 0 && i > begin+1 && r.unlinked(s, begin, i) {
			out = append(out, segment{s[begin:i].trim(), link, weak})
			begin, link, weak = i, "and", false
		}
		if n == 0 || depth > 0 || i+n >= len(s) || i == begin && kind != "then" {
			i++
			continue
		}
		ok, isWeak := r.begins(s, begin, i, i+n, kind)
		if !ok {
			i += n
			continue
		}
		if i > begin {
			out = append(out, segment{s[begin:i].trim(), link, weak})
		}
		begin, link, weak = i+n, kind, isWeak
		i = max(i+n, begin+r.verbEnd(s[begin:]))
	}
	if begin < len(s) {
		out = append(out, segment{s[begin:].trim(), link, weak})
	}
	return out
}

// verbEnd returns the length of a verb of several words, in which no instruction begins:
// "drag and drop".
func (r *segmentReader) verbEnd(s span) int {
	skipped := r.skip(s)
	if _, n, _ := r.verb(s[skipped:]); n > 1 {
		return skipped + n - 1
	}
	return 0
}

// start returns where the first instruction of a sentence begins, when links are in what
// is before it: "go ahead and".
func (r *segmentReader) start(s span) int {
	if n := r.skip(s); n > 0 && r.isVerb(s[n:]) && !r.sequels.has(s) && !r.conditions.has(s) {
		return n
	}
	return 0
}

// unlinked reports whether an instruction begins at i without any link: "... to the
// bottom of the text hit submit".
func (r *segmentReader) unlinked(s span, begin, i int) bool {
	code, n := r.verbs.match(s[i:])
	if n == 0 || s[i].capital() || r.articles.has(s[i-1:]) {
		return false
	}
	before := s[max(begin, i-lookBack):i]
	if !r.closed(before) {
		return false
	}
	if _, n := r.nouns.matchEnd(before); n == 0 && s[i-1].kind != quoted {
		return false
	}
	return (code == "click" || code == "press") && i+n < len(s) && !r.nounAfter(s[i:], n) && !r.linkAhead(s[i+n:]) && !r.nouns.has(s[i:])
}

// link returns what connects two parts of a sentence at i, and its length.
func (r *reader) link(s span, i int) (string, int) {
	kind, n := "", 0
	for i+n < len(s) && n < 12 {
		rest := s[i+n:]
		if rest[0].is(",") || rest[0].is(";") || rest[0].is("–") || rest[0].is("—") || rest[0].is("--") || rest[0].is("...") {
			if kind == "" {
				kind = ","
			}
			n++
			continue
		}
		if code, m := r.sequels.match(rest); m > 0 && (i == 0 || (n > 0 || code == "then") && !rest[0].capital()) && m < len(rest) {
			kind = "then"
			n += m
			continue
		}
		if code, m := r.and.match(rest); m > 0 && m < len(rest) && (code == "and" || i > 0) {
			if kind != "then" {
				kind = strings.TrimSpace(kind + "and")
			}
			n += m
			continue
		}
		break
	}
	return kind, n
}

// begins reports whether an instruction begins at to, after the link at i, and whether
// that is uncertain.
func (r *segmentReader) begins(s span, begin, i, to int, link string) (ok, weak bool) {
	rest := s[to:]
	before := s[max(begin, i-lookBack):i]
	if len(rest) == 0 || rest[0].kind == quoted && !r.finalVerb {
		return false, false
	}
	if code, n := r.conditions.match(rest); n > 0 && !(s[begin].is("if") && link == "and") {
		return n < len(rest) && (code != "optional" || !r.linkAhead(rest[n:])), false
	}
	skipped := r.skip(rest)
	body := rest[skipped:]
	if len(body) == 0 {
		return false, false
	}
	if _, n := r.checks.match(body); n > 0 && (n > 1 || n < len(body)) && !r.nounAfter(body, n) {
		return true, false
	}
	if r.not.has(body) {
		_, n := r.not.match(body)
		return n < len(body) && r.isVerb(body[n:]), false
	}
	code, n, _ := r.verb(body)
	if _, c := r.comparisons.match(body); c > 1 && link != "then" {
		return false, false
	}
	if n == 1 && n < len(body) && (body[1].kind == quoted || body[1].is("=") || body[1].is(":")) && r.things.has(body) && strings.HasPrefix(code, "activate") {
		// "and email "x"": a label and its value.
		return false, false
	}
	if link != "then" && strings.HasPrefix(code, "activate") && r.sameJoint(before, body[n:]) {
		return false, false // "set Start to 1 and End to 9"
	}
	if r.pressing(before) {
		if _, ok := r.keyList(r.part(body)); ok {
			return false, false
		}
	}
	if n == 0 && r.finalVerb {
		// "und dann auf Speichern klicken": the verb is at the end of what follows.
		if part := r.part(body); r.endsInVerb(part) && (link == "then" || r.endsInVerb(before)) {
			return true, false
		}
	}
	if n == 0 && r.opensParted(body) {
		return true, false
	}
	if n == 0 {
		return r.statementAhead(rest, link), false
	}
	if r.nounAfter(body, n) && !strings.HasPrefix(code, "click") {
		return false, false
	}
	if r.assertsBefore(before) && link != "then" && r.comparisons.has(body) && !r.checks.has(body) {
		return false, false
	}
	if link == "then" || skipped > 0 && link != "and" {
		return true, false
	}
	bare := n >= len(body) || r.linkAhead(body[n:])
	if strings.HasPrefix(code, "activate") || bare {
		unsure := bare && !r.closed(before)
		if link == "," && bare && r.inList(s, to+skipped+n) {
			return false, false
		}
		if body[0].capital() && unsure {
			return true, true
		}
		return true, unsure
	}
	return true, false
}

// sameJoint reports whether the word that stands between a field and its value in an
// instruction begins a span as well: what is before it there is another field then.
func (r *segmentReader) sameJoint(before, s span) bool {
	code, _, _ := r.verb(before[min(len(before), r.skip(before)):])
	if code != "set" && code != "fill" && code != "change" || len(s) < 2 {
		return false
	}
	joint, n := r.joints.match(s)
	if n == 0 || joint != "to" && joint != "with" && joint != "is" {
		return false
	}
	for i := 1; i+1 < len(before); i++ {
		if other, m := r.joints.match(before[i:]); m > 0 && other == joint && before[i].kind == word {
			return true
		}
	}
	return false
}

// opensParted reports whether a verb of two parts begins a span: "füge ... ein".
func (r *segmentReader) opensParted(s span) bool {
	if len(s) < 2 || s[1].is(",") || !r.partedHead(s[0].low) {
		return false
	}
	_, _, _, ok := r.apart(r.part(s))
	return ok
}

// part returns what comes before the next link.
func (r *segmentReader) part(s span) span {
	for i := 1; i < len(s) && i < lookAhead; i++ {
		if r.linkAhead(s[i:]) {
			return s[:i]
		}
	}
	return s[:min(len(s), lookAhead)]
}

// pressing reports whether an instruction presses keys.
func (r *segmentReader) pressing(s span) bool {
	code, _, _ := r.verb(s[min(len(s), r.skip(s)):])
	return code == "press"
}

// endsInVerb reports whether the last word is the verb of a clause.
func (r *segmentReader) endsInVerb(s span) bool {
	s = s[min(len(s), r.skip(s)):]
	if len(s) < 2 || s[len(s)-1].kind != word || s[len(s)-1].capital() {
		return false
	}
	if _, n, _ := r.verb(s); n > 0 {
		return false
	}
	_, n, _ := r.verb(s[len(s)-1:])
	return n > 0
}

// inList reports whether a list goes on after i: ", B and C".
func (r *segmentReader) inList(s span, i int) bool {
	_, n := r.link(s, i)
	return n > 0 && i+n < len(s) && !r.isVerb(s[i+n:])
}

// linkAhead reports whether a span begins with a link or ends.
func (r *reader) linkAhead(s span) bool {
	if len(s) == 0 {
		return true
	}
	_, n := r.link(s[:min(len(s), 6)], 0)
	return n > 0
}

// closed reports whether an instruction cannot go on with a name: it ends with a quoted
// text, a number or the word for a kind.
func (r *segmentReader) closed(s span) bool {
	if len(s) == 0 {
		return true
	}
	last := s[len(s)-1]
	if last.kind != word || digits(last.low) || strings.ContainsAny(last.low, "@/0123456789") {
		return true
	}
	if _, n := r.nouns.matchEnd(s); n > 0 {
		return true
	}
	if _, n := r.pronouns.matchEnd(s); n > 0 {
		return true
	}
	if _, n := r.dates.matchEnd(s); n > 0 {
		return true
	}
	_, n, _ := r.verb(s[r.skip(s):])
	return r.skip(s)+n >= len(s) || r.describes(s[min(len(s), r.skip(s)+n):])
}

// nounAfter reports whether a verb is the name of a control: "the log in button".
func (r *segmentReader) nounAfter(s span, n int) bool {
	if n >= len(s) {
		return false
	}
	code, m := r.nouns.match(s[n:])
	return m > 0 && (strings.HasPrefix(code, "button") || strings.HasPrefix(code, "link")) &&
		(n+m == len(s) || r.linkAhead(s[n+m:]) || r.relations.has(s[n+m:]))
}

// assertsBefore reports whether an instruction is an assertion.
func (r *segmentReader) assertsBefore(s span) bool {
	s = s[min(len(s), r.skip(s)):]
	if r.checks.has(s) {
		return true
	}
	return r.statement(s) >= 0 && !r.isVerb(s)
}

// statementAhead reports whether a span up to its next link says what must hold:
// "the dialog should be closed".
func (r *segmentReader) statementAhead(s span, link string) bool {
	for i := 0; i < len(s) && i < 20; i++ {
		if i > 0 && r.linkAhead(s[i:]) {
			return false
		}
		if code, n := r.modals.match(s[i:]); n > 0 && i > 0 && !s[i].capital() && (code == "should" || link == "then") && i+n < len(s) {
			return true
		}
	}
	return false
}

// skip returns how many words before a verb mean nothing: "then please try to".
func (r *segmentReader) skip(s span) int {
	i := 0
	for i < len(s) {
		if s[i].kind == mark && (s[i].is(",") || s[i].is(":")) && i > 0 {
			i++
			continue
		}
		_, n := r.leads.match(s[i:])
		if _, m := r.sequels.match(s[i:]); m > n {
			n = m
		}
		if n == 0 || i+n >= len(s) {
			break
		}
		if _, c := r.checks.match(s[i:]); c > n {
			break
		}
		if _, v, _ := r.verb(s[i:]); v > n {
			break
		}
		i += n
	}
	return i
}

func (r *segmentReader) isVerb(s span) bool {
	s = s[r.skip(s):]
	if _, n, _ := r.verb(s); n > 0 {
		return true
	}
	return r.opensParted(s)
}
