package upload

import (
	"archive/zip"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
	"github.com/stretchr/testify/require"
)

// bigSize is that of the target for uploads: 1 GiB.
const bigSize = 1 << 30

// bigApp writes a package of a little more than bigSize.
func bigApp(t testing.TB) (*os.File, int64) {
	t.Helper()
	f, err := os.Create(filepath.Join(t.TempDir(), "big.ipa"))
	require.NoError(t, err)
	t.Cleanup(func() { _ = f.Close() })
	z := zip.NewWriter(f)
	entry, err := z.Create("Payload/Demo.app/Info.plist")
	require.NoError(t, err)
	_, err = entry.Write([]byte(infoPlist("com.example.big", "1")))
	require.NoError(t, err)
	entry, err = z.CreateHeader(&zip.FileHeader{Name: "Payload/Demo.app/Assets", Method: zip.Store})
	require.NoError(t, err)
	chunk := noise(8<<20, 1)
	for range bigSize / len(chunk) {
		_, err = entry.Write(chunk)
		require.NoError(t, err)
	}
	require.NoError(t, z.Close())
	info, err := f.Stat()
	require.NoError(t, err)
	return f, info.Size()
}

// stream sends the file through the whole handler.
func (w *world) stream(f *os.File, size int64) {
	const boundary = "------------------------d74496d66958873e"
	head := "--" + boundary + "\r\nContent-Disposition: form-data; name=\"file\"; filename=\"big.ipa\"\r\n" +
		"Content-Type: application/octet-stream\r\n\r\n"
	tail := "\r\n--" + boundary + "\r\nContent-Disposition: form-data; name=\"api_key\"\r\n\r\n" + w.boot.Owner.APIKey +
		"\r\n--" + boundary + "--\r\n"
	body := io.MultiReader(strings.NewReader(head), io.NewSectionReader(f, 0, size), strings.NewReader(tail))
	r, err := http.NewRequestWithContext(w.t.Context(), http.MethodPost, w.url+"/api/upload/", body)
	require.NoError(w.t, err)
	r.ContentLength = size + int64(len(head)+len(tail))
	r.Header.Set("Content-Type", "multipart/form-data; boundary="+boundary)
	client := &http.Client{Transport: &http.Transport{WriteBufferSize: 64 << 10}}
	defer client.CloseIdleConnections()
	res, err := client.Do(r)
	require.NoError(w.t, err)
	defer res.Body.Close()
	out, err := io.ReadAll(res.Body)
	require.NoError(w.t, err)
	require.Equal(w.t, 200, res.StatusCode, string(out))
}

// BenchmarkUpload compares an upload with PutObject of the same file to the same
// MinIO, one after the other: vs-put is the ratio of their throughputs. The sender runs in this
// process as well.
func BenchmarkUpload(b *testing.B) {
	w := newWorld(b, true, nil)
	u, err := url.Parse(w.minio)
	require.NoError(b, err)
	secret, _ := u.User.Password()
	plain, err := minio.New(u.Host, &minio.Options{Creds: credentials.NewStaticV4(u.User.Username(), secret, "")})
	require.NoError(b, err)
	f, size := bigApp(b)
	var put, upload time.Duration
	b.SetBytes(size)
	for b.Loop() {
		start := time.Now()
		_, err := plain.PutObject(b.Context(), strings.Trim(u.Path, "/"), "plain", io.NewSectionReader(f, 0, size),
			size, minio.PutObjectOptions{})
		require.NoError(b, err)
		put += time.Since(start)
		start = time.Now()
		w.stream(f, size)
		upload += time.Since(start)
	}
	b.ReportMetric(put.Seconds()/upload.Seconds(), "vs-put")
	b.ReportMetric(float64(b.N)*1024/upload.Seconds(), "upload-MiB/s")
	b.ReportMetric(float64(b.N)*1024/put.Seconds(), "put-MiB/s")
}

// BenchmarkUploadMemory measures what eight uploads at once add to the heap.
func BenchmarkUploadMemory(b *testing.B) {
	w := newWorld(b, true, nil)
	f, size := bigApp(b)
	debug.FreeOSMemory()
	var before, now runtime.MemStats
	runtime.ReadMemStats(&before)
	var peak uint64
	for b.Loop() {
		stop, sampled := make(chan struct{}), make(chan struct{})
		go func() {
			defer close(sampled)
			for {
				runtime.ReadMemStats(&now)
				peak = max(peak, now.Sys-now.HeapReleased)
				select {
				case <-stop:
					return
				case <-time.After(20 * time.Millisecond):
				}
			}
		}()
		var wait sync.WaitGroup
		for range 8 {
			wait.Go(func() { w.stream(f, size) })
		}
		wait.Wait()
		close(stop)
		<-sampled
	}
	b.ReportMetric(float64(peak-(before.Sys-before.HeapReleased))/(1<<20), "added-MiB")
}
