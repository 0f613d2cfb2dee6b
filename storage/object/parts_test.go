package object

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/stretchr/testify/require"
)

// inParts is an object of some MiB that is written in parts of 8 MiB.
type inParts struct {
	t    *testing.T
	h    *harness
	m    Multipart
	data []byte
	tags map[int]string
}

func newInParts(t *testing.T, h *harness, size int) *inParts {
	t.Helper()
	p := &inParts{t: t, h: h, data: noise(size, 7), tags: map[int]string{},
		m: Multipart{Key: "parts/" + rand.Text(), Size: int64(size), PartSize: PartUnit}}
	var err error
	p.m.ID, err = h.BeginParts(t.Context(), p.m.Key, WriteOptions{})
	require.NoError(t, err)
	return p
}

func (p *inParts) part(n int) []byte {
	from := p.m.Offset(n)
	return p.data[from : from+p.m.Length(n)]
}

func (p *inParts) write(n int, data []byte) error {
	w, err := p.h.WritePart(p.t.Context(), p.m, n)
	if err != nil {
		return err
	}
	defer w.Close()
	for piece := range slices.Chunk(data, 100_000) {
		if _, err := w.Write(piece); err != nil {
			return err
		}
	}
	own := NewSum()
	_, _ = own.Write(data)
	tag, err := w.Commit(own)
	if err == nil {
		p.tags[n] = tag
	}
	return err
}

func (p *inParts) complete(sum *Sum) (Info, error) {
	var parts []Part
	for n := range p.m.Count() {
		parts = append(parts, Part{Number: n + 1, Tag: p.tags[n+1]})
	}
	return p.h.CompleteParts(p.t.Context(), p.m, parts, sum)
}

func (p *inParts) sha256() string {
	sum := sha256.Sum256(p.data)
	return hex.EncodeToString(sum[:])
}

// Parts come in any order, some of them twice; the sum has the first bytes, or none.
func TestPartsBecomeAnObject(t *testing.T) {
	eachStore(t, func(t *testing.T, h *harness) {
		for name, row := range map[string]struct {
			size   int
			order  []int
			summed int64
		}{
			"one small part": {1000, []int{1}, 0},
			"one unit":       {PartUnit, []int{1}, PartUnit},
			"in order":       {2*PartUnit + 5, []int{1, 2, 3}, 2*PartUnit + 5},
			"any order":      {3*PartUnit + PartUnit/2, []int{4, 2, 1, 2, 3}, PartUnit},
		} {
			t.Run(name, func(t *testing.T) {
				p := newInParts(t, h, row.size)
				for _, n := range row.order {
					require.NoError(t, p.write(n, p.part(n)))
				}
				_, err := h.Stat(t.Context(), p.m.Key)
				require.ErrorIs(t, err, ErrNotFound, "before it is complete")
				first := NewSum()
				_, _ = first.Write(p.data[:row.summed])
				state, err := first.State()
				require.NoError(t, err)
				for range 2 { // to complete again is no error
					sum := ResumeSum(state, row.summed)
					require.Equal(t, row.summed, sum.N())
					info, err := p.complete(sum)
					require.NoError(t, err)
					require.EqualValues(t, row.size, info.Size)
					require.Equal(t, p.sha256(), sum.Hex())
				}
				got, info := readAll(t, h, p.m.Key, 0, -1)
				require.True(t, bytes.Equal(p.data, got))
				require.NotEmpty(t, info.ETag)
				require.NoError(t, h.AbortParts(t.Context(), p.m), "what is complete stays")
				_, err = h.Stat(t.Context(), p.m.Key)
				require.NoError(t, err)
				require.Zero(t, h.unfinished(t, p.m.Key))
			})
		}
	})
}

func TestPartsRefused(t *testing.T) {
	eachStore(t, func(t *testing.T, h *harness) {
		p := newInParts(t, h, PartUnit+10)
		require.ErrorIs(t, p.write(2, noise(11, 1)), ErrSize)
		require.ErrorIs(t, p.write(2, noise(9, 1)), ErrSize)
		require.ErrorIs(t, p.write(3, nil), ErrRange)
		require.ErrorIs(t, p.write(0, nil), ErrRange)
		_, err := h.BeginParts(t.Context(), "../etc", WriteOptions{})
		require.ErrorIs(t, err, ErrInvalidKey)
		odd := p.m
		odd.PartSize = PartUnit + 1
		_, err = h.WritePart(t.Context(), odd, 1)
		require.ErrorIs(t, err, errPartSize)

		// A writer whose sender is gone leaves nothing of the part.
		ctx, cancel := context.WithCancel(t.Context())
		w, err := h.WritePart(ctx, p.m, 1)
		require.NoError(t, err)
		_, err = w.Write(noise(PartUnit/2, 1))
		require.NoError(t, err)
		cancel()
		_, err = w.Write(noise(10, 1))
		require.ErrorIs(t, err, context.Canceled)
		require.NoError(t, w.Close())
		require.NoError(t, w.Close())
		require.NoError(t, p.write(1, p.part(1)))
		require.NoError(t, p.write(2, p.part(2)))

		require.NoError(t, h.AbortParts(t.Context(), p.m))
		require.NoError(t, h.AbortParts(t.Context(), p.m), "one that is gone")
		require.ErrorIs(t, p.write(1, p.part(1)), ErrNotFound)
		_, err = p.complete(NewSum())
		var lost *LostPartsError
		require.ErrorAs(t, err, &lost)
		require.True(t, lost.All)
		require.Equal(t, []int{1, 2}, lost.Numbers)
		require.Zero(t, h.unfinished(t, p.m.Key))
		_, err = h.Stat(t.Context(), p.m.Key)
		require.ErrorIs(t, err, ErrNotFound)
	})
}

// S3 takes several writers of a part: one that comes behind the recorded one is noticed.
func TestS3NoticesAnotherPart(t *testing.T) {
	t.Parallel()
	p := newInParts(t, newS3(t, Config{}), 2*PartUnit)
	require.NoError(t, p.write(1, p.part(1)))
	require.NoError(t, p.write(2, p.part(2)))
	recorded := p.tags[2]
	require.NoError(t, p.write(2, noise(PartUnit, 99)))
	p.tags[2] = recorded
	_, err := p.complete(NewSum())
	var lost *LostPartsError
	require.ErrorAs(t, err, &lost)
	require.False(t, lost.All)
	require.Equal(t, []int{2}, lost.Numbers)
	require.NoError(t, p.write(2, p.part(2)))
	sum := NewSum()
	_, err = p.complete(sum)
	require.NoError(t, err)
	require.Equal(t, p.sha256(), sum.Hex())
}

// In a folder one writer is at a part at a time, until it is closed.
func TestFolderLocksParts(t *testing.T) {
	t.Parallel()
	h := newFolder(t)
	p := newInParts(t, h, 2*PartUnit)
	w, err := h.WritePart(t.Context(), p.m, 1)
	require.NoError(t, err)
	require.ErrorIs(t, p.write(1, p.part(1)), ErrPartBusy)
	require.NoError(t, p.write(2, p.part(2)), "another part")
	_, err = w.Write(p.part(1))
	require.NoError(t, err)
	_, err = w.Commit(nil)
	require.NoError(t, err)
	require.ErrorIs(t, p.write(1, p.part(1)), ErrPartBusy, "until it was recorded")
	require.NoError(t, w.Close())
	require.NoError(t, p.write(1, p.part(1)))
	left, err := h.Store.(*Folder).root.Open(partsDir)
	require.NoError(t, err)
	defer left.Close()
	names, err := left.Readdirnames(-1)
	require.NoError(t, err)
	require.Equal(t, []string{p.m.ID}, names, "no locks")
}

// A process that was killed while it completed leaves a footer, which the next one cuts off.
func TestFolderCompletesAfterAKill(t *testing.T) {
	t.Parallel()
	h := newFolder(t)
	p := newInParts(t, h, PartUnit+1)
	require.NoError(t, p.write(1, p.part(1)))
	require.NoError(t, p.write(2, p.part(2)))
	folder := h.Store.(*Folder)
	file, err := folder.root.OpenFile(partsDir+"/"+p.m.ID, os.O_RDWR|os.O_APPEND, 0)
	require.NoError(t, err)
	_, err = file.WriteString("half a footer")
	require.NoError(t, err)
	require.NoError(t, file.Close())
	sum := NewSum()
	info, err := p.complete(sum)
	require.NoError(t, err)
	require.Equal(t, p.sha256(), sum.Hex())
	require.Equal(t, p.sha256(), info.ETag)
}

// Parts are swept when nobody goes on with them, long after other writes.
func TestSweepOfParts(t *testing.T) {
	t.Parallel()
	h := newFolder(t)
	p := newInParts(t, h, PartUnit+1)
	require.NoError(t, p.write(1, p.part(1)))
	folder := h.Store.(*Folder)
	n, err := h.Sweep(t.Context(), 0)
	require.NoError(t, err)
	require.Zero(t, n)
	old := time.Now().Add(-partsAge - time.Minute)
	require.NoError(t, folder.root.Chtimes(partsDir+"/"+p.m.ID, old, old))
	n, err = h.Sweep(t.Context(), time.Hour)
	require.NoError(t, err)
	require.Equal(t, 1, n)
	require.ErrorIs(t, p.write(1, p.part(1)), ErrNotFound)

	s := newS3(t, Config{})
	q := newInParts(t, s, PartUnit)
	n, err = s.Sweep(t.Context(), -time.Hour)
	require.NoError(t, err)
	require.Equal(t, 1, n)
	require.ErrorIs(t, q.write(1, q.part(1)), ErrNotFound)
	var response minio.ErrorResponse
	require.ErrorAs(t, q.write(1, q.part(1)), &response)
}

func TestSumFromAStateThatIsNone(t *testing.T) {
	t.Parallel()
	for _, state := range [][]byte{nil, {}, []byte("sha\x03 of another program")} {
		sum := ResumeSum(state, 100)
		require.Zero(t, sum.N())
		require.Equal(t, NewSum().Hex(), sum.Hex())
	}
}
