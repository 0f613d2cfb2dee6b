package browser

import (
	"bytes"
	"fmt"
	"os"
	"syscall"

	"github.com/slipway-qa/slipway/worker/browser/webdriver"
)

// kill ends the browser of a local session that chromedriver could not end: one
// whose page blocks it goes on using a processor otherwise. The process is the one
// that chromedriver named, as long as it still runs on the session's profile.
// Where /proc cannot be read, the next start of the managed chromedriver ends it.
func kill(s *webdriver.Session) error {
	pid, _ := s.Capabilities["goog:processID"].(float64)
	chrome, _ := s.Capabilities["chrome"].(map[string]any)
	profile, _ := chrome["userDataDir"].(string)
	if pid <= 1 || profile == "" {
		return nil
	}
	line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", int(pid)))
	if err != nil || !bytes.Contains(line, []byte("--user-data-dir="+profile+"\x00")) {
		return nil // it has ended
	}
	return syscall.Kill(int(pid), syscall.SIGKILL)
}
