package inspect

import (
	"bytes"
	"compress/flate"
	"context"
	"fmt"
	"runtime"
	"runtime/metrics"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/artifact"
	"github.com/slipway-qa/slipway/storage/artifact/archive"
)

func opened(t testing.TB, files ...file) *archive.Archive {
	t.Helper()
	in := input(zipped(t, files...))
	a, err := archive.Open(in.Reader, in.Size)
	require.NoError(t, err)
	return a
}

// Whole files, as they come: each within two seconds and 64 MiB. Not beside other
// tests, for the heap is the process's.
func TestBombs(t *testing.T) {
	zeros := make([]byte, 24<<20) // more than any entry may have
	packed := deflated(t, zeros)
	bomb := func(name string) file { return file{name: name, data: zeros, packed: packed} }
	many := []file{info(t, "Payload/Demo.app/Info.plist", map[string]any{"CFBundleExecutable": "Demo", "CFBundleIconFile": "Icon"})}
	for i := range 20_000 {
		many = append(many, file{name: fmt.Sprintf("Payload/Demo.app/Icon@%d.png", i)})
	}
	good := info(t, "Payload/Demo.app/Info.plist", map[string]any{"CFBundleExecutable": "Demo", "CFBundleIconFile": "Icon"})
	for name, c := range map[string]struct {
		raw     []byte
		invalid bool
	}{
		"manifest":   {zipped(t, bomb("AndroidManifest.xml")), true},
		"Info.plist": {zipped(t, bomb("Payload/Demo.app/Info.plist")), true},
		"four of it": {zipped(t, bomb("Payload/Demo.app/Info.plist"), bomb("Payload/Demo.app/Info.plist"),
			bomb("Payload/Demo.app/Info.plist"), good), false},
		"lying": {zipped(t, file{name: "Payload/Demo.app/Info.plist", data: zeros[:100], packed: packed}), true},
		"nested plist": {zipped(t, file{name: "Payload/Demo.app/Info.plist", data: append([]byte("<?xml?>"),
			bytes.Repeat([]byte("<array>"), 1<<20)...)}), true},
		"profile": {zipped(t, good, bomb("Payload/Demo.app/embedded.mobileprovision")), false},
		"deep profile": {zipped(t, good, file{name: "Payload/Demo.app/embedded.mobileprovision",
			data: bytes.Repeat([]byte{0x30, 0x80}, 4<<20)}), false},
		"icon":         {zipped(t, good, bomb("Payload/Demo.app/Icon.png")), false},
		"executable":   {zipped(t, good, bomb("Payload/Demo.app/Demo")), false},
		"many entries": {zipped(t, many...), false},
	} {
		t.Run(name, func(t *testing.T) {
			bounded(t, func() {
				p, err := New().Package(context.Background(), input(c.raw), "", false)
				if c.invalid {
					var invalid *artifact.InvalidError
					require.ErrorAs(t, err, &invalid)
					return
				}
				require.NoError(t, err)
				require.Equal(t, "com.example.demo", p.PackageName)
				require.NotEmpty(t, p.Warnings)
			})
		})
	}
}

func deflated(t *testing.T, data []byte) []byte {
	t.Helper()
	var buf bytes.Buffer
	w, err := flate.NewWriter(&buf, flate.BestSpeed)
	require.NoError(t, err)
	_, err = w.Write(data)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return buf.Bytes()
}

// bounded runs something hostile and fails the test when it takes too much.
func bounded(t *testing.T, do func()) {
	t.Helper()
	runtime.GC()
	heap := func() uint64 {
		s := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/memory/classes/heap/stacks:bytes"}}
		metrics.Read(s)
		return s[0].Value.Uint64() + s[1].Value.Uint64()
	}
	before, peak := heap(), uint64(0)
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		tick := time.NewTicker(time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-stop:
				return
			case <-tick.C:
				peak = max(peak, heap())
			}
		}
	}()
	start := spent(t)
	do()
	took, last := spent(t)-start, heap()
	close(stop)
	<-stopped
	peak = max(peak, last, before) - before
	t.Logf("%v, %d MiB", took, peak>>20)
	require.Less(t, took, 2*time.Second)
	require.Less(t, peak, uint64(64<<20))
}

// spent returns the processor time of the process: unlike the clock it does not
// depend on what else runs on the machine.
func spent(t *testing.T) time.Duration {
	t.Helper()
	var u syscall.Rusage
	require.NoError(t, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func FuzzPackage(f *testing.F) {
	f.Add(zipped(f, info(f, "Payload/Demo.app/Info.plist", map[string]any{"CFBundleExecutable": "Demo"}),
		file{name: "Payload/Demo.app/Demo", data: machO()}))
	f.Add(zipped(f, info(f, "Demo.app/Contents/Info.plist", nil)))
	f.Add(zipped(f, file{name: "AndroidManifest.xml", data: []byte{3, 0, 8, 0, 8, 0, 0, 0}}))
	f.Add(zipped(f, file{name: "base.apk", data: zipped(f, file{name: "AndroidManifest.xml", data: nil})}, file{name: "toc.pb", data: nil}))
	f.Add(zipped(f, file{name: "BundleConfig.pb", data: nil}, file{name: "base/manifest/AndroidManifest.xml", data: []byte{0x0a, 0}}))
	f.Add(zipped(f, file{name: "Demo.dSYM/Contents/Resources/DWARF/Demo", data: machO()}))
	f.Fuzz(func(t *testing.T, raw []byte) {
		var invalid *artifact.InvalidError
		p, err := New().Package(context.Background(), input(raw), "", true)
		if err != nil {
			require.ErrorAs(t, err, &invalid)
		} else {
			require.NotEmpty(t, p.Name)
			require.NotEmpty(t, p.Kind)
		}
		if s, err := New().Symbols(context.Background(), input(raw)); err != nil {
			require.ErrorAs(t, err, &invalid)
		} else {
			require.NotEmpty(t, s.Kind)
		}
	})
}
