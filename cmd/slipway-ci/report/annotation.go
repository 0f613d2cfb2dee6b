package report

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/slipway-qa/slipway/cmd/slipway-ci/progress"
)

// Provider is a pipeline by the way it is told of a line in a file.
type Provider string

// The providers that are told of lines by what a job prints.
const (
	GitHub Provider = "github"
	Azure  Provider = "azure"
)

// maxAnnotations bounds them: pipelines show some ten of a step.
const maxAnnotations = 50

// Annotations are lines of output that show each failed test at the line of its file. Other
// providers than those above have none.
func (r *Report) Annotations(of Provider) (lines []string) {
	for i := range r.Cases {
		c := &r.Cases[i]
		if c.File == "" || len(c.Failures) == 0 || len(lines) == maxAnnotations {
			continue
		}
		f := c.last()
		text := clip(f.Code+": "+f.Text, 2<<10)
		switch of {
		case GitHub:
			level := "error"
			if c.Outcome.Harmless() {
				level = "warning"
			}
			lines = append(lines, fmt.Sprintf("::%s file=%s,line=%d,title=%s::%s", level, githubValue(c.File), c.Line,
				githubValue(string(c.Outcome)+": "+c.Name), githubText(text)))
		case Azure:
			level := "error"
			if c.Outcome.Harmless() {
				level = "warning"
			}
			lines = append(lines, fmt.Sprintf("##vso[task.logissue type=%s;sourcepath=%s;linenumber=%d;]%s", level, azureValue(c.File), c.Line,
				azureText(string(c.Outcome)+": "+c.Name+": "+text)))
		}
	}
	return lines
}

// githubText is a text behind the :: of a command of GitHub Actions.
func githubText(text string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace(progress.Defused(printable(text)))
}

// githubValue is the value of a property of such a command.
func githubValue(text string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C").Replace(printable(text))
}

// azureText is a text behind the ] of a command of Azure Pipelines.
func azureText(text string) string {
	return strings.NewReplacer("%", "%AZP25", "\r", "%0D", "\n", "%0A").Replace(progress.Defused(printable(text)))
}

// azureValue is the value of a property of such a command.
func azureValue(text string) string {
	return strings.NewReplacer("%", "%AZP25", "\r", "%0D", "\n", "%0A", "]", "%5D", ";", "%3B").Replace(printable(text))
}

// printable takes out control characters but ends of lines.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if r < 0x20 && r != '\n' && r != '\r' || r == 0x7f || r >= 0x80 && r < 0xa0 || r == '\u2028' || r == '\u2029' || r == '\u0085' {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, "?"))
}

// issue is a finding of GitLab's report of code quality, which shows it at the line of a
// merge request.
type issue struct {
	Description string   `json:"description"`
	CheckName   string   `json:"check_name"`
	Fingerprint string   `json:"fingerprint"`
	Severity    string   `json:"severity"`
	Location    location `json:"location"`
}

type location struct {
	Path  string `json:"path"`
	Lines struct {
		Begin int `json:"begin"`
	} `json:"lines"`
}

// CodeQuality writes GitLab's report of code quality: a finding at the line of each test
// of the repository that did not pass at once. Without any, the list is empty.
func (r *Report) CodeQuality(w io.Writer) error {
	list := []issue{}
	for i := range r.Cases {
		c := &r.Cases[i]
		if c.File == "" || len(c.Failures) == 0 {
			continue
		}
		f := c.last()
		one := issue{Description: clip(printable(fmt.Sprintf("%s %s: %s: %s", c.Name, c.Outcome, f.Code, f.Text)), 2<<10),
			CheckName: "slipway/" + string(c.Outcome), Severity: "critical", Location: location{Path: c.File}}
		if c.Outcome.Harmless() {
			one.Severity = "minor"
		}
		one.Location.Lines.Begin = max(1, c.Line)
		// The same test is the same finding, on whichever line it stands and whatever it says.
		sum := sha256.Sum256([]byte(c.File + "\x00" + c.Name + "\x00" + c.Target))
		one.Fingerprint = hex.EncodeToString(sum[:])
		list = append(list, one)
	}
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	if err := e.Encode(list); err != nil {
		return fmt.Errorf("write the report of code quality: %w", err)
	}
	return nil
}
