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
	Source    string `json:"source"`
	Timestamp int64  `json:"timestamp"` // ms
}

// mapperLine is what the page through which chromedriver serves BiDi writes when it
// starts.
const mapperLine = `"Launching Mapper instance with selfTargetId:"`

// Log gives the lines of a log ("browser") since the last call, where the remote
// end keeps one (chromedriver and Appium do; the capability goog:loggingPrefs
// switches it on). What chromedriver's own page for BiDi writes there is left out.
// The log is that of the whole browser: whoever shares it reads away the lines of
// the test before.
func (s *Session) Log(ctx context.Context, kind string) ([]LogEntry, error) {
	var lines []LogEntry
	err := s.post(ctx, "/se/log", map[string]string{"type": kind}, &lines)
	return slices.DeleteFunc(lines, func(l LogEntry) bool { return strings.Contains(l.Message, mapperLine) }), err
}
