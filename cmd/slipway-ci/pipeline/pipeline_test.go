package pipeline

import (
	"maps"
	"testing"

	"github.com/stretchr/testify/require"
)

func variables(of map[string]string) func(string) string {
	return func(name string) string { return of[name] }
}

func TestJobsAreRecognised(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		env  map[string]string
		want Job
	}{
		"none": {map[string]string{"CI": "true", "BUILD_URL": "x"}, Job{}},
		"GitHub Actions": {map[string]string{"GITHUB_ACTIONS": "true", "GITHUB_SHA": "c1", "GITHUB_REF_NAME": "main",
			"GITHUB_SERVER_URL": "https://github.com",
			"GITHUB_REPOSITORY": "acme/app", "GITHUB_RUN_ID": "7", "GITHUB_RUN_ATTEMPT": "2", "GITHUB_JOB": "build"},
			Job{"GitHub Actions", "c1", "main", "https://github.com/acme/app/actions/runs/7", "https://github.com acme/app 7", "build"}},
		"a pull request": {map[string]string{"GITHUB_ACTIONS": "true", "GITHUB_HEAD_REF": "fix", "GITHUB_REF_NAME": "12/merge"},
			Job{"GitHub Actions", "", "fix", "//actions/runs/", "", ""}},
		"GitLab": {map[string]string{"GITLAB_CI": "true", "CI_COMMIT_SHA": "c1", "CI_COMMIT_REF_NAME": "main", "CI_JOB_URL": "https://gl/j/1",
			"CI_SERVER_URL": "https://gl", "CI_PIPELINE_ID": "9", "CI_JOB_NAME": "upload", "CI_JOB_ID": "77"},
			Job{"GitLab", "c1", "main", "https://gl/j/1", "https://gl 9", "upload"}},
		"Jenkins": {map[string]string{"JENKINS_URL": "https://j/", "GIT_COMMIT": "c1", "GIT_BRANCH": "origin/main",
			"BUILD_URL": "https://j/job/a/5/"},
			Job{"Jenkins", "c1", "origin/main", "https://j/job/a/5/", "https://j/job/a/5/", ""}},
		"Bitrise": {map[string]string{"BITRISE_IO": "true", "BITRISE_GIT_COMMIT": "c1", "BITRISE_GIT_BRANCH": "main",
			"BITRISE_BUILD_URL": "https://b/1", "BITRISE_BUILD_SLUG": "1", "BITRISE_TRIGGERED_WORKFLOW_ID": "deploy"},
			Job{"Bitrise", "c1", "main", "https://b/1", "1", "deploy"}},
		"CircleCI": {map[string]string{"CIRCLECI": "true", "CIRCLE_SHA1": "c1", "CIRCLE_BRANCH": "main",
			"CIRCLE_BUILD_URL": "https://c/1", "CIRCLE_PIPELINE_ID": "p1", "CIRCLE_WORKFLOW_ID": "w2", "CIRCLE_JOB": "build"},
			Job{"CircleCI", "c1", "main", "https://c/1", "p1", "build"}},
		"Azure Pipelines": {map[string]string{"TF_BUILD": "True", "BUILD_SOURCEVERSION": "c1", "BUILD_SOURCEBRANCHNAME": "main",
			"SYSTEM_COLLECTIONURI": "https://a/", "SYSTEM_TEAMPROJECT": "app", "SYSTEM_TEAMPROJECTID": "t", "BUILD_BUILDID": "3",
			"SYSTEM_JOBNAME": "build"},
			Job{"Azure Pipelines", "c1", "main", "https://a/app/_build/results?buildId=3", "https://a/ t 3", "build"}},
		"Xcode Cloud": {map[string]string{"CI_XCODE_CLOUD": "TRUE", "CI_COMMIT": "c1", "CI_BRANCH": "main",
			"CI_BUILD_URL": "https://x/1", "CI_BUILD_ID": "b1", "CI_WORKFLOW": "Release"},
			Job{"Xcode Cloud", "c1", "main", "https://x/1", "b1", "Release"}},
		"Buildkite": {map[string]string{"BUILDKITE": "true", "BUILDKITE_COMMIT": "c1", "BUILDKITE_BRANCH": "main",
			"BUILDKITE_BUILD_URL": "https://k/1", "BUILDKITE_BUILD_ID": "b1", "BUILDKITE_STEP_KEY": "upload"},
			Job{"Buildkite", "c1", "main", "https://k/1", "b1", "upload"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, c.want, Detect(variables(c.env)))
		})
	}
}

func TestKeyOfAJob(t *testing.T) {
	t.Parallel()
	env := map[string]string{"GITHUB_ACTIONS": "true", "GITHUB_SERVER_URL": "https://github.com", "GITHUB_REPOSITORY": "acme/app",
		"GITHUB_RUN_ID": "7", "GITHUB_RUN_ATTEMPT": "1", "GITHUB_JOB": "build"}
	key := func(changes map[string]string, what ...string) string {
		of := maps.Clone(env)
		maps.Copy(of, changes)
		return Detect(variables(of)).Key(what...)
	}
	first := key(nil, "upload", "a.apk")
	require.Regexp(t, `^ci-[0-9a-f]{40}$`, first)
	require.Equal(t, first, key(map[string]string{"GITHUB_RUN_ATTEMPT": "2"}, "upload", "a.apk"), "the job is run again")
	for _, other := range []string{key(nil, "upload", "b.apk"), key(nil, "uploada.apk"), key(nil, "uploada", ".apk"),
		key(map[string]string{"GITHUB_RUN_ID": "8"}, "upload", "a.apk"), key(map[string]string{"GITHUB_JOB": "debug"}, "upload", "a.apk")} {
		require.NotEqual(t, first, other)
	}
	require.Empty(t, Job{}.Key("upload"), "outside of CI the same again is meant")
	require.Equal(t, map[string]string{"branch": "fix"}, Job{Service: "x", Branch: "fix"}.Metadata())
	require.Empty(t, Job{Commit: "c"}.Metadata())
}
