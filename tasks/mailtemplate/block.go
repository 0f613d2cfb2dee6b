package mailtemplate

import (
	"html/template"
	"strings"
)

// shape is what a line of a template is.
type shape int

const (
	textLine    shape = iota
	blankLine         // between paragraphs
	vanished          // held a section that is not shown, and nothing else
	headingLine       // # Heading
	buttonLine        // [Label]({{link}})
	valueLine         // a block or a picture alone on its line
	footLine          // --: what follows is small print
)

// line is a line with its shape.
type line struct {
	shape  shape
	pieces []piece // of a heading and a button without their marks
	name   string  // of a button's link, or a value
}

// classify returns what a line is. kindOf returns the type of a placeholder.
func classify(pieces []piece, typeOf func(string) Type) line {
	var gone bool
	kept := make([]piece, 0, len(pieces))
	for _, p := range pieces {
		if p.gone {
			gone = true
			continue
		}
		kept = append(kept, p)
	}
	if blank(kept) {
		if gone {
			return line{shape: vanished}
		}
		return line{shape: blankLine}
	}
	first, last := kept[0], kept[len(kept)-1]
	switch {
	case len(kept) == 1 && strings.TrimRight(first.literal, " \t") == "--":
		return line{shape: footLine}
	case strings.HasPrefix(first.literal, "# "):
		kept[0].literal = strings.TrimPrefix(first.literal, "# ")
		return line{shape: headingLine, pieces: kept}
	case len(kept) >= 3 && strings.HasPrefix(first.literal, "[") && strings.TrimSpace(last.literal) == ")":
		before, target := kept[len(kept)-3], kept[len(kept)-2]
		if target.name != "" && typeOf(target.name) == Link && strings.HasSuffix(before.literal, "](") {
			label := append([]piece{}, kept[:len(kept)-2]...)
			label[len(label)-1].literal = strings.TrimSuffix(label[len(label)-1].literal, "](")
			label[0].literal = strings.TrimPrefix(label[0].literal, "[")
			return line{shape: buttonLine, pieces: label, name: target.name}
		}
	}
	if name := loneName(kept); name != "" && (typeOf(name) == Block || typeOf(name) == Picture) {
		return line{shape: valueLine, name: name}
	}
	return line{shape: textLine, pieces: kept}
}

func blank(pieces []piece) bool {
	for _, p := range pieces {
		if p.name != "" || strings.TrimSpace(p.literal) != "" {
			return false
		}
	}
	return true
}

// loneName returns the placeholder of a line that has nothing else.
func loneName(pieces []piece) string {
	var name string
	for _, p := range pieces {
		switch {
		case p.name != "" && name == "":
			name = p.name
		case p.name != "" || strings.TrimSpace(p.literal) != "":
			return ""
		}
	}
	return name
}

// writer writes a body twice: as text and as HTML.
type writer struct {
	values     map[string]Value
	text       strings.Builder
	body, foot strings.Builder
	footed     bool
	open       bool // a paragraph
}

// add writes one line.
func (w *writer) add(l line) {
	if l.shape != textLine {
		w.closeParagraph()
	}
	switch l.shape {
	case textLine:
		w.addText(l.pieces)
	case footLine:
		w.footed = true
	case headingLine:
		text, html := w.inline(l.pieces)
		w.text.WriteString(text + ":\n\n")
		w.html().WriteString(`<p style="margin:16px 0 4px;font-weight:600">` + html + "</p>\n")
	case buttonLine:
		w.addButton(l)
	case valueLine:
		w.addValue(l.name, w.values[l.name])
	}
}

// html returns where HTML goes.
func (w *writer) html() *strings.Builder {
	if w.footed {
		return &w.foot
	}
	return &w.body
}

const (
	paragraphStyle = `<p style="margin:0 0 12px">`
	footStyle      = `<p style="margin:0 0 8px">`
)

func (w *writer) addText(pieces []piece) {
	text, html := w.inline(pieces)
	switch {
	case w.open:
		w.html().WriteString("<br>\n")
	case w.footed:
		w.html().WriteString(footStyle)
	default:
		w.html().WriteString(paragraphStyle)
	}
	w.open = true
	w.html().WriteString(html)
	w.text.WriteString(text + "\n")
}

func (w *writer) closeParagraph() {
	if w.open {
		w.html().WriteString("</p>\n")
		w.text.WriteString("\n")
	}
	w.open = false
}

func (w *writer) addButton(l line) {
	label, html := w.inline(l.pieces)
	link := string(w.values[l.name].text)
	w.text.WriteString(label + ":\n" + link + "\n\n")
	href := template.HTMLEscapeString(webLink(link))
	w.html().WriteString(`<p style="margin:20px 0 12px"><a href="` + href +
		`" style="display:inline-block;padding:14px 22px;border-radius:8px;` +
		`background:#1f5fd0;color:#ffffff;text-decoration:none;font-weight:600">` + html + "</a></p>\n" +
		`<p style="margin:0 0 12px;font-size:13px;word-break:break-all"><a href="` + href + `" style="color:#4c86e8">` +
		template.HTMLEscapeString(link) + "</a></p>\n")
}

func (w *writer) addValue(name string, v Value) {
	if v.isEmpty() {
		return
	}
	if v.kind == Picture {
		side := "120"
		if name == namePictureIcon {
			side = "64"
		}
		w.html().WriteString(`<p style="margin:0 0 12px"><img src="cid:` + name + `@mail" width="` + side + `" height="` + side +
			`" alt="" style="border-radius:8px;background:#ffffff"></p>` + "\n")
		return
	}
	w.text.WriteString(v.text + "\n\n")
	w.html().WriteString(`<div style="margin:0 0 16px;padding:0 0 0 12px;border-left:3px solid #8a94a6">` + string(v.html) + "</div>\n")
}

// inline returns a line as text and as HTML.
func (w *writer) inline(pieces []piece) (text, html string) {
	var t, h strings.Builder
	for _, p := range pieces {
		if p.name == "" {
			t.WriteString(p.literal)
			h.WriteString(template.HTMLEscapeString(p.literal))
			continue
		}
		v := w.values[p.name]
		if v.kind == Link && !endsInSpace(t.String()) {
			t.WriteByte(' ')
			h.WriteByte(' ')
		}
		t.WriteString(v.text)
		if v.kind == Link {
			h.WriteString(`<a href="` + template.HTMLEscapeString(webLink(v.text)) + `" style="color:#4c86e8">` +
				template.HTMLEscapeString(v.text) + "</a>")
			continue
		}
		h.WriteString(template.HTMLEscapeString(v.text))
	}
	return strings.TrimSpace(t.String()), strings.TrimSpace(h.String())
}

// endsInSpace reports whether what follows a text begins a word. A link always does:
// mail readers make one address of https://other.example/?to=LINK, and whoever follows
// it would hand a link that signs them in to others.
func endsInSpace(text string) bool {
	return text == "" || strings.ContainsAny(text[len(text)-1:], " \t\n")
}

// webLink returns a link that a mail reader may follow: what is no web address
// leads nowhere.
func webLink(link string) string {
	if strings.HasPrefix(link, "https://") || strings.HasPrefix(link, "http://") {
		return link
	}
	return "#"
}
