// Package progress shows a person what a command does: lines that stay, bars with speed and
// time left, and a table that lives.
//
// A Printer has one of three modes. At a terminal (Live) the bars and tables stand below the
// lines that stay, and are drawn anew at most ten times a second. In a log (Lines) progress is a
// plain line, at most one in ten seconds whatever goes on; what stays is printed at once.
// Silent prints nothing. Modes are chosen by ModeOf.
//
// Texts come from servers, files and users: no control character of theirs reaches the
// terminal, and no line gives the pipeline that reads the log a command. In Lines no escape
// sequence is printed at all. A writer that fails is a log that nobody reads, which is no
// reason to stop: errors of it are dropped.
//
// A Printer is safe for concurrent use. Close ends it, and leaves bars and tables as they are.
package progress

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"
	"unicode/utf8"
)

// Mode is how a Printer prints.
type Mode int

// The modes.
const (
	Silent Mode = iota
	Lines
	Live
)

const (
	// lineEvery is the time between two lines of progress in a log.
	lineEvery = 10 * time.Second
	// drawEvery is the time between two pictures at a terminal; faster cannot be read.
	drawEvery = 100 * time.Millisecond
	// defaultWidth serves where the terminal does not say how wide it is.
	defaultWidth = 80
)

// Config is what a Printer needs.
type Config struct {
	Out  io.Writer
	Mode Mode
	// Color lets states be coloured; at a terminal only.
	Color bool
	// Width returns the width of the terminal in characters, 0 when it is not known; nil:
	// 80 characters.
	Width func() int
}

// part is something that is shown while it goes on.
type part interface {
	// draw returns its lines for a terminal.
	draw(now time.Time, width int, color bool) []string
	// line returns it in one line of a log; "" when nothing is new since the last one.
	line(now time.Time) string
}

// Printer prints to a person.
type Printer struct {
	cfg Config

	mu     sync.Mutex
	parts  []part
	drawn  int       // lines of parts at the terminal
	last   time.Time // of the last line of progress
	closed bool
	wake   chan struct{}
	ended  chan struct{}
}

// New returns a Printer. Close ends it.
func New(cfg Config) *Printer {
	p := &Printer{cfg: cfg, wake: make(chan struct{}), ended: make(chan struct{}), last: time.Now()}
	if cfg.Mode == Silent {
		close(p.ended)
		return p
	}
	go p.tick()
	return p
}

// Live reports whether a person sees bars and tables move.
func (p *Printer) Live() bool { return p.cfg.Mode == Live }

// Line prints a line that stays.
func (p *Printer) Line(format string, args ...any) { p.say(fmt.Sprintf(format, args...), "") }

// Warn prints a warning.
func (p *Printer) Warn(format string, args ...any) {
	p.say("warning: "+fmt.Sprintf(format, args...), yellow)
}

func (p *Printer) say(text, color string) {
	if p.cfg.Mode == Silent {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.erase()
	_, _ = io.WriteString(p.cfg.Out, p.paint(Printable(text), color)+"\n")
	p.draw()
}

// Close draws what there is once more and ends the Printer. It may be called twice.
func (p *Printer) Close() {
	p.mu.Lock()
	if p.closed || p.cfg.Mode == Silent {
		p.mu.Unlock()
		return
	}
	p.closed = true
	p.erase()
	p.draw()
	p.drawn = 0 // they stay
	close(p.wake)
	p.mu.Unlock()
	<-p.ended
}

func (p *Printer) add(what part) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.parts = append(p.parts, what)
}

// remove takes a part away, and prints the lines that it leaves.
func (p *Printer) remove(what part, leaves ...string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := range p.parts {
		if p.parts[i] == what {
			p.parts = append(p.parts[:i:i], p.parts[i+1:]...)
			break
		}
	}
	if p.cfg.Mode == Silent {
		return
	}
	p.erase()
	for _, line := range leaves {
		_, _ = io.WriteString(p.cfg.Out, Defused(line)+"\n")
	}
	p.draw()
}

// tick draws, or prints lines, as time goes on.
func (p *Printer) tick() {
	defer close(p.ended)
	every := drawEvery
	if p.cfg.Mode == Lines {
		every = time.Second
	}
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			p.step()
		case <-p.wake:
			return
		}
	}
}

// step is one tick.
func (p *Printer) step() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return
	}
	if p.cfg.Mode == Live {
		p.erase()
		p.draw()
		return
	}
	now := time.Now()
	if now.Sub(p.last) < lineEvery {
		return
	}
	var texts []string
	for _, part := range p.parts {
		if line := part.line(now); line != "" {
			texts = append(texts, line)
		}
	}
	if len(texts) == 0 {
		return
	}
	p.last = now
	_, _ = io.WriteString(p.cfg.Out, Defused(strings.Join(texts, "; "))+"\n")
}

// erase takes the drawn parts from the terminal.
func (p *Printer) erase() {
	if p.cfg.Mode != Live || p.drawn == 0 {
		return
	}
	var b strings.Builder
	for range p.drawn {
		b.WriteString("\x1b[1A\x1b[2K") // up, and clear
	}
	b.WriteByte('\r')
	_, _ = io.WriteString(p.cfg.Out, b.String())
	p.drawn = 0
}

// draw draws the parts.
func (p *Printer) draw() {
	if p.cfg.Mode != Live {
		return
	}
	width := defaultWidth
	if p.cfg.Width != nil {
		if n := p.cfg.Width(); n > 0 {
			width = n
		}
	}
	now := time.Now()
	var lines []string
	for _, part := range p.parts {
		lines = append(lines, part.draw(now, width-1, p.cfg.Color)...)
	}
	if len(lines) > 0 {
		_, _ = io.WriteString(p.cfg.Out, strings.Join(lines, "\n")+"\n")
	}
	p.drawn = len(lines)
}

const (
	red    = "\x1b[31m"
	green  = "\x1b[32m"
	yellow = "\x1b[33m"
	plain  = "\x1b[0m"
)

func (p *Printer) paint(text, color string) string {
	return paint(text, color, p.cfg.Mode == Live && p.cfg.Color)
}

func paint(text, color string, on bool) string {
	if color == "" || !on {
		return text
	}
	return color + text + plain
}

// fit cuts or fills a text to a width in characters. Cutting counts code points: a wide
// letter more or less moves a column, and nothing else.
func fit(text string, width int) string {
	n := utf8.RuneCountInString(text)
	switch {
	case width <= 0:
		return ""
	case n <= width:
		return text + strings.Repeat(" ", width-n)
	case width == 1:
		return "…"
	}
	return string([]rune(text)[:width-1]) + "…"
}
