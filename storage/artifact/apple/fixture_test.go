package apple

import (
	"archive/zip"
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/binary"
	"image"
	"image/color"
	"image/png"
	"math/big"
	"runtime"
	"runtime/metrics"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/smallstep/pkcs7"
	"github.com/stretchr/testify/require"
	"howett.net/plist"

	"github.com/slipway-qa/slipway/storage/artifact"
	"github.com/slipway-qa/slipway/storage/artifact/archive"
	"github.com/slipway-qa/slipway/storage/artifact/icon"
)

func newReader() Reader { return Reader{Icons: icon.NewDecoder(2)} }

// file is an entry of an archive to write.
type file struct {
	name   string
	data   []byte
	stored bool
	flags  uint16
}

func zipped(t testing.TB, files ...file) []byte {
	t.Helper()
	var buf bytes.Buffer
	w := zip.NewWriter(&buf)
	for _, f := range files {
		h := &zip.FileHeader{Name: f.name, Method: zip.Deflate, Flags: f.flags}
		if f.stored {
			h.Method = zip.Store
		}
		e, err := w.CreateHeader(h)
		require.NoError(t, err)
		_, err = e.Write(f.data)
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	return buf.Bytes()
}

func opened(t testing.TB, files ...file) (artifact.Input, *archive.Archive) {
	t.Helper()
	raw := zipped(t, files...)
	in := artifact.Input{Reader: bytes.NewReader(raw), Size: int64(len(raw)), Name: "app.zip", Vendor: "slipway"}
	a, err := archive.Open(in.Reader, in.Size)
	require.NoError(t, err)
	return in, a
}

func marshal(t testing.TB, v any, format int) []byte {
	t.Helper()
	raw, err := plist.Marshal(v, format)
	require.NoError(t, err)
	return raw
}

// demo is an Info.plist with everything that is read.
func demo(changes map[string]any) map[string]any {
	info := map[string]any{
		"CFBundleIdentifier":         "com.example.demo",
		"CFBundleShortVersionString": "1.2.3",
		"CFBundleVersion":            "45",
		"CFBundleDisplayName":        "Demo",
		"CFBundleName":               "DemoName",
		"CFBundleExecutable":         "DemoBin",
		"MinimumOSVersion":           "15.0",
		"LSMinimumSystemVersion":     "12.0",
		"DTPlatformVersion":          "17.2",
		"DTXcode":                    "1520",
		"DTPlatformName":             "iphoneos",
		"UIDeviceFamily":             []int{1, 2},
	}
	for key, value := range changes {
		if value == nil {
			delete(info, key)
		} else {
			info[key] = value
		}
	}
	return info
}

var signer = sync.OnceValues(func() (*x509.Certificate, *ecdsa.PrivateKey) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		panic(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "Test"}, NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		panic(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		panic(err)
	}
	return cert, key
})

// signed wraps a content as Apple wraps profiles.
func signed(t testing.TB, content []byte) []byte {
	t.Helper()
	cert, key := signer()
	s, err := pkcs7.NewSignedData(content)
	require.NoError(t, err)
	require.NoError(t, s.AddSigner(cert, key, pkcs7.SignerInfoConfig{}))
	raw, err := s.Finish()
	require.NoError(t, err)
	return raw
}

// thin returns a Mach-O file with some load commands, one of which is the UUID that
// consists of the byte id.
func thin(cpu, sub uint32, id byte, order interface {
	binary.ByteOrder
	binary.AppendByteOrder
}) []byte {
	var commands []byte
	add := func(kind uint32, body []byte) {
		commands = order.AppendUint32(commands, kind)
		commands = order.AppendUint32(commands, uint32(8+len(body)))
		commands = append(commands, body...)
	}
	add(0x19, make([]byte, 64))
	add(commandUUID, bytes.Repeat([]byte{id}, 16))
	add(0x0c, make([]byte, 48))
	magic, wide := uint32(magic32), cpu>>24 == 1
	if wide {
		magic = magic64
	}
	var head []byte
	for _, v := range []uint32{magic, cpu, sub, 2, 3, uint32(len(commands)), 0} {
		head = order.AppendUint32(head, v)
	}
	if wide {
		head = append(head, 0, 0, 0, 0)
	}
	return append(append(head, commands...), make([]byte, 128)...)
}

const (
	cpuARM64 = 0x0100000c
	cpuARM   = 12
	cpuX64   = 0x01000007
)

// part is an architecture of a fat file and where it is to lie.
type part struct {
	cpu, sub uint32
	at       int
	data     []byte
}

func fat(wide bool, parts ...part) []byte {
	be := binary.BigEndian
	magic := uint32(magicFat)
	if wide {
		magic = magicFat64
	}
	raw := be.AppendUint32(be.AppendUint32(nil, magic), uint32(len(parts)))
	for _, p := range parts {
		raw = be.AppendUint32(be.AppendUint32(raw, p.cpu), p.sub)
		if wide {
			raw = be.AppendUint64(be.AppendUint64(raw, uint64(p.at)), uint64(len(p.data)))
			raw = be.AppendUint32(be.AppendUint32(raw, 14), 0)
		} else {
			raw = be.AppendUint32(be.AppendUint32(raw, uint32(p.at)), uint32(len(p.data)))
			raw = be.AppendUint32(raw, 14)
		}
	}
	for _, p := range parts {
		if end := p.at + len(p.data); end > len(raw) {
			raw = append(raw, make([]byte, end-len(raw))...)
		}
		copy(raw[p.at:], p.data)
	}
	return raw
}

func square(t testing.TB, side int, c color.Color) []byte {
	t.Helper()
	img := image.NewNRGBA(image.Rect(0, 0, side, side))
	for y := range side {
		for x := range side {
			img.Set(x, y, c)
		}
	}
	var buf bytes.Buffer
	require.NoError(t, png.Encode(&buf, img))
	return buf.Bytes()
}

// bounded runs something hostile and fails the test when it takes more than two
// seconds or 64 MiB. It must not run beside other tests.
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
	peak = max(peak, last)
	t.Logf("%v, %d MiB", took, (max(peak, before)-before)>>20)
	require.Less(t, took, 2*time.Second)
	require.Less(t, max(peak, before)-before, uint64(64<<20))
}

// spent returns the processor time of the process: unlike the clock it ignores
// what else runs on the machine.
func spent(t *testing.T) time.Duration {
	t.Helper()
	var u syscall.Rusage
	require.NoError(t, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
