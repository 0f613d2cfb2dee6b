package stream

import (
	"bytes"
	"context"
	"errors"
	"io"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/object"
)

// memory is a store of one object that counts its readers; a read fails from
// broken on, when that is set.
type memory struct {
	object.Store
	data            []byte
	broken          int64
	opened, closed  int
	longest, served int64
}

func (m *memory) Open(_ context.Context, _ string, offset, length int64) (io.ReadCloser, object.Info, error) {
	m.opened++
	m.longest = max(m.longest, length)
	if m.broken > 0 && offset >= m.broken {
		return nil, object.Info{}, errors.New("store is away")
	}
	end := min(offset+length, int64(len(m.data)))
	return &part{iotest.HalfReader(bytes.NewReader(m.data[offset:end])), m}, object.Info{Size: int64(len(m.data))}, nil
}

type part struct {
	io.Reader
	of *memory
}

func (p *part) Read(b []byte) (int, error) {
	n, err := p.Reader.Read(b)
	p.of.served += int64(n)
	return n, err
}

func (p *part) Close() error { p.of.closed++; return nil }

func TestContent(t *testing.T) {
	t.Parallel()
	m := &memory{data: bytes.Repeat([]byte("0123456789"), 1<<20)} // 10 MiB
	file := New(t.Context(), m, "", int64(len(m.data)))
	end, err := file.Seek(0, io.SeekEnd)
	require.NoError(t, err)
	require.Equal(t, file.size, end)
	require.Zero(t, m.opened, "nothing is opened before a read")
	_, err = file.Seek(0, io.SeekStart)
	require.NoError(t, err)
	got, err := io.ReadAll(file)
	require.NoError(t, err)
	require.True(t, bytes.Equal(m.data, got))
	require.True(t, file.began)
	require.Equal(t, 4, m.opened, "1, 2, 4 and the last 3 MiB")
	file.Close()
	require.Equal(t, m.opened, m.closed)

	file = New(t.Context(), m, "", int64(len(m.data)))
	_, err = file.Seek(13, io.SeekStart)
	require.NoError(t, err)
	m.served, m.longest = 0, 0
	got, err = io.ReadAll(io.LimitReader(file, 5))
	require.NoError(t, err)
	require.Equal(t, "34567", string(got))
	require.False(t, file.began)
	require.LessOrEqual(t, m.longest, int64(firstWindow), "a small range asks for little")
	_, err = file.Seek(-1, io.SeekStart)
	require.Error(t, err)
	_, err = file.Seek(-4, io.SeekCurrent)
	require.NoError(t, err)
	one := make([]byte, 1)
	_, err = file.Read(one)
	require.NoError(t, err)
	require.Equal(t, "4", string(one))
	file.Close()
	require.Equal(t, m.opened, m.closed)
}

func TestContentThatBreaks(t *testing.T) {
	t.Parallel()
	m := &memory{data: make([]byte, 3<<20), broken: 1 << 20}
	file := New(t.Context(), m, "", int64(len(m.data)))
	got, err := io.ReadAll(file)
	require.ErrorContains(t, err, "away")
	require.Len(t, got, 1<<20)
	require.Error(t, file.err)

	file = New(t.Context(), &memory{data: make([]byte, 10)}, "", 20)
	got, err = io.ReadAll(file)
	require.ErrorIs(t, err, io.ErrUnexpectedEOF, "the object became shorter")
	require.Len(t, got, 10)
}
