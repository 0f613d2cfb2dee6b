package intent

import "strings"

// list splits a span at commas and "and".
func (r *reader) list(s span) []span {
	var out []span
	begin := 0
	for i := 0; i < len(s); {
		n := 0
		for i+n < len(s) {
			if s[i+n].is(",") {
				n++
				continue
			}
			code, m := r.and.match(s[i+n:])
			if code == "but" {
				m = 0
			}
			if _, then := r.sequels.match(s[i+n:]); then > m && n > 0 {
				m = then
			}
			if m == 0 {
				_, m = r.or.match(s[i+n:])
			}
			if m == 0 {
				break
			}
			n += m
		}
		if n == 0 {
			i++
			continue
		}
		if part := s[begin:i].trim(); len(part) > 0 {
			out = append(out, part)
		}
		begin = i + n
		i = begin
	}
	if begin < len(s) {
		if part := s[begin:].trim(); len(part) > 0 {
			out = append(out, part)
		}
	}
	return out
}

// listed is a way to read a list: as its items, or as one name that has the words of a
// list in it.
type listed struct {
	items []span
	prior float64
}

// lists returns the ways to read a span as a list, best first. Quoted items and those
// after commas are a list; "Save and close" can be one name.
func (r *valueReader) lists(s span) []listed {
	items := r.list(s)
	if _, n := r.except(s); n > 0 || r.coordinate(items) {
		items = items[:1]
	}
	if len(items) < 2 {
		return []listed{{[]span{s}, 1}}
	}
	if code, n := r.quantities.match(items[0]); code == "both" && n < len(items[0]) && !r.nouns.has(items[0][n:]) {
		// "both A and B": not two of what is called A
		return []listed{{append([]span{items[0][n:]}, items[1:]...), 1}}
	}
	commas, described := false, 0
	for i, t := range s {
		commas = commas || t.is(",")
		if code, n := r.sequels.match(s[i:]); n > 0 && code == "then" && i > 0 {
			return []listed{{items, 1}}
		}
	}
	for _, item := range items {
		if item.hasQuoted() || r.describes(item) || r.articles.has(item) || strings.ContainsAny(item[0].text, "0123456789") {
			described++
		}
	}
	split := listed{items, 0.7}
	if described == len(items) || commas && len(items) > 2 {
		return []listed{{items, 1}}
	}
	if s.hasQuoted() {
		return []listed{split}
	}
	return []listed{split, {[]span{s}, 0.5}}
}

// coordinate reports whether a list is the row and the column of one cell.
func (r *valueReader) coordinate(items []span) bool {
	if len(items) != 2 {
		return false
	}
	code, n := r.nouns.match(items[1])
	if !strings.HasPrefix(code, "column") && !strings.HasPrefix(code, "row") || n >= len(items[1]) {
		return false
	}
	for i := range items[0] {
		other, n := r.nouns.match(items[0][i:])
		if n > 0 && other != code && (strings.HasPrefix(other, "column") || strings.HasPrefix(other, "row")) {
			return true
		}
	}
	return false
}

// relative turns a clause about what is described into words before or after it: "the
// circle that is blue", "the link X, which is in one of the tabs".
func (r *valueReader) relative(s span) span {
	for i := 1; i+2 < len(s); i++ {
		if !r.relatives.has(s[i:i+1]) || !r.modals.has(s[i+1:]) {
			continue
		}
		head, tail := s[:i].trim(), s[i+2:]
		if r.relations.has(tail) {
			return append(append(span{}, head...), tail...)
		}
		_, n := r.looks.match(tail)
		if n == 0 {
			_, n = r.states.match(tail)
		}
		if n == 0 || n != len(tail) {
			if code, n := r.predicates.match(tail); code == "visible" && n == len(tail) {
				return head
			}
			return s
		}
		at := 0
		if _, n := r.articles.match(head); n > 0 && n < len(head) {
			at = n
		}
		return append(append(append(span{}, head[:at]...), tail...), head[at:]...)
	}
	return s
}

// owners reads "the boxes in the rows of A and B": each of the names is the owner of a
// row of its own.
func (r *valueReader) owners(p *Phrase) {
	if len(p.Others) == 0 || len(p.Relations) == 0 {
		return
	}
	chain := []Relation{}
	for at := p.Relations; len(at) == 1; at = at[0].Relations {
		chain = append(chain, at[0])
	}
	kind := p.Noun
	if len(chain) > 1 {
		kind = chain[len(chain)-2].Noun
	}
	if len(chain) == 0 || !r.plural(kind) {
		return
	}
	for i, o := range p.Others {
		if o.Noun != "" || len(o.Relations) > 0 || o.Name == "" {
			return
		}
		last := chain[len(chain)-1]
		last.Phrase = o
		for k := len(chain) - 2; k >= 0; k-- {
			outer := chain[k]
			outer.Relations = []Relation{last}
			last = outer
		}
		other := *p
		other.Others, other.Relations = nil, []Relation{last}
		p.Others[i] = other
	}
}

// plural reports whether a word for a kind is one for several.
func (r *valueReader) plural(noun string) bool {
	low := strings.ToLower(noun)
	return strings.HasSuffix(low, "s") || r.capitals && (strings.HasSuffix(low, "n") || strings.HasSuffix(low, "e"))
}

// either merges what "or" connects: "the folder or file named X" is one thing of two
// kinds; "A or B" is any one of two.
func (r *valueReader) either(s span) *Phrase {
	for i := 1; i < len(s)-1; i++ {
		if !r.or.has(s[i:]) || s.hasQuoted() && s[i-1].kind == quoted {
			continue
		}
		a, b := r.phraseAt(s[:i], 1), r.phraseAt(s[i+1:], 1)
		if a.Noun == "" || a.Name != "" {
			return nil
		}
		b.Roles = append(append([]string{}, a.Roles...), b.Roles...)
		b.Noun = a.Noun + " " + s[i].text + " " + b.Noun
		b.Text = s.text(r.src)
		return &b
	}
	return nil
}

// targets reads what an instruction acts on: one phrase, or a list of them as the
// further names of the first.
func (r *valueReader) targets(s span) []target {
	s = r.relative(s)
	if p := r.either(s); p != nil {
		return []target{{p, 1}}
	}
	var out []target
	for _, l := range r.lists(s) {
		first := r.phraseAt(l.items[0], 0)
		for _, item := range l.items[1:] {
			p := r.phraseAt(item, 1)
			first.Others = append(first.Others, p)
		}
		r.owners(&first)
		spread(&first)
		first.Text = s.text(r.src)
		out = append(out, target{&first, l.prior})
	}
	return out
}

type target struct {
	*Phrase
	prior float64
}

// spread gives the kind and the place that stand at one item of a list to the others:
// "the A, B and C check boxes in the list".
func spread(p *Phrase) {
	if len(p.Others) == 0 {
		return
	}
	last := &p.Others[len(p.Others)-1]
	if p.Noun == "" && last.Noun != "" {
		p.Noun, p.Roles = last.Noun, last.Roles
	}
	if len(p.Relations) == 0 && len(last.Relations) > 0 {
		p.Relations = last.Relations
	}
	for i := range p.Others {
		o := &p.Others[i]
		if o.Noun == "" {
			o.Noun, o.Roles = p.Noun, p.Roles
		}
		if len(o.Relations) == 0 {
			o.Relations = p.Relations
		}
	}
}

// joint finds a preposition between the parts of an instruction, the first or the last
// of the codes asked for that has words on both sides. It returns its place and length.
func (r *valueReader) joint(s span, last bool, codes ...string) (int, int) {
	at, length := -1, 0
	for i := 0; i < len(s); i++ {
		code, n := r.joints.match(s[i:])
		if n == 0 || i+n >= len(s) || s[i].kind == quoted {
			continue
		}
		for _, c := range codes {
			if c == code {
				at, length = i, n
				break
			}
		}
		if at >= 0 && !last {
			return at, length
		}
		if at == i {
			i += n - 1
		}
	}
	return at, length
}
