package localservice

import (
	"bufio"
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// commandLines lists the processes of this user. Zombies have no arguments.
func commandLines() ([]commandLine, error) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil, err
	}
	var lines []commandLine
	for _, entry := range entries {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil {
			continue
		}
		if line, ok := commandLineOf(pid); ok {
			lines = append(lines, line)
		}
	}
	return lines, nil
}

// commandLineOf reads the arguments of one process of this user.
func commandLineOf(pid int) (commandLine, bool) {
	file, err := os.Open("/proc/" + strconv.Itoa(pid) + "/cmdline")
	if err != nil {
		return commandLine{}, false
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return commandLine{}, false
	}
	if uid, _, ok := ownerOf(info); !ok || uid != os.Getuid() {
		return commandLine{}, false
	}
	// A browser's arguments take some kilobytes.
	args, err := io.ReadAll(io.LimitReader(file, 256<<10))
	return commandLine{pid, args}, err == nil && len(args) > 0
}

// sharedMemoryIsSmall reports whether /dev/shm is too small for the pages that a
// browser shares between its processes; containers have 64 MiB by default.
func sharedMemoryIsSmall() bool {
	var fs unix.Statfs_t
	if err := unix.Statfs("/dev/shm", &fs); err != nil {
		return true
	}
	return uint64(fs.Bsize)*fs.Bavail < 512<<20
}

// capSysAdmin is CAP_SYS_ADMIN of capabilities(7), which the set-uid helper of
// Chromium needs.
const capSysAdmin = 21

// sandboxWorks reports whether Chromium can set up its sandbox.
func sandboxWorks(browser string) bool {
	if os.Getuid() == 0 {
		return false // Chromium refuses it
	}
	if path, err := filepath.EvalSymlinks(browser); err == nil {
		browser = path
	}
	// Debian's /usr/bin/chromium is a script beside /usr/lib/chromium.
	for _, folder := range []string{filepath.Dir(browser), "/usr/lib/chromium", "/opt/google/chrome"} {
		info, err := os.Stat(filepath.Join(folder, "chrome-sandbox"))
		if err == nil && info.Mode()&os.ModeSetuid != 0 && canGainCapability(capSysAdmin) {
			return true
		}
	}
	// On Ubuntu, namespaces of programs without an AppArmor profile have no power.
	restricted, err := readSmallFile("/proc/sys/kernel/apparmor_restrict_unprivileged_userns")
	if err == nil && string(bytes.TrimSpace(restricted)) == "1" {
		return false
	}
	probe := exec.Command("true")
	probe.SysProcAttr = &syscall.SysProcAttr{}
	setNamespace(probe.SysProcAttr, os.Getuid(), os.Getgid())
	return probe.Run() == nil
}

// canGainCapability reports whether a set-uid program that this process starts
// could have a capability. Source: proc_pid_status(5).
func canGainCapability(capability uint) bool {
	file, err := os.Open("/proc/self/status")
	if err != nil {
		return false
	}
	defer file.Close()
	may := false
	lines := bufio.NewScanner(io.LimitReader(file, smallFileLimit))
	for lines.Scan() {
		name, value, _ := bytes.Cut(lines.Bytes(), []byte(":"))
		value = bytes.TrimSpace(value)
		switch string(name) {
		case "CapBnd":
			set, err := strconv.ParseUint(string(value), 16, 64)
			may = err == nil && set&(1<<capability) != 0
		case "NoNewPrivs":
			if string(value) == "1" {
				return false
			}
		}
	}
	return may
}
