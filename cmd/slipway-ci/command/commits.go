package command

import (
	"context"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/slipway-qa/slipway/cmd/slipway-ci/client"
	"github.com/slipway-qa/slipway/cmd/slipway-ci/outcome"
)

const (
	// maxCandidates bounds the builds whose commits are looked for in the history.
	maxCandidates = 20
	// firstCommits are sent where no build before is known.
	firstCommits = 20
	// maxHistory bounds what is read of git's answer, in bytes: all that the server takes, and as
	// much again for the files that it does not.
	maxHistory = 16 << 20
)

// headCommit is the commit that is checked out. It fails where there is no git, or no repository.
func headCommit(ctx context.Context, s *Session) (string, error) {
	return commitOf(ctx, s, "HEAD")
}

// commitOf is the full id of the commit that a name of git stands for. The name is one argument,
// and none that git takes for an option.
func commitOf(ctx context.Context, s *Session, name string) (string, error) {
	if name == "" || strings.HasPrefix(name, "-") || strings.ContainsFunc(name, func(r rune) bool {
		return unicode.IsControl(r) ||
			unicode.IsSpace(r)
	}) {
		return "", outcome.Fail(outcome.Misused, "--commit-range: %q is no name of a commit", name)
	}
	return gitFor(ctx, s, "--commits-from-git", "rev-parse", "--verify", "--quiet", name+"^{commit}")
}

// commitRange is what to list: the commits of until that since has not. since is "" for none known.
type commitRange struct{ since, until string }

// givenRange reads the range of a flag: A..B, or A, which is A..HEAD.
func givenRange(ctx context.Context, s *Session, text string) (r commitRange, err error) {
	since, until, both := strings.Cut(text, "..")
	if !both {
		until = "HEAD"
	}
	if strings.HasPrefix(until, ".") {
		return r, outcome.Fail(outcome.Misused, "--commit-range %q: write A..B, with two dots", text)
	}
	if r.since, err = commitOf(ctx, s, since); err != nil {
		return r, outcome.Fail(outcome.Misused,
			"--commit-range %q: there is no commit %q here (a shallow clone has few: GitHub: fetch-depth: 0)", text, since)
	}
	if r.until, err = commitOf(ctx, s, or(until, "HEAD")); err != nil {
		return r, outcome.Fail(outcome.Misused, "--commit-range %q: there is no commit %q here", text, until)
	}
	return r, nil
}

// rangeSince finds the range of a build: since the newest older build of the app whose commit is in
// the history, of the same branch where there is one.
func rangeSince(ctx context.Context, s *Session, up *client.Uploaded, branch string) (commitRange, error) {
	head, err := headCommit(ctx, s)
	if err != nil {
		return commitRange{}, err
	}
	app, err := strconv.ParseInt(up.ProjectID, 10, 64)
	if err != nil {
		return commitRange{until: head}, nil
	}
	builds, err := s.Client.Builds(ctx, app, "")
	if err != nil {
		return commitRange{}, err
	}
	var same, other []string
	seen := map[string]bool{head: true} // a build of this commit is not before it
	for i := range builds {
		b := &builds[i]
		commit := strings.ToLower(b.Metadata["commit"])
		if itoa(b.ID) == up.BuildID || !isFullCommit(commit) || seen[commit] {
			continue
		}
		seen[commit] = true
		if b.Metadata["branch"] == branch {
			same = append(same, commit)
		} else {
			other = append(other, commit)
		}
	}
	candidates := append(same[:min(len(same), maxCandidates)], other[:min(len(other), maxCandidates)]...)
	for _, commit := range candidates {
		// It fails for a commit that is not here, too.
		if _, err := gitFor(ctx, s, "--commits-from-git", "merge-base", "--is-ancestor", commit, head); err == nil {
			return commitRange{commit, head}, nil
		}
		if ctx.Err() != nil {
			return commitRange{}, ctx.Err()
		}
	}
	return commitRange{until: head}, nil
}

// isFullCommit reports whether what the server says is a commit is a full id: it goes to git as an
// argument.
func isFullCommit(text string) bool {
	return (len(text) == 40 || len(text) == 64) && strings.Trim(text, "0123456789abcdef") == ""
}

// commitsFromGit lists the commits of a range as the server takes them.
func commitsFromGit(ctx context.Context, s *Session, r commitRange) (client.Commits, error) {
	if shallow, err := gitFor(ctx, s, "--commits-from-git", "rev-parse", "--is-shallow-repository"); err == nil && shallow == "true" {
		s.Out.Warn("the clone is shallow: the commits of the build may be incomplete (GitHub: fetch-depth: 0)")
	}
	most, span := client.MaxCommits, r.until
	if r.since == "" {
		most = firstCommits
	} else {
		span = r.since + ".." + r.until
	}
	out, err := gitFor(ctx, s, "--commits-from-git", "log", "-z", "--no-show-signature", "--no-merges", "--no-renames",
		"--no-color", "--name-only",
		"--max-count="+strconv.Itoa(most), "--format=tformat:%x00%H%x00%aN%x00%aE%x00%cI%x00%s", span, "--")
	if err != nil {
		return client.Commits{}, err
	}
	list := client.Commits{Commits: parseHistory(out)}
	if r.since != "" {
		if count, err := gitFor(ctx, s, "--commits-from-git", "rev-list", "--count", "--no-merges", span, "--"); err == nil {
			if n, err := strconv.Atoi(count); err == nil {
				list.Omitted = max(0, n-len(list.Commits))
			}
		}
	}
	fit(&list)
	return list, nil
}

// parseHistory reads what git log -z --name-only prints: of each commit an empty field, five
// fields, and its files, the first of them behind the end of a line. An answer that was cut off
// ends with what is whole.
func parseHistory(text string) []client.Commit {
	commits := []client.Commit{}
	fields := strings.Split(text, "\x00")
	if len(fields) > 0 {
		fields = fields[:len(fields)-1] // behind the last end of a field, or cut off
	}
	for i := 0; i+5 < len(fields) && fields[i] == ""; {
		at, err := time.Parse(time.RFC3339, fields[i+4])
		c := client.Commit{ID: fields[i+1], Author: client.Author{Name: line(fields[i+2], client.MaxCommitAuthor),
			Email: line(fields[i+3], client.MaxCommitAuthor)},
			CommittedAt: at, Message: line(fields[i+5], client.MaxCommitMessage), Paths: []string{}}
		for i += 6; i < len(fields) && fields[i] != ""; i++ {
			path := fields[i]
			if len(c.Paths) == 0 && c.PathsOmitted == 0 {
				path = strings.TrimPrefix(path, "\n")
			}
			switch {
			case len(c.Paths) == client.MaxCommitPaths, utf8.RuneCountInString(path) > client.MaxCommitPath, path == "",
				path != line(path, client.MaxCommitPath):
				c.PathsOmitted++
			default:
				c.Paths = append(c.Paths, path)
			}
		}
		if err == nil && isFullCommit(c.ID) {
			commits = append(commits, c)
		}
	}
	return commits
}

// line is a text as one line of printable UTF-8, of at most as many characters.
func line(text string, most int) string {
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, "\uFFFD"))
	text = strings.TrimSpace(text)
	if runes := []rune(text); len(runes) > most {
		text = strings.TrimSpace(string(runes[:most]))
	}
	return text
}

// fit leaves files out until all texts together are as long as the server takes: of the commits with
// the most files first, which say the least.
func fit(list *client.Commits) {
	for most := client.MaxCommitPaths; sizeOf(list) > client.MaxCommitBytes && most > 0; most /= 2 {
		for i := range list.Commits {
			c := &list.Commits[i]
			if n := len(c.Paths); n > most/2 {
				c.Paths, c.PathsOmitted = c.Paths[:most/2], c.PathsOmitted+n-most/2
			}
		}
	}
}

func sizeOf(list *client.Commits) (n int) {
	for i := range list.Commits {
		c := &list.Commits[i]
		n += len(c.ID) + len(c.Author.Name) + len(c.Author.Email) + len(c.Message)
		for _, path := range c.Paths {
			n += len(path)
		}
	}
	return n
}

// checkCommits fails, before a byte is sent, where the commits cannot be listed.
func (c *uploadCommand) checkCommits(ctx context.Context, s *Session) (err error) {
	switch {
	case c.CommitRange != "":
		_, err = givenRange(ctx, s, c.CommitRange)
	case c.Commits:
		_, err = headCommit(ctx, s)
	}
	return err
}

// sendCommits sends the commits of a build that was uploaded.
func (c *uploadCommand) sendCommits(ctx context.Context, s *Session, up *client.Uploaded, branch string) error {
	r := commitRange{}
	var err error
	if c.CommitRange != "" {
		r, err = givenRange(ctx, s, c.CommitRange)
	} else {
		r, err = rangeSince(ctx, s, up, branch)
	}
	if err != nil {
		return err
	}
	list, err := commitsFromGit(ctx, s, r)
	if err != nil {
		return err
	}
	if err := s.Client.SetCommits(ctx, up.BuildID, list); err != nil {
		return err
	}
	since := "no build before it is in the history"
	if r.since != "" {
		since = "since " + r.since[:12]
	}
	s.Out.Line("build %s: %d commits, %s", up.BuildID, len(list.Commits), since)
	if list.Omitted > 0 {
		s.Out.Line("build %s: %d older commits are counted only", up.BuildID, list.Omitted)
	}
	return nil
}
