package symbolicate

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/slipway-qa/slipway/storage/symbol"
	"github.com/slipway-qa/slipway/storage/symbolication"
)

const (
	// maxTexts and maxText bound the traces in text that are read: a report has one or two,
	// and a log of Android some ten kilobytes.
	maxTexts = 16
	maxText  = 128 << 10
	// maxAnnotations bounds how deep annotations are searched.
	maxAnnotations = 8
)

// foundText is a text of the report that has a stack trace.
type foundText struct{ where, text string }

// texts finds the texts of the report that look like traces: in attributes, and in
// annotations of any nesting.
func (r *reading) texts(trace func(string) bool) []foundText {
	var found []foundText
	add := func(where, text string) {
		if len(found) < maxTexts && trace(text) {
			found = append(found, foundText{clean(where), text[:min(len(text), maxText)]})
		}
	}
	for _, a := range r.Report.Attributes {
		if s, ok := a.Value.(string); ok {
			add("attributes."+a.Key, s)
		}
	}
	if !bytes.Contains(r.Document, []byte(`"annotations"`)) {
		return found
	}
	var doc struct {
		Annotations any `json:"annotations"`
	}
	if json.Unmarshal(r.Document, &doc) != nil {
		return found
	}
	walkTexts("annotations", doc.Annotations, maxAnnotations, add)
	return found
}

func walkTexts(where string, v any, depth int, add func(where, text string)) {
	if depth == 0 {
		return
	}
	switch v := v.(type) {
	case string:
		add(where, v)
	case []any:
		for _, item := range v {
			walkTexts(where, item, depth-1, add)
		}
	case map[string]any:
		names := make([]string, 0, len(v))
		for name := range v {
			names = append(names, name)
		}
		slices.Sort(names)
		for _, name := range names {
			walkTexts(where+"."+name, v[name], depth-1, add)
		}
	}
}

// isJavaTrace reports whether a text has a line of a stack trace of Java.
func isJavaTrace(text string) bool {
	i := strings.Index(text, "at ")
	for i >= 0 {
		rest := text[i+3:]
		line, _, _ := strings.Cut(rest, "\n")
		if strings.Contains(line, "(") && strings.HasSuffix(strings.TrimSpace(line), ")") && strings.Contains(line, ".") {
			return true
		}
		next := strings.Index(rest, "at ")
		if next < 0 {
			return false
		}
		i += 3 + next
	}
	return false
}

// retraceTexts retraces the traces that came as text.
func (r *reading) retraceTexts(o *opened) error {
	for _, t := range r.texts(isJavaTrace) {
		text, err := o.mapping.Text(t.text)
		if err != nil {
			if err := r.unread(err); err != nil {
				return err
			}
			continue
		}
		if text == t.text || text == "" {
			continue
		}
		r.doc.Texts = append(r.doc.Texts, symbolication.Text{Where: t.where, Text: cleanText(text), File: o.file})
	}
	return nil
}

// cleanText bounds a text that a mapping made longer, as what it calls a class may be long.
func cleanText(s string) string {
	if len(s) > 4*maxText {
		s = s[:4*maxText]
	}
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "\uFFFD")
}

// unread reads the error of a look-up. One of the file spoils the frame, which stays as it
// came; where a page of the index is not at hand, the crash is read again.
func (r *reading) unread(err error) error {
	var invalid *symbol.InvalidError
	switch {
	case errors.Is(err, ErrUnasked):
		r.unasked = true
		return nil
	case errors.Is(err, ErrCold):
		r.cold = true
		return nil
	case errors.As(err, &invalid):
		return nil
	}
	return err
}
