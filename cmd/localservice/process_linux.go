package localservice

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// processStart returns when a process started, in clock ticks since the boot,
// and whether it runs; a zombie does not. Source: proc_pid_stat(5).
func processStart(pid int) (start uint64, running bool) {
	data, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return 0, false
	}
	state, start, ok := parseStat(data)
	return start, ok && state != 'Z' && state != 'X'
}

// parseStat reads state (field 3) and start time (field 22) of a stat line.
// The name in field 2 is in parentheses and may contain spaces and parentheses.
func parseStat(data []byte) (state byte, start uint64, ok bool) {
	end := bytes.LastIndexByte(data, ')')
	if end < 0 {
		return 0, 0, false
	}
	fields := bytes.Fields(data[end+1:])
	if len(fields) < 20 || len(fields[0]) != 1 {
		return 0, 0, false
	}
	start, err := strconv.ParseUint(string(fields[19]), 10, 64)
	return fields[0][0], start, err == nil
}

// bootID returns the id of the present boot of the machine. Source: random(4).
func bootID() string {
	data, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return string(bytes.TrimSpace(data))
}

// hasWorkingFolder reports whether a folder is the working folder of a process;
// known is false where the system does not show it.
func hasWorkingFolder(pid int, folder string) (has, known bool) {
	at, err := os.Readlink("/proc/" + strconv.Itoa(pid) + "/cwd")
	return err == nil && at == folder, true
}

// killLeftovers kills the processes that still run a program in its data folder
// after their parent died. PostgreSQL's sessions lead sessions and groups of
// their own, and a busy one notices late that the server has ended; a new server
// cannot start before that.
func killLeftovers(program, folder string) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return
	}
	for _, entry := range entries {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil || pid == os.Getpid() || !isLeftover(pid, program, folder) {
			continue
		}
		process, err := os.FindProcess(pid)
		// The second look makes sure that the handle, a pidfd, is of that process.
		if err != nil || !isLeftover(pid, program, folder) {
			continue
		}
		_ = process.Kill()
		for range 500 {
			if _, running := processStart(pid); !running {
				break
			}
			time.Sleep(10 * time.Millisecond)
		}
	}
}

func isLeftover(pid int, program, folder string) bool {
	if works, _ := hasWorkingFolder(pid, folder); !works {
		return false
	}
	runs, err := os.Readlink(filepath.Join("/proc", strconv.Itoa(pid), "exe"))
	return err == nil && strings.TrimSuffix(runs, " (deleted)") == program
}

// setDeathSignal has the kernel send a signal to the child when the thread that
// started it ends. Source: PR_SET_PDEATHSIG(2const).
func setDeathSignal(attr *syscall.SysProcAttr, signal syscall.Signal) {
	attr.Pdeathsig = signal
}

// setNamespace starts the child in a user namespace in which uid and gid of this
// process have other numbers: PostgreSQL sees that it is not root, while its
// files belong to root. Source: user_namespaces(7).
func setNamespace(attr *syscall.SysProcAttr, uid, gid int) (supported bool) {
	attr.Cloneflags |= syscall.CLONE_NEWUSER
	attr.UidMappings = []syscall.SysProcIDMap{{ContainerID: uid, HostID: os.Getuid(), Size: 1}}
	attr.GidMappings = []syscall.SysProcIDMap{{ContainerID: gid, HostID: os.Getgid(), Size: 1}}
	return true
}
