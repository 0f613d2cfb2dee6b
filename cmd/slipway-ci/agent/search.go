package agent

import (
	"context"
	"net/url"

	"github.com/slipway-qa/slipway/cmd/slipway-ci/client"
)

type searchArguments struct {
	Query string   `json:"query" jsonschema:"what to look for: part of a name, a message or a function; or an id"`
	Kinds []string `json:"kinds,omitempty" jsonschema:"only these kinds: crash_group, crash, version, app, build, test_case, test_suite, test_schedule, crash_comment, symbol, test_run, suite_run, task"`
	paged
}

// hit is what was found.
type hit struct {
	Kind           string  `json:"kind"`
	ID             line    `json:"id"`
	ParentID       *string `json:"parent_id,omitempty"`
	CrashProjectID *int64  `json:"crash_project_id,omitempty"`
	Title          line    `json:"title"`
	Detail         line    `json:"detail,omitempty"`
	UpdatedAt      string  `json:"updated_at"`
}

func (s *server) addSearch() {
	add(s, tool{name: "search", title: "Search", longest: map[string]int{"query": 200},
		description: "Find crash groups, crashes, apps, builds, tests, suites, runs and more by a text or an id; of each kind the newest. parent_id is the test or suite of a run, or the group of a comment."},
		s.search)
}

func (s *server) search(ctx context.Context, in searchArguments) (any, error) {
	at, err := in.place()
	if err != nil {
		return nil, err
	}
	q := url.Values{}
	set(q, "q", in.Query)
	set(q, "kind", in.Kinds...)
	at.byPage(q, "limit")
	var found struct {
		Groups []struct {
			Kind    string `json:"kind"`
			Results []hit  `json:"results"`
			More    bool   `json:"more"`
		} `json:"groups"`
	}
	if err := s.cfg.Client.Get(ctx, client.Path("api", "v3", "search"), q, &found); err != nil {
		return nil, err
	}
	answer, more := list[hit]{Items: []hit{}}, false
	for _, group := range found.Groups {
		answer.Items, more = append(answer.Items, group.Results...), more || group.More
	}
	answer.Next = at.next(more)
	return answer, nil
}

// list is a part of a list.
type list[T any] struct {
	Items []T    `json:"items"`
	Next  string `json:"next_cursor,omitempty"`
}

// pagination is what lists by pages say.
type pagination struct {
	Page       int   `json:"page"`
	TotalPages int   `json:"total_pages"`
	HasNext    *bool `json:"has_next"` // where the rows were not all counted
}

func (p pagination) more() bool {
	if p.HasNext != nil {
		return *p.HasNext
	}
	return p.Page < p.TotalPages
}
