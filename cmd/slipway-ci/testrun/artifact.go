package testrun

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/slipway-qa/slipway/cmd/slipway-ci/client"
	"github.com/slipway-qa/slipway/storage/step/testfile"
)

// The bounds of what is stored of a run: a pipeline keeps it with each job.
const (
	maxShots    = 3         // screenshots of one failed try: the last ones; of pictures that were compared, and of findings, too
	maxFile     = 20 << 20  // bytes of one
	maxFiles    = 300       // of a run
	maxAllFiles = 256 << 20 // bytes of all
)

// errFull is said once.
var errFull = errors.New("no more files are stored: the bound of one run is reached")

// The kinds of files that are stored. With screenshots go the pictures that a step compared,
// and those of findings.
const (
	Screenshots = "screenshot"
	Traces      = "trace"
)

// kinds are those of files that are stored as one, each with a bound of its own.
var kinds = map[string][][]string{
	Screenshots: {{Screenshots}, {"expected", "actual", "difference"}, {"finding"}},
	Traces:      {{Traces}},
}

// Artifacts stores files of failures in a folder: screenshots, or traces.
type Artifacts struct {
	// Kind is one of the kinds above.
	Kind string
	// Dir is the folder; it is made.
	Dir string
	// Show returns the path of a file as reports name it.
	Show func(path string) string

	taken map[string]bool
	bytes int64
	full  bool
}

// keep stores the last files of a try and returns their paths.
func (a *Artifacts) keep(ctx context.Context, api *client.Client, name string, files []client.TestFile) (paths []string, err error) {
	for _, f := range a.chosen(files) {
		if len(a.taken) >= maxFiles || a.bytes+f.Size > maxAllFiles {
			if a.full {
				return paths, nil
			}
			a.full = true
			return paths, errFull
		}
		path, err := a.store(ctx, api, name, f)
		if err != nil {
			return paths, err
		}
		paths = append(paths, a.Show(path))
	}
	return paths, nil
}

// chosen returns the last files of each of the kinds, in the order of the steps.
func (a *Artifacts) chosen(files []client.TestFile) (list []client.TestFile) {
	for _, kind := range kinds[a.Kind] {
		var shots []client.TestFile
		for _, f := range files {
			if slices.Contains(kind, f.Kind) {
				shots = append(shots, f)
			}
		}
		slices.SortStableFunc(shots, func(x, y client.TestFile) int { return x.Step - y.Step })
		list = append(list, shots[max(0, len(shots)-maxShots):]...)
	}
	return list
}

func (a *Artifacts) store(ctx context.Context, api *client.Client, name string, f client.TestFile) (path string, err error) {
	if err := os.MkdirAll(a.Dir, 0o755); err != nil {
		return "", fmt.Errorf("store a file of a run: %w", err)
	}
	if a.taken == nil {
		a.taken = map[string]bool{}
	}
	extension := ".png"
	switch f.ContentType {
	case "image/jpeg":
		extension = ".jpg"
	case "application/zip":
		extension = ".zip"
	}
	// The name has letters, digits and dashes: it leads out of no folder.
	base := fmt.Sprintf("%s step %d", name, f.Step+1)
	if f.Kind != a.Kind {
		base += " " + f.Kind
	}
	base = testfile.FileName(base, a.taken)
	path = filepath.Join(a.Dir, strings.TrimSuffix(base, testfile.Extension)+extension)
	out, err := os.Create(path)
	if err != nil {
		return "", fmt.Errorf("store a file of a run: %w", err)
	}
	err = api.Download(ctx, f.URL, maxFile, out)
	if closed := out.Close(); err == nil {
		err = closed
	}
	if err != nil {
		_ = os.Remove(path) // half a file is none
		return "", fmt.Errorf("store a file of a run: %w", err)
	}
	a.bytes += f.Size
	return path, nil
}
