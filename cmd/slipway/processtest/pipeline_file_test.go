package processtest

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
)

// pipelineStep is a script of a pipeline's file, with the variables that the file gives it.
type pipelineStep struct {
	script    string
	variables map[string]string
}

// pipelineFile reads the file of a service out of docs/ci.md: the block under its heading.
func pipelineFile(t *testing.T, service string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "ci.md"))
	require.NoError(t, err)
	_, chapter, found := strings.Cut(string(text), "\n## "+service+"\n")
	require.True(t, found, "docs/ci.md has no chapter %s", service)
	chapter, _, _ = strings.Cut(chapter, "\n## ")
	block := regexp.MustCompile("(?s)```(?:yaml|groovy|sh)\n(.*?)```").FindStringSubmatch(chapter)
	require.NotNil(t, block, service)
	return block[1]
}

// readYAML reads a file as its service does: a member that stands twice is an error.
func readYAML(t *testing.T, text string) map[string]any {
	t.Helper()
	var file map[string]any
	require.NoError(t, yaml.Unmarshal([]byte(text), &file))
	return file
}

// at follows members into a document.
func at(t *testing.T, in any, path ...string) any {
	t.Helper()
	for _, name := range path {
		members, ok := in.(map[string]any)
		require.True(t, ok, "%s of %v", name, in)
		require.Contains(t, members, name)
		in = members[name]
	}
	return in
}

// texts are the members of a document that are texts; nil for none.
func texts(in any) map[string]string {
	members, _ := in.(map[string]any)
	all := map[string]string{}
	for name, value := range members {
		if text, ok := value.(string); ok {
			all[name] = text
		}
	}
	return all
}

// githubSteps are the scripts of a workflow of GitHub Actions.
func githubSteps(t *testing.T, text string) (list []pipelineStep) {
	t.Helper()
	job := at(t, readYAML(t, text), "jobs", "slipway")
	for _, step := range at(t, job, "steps").([]any) {
		if script, ok := texts(step)["run"]; ok {
			list = append(list, pipelineStep{script, texts(at(t, job, "env"))})
		}
	}
	return list
}

// gitlabSteps are the lines of a job of GitLab, which one shell runs.
func gitlabSteps(t *testing.T, text string) []pipelineStep {
	t.Helper()
	var lines []string
	for _, line := range at(t, readYAML(t, text), "slipway", "script").([]any) {
		lines = append(lines, line.(string))
	}
	return []pipelineStep{{strings.Join(lines, "\n"), nil}}
}

var (
	jenkinsShell    = regexp.MustCompile(`(?s)sh '''(.*?)'''|sh '([^']*)'`)
	jenkinsVariable = regexp.MustCompile(`(?m)^    (\w+) = (?:'([^']*)'|credentials\('([^']*)'\))$`)
)

// jenkinsSteps are the shell steps of a declarative Jenkinsfile.
func jenkinsSteps(t *testing.T, text string) (list []pipelineStep) {
	t.Helper()
	variables := map[string]string{}
	for _, v := range jenkinsVariable.FindAllStringSubmatch(text, -1) {
		variables[v[1]] = v[2] + v[3]
	}
	for _, s := range jenkinsShell.FindAllStringSubmatch(text, -1) {
		list = append(list, pipelineStep{s[1] + s[2], variables})
	}
	require.Equal(t, strings.Count(text, "{"), strings.Count(text, "}"))
	return list
}

// bitriseSteps are the scripts of a workflow of Bitrise.
func bitriseSteps(t *testing.T, text string) (list []pipelineStep) {
	t.Helper()
	for _, step := range at(t, readYAML(t, text), "workflows", "primary", "steps").([]any) {
		script, ok := step.(map[string]any)["script@1"]
		if !ok {
			continue
		}
		for _, input := range at(t, script, "inputs").([]any) {
			if content, ok := texts(input)["content"]; ok {
				list = append(list, pipelineStep{content, nil})
			}
		}
	}
	return list
}

// circleSteps are the scripts of a job of CircleCI.
func circleSteps(t *testing.T, text string) (list []pipelineStep) {
	t.Helper()
	for _, step := range at(t, readYAML(t, text), "jobs", "slipway", "steps").([]any) {
		members, ok := step.(map[string]any)
		if !ok { // checkout
			continue
		}
		switch run := members["run"].(type) {
		case string:
			list = append(list, pipelineStep{run, nil})
		case map[string]any:
			list = append(list, pipelineStep{run["command"].(string), nil})
		}
	}
	return list
}

// azureSteps are the scripts of Azure Pipelines.
func azureSteps(t *testing.T, text string) (list []pipelineStep) {
	t.Helper()
	file := readYAML(t, text)
	for _, step := range at(t, file, "steps").([]any) {
		script, ok := texts(step)["script"]
		if !ok {
			continue
		}
		variables := texts(at(t, file, "variables"))
		for name, value := range texts(step.(map[string]any)["env"]) {
			variables[name] = value
		}
		list = append(list, pipelineStep{script, variables})
	}
	return list
}

// xcodeSteps is the script of Xcode Cloud.
func xcodeSteps(t *testing.T, text string) []pipelineStep {
	t.Helper()
	require.True(t, strings.HasPrefix(text, "#!/bin/sh\n"))
	return []pipelineStep{{text, nil}}
}
