package progress

import (
	"fmt"
	"strings"
	"sync"
	"time"
	"unicode/utf8"
)

// Bar is bytes on their way. It is safe for concurrent use.
type Bar struct {
	printer *Printer
	name    string
	total   int64

	mu    sync.Mutex
	done  int64
	note  string
	speed speed
	said  int64 // done when the last line was printed
}

// Bar shows a bar: the bytes of name, of total. End takes it away.
func (p *Printer) Bar(name string, total int64) *Bar {
	b := &Bar{printer: p, name: Printable(name), total: total, said: -1}
	b.speed.begin(time.Now(), 0)
	p.add(b)
	return b
}

// Add counts bytes, n may be negative where some have to be sent again.
func (b *Bar) Add(n int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.done += n
	b.speed.note(time.Now(), b.done)
}

// Skip counts bytes that need not be sent, which are not part of the speed.
func (b *Bar) Skip(n int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.done += n
	b.speed.begin(time.Now(), b.done)
}

// Note shows what it waits for, in place of the speed; "" shows the speed again.
func (b *Bar) Note(text string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.note = Printable(text)
}

// End takes the bar away and leaves a line; "": none.
func (b *Bar) End(line string) {
	if line == "" {
		b.printer.remove(b)
		return
	}
	b.printer.remove(b, Printable(line))
}

// state is what both pictures show. The caller holds mu.
func (b *Bar) state(now time.Time) string {
	if b.note != "" {
		return b.note
	}
	rate := b.speed.rate(now, b.done)
	text := Size(b.done) + " of " + Size(b.total)
	if rate <= 0 {
		return text
	}
	text += ", " + Size(int64(rate)) + "/s"
	if left := b.total - b.done; left > 0 {
		text += ", " + Duration(time.Duration(float64(left)/rate*float64(time.Second))) + " left"
	}
	return text
}

func (b *Bar) percent() int64 {
	if b.total <= 0 {
		return 100
	}
	return min(100, max(0, b.done*100/b.total))
}

// draw shows name, bar, percent and state. The state is what matters: name and bar give way.
func (b *Bar) draw(now time.Time, width int, _ bool) []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	const leastBar, mostBar, leastName, mostName = 8, 30, 12, 40
	percent := b.percent()
	state := fmt.Sprintf("%3d %%  %s", percent, b.state(now))
	room := width - utf8.RuneCountInString(state) - 2
	bar := min(mostBar, room-1-min(leastName, utf8.RuneCountInString(b.name)))
	if bar >= leastBar {
		full := int(percent) * bar / 100
		state = strings.Repeat("█", full) + strings.Repeat("░", bar-full) + " " + state
		room -= bar + 1
	}
	line := fit(b.name, max(leastName, min(room, mostName, utf8.RuneCountInString(b.name)))) + "  " + state
	return []string{strings.TrimRight(fit(line, width), " ")}
}

func (b *Bar) line(now time.Time) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.done == b.said && b.note == "" {
		return ""
	}
	b.said = b.done
	return fmt.Sprintf("%s: %d %%, %s", b.name, b.percent(), b.state(now))
}

// speed is the mean over the last seconds: one of the whole would not show that it changed.
type speed struct {
	marks []mark
}

type mark struct {
	at   time.Time
	done int64
}

const (
	speedOver  = 8 * time.Second
	speedEvery = 500 * time.Millisecond
)

func (s *speed) begin(at time.Time, done int64) { s.marks = append(s.marks[:0], mark{at, done}) }

func (s *speed) note(at time.Time, done int64) {
	if at.Sub(s.marks[len(s.marks)-1].at) < speedEvery {
		return
	}
	s.marks = append(s.marks, mark{at, done})
	for len(s.marks) > 2 && at.Sub(s.marks[0].at) > speedOver {
		s.marks = s.marks[1:]
	}
}

// rate returns bytes a second; 0 while it is not known.
func (s *speed) rate(now time.Time, done int64) float64 {
	first := s.marks[0]
	took := now.Sub(first.at)
	if took < speedEvery || done <= first.done {
		return 0
	}
	return float64(done-first.done) / took.Seconds()
}

// Size is a number of bytes for people: 1.5 GB, in powers of 1,000 as networks have it.
func Size(n int64) string {
	const unit = 1000
	if n < unit {
		return fmt.Sprintf("%d B", n)
	}
	value, names := float64(n)/unit, "kMGTPE"
	for value >= 999.95 && len(names) > 1 {
		value, names = value/unit, names[1:]
	}
	if value < 10 {
		return fmt.Sprintf("%.1f %cB", value, names[0])
	}
	return fmt.Sprintf("%.0f %cB", value, names[0])
}

// Duration is a time for people: 42 s, 3 min 5 s, 2 h 10 min.
func Duration(d time.Duration) string {
	d = d.Round(time.Second)
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%d s", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%d min %d s", int(d.Minutes()), int(d.Seconds())%60)
	}
	return fmt.Sprintf("%d h %d min", int(d.Hours()), int(d.Minutes())%60)
}
