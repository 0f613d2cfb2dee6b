package suite

import (
	"fmt"

	"github.com/slipway-qa/slipway/api/authoring/answer"
	"github.com/slipway-qa/slipway/api/authoring/problem"
	"github.com/slipway-qa/slipway/api/authoring/request"
	"github.com/slipway-qa/slipway/storage/authoring"
	"github.com/slipway-qa/slipway/storage/suiteplan"
)

// filterView is which cases a suite that is a filter runs.
type filterView struct {
	Tags     []string `json:"tags"`
	NotTags  []string `json:"notTags"`
	AllTeams bool     `json:"allTeams"`
}

// planDetail is what the responses of one suite say of its runs besides.
type planDetail struct {
	SharedTestCases []string            `json:"sharedTestCases,omitempty"`
	Order           []string            `json:"order,omitempty"`
	DependsOn       map[string][]string `json:"dependsOn,omitempty"`
}

// viewFilter is nil for a suite of cases of its own.
func viewFilter(f *suiteplan.Filter) *filterView {
	if f.Empty() {
		return nil
	}
	return &filterView{answer.Tags(f.Tags), answer.Tags(f.NotTags), f.AllTeams}
}

func viewPlan(row *authoring.Suite) planDetail {
	return planDetail{row.Shared, row.Plan.Order, row.Plan.DependsOn}
}

// planBody is what a request may say of which cases a suite runs, and how. null removes what is
// stored.
type planBody struct {
	Filter                request.Nullable `json:"filter"`
	MaxDuration           request.Nullable `json:"maxDuration"` // seconds
	Order                 request.Nullable `json:"order"`
	DependsOn             request.Nullable `json:"dependsOn"`
	SharedTestCases       request.Nullable `json:"sharedTestCases"`
	AddSharedTestCases    []string         `json:"addSharedTestCases"`
	RemoveSharedTestCases []string         `json:"removeSharedTestCases"`
}

// filterBody is a filter as requests have it.
type filterBody struct {
	Tags     []string `json:"tags"`
	NotTags  []string `json:"notTags"`
	AllTeams bool     `json:"allTeams"`
}

// planChange is what of a suite to change.
type planChange struct {
	suiteplan.Change
	shared      *[]string
	add, remove []string
}

// planned reads the change. What is wrong with the lists of cases is INVALID_TEST_CASES.
func (in *suiteBody) planned() (c planChange, err error) {
	filter, err := request.Value(in.Filter, "filter", filterBody{})
	if err != nil {
		return c, err
	}
	if filter != nil {
		if c.Filter, err = in.filterOf(filter); err != nil {
			return c, err
		}
	}
	if c.MaxDuration, err = request.Value(in.MaxDuration, "maxDuration", 0); err != nil {
		return c, err
	}
	if in.MaxDuration.Given() && *c.MaxDuration == 0 {
		return c, problem.Member("maxDuration", fmt.Sprintf("must be 1 to %d seconds", suiteplan.MaxDuration))
	}
	if c.Order, err = listOfCases(in.Order, "order"); err != nil {
		return c, err
	}
	if c.shared, err = listOfCases(in.SharedTestCases, "sharedTestCases"); err != nil {
		return c, err
	}
	if c.add, err = caseIDs("addSharedTestCases", in.AddSharedTestCases); err != nil {
		return c, err
	}
	if c.remove, err = caseIDs("removeSharedTestCases", in.RemoveSharedTestCases); err != nil {
		return c, err
	}
	if c.DependsOn, err = in.needs(); err != nil {
		return c, err
	}
	return c, in.sharedOnce(&c)
}

// sharedOnce refuses lists that contradict each other.
func (in *suiteBody) sharedOnce(c *planChange) error {
	if c.shared != nil && len(c.add)+len(c.remove) > 0 {
		return invalidCases("sharedTestCases replaces all that are shared and does not go with addSharedTestCases and removeSharedTestCases")
	}
	added := make(map[string]bool, len(c.add))
	for _, id := range c.add {
		added[id] = true
	}
	for _, id := range c.remove {
		if added[id] {
			return invalidCases("addSharedTestCases and removeSharedTestCases both name " + id)
		}
	}
	return nil
}

// filterOf is the filter that a request asks for, which stands in place of lists of cases.
func (in *suiteBody) filterOf(f *filterBody) (*suiteplan.Filter, error) {
	filter := &suiteplan.Filter{Tags: f.Tags, NotTags: f.NotTags, AllTeams: f.AllTeams}
	if !in.Filter.Given() {
		return filter, nil
	}
	if filter.Empty() {
		return nil, problem.Member("filter", "must have tags or notTags; null removes it")
	}
	if len(f.Tags) > suiteplan.MaxTags || len(f.NotTags) > suiteplan.MaxTags {
		return nil, problem.Member("filter", fmt.Sprintf("must have at most %d tags, and as many notTags", suiteplan.MaxTags))
	}
	for name, given := range map[string]bool{"testCases": in.TestCases != nil, "testCaseIds": in.TestCaseIDs != nil,
		"addTestCases": len(in.AddTestCases) > 0, "sharedTestCases": in.SharedTestCases.Given(),
		"addSharedTestCases": len(in.AddSharedTestCases) > 0} {
		if given {
			return nil, problem.Member("filter", "stands in place of test cases: "+name+" does not go with it")
		}
	}
	return filter, nil
}

// listOfCases reads a list of ids of cases, which null empties; nil when it is absent.
func listOfCases(n request.Nullable, path string) (*[]string, error) {
	texts, err := request.Value(n, path, []string{})
	if err != nil || texts == nil {
		return nil, err
	}
	ids, err := caseIDs(path, *texts)
	return &ids, err
}

// needs reads which cases need which.
func (in *suiteBody) needs() (*map[string][]string, error) {
	texts, err := request.Value(in.DependsOn, "dependsOn", map[string][]string{})
	if err != nil || texts == nil {
		return nil, err
	}
	needs := make(map[string][]string, len(*texts))
	for text, list := range *texts {
		path := "dependsOn." + text[:min(len(text), answer.MaxShownName)]
		id, ok := request.ParseHex(text)
		if !ok {
			return nil, invalidCases(path + ": must be the id of a test case, 24 hexadecimal digits")
		}
		ids, err := caseIDs(path, list)
		if err != nil {
			return nil, err
		}
		needs[id] = append(needs[id], ids...)
	}
	return &needs, nil
}
