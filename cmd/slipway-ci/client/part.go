package client

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"hash/crc32"
	"io"
	"net/http"
	"strconv"
	"sync"
)

// part is a part of a file.
type part struct {
	file         *File
	upload       string
	number       int
	offset, size int64
}

// digest reads the part and returns its SHA-256 in hexadecimal.
func (p part) digest() (string, error) {
	in, err := p.open()
	if err != nil {
		return "", err
	}
	defer in.Close()
	h := sha256.New()
	if _, err := io.Copy(h, in); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

func (p part) open() (io.ReadCloser, error) { return p.file.section(p.offset, p.size) }

// otherBytes: the server has other bytes of a part than the file.
type otherBytes struct{ number int }

func (e *otherBytes) Error() string { return fmt.Sprintf("part %d arrived with other bytes", e.number) }

func isOther(err error) bool {
	var other *otherBytes
	return errors.As(err, &other)
}

// castagnoli is the polynomial of CRC-32C: processors have an instruction for it, so that it costs
// a thirtieth of a SHA-256.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// sendPart sends a part, again where it may be, and returns the SHA-256 that the server has taken of
// it, whose checksum shows that it is one of these bytes.
func (c *Client) sendPart(ctx context.Context, p part, sent *sentOnce, count func(int64)) (string, error) {
	var last *sending
	open := func() (io.ReadCloser, error) {
		in, err := p.open()
		if err != nil {
			return nil, err
		}
		last = &sending{ReadCloser: in, left: p.size, sent: sent, sum: crc32.New(castagnoli)}
		return last, nil
	}
	var out struct {
		Part partRow `json:"part"`
	}
	err := c.JSON(ctx, Request{Method: http.MethodPut, Path: Path("api", "v3", "uploads", p.upload, "parts",
		strconv.Itoa(p.number)), Repeatable: true,
		ContentType: "application/octet-stream", Size: p.size, Body: open, Count: count}, nil, &out)
	switch {
	case Is(err, Conflict) || Is(err, Missing):
		// Another job with the same key was quicker.
		if err = c.overtaken(ctx, p, err, &out.Part); err != nil {
			return "", err
		}
	case err != nil:
		return "", err
	case out.Part.CRC32C != "":
		if out.Part.CRC32C != last.checksum() {
			return "", &otherBytes{p.number}
		}
		return out.Part.SHA256, nil
	}
	// A server that says no checksum.
	own, err := p.digest()
	if err != nil {
		return "", err
	}
	if own != out.Part.SHA256 {
		return "", &otherBytes{p.number}
	}
	return own, nil
}

// overtaken finds the part of an upload that is complete or used, for all its parts are there then.
func (c *Client) overtaken(ctx context.Context, p part, otherwise error, found *partRow) error {
	var out struct {
		Upload partUpload `json:"upload"`
	}
	if err := c.Get(ctx, Path("api", "v3", "uploads", p.upload), nil, &out); err != nil || out.Upload.State == "open" {
		return otherwise
	}
	for _, row := range out.Upload.Parts {
		if row.Number == p.number {
			*found = row
			return nil
		}
	}
	return otherwise
}

// sentOnce is closed when the bytes of a part were sent for the first time, or its request is over.
type sentOnce struct {
	done chan struct{}
	once sync.Once
}

func (s *sentOnce) end() { s.once.Do(func() { close(s.done) }) }

// sending is the body of a part, which takes its checksum, and says when all of it was read.
type sending struct {
	io.ReadCloser
	sent *sentOnce

	mu   sync.Mutex // the transport reads
	left int64
	sum  hash.Hash32
}

func (s *sending) Read(p []byte) (int, error) {
	n, err := s.ReadCloser.Read(p)
	s.mu.Lock()
	defer s.mu.Unlock()
	_, _ = s.sum.Write(p[:n]) // never fails
	if s.left -= int64(n); s.left <= 0 || err != nil {
		s.sent.end()
	}
	return n, err
}

// checksum is the CRC-32C of all bytes in hexadecimal; "" when not all were read.
func (s *sending) checksum() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.left != 0 {
		return ""
	}
	return hex.EncodeToString(s.sum.Sum(nil))
}
