package tagger

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// TestFileKeepsWeights holds each weight to about a hundredth of the greatest one.
func TestFileKeepsWeights(t *testing.T) {
	t.Parallel()
	const most float32 = 40
	for _, w := range []float32{most, -most, most / 2, -most / 2, 1, -1, 0.01, 0} {
		if got := stretch(squeeze(w, most), most); math.Abs(float64(got-w)) > float64(most)/100 || got*w < 0 {
			t.Errorf("%v is read as %v", w, got)
		}
	}
}

// file is a file of weights that is built by hand.
type file struct{ bytes.Buffer }

func (f *file) number(n uint64) *file {
	f.Write(binary.AppendUvarint(nil, n))
	return f
}

func (f *file) text(s string) *file {
	f.number(uint64(len(s)))
	f.WriteString(s)
	return f
}

func (f *file) float(v float32) *file {
	f.Write(binary.LittleEndian.AppendUint32(nil, math.Float32bits(v)))
	return f
}

// head is the beginning of a model: its labels, the weights of one behind another, and the greatest weight.
func (f *file) head(labels []string, next, most float32) *file {
	f.text(strings.Join(labels, "\n"))
	for range len(labels) * len(labels) {
		f.float(next)
	}
	return f.float(most)
}

// models are those of a file behind some that were written: without rows.
func (f *file) models(behind int) *file {
	yes := []string{"no", "yes"}
	for _, labels := range [][]string{partLabels, slices.Concat(Deeds, Checks), slotLabels, yes, yes}[behind:] {
		f.head(labels, 0, 1).number(0)
	}
	return f
}

// begun is the beginning of a file.
func begun() *file {
	f := &file{}
	f.WriteString(magic)
	return f.text("digest")
}

// empty is a whole file of a tagger that has learned nothing.
func empty() *file { return begun().models(0).text("please\nthen") }

func (f *file) gzip(t testing.TB) []byte {
	t.Helper()
	return zipped(t, f.Bytes())
}

func zipped(t testing.TB, content []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write(content); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestReadOfAFileByHand(t *testing.T) {
	t.Parallel()
	f := begun().head(partLabels, 0.5, 2).number(2)
	f.number(7).Write([]byte{2, 1, 127, 6, 129}) // feature 7: label 1 has 2, label 6 has -2
	f.number(3).Write([]byte{1, 0, 0})           // feature 10: label 0 has 0
	tagger, err := Read(bytes.NewReader(f.models(1).text("please\nthen").gzip(t)))
	if err != nil {
		t.Fatal(err)
	}
	want := map[feature]row{7: {[]uint8{1, 6}, []float32{2, -2}}, 10: {[]uint8{0}, []float32{0}}}
	if !reflect.DeepEqual(tagger.parts.rows, want) {
		t.Errorf("rows %v", tagger.parts.rows)
	}
	if !slices.Equal(tagger.parts.labels, partLabels) || tagger.parts.next[6][6] != 0.5 || !slices.Equal(tagger.slots.labels, slotLabels) {
		t.Errorf("%v %v", tagger.parts.labels, tagger.parts.next)
	}
	if tagger.Digest() != "digest" || !tagger.Loose("then") || tagger.Loose("save") {
		t.Errorf("digest %q, loose words %v", tagger.Digest(), tagger.loose)
	}
}

// TestReadWithoutWords holds a file without words to have none, not an empty one.
func TestReadWithoutWords(t *testing.T) {
	t.Parallel()
	tagger, err := Read(bytes.NewReader(begun().models(0).text("").gzip(t)))
	if err != nil {
		t.Fatal(err)
	}
	if len(tagger.loose) > 0 {
		t.Errorf("%v", tagger.loose)
	}
}

func TestReadRefusesDamagedFiles(t *testing.T) {
	t.Parallel()
	other := &file{}
	other.WriteString("slipway tagger 0\n")
	other.text("digest").models(0).text("")
	digest := &file{}
	digest.WriteString(magic)
	many := make([]string, maxLabels+1)
	for i := range many {
		many[i] = strings.Repeat("x", i%7)
	}
	endless := bytes.Repeat([]byte{0xff}, binary.MaxVarintLen64+1)
	label := begun().head(partLabels, 0, 1).number(1).number(1)
	label.Write([]byte{1, byte(len(partLabels)), 1})
	overflow := begun()
	overflow.Write(endless)
	tests := map[string][]byte{
		"nothing":                       {},
		"a text":                        []byte(magic + "and so on"),
		"nothing, compressed":           zipped(t, nil),
		"another text, compressed":      zipped(t, []byte("these are the weights of another program")),
		"another version":               other.gzip(t),
		"the beginning alone":           zipped(t, []byte(magic)),
		"a digest beyond the bound":     digest.text(strings.Repeat("d", maxLabels+1)).models(0).text("").gzip(t),
		"a label that is none":          label.models(1).text("").gzip(t),
		"more labels than the bound":    begun().head(many, 0, 1).number(0).models(1).text("").gzip(t),
		"labels longer than the bound":  begun().number(maxWords + 1).gzip(t),
		"more rows than the bound":      begun().head(partLabels, 0, 1).number(maxRows + 1).gzip(t),
		"rows of 2 to the power of 64":  begun().head(partLabels, 0, 1).number(math.MaxUint64).gzip(t),
		"a feature beyond 32 bits":      begun().head(partLabels, 0, 1).number(1).number(math.MaxUint32 + 1).gzip(t),
		"a number that does not end":    overflow.gzip(t),
		"words longer than the bound":   begun().models(0).number(maxWords + 1).gzip(t),
		"words that are not there":      begun().models(0).number(maxWords).gzip(t),
		"rows that are not there":       begun().head(partLabels, 0, 1).number(maxRows).gzip(t),
		"models that are not there":     begun().head(partLabels, 0, 1).number(0).gzip(t),
		"labels of another program":     begun().head([]string{"a", "b"}, 0, 1).number(0).models(1).text("").gzip(t),
		"fewer labels than the program": begun().head(partLabels[:3], 0, 1).number(0).models(1).text("").gzip(t),
		"labels in another order":       begun().head(reversed(partLabels), 0, 1).number(0).models(1).text("").gzip(t),
		"a weight that is no number":    begun().head(partLabels, float32(math.NaN()), 1).number(0).models(1).text("").gzip(t),
		"an endless greatest weight":    begun().head(partLabels, 0, float32(math.Inf(1))).number(0).models(1).text("").gzip(t),
		"more behind the end":           zipped(t, append(empty().Bytes(), 0)),
	}
	for name, content := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			refused(t, content)
		})
	}
}

func reversed(list []string) []string {
	list = slices.Clone(list)
	slices.Reverse(list)
	return list
}

func refused(t *testing.T, content []byte) {
	t.Helper()
	tagger, err := Read(bytes.NewReader(content))
	if !errors.Is(err, errFile) || tagger != nil {
		t.Errorf("read as %v, %v", tagger, err)
	}
}

// TestReadRefusesCutFiles cuts a file at each of its bytes, before and after it is compressed.
func TestReadRefusesCutFiles(t *testing.T) {
	t.Parallel()
	whole := empty()
	if _, err := Read(bytes.NewReader(whole.gzip(t))); err != nil {
		t.Fatal(err)
	}
	t.Run("compressed", func(t *testing.T) {
		t.Parallel()
		content := whole.gzip(t)
		for n := range content {
			if _, err := Read(bytes.NewReader(content[:n])); !errors.Is(err, errFile) {
				t.Errorf("%d of %d bytes: %v", n, len(content), err)
			}
		}
	})
	t.Run("content", func(t *testing.T) {
		t.Parallel()
		for n := 0; n < whole.Len(); n += 1 + n/100 {
			if _, err := Read(bytes.NewReader(zipped(t, whole.Bytes()[:n]))); !errors.Is(err, errFile) {
				t.Errorf("%d of %d bytes: %v", n, whole.Len(), err)
			}
		}
	})
}

// TestReadRefusesChangedFiles holds the sum of a compressed file to be compared.
func TestReadRefusesChangedFiles(t *testing.T) {
	t.Parallel()
	content := empty().gzip(t)
	content[len(content)-8] ^= 1 // of the sum
	refused(t, content)
}

// TestWriteSaysWhy holds the error of the writer below to be seen.
func TestWriteSaysWhy(t *testing.T) {
	t.Parallel()
	tagger, err := Read(bytes.NewReader(empty().gzip(t)))
	if err != nil {
		t.Fatal(err)
	}
	if err := tagger.Write(full{}); !errors.Is(err, errFull) {
		t.Errorf("%v", err)
	}
}

var errFull = errors.New("no space left")

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errFull }
