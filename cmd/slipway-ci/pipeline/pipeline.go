// Package pipeline finds out in which job of which CI service slipway-ci runs, by the variables of
// the environment.
//
// A Job has what builds keep of it (commit, branch, address) and what names the run, from which Key
// makes the Idempotency-Key of a request: a job that is run again after a failure uploads and starts
// the same, not another. Outside of a known service everything is empty, and each call is a new one.
package pipeline

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// Job is the job of a CI service that the program runs in.
type Job struct {
	Service string // "" outside of CI
	Commit  string
	Branch  string
	URL     string // of its page
	// Run names the run: the same when the job is run again after a failure, another for
	// the next commit. "" when the service has no such name.
	Run string
	// Name is the job within the run.
	Name string
}

// service is how a CI service names what a Job has: variables, the first that is set counts.
type service struct {
	name, mark                    string
	commit, branch, url, run, job []string // run: all of them together
}

// services are looked for in this order. A self-hosted runner may carry variables of another
// service, but not its mark.
var services = []service{
	{"GitHub Actions", "GITHUB_ACTIONS", []string{"GITHUB_SHA"}, []string{"GITHUB_HEAD_REF", "GITHUB_REF_NAME"}, nil,
		[]string{"GITHUB_SERVER_URL", "GITHUB_REPOSITORY", "GITHUB_RUN_ID"}, []string{"GITHUB_JOB"}},
	{"GitLab", "GITLAB_CI", []string{"CI_COMMIT_SHA"}, []string{"CI_COMMIT_REF_NAME"}, []string{"CI_JOB_URL", "CI_PIPELINE_URL"},
		[]string{"CI_SERVER_URL", "CI_PIPELINE_ID"}, []string{"CI_JOB_NAME"}},
	{"Bitrise", "BITRISE_IO", []string{"BITRISE_GIT_COMMIT", "GIT_CLONE_COMMIT_HASH"}, []string{"BITRISE_GIT_BRANCH"},
		[]string{"BITRISE_BUILD_URL"},
		[]string{"BITRISE_BUILD_SLUG"}, []string{"BITRISE_TRIGGERED_WORKFLOW_ID"}},
	{"CircleCI", "CIRCLECI", []string{"CIRCLE_SHA1"}, []string{"CIRCLE_BRANCH"}, []string{"CIRCLE_BUILD_URL"},
		[]string{"CIRCLE_PIPELINE_ID"}, []string{"CIRCLE_JOB"}},
	{"Azure Pipelines", "TF_BUILD", []string{"BUILD_SOURCEVERSION"}, []string{"BUILD_SOURCEBRANCHNAME"}, nil,
		[]string{"SYSTEM_COLLECTIONURI", "SYSTEM_TEAMPROJECTID", "BUILD_BUILDID"}, []string{"SYSTEM_JOBNAME"}},
	{"Xcode Cloud", "CI_XCODE_CLOUD", []string{"CI_COMMIT"}, []string{"CI_BRANCH", "CI_TAG"}, []string{"CI_BUILD_URL"},
		[]string{"CI_BUILD_ID"}, []string{"CI_WORKFLOW"}},
	{"Buildkite", "BUILDKITE", []string{"BUILDKITE_COMMIT"}, []string{"BUILDKITE_BRANCH"}, []string{"BUILDKITE_BUILD_URL"},
		[]string{"BUILDKITE_BUILD_ID"}, []string{"BUILDKITE_STEP_KEY", "BUILDKITE_STEP_ID"}},
	{"Jenkins", "JENKINS_URL", []string{"GIT_COMMIT"}, []string{"CHANGE_BRANCH", "BRANCH_NAME", "GIT_BRANCH"}, []string{"BUILD_URL"},
		[]string{"BUILD_URL"}, []string{"STAGE_NAME"}},
}

// Detect reads the job from the environment.
func Detect(getenv func(string) string) Job {
	first := func(names []string) string {
		for _, name := range names {
			if value := strings.TrimSpace(getenv(name)); value != "" {
				return value
			}
		}
		return ""
	}
	for _, s := range services {
		if mark := strings.ToLower(getenv(s.mark)); mark == "" || mark == "false" {
			continue
		}
		job := Job{Service: s.name, Commit: first(s.commit), Branch: first(s.branch), URL: first(s.url), Name: first(s.job)}
		var run []string
		for _, name := range s.run {
			run = append(run, getenv(name))
		}
		if last := run[len(run)-1]; last != "" {
			job.Run = strings.Join(run, " ")
		}
		switch s.name {
		case "GitHub Actions":
			job.URL = strings.Join([]string{getenv("GITHUB_SERVER_URL"), getenv("GITHUB_REPOSITORY"), "actions/runs", getenv("GITHUB_RUN_ID")}, "/")
		case "Azure Pipelines":
			job.URL = getenv("SYSTEM_COLLECTIONURI") + getenv("SYSTEM_TEAMPROJECT") + "/_build/results?buildId=" + getenv("BUILD_BUILDID")
		}
		return job
	}
	return Job{}
}

// Key is the Idempotency-Key of something that the job does, of what names it, such as the
// command and the digest of a file; "" outside of CI, where the same again is meant.
func (j Job) Key(what ...string) string {
	if j.Run == "" {
		return ""
	}
	h := sha256.New()
	for _, text := range append([]string{j.Service, j.Run, j.Name}, what...) {
		h.Write([]byte(text))
		h.Write([]byte{0}) // "a", "bc" is not "ab", "c"
	}
	return "ci-" + hex.EncodeToString(h.Sum(nil))[:40]
}

// Metadata is what a build keeps of the job: commit, branch and ci_url.
func (j Job) Metadata() map[string]string {
	all := map[string]string{"commit": j.Commit, "branch": j.Branch, "ci_url": j.URL}
	for name, value := range all {
		if value == "" || j.Service == "" {
			delete(all, name)
		}
	}
	return all
}
