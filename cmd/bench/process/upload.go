package process

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
)

// UploadFile posts a file to the product as a CI job does: a multipart form of
// known length, the key behind the file. platform is for generic files.
func (p *Product) UploadFile(ctx context.Context, path, platform string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	var head, tail bytes.Buffer
	form := multipart.NewWriter(&head)
	if _, err := form.CreateFormFile("file", filepath.Base(path)); err != nil {
		return err
	}
	end := multipart.NewWriter(&tail)
	if err := end.SetBoundary(form.Boundary()); err != nil {
		return err
	}
	tail.WriteString("\r\n")
	for name, value := range map[string]string{"api_key": p.APIKey, "platform": platform} {
		if err := end.WriteField(name, value); err != nil {
			return err
		}
	}
	if err := end.Close(); err != nil {
		return err
	}
	length := int64(head.Len()+tail.Len()) + info.Size()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, p.Base+"/api/upload", io.MultiReader(&head, f, &tail))
	if err != nil {
		return err
	}
	r.ContentLength = length
	r.Header.Set("Content-Type", form.FormDataContentType())
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, 1<<20))
	if err != nil {
		return err
	}
	var ok struct{ Status string }
	if response.StatusCode != http.StatusOK || json.Unmarshal(body, &ok) != nil || ok.Status != "ok" {
		return fmt.Errorf("upload: %s: %s", response.Status, body)
	}
	return nil
}
