package tagger

import (
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

func TestParseSample(t *testing.T) {
	t.Parallel()
	s, err := ParseSample("de\t[!save Noch nicht speichern], / erst [set {n:Menge}: {v:6}] [count~ {a:zwei} {t:Tee} da]")
	if err != nil {
		t.Fatal(err)
	}
	if s.Lang != "de" || s.Text != "Noch nicht speichern,\nerst Menge: 6 zwei Tee da" {
		t.Errorf("%q %q", s.Lang, s.Text)
	}
	var got []string
	for _, p := range s.Segments {
		line := p.Kind
		if p.Forbidden {
			line = "!" + line
		}
		if p.Late {
			line += "~"
		}
		for _, x := range p.Slots {
			if x.From < p.From || x.To > p.To {
				t.Errorf("slot %+v is not in %+v", x, p)
			}
			line += " " + x.Name + "=" + s.Text[x.From:x.To]
		}
		got = append(got, line)
	}
	want := []string{"!save", "set n=Menge v=6", "count~ a=zwei t=Tee"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestParseSampleRefuses(t *testing.T) {
	t.Parallel()
	for line, why := range map[string]string{
		"en [save it]":                "no tab",
		"en\tsave it":                 "not closed",
		"en\t[save it":                "not closed",
		"en\t[save [send it]]":        "no segment",
		"en\t[mow {t:the lawn}]":      "no segment",
		"en\tthe {t:lawn} [save it]":  "no slot",
		"en\t[save {q:it}]":           "no slot",
		"en\t[save {t:{v:it}}]":       "no slot",
		"en\t[save {t:}]":             "no end of a slot",
		"en\t[save {t:it]}":           "no end of a segment",
		"en\tsave it]":                "no end of a segment",
		"en\t[SAVE it]":               "no segment",
		"en\t[save](nothing)":         "no segment",
		"en\t[set {n:Menge}: {v:6}]]": "no end of a segment",
	} {
		if _, err := ParseSample(line); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%q: %v, want %q", line, err, why)
		}
	}
}

func TestCorpus(t *testing.T) {
	t.Parallel()
	folder := fstest.MapFS{
		"b.txt":  {Data: []byte("fr\t[save Sauve]\n")},
		"a.txt":  {Data: []byte("en\t[save Save]\n\nen\t[send Send]\n")},
		"README": {Data: []byte("no corpus")},
	}
	list, err := Corpus(folder)
	if err != nil || len(list) != 3 || list[0].Text != "Save" || list[2].Lang != "fr" {
		t.Errorf("%+v, %v", list, err)
	}
	if Digest(list) == Digest(list[:2]) || Digest(list) != Digest(slices.Clone(list)) {
		t.Error("the digest does not tell samples apart")
	}
	folder["c.txt"] = &fstest.MapFile{Data: []byte("en\t[save Save]\nen\t[save Save\n")}
	if _, err := Corpus(folder); err == nil || !strings.Contains(err.Error(), "c.txt, line 2") {
		t.Errorf("error %v, want the file and the line", err)
	}
}

func FuzzParseSample(f *testing.F) {
	f.Add("en\t[remove Throw {t:the oldest} out], [count~ {a:3} {t:members} left] / [!save not]")
	f.Fuzz(func(t *testing.T, line string) {
		s, err := ParseSample(line)
		if err != nil {
			return
		}
		at := 0
		for _, p := range s.Segments {
			if p.From < at || p.To < p.From || p.To > len(s.Text) {
				t.Fatalf("segment %+v of %q behind %d", p, s.Text, at)
			}
			in := p.From
			for _, x := range p.Slots {
				if x.From < in || x.To <= x.From || x.To > p.To {
					t.Fatalf("slot %+v of %+v", x, p)
				}
				in = x.To
			}
			at = p.To
		}
	})
}
