package object

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"github.com/minio/minio-go/v7"
	"golang.org/x/sync/errgroup"
)

// multipart is a multipart upload under way: up to partsInFlight parts are sent
// at once.
type multipart struct {
	*S3
	key, id string
	parent  context.Context // of the write
	ctx     context.Context // of the parts: also over when one of them failed
	cancel  context.CancelFunc
	group   *errgroup.Group
	before  int // parts of others, which come first
	list    []*minio.CompletePart
}

// multipart is the upload of an id, of which that many parts are others'.
func (w *s3Writer) multipart(id string, before int) *multipart {
	m := &multipart{S3: w.S3, key: w.key, id: id, parent: w.ctx, before: before}
	m.ctx, m.cancel = context.WithCancel(w.ctx)
	m.group, m.ctx = errgroup.WithContext(m.ctx)
	m.group.SetLimit(partsInFlight)
	return m
}

// begin is not interrupted: an upload whose id never arrived could not be
// aborted.
func (w *s3Writer) begin() (*multipart, error) {
	beginCtx, end := commitContext(w.ctx)
	defer end()
	id, err := w.core.NewMultipartUpload(beginCtx, w.bucket, w.key, w.opts)
	if err != nil {
		return nil, err
	}
	w.journal.begun(w.bucket, w.key, id)
	return w.multipart(id, 0), nil
}

// send waits until fewer than partsInFlight parts are under way, and calls sent
// once data is of no more use.
func (m *multipart) send(data []byte, sum string, sent func()) {
	part := &minio.CompletePart{PartNumber: m.before + len(m.list) + 1}
	m.list = append(m.list, part)
	m.group.Go(func() error {
		defer sent()
		done, err := m.sendPart(part.PartNumber, data, sum)
		part.ETag = done.ETag
		return err
	})
}

func (m *multipart) sendPart(number int, data []byte, sum string) (minio.ObjectPart, error) {
	content := &body{data: data}
	defer content.detach()
	// The digest is signed in the header. Without DisableContentSha256 the client
	// would hash and sign the bytes once more, in chunks.
	if sum == "" {
		own := sha256.Sum256(data)
		sum = hex.EncodeToString(own[:])
	}
	return m.core.PutObjectPart(m.ctx, m.bucket, m.key, m.id, number, content, int64(len(data)),
		minio.PutObjectPartOptions{Sha256Hex: sum, DisableContentSha256: true})
}

// failed reports whether a part failed or the write's context has ended.
func (m *multipart) failed() bool { return m.ctx.Err() != nil }

// stop ends the requests under way and returns why the write cannot go on: the
// error of the part that failed, which cancelled everything else, or err.
func (m *multipart) stop(err error) error {
	m.cancel()
	partErr := m.group.Wait()
	if partErr == nil || errors.Is(partErr, context.Canceled) || m.parent.Err() != nil {
		return err
	}
	return partErr
}

// wait returns the parts once all are there.
func (m *multipart) wait() ([]minio.CompletePart, error) {
	defer m.cancel()
	if err := m.group.Wait(); err != nil {
		return nil, err
	}
	if err := m.parent.Err(); err != nil {
		return nil, err
	}
	complete := make([]minio.CompletePart, len(m.list))
	for i, part := range m.list {
		complete[i] = *part
	}
	return complete, nil
}

// abort ends the upload although its caller may be gone. An error means that
// Sweep has to.
func (m *multipart) abort() error {
	_ = m.stop(nil)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(m.parent), commitTimeout)
	defer cancel()
	err := m.core.AbortMultipartUpload(ctx, m.bucket, m.key, m.id)
	if err != nil && !noSuchUpload(err) {
		return fmt.Errorf("abort upload (the sweep will): %w", err)
	}
	m.journal.ended(m.id)
	return nil
}

// noSuchUpload: it was completed, aborted or swept before.
func noSuchUpload(err error) bool { return minio.ToErrorResponse(err).Code == "NoSuchUpload" }

// Sweep aborts multipart uploads that began longer ago than age.
func (s *S3) Sweep(ctx context.Context, age time.Duration) (int, error) {
	before := time.Now().Add(-age)
	swept := 0
	keyMarker, idMarker := "", ""
	for {
		page, err := s.core.ListMultipartUploads(ctx, s.bucket, "", keyMarker, idMarker, "", MaxList)
		if err != nil {
			return swept, fmt.Errorf("list unfinished uploads: %w", err)
		}
		for _, upload := range page.Uploads {
			if upload.Initiated.After(before) {
				continue
			}
			err := s.core.AbortMultipartUpload(ctx, s.bucket, upload.Key, upload.UploadID)
			if err != nil && !noSuchUpload(err) {
				return swept, fmt.Errorf("abort unfinished upload: %w", err)
			}
			swept++
		}
		// With markers that do not move this would be endless.
		if !page.IsTruncated || page.NextKeyMarker == keyMarker && page.NextUploadIDMarker == idMarker {
			return swept, nil
		}
		keyMarker, idMarker = page.NextKeyMarker, page.NextUploadIDMarker
	}
}
