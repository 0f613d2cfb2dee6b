package localservice

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"strconv"
	"time"
)

// commandLines lists the processes of this user.
func commandLines() ([]commandLine, error) { return runPS("-U", strconv.Itoa(os.Getuid())) }

// commandLineOf reads the arguments of one process.
func commandLineOf(pid int) (commandLine, bool) {
	lines, err := runPS("-p", strconv.Itoa(pid))
	if err != nil || len(lines) != 1 {
		return commandLine{}, false
	}
	return lines[0], true
}

func runPS(which ...string) ([]commandLine, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	output, err := exec.CommandContext(ctx, "/bin/ps", append(which, "-ww", "-o", "pid=,args=")...).Output()
	if err != nil {
		return nil, err
	}
	var lines []commandLine
	for line := range bytes.Lines(output) {
		first, args, _ := bytes.Cut(bytes.TrimSpace(line), []byte(" "))
		if pid, err := strconv.Atoi(string(first)); err == nil {
			lines = append(lines, commandLine{pid, args})
		}
	}
	return lines, nil
}

// sharedMemoryIsSmall reports false: this system has no /dev/shm.
func sharedMemoryIsSmall() bool { return false }

// sandboxWorks reports true: the sandbox of this system needs no rights.
func sandboxWorks(string) bool { return true }
