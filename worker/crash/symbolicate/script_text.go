package symbolicate

import (
	"bytes"
	"context"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/slipway-qa/slipway/storage/symbolication"
)

// maxTextLines bounds the lines of a trace in text that are mapped.
const maxTextLines = 500

// scriptLine matches a line of a stack trace of V8 ("at f (url:1:2)", "at url:1:2"), and of
// Firefox and Safari ("f@url:1:2"), and of Hermes ("at f (address at url:1:2)").
var scriptLine = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(\s*(?:at )?)(?:(async )?([^@()]*?)\s*[@(])?(address at )?((?:[a-z][a-z0-9+.-]*:/{1,3}|/|~/|[A-Za-z]:\\)?[^\s()@]+?):(\d{1,9})(?::(\d{1,9}))?\)?$`)
})

func isScriptTrace(text string) bool {
	return (strings.Contains(text, "at ") || strings.Contains(text, "@")) && strings.Contains(text, "\n") && strings.Contains(text, ":")
}

// hasLines reports whether a text of a JSON document may have several lines.
func hasLines(doc []byte) bool {
	return bytes.Contains(doc, []byte(`\n`)) || bytes.Contains(doc, []byte(`\u000`))
}

// mapTexts maps the traces that came as text. Their files are no need: those of the frames
// are the same.
func (r *reading) mapTexts(ctx context.Context, s *scripts) error {
	if !hasLines(r.Document) {
		return nil
	}
	found := r.texts(isScriptTrace)
	if len(found) == 0 {
		return nil
	}
	pattern := scriptLine()
	for _, t := range found {
		text, file, err := r.mapText(ctx, s, pattern, t.text)
		if err != nil {
			return err
		}
		if file > 0 {
			r.doc.Texts = append(r.doc.Texts, symbolication.Text{Where: t.where, Text: cleanText(text), File: file})
		}
	}
	return nil
}

// mapText maps the lines of a trace; file is that which served the first of them, 0 when none
// was.
func (r *reading) mapText(ctx context.Context, s *scripts, pattern *regexp.Regexp, text string) (string, int, error) {
	lines, file := strings.Split(text, "\n"), 0
	for i := range lines[:min(len(lines), maxTextLines)] {
		m := pattern.FindStringSubmatch(strings.TrimSuffix(lines[i], "\r"))
		if m == nil || len(lines[i]) > maxShort {
			continue
		}
		line, _ := strconv.Atoi(m[6])
		column, _ := strconv.Atoi(m[7])
		if m[4] != "" {
			column++ // an offset in bytecode, from 0
		}
		o, err := r.openMap(ctx, s, m[5], "")
		if err != nil {
			return "", 0, err
		}
		if o.script == nil {
			continue
		}
		found, err := o.script.Frames(ScriptPlace{Line: line, Column: column, Function: strings.TrimSpace(m[3])}, nil, o.text)
		if err != nil || len(found) == 0 {
			if err := r.unread(err); err != nil {
				return "", 0, err
			}
			continue
		}
		if file == 0 {
			file = o.file
		}
		for j, f := range found[:min(len(found), maxInlines)] {
			found[j] = cleanFrame(f)
		}
		lines[i] = textLines(m[1], m[2], strings.TrimSpace(m[3]), found)
	}
	return strings.Join(lines, "\n"), file, nil
}

// textLines writes the frames of a place, a line each.
func textLines(indent, async, function string, frames []symbolication.Frame) string {
	lines := make([]string, len(frames))
	for i, f := range frames {
		if i < len(frames)-1 {
			lines[i] = textLine(indent, "", "", f)
		} else {
			lines[i] = textLine(indent, async, function, f)
		}
	}
	return strings.Join(lines, "\n")
}

// textLine writes a frame as V8 does.
func textLine(indent, async, function string, f symbolication.Frame) string {
	if f.Function != "" {
		function = f.Function
	}
	if strings.TrimSpace(indent) == "" {
		indent += "at "
	}
	place := fmt.Sprintf("%s:%d:%d", f.File, f.Line, f.Column)
	if function == "" {
		return indent + async + place
	}
	return indent + async + function + " (" + place + ")"
}
