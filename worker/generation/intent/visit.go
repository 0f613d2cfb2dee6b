package intent

import "strings"

func (a *act) open(s span) []Reading {
	if len(s) == 0 {
		return nil
	}
	if path := a.path(s); len(path) > 1 {
		return []Reading{{path, 1}}
	}
	if u := a.address(s); u != "" {
		return single(Instruction{Kind: Open, URL: u})
	}
	var out []Reading
	for _, t := range a.targets(a.purposeless(s)) {
		click := each(Instruction{Kind: Click, Verb: "open", Target: t.Phrase})
		switch first(t.Roles) {
		case "page":
			out = append(out, Reading{[]Instruction{{Kind: Open, Target: t.Phrase}}, t.prior}, Reading{click, t.prior / 2})
		case "menu", "region", "tree", "treeitem", "combobox", "list":
			out = append(out, Reading{each(Instruction{Kind: Expand, Verb: "open", Target: t.Phrase}), t.prior}, Reading{click, t.prior * 0.8})
		case "tab":
			out = append(out, Reading{click, t.prior})
		default:
			out = append(out, Reading{click, t.prior}, Reading{each(Instruction{Kind: Expand, Verb: "open", Target: t.Phrase}), t.prior / 2})
		}
	}
	return out
}

func first(s []string) string {
	if len(s) == 0 {
		return ""
	}
	return s[0]
}

func (r *segmentReader) address(s span) string {
	for i, t := range s {
		if t.kind == mark {
			continue
		}
		w := t.text
		url := strings.Contains(w, "://") || strings.HasPrefix(w, "/") && len(w) > 1 || strings.HasPrefix(w, "www.") ||
			strings.HasPrefix(w, "about:") || t.kind == word && domain(t.low) || t.kind == variable
		if url && (i == 0 || i == len(s)-1 || r.subjects.has(s[max(0, i-1):])) && !strings.Contains(w, " ") {
			return w
		}
	}
	return ""
}

func domain(w string) bool {
	host, _, _ := strings.Cut(w, "/")
	i := strings.LastIndexByte(host, '.')
	if i <= 0 || strings.Contains(w, "@") {
		return false
	}
	switch tld, _, _ := strings.Cut(host[i+1:], ":"); tld {
	case "com", "org", "net", "de", "io", "dev", "test", "local", "example", "app", "eu", "at", "ch", "uk", "co", "edu", "gov", "info", "html", "htm", "php":
		return true
	}
	return strings.HasPrefix(host, "localhost")
}

func (a *act) visit(s span) []Reading {
	if len(s) == 0 {
		return nil
	}
	if u := a.address(s); u != "" || strings.HasPrefix(s[0].low, "localhost") {
		if u == "" {
			u = s[0].text
		}
		return single(Instruction{Kind: Open, URL: u})
	}
	if path := a.path(s); len(path) > 1 {
		return []Reading{{path, 1}}
	}
	if code, n := a.directions.match(s); n == len(s) && (code == "top" || code == "bottom") {
		return single(Instruction{Kind: Scroll, Direction: code})
	}
	p := a.phrase(s)
	click := Reading{[]Instruction{{Kind: Click, Verb: "open", Target: p}}, 0.7}
	switch first(p.Roles) {
	case "page":
		return []Reading{{[]Instruction{{Kind: Open, Target: p}}, 0.8}, {click.Instructions, 0.6}}
	case "window":
		return []Reading{{[]Instruction{{Kind: Window, Target: p}}, 0.8}, click}
	case "":
		return []Reading{click, {[]Instruction{{Kind: Open, Target: p}}, 0.5}}
	}
	return []Reading{click, {[]Instruction{{Kind: Find, Target: p}}, 0.4}}
}
