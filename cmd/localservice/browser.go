package localservice

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// BrowserArguments are the arguments that Chromium needs to run on this machine
// without a screen, besides --headless=new.
//
// Chromium keeps its own sandbox around pages where it can. It cannot as root,
// nor where the system lets users make no namespaces and its set-uid helper is
// missing or powerless (containers, hardened kernels): there it gets
// --no-sandbox, and a page that breaks out of the browser has the rights of this
// process. A container of its own, or another user than root on a system with
// namespaces, is the way to have both.
func BrowserArguments() []string {
	args := []string{"--disable-gpu"}
	if scarceSharedMemory() {
		args = append(args, "--disable-dev-shm-usage")
	}
	if browser, err := Find(Chromium); err != nil || !sandboxWorks(browser.Path) {
		args = append(args, "--no-sandbox")
	}
	return args
}

// shortName names a path in a few letters.
func shortName(path string) string {
	sum := sha256.Sum256([]byte(path))
	return hex.EncodeToString(sum[:6])
}

// commandLine is a process of this user with its arguments, as the system shows
// them: processes can change their own.
type commandLine struct {
	pid  int
	args []byte
}

// endBrowsers kills every process of this user whose profile lies below a
// folder, and returns when all are gone. A browser's helpers start further ones
// until it is dead itself, so it looks until none is left.
func endBrowsers(home string) error {
	mark := []byte("--user-data-dir=" + home + string(filepath.Separator))
	began := time.Now()
	for pause := time.Millisecond; ; pause = min(2*pause, 50*time.Millisecond) {
		lines, err := commandLines()
		if err != nil {
			return fmt.Errorf("private: list processes: %w", err)
		}
		left := 0
		for _, line := range lines {
			if line.pid <= 1 || line.pid == os.Getpid() || !bytes.Contains(line.args, mark) {
				continue
			}
			left++
			if process, err := os.FindProcess(line.pid); err == nil {
				// Where the handle is a pidfd, a process that took over the
				// pid since the list was made is told apart here.
				if again, ok := commandLineOf(line.pid); ok && bytes.Contains(again.args, mark) {
					_ = process.Kill()
				}
				_ = process.Release()
			}
		}
		if left == 0 {
			return nil
		}
		if time.Since(began) > 10*time.Second {
			return fmt.Errorf("private: %d browser processes in %s do not end even when killed", left, home)
		}
		time.Sleep(pause)
	}
}
