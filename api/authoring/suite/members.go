package suite

import (
	"fmt"
	"net/http"

	"github.com/slipway-qa/slipway/api/authoring/problem"
	"github.com/slipway-qa/slipway/api/authoring/request"
)

// cases reads the lists of cases of the body: their ids in lower case, each once.
// It returns the list that replaces all cases, nil when there is none. What is wrong
// with the lists is INVALID_TEST_CASES.
func (in *suiteBody) cases() (*[]string, error) {
	if in.TestCases != nil && in.TestCaseIDs != nil {
		return nil, invalidCases("testCases and testCaseIds are synonyms: give one of them")
	}
	all, path := in.TestCases, "testCases"
	if all == nil {
		all, path = in.TestCaseIDs, "testCaseIds"
	}
	if all != nil && len(in.AddTestCases)+len(in.RemoveTestCases) > 0 {
		return nil, invalidCases(path + " replaces all cases and does not go with addTestCases and removeTestCases")
	}
	var err error
	if in.AddTestCases, err = caseIDs("addTestCases", in.AddTestCases); err != nil {
		return nil, err
	}
	if in.RemoveTestCases, err = caseIDs("removeTestCases", in.RemoveTestCases); err != nil {
		return nil, err
	}
	if err := in.disjoint(); err != nil || all == nil {
		return nil, err
	}
	ids, err := caseIDs(path, *all)
	if err != nil {
		return nil, err
	}
	return &ids, nil
}

// disjoint refuses a case that is to be added and removed.
func (in *suiteBody) disjoint() error {
	added := make(map[string]bool, len(in.AddTestCases))
	for _, id := range in.AddTestCases {
		added[id] = true
	}
	for _, id := range in.RemoveTestCases {
		if added[id] {
			return invalidCases("addTestCases and removeTestCases both name " + id)
		}
	}
	return nil
}

func caseIDs(path string, texts []string) ([]string, error) {
	ids, seen := make([]string, 0, len(texts)), make(map[string]bool, len(texts))
	for i, text := range texts {
		id, ok := request.ParseHex(text)
		if !ok {
			return nil, invalidCases(fmt.Sprintf("%s[%d]: must have 24 hexadecimal digits", path, i))
		}
		if !seen[id] {
			seen[id] = true
			ids = append(ids, id)
		}
	}
	return ids, nil
}

func invalidCases(text string) error {
	return problem.Refused(http.StatusBadRequest, problem.CodeInvalidCases, text)
}
