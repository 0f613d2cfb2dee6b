package frame

import (
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"math"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// functions are what templates can call.
func (f *Frame) functions() template.FuncMap {
	return template.FuncMap{
		"when": when, "day": day, "bytes": Bytes, "number": Number, "short": Short, "percent": percent, "took": took,
		"link": link, "dict": dict, "list": func(v ...any) []any { return v }, "join": strings.Join,
		"plural": plural, "tone": tone, "words": words, "json": indented, "bars": Bars, "sparkline": Sparkline,
		"strip": Strip, "mark": OneMark, "stripkey": StripKey,
		"base": func() string { return f.base + Base }, "lower": strings.ToLower, "add": func(a, b int) int { return a + b },
	}
}

// when is a time as people read it: in UTC with the exact text on hover; the script writes
// it in the reader's zone and relative to now.
func when(at any) template.HTML {
	t, ok := instant(at)
	if !ok {
		return `<span class="none">–</span>`
	}
	t = t.UTC()
	return template.HTML(`<time datetime="` + t.Format(time.RFC3339) + `" title="` + t.Format("2006-01-02 15:04:05 UTC") + `">` +
		t.Format("2006-01-02 15:04") + `</time>`)
}

// day is a date in UTC.
func day(at any) string {
	t, ok := instant(at)
	if !ok {
		return "–"
	}
	return t.UTC().Format("2006-01-02")
}

// instant reads a time.Time, a pointer to one, or a text of RFC 3339.
func instant(at any) (time.Time, bool) {
	switch at := at.(type) {
	case time.Time:
		return at, !at.IsZero()
	case *time.Time:
		if at == nil {
			return time.Time{}, false
		}
		return *at, !at.IsZero()
	case string:
		t, err := time.Parse(time.RFC3339Nano, at)
		return t, err == nil
	case *string:
		if at == nil {
			return time.Time{}, false
		}
		return instant(*at)
	}
	return time.Time{}, false
}

// Bytes writes a size: 512 B, 1.5 KiB, 20 MiB.
func Bytes(n any) string {
	v, ok := float(n)
	if !ok {
		return "–"
	}
	units := []string{"B", "KiB", "MiB", "GiB", "TiB"}
	i := 0
	for math.Abs(v) >= 1024 && i < len(units)-1 {
		v, i = v/1024, i+1
	}
	if i == 0 || math.Abs(v) >= 10 {
		return fmt.Sprintf("%.0f %s", v, units[i])
	}
	return fmt.Sprintf("%.1f %s", v, units[i])
}

// Number writes a whole number with a thin space between thousands.
func Number(n any) string {
	v, ok := float(n)
	if !ok {
		return "–"
	}
	text := strconv.FormatInt(int64(math.Abs(v)), 10)
	var b strings.Builder
	if v < 0 {
		b.WriteByte('-')
	}
	for i, digit := range text {
		if i > 0 && (len(text)-i)%3 == 0 {
			b.WriteRune('\u202f')
		}
		b.WriteRune(digit)
	}
	return b.String()
}

// percent writes a share of 0 to 1.
func percent(n any) string {
	v, ok := float(n)
	if !ok {
		return "–"
	}
	if v > 0.999 && v < 1 || v > 0 && v < 0.01 {
		return fmt.Sprintf("%.2f %%", v*100)
	}
	return strconv.FormatFloat(math.Round(v*1000)/10, 'f', -1, 64) + " %"
}

// took writes milliseconds as people read them: 350 ms, 2.4 s, 3 min 5 s.
func took(ms any) string {
	v, ok := float(ms)
	switch {
	case !ok:
		return "–"
	case v < 1000:
		return fmt.Sprintf("%.0f ms", v)
	case v < 60_000:
		return fmt.Sprintf("%.1f s", v/1000)
	case v < 3_600_000:
		return fmt.Sprintf("%d min %d s", int(v)/60_000, int(v)/1000%60)
	}
	return fmt.Sprintf("%d h %d min", int(v)/3_600_000, int(v)/60_000%60)
}

// float reads any number, or a pointer to one.
func float(n any) (float64, bool) {
	switch n := n.(type) {
	case int:
		return float64(n), true
	case int64:
		return float64(n), true
	case int32:
		return float64(n), true
	case uint64:
		return float64(n), true
	case float64:
		return n, !math.IsNaN(n)
	case *int:
		if n != nil {
			return float64(*n), true
		}
	case *int64:
		if n != nil {
			return float64(*n), true
		}
	case *float64:
		if n != nil {
			return *n, !math.IsNaN(*n)
		}
	case time.Duration:
		return float64(n.Milliseconds()), true
	}
	return 0, false
}

// Short cuts the middle out of a text above so many characters; the whole stands on hover.
func Short(most int, text string) template.HTML {
	shown := text
	if utf8.RuneCountInString(text) > most && most > 3 {
		runes := []rune(text)
		tail := most / 3
		shown = string(runes[:most-tail-1]) + "…" + string(runes[len(runes)-tail:])
	}
	if shown == text {
		return template.HTML(template.HTMLEscapeString(text))
	}
	return template.HTML(`<span title="` + template.HTMLEscapeString(text) + `">` + template.HTMLEscapeString(shown) + `</span>`)
}

// link returns a path with parameters: pairs of name and value; those without a value are
// left out.
func link(path string, pairs ...any) (string, error) {
	if len(pairs)%2 != 0 {
		return "", errors.New("link: a name without a value")
	}
	q := url.Values{}
	for i := 0; i < len(pairs); i += 2 {
		if value := fmt.Sprint(pairs[i+1]); value != "" {
			q.Set(fmt.Sprint(pairs[i]), value)
		}
	}
	if len(q) == 0 {
		return path, nil
	}
	return path + "?" + q.Encode(), nil
}

// dict hands several values to a part of a page.
func dict(pairs ...any) (map[string]any, error) {
	if len(pairs)%2 != 0 {
		return nil, errors.New("dict: a name without a value")
	}
	m := make(map[string]any, len(pairs)/2)
	for i := 0; i < len(pairs); i += 2 {
		m[fmt.Sprint(pairs[i])] = pairs[i+1]
	}
	return m, nil
}

// plural writes a number and its noun: 1 crash, 2 crashes.
func plural(n any, one, many string) string {
	v, _ := float(n)
	if v == 1 {
		return "1 " + one
	}
	return Number(n) + " " + many
}

// tone is the colour class of a state.
func tone(state any) string {
	switch strings.ToLower(fmt.Sprint(state)) {
	case "passed", "succeeded", "resolved", "active", "installed", "sent", "delivered", "enabled", "ok", "valid",
		"completed", "indexed", "verified", "accepted", "processed":
		return "good"
	case "failed", "error", "dead", "errored", "regressed", "invalid", "blocked", "suspended", "failing", "broken",
		"unavailable", "lost", "bounced":
		return "bad"
	case "running", "processing", "open", "new", "started", "in_progress":
		return "busy"
	case "queued", "pending", "available", "scheduled", "waiting", "retryable", "healed", "kept", "invited", "flaky", "degraded":
		return "wait"
	}
	return "plain"
}

var wordBreaks = strings.NewReplacer("_", " ", "-", " ")

// words writes a constant as words: NOT_FOUND and not_found are "not found".
func words(text any) string {
	return strings.ToLower(wordBreaks.Replace(fmt.Sprint(text)))
}

// indented writes a value as JSON for people.
func indented(v any) (string, error) {
	text, err := json.MarshalIndent(v, "", "  ")
	return string(text), err
}
