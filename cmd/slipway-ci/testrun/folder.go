package testrun

import (
	"github.com/slipway-qa/slipway/cmd/slipway-ci/client"
	"github.com/slipway-qa/slipway/cmd/slipway-ci/testfile"
)

// Folder has the files of tests by the ids of their cases.
type Folder map[string]File

// File is the file of a test.
type File struct {
	Path string // from the repository's root, with slashes
	Case *testfile.Case
}

// place is where a test is written, with the step that failed; "" where it is in no file.
func (f Folder) place(caseID string, steps []client.StepTaken) (path string, line int) {
	file, known := f[caseID]
	if !known {
		return "", 0
	}
	line = 1
	for i := range steps {
		if i >= len(file.Case.Steps) {
			break // of another revision
		}
		if line = file.Case.Steps[i].Line; steps[i].Status == client.StatusFailed || steps[i].Status == client.StatusError {
			break
		}
	}
	return file.Path, max(line, 1)
}
