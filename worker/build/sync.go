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
	"github.com/slipway-qa/slipway/tasks"
	"github.com/slipway-qa/slipway/tasks/outbound"
	"github.com/slipway-qa/slipway/worker"
)

// Sync is the handler of build:sync: it copies a build's file to the connection
// of its organization, an S3 bucket or an HTTP endpoint. The bytes go through;
// they are never held.
type Sync struct {
	DB      *storage.DB
	Objects object.Store
	Guard   *outbound.Guard
	// Key is what the secrets of connections are sealed with.
	Key []byte
}

// SyncResult is the task's result. Target is where the copy is, without anything
// secret; Reason says why there is none.
type SyncResult struct {
	Bytes  int64  `json:"bytes"`
	Target string `json:"target,omitempty"`
	Reason string `json:"reason,omitempty"`
}

// copying is one copy under way.
type copying struct {
	*Sync
	task   string
	build  *distribution.Build
	conn   *distribution.Connection
	secret string
}

// Handle copies the file.
func (s *Sync) Handle(ctx context.Context, claim *worker.Claim) error {
	payload, err := worker.Payload[tasks.BuildPayload](claim.Tasks[0])
	if err != nil {
		return err
	}
	c := copying{Sync: s, task: claim.Tasks[0].ID.String()}
	c.build, err = distribution.BuildByID(ctx, s.DB, claim.OrganizationID(), 0, payload.BuildID)
	if errors.Is(err, storage.ErrNotFound) {
		return claim.Finish(ctx, SyncResult{Reason: gone}, nil)
	}
	if err != nil {
		return err
	}
	c.conn, err = distribution.ConnectionOf(ctx, s.DB, claim.OrganizationID())
	if errors.Is(err, storage.ErrNotFound) {
		return tasks.Permanent(errors.New("the organization has no connection to an app storage"))
	}
	if err != nil {
		return err
	}
	if len(c.conn.Secret) > 0 {
		if c.secret, err = seal.Unseal(s.Key, seal.Connection, c.conn.Secret); err != nil {
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
		return explain(err)
	}
	return claim.Finish(ctx, SyncResult{Bytes: c.build.File.Size, Target: target}, nil)
}

// explain makes those failures permanent that another attempt would meet again.
func explain(err error) error {
	var forbidden *outbound.ForbiddenError
	switch {
	case errors.As(err, &forbidden):
		return tasks.Permanent(fmt.Errorf("connection: %w", forbidden))
	case errors.Is(err, object.ErrNotFound):
		return tasks.Permanent(errors.New("the build's file is not stored any more"))
	}
	if text := unreachable(err); text != "" {
		return &tasks.PublicError{Text: "the app storage cannot be reached: " + text, Err: err}
	}
	return err
}

// unreachable says in fixed words why there was no connection: the one who gave
// the address must be able to mend it, and must not read there what an address
// inside answers.
func unreachable(err error) string {
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

// answered is the failure that a status of the other side stands for. What it
// wrote beside it is not repeated.
func answered(who string, status int) error {
	err := fmt.Errorf("%s answered with %d %s", who, status, http.StatusText(status))
	switch {
	case status == http.StatusRequestTimeout, status == http.StatusTooEarly, status == http.StatusTooManyRequests:
		return err
	case status >= 300 && status < 500:
		return tasks.Permanent(err)
	}
	return err
}

// syncBuffers of 8 MiB are what one copy to a bucket holds.
const syncBuffers = 3

// toBucket puts the file at prefix/<build id>/<file name>. Without the id the
// builds of a claim, which give their files the same name each time, would replace
// one another.
func (c *copying) toBucket(ctx context.Context) (string, error) {
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
	seen := &witness{next: c.Guard.Client(0).Transport, stop: stop}
	bucket, err := object.Open(ctx, object.Config{
		URL:       (&url.URL{Scheme: "s3", Host: endpoint.Host, Path: "/" + c.conn.Bucket, RawQuery: query.Encode()}).String(),
		AccessKey: c.conn.AccessKey, SecretKey: c.secret, PartBuffers: syncBuffers, Transport: seen,
	})
	if err != nil {
		return "", seen.explain(err)
	}
	defer bucket.Close()
	seen.writing.Store(true)
	file, _, err := c.Objects.Open(ctx, c.build.File.Key, 0, -1)
	if err != nil {
		return "", err
	}
	defer file.Close()
	_, err = bucket.Put(ctx, key, file, c.build.File.Size, object.PutOptions{ContentType: c.build.File.ContentType})
	if err != nil {
		return "", seen.explain(err)
	}
	return "s3://" + c.conn.Bucket + "/" + key, nil
}

// witness notes the last refusal of an object service, which the store's errors
// do not tell apart from what passes, and ends the copy when the guard refuses
// the address, which the store would try again.
type witness struct {
	next      http.RoundTripper
	stop      context.CancelFunc
	forbidden atomic.Pointer[outbound.ForbiddenError]
	writing   atomic.Bool // then only what writes counts, not the looks after it
	status    atomic.Int64
}

// RoundTrip implements http.RoundTripper.
func (w *witness) RoundTrip(request *http.Request) (*http.Response, error) {
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

func (w *witness) explain(err error) error {
	if forbidden := w.forbidden.Load(); forbidden != nil {
		return forbidden
	}
	if status := int(w.status.Load()); status != 0 && !errors.Is(err, object.ErrSize) {
		return answered("the object service", status)
	}
	return fmt.Errorf("copy to the bucket: %w", err)
}

// keyName makes a segment of an object key out of a file name.
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
		name = name[len(name)-most:] // the end says what kind of file it is
	}
	if name = strings.TrimLeft(name, "."); name == "" {
		return "build"
	}
	return name
}
