package servicetest

import (
	"os"

	"golang.org/x/sys/unix"
)

const (
	// memory is the file system in memory that Linux has. Copying a database makes
	// some 700 files, which takes a tenth of the time there.
	memory = "/dev/shm"
	// memoryNeeded is what must be free in it: the databases and objects of the
	// tests that run at a time, and PostgreSQL's log. Containers often have 64 MB.
	memoryNeeded = 4 << 30
)

// MakeFolder makes a folder for servers of tests, in memory where there is enough.
func MakeFolder() (string, error) {
	var at unix.Statfs_t
	if err := unix.Statfs(memory, &at); err == nil && uint64(at.Bavail)*uint64(at.Bsize) >= memoryNeeded {
		if dir, err := os.MkdirTemp(memory, "slipway-test-"); err == nil {
			return dir, nil
		}
	}
	return os.MkdirTemp("", "slipway-test-")
}
