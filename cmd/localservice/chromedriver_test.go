package localservice

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// browserVariable has the killable parent start chromedriver and a browser.
const browserVariable = "SLIPWAY_LOCALSERVICE_TEST_BROWSER"

// browserParent starts chromedriver with a browser, prints the browser's home,
// and waits until it is killed.
func browserParent(folder *Folder) error {
	server, err := folder.Chromedriver(context.Background(), ChromedriverConfig{})
	if err != nil {
		return err
	}
	if _, err := newBrowser(server.URL()); err != nil {
		return err
	}
	if err := json.NewEncoder(os.Stdout).Encode(folder.browserHome()); err != nil {
		return err
	}
	_, _ = bufio.NewReader(os.Stdin).ReadString('\n')
	return nil
}

// newBrowser opens a session with the least that the protocol allows. The browser
// listens on a port: over a pipe it would end with chromedriver.
func newBrowser(url string) (profile string, err error) {
	args, err := json.Marshal(append(BrowserArguments(), "--headless=new", "--disable-background-networking",
		"--disable-component-update", "--disable-sync", "--no-first-run"))
	if err != nil {
		return "", err
	}
	body := fmt.Sprintf(`{"capabilities":{"alwaysMatch":{"goog:chromeOptions":{"args":%s}}}}`, args)
	response, err := http.Post(url+"/session", "application/json", strings.NewReader(body))
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		return "", err
	}
	var session struct {
		Value struct {
			Capabilities struct {
				Chrome struct {
					Profile string `json:"userDataDir"`
				} `json:"chrome"`
			} `json:"capabilities"`
		} `json:"value"`
	}
	if err := json.Unmarshal(answer, &session); err != nil || response.StatusCode != http.StatusOK {
		return "", fmt.Errorf("%s: %.500s", response.Status, answer)
	}
	return session.Value.Capabilities.Chrome.Profile, nil
}

// browsersIn counts the browsers' processes of a home.
func browsersIn(t *testing.T, home string) (count int) {
	t.Helper()
	lines, err := commandLines()
	require.NoError(t, err)
	for _, line := range lines {
		if strings.Contains(string(line.args), "--user-data-dir="+home+"/") {
			count++
		}
	}
	return count
}

func TestChromedriverAndItsBrowsersEnd(t *testing.T) {
	t.Parallel()
	dir := scratch(t)
	folder := open(t, dir)
	server, err := folder.Chromedriver(t.Context(), ChromedriverConfig{})
	require.NoError(t, err)
	require.Regexp(t, `^http://127\.0\.0\.1:\d+/[0-9a-f]{48}$`, server.URL())
	require.Regexp(t, `^chromedriver at http://127\.0\.0\.1:\d+/xxxxx$`, server.String())
	_, err = folder.Chromedriver(t.Context(), ChromedriverConfig{})
	require.ErrorContains(t, err, "already")

	// Without the secret path every request is refused.
	for _, path := range []string{"/status", "/session", "/", "/sessions"} {
		response, err := http.Get("http://" + server.Addr() + path)
		require.NoError(t, err)
		response.Body.Close()
		require.NotEqual(t, http.StatusOK, response.StatusCode, path)
	}

	profile, err := newBrowser(server.URL())
	require.NoError(t, err)
	home := folder.browserHome()
	require.True(t, strings.HasPrefix(profile, home+"/"), "%s is not in %s", profile, home)
	require.Positive(t, browsersIn(t, home))
	require.NoError(t, server.Stop(t.Context()))
	require.Zero(t, browsersIn(t, home))
	require.NoDirExists(t, home)

	// It starts again on its port, and when it is killed its browsers follow.
	again, err := folder.Chromedriver(t.Context(), ChromedriverConfig{})
	require.NoError(t, err)
	require.Equal(t, server.URL(), again.URL())
	_, err = newBrowser(again.URL())
	require.NoError(t, err)
	require.NoError(t, again.process.handle.Kill())
	<-again.Done()
	require.ErrorContains(t, again.Err(), "ended by itself")
	require.Zero(t, browsersIn(t, home))
}

// A data folder of any depth works, though the browsers' sockets do not.
func TestChromedriverInADeepFolder(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(scratch(t), strings.Repeat("deep/", 30))
	folder := open(t, dir)
	home := folder.browserHome()
	require.LessOrEqual(t, len(home), browserHomeLimit)
	server, err := folder.Chromedriver(t.Context(), ChromedriverConfig{})
	require.NoError(t, err)
	profile, err := newBrowser(server.URL())
	require.NoError(t, err)
	require.True(t, strings.HasPrefix(profile, home+"/"))
	require.NoError(t, folder.Close(t.Context()))
	require.Zero(t, browsersIn(t, home))
	require.NoDirExists(t, home)

	// Another folder has another home; one that others can read is refused.
	other := open(t, filepath.Join(dir, "other"))
	require.NotEqual(t, home, other.browserHome())
	require.NoError(t, os.Mkdir(other.browserHome(), 0o700))
	t.Cleanup(func() { os.RemoveAll(other.browserHome()) })
	require.NoError(t, os.Chmod(other.browserHome(), 0o755))
	_, err = other.makeBrowserHome()
	require.ErrorContains(t, err, "not a folder of this user alone")
}

func TestBrowsersOfAKilledRunAreEnded(t *testing.T) {
	t.Parallel()
	for name, env := range map[string][]string{
		"chromedriver dies with its parent": {browserVariable + "=1"},
		"chromedriver lives on":             {browserVariable + "=1", orphansVariable + "=1"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := scratch(t)
			cmd := exec.Command(os.Args[0])
			cmd.Env = append(append(os.Environ(), parentVariable+"="+dir), env...)
			cmd.Stderr = os.Stderr
			_, err := cmd.StdinPipe()
			require.NoError(t, err)
			stdout, err := cmd.StdoutPipe()
			require.NoError(t, err)
			require.NoError(t, cmd.Start())
			t.Cleanup(func() { _ = cmd.Process.Kill() })
			var home string
			require.NoError(t, json.NewDecoder(stdout).Decode(&home))
			require.NoError(t, cmd.Process.Kill())
			_ = cmd.Wait()
			require.Positive(t, browsersIn(t, home))

			folder := open(t, dir)
			require.Zero(t, browsersIn(t, home))
			require.NoDirExists(t, home)
			_, err = folder.Chromedriver(t.Context(), ChromedriverConfig{})
			require.NoError(t, err)
		})
	}
}

func TestFindBrowsers(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	in := searchPaths{root: root, path: []string{root + "/bin"}}
	require.Empty(t, findAll(Chromedriver, in))
	touch(t, root+"/snap/bin/chromium.chromedriver", root+"/opt/google/chrome/chrome")
	require.Equal(t, root+"/snap/bin/chromium.chromedriver", findAll(Chromedriver, in)[0].Path)
	require.Equal(t, root+"/opt/google/chrome/chrome", findAll(Chromium, in)[0].Path)
	touch(t, root+"/bin/chromedriver", root+"/bin/google-chrome", root+"/bin/chromium")
	require.Equal(t, root+"/bin/chromedriver", findAll(Chromedriver, in)[0].Path)
	require.Equal(t, root+"/bin/chromium", findAll(Chromium, in)[0].Path)
	touch(t, root+"/bin/apk")
	require.Equal(t, "apk add chromium chromium-chromedriver", installLine(Chromedriver, in))
	require.Equal(t, "apt-get install -y chromium chromium-driver", installLine(Chromium, searchPaths{}))
	require.Contains(t, BrowserArguments(), "--disable-gpu")
}
