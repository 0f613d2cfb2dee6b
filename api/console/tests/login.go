package tests

import (
	"encoding/json"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/console/tests/step"
)

// login is the test that signs in for the others of a suite.
type login struct {
	TestCaseID string          `json:"testCaseId"`
	When       json.RawMessage `json:"when"`
}

// when is the condition; nil for none.
func (l *login) when() *step.Condition {
	var w step.Condition
	if l == nil || len(l.When) == 0 || json.Unmarshal(l.When, &w) != nil || w.Matcher == nil {
		return nil
	}
	return &w
}

// LoginID is the test that signs in; "" for none.
func (s *suite) LoginID() string {
	if s.Login == nil {
		return ""
	}
	return s.Login.TestCaseID
}

// SignedOut is the CSS selector of what a page shows to whoever is not signed in; "" where the
// suite's condition is none or another one.
func (s *suite) SignedOut() string {
	w := s.Login.when()
	if w == nil || w.Not || w.Matcher.Name != "visible" || w.Selector == nil || w.Selector.Type != "css" {
		return ""
	}
	return w.Selector.Value
}

// OtherCondition is the condition in words where it is not that of SignedOut; "" otherwise.
func (s *suite) OtherCondition() string {
	if w := s.Login.when(); w != nil && s.SignedOut() == "" {
		return w.String()
	}
	return ""
}

// KeptCondition is that condition as the interface has it.
func (s *suite) KeptCondition() string {
	if s.OtherCondition() == "" {
		return ""
	}
	return string(s.Login.When)
}

// loginIn adds to a change of a suite what the form says of its login, if it asks for one.
func loginIn(c *gin.Context, body map[string]any) error {
	if _, asked := c.GetPostForm("login"); !asked {
		return nil
	}
	id, selector, kept := field(c, "login"), field(c, "signedOut"), field(c, "condition")
	if id == "" {
		body["login"] = nil
		return nil
	}
	login := map[string]any{"testCaseId": id}
	switch {
	case selector != "":
		login["when"] = map[string]any{"selector": map[string]any{"type": "css", "value": selector}, "matcher": map[string]any{"name": "visible"}}
	case kept != "":
		if !json.Valid([]byte(kept)) {
			return wrong("The condition cannot be read.")
		}
		login["when"] = json.RawMessage(kept)
	}
	body["login"] = login
	return nil
}
