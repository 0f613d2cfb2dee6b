//go:build unix

package export

import (
	"os/exec"
	"syscall"
	"time"
)

// isolate lets the end of a command end what it started, too.
func isolate(command *exec.Cmd) {
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	command.Cancel = func() error { return syscall.Kill(-command.Process.Pid, syscall.SIGKILL) }
	command.WaitDelay = 5 * time.Second
}
