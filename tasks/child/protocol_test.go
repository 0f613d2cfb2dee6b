package child

import (
	"bytes"
	"encoding/binary"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Frames survive what a hostile child may send.
func TestFrames(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	require.NoError(t, writeJSON(&b, frameResponse, number{7}, 100))
	whole := b.Bytes()
	for n := range whole {
		_, _, err := readFrame(bytes.NewReader(whole[:n]), 100)
		require.Error(t, err, "cut off at %d", n)
	}
	kind, content, err := readFrame(bytes.NewReader(whole), 100)
	require.NoError(t, err)
	require.Equal(t, byte(frameResponse), kind)
	require.JSONEq(t, `{"N":7}`, string(content))
	_, _, err = readFrame(bytes.NewReader(whole), 3)
	require.Error(t, err)
	require.Error(t, writeJSON(&b, frameResponse, strings.Repeat("x", 100), 50))

	// A length that is only claimed takes no memory.
	claim := binary.LittleEndian.AppendUint32([]byte{frameResponse}, maxResponse)
	_, content, err = readFrame(bytes.NewReader(append(claim, 1, 2, 3)), maxResponse)
	require.Error(t, err)
	require.Less(t, cap(content), 4096)
}

func FuzzFrame(f *testing.F) {
	var b bytes.Buffer
	require.NoError(f, writeJSON(&b, frameResponse, number{7}, 100))
	f.Add(b.Bytes())
	f.Add([]byte{frameRead, 12, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12})
	f.Fuzz(func(t *testing.T, raw []byte) {
		kind, content, err := readFrame(bytes.NewReader(raw), 1<<20)
		if err != nil {
			return
		}
		var again bytes.Buffer
		require.NoError(t, writeFrame(&again, kind, content))
		require.Equal(t, raw[:again.Len()], again.Bytes())
	})
}

// What a child asks for is within the file, and within its bounds.
func FuzzReads(f *testing.F) {
	f.Add([]byte{0, 0, 0, 0, 0, 0, 0, 0, 16, 0, 0, 0})
	f.Add([]byte{255, 255, 255, 255, 255, 255, 255, 255, 16, 0, 0, 0})
	content := []byte("0123456789abcdef0123456789abcdef")
	f.Fuzz(func(t *testing.T, ask []byte) {
		s := &source{file: bytes.NewReader(content), size: int64(len(content)), left: 1 << 30}
		var sent bytes.Buffer
		if err := s.serve(t.Context(), &sent, ask); err != nil {
			require.ErrorIs(t, err, errProtocol)
			return
		}
		require.NoError(t, s.err)
		_, data, err := readFrame(&sent, maxRead+1)
		require.NoError(t, err)
		require.LessOrEqual(t, len(data)-1, len(content))
	})
}
