package object

import (
	"bytes"
	"testing"

	"github.com/minio/minio-go/v7"
	"github.com/stretchr/testify/require"
)

// BenchmarkPut compares an upload of unknown size with that of the client
// library, which knows the size, and with a folder. 128 MiB each.
func BenchmarkPut(b *testing.B) {
	content := noise(128*mib, 1)
	s3, err := Open(b.Context(), Config{URL: s3URL(b, minioServer(b).Host, "bench-put"), CreateBucket: true})
	require.NoError(b, err)
	defer s3.Close()
	folder, err := Open(b.Context(), Config{URL: b.TempDir()})
	require.NoError(b, err)
	defer folder.Close()
	for name, put := range map[string]func() error{
		"s3": func() error {
			_, err := Put(b.Context(), s3, "k", onlyReader(content), -1, WriteOptions{})
			return err
		},
		"library": func() error {
			_, err := s3.(*S3).core.Client.PutObject(b.Context(), "bench-put", "l", bytes.NewReader(content),
				int64(len(content)), minio.PutObjectOptions{})
			return err
		},
		"folder": func() error {
			_, err := Put(b.Context(), folder, "k", onlyReader(content), -1, WriteOptions{})
			return err
		},
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(content)))
			b.ReportAllocs()
			for b.Loop() {
				require.NoError(b, put())
			}
		})
	}
}

// onlyReader hides that the content could be read at random.
func onlyReader(content []byte) readerFunc {
	return bytes.NewReader(content).Read
}

// BenchmarkPutSmall writes objects of 4 KiB to a folder: the cost of the syncs.
func BenchmarkPutSmall(b *testing.B) {
	folder, err := Open(b.Context(), Config{URL: b.TempDir()})
	require.NoError(b, err)
	defer folder.Close()
	content := noise(4096, 1)
	for b.Loop() {
		_, err := Put(b.Context(), folder, "crash/0199a1b2-c3d4-7000-8000-000000000001/file.bin", bytes.NewReader(content), 4096, WriteOptions{})
		require.NoError(b, err)
	}
}
