package localservice

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
)

// MinioConfig configures the managed MinIO.
type MinioConfig struct {
	// Region of signatures. Default "us-east-1", which clients assume when none
	// is configured.
	Region string
}

var regionForm = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,62}$`)

// minioUser is the access key; the secret key is generated.
const minioUser = "slipway"

// Minio starts the managed MinIO on the folder's data and returns when it can
// list buckets. It has none at first.
//
// Errors: *MissingError, *StartError.
func (f *Folder) Minio(ctx context.Context, config MinioConfig) (*Server, error) {
	if config.Region == "" {
		config.Region = "us-east-1"
	}
	if !regionForm.MatchString(config.Region) {
		return nil, fmt.Errorf("localservice: Region %q is no region", config.Region)
	}
	ctx, cancel, err := f.beginStart(ctx, "minio")
	if err != nil {
		return nil, err
	}
	defer cancel()
	server, err := f.minio(ctx, config)
	f.finishStart("minio", server)
	return server, err
}

func (f *Folder) minio(ctx context.Context, config MinioConfig) (*Server, error) {
	binary, err := Find(MinIO)
	if err != nil {
		return nil, err
	}
	password, err := f.secret("minio")
	if err != nil {
		return nil, err
	}
	// An empty folder for certificates: with those of the user, in ~/.minio, the
	// server would use TLS.
	data, certificates := filepath.Join(f.dir, "minio"), filepath.Join(f.dir, "minio.certs")
	for _, folder := range []string{data, certificates} {
		if err := os.MkdirAll(folder, 0o700); err != nil {
			return nil, fmt.Errorf("localservice: %w", err)
		}
	}
	return f.serve(ctx, serverSpec{
		command: command{name: "minio", program: binary.Path, folder: data, env: []string{
			"MINIO_ROOT_USER=" + minioUser,
			"MINIO_ROOT_PASSWORD=" + password,
			"MINIO_SITE_REGION=" + config.Region,
			"MINIO_BROWSER=off",
			"MINIO_UPDATE=off", // no requests to the vendor
		}},
		args: func(port int) ([]string, error) {
			// The browser is off; if it were on, it would take any free port.
			return []string{"server", data, "--address", hostPort(port), "--console-address", "127.0.0.1:0",
				"--certs-dir", certificates}, nil
		},
		url: func(port int) url.URL {
			return url.URL{Scheme: "s3", User: url.UserPassword(minioUser, password), Host: hostPort(port),
				RawQuery: url.Values{"region": {config.Region}, "tls": {"0"}}.Encode()}
		},
		ready: minioReady,
	})
}

// minioReady calls MinIO's readiness probe, then lists the buckets without a
// signature: the probe returns 200 from the first moment, while requests get 503
// until store and accounts are loaded, and 403 after.
func minioReady(ctx context.Context, address url.URL) error {
	transport := &http.Transport{DisableKeepAlives: true} // and no proxy
	defer transport.CloseIdleConnections()
	for _, check := range []struct {
		path   string
		status int
	}{
		{"/minio/health/ready", http.StatusOK},
		{"/", http.StatusForbidden},
	} {
		target := url.URL{Scheme: "http", Host: address.Host, Path: check.path}
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, target.String(), nil)
		if err != nil {
			return err
		}
		response, err := transport.RoundTrip(request)
		if err != nil {
			return err
		}
		_, _ = io.Copy(io.Discard, io.LimitReader(response.Body, 4<<10))
		response.Body.Close()
		if response.StatusCode != check.status {
			return fmt.Errorf("GET %s returned %s, not %d", check.path, response.Status, check.status)
		}
	}
	return nil
}
