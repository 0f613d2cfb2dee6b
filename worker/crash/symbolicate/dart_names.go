package symbolicate

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/slipway-qa/slipway/storage/crash"
	"github.com/slipway-qa/slipway/storage/symbol"
	"github.com/slipway-qa/slipway/storage/symbolfile"
	"github.com/slipway-qa/slipway/storage/symbolication"
)

const (
	// maxMessage is the longest message whose classes are read, in bytes.
	maxMessage = 8 << 10
	// maxDartClasses bounds the classes of a report that are looked up.
	maxDartClasses = 64
	// dartInstance stands before the class of an object that says nothing of itself.
	dartInstance = "Instance of '"
)

// plainDart are classes of the language with names as short as those of obfuscated ones.
var plainDart = map[string]bool{"int": true, "num": true, "bool": true, "Null": true, "List": true, "Map": true, "Set": true, "Uri": true,
	"Type": true, "Enum": true, "Sink": true, "Iterable": true, "Zone": true, "File": true, "Link": true}

// obfuscatedDart reports whether Dart's compiler may have given a class its name: it counts with
// letters, a, b, up to Z, then aa, and keeps the underscore of private names.
func obfuscatedDart(name string) bool {
	letters := strings.TrimPrefix(name, "_")
	if len(letters) == 0 || len(letters) > 4 || plainDart[name] {
		return false
	}
	for i := range len(letters) {
		if c := letters[i] | 0x20; c < 'a' || c > 'z' {
			return false
		}
	}
	return true
}

// wantsDartNames reports whether a report of Dart names a class that looks obfuscated. A program that is
// obfuscated has no names of functions either.
func (r *reading) wantsDartNames() bool {
	if !isDart(r.Report.Lang) || !r.wantsDart() {
		return false
	}
	seen := false
	r.clearDart(func(name string) string {
		seen = true
		return name
	})
	return seen
}

// clearDart puts what clear makes of each class that looks obfuscated in its place, in the classes of
// errors and in the message. Nothing is returned for what does not change.
func (r *reading) clearDart(clear func(string) string) (classes []string, message string) {
	left := maxDartClasses
	one := func(name string) string {
		if left == 0 || !obfuscatedDart(name) {
			return name
		}
		left--
		return clear(name)
	}
	list := slices.Clone(r.Report.Classifiers)
	changed := false
	for i := range list[:min(len(list), maxTexts)] {
		if len(list[i]) > maxShort {
			continue
		}
		if name := eachDartClass(list[i], one); name != list[i] {
			list[i], changed = clean(name), true
		}
	}
	if changed {
		classes = list
	}
	text := r.Report.Attribute(symbolication.MessageAttribute)
	if len(text) > maxMessage {
		return classes, ""
	}
	if got := eachDartInstance(text, one); got != text {
		message = cleanText(got)
	}
	return classes, message
}

// eachDartClass replaces the names within a type, such as a and b of a<b>.
func eachDartClass(text string, clear func(string) string) string {
	var b strings.Builder
	for at := 0; at < len(text); {
		end := at
		for end < len(text) && isDartLetter(text[end]) {
			end++
		}
		if end == at {
			b.WriteByte(text[at])
			at++
			continue
		}
		b.WriteString(clear(text[at:end]))
		at = end
	}
	return b.String()
}

func isDartLetter(c byte) bool {
	return c == '_' || c == '$' || c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z' || c >= 0x80
}

// eachDartInstance replaces the names in what objects say that do not say what they are.
func eachDartInstance(text string, clear func(string) string) string {
	var b strings.Builder
	for {
		before, after, found := strings.Cut(text, dartInstance)
		if !found {
			b.WriteString(text)
			return b.String()
		}
		b.WriteString(before)
		b.WriteString(dartInstance)
		end := strings.IndexByte(after, '\'')
		if end < 0 || end > maxShort {
			end = 0
		}
		b.WriteString(eachDartClass(after[:end], clear))
		text = after[end:]
	}
}

// readDartNames names the classes of a report with the obfuscation map of its program.
func (r *reading) readDartNames(ctx context.Context) error {
	w := want{kind: "proguard", name: "obfuscation map", version: r.Build.Version, ids: r.dartMapIDs(), announced: true}
	if r.Build != (crash.BuildRef{}) {
		build, err := r.part.session.Build(ctx, r.Place, r.Build)
		if errors.Is(err, ErrUnasked) {
			r.unasked = true
		} else if err != nil {
			return err
		}
		if build != 0 {
			w.ids = append(w.ids, symbol.Identifier{Type: symbolfile.BuildIdentifier, Value: strconv.FormatInt(build, 10)})
		}
		w.ids = append(w.ids, versions(r.Build)...)
	}
	if len(w.ids) == 0 {
		return nil
	}
	o, err := r.open(&w, r.part.locate(r.Place, &w, func(q Query, l *located) (file symbolication.File, err error) {
		q.Names = true
		l.mapping, file, err = r.part.session.Mapping(ctx, q)
		return file, err
	}))
	if err != nil || o.mapping == nil {
		return err
	}
	var failed error
	r.doc.Classifiers, r.doc.Message = r.clearDart(func(name string) string {
		original, ok, err := o.mapping.Class(name)
		failed = errors.Join(failed, err)
		if err != nil || !ok {
			return name
		}
		return original
	})
	return r.unread(failed)
}

// dartMapIDs are what names the map: what the report says, and the build ids of its programs, since a map
// that was uploaded with their debug files has them.
func (r *reading) dartMapIDs() []symbol.Identifier {
	ids := []symbol.Identifier{}
	add := func(text string) {
		plain := strings.ToLower(strings.ReplaceAll(strings.Trim(text, "{} "), "-", ""))
		if len(plain) >= 8 && len(ids) < maxFiles {
			ids = append(ids, symbol.Identifier{Type: symbol.MappingID, Value: plain})
		}
	}
	if id := r.Report.Attribute("symbolication_id"); id != "" {
		ids = append(ids, symbol.Identifier{Type: symbol.MappingID, Value: id})
	}
	for _, t := range r.texts(isDartTrace) {
		for _, unit := range dartHeadOf(t.text).units {
			add(unit.buildID)
		}
	}
	if t := r.Report.FaultThread(); t != nil {
		for i := range t.Frames {
			if _, ok := dartPlaceOf(&t.Frames[i]); ok {
				add(t.Frames[i].DebugIdentifier)
			}
		}
	}
	for i := range r.Report.Modules {
		m := &r.Report.Modules[i]
		if name := slashes(m.CodeFile); strings.HasSuffix(name, "libapp.so") || strings.HasSuffix(name, "/App") {
			add(m.DebugIdentifier)
		}
	}
	return identifiers(ids...)
}
