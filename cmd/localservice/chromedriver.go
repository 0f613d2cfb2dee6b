package localservice

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
)

// ChromedriverConfig configures the managed chromedriver.
type ChromedriverConfig struct {
	// Verbose logs all commands with their text, passwords included: for
	// finding faults only.
	Verbose bool
}

// Chromedriver starts the managed chromedriver and returns when it is ready to
// open sessions. Its URL is http://127.0.0.1:PORT/SECRET.
//
// chromedriver has no passwords: whoever reaches it can start programs as this
// user. It listens on loopback addresses only and accepts requests below a
// secret path only, which web pages opened on this machine do not know. Other
// users of the machine can read the path from the process's arguments: do not
// run it on a machine that you share with people whom you do not trust.
//
// HOME, TMPDIR and the profiles of all browsers are in one folder of the data
// folder. A browser survives a chromedriver that is killed. So at Open, and
// before the start and after the end of chromedriver, every browser with a
// profile in that folder is ended and the folder removed.
//
// Errors: *MissingError (of chromedriver or the browser), *StartError.
func (f *Folder) Chromedriver(ctx context.Context, config ChromedriverConfig) (*Server, error) {
	ctx, cancel, err := f.beginStart(ctx, "chromedriver")
	if err != nil {
		return nil, err
	}
	defer cancel()
	server, err := f.chromedriver(ctx, config)
	f.finishStart("chromedriver", server)
	return server, err
}

func (f *Folder) chromedriver(ctx context.Context, config ChromedriverConfig) (*Server, error) {
	binary, err := Find(Chromedriver)
	if err != nil {
		return nil, err
	}
	if _, err := Find(Chromium); err != nil {
		return nil, err
	}
	secret, err := f.secret("chromedriver")
	if err != nil {
		return nil, err
	}
	if err := f.sweepBrowsers(); err != nil {
		return nil, err
	}
	home, err := f.makeBrowserHome()
	if err != nil {
		return nil, err
	}
	level := "--log-level=SEVERE"
	if config.Verbose {
		level = "--log-level=ALL"
	}
	return f.serve(ctx, serverSpec{
		command: command{name: "chromedriver", program: binary.Path, folder: home, env: []string{
			"HOME=" + home, "TMPDIR=" + home,
			"XDG_CONFIG_HOME=" + filepath.Join(home, "config"),
			"XDG_CACHE_HOME=" + filepath.Join(home, "cache"),
			"XDG_DATA_HOME=" + filepath.Join(home, "data"),
		}},
		args: func(port int) ([]string, error) {
			return []string{fmt.Sprintf("--port=%d", port), "--url-base=/" + secret, level}, nil
		},
		url: func(port int) url.URL {
			return url.URL{Scheme: "http", Host: hostPort(port), Path: "/" + secret}
		},
		ready:   chromedriverReady,
		cleanup: func() { _ = f.sweepBrowsers() },
	})
}

// chromedriverReady requests the status below the secret path, so that another
// program on the port does not count as ready.
func chromedriverReady(ctx context.Context, address url.URL) error {
	transport := &http.Transport{DisableKeepAlives: true} // and no proxy
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address.String()+"/status", nil)
	if err != nil {
		return err
	}
	response, err := transport.RoundTrip(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, smallFileLimit))
	if err != nil {
		return err
	}
	var answer struct {
		Value struct {
			Ready bool `json:"ready"`
		} `json:"value"`
	}
	if err := json.Unmarshal(body, &answer); err != nil || !answer.Value.Ready {
		return fmt.Errorf("GET /status returned %s, not ready", response.Status)
	}
	return nil
}

// browserHomeLimit bounds the path of the browsers' folder, in bytes: each
// browser creates the socket org.chromium.Chromium.scoped_dir.XXXXXX/SingletonSocket
// (55 bytes) in it, and the path of a socket has at most 103 bytes on macOS, 107
// on Linux.
const browserHomeLimit = 103 - 56

// browserHome returns the folder of the browsers. It is in the data folder; where
// that path is too long for the sockets of browsers, it is a temporary folder
// named by a hash of the data folder's path.
func (f *Folder) browserHome() string {
	home := filepath.Join(f.dir, "browser")
	if len(home) <= browserHomeLimit {
		return home
	}
	name := fmt.Sprintf("slipway-%d-%s", os.Getuid(), hashName(f.dir))
	if home = filepath.Join(os.TempDir(), name); len(home) <= browserHomeLimit {
		return home
	}
	return filepath.Join("/tmp", name)
}

// makeBrowserHome creates the folder. It refuses one that belongs to another
// user, who could read the profiles.
func (f *Folder) makeBrowserHome() (string, error) {
	home := f.browserHome()
	if err := os.Mkdir(home, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
		return "", fmt.Errorf("localservice: %w", err)
	}
	info, err := os.Lstat(home)
	if err != nil {
		return "", fmt.Errorf("localservice: %w", err)
	}
	if uid, _, ok := ownerOf(info); !ok || uid != os.Getuid() || info.Mode() != os.ModeDir|0o700 {
		return "", fmt.Errorf("localservice: %s is not a folder of this user alone: remove it", home)
	}
	return home, nil
}

// sweepBrowsers ends all browsers with a profile in the browsers' folder and
// removes the folder. No chromedriver of this data folder may run meanwhile.
func (f *Folder) sweepBrowsers() error {
	home := f.browserHome()
	info, err := os.Lstat(home)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("localservice: %w", err)
	}
	if uid, _, ok := ownerOf(info); !ok || uid != os.Getuid() || !info.IsDir() {
		return nil // of another user: makeBrowserHome refuses it when it is needed
	}
	if err := killBrowsers(home); err != nil {
		return err
	}
	if err := os.RemoveAll(home); err != nil {
		return fmt.Errorf("localservice: %w", err)
	}
	return nil
}
