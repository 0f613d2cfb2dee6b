package setting

import (
	"log/slog"
	"os"

	"github.com/slipway-qa/slipway/cmd/slipway/terminal"
	"github.com/slipway-qa/slipway/tasks/logfield"
)

// Logger returns the log of a command. People at a terminal get the lines of
// package terminal from slipway up; everything else is read by programs.
func (s *Settings) Logger(command string) *slog.Logger {
	var level slog.Level
	_ = level.UnmarshalText([]byte(s.LogLevel)) // kong has checked it
	opts := &slog.HandlerOptions{Level: level, ReplaceAttr: terminal.Sparse}
	var handler slog.Handler = slog.NewJSONHandler(os.Stderr, opts)
	switch people := command == "up" && terminal.Is(os.Stderr); {
	case s.LogFormat == "text":
		handler = slog.NewTextHandler(os.Stderr, opts)
	case s.LogFormat == "people", s.LogFormat == "auto" && people:
		handler = terminal.NewHandler(os.Stderr, level)
	}
	return slog.New(logfield.Handler(handler))
}
