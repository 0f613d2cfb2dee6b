package junit

import (
	"fmt"
	"strconv"

	"github.com/slipway-qa/slipway/api/authoring/answer"
	"github.com/slipway-qa/slipway/storage/run"
	"github.com/slipway-qa/slipway/storage/step/playback"
)

// traceProperty is the address of the trace of a testcase. Those of the attempts before the last
// have their number too, trace:1.
const traceProperty = "trace"

// maxPictures bounds the pictures of a testcase in a report.
const maxPictures = 20

// reportTrace is a trace or a picture of a testcase.
type reportTrace struct {
	name string // of its property
	path string
}

// tracesOf returns the traces of a job, that of its last attempt first.
func tracesOf(r *run.Run, j *run.Job) (list []reportTrace) {
	if TraceOf(j.Files) != nil {
		list = append(list, reportTrace{traceProperty, tracePath(r, j, 0)})
	}
	for i := range j.Earlier {
		if a := &j.Earlier[i]; TraceOf(a.Files) != nil {
			list = append(list, reportTrace{fmt.Sprintf("%s:%d", traceProperty, a.Number), tracePath(r, j, a.Number)})
		}
	}
	return append(list, picturesOf(j)...)
}

// picturesOf returns the pictures of a job, as expected:s1, by which people decide: of steps
// that look different or that nobody has reviewed, and the screenshot of the step that failed.
func picturesOf(j *run.Job) (list []reportTrace) {
	for i := range j.Files {
		f := &j.Files[i]
		if f.Step < 0 || f.Step >= len(j.Records) || len(list) == maxPictures {
			continue
		}
		of := &j.Records[f.Step]
		switch f.Kind {
		case run.Expected, run.Actual, run.Difference:
		case run.Screenshot:
			if of.Status != playback.Failed {
				continue
			}
		default:
			continue
		}
		list = append(list, reportTrace{f.Kind + ":" + of.StepID, answer.BasePath + "/files/" + f.ID.String()})
	}
	return list
}

// withTraces names traces and pictures, at their addresses below that of the installation.
func (v *reportView) withTraces(base string) *reportView {
	for i := range v.Suite.Cases {
		v.Suite.Cases[i].nameTraces(base)
	}
	return v
}

func (c *reportCase) nameTraces(base string) {
	for _, t := range c.traces {
		address := xmlText(base + t.path)
		if c.Properties == nil {
			c.Properties = &reportProperties{}
		}
		c.Properties.Properties = append(c.Properties.Properties, reportProperty{xmlText(t.name), address})
		c.Output += xmlText(t.name) + ": " + address + "\n"
	}
}

// tracePath is where the trace of an attempt of a job of a run is; 0 is the last one.
func tracePath(r *run.Run, j *run.Job, attempt int) string {
	path := answer.BasePath + "/testcases/" + r.CaseID + "/runs/" + r.ID.String() + "/trace?job=" + j.ID.String()
	if attempt > 0 {
		path += "&attempt=" + strconv.Itoa(attempt)
	}
	return path
}

// TraceOf returns the trace among the files of an attempt, nil without one.
func TraceOf(files []run.File) *run.File {
	for i := range files {
		if files[i].Kind == run.Trace {
			return &files[i]
		}
	}
	return nil
}
