package distribution

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/slipway-qa/slipway/storage"
)

// Bounds of what a request may contain, in characters. An upload that exceeds them is
// shortened (see fitter), a change refused. Release notes and
// descriptions are pages of prose; the rest must fit a line of a list and, twice
// over, an index row.
const (
	maxLine        = 255
	maxProse       = 64 << 10
	maxTags        = 100
	maxTag         = 60
	maxMetadata    = 100
	maxMetadataKey = 255 // bytes
	maxMetadatum   = 4000
	maxOptions     = 4000
	// maxNames bounds the group names of one request.
	maxNames = 500
)

// lineEnds replaces the CR LF with which forms end lines; pages and mails want LF.
var lineEnds = strings.NewReplacer("\r\n", "\n", "\r", "\n")

// prose takes a text of many lines.
func prose(field, text string, most int) (string, error) {
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

// scrub cleans a text of a package for a column: such a text
// never rejects a build.
func scrub(text string, most int) string {
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, "\uFFFD"))
	return storage.Cut(strings.TrimSpace(text), most)
}

// scrubAll scrubs the first texts of a list.
func scrubAll(texts []string, most, length int) []string {
	out := []string{}
	for _, text := range texts[:min(len(texts), most)] {
		if text = scrub(text, length); text != "" {
			out = append(out, text)
		}
	}
	return out
}

// tags trims tags and drops empty ones and repetitions.
func tags(list []string) ([]string, error) {
	out, seen := []string{}, map[string]bool{}
	for _, tag := range list {
		tag, err := storage.Line("tags", tag, maxTag)
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

// metadata merges a change into what is there; a value "" removes the key.
func metadata(have, change map[string]string) (map[string]string, error) {
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
		if value, err = prose("metadata."+key, value, maxMetadatum); err != nil {
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
