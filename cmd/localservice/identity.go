package localservice

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
)

// BlockedError says that PostgreSQL, which must not run as root, cannot reach
// the data as any other user.
type BlockedError struct {
	Folder string // the folder that is closed to the user
	User   string // the user as which PostgreSQL would run
}

func (e *BlockedError) Error() string {
	return fmt.Sprintf("PostgreSQL runs as user %s here, who may not enter %s: choose another data folder, or run Slipway as a user other than root", e.User, e.Folder)
}

// identity is the user as which a child runs. The zero value is the user of
// this process.
type identity struct {
	name     string // for errors
	uid, gid int    // owner of the child's files
	// inside and insideGroup are what root is called in the child's user
	// namespace; 0 for no namespace.
	inside, insideGroup int
	drop                bool // set uid and gid
}

func (id identity) apply(attr *syscall.SysProcAttr) {
	if id.inside != 0 {
		setNamespace(attr, id.inside, id.insideGroup)
	}
	if id.drop {
		attr.Credential = &syscall.Credential{Uid: uint32(id.uid), Gid: uint32(id.gid)}
	}
}

// postgresIdentity chooses the user for PostgreSQL: this process's own unless
// that is root, which PostgreSQL refuses; then root under another number in a
// user namespace, under which any folder of root's is within reach; then the
// postgres user or nobody, when all folders above the data let it through.
func (f *Folder) postgresIdentity(ctx context.Context, server Binary) (identity, error) {
	self := identity{uid: os.Getuid(), gid: os.Getgid()}
	if self.uid != 0 {
		return self, nil
	}
	name, uid, gid, err := unprivilegedUser()
	if err != nil {
		return identity{}, err
	}
	mapped := identity{name: "root in a user namespace", inside: uid, insideGroup: gid}
	dropped := identity{name: name, uid: uid, gid: gid, drop: true}
	var blocked error
	if !f.noNamespace && namespaceWorks(ctx, mapped, server) {
		if blocked = closedFolder(f.dir, mapped); blocked == nil {
			return mapped, nil
		}
	}
	if err := ctx.Err(); err != nil { // then the trial says nothing
		return identity{}, fmt.Errorf("private: start postgres: %w", err)
	}
	// What is in the folder stays closed: only passing through is allowed.
	if err := os.Chmod(f.dir, 0o711); err != nil {
		return identity{}, fmt.Errorf("private: %w", err)
	}
	if err := closedFolder(f.dir, dropped); err != nil {
		return identity{}, errors.Join(blocked, err)
	}
	return dropped, nil
}

// unprivilegedUser returns a user that every process may become. It must have
// an entry in the user database, where initdb looks it up.
func unprivilegedUser() (name string, uid, gid int, err error) {
	for _, name := range []string{"postgres", "nobody"} {
		entry, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, err1 := strconv.ParseUint(entry.Uid, 10, 31)
		gid, err2 := strconv.ParseUint(entry.Gid, 10, 31)
		if err1 == nil && err2 == nil && uid != 0 {
			return name, int(uid), int(gid), nil
		}
	}
	return "", 0, 0, errors.New("private: PostgreSQL refuses to run as root, and this system has neither a user postgres nor a user nobody")
}

// namespaceWorks tries whether the system lets a process into such a
// namespace: containers often forbid it, sysctls can.
func namespaceWorks(ctx context.Context, id identity, server Binary) bool {
	probe := exec.CommandContext(ctx, server.Path, "--version")
	probe.SysProcAttr = &syscall.SysProcAttr{}
	if !setNamespace(probe.SysProcAttr, id.inside, id.insideGroup) {
		return false
	}
	return probe.Run() == nil
}

// closedFolder returns a *BlockedError for the first folder on the way to dir
// (that one included) that a user may not pass through, by its mode bits.
// Root within a namespace has no power over the folders of others.
func closedFolder(dir string, id identity) error {
	var way []string
	for at := dir; ; at = filepath.Dir(at) {
		way = append(way, at)
		if at == filepath.Dir(at) {
			break
		}
	}
	for i := len(way) - 1; i >= 0; i-- {
		info, err := os.Stat(way[i])
		if err != nil {
			return fmt.Errorf("private: %w", err)
		}
		uid, gid, ok := ownerOf(info)
		if !ok {
			return fmt.Errorf("private: no owner known for %s", way[i])
		}
		bit := fs.FileMode(0o001)
		if uid == id.uid {
			bit = 0o100
		} else if gid == id.gid {
			bit = 0o010
		}
		if info.Mode()&bit == 0 {
			return &BlockedError{Folder: way[i], User: id.name}
		}
	}
	return nil
}

// giveFolder makes id the owner of a folder and all in it, unless it is: the
// way in which PostgreSQL runs as root may differ from the last time.
func giveFolder(dir string, id identity) error {
	info, err := os.Stat(dir)
	if err != nil {
		return fmt.Errorf("private: %w", err)
	}
	uid, _, ok := ownerOf(info)
	if ok && uid == id.uid || os.Getuid() != 0 {
		return nil
	}
	err = filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		return os.Lchown(path, id.uid, id.gid)
	})
	if err == nil {
		err = os.Chown(dir, id.uid, id.gid) // last: it marks the walk as done
	}
	if err != nil {
		return fmt.Errorf("private: hand the data to user %s: %w", id.name, err)
	}
	return nil
}

// ownerOf returns the numeric owner and group of a file.
func ownerOf(info fs.FileInfo) (uid, gid int, ok bool) {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, 0, false
	}
	return int(stat.Uid), int(stat.Gid), true
}
