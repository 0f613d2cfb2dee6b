package command

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/slipway-qa/slipway/cmd/slipway-ci/outcome"
	"github.com/slipway-qa/slipway/cmd/slipway-ci/report"
	"github.com/slipway-qa/slipway/cmd/slipway-ci/testrun"
	"github.com/slipway-qa/slipway/cmd/slipway-ci/testsync"
)

// reportFlags are where reports of tests go.
type reportFlags struct {
	JUnit       string `name:"junit" help:"Write a JUnit report (as Surefire)." placeholder:"FILE"`
	Markdown    string `help:"Write a summary in Markdown. Default: $GITHUB_STEP_SUMMARY where it is set." placeholder:"FILE"`
	CodeQuality string `help:"Write GitLab's report of code quality: failures at the lines of test files." placeholder:"FILE"`
	Artifacts   string `help:"Store screenshots and compared pictures of failures in this folder; the JUnit report names them." placeholder:"DIR"`
	Traces      string `help:"Store traces of failures in this folder, for npx playwright show-trace; the JUnit report names them." placeholder:"DIR"`
}

// artifacts are where screenshots and traces go.
func (f *reportFlags) artifacts(s *Session) (list []*testrun.Artifacts) {
	for _, one := range []struct{ kind, dir string }{{testrun.Screenshots, f.Artifacts}, {testrun.Traces, f.Traces}} {
		if one.dir != "" {
			list = append(list, &testrun.Artifacts{Kind: one.kind, Dir: s.Path(one.dir), Show: s.shown})
		}
	}
	return list
}

// write writes all reports. What cannot be written fails the job: it would be missed.
func (f *reportFlags) write(s *Session, out *report.Report) error {
	for _, file := range []struct {
		path  string
		write func(io.Writer) error
	}{
		{f.JUnit, out.JUnit}, {f.CodeQuality, out.CodeQuality},
		{f.Markdown, func(w io.Writer) error { return out.Markdown(w, report.MaxSummary) }},
	} {
		if file.path == "" {
			continue
		}
		var text bytes.Buffer
		if err := file.write(&text); err != nil {
			return outcome.Fail(outcome.Failed, "%s: %w", file.path, err)
		}
		if err := testsync.WriteFile(s.Path(file.path), text.Bytes()); err != nil {
			return outcome.Fail(outcome.Failed, "%w", err)
		}
	}
	if summary := s.World.Getenv("GITHUB_STEP_SUMMARY"); summary != "" && f.Markdown == "" {
		if err := appendSummary(summary, out); err != nil {
			return outcome.Fail(outcome.Failed, "GITHUB_STEP_SUMMARY: %w", err)
		}
	}
	provider := map[string]report.Provider{"GitHub Actions": report.GitHub, "Azure Pipelines": report.Azure}[s.Job.Service]
	if !s.JSON {
		for _, line := range out.Annotations(provider) {
			fmt.Fprintln(s.World.Out, line) // each is escaped; printable would undo that
		}
	}
	return s.Document(out.Document())
}

// appendSummary adds to the summary of a step, which other commands of it have begun.
func appendSummary(path string, out *report.Report) error {
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	var there int64
	if info, err := f.Stat(); err == nil {
		there = info.Size()
	}
	err = out.Markdown(f, report.MaxSummary-int(min(there, report.MaxSummary)))
	if closed := f.Close(); err == nil {
		err = closed
	}
	return err
}

// repositoryRoot is the folder of the repository that a folder is in; the folder itself in
// none.
func repositoryRoot(dir string) string {
	for at := dir; ; at = filepath.Dir(at) {
		if _, err := os.Lstat(filepath.Join(at, ".git")); err == nil {
			return at
		}
		if at == filepath.Dir(at) {
			return dir
		}
	}
}
