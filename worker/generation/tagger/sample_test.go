package tagger

import (
	"errors"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// cut renders a segment as its kind, what it covers, and what its slots cover.
func cut(text string, s *Segment) string {
	var b strings.Builder
	if s.Forbidden {
		b.WriteByte('!')
	}
	b.WriteString(s.Kind)
	if s.Late {
		b.WriteByte('~')
	}
	b.WriteString(" <" + text[s.From:s.To] + ">")
	for _, slot := range s.Slots {
		b.WriteString(" " + slot.Name + "=" + text[slot.From:slot.To])
	}
	return b.String()
}

func TestSampleParts(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		line, lang, text string
		segments         []string
	}{
		"a deed without slots": {"en\t[logout Log out]", "en", "Log out", []string{"logout <Log out>"}},
		"one deed": {"en\t[remove Throw {t:the oldest} out], please", "en", "Throw the oldest out, please",
			[]string{"remove <Throw the oldest out> t=the oldest"}},
		"several segments with words around them": {
			"en\tSo, [remove Throw {t:the oldest} out], [count {a:3} {t:members} should be left].", "en",
			"So, Throw the oldest out, 3 members should be left.",
			[]string{"remove <Throw the oldest out> t=the oldest", "count <3 members should be left> a=3 t=members"}},
		"segments that touch":          {"en\t[type {v:a}][press {t:b}]", "en", "ab", []string{"type <a> v=a", "press <b> t=b"}},
		"a deed that must not be done": {"en\t[!save Do not save]", "en", "Do not save", []string{"!save <Do not save>"}},
		"a check before its deed": {"en\t[count~ {a:4} are left] once [remove {t:Bo} is out]", "en", "4 are left once Bo is out",
			[]string{"count~ <4 are left> a=4", "remove <Bo is out> t=Bo"}},
		"lines": {"en\t[open {t:Menu}] / [shown {t:Tea / Milk}]", "en", "Menu\nTea\nMilk", []string{"open <Menu> t=Menu", "shown <Tea\nMilk> t=Tea\nMilk"}},
		"a stroke that ends no line": {"en\t[set {n:w/h} {v:1 /2}]", "en", "w/h 1 /2",
			[]string{"set <w/h 1 /2> n=w/h v=1 /2"}},
		"slots that touch": {"en\t[set {n:rooms}{v:2}]", "en", "rooms2", []string{"set <rooms2> n=rooms v=2"}},
		"the same slot twice": {"en\t[set {n:a} {v:1} {n:b} {v:2}]", "en", "a 1 b 2",
			[]string{"set <a 1 b 2> n=a v=1 n=b v=2"}},
		"letters of several bytes": {"de\t[remove Lösche {t:„Käse“}]. [gone {t:Er} ist weg]", "de", "Lösche „Käse“. Er ist weg",
			[]string{"remove <Lösche „Käse“> t=„Käse“", "gone <Er ist weg> t=Er"}},
		"a note":                 {"fr\t[note Bonjour], [logout sors]", "fr", "Bonjour, sors", []string{"note <Bonjour>", "logout <sors>"}},
		"a colon in a slot":      {"en\t[wait {a:10:30}]", "en", "10:30", []string{"wait <10:30> a=10:30"}},
		"the tab that is second": {"en\t[type {v:a\tb}]", "en", "a\tb", []string{"type <a\tb> v=a\tb"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, err := ParseSample(test.line)
			if err != nil {
				t.Fatal(err)
			}
			if s.Lang != test.lang || s.Text != test.text {
				t.Errorf("%q in %q, want %q in %q", s.Text, s.Lang, test.text, test.lang)
			}
			var got []string
			for i := range s.Segments {
				got = append(got, cut(s.Text, &s.Segments[i]))
			}
			if !slices.Equal(got, test.segments) {
				t.Errorf("got\n%q\nwant\n%q", got, test.segments)
			}
		})
	}
}

// TestSampleKnowsAllNames holds each kind and each slot to be read.
func TestSampleKnowsAllNames(t *testing.T) {
	t.Parallel()
	for _, kind := range slices.Concat(Deeds, Checks) {
		for _, slot := range Slots {
			s, err := ParseSample("en\t[" + kind + " {" + slot + ":x}]")
			if err != nil {
				t.Fatal(err)
			}
			if got, want := cut(s.Text, &s.Segments[0]), kind+" <x> "+slot+"=x"; got != want {
				t.Errorf("%s, want %s", got, want)
			}
		}
	}
}

func TestSampleErrors(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ line, want string }{
		"no language":                {"[logout Log out]", "no tab"},
		"nothing":                    {"", "no tab"},
		"no text":                    {"en\t", "not closed at 3"},
		"no segment":                 {"en\tLog out", "not closed at 10"},
		"a kind that is none":        {"en\tx [delete {t:it}]", "no segment at 5"},
		"a kind in capital letters":  {"en\t[Remove {t:it}]", "no segment at 3"},
		"no kind":                    {"en\t[ it]", "no segment at 3"},
		"a kind alone":               {"en\t[logout]", "no segment at 3"},
		"marks in another order":     {"en\t[~!save it]", "no segment at 3"},
		"a mark behind the kind":     {"en\t[save! it]", "no segment at 3"},
		"a segment in a segment":     {"en\t[open it [save it]]", "no segment at 12"},
		"a segment in a slot":        {"en\t[open {t:it [save it]}]", "no segment at 15"},
		"an end without a segment":   {"en\tit] [save it]", "no end of a segment at 5"},
		"two ends":                   {"en\t[save it]]", "no end of a segment at 12"},
		"an end in a slot":           {"en\t[open {t:it]}", "no end of a segment at 14"},
		"no end of the segment":      {"en\t[save it", "not closed at 11"},
		"no end of the last segment": {"en\t[save it] [open it", "not closed at 21"},
		"no end of a slot":           {"en\t[open {t:it", "not closed at 14"},
		"a slot outside":             {"en\t{t:it} [save it]", "no slot at 3"},
		"a slot in a slot":           {"en\t[open {t:it {n:x}}]", "no slot at 15"},
		"a slot that is none":        {"en\t[open {x:it}]", "no slot at 9"},
		"a slot without a name":      {"en\t[open {it}]", "no slot at 9"},
		"an empty slot":              {"en\t[open {t:}]", "no end of a slot at 12"},
		"an end without a slot":      {"en\t[open it}]", "no end of a slot at 11"},
		"an end outside":             {"en\tit} [save it]", "no end of a slot at 5"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, err := ParseSample(test.line)
			if err == nil {
				t.Fatalf("read as %+v", s)
			}
			if !strings.HasPrefix(err.Error(), test.want+": ") {
				t.Errorf("%q, want %q", err, test.want)
			}
		})
	}
}

// TestCorpusNamesTheLine holds the error to say where the fault stands.
func TestCorpusNamesTheLine(t *testing.T) {
	t.Parallel()
	_, err := Corpus(fstest.MapFS{
		"a.txt": {Data: []byte("en\t[save Save]\n")},
		"b.txt": {Data: []byte("en\t[save Save]\n\nen\t[open {t:it]\n")},
	})
	if err == nil || !strings.HasPrefix(err.Error(), "b.txt, line 3: no end of a segment at 14: ") {
		t.Errorf("%v", err)
	}
}

// TestCorpusOfUnreadableFiles holds a file that cannot be read to be an error, and not to be left out.
func TestCorpusOfUnreadableFiles(t *testing.T) {
	t.Parallel()
	_, err := Corpus(fstest.MapFS{"a.txt": {Mode: fs.ModeDir}})
	var path *fs.PathError
	if !errors.As(err, &path) || path.Path != "a.txt" {
		t.Errorf("%v", err)
	}
}

func TestDigest(t *testing.T) {
	t.Parallel()
	parse := func(lines ...string) []Sample {
		var out []Sample
		for _, line := range lines {
			s, err := ParseSample(line)
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, s)
		}
		return out
	}
	const one, two = "en\t[open {t:it}]", "en\t[shown it]"
	digest := Digest(parse(one, two))
	if again := Digest(parse(one, two)); again != digest {
		t.Errorf("the same samples have %s and %s", digest, again)
	}
	for name, lines := range map[string][]string{
		"nothing": {}, "one less": {one}, "another order": {two, one}, "one twice": {one, two, two},
		"another language": {"de\t[open {t:it}]", two}, "another text": {"en\t[open {t:in}]", two},
		"another kind": {"en\t[close {t:it}]", two}, "another slot": {"en\t[open {n:it}]", two},
		"no slot": {"en\t[open it]", two}, "forbidden": {"en\t[!open {t:it}]", two}, "late": {one, "en\t[shown~ it]"},
	} {
		if other := Digest(parse(lines...)); other == digest {
			t.Errorf("%s has the same digest", name)
		}
	}
}

// ordered holds segments to lie in the text, in order and apart, and their slots in them in the same way.
func ordered(t *testing.T, text string, list []Segment) {
	t.Helper()
	end := 0
	for _, seg := range list {
		if seg.From < end || seg.To < seg.From || seg.To > len(text) {
			t.Fatalf("segment %d to %d behind %d in %d bytes", seg.From, seg.To, end, len(text))
		}
		at := seg.From
		for _, slot := range seg.Slots {
			if slot.From < at || slot.To <= slot.From || slot.To > seg.To || !slices.Contains(Slots, slot.Name) {
				t.Fatalf("slot %q %d to %d behind %d in a segment %d to %d", slot.Name, slot.From, slot.To, at, seg.From, seg.To)
			}
			at = slot.To
		}
		end = seg.To
	}
}
