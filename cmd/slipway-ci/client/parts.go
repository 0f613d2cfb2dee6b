package client

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"sync"

	"golang.org/x/sync/errgroup"
)

const (
	// unanswered parts are on their way at most: while the server stores the end of one, the
	// bytes of the next are sent. Never those of two at once, so that a job that is killed has at
	// most one part to send again, and the server takes the digest of the whole as they come.
	unanswered = 2
	// mostTries bounds how often an upload in parts is begun anew: for other bytes, or because the
	// server lost some.
	mostTries = 3
	// mostUsed bounds how often somebody sends the same file within the day that the server
	// remembers its parts.
	mostUsed = 1000
)

// partUpload is a file that is sent in parts, as the server has it.
type partUpload struct {
	ID       string    `json:"id"`
	FileName string    `json:"file_name"`
	FileSize int64     `json:"file_size"`
	PartSize int64     `json:"part_size"`
	Parts    []partRow `json:"parts"`
	State    string    `json:"state"` // open, complete or used
}

type partRow struct {
	Number int    `json:"number"`
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256"`
}

// SendParts sends a file in parts, in order, and returns the id of its upload, which a request that takes
// the file names. An earlier call with the same key and file that was cut off, by the network or
// with its process, is gone on with: no more than one part is sent twice.
func (c *Client) SendParts(ctx context.Context, f *File, how Sending) (string, error) {
	key, err := partsKey(how, f)
	if err != nil {
		return "", err
	}
	for try := 1; try <= mostTries; try++ {
		up, err := c.beginFresh(ctx, f, key, how.Key == "")
		if err != nil {
			return "", err
		}
		again, err := c.sendParts(ctx, f, up, how)
		if err != nil || !again {
			return up.ID, err
		}
	}
	return "", &Error{Kind: Conflict, Text: f.Path + ": the server has other bytes of it; does another job with the same Idempotency-Key send another file?"}
}

// partsKey is by which the server knows the upload again: that of the job and of the file's
// content. A file that nobody named a key for is known by its place.
func partsKey(how Sending, f *File) (string, error) {
	digest, err := f.SHA256()
	if err != nil {
		return "", err
	}
	key := how.Key
	if key == "" {
		host, _ := os.Hostname()
		key = "place " + host + " " + cmp.Or(f.Place, f.Path)
	}
	sum := sha256.Sum256([]byte(key + "\x00" + f.Name + "\x00" + digest))
	return "parts-" + hex.EncodeToString(sum[:20]), nil
}

// beginFresh begins an upload, or finds one that is begun. With another, one whose file was taken
// is passed by, as nobody said that it is the same again: the next one has the key with the next
// number, so that it too is found again.
func (c *Client) beginFresh(ctx context.Context, f *File, key string, another bool) (*partUpload, error) {
	up, err := c.beginParts(ctx, f, key)
	for n := 2; err == nil && another && up.State == "used"; n++ {
		if n > mostUsed {
			return nil, &Error{Kind: Conflict, Text: fmt.Sprintf("%s was uploaded %d times today", f.Path, mostUsed)}
		}
		up, err = c.beginParts(ctx, f, fmt.Sprintf("%s-%d", key, n))
	}
	return up, err
}

func (c *Client) beginParts(ctx context.Context, f *File, key string) (*partUpload, error) {
	var out struct {
		Upload partUpload `json:"upload"`
	}
	err := c.JSON(ctx, Request{Method: http.MethodPost, Path: "/api/v3/uploads", Key: key}, map[string]any{"file_name": f.Name, "file_size": f.Size}, &out)
	if err != nil {
		return nil, err
	}
	up := &out.Upload
	if up.ID == "" || up.PartSize <= 0 || up.FileSize != f.Size {
		return nil, &Error{Kind: Broken, Method: http.MethodPost, Path: "/api/v3/uploads", Text: "the answer is none for an upload of this file"}
	}
	return up, nil
}

// sendParts sends the parts that are not there. again: the server has other bytes of the file;
// they were removed.
func (c *Client) sendParts(ctx context.Context, f *File, up *partUpload, how Sending) (again bool, err error) {
	if up.State != "open" {
		have(how, f.Size)
		return false, nil
	}
	there := map[int]partRow{}
	for _, p := range up.Parts {
		there[p.Number] = p
	}
	work, during := errgroup.WithContext(ctx)
	work.SetLimit(unanswered)
	before := make(chan struct{}) // closed when the bytes of the part before were sent
	close(before)
	for number, offset := 1, int64(0); offset < f.Size && during.Err() == nil && !again; number, offset = number+1, offset+up.PartSize {
		p := part{file: f, upload: up.ID, number: number, offset: offset, size: min(up.PartSize, f.Size-offset)}
		if p.sha256, err = p.digest(); err != nil { // while the part before is sent
			break
		}
		switch row, known := there[number]; {
		case !known:
			<-before
			sent := &sentOnce{done: make(chan struct{})}
			before = sent.done
			work.Go(func() error {
				defer sent.end()
				return c.sendPart(during, p, sent, how.Count)
			})
		case row.SHA256 == p.sha256 && row.Size == p.size:
			have(how, p.size)
		default:
			again = true
		}
	}
	sent := work.Wait()
	switch ended := context.Cause(ctx); {
	case err != nil:
		return false, err
	case sent != nil:
		return false, sent
	case ended != nil: // between two parts
		return false, ended
	case again:
		return true, c.dropParts(ctx, up.ID)
	}
	return false, nil
}

func have(how Sending, n int64) {
	if how.Have != nil {
		how.Have(n)
	}
}

// part is a part of a file.
type part struct {
	file         *File
	upload       string
	number       int
	offset, size int64
	sha256       string
}

// digest reads the part, before it is sent: the server refuses one whose bytes are others on
// arrival.
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

// sendPart sends a part, again where it may be.
func (c *Client) sendPart(ctx context.Context, p part, sent *sentOnce, count func(int64)) error {
	open := func() (io.ReadCloser, error) {
		in, err := p.open()
		if err != nil {
			return nil, err
		}
		return &sending{ReadCloser: in, left: p.size, sent: sent}, nil
	}
	err := c.JSON(ctx, Request{Method: http.MethodPut, Path: Path("api", "v3", "uploads", p.upload, "parts", strconv.Itoa(p.number)), Repeatable: true,
		Header: http.Header{"X-Part-Sha256": {p.sha256}}, ContentType: "application/octet-stream", Size: p.size, Body: open, Count: count}, nil, nil)
	if Is(err, Conflict) || Is(err, Missing) {
		// Another job with the same key was quicker: what takes the file says what became of it.
		return c.overtaken(ctx, p.upload, err)
	}
	return err
}

// overtaken returns nil when an upload is complete or used, for all its parts are there then.
func (c *Client) overtaken(ctx context.Context, id string, otherwise error) error {
	var out struct {
		Upload partUpload `json:"upload"`
	}
	if err := c.Get(ctx, Path("api", "v3", "uploads", id), nil, &out); err != nil || out.Upload.State == "open" {
		return otherwise
	}
	return nil
}

func (c *Client) dropParts(ctx context.Context, id string) error {
	err := c.JSON(ctx, Request{Method: http.MethodDelete, Path: Path("api", "v3", "uploads", id), Repeatable: true}, nil, nil)
	if Is(err, Missing) {
		return nil
	}
	return err
}

// sentOnce is closed when the bytes of a part were sent for the first time, or its request is over.
type sentOnce struct {
	done chan struct{}
	once sync.Once
}

func (s *sentOnce) end() { s.once.Do(func() { close(s.done) }) }

// sending is the body of a part, which says when all of it was read.
type sending struct {
	io.ReadCloser
	left int64
	sent *sentOnce
}

func (s *sending) Read(p []byte) (int, error) {
	n, err := s.ReadCloser.Read(p)
	if s.left -= int64(n); s.left <= 0 || err != nil {
		s.sent.end()
	}
	return n, err
}
