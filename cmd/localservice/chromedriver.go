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

// ChromedriverConfig says how the private chromedriver runs.
type ChromedriverConfig struct {
	// Verbose writes all commands into the log, with what they type into
	// pages: passwords too. For the search of faults only.
	Verbose bool
}

// Chromedriver starts the private chromedriver and returns when it is ready to
// make sessions. Its URL is http://127.0.0.1:PORT/SECRET.
//
// chromedriver knows no passwords: whoever reaches it can start programs as
// this user. It listens on loopback addresses only, and takes requests below a
// secret path alone, which keeps pages away that a browser or a proxy of this
// machine opens. Other users of the machine can read that path off the
// process's arguments: do not run it on a machine shared with people who are
// not trusted.
//
// HOME and TMPDIR of chromedriver and of its browsers lie in a folder of their
// own, and so do all profiles. A browser outlives a chromedriver that is killed,
// so whatever has its profile there is ended at Open, at the start and after the
// end of chromedriver, and the profiles are removed.
//
// Errors: *MissingError (of chromedriver or the browser), *StartError.
func (f *Folder) Chromedriver(ctx context.Context, config ChromedriverConfig) (*Server, error) {
	ctx, cancel, err := f.begin(ctx, "chromedriver")
	if err != nil {
		return nil, err
	}
	defer cancel()
	server, err := f.chromedriver(ctx, config)
	f.finish("chromedriver", server)
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
	return f.serve(ctx, recipe{
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
		ready: chromedriverReady,
		after: func() { _ = f.sweepBrowsers() },
	})
}

// chromedriverReady asks for the status, which a stranger on the port does not
// know below the secret path.
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
	body, err := io.ReadAll(io.LimitReader(response.Body, smallFile))
	if err != nil {
		return err
	}
	var answer struct {
		Value struct {
			Ready bool `json:"ready"`
		} `json:"value"`
	}
	if err := json.Unmarshal(body, &answer); err != nil || !answer.Value.Ready {
		return fmt.Errorf("GET /status answers %s and not that it is ready", response.Status)
	}
	return nil
}

// browserHomeLimit bounds the path of the browsers' folder: each browser makes
// the socket org.chromium.Chromium.scoped_dir.XXXXXX/SingletonSocket (55 bytes)
// in it, and a socket's path has at most 103 bytes on macOS, 107 on Linux.
const browserHomeLimit = 103 - 56

// browserHome is the folder of the browsers: in the data folder, or, where its
// path is too long for the sockets of the browsers, a folder in the system's
// folder for temporary files with a name made from the data folder's.
func (f *Folder) browserHome() string {
	home := filepath.Join(f.dir, "browser")
	if len(home) <= browserHomeLimit {
		return home
	}
	name := fmt.Sprintf("slipway-%d-%s", os.Getuid(), shortName(f.dir))
	if home = filepath.Join(os.TempDir(), name); len(home) <= browserHomeLimit {
		return home
	}
	return filepath.Join("/tmp", name)
}

// makeBrowserHome makes the folder. One that another user has put in its place
// is refused, as the owner could read the profiles.
func (f *Folder) makeBrowserHome() (string, error) {
	home := f.browserHome()
	if err := os.Mkdir(home, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
		return "", fmt.Errorf("private: %w", err)
	}
	info, err := os.Lstat(home)
	if err != nil {
		return "", fmt.Errorf("private: %w", err)
	}
	if uid, _, ok := ownerOf(info); !ok || uid != os.Getuid() || info.Mode() != os.ModeDir|0o700 {
		return "", fmt.Errorf("private: %s is not a folder of this user alone; remove it", home)
	}
	return home, nil
}

// sweepBrowsers ends all browsers that have their profiles in the folder's home
// for browsers, and removes what they left. The caller knows that no
// chromedriver of the folder runs.
func (f *Folder) sweepBrowsers() error {
	home := f.browserHome()
	info, err := os.Lstat(home)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("private: %w", err)
	}
	if uid, _, ok := ownerOf(info); !ok || uid != os.Getuid() || !info.IsDir() {
		return nil // not ours: makeBrowserHome says so if it is needed
	}
	if err := endBrowsers(home); err != nil {
		return err
	}
	if err := os.RemoveAll(home); err != nil {
		return fmt.Errorf("private: %w", err)
	}
	return nil
}
