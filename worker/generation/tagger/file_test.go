package tagger

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"io"
	"reflect"
	"testing"

	"github.com/slipway-qa/slipway/worker/generation/intent"
)

// some are samples that a tagger learns by heart.
func some(t testing.TB) []Sample {
	t.Helper()
	var out []Sample
	for _, line := range []string{
		"en\t[remove Delete {t:the blue van}] and [confirm confirm]",
		"en\t[remove Throw {t:the old chair} out], [count {a:3} {t:chairs} should be left]",
		"en\t[set Set {n:the rooms} to {v:2}] and [save save it]",
		"en\t[add Add {t:milk} to {to:the list}]. [shown {t:Milk} is on {in:the list}]",
		"de\t[remove Lösche {t:den blauen Bus}]. [!save Nicht speichern]",
		"de\t[sort Sortiere nach {by:Preis}, {p:absteigend}]",
		"de\t[count~ {a:3} {t:Busse} sollen da sein], wenn [remove du {t:den ersten} löschst]",
	} {
		s, err := ParseSample(line)
		if err != nil {
			t.Fatal(err)
		}
		for range 4 { // what is seen seldom is not learned
			out = append(out, s)
		}
	}
	return out
}

func TestWrittenTaggerLabelsTheSame(t *testing.T) {
	t.Parallel()
	samples := some(t)
	learned := Train(samples)
	var first, second bytes.Buffer
	if err := learned.Write(&first); err != nil {
		t.Fatal(err)
	}
	if err := Train(samples).Write(&second); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(first.Bytes(), second.Bytes()) {
		t.Error("the same samples give other weights")
	}
	read, err := Read(&first)
	if err != nil {
		t.Fatal(err)
	}
	if read.Digest() != Digest(samples) || !reflect.DeepEqual(read.loose, learned.loose) {
		t.Errorf("digest %q, loose words %v", read.Digest(), read.loose)
	}
	for i := range samples {
		tokens := intent.Tokens(samples[i].Text, samples[i].Lang)
		got, want := read.Tag(tokens, samples[i].Lang, Loosely), learned.Tag(tokens, samples[i].Lang, Loosely)
		for k := range want {
			want[k].Margin = got[k].Margin // the weights lose digits
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%q:\n%+v\n%+v", samples[i].Text, got, want)
		}
	}
	if s := Compare(Default(), samples, "de"); s.Texts != 12 || s.Parts != 20 || s.Words < 0.7 || s.Share(s.Kinds) < 60 {
		t.Errorf("plain texts: %+v", s)
	}
}

func packed(t testing.TB, parts ...[]byte) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	for _, p := range parts {
		if _, err := z.Write(p); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestReadRefuses(t *testing.T) {
	t.Parallel()
	var whole bytes.Buffer
	if err := Train(some(t)).Write(&whole); err != nil {
		t.Fatal(err)
	}
	z, err := gzip.NewReader(bytes.NewReader(whole.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	plain, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	huge := binary.AppendUvarint(nil, 1<<40)
	none := binary.AppendUvarint(nil, 0)
	one := append(binary.AppendUvarint(nil, 1), 'a')
	wrong := bytes.Join([][]byte{one, make([]byte, 4+4), {1}, {0}, {1, 9, 9}}, nil) // one label, and a weight for the tenth
	for name, file := range map[string][]byte{
		"nothing":          {},
		"no gzip":          []byte(magic),
		"another file":     packed(t, []byte("slipway tagger 2\n")),
		"cut off":          packed(t, plain[:len(plain)/2]),
		"a long text":      packed(t, []byte(magic), huge),
		"a label too far":  packed(t, []byte(magic), none, wrong),
		"too many weights": packed(t, []byte(magic), none, one, make([]byte, 4+4), huge),
	} {
		if got, err := Read(bytes.NewReader(file)); err == nil {
			t.Errorf("%s: read %+v", name, got)
		}
	}
}

func FuzzRead(f *testing.F) {
	var whole bytes.Buffer
	if err := Train(some(f)[:4]).Write(&whole); err != nil {
		f.Fatal(err)
	}
	f.Add(whole.Bytes())
	f.Add(packed(f, []byte(magic), []byte{0, 1, 'a'}))
	f.Fuzz(func(_ *testing.T, file []byte) {
		if t, err := Read(bytes.NewReader(file)); err == nil {
			t.Tag(intent.Tokens("Delete the blue van", "en"), "en", Loosely)
		}
	})
}
