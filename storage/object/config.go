package object

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"time"
)

// Config describes where objects are stored. It holds secrets: its String and
// LogValue show none.
type Config struct {
	// URL chooses the store:
	//
	//	s3://ACCESS:SECRET@host:port/bucket?region=us-east-1&tls=1&path_style=1
	//	file:///path, or a plain path
	//
	// ACCESS and SECRET are percent-encoded and may be left out when AccessKey
	// and SecretKey are set. region defaults to us-east-1, tls to 1; path_style
	// defaults to what the host's service is known to need.
	URL string

	// AccessKey and SecretKey override those of an s3 URL.
	AccessKey, SecretKey string

	// CreateBucket lets Open create a missing bucket (s3 only).
	CreateBucket bool

	// PublicURL is the address that browsers reach. For a folder: the base
	// under which the api mounts ServeSigned at /objects/. For s3: scheme, host
	// and port of the object service as browsers see it, when that differs from
	// the URL's; the proxy in between must pass the Host header on unchanged.
	PublicURL string

	// SigningKey signs the links of a folder: 32 bytes or more, the same in
	// every process that serves them, and after a restart.
	SigningKey []byte

	// OldSigningKeys have signed links that are still valid; they sign none.
	OldSigningKeys []string

	// PartBuffers is the number of 8 MiB buffers that all uploads of unknown
	// size or above 1 MiB share (s3 only): 40 by default, which is 320 MiB
	// while all are in use.
	// Fewer save memory and make concurrent uploads wait; 2 at least.
	PartBuffers int

	// Journal is a folder in which a process notes its multipart uploads (s3 only): the
	// next one that opens the store with it aborts those that were not ended. It must be
	// no other living process's. "": they are left to Sweep, after a day.
	Journal string

	// Transport, if set, carries the requests to an s3 service: for an address that
	// somebody else chose, the guard of tasks/outbound; for a test, one that counts.
	Transport http.RoundTripper

	// Now is the clock of a folder's links; time.Now by default.
	Now func() time.Time
}

// folderPrefix begins what String shows of a folder.
const folderPrefix = "folder "

// String shows the kind of store and no secret.
func (c Config) String() string {
	u, err := url.Parse(c.URL)
	switch {
	case err != nil:
		return "object store (unreadable URL)"
	case u.Scheme == "s3":
		return "s3://" + u.Host + u.Path
	case u.Scheme == "file":
		return folderPrefix + u.Path
	case plainPath(c.URL):
		return folderPrefix + c.URL
	default:
		return "object store (unknown kind of URL)"
	}
}

// GoString shows what String shows, for %#v.
func (c Config) GoString() string { return c.String() }

// LogValue shows what String shows.
func (c Config) LogValue() slog.Value { return slog.StringValue(c.String()) }

// Open opens the store that cfg describes: for a folder it creates the folder and
// removes temporary files of writers that crashed; for S3 it checks that the
// bucket exists. It fails while the store cannot serve; Connect does not.
func Open(ctx context.Context, cfg Config) (Store, error) {
	open, err := cfg.opener()
	if err != nil {
		return nil, err
	}
	store, err := open(ctx)
	if err != nil {
		return nil, fmt.Errorf("object store: %w", err)
	}
	if err := store.Check(ctx); err != nil {
		_ = store.Close()
		return nil, fmt.Errorf("object store: %w", err)
	}
	return store, nil
}

// opener opens a store of a configuration in which nothing is wrong. It can be
// called again after an error.
type opener func(context.Context) (Store, error)

// opener returns an error for a configuration with which no store would ever open,
// and reaches nothing.
func (c Config) opener() (opener, error) {
	if c.Now == nil {
		c.Now = time.Now
	}
	scheme, rest, found := strings.Cut(c.URL, "://")
	switch {
	case c.URL == "":
		return nil, errors.New("object store: no URL")
	case !found && plainPath(c.URL):
		return folderOpener(c, c.URL)
	case scheme == "file":
		// file://name/path would mean a host, which nobody intends.
		path, err := url.PathUnescape(rest)
		if err != nil || !filepath.IsAbs(path) {
			return nil, errors.New("object store: a file URL is file:/// and an absolute path")
		}
		return folderOpener(c, path)
	case scheme == "s3":
		target, err := parseS3(c)
		if err != nil {
			return nil, fmt.Errorf("object store: %w", err)
		}
		return s3Opener(c, target)
	default:
		return nil, errors.New("object store: the URL must begin with s3:// or file:///, or be a path")
	}
}

// stored returns no Store at all beside an error: a nil pointer inside the
// interface would look like a store to whoever closes it.
func stored[T Store](store T, err error) (Store, error) {
	if err != nil {
		return nil, err
	}
	return store, nil
}

// plainPath refuses what may be a mistyped URL: its secret would become the
// name of a folder.
func plainPath(s string) bool {
	return s != "" && !strings.ContainsAny(s, ":@?")
}

// s3Target is a parsed s3 URL.
type s3Target struct {
	host, bucket, region string
	access, secret       string
	tls                  bool
	pathStyle            *bool // nil: chosen by the host
	public               *url.URL
}

// parseS3 never wraps the error of url.Parse: its text repeats the URL, and
// with it the credentials.
func parseS3(cfg Config) (s3Target, error) {
	u, err := url.Parse(cfg.URL)
	if err != nil {
		return s3Target{}, errors.New("malformed s3 URL (is a special character of the secret not percent-encoded?)")
	}
	t := s3Target{host: u.Host, bucket: strings.Trim(u.Path, "/"), region: "us-east-1", tls: true}
	if t.host == "" || t.bucket == "" || strings.Contains(t.bucket, "/") {
		return s3Target{}, errors.New("an s3 URL needs a host and one bucket: s3://host:port/bucket")
	}
	t.access = u.User.Username()
	t.secret, _ = u.User.Password()
	if cfg.AccessKey != "" {
		t.access = cfg.AccessKey
	}
	if cfg.SecretKey != "" {
		t.secret = cfg.SecretKey
	}
	if t.access == "" || t.secret == "" {
		return s3Target{}, errors.New("no access key or no secret key for s3")
	}
	query, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return s3Target{}, errors.New("malformed query of the s3 URL")
	}
	for name, values := range query {
		value := values[len(values)-1]
		switch name {
		case "region":
			t.region = value
		case "tls", "path_style":
			if value != "0" && value != "1" {
				return s3Target{}, fmt.Errorf("s3 URL: %s must be 0 or 1", name)
			}
			on := value == "1"
			if name == "tls" {
				t.tls = on
			} else {
				t.pathStyle = &on
			}
		default:
			return s3Target{}, errors.New("s3 URL: only region, tls and path_style are known parameters")
		}
	}
	if cfg.PublicURL != "" {
		if t.public, err = parseBase(cfg.PublicURL); err != nil {
			return s3Target{}, err
		}
		if t.public.Path != "" {
			return s3Target{}, errors.New("the public URL of s3 must not have a path: the signature covers it")
		}
	}
	return t, nil
}

// LinkOrigins are the origins that signed links lead to, such as https://objects.example.com:
// the store's host, and the bucket's below it, which of the two S3 chooses by the host. None
// for a folder, whose links lead to the base address of PublicURL.
func (c Config) LinkOrigins() ([]string, error) {
	if !strings.HasPrefix(c.URL, "s3:") {
		return nil, nil
	}
	t, err := parseS3(c)
	if err != nil {
		return nil, err
	}
	scheme, host := "http", t.host
	if t.tls {
		scheme = "https"
	}
	if t.public != nil {
		scheme, host = t.public.Scheme, t.public.Host
	}
	return []string{scheme + "://" + host, scheme + "://" + t.bucket + "." + host}, nil
}

// parseBase reads an http or https URL to which paths are appended.
func parseBase(raw string) (*url.URL, error) {
	u, err := url.Parse(raw)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" ||
		u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return nil, errors.New("the public URL of objects must be http(s)://host without user, query or fragment")
	}
	u.Path, u.RawPath = strings.TrimRight(u.Path, "/"), ""
	return u, nil
}
