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

// BlockedError reports that PostgreSQL, which refuses to run as root, cannot
// reach the data as another user.
type BlockedError struct {
	Folder string // the folder that is closed to the user
	User   string // the user as which PostgreSQL would run
}

func (e *BlockedError) Error() string {
	return fmt.Sprintf("PostgreSQL runs as user %s here, who may not enter %s: choose another data folder, or run Slipway as a user other "+
		"than root", e.User, e.Folder)
}

// identity is the user as which a child runs. The zero value is the user of
// this process.
type identity struct {
	name     string // for errors
	uid, gid int    // owner of the child's files
	// namespaceUID and namespaceGID are the ids of root within the child's user
	// namespace; 0 for no namespace.
	namespaceUID, namespaceGID int
	drop                       bool // set uid and gid
}

func (id identity) apply(attr *syscall.SysProcAttr) {
	if id.namespaceUID != 0 {
		setNamespace(attr, id.namespaceUID, id.namespaceGID)
	}
	if id.drop {
		attr.Credential = &syscall.Credential{Uid: uint32(id.uid), Gid: uint32(id.gid)}
	}
}

// postgresIdentity returns the user for PostgreSQL: the user of this process,
// unless that is root, which PostgreSQL refuses. As root it returns, if possible,
// root with another uid in a user namespace, who can enter every folder of root;
// else the user postgres or nobody, who must be able to enter all folders above
// the data.
func (f *Folder) postgresIdentity(ctx context.Context, server Binary) (identity, error) {
	self := identity{uid: os.Getuid(), gid: os.Getgid()}
	if self.uid != 0 {
		return self, nil
	}
	name, uid, gid, err := unprivilegedUser()
	if err != nil {
		return identity{}, err
	}
	mapped := identity{name: "root in a user namespace", namespaceUID: uid, namespaceGID: gid}
	dropped := identity{name: name, uid: uid, gid: gid, drop: true}
	var blocked error
	if !f.noNamespace && namespaceWorks(ctx, mapped, server) {
		if blocked = checkFoldersPassable(f.dir, mapped); blocked == nil {
			return mapped, nil
		}
	}
	if err := ctx.Err(); err != nil { // then namespaceWorks proves nothing
		return identity{}, fmt.Errorf("localservice: start postgres: %w", err)
	}
	// Others may pass through the folder, not list it.
	if err := os.Chmod(f.dir, 0o711); err != nil {
		return identity{}, fmt.Errorf("localservice: %w", err)
	}
	if err := checkFoldersPassable(f.dir, dropped); err != nil {
		return identity{}, errors.Join(blocked, err)
	}
	return dropped, nil
}

// unprivilegedUser returns a user without rights. It must be in the user
// database, where initdb looks it up.
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
	return "", 0, 0,
		errors.New("localservice: PostgreSQL refuses to run as root, and this system has neither a user postgres nor a user nobody")
}

// namespaceWorks reports whether the system allows such a namespace, by trying:
// containers often forbid it, sysctls can.
func namespaceWorks(ctx context.Context, id identity, server Binary) bool {
	probe := exec.CommandContext(ctx, server.Path, "--version")
	probe.SysProcAttr = &syscall.SysProcAttr{}
	if !setNamespace(probe.SysProcAttr, id.namespaceUID, id.namespaceGID) {
		return false
	}
	return probe.Run() == nil
}

// checkFoldersPassable returns a *BlockedError for the first folder on the path
// to dir, dir included, that a user may not enter by its mode bits. Root within
// a namespace has no rights in folders of other users.
func checkFoldersPassable(dir string, id identity) error {
	var path []string
	for at := dir; ; at = filepath.Dir(at) {
		path = append(path, at)
		if at == filepath.Dir(at) {
			break
		}
	}
	for i := len(path) - 1; i >= 0; i-- {
		info, err := os.Stat(path[i])
		if err != nil {
			return fmt.Errorf("localservice: %w", err)
		}
		uid, gid, ok := ownerOf(info)
		if !ok {
			return fmt.Errorf("localservice: owner of %s is unknown", path[i])
		}
		bit := fs.FileMode(0o001)
		if uid == id.uid {
			bit = 0o100
		} else if gid == id.gid {
			bit = 0o010
		}
		if info.Mode()&bit == 0 {
			return &BlockedError{Folder: path[i], User: id.name}
		}
	}
	return nil
}

// changeOwner sets the owner of a folder and everything in it to id, unless it
// is already: PostgreSQL may have run as another user the last time.
func changeOwner(dir string, id identity) error {
	info, err := os.Stat(dir)
	if err != nil {
		return fmt.Errorf("localservice: %w", err)
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
	if err != nil {
		return fmt.Errorf("localservice: change the owner of the data to %s: %w", id.name, err)
	}
	// The folder itself comes last: its owner shows that the walk is complete.
	if err := os.Chown(dir, id.uid, id.gid); err != nil {
		return fmt.Errorf("localservice: change the owner of the data to %s: %w", id.name, err)
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
