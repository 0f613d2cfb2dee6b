package tagger

import (
	"bufio"
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
)

// magic begins a file of weights; another layout has another number.
const magic = "slipway tagger 1\n"

// Bounds of what a file of weights may say of itself.
const (
	maxLabels = 250
	maxRows   = 4_000_000
	maxWords  = 2_000_000 // bytes of the list of words
)

// errFile is why a file of weights was not read.
var errFile = errors.New("no weights of a tagger")

// Write writes t in a compressed form: of each weight the sign and seven bits.
func (t *Tagger) Write(w io.Writer) error {
	z, err := gzip.NewWriterLevel(w, gzip.BestCompression)
	if err != nil {
		return fmt.Errorf("compress the weights: %w", err)
	}
	b := bytes.NewBufferString(magic)
	writeText(b, t.digest)
	for _, m := range t.models() {
		writeModel(b, *m)
	}
	words := make([]string, 0, len(t.loose))
	for word := range t.loose {
		words = append(words, word)
	}
	slices.Sort(words)
	writeText(b, strings.Join(words, "\n"))
	if _, err := z.Write(b.Bytes()); err != nil {
		return fmt.Errorf("write the weights: %w", err)
	}
	if err := z.Close(); err != nil {
		return fmt.Errorf("write the weights: %w", err)
	}
	return nil
}

func (t *Tagger) models() []**linear {
	return []**linear{&t.parts, &t.kinds, &t.slots, &t.forbidden, &t.late}
}

// labelsOfModels are the labels of each of the models, in the order in which they are used.
var labelsOfModels = [][]string{partLabels, kindLabels, slotLabels, truth, truth}

func writeText(b *bytes.Buffer, s string) {
	b.Write(binary.AppendUvarint(nil, uint64(len(s))))
	b.WriteString(s)
}

func writeModel(b *bytes.Buffer, m *linear) {
	writeText(b, strings.Join(m.labels, "\n"))
	for _, row := range m.next {
		for _, w := range row {
			b.Write(binary.LittleEndian.AppendUint32(nil, math.Float32bits(w)))
		}
	}
	var most float32
	keys := make([]feature, 0, len(m.rows))
	for f, r := range m.rows {
		keys = append(keys, f)
		for _, w := range r.weight {
			most = max(most, w, -w)
		}
	}
	slices.Sort(keys)
	b.Write(binary.LittleEndian.AppendUint32(nil, math.Float32bits(most)))
	b.Write(binary.AppendUvarint(nil, uint64(len(keys))))
	before := feature(0)
	for _, f := range keys {
		b.Write(binary.AppendUvarint(nil, uint64(f-before)))
		before = f
		r := m.rows[f]
		b.WriteByte(byte(len(r.label)))
		for k, l := range r.label {
			b.WriteByte(l)
			b.WriteByte(squeeze(r.weight[k], most))
		}
	}
}

// squeeze writes a weight of at most most in a byte; small weights keep more of their digits than great ones.
func squeeze(w, most float32) byte {
	x := math.Sqrt(math.Abs(float64(w))/float64(most)) * 127
	return byte(int8(math.Copysign(math.Round(x), float64(w))))
}

func stretch(b byte, most float32) float32 {
	x := float64(int8(b)) / 127
	return float32(math.Copysign(x*x, x) * float64(most))
}

// Read reads what Write wrote.
func Read(r io.Reader) (*Tagger, error) {
	z, err := gzip.NewReader(r)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errFile, err)
	}
	in := &input{r: bufio.NewReader(z)}
	if in.bytes(len(magic)) != magic {
		return nil, errFile
	}
	t := &Tagger{loose: map[string]bool{}, digest: in.text(maxLabels)}
	for i, m := range t.models() {
		*m = in.model(labelsOfModels[i])
	}
	for _, word := range strings.Fields(in.text(maxWords)) {
		t.loose[word] = true
	}
	in.end()
	if in.err != nil {
		return nil, fmt.Errorf("%w: %w", errFile, in.err)
	}
	return t, nil
}

// input reads parts of a file. Its first error stays.
type input struct {
	r   *bufio.Reader
	err error
}

func (in *input) bytes(n int) string {
	b := make([]byte, n)
	if in.err == nil {
		_, in.err = io.ReadFull(in.r, b)
	}
	return string(b)
}

func (in *input) number(most uint64) int {
	if in.err != nil {
		return 0
	}
	n, err := binary.ReadUvarint(in.r)
	if in.err = err; err == nil && n > most {
		in.err = fmt.Errorf("%d is more than %d", n, most)
	}
	if in.err != nil {
		return 0
	}
	return int(n)
}

func (in *input) text(most uint64) string { return in.bytes(in.number(most)) }

func (in *input) float() float32 {
	b := in.bytes(4)
	f := math.Float32frombits(binary.LittleEndian.Uint32([]byte(b)))
	if x := float64(f); in.err == nil && (math.IsNaN(x) || math.IsInf(x, 0)) {
		in.err = errors.New("a weight that is no number")
	}
	return f
}

// end fails where something stands behind what was read, or the file was cut off.
func (in *input) end() {
	if in.err != nil {
		return
	}
	if _, err := in.r.ReadByte(); !errors.Is(err, io.EOF) {
		in.err = cmp.Or(err, errors.New("something stands behind the weights"))
	}
}

func (in *input) model(labels []string) *linear {
	m := &linear{labels: labels, rows: map[feature]row{}}
	if names := in.text(maxWords); in.err == nil && names != strings.Join(labels, "\n") {
		in.err = fmt.Errorf("other labels than %v", labels)
	}
	if in.err != nil {
		return m
	}
	m.next = make([][]float32, len(m.labels))
	for i := range m.next {
		m.next[i] = make([]float32, len(m.labels))
		for k := range m.next[i] {
			m.next[i][k] = in.float()
		}
	}
	most := in.float()
	rows := in.number(maxRows)
	before := feature(0)
	for range rows {
		before += feature(in.number(math.MaxUint32))
		n := int(in.bytes(1)[0])
		pairs := in.bytes(2 * n)
		if in.err != nil {
			return m
		}
		r := row{label: make([]uint8, n), weight: make([]float32, n)}
		for k := range n {
			r.label[k], r.weight[k] = pairs[2*k], stretch(pairs[2*k+1], most)
			if int(r.label[k]) >= len(m.labels) {
				in.err = errors.New("a label that is none")
				return m
			}
		}
		m.rows[before] = r
	}
	return m
}
