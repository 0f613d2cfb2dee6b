package junit

import (
	"encoding/xml"

	"github.com/slipway-qa/slipway/api/authoring/diagnosis"
	"github.com/slipway-qa/slipway/storage/run"
)

// reportAttempt is an attempt that another followed or came before, as Surefire has it: a test
// that passed in the end has its failed ones as flakyFailure or flakyError; one that did not has
// the first as failure or error, and each that followed as rerunFailure or rerunError.
type reportAttempt struct {
	XMLName xml.Name
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr"`
	Stack   string `xml:"stackTrace"`
	Output  string `xml:"system-out,omitempty"`
}

// attemptsOf returns the failed attempts of a job but its last one.
func attemptsOf(j *run.Job, kind string) []reportAttempt {
	list := make([]reportAttempt, 0, len(j.Earlier))
	for i := range j.Earlier {
		a := &j.Earlier[i]
		list = append(list, newAttempt(kind, a.Status, a.ErrorCode, a.Error, output(a.Records)))
	}
	return list
}

func newAttempt(kind string, status run.Status, code, text, output string) reportAttempt {
	name := kind + "Failure"
	if status == run.Errored {
		name = kind + "Error"
	}
	failure := newFailure(code, text)
	return reportAttempt{XMLName: xml.Name{Local: name}, Message: failure.Message, Type: failure.Type, Stack: failure.Text, Output: output}
}

// addFailures reports a job that failed in all its attempts. The element is that of the job, as
// readers count them, whatever its first attempt was.
func (c *reportCase) addFailures(j *run.Job) {
	code, text := j.ErrorCode, j.Error
	why := diagnosis.Text(j.Records, j.Diagnosis)
	if len(j.Earlier) > 0 {
		first := &j.Earlier[0]
		code, text, c.Output = first.ErrorCode, first.Error, output(first.Records)
		c.Attempts = attemptsOf(j, "rerun")[1:]
		c.Attempts = append(c.Attempts, newAttempt("rerun", j.Status, j.ErrorCode, j.Error, output(j.Records)))
	}
	failed := newFailure(code, text)
	failed.Text += xmlText(why)
	if j.Status == run.Errored {
		c.Error = failed
		return
	}
	c.Failure = failed
}
