package junit

import (
	"fmt"
	"strings"

	"github.com/slipway-qa/slipway/storage/run"
)

// JobName is the case's name, with the data row where there is one. On several targets each
// job has its number and target too, so that all names differ.
func JobName(r *run.Run, j *run.Job) string {
	of, targets, number := r.CaseName, max(r.JobCount, len(r.Jobs)), j.Position+1
	if j.Row != nil {
		of, targets, number = rowName(of, j.Row), r.Targets, j.Position%max(r.Targets, 1)+1
	}
	if targets < 2 {
		return of
	}
	var parts []string
	for _, name := range []string{"browserName", "browserVersion", "platformName", "appium:deviceName"} {
		if text, _ := j.Target.Capabilities[name].(string); text != "" {
			parts = append(parts, text)
		}
	}
	name := fmt.Sprintf("%s (target %d", of, number)
	if len(parts) > 0 {
		name += ": " + strings.Join(parts, " ")
	}
	return name + ")"
}

// rowName is the name of a case with a data row: Sign in [row 3: ann].
func rowName(of string, r *run.Row) string {
	if r.Name == "" {
		return fmt.Sprintf("%s [row %d]", of, r.Index)
	}
	return fmt.Sprintf("%s [row %d: %s]", of, r.Index, r.Name)
}
