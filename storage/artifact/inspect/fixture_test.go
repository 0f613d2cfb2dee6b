package inspect

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/require"
	"howett.net/plist"

	"github.com/slipway-qa/slipway/storage/artifact"
)

// file is an entry of an archive to write.
type file struct {
	name string
	data []byte
	// packed is data in deflated form, when it is there already.
	packed []byte
}

func zipped(t testing.TB, files ...file) []byte {
	t.Helper()
	var buf bytes.Buffer
	w := zip.NewWriter(&buf)
	for _, f := range files {
		content := f.data
		h := &zip.FileHeader{Name: f.name, Method: zip.Deflate}
		create := w.CreateHeader
		if f.packed != nil {
			content, create = f.packed, w.CreateRaw
			h.CompressedSize64, h.UncompressedSize64 = uint64(len(f.packed)), uint64(len(f.data))
		}
		e, err := create(h)
		require.NoError(t, err)
		_, err = e.Write(content)
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	return buf.Bytes()
}

func input(raw []byte) artifact.Input {
	return artifact.Input{Reader: bytes.NewReader(raw), Size: int64(len(raw)), Name: `C:\out\demo-1.2.zip`, Vendor: "slipway"}
}

func info(t testing.TB, name string, changes map[string]any) file {
	t.Helper()
	values := map[string]any{"CFBundleIdentifier": "com.example.demo", "CFBundleShortVersionString": "1.2.3",
		"CFBundleVersion": "45", "CFBundleName": "Demo"}
	for key, value := range changes {
		values[key] = value
	}
	raw, err := plist.Marshal(values, plist.BinaryFormat)
	require.NoError(t, err)
	return file{name: name, data: raw}
}

// machO is a file of arm64 whose UUID is sixteen times the byte 0xab.
func machO() []byte {
	var raw []byte
	for _, v := range []uint32{0xfeedfacf, 0x0100000c, 0, 2, 1, 24, 0, 0, 0x1b, 24} {
		raw = binary.LittleEndian.AppendUint32(raw, v)
	}
	return append(raw, bytes.Repeat([]byte{0xab}, 16)...)
}

const uuid = "ABABABAB-ABAB-ABAB-ABAB-ABABABABABAB"
