package object

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
)

// S3 is a Store in one bucket of MinIO or another service that speaks the S3
// protocol with AWS Signature Version 4.
type S3 struct {
	core      *minio.Core
	public    *minio.Client // signs links: its host is the one browsers reach
	probe     *minio.Client // for checks
	bucket    string
	large     *bufferPool
	small     *bufferPool
	transport *http.Transport // nil: the caller's is used
	journal   uploadJournal
}

var _ Store = (*S3)(nil)

const (
	// partSize is the size of a part and of a pooled buffer. S3 requires at least
	// 5 MiB; 8 MiB times 10,000 parts hold 78 GiB.
	partSize = 8 << 20
	maxParts = 10_000
	// defaultParts buffers are 320 MiB at most: one for each of the senders that one
	// process admits at once (22 uploads, 12 attachments, 5 symbol files), and one more, so
	// that one of them can always go on. Eight uploads at once keep two requests busy
	// each, and add less than 256 MiB in all.
	defaultParts = 40
	// partsInFlight bounds the requests of one upload: more gains nothing against
	// MinIO on the same machine, and takes buffers from other uploads.
	partsInFlight = 4
	// smallSize bounds the objects of known size (screenshots, attachments) that
	// have a pool of their own, 16 MiB in all, so that slow uploads do not delay
	// them.
	smallSize    = 1 << 20
	smallBuffers = 16
	// maxRetries of one request, with up to 1 s in between: enough for a
	// service that restarts, short enough for a request that someone awaits.
	maxRetries = 5
)

// s3Opener makes the client once; opening checks the bucket, and creates it where
// cfg says so.
func s3Opener(cfg Config, t s3Target) (opener, error) {
	s, err := prepareS3(cfg, t)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context) (Store, error) {
		if err := s.ensureBucket(ctx, cfg.CreateBucket, t.region); err != nil {
			return nil, errors.Join(err, s.Close())
		}
		// What cannot be aborted now is left to the sweep.
		_ = s.abortNoted(ctx)
		return s, nil
	}, nil
}

// prepareS3 sends no request.
func prepareS3(cfg Config, t s3Target) (*S3, error) {
	buffers := cfg.PartBuffers
	if buffers == 0 {
		buffers = defaultParts
	}
	if buffers < 2 {
		return nil, errors.New("object store: at least 2 part buffers are needed")
	}
	var managed *http.Transport
	transport := cfg.Transport
	if transport == nil {
		var err error
		if managed, err = minio.DefaultTransport(t.tls); err != nil {
			return nil, fmt.Errorf("object store: %w", err)
		}
		managed.MaxIdleConnsPerHost = buffers + smallBuffers
		transport = managed
	}
	opts := &minio.Options{
		Creds:      credentials.NewStaticV4(t.access, t.secret, ""),
		Secure:     t.tls,
		Transport:  transport,
		Region:     t.region, // set, so that signing a link sends no request
		MaxRetries: maxRetries,
	}
	if t.pathStyle != nil {
		opts.BucketLookup = minio.BucketLookupDNS
		if *t.pathStyle {
			opts.BucketLookup = minio.BucketLookupPath
		}
	}
	core, err := minio.NewCore(t.host, opts)
	if err != nil {
		return nil, errors.New("object store: the host of the s3 URL is not a host or host:port")
	}
	s := &S3{
		core: core, public: core.Client, bucket: t.bucket, transport: managed, journal: uploadJournal(cfg.Journal),
		large: newBufferPool(partSize, buffers),
		small: newBufferPool(smallSize, smallBuffers),
	}
	if t.public != nil {
		publicOpts := *opts
		publicOpts.Secure = t.public.Scheme == "https"
		publicOpts.Transport = nil // it only signs
		if s.public, err = minio.New(t.public.Host, &publicOpts); err != nil {
			return nil, errors.New("object store: the public URL's host is not a host or host:port")
		}
	}
	// A check is asked again soon: it returns the first reason and does not retry.
	once := *opts
	once.MaxRetries = 1
	if s.probe, err = minio.New(t.host, &once); err != nil {
		return nil, errors.New("object store: the host of the s3 URL is not a host or host:port")
	}
	return s, nil
}

func (s *S3) ensureBucket(ctx context.Context, create bool, region string) error {
	err := s.Check(ctx)
	if !create || !errors.Is(err, errNoBucket) {
		return err
	}
	err = s.core.MakeBucket(ctx, s.bucket, minio.MakeBucketOptions{Region: region})
	// Another process may have been quicker.
	if err != nil && minio.ToErrorResponse(err).Code != "BucketAlreadyOwnedByYou" {
		return fmt.Errorf("create bucket: %w", err)
	}
	return nil
}

var errNoBucket = errors.New("the bucket does not exist")

// Check looks whether the bucket is there.
func (s *S3) Check(ctx context.Context) error {
	found, err := s.probe.BucketExists(ctx, s.bucket)
	if err != nil {
		return fmt.Errorf("reach bucket: %w", err)
	}
	if !found {
		return errNoBucket
	}
	return nil
}

// Close drops idle connections, unless the transport is the caller's.
func (s *S3) Close() error {
	if s.transport != nil {
		s.transport.CloseIdleConnections()
	}
	return nil
}

// Stat reads the object's headers.
func (s *S3) Stat(ctx context.Context, key string) (Info, error) {
	if err := checkKey(key); err != nil {
		return Info{}, err
	}
	found, err := s.core.StatObject(ctx, s.bucket, key, minio.StatObjectOptions{})
	if err != nil {
		return Info{}, s3Error("stat object", err)
	}
	return s3Info(found), nil
}

// Open sends one ranged GET; ctx governs the reading too.
func (s *S3) Open(ctx context.Context, key string, offset, length int64) (io.ReadCloser, Info, error) {
	if err := checkKey(key); err != nil {
		return nil, Info{}, err
	}
	if offset < 0 || length < -1 {
		return nil, Info{}, ErrRange
	}
	if length == 0 {
		return s.openEmpty(ctx, key, offset)
	}
	var opts minio.GetObjectOptions
	if offset > 0 || length > 0 {
		value := fmt.Sprintf("bytes=%d-", offset)
		if end := offset + length - 1; length > 0 && end >= offset { // else it overflows: to the end
			value += strconv.FormatInt(end, 10)
		}
		opts.Set("Range", value)
	}
	content, found, header, err := s.core.GetObject(ctx, s.bucket, key, opts)
	if minio.ToErrorResponse(err).StatusCode == http.StatusRequestedRangeNotSatisfiable {
		return s.openEmpty(ctx, key, offset)
	}
	if err != nil {
		return nil, Info{}, s3Error("read object", err)
	}
	info := s3Info(found)
	// For a range, Content-Length is the range's: the whole follows the slash.
	if _, total, ok := strings.Cut(header.Get("Content-Range"), "/"); ok {
		if info.Size, err = strconv.ParseInt(total, 10, 64); err != nil {
			content.Close()
			return nil, Info{}, errors.New("read object: the response to a range lacks its total")
		}
	}
	info.Key = key
	return content, info, nil
}

// openEmpty serves the ranges that HTTP cannot express.
func (s *S3) openEmpty(ctx context.Context, key string, offset int64) (io.ReadCloser, Info, error) {
	info, err := s.Stat(ctx, key)
	if err != nil {
		return nil, Info{}, err
	}
	if offset > info.Size {
		return nil, Info{}, ErrRange
	}
	return http.NoBody, info, nil
}

// Delete removes one object by one request, more by requests of 1,000 each.
func (s *S3) Delete(ctx context.Context, keys ...string) error {
	for _, key := range keys {
		if err := checkKey(key); err != nil {
			return err
		}
	}
	switch len(keys) {
	case 0:
		return nil
	case 1:
		err := s.core.RemoveObject(ctx, s.bucket, keys[0], minio.RemoveObjectOptions{})
		return ignoreMissing(s3Error("delete object", err))
	}
	results, err := s.core.RemoveObjectsWithIter(ctx, s.bucket, objectsOf(keys), minio.RemoveObjectsOptions{})
	if err != nil {
		return s3Error("delete objects", err)
	}
	var failed []error
	for result := range results {
		if err := ignoreMissing(s3Error("delete object", result.Err)); err != nil {
			failed = append(failed, err)
		}
	}
	return errors.Join(failed...)
}

func objectsOf(keys []string) iter.Seq[minio.ObjectInfo] {
	return func(yield func(minio.ObjectInfo) bool) {
		for _, key := range keys {
			if !yield(minio.ObjectInfo{Key: key}) {
				return
			}
		}
	}
}

// List sends one request for each thousand objects.
func (s *S3) List(ctx context.Context, prefix, after string, limit int) ([]Info, error) {
	limit, err := checkList(prefix, after, limit)
	if err != nil {
		return nil, err
	}
	var page []Info
	opts := minio.ListObjectsOptions{Prefix: prefix, StartAfter: after, Recursive: true, MaxKeys: limit}
	for found := range s.core.ListObjectsIter(ctx, s.bucket, opts) {
		if found.Err != nil {
			return nil, s3Error("list objects", found.Err)
		}
		page = append(page, s3Info(found))
		if len(page) == limit {
			break
		}
	}
	// A cancelled listing ends like a complete one.
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("list objects: %w", err)
	}
	return page, nil
}

// checkList validates what both kinds of List take.
func checkList(prefix, after string, limit int) (int, error) {
	if !validPrefix(prefix) || after != "" && !ValidKey(after) {
		return 0, ErrInvalidKey
	}
	if limit < 1 {
		return 0, errors.New("list objects: limit below 1")
	}
	return min(limit, MaxList), nil
}

// SignGet presigns, without a request to the service.
func (s *S3) SignGet(ctx context.Context, key string, ttl time.Duration, opts SignOptions) (string, error) {
	if err := errors.Join(checkKey(key), checkTTL(ttl)); err != nil {
		return "", err
	}
	typeHeader, disposition := contentHeaders(opts, opts.ContentType)
	query := url.Values{"response-content-disposition": {disposition}}
	if opts.ContentType != "" {
		query.Set("response-content-type", typeHeader)
	}
	link, err := s.public.PresignedGetObject(ctx, s.bucket, key, ttl, query)
	if err != nil {
		return "", s3Error("sign link", err)
	}
	return link.String(), nil
}

func s3Info(found minio.ObjectInfo) Info {
	return Info{
		Key: found.Key, Size: found.Size, ContentType: found.ContentType,
		ETag: strings.Trim(found.ETag, `"`), ModTime: found.LastModified.UTC(),
	}
}

// s3Error adds what was tried, and returns ErrNotFound for a missing object.
func s3Error(what string, err error) error {
	if err == nil {
		return nil
	}
	if minio.ToErrorResponse(err).Code == "NoSuchKey" {
		return fmt.Errorf("%s: %w", what, ErrNotFound)
	}
	return fmt.Errorf("%s: %w", what, err)
}

func ignoreMissing(err error) error {
	if errors.Is(err, ErrNotFound) {
		return nil
	}
	return err
}
