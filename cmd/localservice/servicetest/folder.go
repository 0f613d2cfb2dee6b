package servicetest

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"

	"github.com/slipway-qa/slipway/cmd/localservice"
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

// Ports of the servers of a checkout: three in a row, below those that systems give to
// outgoing connections.
const (
	firstPort = 15000
	lastPort  = 32000
)

// OpenCheckout opens the folder of the servers of a checkout, at whose root the process
// runs, and empties it but for its ports and passwords: so the addresses of the servers
// are the same in each run, and Go's cache of test results holds. Where another run of
// the checkout has that folder, or another user, it opens a new one.
//
// The caller calls remove when the servers have ended, before it closes the folder.
func OpenCheckout() (folder *localservice.Folder, remove func(), err error) {
	dir, err := checkoutFolder()
	if err == nil {
		if folder, err = localservice.Open(dir); err == nil {
			remove = func() { clearCheckout(dir) }
			remove() // of a run that was killed
			return folder, remove, nil
		}
	}
	// Whatever is wrong with that folder, a new one is as good for this run.
	if dir, err = MakeFolder(); err != nil {
		return nil, nil, err
	}
	folder, err = localservice.Open(dir)
	return folder, func() { _ = os.RemoveAll(dir) }, err
}

// checkoutFolder makes the folder of this checkout, with ports to begin with.
func checkoutFolder() (string, error) {
	root, err := os.Getwd()
	if err != nil {
		return "", err
	}
	parent := os.TempDir()
	var at unix.Statfs_t
	if err := unix.Statfs(memory, &at); err == nil && uint64(at.Bavail)*uint64(at.Bsize) >= memoryNeeded {
		parent = memory
	}
	sum := sha256.Sum256([]byte(root))
	dir := filepath.Join(parent, fmt.Sprintf("slipway-checkout-%d-%x", os.Getuid(), sum[:6]))
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return "", err
	}
	var info unix.Stat_t
	if err := unix.Lstat(dir, &info); err != nil {
		return "", err
	}
	if int(info.Uid) != os.Getuid() || info.Mode&unix.S_IFMT != unix.S_IFDIR || info.Mode&0o022 != 0 {
		return "", fmt.Errorf("%s is not a folder of this user alone", dir)
	}
	port := firstPort + (int(sum[6])<<8|int(sum[7]))%(lastPort-firstPort)
	for i, name := range []string{"postgres", "redis", "minio"} {
		file := filepath.Join(dir, name+".port")
		if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
			if err := os.WriteFile(file, []byte(strconv.Itoa(port+i)), 0o600); err != nil {
				return "", err
			}
		}
	}
	return dir, nil
}

// clearCheckout removes what servers have left in their folder, but for what makes their
// addresses: passwords, ports, and the lock.
func clearCheckout(dir string) {
	entries, _ := os.ReadDir(dir)
	for _, entry := range entries {
		if name := entry.Name(); name != "lock" && name != "secrets" && filepath.Ext(name) != ".port" {
			_ = os.RemoveAll(filepath.Join(dir, name))
		}
	}
}
