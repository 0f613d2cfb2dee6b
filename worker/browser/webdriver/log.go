package webdriver

import (
	"context"
	"slices"
	"strings"
)

// LogEntry is a line of the browser's console.
type LogEntry struct {
	Level     string `json:"level"`
	Message   string `json:"message"`
	Timestamp int64  `json:"timestamp"` // ms
}

// mapperLine is what the page through which chromedriver serves BiDi writes when it
// starts.
const mapperLine = `"Launching Mapper instance with selfTargetId:"`

// Log returns the lines of the browser's console since the last call, where the
// remote end keeps them (chromedriver and Appium do; the capability
// goog:loggingPrefs switches it on). What chromedriver's own page for BiDi writes
// there is left out. The log is that of the whole browser: whoever shares it reads
// the lines of the test before away first.
func (s *Session) Log(ctx context.Context) ([]LogEntry, error) {
	var lines []LogEntry
	err := s.post(ctx, "/se/log", map[string]string{"type": "browser"}, &lines)
	return slices.DeleteFunc(lines, func(l LogEntry) bool { return strings.Contains(l.Message, mapperLine) }), err
}
