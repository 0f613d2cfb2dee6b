package text

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/slipway-qa/slipway/storage"
)

// Fitter takes the optional texts of an upload as far as they fit: a build is worth more
// than a note that is too long. What is shortened or left out becomes a warning, which
// names the member and its bound.
type Fitter struct{ Warnings []string }

func (f *Fitter) warn(format string, args ...any) {
	f.Warnings = append(f.Warnings, fmt.Sprintf(format, args...))
}

// Line takes a text of one line.
func (f *Fitter) Line(field, text string, most int) string {
	return f.cut(field, Scrub(text, len(text)), most)
}

// Prose takes a text of many lines.
func (f *Fitter) Prose(field, text string, most int) string {
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return -1
		}
		return r
	}, lineEnds.Replace(strings.ToValidUTF8(text, "\uFFFD")))
	return f.cut(field, text, most)
}

func (f *Fitter) cut(field, text string, most int) string {
	if utf8.RuneCountInString(text) <= most {
		return text
	}
	f.warn("%s was shortened to %d characters", field, most)
	return strings.TrimSpace(storage.Cut(text, most))
}

// Folder takes a folder's path.
func (f *Fitter) Folder(path string) string {
	return segments(f.cut("folder_name", segments(Scrub(path, len(path))), MaxLine))
}

// Tags trims tags and drops empty ones, repetitions, and those beyond the bound.
func (f *Fitter) Tags(list []string) []string {
	out, seen, long := []string{}, map[string]bool{}, 0
	for i, tag := range list {
		tag = Scrub(tag, len(tag))
		if utf8.RuneCountInString(tag) > MaxTag {
			tag = strings.TrimSpace(storage.Cut(tag, MaxTag))
			long++
		}
		if tag == "" || seen[tag] {
			continue
		}
		if len(out) == maxTags {
			f.warn("tags: %d left out, as there may be at most %d", len(list)-i, maxTags)
			break
		}
		seen[tag] = true
		out = append(out, tag)
	}
	if long > 0 {
		f.warn("tags: %d shortened to %d characters", long, MaxTag)
	}
	return out
}

// Metadata takes what fits, by the order of the keys.
func (f *Fitter) Metadata(given map[string]string) map[string]string {
	out := map[string]string{}
	var long, many, cut []string
	for _, name := range slices.Sorted(maps.Keys(given)) {
		key, value := Scrub(name, len(name)), Fitter{}
		text := value.Prose("", given[name], maxMetadatum)
		switch {
		case key == "" || text == "":
			continue
		case len(key) > maxMetadataKey:
			long = append(long, key)
			continue
		case len(out) == maxMetadata:
			many = append(many, key)
			continue
		case len(value.Warnings) > 0:
			cut = append(cut, key)
		}
		out[key] = text
	}
	if len(long) > 0 {
		f.warn("metadata: keys of more than %d bytes were left out: %s", maxMetadataKey, NameSome(long))
	}
	if len(many) > 0 {
		f.warn("metadata: keys beyond the first %d were left out: %s", maxMetadata, NameSome(many))
	}
	if len(cut) > 0 {
		f.warn("metadata: values were shortened to %d characters: %s", maxMetadatum, NameSome(cut))
	}
	return out
}

// NameSome lists the first names, each as far as a line shows it, for a warning.
func NameSome(names []string) string {
	const shown, length = 5, 60
	var list []string
	for _, name := range names[:min(len(names), shown)] {
		if cut := storage.Cut(name, length); cut != name {
			name = cut + "…"
		}
		list = append(list, name)
	}
	text := strings.Join(list, ", ")
	if more := len(names) - shown; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}
