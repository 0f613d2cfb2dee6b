package webdriver

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"fmt"
	"path"
	"strings"
)

// MaxUpload bounds a file that UploadFile sends: Base64 of a zip in one body.
const MaxUpload = 64 << 20

// UploadFile puts a file at the remote end and gives its path there, for SendKeys
// into a file input. It is a command of Selenium's: Grid 4 has it as se/file, and
// chromedriver and older grids as file. The remote end removes the file with the
// session.
func (s *Session) UploadFile(ctx context.Context, name string, content []byte) (remotePath string, err error) {
	if name == "" || name != path.Base(name) || name == "." || name == ".." || strings.ContainsAny(name, "/\\\x00") || len(name) > 255 {
		return "", &Error{Code: ErrInvalidArgument, Message: "not the name of a file"}
	}
	if len(content) > MaxUpload {
		return "", &Error{Code: ErrInvalidArgument, Message: fmt.Sprintf("a file of more than %d bytes", MaxUpload)}
	}
	var archive bytes.Buffer
	w := zip.NewWriter(&archive)
	f, err := w.Create(name)
	if err != nil {
		return "", fmt.Errorf("webdriver: upload: %w", err)
	}
	if _, err := f.Write(content); err != nil {
		return "", fmt.Errorf("webdriver: upload: %w", err)
	}
	if err := w.Close(); err != nil {
		return "", fmt.Errorf("webdriver: upload: %w", err)
	}
	body := map[string][]byte{"file": archive.Bytes()} // Base64 in JSON
	err = s.post(ctx, "/se/file", body, &remotePath)
	if Is(err, ErrUnknownCommand, ErrUnknownMethod) {
		err = s.post(ctx, "/file", body, &remotePath)
	}
	if err != nil {
		return "", err
	}
	if remotePath == "" {
		return "", &TransportError{Err: errors.New("an upload without path")}
	}
	return remotePath, nil
}
