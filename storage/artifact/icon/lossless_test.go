package icon

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/image/webp"
)

// bitWriter writes values lowest bits first.
type bitWriter struct {
	data []byte
	n    int
}

func (w *bitWriter) put(v, count int) {
	for i := range count {
		if w.n%8 == 0 {
			w.data = append(w.data, 0)
		}
		w.data[w.n/8] |= byte(v>>i&1) << (w.n % 8)
		w.n++
	}
}

// simple is a code of one or two symbols.
func (w *bitWriter) simple(symbols ...int) {
	w.put(1, 1)
	w.put(len(symbols)-1, 1)
	w.put(1, 1)
	for _, s := range symbols {
		w.put(s, 8)
	}
}

// groupedWebP is a lossless WebP of 128 x 128 black transparent pixels whose last
// group of codes has the number last.
func groupedWebP(last int) []byte {
	const side = 128
	w := &bitWriter{}
	w.put(0x2f, 8)
	w.put(side-1, 14)
	w.put(side-1, 14)
	w.put(0, 1+3+1)
	w.put(0, 1)   // no cache
	w.put(1, 1+3) // groups, for tiles of 4 x 4
	w.put(0, 1)
	w.simple(0, last&0xff)
	w.simple(0, last>>8)
	for range 3 {
		w.simple(0)
	}
	w.put(3, 2) // the first tile is of the last group, all others of group 0
	w.put(0, 2*(side/4*side/4-1))
	for range last + 1 {
		for range 5 {
			w.simple(0)
		}
	}
	chunk := binary.LittleEndian.AppendUint32([]byte("WEBPVP8L"), uint32(len(w.data)))
	chunk = append(append(chunk, w.data...), make([]byte, len(w.data)%2)...)
	return append(binary.LittleEndian.AppendUint32([]byte("RIFF"), uint32(len(chunk))), chunk...)
}

func TestGroupsCost(t *testing.T) {
	t.Parallel()
	const group = 5*treeSize + (280+3*256+40)*nodeSize
	for last, groups := range map[int]int64{0: 1, 1: 2, 300: 301, 1023: 1024, 2599: 1024} {
		raw := groupedWebP(last)
		cost, err := groupsCost(raw[20+5:], 128, 128)
		require.NoError(t, err)
		require.Equal(t, groups*group, cost, last)
		_, err = webp.Decode(bytes.NewReader(raw))
		require.NoError(t, err, "of %d", last)
	}
	for _, broken := range []string{"", "\xff\xff\xff\xff", "\x01"} {
		_, err := groupsCost([]byte(broken), 128, 128)
		require.ErrorIs(t, err, errLossless, "%q", broken)
	}
}

// TestRealWebP decodes the pictures of the decoder's own tests, which its module
// brings along.
func TestRealWebP(t *testing.T) {
	t.Parallel()
	at, _ := runtime.FuncForPC(reflect.ValueOf(webp.Decode).Pointer()).FileLine(0)
	found, err := filepath.Glob(filepath.Join(filepath.Dir(filepath.Dir(at)), "testdata", "*.webp"))
	require.NoError(t, err)
	require.NotEmpty(t, found, "the module cache has no pictures")
	for _, name := range found {
		raw, err := os.ReadFile(name)
		require.NoError(t, err)
		_, err = decoder().Decode(t.Context(), raw)
		require.NoError(t, err, filepath.Base(name))
	}
}
