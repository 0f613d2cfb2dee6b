package object

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestReaderAt(t *testing.T) {
	eachStore(t, func(t *testing.T, h *harness) {
		const block, size = 1 << 10, 9*mib + 777
		content := noise(size, 3)
		_, err := Put(t.Context(), h, "ranged/a", bytes.NewReader(content), size, WriteOptions{})
		require.NoError(t, err)
		r := NewReaderAt(t.Context(), h, "ranged/a", size, block)
		require.Zero(t, r.Stats())
		random := rand.New(rand.NewPCG(1, 2))
		var served int
		for i := range 60 {
			n := random.IntN(5 * block)
			if i%20 == 7 {
				n = 5 * mib // more than is kept
			}
			off := random.Int64N(size + block)
			p := make([]byte, n)
			got, err := r.ReadAt(p, off)
			want := content[min(off, size):min(off+int64(n), size)]
			require.True(t, bytes.Equal(want, p[:got]), "%d bytes from %d", n, off)
			if got < n {
				require.Equal(t, io.EOF, err)
			} else {
				require.NoError(t, err)
			}
			served += got
			require.LessOrEqual(t, len(r.kept)*block, maxCached)
			require.Len(t, r.order, len(r.kept))
		}
		require.LessOrEqual(t, r.Stats().Requests, 60*3)
		require.LessOrEqual(t, r.Stats().BytesRead, int64(served+60*2*block))
		whole, err := io.ReadAll(io.NewSectionReader(NewReaderAt(t.Context(), h, "ranged/a", size, 0), 0, size))
		require.NoError(t, err)
		require.True(t, bytes.Equal(content, whole))
	})
}

// countingStore counts Opens; the rest is a Store's.
type countingStore struct {
	Store
	opens int
}

func (s *countingStore) Open(ctx context.Context, key string, offset, length int64) (io.ReadCloser, Info, error) {
	s.opens++
	return s.Store.Open(ctx, key, offset, length)
}

func TestReaderAtAsksSeldom(t *testing.T) {
	t.Parallel()
	h := newFolder(t)
	const block, size = 1 << 10, 64 << 10
	content := noise(size, 4)
	_, err := Put(t.Context(), h, "k", bytes.NewReader(content), size, WriteOptions{})
	require.NoError(t, err)
	s := &countingStore{Store: h}
	r := NewReaderAt(t.Context(), s, "k", size, block)
	read := func(off, n, opens int, bytesRead int64) {
		t.Helper()
		p := make([]byte, n)
		_, err := r.ReadAt(p, int64(off))
		require.NoError(t, err)
		require.True(t, bytes.Equal(content[off:off+n], p))
		require.Equal(t, opens, s.opens)
		require.Equal(t, ReadStats{opens, bytesRead}, r.Stats())
	}
	read(size-22, 22, 1, block)
	read(size-1000, 900, 1, block) // the same block
	read(10*block, 5*block, 2, 6*block)
	read(9*block, 7*block, 4, 8*block) // one block before the kept ones, one behind
	read(9*block+5, 6*block, 4, 8*block)
	n, err := r.ReadAt(nil, 5)
	require.NoError(t, err)
	require.Zero(t, n)
}

func TestReaderAtFails(t *testing.T) {
	eachStore(t, func(t *testing.T, h *harness) {
		_, err := Put(t.Context(), h, "short", bytes.NewReader(noise(3000, 1)), 3000, WriteOptions{})
		require.NoError(t, err)
		p := make([]byte, 10)
		_, err = NewReaderAt(t.Context(), h, "short", 5000, 1024).ReadAt(p, 10)
		require.ErrorIs(t, err, ErrSize)
		_, err = NewReaderAt(t.Context(), h, "missing", 5000, 1024).ReadAt(p, 10)
		require.ErrorIs(t, err, ErrNotFound)
		_, err = NewReaderAt(t.Context(), h, "short", 3000, 1024).ReadAt(p, -1)
		require.ErrorIs(t, err, ErrRange)
		_, err = NewReaderAt(t.Context(), h, "short", 3000, 1024).ReadAt(p, 3000)
		require.Equal(t, io.EOF, err)
		ctx, cancel := context.WithCancel(t.Context())
		r := NewReaderAt(ctx, h, "short", 3000, 1024)
		_, err = r.ReadAt(p, 0)
		require.NoError(t, err)
		cancel()
		_, err = r.ReadAt(p, 2000)
		require.True(t, errors.Is(err, context.Canceled), "%v", err)
	})
}
