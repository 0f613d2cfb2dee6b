package client

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"os"

	"golang.org/x/sync/errgroup"
)

const (
	// unanswered parts are on their way at most: while the server stores the end of one, the
	// bytes of the next are sent. Never those of two at once, so that a job that is killed has one
	// part to send again, or two when the first was still without an answer, and the server takes
	// the digest of the whole as they come.
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
	State    string    `json:"state"`  // open, complete or used
	SHA256   string    `json:"sha256"` // of the whole; "" while it is open
}

type partRow struct {
	Number int    `json:"number"`
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256"`
	CRC32C string `json:"crc32c,omitempty"` // of the bytes that the answered request sent
}

// SendParts sends a file in parts, in order, and returns the id of its upload, which a request that takes
// the file names. An earlier call with the same key and file that was cut off, by the network or
// with its process, is gone on with: what was stored is not sent again, so that at most the two
// parts that were on their way are sent twice. Parts that are there are compared by their SHA-256;
// of those that are sent, the server says which checksum they came with.
func (c *Client) SendParts(ctx context.Context, f *File, how Sending) (string, error) {
	key, err := partsKey(how, f)
	if err != nil {
		return "", err
	}
	for try, n := 1, 1; try <= mostTries && n <= mostUsed; {
		up, err := c.beginParts(ctx, f, numbered(key, n))
		if err != nil {
			return "", err
		}
		if up.State == "used" && how.Key == "" && how.Job == "" {
			n++ // nobody said that it is the same again: the next upload is found again by the next number
			continue
		}
		same, err := c.sendParts(ctx, f, up, how)
		switch {
		case err != nil || same:
			return up.ID, err
		case up.State == "open":
			try++ // its parts were removed
		default:
			n++ // another file of the same size and samples
		}
	}
	return "", &Error{Kind: Conflict, Text: f.Path +
		": the server has other bytes of it; does another job with the same Idempotency-Key send another file?"}
}

// numbered is the key of an upload that has n-1 others before it.
func numbered(key string, n int) string {
	if n == 1 {
		return key
	}
	return fmt.Sprintf("%s-%d", key, n)
}

// partsKey is by which the server knows the upload again: that of the job, and the file's name, size
// and samples. Files that differ elsewhere are told apart by their parts. A file that nobody named a
// key for is known by its place.
func partsKey(how Sending, f *File) (string, error) {
	sample, err := f.sample()
	if err != nil {
		return "", err
	}
	key := cmp.Or(how.Key, how.Job)
	if key == "" {
		host, _ := os.Hostname()
		key = "place " + host + " " + cmp.Or(f.Place, f.Path)
	}
	sum := sha256.Sum256([]byte(key + "\x00" + f.Name + "\x00" + sample))
	return "parts-" + hex.EncodeToString(sum[:20]), nil
}

func (c *Client) beginParts(ctx context.Context, f *File, key string) (*partUpload, error) {
	var out struct {
		Upload partUpload `json:"upload"`
	}
	err := c.JSON(ctx, Request{Method: http.MethodPost, Path: "/api/v3/uploads", Key: key},
		map[string]any{"file_name": f.Name, "file_size": f.Size}, &out)
	if err != nil {
		return nil, err
	}
	up := &out.Upload
	if up.ID == "" || up.PartSize <= 0 || up.FileSize != f.Size {
		return nil, &Error{Kind: Broken, Method: http.MethodPost, Path: "/api/v3/uploads", Text: "the answer is none for an upload of this file"}
	}
	return up, nil
}

// sendParts sends the parts that are not there, and notes the digests of all of them. same is false
// when the server has, or got, other bytes than the file's: those of an open upload were removed.
func (c *Client) sendParts(ctx context.Context, f *File, up *partUpload, how Sending) (same bool, err error) {
	there := map[int]partRow{}
	for _, p := range up.Parts {
		there[p.Number] = p
	}
	digests := make([]string, (f.Size+up.PartSize-1)/up.PartSize)
	work, during := errgroup.WithContext(ctx)
	work.SetLimit(unanswered)
	before := make(chan struct{}) // closed when the bytes of the part before were sent
	close(before)
	same = true
	for i := 0; i < len(digests) && during.Err() == nil && same && err == nil; i++ {
		offset := int64(i) * up.PartSize
		p := part{file: f, upload: up.ID, number: i + 1, offset: offset, size: min(up.PartSize, f.Size-offset)}
		row, known := there[p.number]
		switch {
		case known:
			if digests[i], err = p.digest(); err == nil {
				same = row.SHA256 == digests[i] && row.Size == p.size
			}
		case up.State != "open":
			same = false
		default:
			<-before
			sent := &sentOnce{done: make(chan struct{})}
			before = sent.done
			work.Go(func() (err error) {
				defer sent.end()
				digests[i], err = c.sendPart(during, p, sent, how.Count)
				return err
			})
			continue
		}
		if same && err == nil && how.Have != nil {
			how.Have(p.size)
		}
	}
	sent := work.Wait()
	switch ended := context.Cause(ctx); {
	case err != nil:
		return false, err
	case isOther(sent):
		same = false
	case sent != nil:
		return false, sent
	case ended != nil: // between two parts
		return false, ended
	}
	if !same {
		if up.State == "open" {
			err = c.dropParts(ctx, up.ID)
		}
		return false, err
	}
	f.noteParts(up.PartSize, digests)
	return true, nil
}

func (c *Client) dropParts(ctx context.Context, id string) error {
	err := c.JSON(ctx, Request{Method: http.MethodDelete, Path: Path("api", "v3", "uploads", id), Repeatable: true}, nil, nil)
	if Is(err, Missing) {
		return nil
	}
	return err
}
