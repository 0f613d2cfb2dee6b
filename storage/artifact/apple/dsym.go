package apple

import (
	"context"
	"fmt"
	"strings"

	"github.com/slipway-qa/slipway/storage/artifact"
	"github.com/slipway-qa/slipway/storage/artifact/archive"
)

// Limits of a dSYM archive. Architectures of a fat file lie behind each other, so
// that all before the last must be inflated, at some hundred MiB a second.
const (
	maxDWARF   = 500       // files
	fileReach  = 128 << 20 // inflated bytes of one file
	totalReach = 256 << 20 // inflated bytes of an archive
)

// Symbols reads the images of a dSYM archive: *.dSYM/Contents/Resources/DWARF/*,
// in any case of letters and with any folders around.
func Symbols(ctx context.Context, a *archive.Archive) (*artifact.Symbols, error) {
	a.Bind(ctx)
	s := &artifact.Symbols{Kind: artifact.DSYM}
	files, left := 0, int64(totalReach)
	for _, e := range a.Entries() {
		name, ok := dwarfName(e.Name)
		if !ok {
			continue
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if files++; files > maxDWARF {
			s.Notes = append(s.Notes, fmt.Sprintf("only the first %d files were read", maxDWARF))
			break
		}
		t := openForward(a, e, max(min(fileReach, left), 0))
		var found []slice
		err := catchPanic(func() (err error) {
			found, err = readMachO(t)
			return err
		})
		left -= t.position
		if err != nil {
			s.Notes = append(s.Notes, fmt.Sprintf("%s cannot be read: %v", name, err))
			continue
		}
		addImages(s, name, found)
	}
	failed := a.Err()
	switch {
	case failed != nil:
		return nil, failed
	case files == 0:
		return nil, &artifact.InvalidError{Reason: "the archive has no *.dSYM/Contents/Resources/DWARF"}
	case len(s.Images) == 0:
		return nil, &artifact.InvalidError{Reason: "no file of the dSYM archive has a UUID"}
	}
	return s, nil
}

func addImages(s *artifact.Symbols, name string, found []slice) {
	for _, f := range found {
		switch {
		case f.uuid != "":
			s.Images = append(s.Images, artifact.Image{Name: name, Arch: f.arch, UUID: f.uuid})
		case f.err != nil:
			s.Notes = append(s.Notes, fmt.Sprintf("the UUID of %s for %s cannot be read: %v", name, f.arch, f.err))
		default:
			s.Notes = append(s.Notes, fmt.Sprintf("%s has no UUID for %s", name, f.arch))
		}
	}
}

// dwarfName returns the file name of an entry with symbols. The folder X.dSYM is
// missing in archives that were created inside of it.
func dwarfName(entry string) (string, bool) {
	const folder = "contents/resources/dwarf/"
	name := normalizeName(entry)
	if len(name) < len(folder) { // also what normal refuses
		return "", false
	}
	slash := strings.LastIndexByte(name, '/')
	if slash+1 < len(folder) || !strings.EqualFold(name[slash+1-len(folder):slash+1], folder) {
		return "", false
	}
	before, file := name[:slash+1-len(folder)], name[slash+1:]
	if before != "" && !strings.HasSuffix(strings.ToLower(before), ".dsym/") || strings.HasPrefix(file, ".") {
		return "", false
	}
	return file, true
}
