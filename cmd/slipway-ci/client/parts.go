package client

import (
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
	// unanswered parts are on their way at most. Their bytes are sent one part after another,
	// so that a job that is killed has at most one of them to send again; what overlaps is the
	// time that the server takes to store a part.
	unanswered = 3
	// sampled is what is read at the beginning, in the middle and at the end of a file to know
	// it again, without reading all of it before the first byte is sent.
	sampled = 1 << 20
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

// SendParts sends a file in parts and returns the id of its upload, which a request that takes
// the file names. An earlier call with the same key and file that was cut off, by the network or
// with its process, is gone on with.
func (c *Client) SendParts(ctx context.Context, f *File, how Sending) (string, error) {
	print, err := f.fingerprint()
	if err != nil {
		return "", err
	}
	key := partsKey(how.Key, f, print)
	for try := 1; ; try++ {
		up, err := c.beginParts(ctx, f, key)
		if err != nil {
			return "", err
		}
		if up.State == "used" && how.Key == "" || try > 1 && up.State != "open" {
			key = NewKey() // the same file once more is meant
			continue
		}
		again, err := c.sendParts(ctx, f, up, how)
		if err != nil {
			return "", err
		}
		if !again {
			return up.ID, nil
		}
		if try == 2 {
			return "", &Error{Kind: Conflict, Text: f.Path + ": the server has other bytes of it; another job with the same Idempotency-Key sends another file"}
		}
	}
}

// partsKey is by which the server knows the upload again: that of the job and of the file. A
// file that nobody named a key for is known by its place.
func partsKey(key string, f *File, print string) string {
	if key == "" {
		host, _ := os.Hostname()
		key = "place " + host + " " + f.Path
	}
	sum := sha256.Sum256([]byte(key + "\x00" + f.Name + "\x00" + print))
	return "parts-" + hex.EncodeToString(sum[:20])
}

// fingerprint tells files apart that differ in size, beginning, middle or end. Parts are compared
// by their whole digests.
func (f *File) fingerprint() (string, error) {
	h := sha256.New()
	fmt.Fprintf(h, "%d\n", f.Size)
	for _, offset := range []int64{0, f.Size / 2, max(0, f.Size-sampled)} {
		in, err := f.section(offset, min(sampled, f.Size-offset))
		if err != nil {
			return "", err
		}
		_, err = io.Copy(h, in)
		in.Close()
		if err != nil {
			return "", err
		}
	}
	return hex.EncodeToString(h.Sum(nil)), nil
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
	work, ctx := errgroup.WithContext(ctx)
	work.SetLimit(unanswered)
	line := &turn{now: make(chan struct{}, 1)}
	line.now <- struct{}{}
	for number, offset := 1, int64(0); offset < f.Size && ctx.Err() == nil; number, offset = number+1, offset+up.PartSize {
		size := min(up.PartSize, f.Size-offset)
		digest, err := f.digest(offset, size)
		if err != nil {
			_ = work.Wait()
			return false, err
		}
		if p, ok := there[number]; ok {
			if p.SHA256 == digest && p.Size == size {
				have(how, size)
				continue
			}
			if err := c.dropParts(ctx, up.ID); err != nil {
				_ = work.Wait()
				return false, err
			}
			return true, work.Wait()
		}
		work.Go(func() error { return c.sendPart(ctx, f, up.ID, number, offset, size, digest, line, how.Count) })
	}
	return false, work.Wait()
}

func have(how Sending, n int64) {
	if how.Have != nil {
		how.Have(n)
	}
}

// digest is that of a part, read once before it is sent: the server refuses a part whose bytes
// are others on arrival.
func (f *File) digest(offset, size int64) (string, error) {
	in, err := f.section(offset, size)
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

// sendPart sends a part, again where it may be.
func (c *Client) sendPart(ctx context.Context, f *File, id string, number int, offset, size int64, digest string, line *turn, count func(int64)) error {
	path := Path("api", "v3", "uploads", id, "parts", strconv.Itoa(number))
	err := c.JSON(ctx, Request{Method: http.MethodPut, Path: path, Repeatable: true, ContentType: "application/octet-stream", Size: size, Count: count,
		Header: http.Header{"X-Part-Sha256": {digest}},
		Body: func() (io.ReadCloser, error) {
			if err := line.take(ctx); err != nil {
				return nil, err
			}
			in, err := f.section(offset, size)
			if err != nil {
				line.pass()
				return nil, err
			}
			return &inTurn{ReadCloser: in, left: size, line: line}, nil
		}}, nil, nil)
	if Is(err, Conflict) || Is(err, Missing) {
		// Another job with the same key was quicker: what takes the file says what became of it.
		return c.overtaken(ctx, id, err)
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

// turn is whose bytes are sent.
type turn struct{ now chan struct{} }

func (t *turn) take(ctx context.Context) error {
	select {
	case <-t.now:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (t *turn) pass() { t.now <- struct{}{} }

// inTurn is the body of a part: its turn ends with its last byte.
type inTurn struct {
	io.ReadCloser
	left int64
	line *turn
	once sync.Once
}

func (b *inTurn) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if b.left -= int64(n); b.left <= 0 || err != nil {
		b.once.Do(b.line.pass)
	}
	return n, err
}

func (b *inTurn) Close() error {
	b.once.Do(b.line.pass)
	return b.ReadCloser.Close()
}
