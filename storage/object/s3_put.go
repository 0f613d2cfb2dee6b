package object

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/minio/minio-go/v7"
	"golang.org/x/sync/errgroup"
)

// putMark is the user metadata that tells one Put from another: after a commit
// whose answer was lost, it shows whether the object there is this one.
const putMark = "Put-Id"

// commitGrace is how long a commit goes on after its caller gave up: ending it
// sooner would leave its outcome unknown.
const commitGrace = 10 * time.Second

// Put sends what fits one buffer as one request, anything longer as a
// multipart upload of 8 MiB parts, up to partsInFlight of them at once.
func (s *S3) Put(ctx context.Context, key string, r io.Reader, size int64, opts PutOptions) (Info, error) {
	if err := checkKey(key); err != nil {
		return Info{}, err
	}
	contentType, err := opts.contentType()
	if err != nil {
		return Info{}, err
	}
	if size > partSize*maxParts {
		return Info{}, ErrTooLarge
	}
	pool := s.parts
	if size >= 0 && size <= smallSize {
		pool = s.small
	}
	first, err := pool.get(ctx)
	if err != nil {
		return Info{}, fmt.Errorf("put object: wait for a buffer: %w", err)
	}
	p := put{
		S3: s, key: key, mark: rand.Text(), pool: pool,
		from: source{r: r, size: max(size, -1)},
	}
	p.opts = minio.PutObjectOptions{
		ContentType:          contentType,
		UserMetadata:         map[string]string{putMark: p.mark},
		DisableContentSha256: true,
	}
	info, err := p.run(ctx, first)
	if err != nil {
		return Info{}, fmt.Errorf("put object: %w", err)
	}
	info.ContentType = contentType
	return info, nil
}

// put is one Put under way.
type put struct {
	*S3
	key, mark string
	opts      minio.PutObjectOptions
	from      source
	pool      *bufferPool
}

func (p *put) run(ctx context.Context, first []byte) (Info, error) {
	n, last, err := p.from.next(ctx, first)
	if err != nil {
		p.pool.put(first)
		return Info{}, err
	}
	if !last {
		return p.multipart(ctx, first, n)
	}
	defer p.pool.put(first)
	if err := ctx.Err(); err != nil {
		return Info{}, err
	}
	return p.single(ctx, first[:n])
}

func (p *put) single(ctx context.Context, data []byte) (Info, error) {
	ctx, cancel := commitContext(ctx)
	defer cancel()
	content := &body{data: data}
	defer content.detach()
	sum := sha256.Sum256(data)
	done, err := p.core.PutObject(ctx, p.bucket, p.key, content, int64(len(data)), "", hex.EncodeToString(sum[:]), p.opts)
	if err != nil {
		return p.settle(ctx, err)
	}
	return p.info(done), nil
}

// multipart owns first, which holds n bytes.
func (p *put) multipart(ctx context.Context, first []byte, n int) (Info, error) {
	// Not interrupted: an upload whose id never arrived could not be aborted.
	beginCtx, cancel := commitContext(ctx)
	id, err := p.core.NewMultipartUpload(beginCtx, p.bucket, p.key, p.opts)
	cancel()
	if err != nil {
		p.pool.put(first)
		return Info{}, err
	}
	parts, err := p.sendParts(ctx, id, first, n)
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return Info{}, errors.Join(err, p.abort(ctx, id))
	}
	commitCtx, cancel := commitContext(ctx)
	defer cancel()
	done, err := p.core.CompleteMultipartUpload(commitCtx, p.bucket, p.key, id, parts, p.opts)
	if err != nil {
		info, err := p.settle(ctx, err)
		if err != nil {
			err = errors.Join(err, p.abort(ctx, id))
		}
		return info, err
	}
	return p.info(done), nil
}

// sendParts returns after every request has ended and every buffer is back.
func (p *put) sendParts(parent context.Context, id string, buf []byte, n int) ([]minio.CompletePart, error) {
	ctx, cancel := context.WithCancel(parent)
	defer cancel()
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(partsInFlight)
	var parts []*minio.CompletePart
	readErr := func() error {
		for last := false; ; {
			part := &minio.CompletePart{PartNumber: len(parts) + 1}
			parts = append(parts, part)
			full, data := buf, buf[:n]
			group.Go(func() error {
				defer p.pool.put(full)
				sent, err := p.sendPart(ctx, id, part.PartNumber, data)
				part.ETag = sent.ETag
				return err
			})
			if last {
				return nil
			}
			if len(parts) == maxParts {
				return ErrTooLarge
			}
			var err error
			if buf, err = p.pool.get(ctx); err != nil {
				return err
			}
			if n, last, err = p.from.next(ctx, buf); err != nil {
				p.pool.put(buf)
				return err
			}
		}
	}()
	if readErr != nil {
		cancel() // parts still under way are of no use any more
	}
	sendErr := group.Wait()
	// A part that fails cancels the reading: the part's error is the cause.
	if readErr != nil && (sendErr == nil || errors.Is(sendErr, context.Canceled) || parent.Err() != nil) {
		return nil, readErr
	}
	if sendErr != nil {
		return nil, sendErr
	}
	complete := make([]minio.CompletePart, len(parts))
	for i, part := range parts {
		complete[i] = *part
	}
	return complete, nil
}

func (p *put) sendPart(ctx context.Context, id string, number int, data []byte) (minio.ObjectPart, error) {
	content := &body{data: data}
	defer content.detach()
	// The digest is signed in the header. Without DisableContentSha256 the client
	// would hash and sign the bytes once more, in chunks.
	sum := sha256.Sum256(data)
	return p.core.PutObjectPart(ctx, p.bucket, p.key, id, number, content, int64(len(data)),
		minio.PutObjectPartOptions{Sha256Hex: hex.EncodeToString(sum[:]), DisableContentSha256: true})
}

// settle finds out what became of a commit that failed: the answer may have
// been lost after the object became visible.
func (p *put) settle(ctx context.Context, cause error) (Info, error) {
	var answer minio.ErrorResponse
	// NoSuchUpload is what a repeated request is told once the first succeeded.
	if errors.As(cause, &answer) && answer.StatusCode >= 400 && answer.StatusCode < 500 && answer.Code != "NoSuchUpload" {
		return Info{}, cause
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), commitGrace)
	defer cancel()
	found, err := p.core.StatObject(ctx, p.bucket, p.key, minio.StatObjectOptions{})
	switch {
	case err == nil && found.UserMetadata[putMark] == p.mark:
		return s3Info(found), nil
	case err == nil || minio.ToErrorResponse(err).StatusCode == http.StatusNotFound:
		return Info{}, cause
	default:
		return Info{}, fmt.Errorf("%w (and whether it took effect is unknown)", cause)
	}
}

// abort ends the upload although its caller may be gone.
func (p *put) abort(ctx context.Context, id string) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), commitTimeout)
	defer cancel()
	err := p.core.AbortMultipartUpload(ctx, p.bucket, p.key, id)
	if err != nil && minio.ToErrorResponse(err).Code != "NoSuchUpload" {
		return fmt.Errorf("abort upload (the sweep will): %w", err)
	}
	return nil
}

func (p *put) info(done minio.UploadInfo) Info {
	info := Info{Key: p.key, Size: p.from.total, ETag: done.ETag, ModTime: done.LastModified.UTC()}
	if done.LastModified.IsZero() {
		info.ModTime = time.Now().UTC().Truncate(time.Second)
	}
	return info
}

// commitContext outlives ctx by commitGrace at most, and ends after
// commitTimeout in any case.
func commitContext(ctx context.Context) (context.Context, context.CancelFunc) {
	out, cancel := context.WithTimeout(context.WithoutCancel(ctx), commitTimeout)
	stop := context.AfterFunc(ctx, func() {
		timer := time.AfterFunc(commitGrace, cancel)
		context.AfterFunc(out, func() { timer.Stop() })
	})
	return out, func() {
		stop()
		cancel()
	}
}

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
			if err != nil && minio.ToErrorResponse(err).Code != "NoSuchUpload" {
				return swept, fmt.Errorf("abort unfinished upload: %w", err)
			}
			swept++
		}
		// Markers that do not move would make this endless.
		if !page.IsTruncated || page.NextKeyMarker == keyMarker && page.NextUploadIDMarker == idMarker {
			return swept, nil
		}
		keyMarker, idMarker = page.NextKeyMarker, page.NextUploadIDMarker
	}
}
