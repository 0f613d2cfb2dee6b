package object

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// uploadJournal is a folder with a file for each multipart upload that the process has
// under way: bucket, key and id of the upload, a line each. A process that is killed
// leaves the files, from which the next one knows what to abort: the uploads of other
// processes, which the service lists as well, are none of its own. "" notes nothing.
//
// Nothing is synced: after a crash of the machine the sweep finds what was not noted.
type uploadJournal string

// begun notes an upload. One that cannot be noted is left to the sweep.
func (j uploadJournal) begun(bucket, key, id string) {
	if j == "" || os.MkdirAll(string(j), 0o700) != nil {
		return
	}
	_ = os.WriteFile(j.file(id), []byte(bucket+"\n"+key+"\n"+id), 0o600)
}

// ended forgets an upload.
func (j uploadJournal) ended(id string) {
	if j != "" {
		_ = os.Remove(j.file(id))
	}
}

func (j uploadJournal) file(id string) string {
	sum := sha256.Sum256([]byte(id))
	return filepath.Join(string(j), hex.EncodeToString(sum[:16]))
}

// abortNoted aborts the uploads that a process before this one has left.
func (s *S3) abortNoted(ctx context.Context) error {
	if s.journal == "" {
		return nil
	}
	entries, err := os.ReadDir(string(s.journal))
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read the journal of uploads: %w", err)
	}
	for _, entry := range entries {
		path := filepath.Join(string(s.journal), entry.Name())
		note, err := os.ReadFile(path)
		if err != nil {
			return fmt.Errorf("read the journal of uploads: %w", err)
		}
		// A note that was cut off, or of another bucket, names nothing to abort here.
		if lines := strings.Split(string(note), "\n"); len(lines) == 3 && lines[0] == s.bucket && lines[2] != "" {
			if err := s.core.AbortMultipartUpload(ctx, s.bucket, lines[1], lines[2]); err != nil && !noSuchUpload(err) {
				return fmt.Errorf("abort unfinished upload: %w", err)
			}
		}
		if err := os.Remove(path); err != nil {
			return fmt.Errorf("end the note of an upload: %w", err)
		}
	}
	return nil
}
