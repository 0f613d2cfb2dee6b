package object

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/minio/minio-go/v7"
)

// s3Writer writes one object: what fits one buffer as a single request, anything
// longer as a multipart upload.
type s3Writer struct {
	*S3
	ctx       context.Context
	key, mark string
	size      int64 // announced; -1: not known
	opts      minio.PutObjectOptions

	pool  *bufferPool
	buf   []byte // nil: none is held
	n     int    // bytes of buf that are filled
	total int64
	parts *multipart // nil until more than one buffer was written
	err   error      // of a Write
	ended bool
}

// writeMark is the user metadata that distinguishes one write from another: after a
// commit whose response was lost, it shows whether the object there is this one.
const writeMark = "Put-Id"

// Create waits for a buffer, so that no caller begins to read before there is
// room for what it reads.
func (s *S3) Create(ctx context.Context, key string, size int64, opts WriteOptions) (Writer, error) {
	if err := checkKey(key); err != nil {
		return nil, err
	}
	contentType, err := opts.contentType()
	if err != nil {
		return nil, err
	}
	if size > partSize*maxParts {
		return nil, ErrTooLarge
	}
	pool := s.large
	if size >= 0 && size <= smallSize {
		pool = s.small
	}
	buf, err := pool.get(ctx)
	if err != nil {
		return nil, fmt.Errorf("create object: wait for a buffer: %w", err)
	}
	mark := rand.Text()
	return &s3Writer{
		S3: s, ctx: ctx, key: key, mark: mark, size: max(size, -1), pool: pool, buf: buf,
		opts: minio.PutObjectOptions{
			ContentType:          contentType,
			UserMetadata:         map[string]string{writeMark: mark},
			DisableContentSha256: true,
		},
	}, nil
}

// Write sends a full buffer when more bytes follow it, so that Commit always has
// the last ones.
func (w *s3Writer) Write(p []byte) (int, error) {
	if w.ended {
		return 0, errEnded
	}
	if w.err != nil {
		return 0, w.err
	}
	n, err := w.write(p)
	if err != nil {
		w.err = fmt.Errorf("write object: %w", err)
	}
	return n, w.err
}

func (w *s3Writer) write(p []byte) (int, error) {
	if err := w.ctx.Err(); err != nil {
		return 0, err
	}
	if w.size >= 0 && w.total+int64(len(p)) > w.size {
		return 0, ErrSize
	}
	if w.parts != nil && w.parts.failed() {
		return 0, w.parts.stop(context.Canceled)
	}
	written := 0
	for written < len(p) {
		if w.n == len(w.buf) {
			if err := w.flush(); err != nil {
				return written, err
			}
		}
		n := copy(w.buf[w.n:], p[written:])
		w.n += n
		w.total += int64(n)
		written += n
	}
	return written, nil
}

// flush sends the full buffer as a part and waits for an empty one.
func (w *s3Writer) flush() error {
	if w.parts == nil {
		parts, err := w.begin()
		if err != nil {
			return err
		}
		w.parts = parts
	}
	if len(w.parts.list) == maxParts-1 {
		return ErrTooLarge // the last part is of those bytes that Commit sends
	}
	w.send("")
	buf, err := w.pool.get(w.parts.ctx)
	if err != nil {
		return w.parts.stop(err)
	}
	w.buf = buf
	return nil
}

// send hands the buffer over to a request. sum is the SHA-256 of its bytes in hexadecimal; ""
// has it taken.
func (w *s3Writer) send(sum string) {
	buf, n := w.buf, w.n
	w.buf, w.n = nil, 0
	w.parts.send(buf[:n], sum, func() { w.pool.put(buf) })
}

// Commit sends the only request, or the last part and the request that joins the
// parts.
func (w *s3Writer) Commit() (Info, error) {
	if w.ended {
		return Info{}, errEnded
	}
	info, err := w.commit()
	if err != nil {
		return Info{}, errors.Join(fmt.Errorf("commit object: %w", err), w.Abort())
	}
	w.release()
	info.ContentType = w.opts.ContentType
	return info, nil
}

func (w *s3Writer) commit() (Info, error) {
	switch {
	case w.err != nil:
		return Info{}, w.err
	case w.ctx.Err() != nil:
		return Info{}, w.ctx.Err()
	case w.size >= 0 && w.total != w.size:
		return Info{}, ErrSize
	case w.parts == nil:
		return w.putSingle()
	}
	w.send("")
	complete, err := w.parts.wait()
	if err != nil {
		return Info{}, err
	}
	ctx, cancel := commitContext(w.ctx)
	defer cancel()
	done, err := w.core.CompleteMultipartUpload(ctx, w.bucket, w.key, w.parts.id, complete, w.opts)
	if err != nil {
		return w.confirm(ctx, err)
	}
	w.journal.ended(w.parts.id)
	return w.info(done), nil
}

func (w *s3Writer) putSingle() (Info, error) {
	ctx, cancel := commitContext(w.ctx)
	defer cancel()
	data := w.buf[:w.n]
	content := &body{data: data}
	defer content.detach()
	sum := sha256.Sum256(data)
	done, err := w.core.PutObject(ctx, w.bucket, w.key, content, int64(len(data)), "", hex.EncodeToString(sum[:]), w.opts)
	if err != nil {
		return w.confirm(ctx, err)
	}
	return w.info(done), nil
}

// confirm finds out what became of a commit that failed: the response may have
// been lost after the object became visible.
func (w *s3Writer) confirm(ctx context.Context, cause error) (Info, error) {
	var response minio.ErrorResponse
	// NoSuchUpload is the response to a repeated request when the first succeeded.
	if errors.As(cause, &response) && response.StatusCode >= 400 && response.StatusCode < 500 && response.Code != "NoSuchUpload" {
		return Info{}, cause
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), commitGrace)
	defer cancel()
	found, err := w.core.StatObject(ctx, w.bucket, w.key, minio.StatObjectOptions{})
	switch {
	case err == nil && found.UserMetadata[writeMark] == w.mark:
		return s3Info(found), nil
	case err == nil || minio.ToErrorResponse(err).StatusCode == http.StatusNotFound:
		return Info{}, cause
	default:
		return Info{}, fmt.Errorf("%w (and whether it took effect is unknown)", cause)
	}
}

// Abort waits for the end of the requests under way.
func (w *s3Writer) Abort() error {
	if w.ended {
		return nil
	}
	w.release()
	if w.parts == nil {
		return nil
	}
	return w.parts.abort()
}

// release ends the writer and gives its buffer back.
func (w *s3Writer) release() {
	w.ended = true
	if w.buf != nil {
		w.pool.put(w.buf)
		w.buf = nil
	}
}

func (w *s3Writer) info(done minio.UploadInfo) Info {
	info := Info{Key: w.key, Size: w.total, ETag: done.ETag, ModTime: done.LastModified.UTC()}
	if done.LastModified.IsZero() {
		info.ModTime = time.Now().UTC().Truncate(time.Second)
	}
	return info
}

// commitGrace is how long a commit goes on after its caller gave up: ending it
// sooner would leave its outcome unknown.
const commitGrace = 10 * time.Second

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
