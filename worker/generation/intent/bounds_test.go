package intent

import (
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestBounds holds texts that are none of ours to ends: no panic, few readings, in time.
func TestBounds(t *testing.T) {
	texts := map[string]string{
		"empty": "", "marks": "?! -- , ...", "one word": "Save", "long word": strings.Repeat("a", 30_000),
		"quotes": strings.Repeat("\"", 9_999), "brackets": strings.Repeat("(", 9_999), "commas": strings.Repeat("a, ", 5_000),
		"and": strings.Repeat("and ", 5_000), "that": strings.Repeat("check that ", 1_500), "of": strings.Repeat("the price of ", 1_500),
		"numbers": strings.Repeat("12.40 ", 3_000), "dates": strings.Repeat("3 June to ", 2_000), "stops": strings.Repeat("a. ", 6_000),
		"not": strings.Repeat("not ", 5_000), "not utf8": "Click \xff\xfe \"x\xc3", "other": "「Send request」ボタンをクリックしてください。",
	}
	for name, text := range texts {
		start := cpu(t)
		for _, lang := range []string{"en", "de", "es", "fr"} {
			if read := ReadIn(text, lang); len(read.Readings) > most {
				t.Errorf("%s in %s has %d readings", name, lang, len(read.Readings))
			}
		}
		if took := cpu(t) - start; took > 5*time.Second {
			t.Errorf("%s took %s", name, took)
		}
	}
}

// cpu returns the processor's time of this process: the machine has other work too.
func cpu(t *testing.T) time.Duration {
	t.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano())
}

// TestLongest holds a text that is too long to say what it left out.
func TestLongest(t *testing.T) {
	text := strings.Repeat("Click Save. ", 3_000)
	read := ReadIn(text, "en")
	if len(read.Readings) == 0 {
		t.Fatal("nothing read")
	}
	unread := read.Readings[0].Unread
	if len(unread) == 0 || unread[len(unread)-1] != (Span{Longest, len(text)}) {
		t.Errorf("what is behind the end is not in Unread: %v", unread)
	}
}

// TestLongestIsCharacters holds a text of as many characters as are taken to be read to its end.
func TestLongestIsCharacters(t *testing.T) {
	text := "Gib „" + strings.Repeat("ü", Longest-40) + "“ als Namen ein."
	read := ReadIn(text, "de")
	if len(read.Readings) == 0 || len(read.Readings[0].Unread) > 0 {
		t.Errorf("not read: %d readings", len(read.Readings))
	}
}

// TestSpans holds all spans to lie in the text.
func TestSpans(t *testing.T) {
	for _, r := range readings(t) {
		spans(t, r[1], ReadIn(r[1], r[0]))
	}
}

func spans(t testing.TB, source string, read Text) {
	t.Helper()
	r := &reader{source: source}
	for i := range read.Readings {
		for _, s := range append(r.taken(read.Readings[i].Goals), read.Readings[i].Unread...) {
			if s.From < 0 || s.To > len(source) || s.From > s.To {
				t.Errorf("span %v is not in %q", s, source)
			}
		}
	}
}

func FuzzRead(f *testing.F) {
	for _, r := range readings(f) {
		f.Add(r[1], r[0])
	}
	f.Fuzz(func(t *testing.T, text, lang string) {
		read := ReadIn(text, lang)
		spans(t, text, read)
		for i := range read.Readings {
			_ = read.Readings[i].String()
		}
	})
}

func BenchmarkRead(b *testing.B) {
	var text strings.Builder
	for _, r := range readings(b) {
		if r[0] == "en" && text.Len() < 10_000 {
			text.WriteString(r[1] + " ")
		}
	}
	b.SetBytes(int64(text.Len()))
	for b.Loop() {
		ReadIn(text.String(), "en")
	}
}
