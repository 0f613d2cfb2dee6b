package archive_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/artifact"
	"github.com/slipway-qa/slipway/storage/artifact/archive"
)

func open(t testing.TB, raw []byte) *archive.Archive {
	t.Helper()
	a, err := archive.Open(bytes.NewReader(raw), int64(len(raw)))
	require.NoError(t, err)
	return a
}

func TestReadsWhatAndroidReads(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("words ", 50_000)
	for name, c := range map[string]container{
		"plain":                 {},
		"comment of 64 KB":      {comment: strings.Repeat("c", 65535)},
		"comment with an end":   {comment: "PK\x05\x06" + strings.Repeat("c", 30)},
		"prefix":                {prefix: "#!/bin/sh\n"},
		"zip64":                 {zip64: true},
		"zip64 behind a prefix": {zip64: true, prefix: strings.Repeat("p", 100)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.files = []file{
				{name: "stored", data: "one"},
				{name: "deflated", data: long, method: 8},
				{name: "encrypted", data: "three", method: 8, encrypted: true},
				{name: "odd and deflated", data: long, method: 8, say: 99},
				{name: "odd and stored", data: "five", say: 99},
				{name: "wide", data: "six", method: 8, zip64: true},
				{name: "claims more", data: "seven", method: 8, size: 5000},
				{name: "claims less", data: long, method: 8, size: 5},
				{name: "", data: "nine"},
			}
			a := open(t, c.bytes(t))
			require.Len(t, a.Entries(), len(c.files))
			for i, e := range a.Entries() {
				require.Equal(t, c.files[i].name, e.Name)
				data, err := a.Read(e, 1<<20)
				require.NoError(t, err, e.Name)
				require.Equal(t, c.files[i].data, string(data), e.Name)
				r, err := a.Open(e, 1<<20)
				require.NoError(t, err, e.Name)
				data, err = io.ReadAll(r)
				require.NoError(t, err, e.Name)
				require.Equal(t, c.files[i].data, string(data), e.Name)
			}
		})
	}
}

func TestNamesAreOnlyCompared(t *testing.T) {
	t.Parallel()
	names := []string{"a", "../a", "/etc/passwd", "a", `C:\a`, "a\x00b", "\xff", "A", strings.Repeat("n", archive.MaxName)}
	var c container
	for i, name := range names {
		c.files = append(c.files, file{name: name, data: fmt.Sprint(i)})
	}
	a := open(t, c.bytes(t))
	for i, e := range a.Entries() {
		require.Equal(t, names[i], e.Name)
	}
	var twice []string
	for _, e := range a.All("a") {
		data, err := a.Read(e, 10)
		require.NoError(t, err)
		twice = append(twice, string(data))
	}
	require.Equal(t, []string{"0", "3"}, twice)
	require.Empty(t, a.All("b"))
}

func TestRefusesBrokenDirectories(t *testing.T) {
	t.Parallel()
	one := []file{{name: "a", data: strings.Repeat("a", 500)}}
	whole := container{files: one}.bytes(t)
	for name, c := range map[string]struct {
		raw    []byte
		reason string
	}{
		"empty":               {nil, "no zip archive"},
		"text":                {[]byte(strings.Repeat("PK\x03\x04 text", 99)), "no zip archive"},
		"end cut off":         {whole[:len(whole)-1], "no zip archive"},
		"front cut off":       {whole[300:], "cut off"},
		"middle cut out":      {append(append([]byte{}, whole[:10]...), whole[len(whole)-60:]...), "cut off"},
		"more entries said":   {container{files: one, count: 7}.bytes(t), "1 of 7"},
		"length beyond":       {container{files: one, length: 1 << 20}.bytes(t), "cut off"},
		"directory too large": {container{files: one, zip64: true, length: 1 << 40}.bytes(t), "allowed"},
		"negative length":     {container{files: one, zip64: true, length: -5}.bytes(t), "outside"},
		"too many entries":    {container{files: one, zip64: true, count: 1 << 40}.bytes(t), "allowed"},
		"name too long":       {container{files: []file{{name: strings.Repeat("n", 5000)}}}.bytes(t), "name of 5000 bytes"},
		"volumes":             {bytes.Replace(whole, []byte("PK\x05\x06\x00"), []byte("PK\x05\x06\x02"), 1), "volumes"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := archive.Open(bytes.NewReader(c.raw), int64(len(c.raw)))
			var invalid *artifact.InvalidError
			require.ErrorAs(t, err, &invalid)
			require.Contains(t, invalid.Reason, c.reason)
		})
	}
}

func TestBrokenEntriesFailAlone(t *testing.T) {
	t.Parallel()
	a := open(t, container{files: []file{
		{name: "good", data: "good", method: 8},
		{name: "outside", data: "x", offset: 1 << 30},
		{name: "far outside", data: "x", zip64: true, offset: 1<<63 - 1},
		{name: "negative", data: "x", zip64: true, offset: -9},
		{name: "no header", data: "x", offset: 3},
		{name: "packed beyond", data: "x", method: 8, packed: 1 << 30},
		{name: "stored beyond", data: "x", size: 1 << 19},
		{name: "cut off", data: strings.Repeat("abcdefg", 100), method: 8, packed: 4},
		{name: "garbage", data: "\xff\xff\xff\xff", say: 8},
		{name: "last", data: "last"},
	}}.bytes(t))
	for _, e := range a.Entries() {
		data, err := a.Read(e, 1<<20)
		if e.Name == "good" || e.Name == "last" {
			require.NoError(t, err)
			require.Equal(t, e.Name, string(data))
			continue
		}
		var invalid *artifact.InvalidError
		require.ErrorAs(t, err, &invalid, e.Name)
		if r, err := a.Open(e, 1<<20); err == nil {
			_, err = io.ReadAll(r)
			require.ErrorAs(t, err, &invalid, e.Name)
		}
	}
	require.NoError(t, a.Err())
}

func TestLimits(t *testing.T) {
	t.Parallel()
	ten := "0123456789"
	a := open(t, container{files: []file{
		{name: "deflated", data: ten, method: 8},
		{name: "stored", data: ten},
		{name: "lies", data: ten, method: 8, size: 1},
	}}.bytes(t))
	for _, e := range a.Entries() {
		data, err := a.Read(e, 10)
		require.NoError(t, err, e.Name)
		require.Equal(t, ten, string(data))
		_, err = a.Read(e, 9)
		require.ErrorIs(t, err, archive.ErrTooLarge, e.Name)

		r, err := a.Open(e, 10)
		require.NoError(t, err)
		data, err = io.ReadAll(r)
		require.NoError(t, err)
		require.Equal(t, ten, string(data))
		r, err = a.Open(e, 9)
		if err == nil {
			data, err = io.ReadAll(r)
			require.Equal(t, ten[:9], string(data))
		}
		require.ErrorIs(t, err, archive.ErrTooLarge, e.Name)
	}
}

func TestReaderAtOfStoredEntries(t *testing.T) {
	t.Parallel()
	a := open(t, container{files: []file{
		{name: "stored", data: "0123456789"},
		{name: "deflated", data: "0123456789", method: 8},
		{name: "beyond", data: "x", size: 1 << 20},
	}}.bytes(t))
	r, ok := a.ReaderAt(a.Entries()[0])
	require.True(t, ok)
	p := make([]byte, 4)
	_, err := r.ReadAt(p, 3)
	require.NoError(t, err)
	require.Equal(t, "3456", string(p))
	_, err = r.ReadAt(p, 8)
	require.ErrorIs(t, err, io.EOF)
	for _, e := range a.Entries()[1:] {
		_, ok = a.ReaderAt(e)
		require.False(t, ok, e.Name)
	}
}

// A bomb takes neither memory nor time, whether its claimed size is true or not.
func TestBombs(t *testing.T) {
	zeros := strings.Repeat("\x00", 80<<20)
	raw := container{files: []file{
		{name: "honest", data: zeros, method: 8},
	}}.bytes(t)
	lie := bytes.Clone(raw)
	at := bytes.LastIndex(lie, []byte("PK\x01\x02"))
	copy(lie[at+24:], []byte{100, 0, 0, 0})
	half := bytes.Clone(raw)
	copy(half[at+24:], []byte{0, 0, 0xff, 0})
	for name, raw := range map[string][]byte{"honest": raw, "lies": lie, "lies near the limit": half} {
		a := open(t, raw)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		start := cpu(t)
		_, err := a.Read(a.Entries()[0], 32<<20)
		took := cpu(t) - start
		runtime.ReadMemStats(&after)
		require.ErrorIs(t, err, archive.ErrTooLarge, name)
		require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(34<<20), name)
		require.Less(t, took, 2*time.Second, name)
	}
}

// cpu is the processor time so far, which other processes do not lengthen.
func cpu(t *testing.T) time.Duration {
	t.Helper()
	var u syscall.Rusage
	require.NoError(t, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// A claim beyond what the packed bytes can hold takes no memory.
func TestClaimsTakeNoMemory(t *testing.T) {
	a := open(t, container{files: []file{{name: "a", data: "a", method: 8, size: 1 << 30}}}.bytes(t))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	data, err := a.Read(a.Entries()[0], 1<<31)
	runtime.ReadMemStats(&after)
	require.NoError(t, err)
	require.Equal(t, "a", string(data))
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(1<<20))
}

func TestManyEntries(t *testing.T) {
	var c container
	for i := range archive.MaxEntries {
		c.files = append(c.files, file{name: fmt.Sprintf("res/drawable/%06d.png", i)})
	}
	c.zip64 = true
	raw := c.bytes(t)
	r := &counted{r: bytes.NewReader(raw)}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	a, err := archive.Open(r, int64(len(raw)))
	runtime.ReadMemStats(&after)
	require.NoError(t, err)
	require.Len(t, a.Entries(), archive.MaxEntries)
	require.Equal(t, "res/drawable/199999.png", a.Entries()[archive.MaxEntries-1].Name)
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(24<<20))
	require.Less(t, r.calls, 20)

	// Without zip64 the count wraps, which is accepted.
	c.zip64 = false
	require.Len(t, open(t, c.bytes(t)).Entries(), archive.MaxEntries)
	c.files = append(c.files, c.files[0])
	raw = c.bytes(t)
	_, err = archive.Open(bytes.NewReader(raw), int64(len(raw)))
	require.ErrorContains(t, err, "more than 200000 entries")
}

func TestFaultsOfTheReaderAreNoFaultsOfTheFile(t *testing.T) {
	t.Parallel()
	raw := container{files: []file{
		{name: "a", data: "a"},
		{name: "b", data: strings.Repeat("b", 200_000)},
	}}.bytes(t)
	gone := errors.New("the store is gone")
	_, err := archive.Open(failing{bytes.NewReader(raw), 10, gone}, int64(len(raw)))
	require.ErrorIs(t, err, gone)

	// A file that is shorter than its size is broken, on the other hand.
	_, err = archive.Open(bytes.NewReader(raw[:100]), int64(len(raw)))
	var invalid *artifact.InvalidError
	require.ErrorAs(t, err, &invalid)

	r := &failing{bytes.NewReader(raw), 1 << 40, gone}
	a, err := archive.Open(r, int64(len(raw)))
	require.NoError(t, err)
	require.NoError(t, a.Err())
	r.from = 100
	_, err = a.Read(a.Entries()[0], 10)
	require.NoError(t, err)
	_, err = a.Read(a.Entries()[1], 1<<20)
	require.ErrorIs(t, err, gone)
	require.ErrorIs(t, a.Err(), gone)
}

func FuzzOpen(f *testing.F) {
	files := []file{
		{name: "AndroidManifest.xml", data: "manifest", method: 8},
		{name: "b", data: "b", zip64: true},
		{name: "c", data: strings.Repeat("c", 999), method: 8, say: 77},
	}
	f.Add(container{files: files}.bytes(f))
	f.Add(container{files: files, zip64: true, prefix: "p", comment: "c"}.bytes(f))
	f.Fuzz(func(t *testing.T, raw []byte) {
		a, err := archive.Open(bytes.NewReader(raw), int64(len(raw)))
		if err != nil {
			var invalid *artifact.InvalidError
			require.ErrorAs(t, err, &invalid)
			return
		}
		require.LessOrEqual(t, a.Directory(), int64(len(raw)))
		for _, e := range a.Entries()[:min(len(a.Entries()), 20)] {
			data, err := a.Read(e, 1<<16)
			require.LessOrEqual(t, len(data), 1<<16)
			if r, opened := a.Open(e, 1<<16); opened == nil && err == nil && (e.Method == 0 || e.Method == 8) {
				same, err := io.ReadAll(r)
				require.NoError(t, err)
				require.Equal(t, data, same)
			}
			if r, ok := a.ReaderAt(e); ok {
				_, err := r.ReadAt(make([]byte, 16), e.Size/2)
				require.True(t, err == nil || err == io.EOF)
			}
		}
	})
}
