package progress

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// buffer is a writer that several goroutines use.
type buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// screen is what a terminal shows of what was written: it knows the sequences that are used.
func screen(t *testing.T, text string) []string {
	t.Helper()
	lines, at := []string{""}, 0
	sequence := regexp.MustCompile(`^\x1b\[(\d*)([A-Za-z])`)
	for text != "" {
		if m := sequence.FindStringSubmatch(text); m != nil {
			switch m[2] {
			case "A":
				at--
				require.GreaterOrEqual(t, at, 0, "above the first line")
			case "K":
				lines[at] = ""
			case "m":
			default:
				t.Fatalf("unknown sequence %q", m[0])
			}
			text = text[len(m[0]):]
			continue
		}
		switch text[0] {
		case '\n':
			at++
			if at == len(lines) {
				lines = append(lines, "")
			}
		case '\r':
		default:
			n := strings.IndexAny(text, "\n\r\x1b")
			if n < 0 {
				n = len(text)
			}
			lines[at] += text[:n]
			text = text[n:]
			continue
		}
		text = text[1:]
	}
	return lines[:at]
}

func TestLogHasAtMostOneLineInTenSeconds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var out buffer
		p := New(Config{Out: &out, Mode: Lines, Color: true})
		bars := []*Bar{p.Bar("app.apk", 200e6), p.Bar("lib.zip", 100e6)}
		table := p.Table("case", "state")
		for i := range 600 { // a minute
			bars[0].Add(3e5)
			bars[1].Add(1e5)
			table.Set(fmt.Sprint(i%20), Working, fmt.Sprint(i), "runs")
			table.Summary(fmt.Sprintf("%d done", i))
			time.Sleep(100 * time.Millisecond)
		}
		p.Line("it stays")
		p.Warn("odd\x1b[2J\n thing")
		bars[0].End("app.apk sent")
		p.Close()
		p.Close()
		lines := strings.Split(strings.TrimSpace(out.String()), "\n")
		require.LessOrEqual(t, len(lines), 6+3, out.String())
		require.GreaterOrEqual(t, len(lines), 5+3, out.String())
		require.Regexp(t, `^app.apk: \d+ %, 3[0-9] MB of 200 MB, 3.0 MB/s, \d+ s left; lib.zip: .*; \d+ done$`, lines[0])
		require.Equal(t, []string{"it stays", "warning: odd [2J thing", "app.apk sent"}, lines[len(lines)-3:])
		require.NotContains(t, out.String(), "\x1b", "no escape sequence in a log")
	})
}

func TestLogSaysNothingTwice(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var out buffer
		p := New(Config{Out: &out, Mode: Lines})
		bar := p.Bar("app.apk", 100)
		bar.Add(50)
		time.Sleep(time.Minute)
		p.Close()
		require.Equal(t, 1, strings.Count(out.String(), "\n"), out.String())
	})
}

func TestTerminalShowsWhatGoesOnBelowWhatStays(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var out buffer
		p := New(Config{Out: &out, Mode: Live, Color: true, Width: func() int { return 72 }})
		bar := p.Bar("a-package-with-a-very-long-name-that-has-no-room.apk", 10e6)
		for range 20 {
			bar.Add(250e3)
			time.Sleep(100 * time.Millisecond)
		}
		p.Line("first")
		table := p.Table("case", "state")
		table.Set("1", Good, "log in", "passed")
		table.Set("2", Bad, "pay\x1b[31m", "failed")
		table.Set("1", Poor, "log in", "flaky")
		table.Summary("1 of 2")
		time.Sleep(200 * time.Millisecond)
		shown := screen(t, out.String())
		require.Equal(t, "first", shown[0])
		require.Regexp(t, `^a-package-w.*…  █+░+  50 %  5.0 MB of 10 MB, 2.\d MB/s, 2 s left$`, shown[1])
		require.LessOrEqual(t, len([]rune(shown[1])), 71)
		require.Equal(t, []string{"case      state", "log in    flaky", "pay [31m  failed", "1 of 2"}, shown[2:])
		bar.End("sent")
		table.End()
		p.Close()
		require.Equal(t, []string{"first", "sent", "case      state", "log in    flaky", "pay [31m  failed"}, screen(t, out.String()))
	})
}

func TestTerminalDrawsNoMoreThanItHasRoomFor(t *testing.T) {
	t.Parallel()
	var out buffer
	p := New(Config{Out: &out, Mode: Live})
	table := p.Table("case", "state")
	for i := range 40 {
		table.Set(fmt.Sprint(i), Good, fmt.Sprintf("case %d", i), "passed")
	}
	table.Set("39", Bad, "case 39", "failed")
	table.Set("38", Working, "case 38", "runs")
	shown := table.draw(time.Now(), 80, false)
	require.Len(t, shown, 1+mostRows+1)
	require.Contains(t, shown[1], "case 38", "what works stands first")
	require.Contains(t, shown[2], "case 39")
	require.Contains(t, shown[len(shown)-1], "24 more")
	table.End()
	p.Close()
	require.Len(t, screen(t, out.String()), 41, "all of them stay")
}

func TestSilent(t *testing.T) {
	t.Parallel()
	var out buffer
	p := New(Config{Out: &out, Mode: Silent})
	bar := p.Bar("x", 10)
	bar.Add(5)
	table := p.Table("a")
	table.Set("1", Good, "b")
	p.Line("line")
	p.Warn("warning")
	bar.End("done")
	table.End()
	p.Close()
	require.Empty(t, out.String())
}

func TestSpeedForgets(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := New(Config{Mode: Silent})
		bar := p.Bar("x", 1e9)
		rate := func() float64 { return bar.speed.rate(time.Now(), bar.done) }
		require.Zero(t, rate())
		bar.Skip(500e6)
		require.Zero(t, rate(), "what is there already is not fast")
		for range 100 {
			time.Sleep(100 * time.Millisecond)
			bar.Add(1e6)
		}
		require.InDelta(t, 10e6, rate(), 1e6)
		for range 200 {
			time.Sleep(100 * time.Millisecond)
			bar.Add(1e5)
		}
		require.InDelta(t, 1e6, rate(), 1e5, "after twenty slow seconds")
		bar.Add(-50e6)
		require.Zero(t, rate(), "not below nothing")
	})
}

func TestTextsForPeople(t *testing.T) {
	t.Parallel()
	for n, want := range map[int64]string{0: "0 B", 999: "999 B", 1000: "1.0 kB", 1536: "1.5 kB", 64 << 20: "67 MB",
		999_960_000: "1.0 GB", 1 << 40: "1.1 TB"} {
		require.Equal(t, want, Size(n), "%d", n)
	}
	for d, want := range map[time.Duration]string{0: "0 s", 1600 * time.Millisecond: "2 s", 65 * time.Second: "1 min 5 s",
		7500 * time.Second: "2 h 5 min"} {
		require.Equal(t, want, Duration(d))
	}
	require.Equal(t, "ab…", fit("abcdef", 3))
	require.Equal(t, "…", fit("abcdef", 1))
	require.Empty(t, fit("abcdef", 0))
	require.Equal(t, "äö ", fit("äö", 3))
}

func TestModeOf(t *testing.T) {
	t.Parallel()
	none := func(string) string { return "" }
	var b bytes.Buffer
	mode, color := ModeOf(&b, none, false, false)
	require.Equal(t, Lines, mode)
	require.False(t, color)
	mode, _ = ModeOf(&b, none, false, true)
	require.Equal(t, Silent, mode)
	require.Zero(t, WidthOf(&b)())
}
