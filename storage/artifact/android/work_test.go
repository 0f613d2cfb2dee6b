package android

import (
	"bytes"
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/artifact/icon"
)

// countedResources are chains of references, each with many configurations. They count the
// look-ups.
type countedResources struct {
	length  uint32
	lookups int
}

func (c *countedResources) candidates(id uint32) []candidate {
	c.lookups++
	if id >= c.length {
		return []candidate{{Value: hue(0xff112233)}}
	}
	all := make([]candidate, maxVariants)
	for i := range all {
		all[i] = candidate{Config: config{SDK: uint16(i + 1)}, Value: ref(id + 1)}
	}
	return all
}

func (*countedResources) drawable(string) (*element, []byte, error) { return nil, nil, errDrawable }

// A resource is looked up once for an icon, however many of its parts refer to it.
func TestReferencesAreResolvedOnce(t *testing.T) {
	t.Parallel()
	res := &countedResources{length: maxReferences - 1}
	vector := node("vector")
	for range 1000 {
		vector.Children = append(vector.Children, node("path").with("pathData", text("M0,0h1v1z")).with("fillColor", ref(0)).
			with("strokeColor", ref(1)).with("strokeWidth", ref(2)).with("fillAlpha", ref(3)))
	}
	v, err := newDrawer(t.Context(), icon.NewDecoder(1), res).vector(vector)
	require.NoError(t, err)
	require.Len(t, v.Paths, 1000)
	require.LessOrEqual(t, res.lookups, maxReferences)
}

// Drawings, documents and tables end with their context, and with their bounds.
func TestReadersListenToTheirContext(t *testing.T) {
	t.Parallel()
	ended, end := context.WithCancel(t.Context())
	end()
	vector := node("vector", node("path").with("pathData", text("M0,0h1v1z")).with("fillColor", hue(0xff000000)))
	_, err := newDrawer(ended, icon.NewDecoder(1), documents{}).element(vector, 0)
	require.ErrorIs(t, err, context.Canceled)

	many := bytes.Repeat(writtenChunk(kindEndElement, writtenWords(0, 0), nil), 5000)
	doc := writtenChunk(kindXML, nil, append(writtenChunk(kindStringPool, writtenWords(0, 0, 0, 28, 0), nil), many...))
	_, err = parseXML(ended, doc)
	require.ErrorIs(t, err, context.Canceled)

	empty := writtenChunk(0x7fff, nil, nil)
	for n, want := range map[int]string{1000: "not a resource table", maxChunks + 1: "too many parts"} {
		table := writtenChunk(kindTable, writtenWords(1), bytes.Repeat(empty, n))
		_, err = parseTable(t.Context(), inMemory(table))
		require.ErrorContains(t, err, want)
		_, err = parseTable(ended, inMemory(table))
		require.ErrorIs(t, err, context.Canceled)
	}
	_, err = parseProtoXML(ended, node("manifest").proto())
	require.ErrorIs(t, err, context.Canceled)

	// All look-ups together look into a bounded number of types.
	types := make([]resource, 0, 4000)
	for i := range uint32(4000) {
		types = append(types, resource{id: 0x7f010000, config: config{SDK: uint16(i + 1)}, value: num(1)})
	}
	read, err := parseTable(t.Context(), inMemory(writtenTable(types, 0, false)))
	require.NoError(t, err)
	for i := range uint32(maxLookups) {
		read.candidates(0x7f010001 + i)
	}
	require.LessOrEqual(t, read.visits, maxVisits+maxLookups)
}
