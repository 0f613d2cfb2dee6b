package statuscall

import (
	"encoding/json"
	"net/http"
	"net/url"

	"github.com/slipway-qa/slipway/storage/commitstatus"
)

// dialect is how a provider is spoken to.
type dialect struct {
	name string // for people
	// authorize sets the headers that a request has beside its body's.
	authorize func(h http.Header, token string)
	// statusPath is where the status of a commit is posted, and repositoryPath where a
	// repository is read, below the address of a setting.
	statusPath     func(repository, commit string) string
	repositoryPath func(repository string) string
	// body is the document that is posted, and words are its words for states. The answer has
	// the state as its stateMember.
	body        func(s Status) any
	words       map[commitstatus.State]string
	stateMember string
	// standing is where the statuses of a commit are read that a refused one may be among; nil
	// where none is refused for that.
	standing func(repository string, s Status) string
	// seen reads the document of a repository; nil when it is none.
	seen func(doc []byte) *Seen
}

func dialectOf(p commitstatus.Provider) dialect {
	switch p {
	case commitstatus.GitLab:
		return gitlab()
	case commitstatus.Gitea:
		return gitea()
	}
	return github()
}

// stateBody is the document of GitHub and Gitea.
type stateBody struct {
	State       string `json:"state"`
	TargetURL   string `json:"target_url"`
	Description string `json:"description"`
	Context     string `json:"context"`
}

// github speaks as "Create a commit status" and "Get a repository" of
// https://docs.github.com/rest say, at api.github.com or below /api/v3 of a GitHub Enterprise
// Server. It takes at most 1,000 statuses of a commit and context.
func github() dialect {
	d := dialect{name: "GitHub", stateMember: "state", words: map[commitstatus.State]string{commitstatus.Pending: "pending",
		commitstatus.Pass: "success", commitstatus.Fail: "failure"}}
	d.authorize = func(h http.Header, token string) {
		h.Set("Authorization", "Bearer "+token)
		h.Set("Accept", "application/vnd.github+json")
		h.Set("X-GitHub-Api-Version", "2022-11-28")
	}
	d.repositoryPath = func(repository string) string { return "/repos/" + escapePath(repository) }
	d.statusPath = func(repository, commit string) string {
		return "/repos/" + escapePath(repository) + "/statuses/" + url.PathEscape(commit)
	}
	d.body = func(s Status) any {
		return stateBody{State: d.words[s.State], TargetURL: s.Link, Description: s.Description, Context: s.Context}
	}
	d.seen = seenByPush
	return d
}

// gitea speaks as operations repoCreateStatus and repoGet of the description that each Gitea
// serves say (https://try.gitea.io/api/swagger#/repository/repoCreateStatus), which are those
// of Forgejo too. The answer calls the state "status" (CommitStatus in Gitea's
// modules/structs/status.go).
func gitea() dialect {
	d := github()
	d.name, d.stateMember = "Gitea", "status"
	d.authorize = func(h http.Header, token string) {
		h.Set("Authorization", "token "+token)
		h.Set("Accept", "application/json")
	}
	d.repositoryPath = func(repository string) string { return "/api/v1/repos/" + escapePath(repository) }
	d.statusPath = func(repository, commit string) string {
		return "/api/v1/repos/" + escapePath(repository) + "/statuses/" + url.PathEscape(commit)
	}
	return d
}

// gitlabBody is the document of GitLab.
type gitlabBody struct {
	State       string `json:"state"`
	Name        string `json:"name"`
	TargetURL   string `json:"target_url"`
	Description string `json:"description"`
}

// gitlab speaks as "Commit status" of https://docs.gitlab.com/ee/api/commits.html and
// https://docs.gitlab.com/ee/api/projects.html say; the path of a project is one segment, with
// its slashes escaped. A status that is pending cannot become pending: 400 "Cannot transition
// status via :enqueue from :pending" (https://gitlab.com/gitlab-org/gitlab-foss/-/issues/25807,
// https://github.com/woodpecker-ci/woodpecker/issues/4067). One that has ended is followed by a
// new one of the same name (GitLab's app/services/ci/create_commit_status_service.rb).
func gitlab() dialect {
	d := dialect{name: "GitLab", stateMember: "status", words: map[commitstatus.State]string{commitstatus.Pending: "pending",
		commitstatus.Pass: "success", commitstatus.Fail: "failed"}}
	d.authorize = func(h http.Header, token string) {
		h.Set("PRIVATE-TOKEN", token)
		h.Set("Accept", "application/json")
	}
	d.repositoryPath = func(repository string) string { return "/api/v4/projects/" + url.PathEscape(repository) }
	d.statusPath = func(repository, commit string) string {
		return d.repositoryPath(repository) + "/statuses/" + url.PathEscape(commit)
	}
	d.body = func(s Status) any {
		return gitlabBody{State: d.words[s.State], Name: s.Context, TargetURL: s.Link, Description: s.Description}
	}
	d.standing = func(repository string, s Status) string {
		return d.repositoryPath(repository) + "/repository/commits/" + url.PathEscape(s.Commit) + "/statuses?per_page=100&name=" +
			url.QueryEscape(s.Context)
	}
	d.seen = seenByLevel
	return d
}

// seenByPush reads a repository of GitHub or Gitea.
func seenByPush(doc []byte) *Seen {
	var said struct {
		FullName    string `json:"full_name"`
		Permissions *struct {
			Push *bool `json:"push"`
		} `json:"permissions"`
	}
	if json.Unmarshal(doc, &said) != nil || said.FullName == "" {
		return nil
	}
	seen := &Seen{Path: said.FullName}
	if said.Permissions != nil {
		seen.Push = said.Permissions.Push
	}
	return seen
}

// developer is the level of GitLab's role of that name, the least that sets statuses
// (https://docs.gitlab.com/ee/api/access_requests.html).
const developer = 30

// seenByLevel reads a project of GitLab.
func seenByLevel(doc []byte) *Seen {
	type access struct {
		Level int `json:"access_level"`
	}
	var said struct {
		Path        string `json:"path_with_namespace"`
		Permissions *struct {
			Project *access `json:"project_access"`
			Group   *access `json:"group_access"`
		} `json:"permissions"`
	}
	if json.Unmarshal(doc, &said) != nil || said.Path == "" {
		return nil
	}
	seen := &Seen{Path: said.Path}
	if p := said.Permissions; p != nil && (p.Project != nil || p.Group != nil) {
		push := p.Project != nil && p.Project.Level >= developer || p.Group != nil && p.Group.Level >= developer
		seen.Push = &push
	}
	return seen
}
