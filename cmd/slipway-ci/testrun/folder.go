package testrun

import (
	"strings"

	"github.com/slipway-qa/slipway/cmd/slipway-ci/client"
	"github.com/slipway-qa/slipway/storage/step/testfile"
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
	lists := map[string][]testfile.Step{"setUp": file.Case.SetUp, "": file.Case.Steps, "tearDown": file.Case.TearDown}
	for i := range steps {
		// Steps of the suite and of step groups stand in no file of a test: the latter are those
		// of the step that runs the group.
		if steps[i].Group == nil && !strings.HasPrefix(steps[i].ID, "suite:") {
			list := lists[steps[i].Phase]
			if len(list) == 0 {
				break // of another revision
			}
			line, lists[steps[i].Phase] = list[0].Line, list[1:]
		}
		if steps[i].Status == client.StatusFailed || steps[i].Status == client.StatusError {
			break
		}
	}
	return file.Path, max(line, 1)
}
