package localservice

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// zombie is SZOMB of <sys/proc.h>.
const zombie = 5

// processStart returns when a process started, in microseconds since 1970, and
// whether it runs; a zombie does not.
func processStart(pid int) (start uint64, running bool) {
	info, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil || int(info.Proc.P_pid) != pid {
		return 0, false
	}
	began := info.Proc.P_starttime
	return uint64(began.Sec)*1e6 + uint64(began.Usec), info.Proc.P_stat != zombie
}

// bootID names the present boot of the machine.
func bootID() string {
	id, err := unix.Sysctl("kern.bootsessionuuid")
	if err != nil {
		return ""
	}
	return id
}

// hasWorkingFolder reports nothing: on this system only libproc shows the working
// folder of a process.
func hasWorkingFolder(int, string) (works, known bool) { return false, false }

// killLeftovers does nothing, for want of hasWorkingFolder: orphaned sessions of
// PostgreSQL end by themselves when they next wait.
func killLeftovers(string, string) {}

// setDeathSignal does nothing: this system has no such signal. Children of a
// killed run are ended at the next Open.
func setDeathSignal(*syscall.SysProcAttr, syscall.Signal) {}

// setNamespace reports that this system has no user namespaces.
func setNamespace(*syscall.SysProcAttr, int, int) (supported bool) { return false }
