package command

import (
	"bytes"
	"context"
	"errors"
	"os/exec"
	"strings"
	"time"

	"github.com/slipway-qa/slipway/cmd/slipway-ci/outcome"
)

const (
	// gitTimeout bounds a question to git: a history is read in a moment, a lock is not waited for.
	gitTimeout = 30 * time.Second
	// mostCommits are listed: testers read what changed, not the history.
	mostCommits = "100"
	// lonelyCommits are listed where no tag says since when.
	lonelyCommits = "20"
)

// notesFromGit lists the commits since the last tag before the newest commit, newest first.
func notesFromGit(ctx context.Context, s *Session) (string, error) {
	if _, err := git(ctx, s, "rev-parse", "--git-dir"); err != nil {
		return "", err
	}
	commits := []string{"log", "--no-merges", "--format=- %s (%h)", "--max-count"}
	// A tag at the newest commit itself is that of this build.
	if tag, err := git(ctx, s, "describe", "--tags", "--abbrev=0", "HEAD^"); err == nil {
		commits = append(commits, mostCommits, tag+"..HEAD")
	} else {
		commits = append(commits, lonelyCommits, "HEAD")
	}
	text, err := git(ctx, s, append(commits, "--")...)
	if err != nil {
		return "", err
	}
	if shallow, err := git(ctx, s, "rev-parse", "--is-shallow-repository"); err == nil && shallow == "true" {
		s.Out.Warn("the clone is shallow: the release notes have only the commits that it has (GitHub: fetch-depth: 0)")
	}
	return cut(text, maxNotes), nil
}

// cut ends a text at the last whole line within a number of bytes.
func cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	text = text[:most]
	return text[:strings.LastIndexByte(text, '\n')+1]
}

// git returns what git prints.
func git(ctx context.Context, s *Session, args ...string) (string, error) {
	return gitFor(ctx, s, "--notes-from-git", args...)
}

// gitFor returns what git prints, of a very long answer its beginning; flag is what asks for it. No
// shell reads the arguments.
func gitFor(ctx context.Context, s *Session, flag string, args ...string) (string, error) {
	ctx, stop := context.WithTimeout(ctx, gitTimeout)
	defer stop()
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir = s.World.path(".")
	cmd.WaitDelay = time.Second
	out, problem := &beginning{most: maxHistory}, &beginning{most: maxProblem}
	cmd.Stdout, cmd.Stderr = out, problem
	if err := cmd.Run(); err != nil {
		if errors.Is(err, exec.ErrNotFound) {
			return "", outcome.Fail(outcome.Misused, "%s: there is no git on this machine", flag)
		}
		line, _, _ := strings.Cut(problem.text.String(), "\n")
		return "", outcome.Fail(outcome.Misused, "%s: git %s: %s", flag, args[0], or(line, err.Error()))
	}
	return strings.TrimSpace(out.text.String()), nil
}

// maxProblem bounds what is read of a failure of git.
const maxProblem = 64 << 10

// beginning keeps the first bytes of what is written, and takes the rest.
type beginning struct {
	text bytes.Buffer
	most int
}

func (b *beginning) Write(p []byte) (int, error) {
	b.text.Write(p[:min(len(p), b.most-b.text.Len())])
	return len(p), nil
}
