package agent

import (
	"context"
	"net/url"
	"strings"

	"github.com/slipway-qa/slipway/cmd/slipway-ci/client"
)

type searchArguments struct {
	Query string   `json:"query" jsonschema:"what to look for: part of a name, a message or a function; or an id"`
	Kinds []string `json:"kinds,omitempty" jsonschema:"only these kinds: crash_group, crash, version, app, build, test_case, test_suite, test_schedule, crash_comment, symbol, test_run, suite_run, task"`
	paged
}

// identifier is an id: as it is, and marked where it is none of the service's own.
type identifier string

// MarshalJSON marks what has other characters than ids have.
func (i identifier) MarshalJSON() ([]byte, error) {
	if len(i) > 64 || strings.Trim(string(i), "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-") != "" {
		return mark(string(i), maxLine)
	}
	return encode(string(i))
}

// hit is what was found.
type hit struct {
	Kind           string      `json:"kind"`
	ID             identifier  `json:"id"`
	ParentID       *identifier `json:"parent_id,omitempty"`
	CrashProjectID *int64      `json:"crash_project_id,omitempty"`
	Title          line        `json:"title"`
	Detail         line        `json:"detail,omitempty"`
	UpdatedAt      string      `json:"updated_at"`
}

func (s *server) addSearch() {
	add(s, tool{name: "search", title: "Search", longest: map[string]int{"query": 200},
		description: "Find crash groups, crashes, apps, builds, tests, suites, runs and more by a text or an id; of several kinds the newest " +
			"of each, and more_of names those of which there are others: ask for one kind to page through it. parent_id is the test or suite of a " +
			"run, or the group of a comment."},
		s.search)
}

func (s *server) search(ctx context.Context, in searchArguments) (any, error) {
	at, err := in.place()
	if err != nil {
		return nil, err
	}
	switch {
	case at.skip > 0 && len(in.Kinds) != 1:
		return nil, wrong("cursor", "goes on where one kind was asked for")
	case at.skip >= maxFound:
		return nil, wrong("cursor", "must be next_cursor of an answer")
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
	shown := make([]int, len(found.Groups)) // of each kind: in turns, as many as limit
	for total, before := 0, -1; total > before && total < at.limit; {
		before = total
		for i, group := range found.Groups {
			if total < at.limit && shown[i] < len(group.Results) {
				shown[i], total = shown[i]+1, total+1
			}
		}
	}
	answer := foundHits{list: list[hit]{Items: []hit{}}}
	for i, group := range found.Groups {
		answer.Items = append(answer.Items, group.Results[:shown[i]]...)
		if group.More || shown[i] < len(group.Results) {
			answer.MoreOf = append(answer.MoreOf, group.Kind)
		}
	}
	if len(in.Kinds) == 1 && len(answer.MoreOf) > 0 && at.skip+at.limit < maxFound {
		answer.Next, answer.MoreOf = at.next(true), nil
	}
	return answer, nil
}

// maxFound is how far the API lets one page through the results of a kind.
const maxFound = 500

// foundHits is what was found, and the kinds of which there is more.
type foundHits struct {
	list[hit]
	MoreOf []string `json:"more_of,omitempty"`
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
