// Package text takes the texts of builds, apps and packages: their bounds, and which of them
// are shortened and which refused.
//
// There are three ways. What a person changes is refused where it breaks a bound, by a
// *storage.InvalidError that names the member (Prose, Tags, Metadata, Folder). What a request
// has beside a build is shortened, with a warning of it (Fitter): a build is worth more than
// a note that is too long. What a package contains is cleaned and cut without a word (Scrub),
// for it never rejects a build.
package text

import (
	"path"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/slipway-qa/slipway/storage"
)

// Bounds of what a request may contain, in characters. An upload that exceeds them is
// shortened (see Fitter), a change refused. Release notes and
// descriptions are pages of prose; the rest must fit a line of a list and, twice
// over, an index row.
const (
	MaxLine        = 255
	MaxProse       = 64 << 10
	maxTags        = 100
	MaxTag         = 60
	maxMetadata    = 100
	maxMetadataKey = 255 // bytes
	maxMetadatum   = 4000
	MaxOptions     = 4000
	MaxURL         = 2048 // as browsers take it
)

// lineEnds replaces the CR LF with which forms end lines; pages and mails want LF.
var lineEnds = strings.NewReplacer("\r\n", "\n", "\r", "\n")

// Prose takes a text of many lines.
func Prose(field, text string, most int) (string, error) {
	text = lineEnds.Replace(text)
	control := func(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' }
	if !utf8.ValidString(text) || strings.ContainsFunc(text, control) {
		return "", storage.Invalid(field, "must be UTF-8 text without control characters")
	}
	if utf8.RuneCountInString(text) > most {
		return "", storage.Invalid(field, "must have at most %d characters", most)
	}
	return text, nil
}

// Scrub cleans a text of a package for a column: such a text
// never rejects a build.
func Scrub(text string, most int) string {
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, "\uFFFD"))
	return storage.Cut(strings.TrimSpace(text), most)
}

// ScrubAll scrubs the first texts of a list.
func ScrubAll(texts []string, most, length int) []string {
	out := []string{}
	for _, text := range texts[:min(len(texts), most)] {
		if text = Scrub(text, length); text != "" {
			out = append(out, text)
		}
	}
	return out
}

// Tags trims tags and drops empty ones and repetitions.
func Tags(list []string) ([]string, error) {
	out, seen := []string{}, map[string]bool{}
	for _, tag := range list {
		tag, err := storage.Line("tags", tag, MaxTag)
		if err != nil {
			return nil, err
		}
		if tag == "" || seen[tag] {
			continue
		}
		seen[tag] = true
		out = append(out, tag)
	}
	if len(out) > maxTags {
		return nil, storage.Invalid("tags", "must be at most %d", maxTags)
	}
	return out, nil
}

// Metadata merges a change into what is there; a value "" removes the key.
func Metadata(have, change map[string]string) (map[string]string, error) {
	out := make(map[string]string, len(have)+len(change))
	for key, value := range have {
		out[key] = value
	}
	for key, value := range change {
		key, err := storage.Line("metadata", key, maxMetadataKey)
		if err != nil {
			return nil, err
		}
		if len(key) > maxMetadataKey {
			return nil, storage.Invalid("metadata", "has a key of more than %d bytes", maxMetadataKey)
		}
		if key == "" {
			return nil, storage.Invalid("metadata", "has an empty key")
		}
		if value, err = Prose("metadata."+key, value, maxMetadatum); err != nil {
			return nil, err
		}
		if value == "" {
			delete(out, key)
			continue
		}
		out[key] = value
	}
	if len(out) > maxMetadata {
		return nil, storage.Invalid("metadata", "must have at most %d keys", maxMetadata)
	}
	return out, nil
}

// Folder takes a folder's path: segments joined by /, without spaces around
// them. "" stands for no folder.
func Folder(folder string) (string, error) {
	folder, err := storage.Line("folder", folder, 4*MaxLine)
	if err != nil {
		return "", err
	}
	return storage.Line("folder", segments(folder), MaxLine)
}

// segments returns a path without empty segments and spaces around them.
func segments(folder string) string {
	var kept []string
	for segment := range strings.SplitSeq(folder, "/") {
		if segment = strings.TrimSpace(segment); segment != "" {
			kept = append(kept, segment)
		}
	}
	return strings.Join(kept, "/")
}

// FileName is a file's name as a download shows it.
func FileName(name string) string {
	name = Scrub(path.Base(strings.ReplaceAll(name, `\`, "/")), MaxLine)
	if name == "" || name == "." || name == "/" || name == ".." {
		return "build"
	}
	return name
}
