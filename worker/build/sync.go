package build

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/distribution"
	"github.com/slipway-qa/slipway/storage/object"
	"github.com/slipway-qa/slipway/storage/seal"
	"github.com/slipway-qa/slipway/storage/setting"
	"github.com/slipway-qa/slipway/tasks"
	"github.com/slipway-qa/slipway/tasks/outbound"
	"github.com/slipway-qa/slipway/worker"
)

// Sync is the handler of build:sync: it copies a build's file to the connection
// of its organization, an S3 bucket or an HTTP endpoint. The bytes are
// streamed.
type Sync struct {
	DB      *storage.DB
	Objects object.Store
	Guard   *outbound.Guard
	// Keys are those with which the secrets of connections are sealed.
	Keys seal.Ring
	// Slowest is the least rate of a copy; zero: the default.
	Slowest Rate
}

// SyncResult is the task's result. Target is where the copy is, without anything
// secret; Reason is why there is none.
type SyncResult struct {
	Bytes  int64  `json:"bytes"`
	Target string `json:"target,omitempty"`
	Reason string `json:"reason,omitempty"`
}

// buildCopy is a copy of one build.
type buildCopy struct {
	*Sync
	task   string
	build  *distribution.Build
	conn   *setting.Connection
	secret string
}

// Handle copies the file.
func (s *Sync) Handle(ctx context.Context, claim *worker.Claim) error {
	payload, err := worker.Payload[tasks.BuildPayload](claim.Tasks[0])
	if err != nil {
		return err
	}
	c := buildCopy{Sync: s, task: claim.Tasks[0].ID.String()}
	c.build, err = distribution.BuildByID(ctx, s.DB, claim.OrganizationID(), 0, payload.BuildID)
	if errors.Is(err, storage.ErrNotFound) {
		return claim.Finish(ctx, SyncResult{Reason: reasonDeleted}, nil)
	}
	if err != nil {
		return err
	}
	c.conn, err = setting.ConnectionOf(ctx, s.DB, claim.OrganizationID())
	if errors.Is(err, storage.ErrNotFound) {
		return tasks.Permanent(errors.New("the organization has no connection to an app storage"))
	}
	if err != nil {
		return err
	}
	if len(c.conn.Secret) > 0 {
		if c.secret, err = seal.Unseal(s.Keys, seal.Connection, c.conn.Secret); err != nil {
			return tasks.Permanent(fmt.Errorf("connection: %w", err))
		}
	}
	var target string
	switch c.conn.Kind {
	case "s3":
		target, err = c.toBucket(ctx)
	case "http":
		target, err = c.toEndpoint(ctx)
	default:
		err = tasks.Permanent(fmt.Errorf("connection: kind %q is not known", c.conn.Kind))
	}
	if err != nil {
		return classifyError(err)
	}
	return claim.Finish(ctx, SyncResult{Bytes: c.build.File.Size, Target: target}, nil)
}

// classifyError returns failures as permanent that every attempt would have.
func classifyError(err error) error {
	var forbidden *outbound.ForbiddenError
	switch {
	case errors.As(err, &forbidden):
		return tasks.Permanent(fmt.Errorf("connection: %w", forbidden))
	case errors.Is(err, object.ErrNotFound):
		return tasks.Permanent(errors.New("the build's file is not stored any more"))
	}
	var slow *slowError
	if errors.As(err, &slow) {
		return &tasks.PublicError{Text: slow.Error(), Err: err}
	}
	if text := connectionProblem(err); text != "" {
		return &tasks.PublicError{Text: "the app storage cannot be reached: " + text, Err: err}
	}
	return err
}

// connectionProblem returns in fixed words why there was no connection, "" when
// there was one: who configured the address must be able to correct it, and must
// not learn how an internal address responds.
func connectionProblem(err error) string {
	var name *net.DNSError
	var certificate *tls.CertificateVerificationError
	var record tls.RecordHeaderError
	var op *net.OpError
	var timeout net.Error
	switch {
	case errors.As(err, &name):
		return "its name is not known"
	case errors.As(err, &certificate):
		return "its certificate is not trusted"
	case errors.As(err, &record):
		return "it does not speak TLS"
	case errors.As(err, &timeout) && timeout.Timeout():
		return "it does not answer"
	case errors.As(err, &op):
		return "the connection failed"
	}
	return ""
}

// statusError returns the error for a status of the other side. The body of its
// response is not repeated.
func statusError(who string, status int) error {
	err := fmt.Errorf("%s answered with %d %s", who, status, http.StatusText(status))
	switch {
	case status == http.StatusRequestTimeout, status == http.StatusTooEarly, status == http.StatusTooManyRequests:
		return err
	case status >= 300 && status < 500:
		return tasks.Permanent(err)
	}
	return err
}

// syncBuffers is the number of 8 MiB buffers of one copy to a bucket.
const syncBuffers = 3

// toBucket stores the file as prefix/<build id>/<file name>. Without the id the
// builds of a CI job, whose files have the same name each time, would replace one
// another.
func (c *buildCopy) toBucket(ctx context.Context) (string, error) {
	endpoint, err := url.Parse(c.conn.Endpoint)
	if err != nil || endpoint.Host == "" {
		return "", tasks.Permanent(errors.New("connection: the endpoint is not a URL"))
	}
	if c.conn.Bucket == "" || strings.Contains(c.conn.Bucket, "/") || c.conn.AccessKey == "" || c.secret == "" {
		return "", tasks.Permanent(errors.New("connection: s3 needs a bucket, an access key and a secret"))
	}
	key := strings.Join([]string{strconv.FormatInt(c.build.ID, 10), keyName(c.build.FileName)}, "/")
	if prefix := strings.Trim(c.conn.Prefix, "/"); prefix != "" {
		key = prefix + "/" + key
	}
	if !object.ValidKey(key) {
		return "", tasks.Permanent(errors.New("connection: the prefix must begin with a-z or 0-9 and hold only letters, digits, . - _ and /"))
	}
	query := url.Values{"tls": {"1"}}
	if endpoint.Scheme == "http" {
		query.Set("tls", "0")
	}
	if c.conn.Region != "" {
		query.Set("region", c.conn.Region)
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	meter := c.Slowest.watch(ctx, c.Guard.Client(0).Transport, stop)
	recorder := &errorRecorder{next: meter, stop: stop}
	bucket, err := object.Open(ctx, object.Config{
		URL:       (&url.URL{Scheme: "s3", Host: endpoint.Host, Path: "/" + c.conn.Bucket, RawQuery: query.Encode()}).String(),
		AccessKey: c.conn.AccessKey, SecretKey: c.secret, PartBuffers: syncBuffers, Transport: recorder,
	})
	if err != nil {
		return "", meter.classify(recorder.classify(err))
	}
	defer bucket.Close()
	recorder.writing.Store(true)
	file, _, err := c.Objects.Open(ctx, c.build.File.Key, 0, -1)
	if err != nil {
		return "", err
	}
	defer file.Close()
	_, err = object.Put(ctx, bucket, key, file, c.build.File.Size, object.WriteOptions{ContentType: c.build.File.ContentType})
	if err != nil {
		return "", meter.classify(recorder.classify(err))
	}
	return "s3://" + c.conn.Bucket + "/" + key, nil
}

// errorRecorder records the last refusal of an object service, which the store's
// errors do not distinguish from a temporary failure, and cancels the copy when the
// guard refuses the address, which the store would retry.
type errorRecorder struct {
	next      http.RoundTripper
	stop      context.CancelFunc
	forbidden atomic.Pointer[outbound.ForbiddenError]
	writing   atomic.Bool // then only writing requests count, not those that check them
	status    atomic.Int64
}

// RoundTrip implements http.RoundTripper.
func (w *errorRecorder) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := w.next.RoundTrip(request)
	var forbidden *outbound.ForbiddenError
	if errors.As(err, &forbidden) {
		w.forbidden.Store(forbidden)
		w.stop()
	}
	if w.writing.Load() && request.Method != http.MethodPut && request.Method != http.MethodPost {
		return response, err
	}
	w.status.Store(0)
	if err == nil && response.StatusCode >= 300 {
		w.status.Store(int64(response.StatusCode))
	}
	return response, err
}

func (w *errorRecorder) classify(err error) error {
	if forbidden := w.forbidden.Load(); forbidden != nil {
		return forbidden
	}
	if status := int(w.status.Load()); status != 0 && !errors.Is(err, object.ErrSize) {
		return statusError("the object service", status)
	}
	return fmt.Errorf("copy to the bucket: %w", err)
}

// keyName returns a file name as a segment of an object key.
func keyName(name string) string {
	name = strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '.', r == '-', r == '_':
			return r
		}
		return '_'
	}, name)
	const most = 150
	if len(name) > most {
		name = name[len(name)-most:] // the end has the kind of file
	}
	if name = strings.TrimLeft(name, "."); name == "" {
		return "build"
	}
	return name
}
