package symbolicate

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/slipway-qa/slipway/storage/crash"
	"github.com/slipway-qa/slipway/storage/report"
	"github.com/slipway-qa/slipway/storage/symbol"
	"github.com/slipway-qa/slipway/storage/symbolfile"
	"github.com/slipway-qa/slipway/storage/symbolication"
)

// JavaFrame is a frame of Java: a.b.c in SourceFile, line 7. Line 0: none.
type JavaFrame struct {
	Class, Method, File string
	Line                int
}

// JavaResult is a frame that the developer wrote.
type JavaResult struct {
	JavaFrame
	Signature   string // return type, class, method and parameters; "" when it is not known
	Inlined     bool
	Synthesized bool
}

// JavaLine is what a frame was: alternatives, each the innermost function first, the likeliest
// alternative first. None: the mapping does not know the class. An alternative without frames
// is one that the compiler made.
type JavaLine struct{ Alternatives [][]JavaResult }

// Mapping retraces stacks of obfuscated Java.
type Mapping interface {
	// Stack retraces the frames of a stack, whose exception has the obfuscated class; the
	// lines are as many as the frames.
	Stack(exception string, frames []JavaFrame) ([]JavaLine, error)
	// Class returns the name of an obfuscated class; false when the mapping does not have it.
	Class(name string) (string, bool, error)
	// Text retraces a text with stack traces.
	Text(text string) (string, error)
}

// mappingAttributes name a mapping; symbolication_id is what clients of Java send, the others
// are what R8 and ProGuard write into the mapping.
var mappingAttributes = [...]string{"symbolication_id", "pg_map_id", "pg_map_hash"}

// mapFile begins the source file that R8 puts into frames, with the id of the mapping.
const mapFile = "r8-map-id-"

func isJava(lang string) bool {
	switch strings.ToLower(lang) {
	case "java", "kotlin", "android", "scala", "jvm":
		return true
	}
	return false
}

// wantsMapping reports whether the report says that it is obfuscated, or looks like it.
func (r *reading) wantsMapping() bool {
	switch {
	case r.Report.Symbolication == "proguard":
		return true
	case r.Report.Symbolication != "" || !isJava(r.Report.Lang):
		return false
	case len(r.mappingIDs()) > 0:
		return true
	case r.Build == crash.BuildRef{}:
		return false
	}
	t := r.Report.FaultThread()
	if t == nil {
		return false
	}
	for i := range t.Frames {
		if obfuscated(&t.Frames[i]) {
			return true
		}
	}
	return false
}

// mappingIDs are the identifiers of the mapping that the report names.
func (r *reading) mappingIDs() []symbol.Identifier {
	var ids []symbol.Identifier
	for _, name := range mappingAttributes {
		if v := r.Report.Attribute(name); v != "" {
			ids = append(ids, symbol.Identifier{Type: symbol.MappingID, Value: v})
		}
	}
	if t := r.Report.FaultThread(); t != nil {
		for i := range t.Frames {
			if id, ok := strings.CutPrefix(javaFile(&t.Frames[i]), mapFile); ok {
				ids = append(ids, symbol.Identifier{Type: symbol.MappingID, Value: id})
				break
			}
		}
	}
	return identifiers(ids...)
}

// readJava retraces the threads of a report of Java, and its traces in text.
func (r *reading) readJava(ctx context.Context) error {
	w := want{kind: "proguard", name: cmp.Or(r.Report.Attribute("application"), r.Report.Attribute("application.package"),
		"mapping"), version: r.Build.Version, ids: r.mappingIDs(), announced: true}
	if r.Build != (crash.BuildRef{}) {
		build, err := r.part.session.Build(ctx, r.Place, r.Build)
		if errors.Is(err, ErrUnasked) {
			r.unasked = true // the ids that the report names are asked for together with it
		} else if err != nil {
			return err
		}
		if build != 0 {
			w.ids = append(w.ids, symbol.Identifier{Type: symbolfile.BuildIdentifier, Value: strconv.FormatInt(build, 10)})
		}
		// A name alone may be short in the source as well.
		w.loose = len(w.ids) == 0 && r.Report.Symbolication == ""
		w.ids = append(w.ids, versions(r.Build)...)
	}
	if len(w.ids) == 0 && r.Report.Symbolication == "" {
		return nil
	}
	o, err := r.open(&w, r.part.locate(r.Place, &w, func(q Query, l *located) (file symbolication.File, err error) {
		l.mapping, file, err = r.part.session.Mapping(ctx, q)
		return file, err
	}))
	if err != nil {
		return err
	}
	if o.mapping == nil {
		r.lackMapping(o)
		return nil
	}
	exception := ""
	if len(r.Report.Classifiers) > 0 {
		exception = r.Report.Classifiers[0]
	}
	if err := r.retraceClasses(o); err != nil {
		return err
	}
	for n, t := range r.threads() {
		if n > 0 {
			exception = ""
		}
		if err := r.retrace(o, exception, t); err != nil {
			return err
		}
	}
	return r.retraceTexts(o)
}

// versions are the names of a build that may be uploaded later, with its mapping.
func versions(b crash.BuildRef) []symbol.Identifier {
	if b.Version == "" {
		return nil
	}
	return identifiers(symbol.Identifier{Type: symbolfile.VersionIdentifier, Value: b.Version, Release: b.VersionCode},
		symbol.Identifier{Type: symbolfile.VersionIdentifier, Value: b.Version})
}

// retraceClasses reads the classes of errors among the classifiers.
func (r *reading) retraceClasses(o *opened) error {
	list := slices.Clone(r.Report.Classifiers)
	changed := false
	for i := range list[:min(len(list), maxTexts)] {
		name, ok, err := o.mapping.Class(list[i])
		if err != nil {
			return r.unread(err)
		}
		if ok && name != list[i] {
			list[i], changed = clean(name), true
		}
	}
	if changed {
		r.doc.Classifiers = list
	}
	return nil
}

// lackMapping notes the frames that lack the mapping: those that it could have.
func (r *reading) lackMapping(o *opened) {
	for _, t := range r.threads() {
		for i := range t.Frames {
			if class, _ := splitMethod(t.Frames[i].Function); class != "" && !isPlatformClass(class) && r.take() {
				r.lack(t.ID, i, o, false)
			}
		}
	}
}

// retrace replaces the frames of a thread.
func (r *reading) retrace(o *opened, exception string, t *report.Thread) error {
	var frames []JavaFrame
	for i := range t.Frames {
		if !r.take() {
			break
		}
		f := &t.Frames[i]
		class, method := splitMethod(f.Function)
		frames = append(frames, JavaFrame{Class: class, Method: method, File: javaFile(f), Line: int(min(max(f.Line, 0), 1<<31-1))})
	}
	lines, err := o.mapping.Stack(exception, frames)
	if err != nil {
		return r.unread(err)
	}
	for i := range lines[:min(len(lines), len(frames))] {
		all := lines[i].Alternatives
		if len(all) == 0 || frames[i].Class == "" {
			continue
		}
		p := symbolication.Replacement{Index: i, File: o.file, Frames: javaFrames(all[0]), Hidden: len(all[0]) == 0}
		for _, other := range all[1:min(len(all), maxAlternatives)] {
			p.Alternatives = append(p.Alternatives, javaFrames(other))
		}
		r.replace(t.ID, p)
	}
	return nil
}

func javaFrames(list []JavaResult) []symbolication.Frame {
	out := make([]symbolication.Frame, 0, len(list))
	for i := range list[:min(len(list), maxInlines)] {
		j := &list[i]
		f := symbolication.Frame{Function: clean(j.Class), File: clean(j.File), Line: int64(j.Line), Signature: clean(j.Signature),
			Inlined: j.Inlined, Synthesized: j.Synthesized, Method: symbolication.Mapping}
		if j.Method != "" {
			f.Function = clean(j.Class + "." + j.Method)
		}
		out = append(out, f)
	}
	return out
}

// splitMethod returns the class and the method of a function: a.b and c of a.b.c(d).
func splitMethod(function string) (class, method string) {
	name, _, _ := strings.Cut(function, "(")
	name = strings.TrimSpace(name)
	if i := strings.LastIndexByte(name, '/'); i >= 0 {
		name = name[i+1:] // app//a.b.c: the class loader and the module
	}
	i := strings.LastIndexByte(name, '.')
	if i <= 0 || i == len(name)-1 {
		return "", ""
	}
	return name[:i], name[i+1:]
}

// javaFile is the source file of a frame, which some clients send as its library.
func javaFile(f *report.Frame) string {
	if f.Path != "" {
		return f.Path
	}
	l := f.Library
	if strings.HasSuffix(l, ".java") || strings.HasSuffix(l, ".kt") || strings.HasPrefix(l, mapFile) || l == "SourceFile" ||
		l == "Unknown Source" {
		return l
	}
	return ""
}

// obfuscated reports whether a frame looks like one of an obfuscated class: its names have one
// or two letters, or its source file is one that tools of obfuscation write.
func obfuscated(f *report.Frame) bool {
	class, method := splitMethod(f.Function)
	if class == "" || isPlatformClass(class) {
		return false
	}
	switch file := javaFile(f); {
	case file == "SourceFile", file == "PG", strings.HasPrefix(file, "r8-"), strings.HasPrefix(file, "R8$$"):
		return true
	}
	simple := class[strings.LastIndexByte(class, '.')+1:]
	return len(simple) <= 2 && len(method) <= 2
}

// isPlatformClass reports whether a class is one of the system, which no mapping of an app
// renames.
func isPlatformClass(class string) bool {
	for _, prefix := range [...]string{"java.", "javax.", "android.", "dalvik.", "com.android.internal.", "sun.", "jdk.", "libcore."} {
		if strings.HasPrefix(class, prefix) {
			return true
		}
	}
	return false
}
