package lexicon

import (
	"fmt"
	"strings"
)

// line is a line of a file of data.
type line struct {
	name  string
	attrs map[string][]string
	words []string
}

// parse reads a file of data: lines "NAME key=value,value: word, several words".
func parse(text string) ([]line, error) {
	var lines []line
	for i, raw := range strings.Split(text, "\n") {
		raw = strings.TrimSpace(raw)
		if raw == "" || raw[0] == '#' {
			continue
		}
		l, err := parseLine(raw)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", i+1, err)
		}
		lines = append(lines, l)
	}
	return lines, nil
}

// parseLine reads one line; words may be missing, the colon too.
func parseLine(raw string) (line, error) {
	head, words := raw, ""
	if i := colon(raw); i >= 0 {
		head, words = raw[:i], raw[i+1:]
	}
	fields := strings.Fields(head)
	if len(fields) == 0 {
		return line{}, fmt.Errorf("no name in %q", raw)
	}
	l := line{name: fields[0]}
	for _, f := range fields[1:] {
		key, value, ok := strings.Cut(f, "=")
		if !ok || key == "" {
			// A second word of the name: "verb imperative".
			l.name += " " + f
			continue
		}
		if l.attrs == nil {
			l.attrs = map[string][]string{}
		}
		// "_" stands for a space in a value: "a_la".
		l.attrs[key] = append(l.attrs[key], strings.Split(strings.ReplaceAll(value, "_", " "), ",")...)
	}
	for w := range strings.SplitSeq(words, ",") {
		if w = strings.Join(strings.Fields(w), " "); w != "" {
			l.words = append(l.words, w)
		}
	}
	return l, nil
}

// colon is where the words begin: a colon before a space or the end of the line.
func colon(raw string) int {
	for i := 0; i < len(raw); i++ {
		if raw[i] == ':' && (i+1 == len(raw) || raw[i+1] == ' ') {
			return i
		}
	}
	return -1
}
