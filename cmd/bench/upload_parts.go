package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"os"
	"path/filepath"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/slipway-qa/slipway/cmd/bench/regression"
)

// inParts compares uploads in parts, which go on after a lost connection, with PutObject of
// the same file.
func (b *uploadBench) inParts(ctx context.Context) error {
	f, o, err := b.alternate(ctx, func(ctx context.Context) error { return b.product.uploadInParts(ctx, b.file, "windows") })
	if err != nil {
		return err
	}
	mib := float64(b.Size) / (1 << 20)
	regression.Measured(ctx, "upload parts", f/o)
	row("upload of the file in parts", fmt.Sprintf("%.0f MiB/s, %.2f of the baseline of %.0f", mib/o, f/o, mib/f), "0.9 of the baseline", f/o >= 0.9)
	return nil
}

// partsInFlight: while the server stores the end of a part, the next one is on its way.
const partsInFlight = 2

// sending is the body of a part, which tells when all of it was read, or its request is over.
type sending struct {
	io.Reader
	left int64
	once sync.Once
	done chan struct{}
}

func (s *sending) Read(p []byte) (int, error) {
	n, err := s.Reader.Read(p)
	if s.left -= int64(n); s.left <= 0 || err != nil {
		s.end()
	}
	return n, err
}

func (s *sending) end() { s.once.Do(func() { close(s.done) }) }

// uploadInParts sends a file in parts, in order, and completes it as a build.
func (p *product) uploadInParts(ctx context.Context, path, platform string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	begin, err := json.Marshal(map[string]any{"file_name": filepath.Base(path), "file_size": info.Size()})
	if err != nil {
		return err
	}
	var begun struct {
		Upload struct {
			ID       string `json:"id"`
			PartSize int64  `json:"part_size"`
		} `json:"upload"`
	}
	err = p.exchange(ctx, http.MethodPost, "/api/v3/uploads", "application/json", bytes.NewReader(begin), int64(len(begin)), http.StatusCreated, &begun)
	if err != nil {
		return err
	}
	group, sendCtx := errgroup.WithContext(ctx)
	group.SetLimit(partsInFlight)
	for n, at := 1, int64(0); at < info.Size(); n++ {
		length := min(begun.Upload.PartSize, info.Size()-at)
		part := fmt.Sprintf("/api/v3/uploads/%s/parts/%d", begun.Upload.ID, n)
		body := &sending{Reader: io.NewSectionReader(f, at, length), left: length, done: make(chan struct{})}
		group.Go(func() error {
			defer body.end()
			return p.exchange(sendCtx, http.MethodPut, part, "application/octet-stream", body, length, http.StatusOK, nil)
		})
		<-body.done
		at += length
	}
	if err := group.Wait(); err != nil {
		return err
	}
	var form bytes.Buffer
	m := multipart.NewWriter(&form)
	for name, value := range map[string]string{"upload_id": begun.Upload.ID, "platform": platform} {
		if err := m.WriteField(name, value); err != nil {
			return err
		}
	}
	if err := m.Close(); err != nil {
		return err
	}
	return p.exchange(ctx, http.MethodPost, "/api/v3/builds/upload", m.FormDataContentType(), &form, int64(form.Len()), http.StatusCreated, nil)
}

// exchange sends a request of known length with the API key, and reads the answer into into.
func (p *product) exchange(ctx context.Context, method, path, kind string, body io.Reader, length int64, want int, into any) error {
	r, err := http.NewRequestWithContext(ctx, method, p.base+path, body)
	if err != nil {
		return err
	}
	r.ContentLength = length
	r.Header.Set("Content-Type", kind)
	r.Header.Set("X-API-Key", p.apiKey)
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(response.Body, 1<<20))
	if err != nil {
		return err
	}
	if response.StatusCode != want {
		return fmt.Errorf("%s %s: %s: %s", method, path, response.Status, answer)
	}
	if into == nil {
		return nil
	}
	return json.Unmarshal(answer, into)
}
