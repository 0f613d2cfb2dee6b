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
// Chromium runs pages in its sandbox where it can. It cannot do so as root, nor
// where users may not create namespaces and Chromium's set-uid helper is missing
// or has no power (containers, hardened kernels). There it gets --no-sandbox,
// and a page that breaks out of the browser has the rights of this process. To
// keep the sandbox, run as a user other than root on a system with namespaces,
// or run the browser in a separate container.
func BrowserArguments() []string {
	args := []string{"--disable-gpu"}
	if sharedMemoryIsSmall() {
		args = append(args, "--disable-dev-shm-usage")
	}
	if browser, err := Find(Chromium); err != nil || !sandboxWorks(browser.Path) {
		args = append(args, "--no-sandbox")
	}
	return args
}

// hashName returns a short name for a path: twelve hexadecimal digits.
func hashName(path string) string {
	sum := sha256.Sum256([]byte(path))
	return hex.EncodeToString(sum[:6])
}

// commandLine is a process of this user with its arguments, as the system shows
// them; a process can change what is shown.
type commandLine struct {
	pid  int
	args []byte
}

// killBrowsers kills every process of this user whose profile lies below a
// folder, and returns when all have ended. A browser's helpers start further
// helpers until the browser is dead, so it lists processes until none is left.
func killBrowsers(home string) error {
	mark := []byte("--user-data-dir=" + home + string(filepath.Separator))
	began := time.Now()
	for pause := time.Millisecond; ; pause = min(2*pause, 50*time.Millisecond) {
		lines, err := commandLines()
		if err != nil {
			return fmt.Errorf("localservice: list processes: %w", err)
		}
		left := 0
		for _, line := range lines {
			if line.pid <= 1 || line.pid == os.Getpid() || !bytes.Contains(line.args, mark) {
				continue
			}
			left++
			if process, err := os.FindProcess(line.pid); err == nil {
				// The pid can have a new owner since the list was read. Where
				// the handle is a pidfd, this second look excludes that.
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
			return fmt.Errorf("localservice: %d browser processes in %s do not end even after SIGKILL", left, home)
		}
		time.Sleep(pause)
	}
}
