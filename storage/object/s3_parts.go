package object

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/minio/minio-go/v7"
)

// A part of the caller is some parts of the S3 protocol, of partSize each, which are sent
// while it arrives: number n begins behind those of the n-1 parts before. Its tag is their
// ETags, by which S3 itself refuses to complete an object of other bytes.

// BeginParts begins a multipart upload.
func (s *S3) BeginParts(ctx context.Context, key string, opts WriteOptions) (string, error) {
	if err := checkKey(key); err != nil {
		return "", err
	}
	contentType, err := opts.contentType()
	if err != nil {
		return "", err
	}
	// Not interrupted: an upload whose id never arrived could not be aborted.
	ctx, end := commitContext(ctx)
	defer end()
	id, err := s.core.NewMultipartUpload(ctx, s.bucket, key, minio.PutObjectOptions{ContentType: contentType})
	if err != nil {
		return "", fmt.Errorf("begin the parts of an object: %w", err)
	}
	return id, nil
}

// s3PartWriter writes the requests of one part. It holds a buffer, as other writers do.
type s3PartWriter struct{ *s3Writer }

// WritePart waits for a buffer.
func (s *S3) WritePart(ctx context.Context, m Multipart, number int) (PartWriter, error) {
	if err := m.checkPart(number); err != nil {
		return nil, err
	}
	size := m.Length(number)
	pool := s.large
	if size <= smallSize {
		pool = s.small
	}
	buf, err := pool.get(ctx)
	if err != nil {
		return nil, fmt.Errorf("write a part: wait for a buffer: %w", err)
	}
	w := &s3Writer{S3: s, ctx: ctx, key: m.Key, size: size, pool: pool, buf: buf}
	w.parts = w.multipart(m.ID, int(m.Offset(number)/partSize))
	return s3PartWriter{w}, nil
}

func (w s3PartWriter) Write(p []byte) (int, error) {
	n, err := w.s3Writer.Write(p)
	return n, missingUpload(err)
}

// Commit waits until S3 has all of the part.
func (w s3PartWriter) Commit(own *Sum) (string, error) {
	switch {
	case w.ended:
		return "", errEnded
	case w.err != nil:
		return "", missingUpload(w.err)
	case w.total != w.size:
		return "", ErrSize
	}
	sum := ""
	if own != nil && own.N() == int64(w.n) { // all of the part is in this request
		sum = own.Hex()
	}
	w.send(sum)
	sent, err := w.parts.wait()
	if err != nil {
		return "", missingUpload(fmt.Errorf("write a part: %w", err))
	}
	tags := make([]string, len(sent))
	for i, one := range sent {
		tags[i] = strings.Trim(one.ETag, `"`)
	}
	return strings.Join(tags, tagSeparator), nil
}

// Close ends the requests under way.
func (w s3PartWriter) Close() error {
	if w.ended {
		return nil
	}
	w.release()
	_ = w.parts.stop(nil)
	return nil
}

const tagSeparator = ","

// missingUpload makes the error of an upload that is gone ErrNotFound.
func missingUpload(err error) error {
	var response minio.ErrorResponse
	if errors.As(err, &response) && response.Code == "NoSuchUpload" {
		return fmt.Errorf("%w: %w", ErrNotFound, err)
	}
	return err
}

// CompleteParts has S3 join the parts, and reads what is behind the bytes of the sum.
func (s *S3) CompleteParts(ctx context.Context, m Multipart, parts []Part, sum *Sum) (Info, error) {
	if err := m.check(); err != nil {
		return Info{}, err
	}
	info, err := s.joinParts(ctx, &m, parts)
	if err != nil {
		return Info{}, err
	}
	return info, sum.finish(ctx, s, &m)
}

func (s *S3) joinParts(ctx context.Context, m *Multipart, parts []Part) (Info, error) {
	var all []minio.CompletePart
	for _, p := range parts {
		for i, tag := range strings.Split(p.Tag, tagSeparator) {
			all = append(all, minio.CompletePart{PartNumber: int(m.Offset(p.Number)/partSize) + i + 1, ETag: tag})
		}
	}
	for tries := 0; ; tries++ {
		err := s.joinOnce(ctx, m, all)
		if err == nil {
			return s.Stat(ctx, m.Key)
		}
		info, err := s.explainParts(ctx, m, parts, err)
		// A part that another writer was just replacing looks lost for a moment.
		if errors.Is(err, errNoneLost) && tries < joinTries {
			continue
		}
		return info, err
	}
}

// joinTries bounds how often parts are joined again that S3 has after all.
const joinTries = 3

// errNoneLost: S3 did not join the parts, and has all of them.
var errNoneLost = errors.New("the parts were not joined, and none is lost")

func (s *S3) joinOnce(ctx context.Context, m *Multipart, all []minio.CompletePart) error {
	ctx, end := commitContext(ctx)
	defer end()
	_, err := s.core.CompleteMultipartUpload(ctx, s.bucket, m.Key, m.ID, all, minio.PutObjectOptions{})
	return err
}

// explainParts finds out why parts were not joined: somebody did before, or S3 does not have
// them.
func (s *S3) explainParts(ctx context.Context, m *Multipart, parts []Part, cause error) (Info, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), commitGrace)
	defer cancel()
	info, err := s.Stat(ctx, m.Key)
	switch {
	case err == nil && info.Size == m.Size:
		return info, nil // keys are never used twice
	case err != nil && !errors.Is(err, ErrNotFound):
		return Info{}, fmt.Errorf("complete the parts of an object: %w (%v)", cause, err) //nolint:errorlint // the second is only said
	}
	response := minio.ToErrorResponse(cause)
	switch {
	case response.Code == "NoSuchUpload":
		return Info{}, m.allLost()
	case response.Code == "InvalidPart" || response.Code == "InvalidPartOrder" || response.StatusCode == http.StatusBadRequest:
		lost, err := s.lostParts(ctx, m, parts)
		if noSuchUpload(err) {
			return Info{}, fmt.Errorf("complete the parts of an object: %w: %w", errNoneLost, cause) // joined just now
		}
		if err != nil {
			return Info{}, fmt.Errorf("list the parts of an object: %w", err)
		}
		if len(lost) > 0 {
			return Info{}, &LostPartsError{Numbers: lost}
		}
		return Info{}, fmt.Errorf("complete the parts of an object: %w: %w", errNoneLost, cause)
	}
	return Info{}, fmt.Errorf("complete the parts of an object: %w", cause)
}

// lostParts compares the recorded parts with those that S3 has.
func (s *S3) lostParts(ctx context.Context, m *Multipart, parts []Part) (lost []int, err error) {
	have := map[int]string{}
	for marker := 0; ; {
		page, err := s.core.ListObjectParts(ctx, s.bucket, m.Key, m.ID, marker, MaxList)
		if err != nil {
			return nil, err
		}
		for _, p := range page.ObjectParts {
			have[p.PartNumber] = strings.Trim(p.ETag, `"`)
		}
		if !page.IsTruncated || page.NextPartNumberMarker <= marker {
			break
		}
		marker = page.NextPartNumberMarker
	}
	for _, p := range parts {
		for i, tag := range strings.Split(p.Tag, tagSeparator) {
			if have[int(m.Offset(p.Number)/partSize)+i+1] != tag {
				lost = append(lost, p.Number)
				break
			}
		}
	}
	return lost, nil
}

// AbortParts ends the multipart upload; one that is gone is no error.
func (s *S3) AbortParts(ctx context.Context, m Multipart) error {
	if err := checkKey(m.Key); err != nil {
		return err
	}
	err := s.core.AbortMultipartUpload(ctx, s.bucket, m.Key, m.ID)
	if err != nil && !noSuchUpload(err) {
		return fmt.Errorf("abort the parts of an object (the sweep will): %w", err)
	}
	return nil
}
