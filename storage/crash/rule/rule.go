// Package rule stores what is to happen when a crash group is new, is there again, or occurs
// often: people get a mail, webhooks hear of it, the group is assigned. A rule fires once for a
// group, until the group was resolved and a report opened it again, or until its own time has
// passed.
//
// Candidates reads the groups to which reports came, Match says which rules they fulfil, and
// Fire lets of two evaluations of one group and rule one fire, in the transaction of what
// follows from it. It locks groups before rules, as those who count reports do.
package rule

import (
	"database/sql/driver"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/crash"
	"github.com/slipway-qa/slipway/storage/crash/pattern"
)

// Bounds of rules. Each report of an organization may be matched against all of them.
const (
	MaxRules      = 50
	maxName       = 100
	maxConditions = 10
	maxValues     = 20
	maxValue      = 255
	MaxPeople     = 50
	// maxUsers and maxReports bound what a rule counts, and with it the reports that
	// are read for it; maxMinutes how far back it looks.
	maxUsers   = 1000
	maxReports = 9999
	maxMinutes = 7 * 24 * 60
	maxRepeat  = 365 * 24 // hours
)

// Trigger is when a rule fires.
type Trigger string

// The triggers.
const (
	WhenNew       Trigger = "new"       // the group was seen first
	WhenRegressed Trigger = "regressed" // it was resolved, and is open again
	WhenUsers     Trigger = "users"     // more than so many users in so many minutes
	WhenReports   Trigger = "reports"   // more than so many reports in so many minutes
)

// Triggers are all of them.
func Triggers() []Trigger {
	return []Trigger{WhenNew, WhenRegressed, WhenUsers, WhenReports}
}

// counts reports whether the trigger counts the reports of some time.
func (t Trigger) counts() bool { return t == WhenUsers || t == WhenReports }

// Subject is what of a report a condition looks at.
type Subject string

// The subjects.
const (
	OfAttribute Subject = "attribute"
	OfVersion   Subject = "version"
	OfSeverity  Subject = "severity"
	OfPlace     Subject = "place" // a path, a module or a function of the stack
)

// Subjects are all of them.
func Subjects() []Subject { return []Subject{OfAttribute, OfVersion, OfSeverity, OfPlace} }

// Condition is a condition on a report: one of the values matches. In values of an attribute or
// a version * stands for any text; those of a place are patterns as owners have them.
type Condition struct {
	Subject Subject  `json:"subject"`
	Key     string   `json:"key,omitempty"` // of an attribute
	Values  []string `json:"values"`
}

// Conditions must all hold.
type Conditions []Condition

// Value stores them as JSON.
func (c Conditions) Value() (driver.Value, error) {
	if c == nil {
		return "[]", nil
	}
	text, err := json.Marshal([]Condition(c))
	return string(text), err
}

// Scan reads what Value stored.
func (c *Conditions) Scan(stored any) error {
	text, ok := stored.([]byte)
	if !ok {
		return fmt.Errorf("conditions of a rule are stored as %T", stored)
	}
	return json.Unmarshal(text, (*[]Condition)(c))
}

// Rule is a rule of a crash project, or of all of an organization.
type Rule struct {
	ID             int64         `db:"id"`
	OrganizationID int64         `db:"organization_id"`
	ProjectID      *int64        `db:"crash_project_id"` // nil: all
	Name           string        `db:"name"`
	Enabled        bool          `db:"enabled"`
	Trigger        Trigger       `db:"trigger"`
	Above          int           `db:"above"`
	Minutes        int           `db:"minutes"`
	Conditions     Conditions    `db:"conditions"`
	People         pq.Int64Array `db:"people"` // who get a mail
	Webhook        bool          `db:"webhook"`
	AssigneeID     *int64        `db:"assignee_id"`
	RepeatHours    int           `db:"repeat_hours"` // 0: not before the group was resolved
	Fired          int64         `db:"fired"`
	FiredAt        *time.Time    `db:"fired_at"`
	CreatedAt      time.Time     `db:"created_at"`
	UpdatedAt      time.Time     `db:"updated_at"`
}

const columns = `r.id, r.organization_id, r.crash_project_id, r.name, r.enabled, r.trigger, r.above, r.minutes, r.conditions, r.people,
	r.webhook, r.assignee_id, r.repeat_hours, r.fired, r.fired_at, r.created_at, r.updated_at`

// Validate names the member that breaks a rule, as the interface calls it. Whether its people may
// read crashes is for the one who stores it.
func (r *Rule) Validate() (err error) {
	if r.Name, err = storage.Line("name", r.Name, maxName); err != nil {
		return err
	}
	switch {
	case r.Name == "":
		return storage.Invalid("name", "is required")
	case !slices.Contains(Triggers(), r.Trigger):
		return storage.Invalid("trigger", "must be new, regressed, users or reports")
	case len(r.Conditions) > maxConditions:
		return storage.Invalid("conditions", "must be at most %d", maxConditions)
	case len(r.People) > MaxPeople:
		return storage.Invalid("mail", "must be at most %d", MaxPeople)
	case len(r.People) == 0 && !r.Webhook && r.AssigneeID == nil:
		return storage.Invalid("mail", "must name somebody where a rule has neither webhook nor assignee: it would do nothing")
	case r.RepeatHours < 0 || r.RepeatHours > maxRepeat:
		return storage.Invalid("repeat_hours", "must be from 0 to %d", maxRepeat)
	}
	if err := r.checkCount(); err != nil {
		return err
	}
	for i := range r.Conditions {
		if err := r.Conditions[i].validate(fmt.Sprintf("conditions[%d]", i)); err != nil {
			return err
		}
	}
	return nil
}

// checkCount checks what a rule counts. One that counts nothing has neither number.
func (r *Rule) checkCount() error {
	most := maxReports
	if r.Trigger == WhenUsers {
		most = maxUsers
	}
	switch {
	case !r.Trigger.counts() && r.Above != 0:
		return storage.Invalid("above", "goes with the triggers users and reports")
	case !r.Trigger.counts() && r.Minutes != 0:
		return storage.Invalid("minutes", "goes with the triggers users and reports")
	case !r.Trigger.counts():
		return nil
	case r.Above < 0 || r.Above > most:
		return storage.Invalid("above", "must be from 0 to %d", most)
	case r.Minutes < 1 || r.Minutes > maxMinutes:
		return storage.Invalid("minutes", "must be from 1 to %d", maxMinutes)
	}
	return nil
}

func (c *Condition) validate(field string) (err error) {
	if c.Key, err = storage.Line(field+".key", c.Key, maxValue); err != nil {
		return err
	}
	switch {
	case !slices.Contains(Subjects(), c.Subject):
		return storage.Invalid(field+".subject", "must be attribute, version, severity or place")
	case c.Subject == OfAttribute && c.Key == "":
		return storage.Invalid(field+".key", "is required for an attribute")
	case c.Subject != OfAttribute && c.Key != "":
		return storage.Invalid(field+".key", "goes with the subject attribute")
	case len(c.Values) == 0 || len(c.Values) > maxValues:
		return storage.Invalid(field+".values", "must be from 1 to %d", maxValues)
	}
	for i := range c.Values {
		if err := c.validateValue(fmt.Sprintf("%s.values[%d]", field, i), i); err != nil {
			return err
		}
	}
	return nil
}

func (c *Condition) validateValue(field string, i int) (err error) {
	if c.Values[i], err = storage.Line(field, c.Values[i], maxValue); err != nil {
		return err
	}
	switch {
	case c.Values[i] == "":
		return storage.Invalid(field, "must not be empty")
	case strings.Count(c.Values[i], "*") > pattern.MaxWildcards:
		return storage.Invalid(field, "must have at most %d wildcards", pattern.MaxWildcards)
	case c.Subject == OfSeverity && crash.Severity(c.Values[i]).Validate() != nil:
		return storage.Invalid(field, "must be crash, out_of_memory, hang or error")
	case c.Subject == OfPlace && strings.Trim(c.Values[i], "*/ ") == "":
		return storage.Invalid(field, "must name a path or a module")
	}
	return nil
}

// keys are the attributes that the rule looks at.
func (r *Rule) keys() (keys []string) {
	for i := range r.Conditions {
		if r.Conditions[i].Subject == OfAttribute {
			keys = append(keys, r.Conditions[i].Key)
		}
	}
	return keys
}

// OfPlaces reports whether the rule looks at the places of a stack.
func (r *Rule) OfPlaces() bool {
	return slices.ContainsFunc(r.Conditions, func(c Condition) bool { return c.Subject == OfPlace })
}

// facts are what conditions look at of a report.
type facts struct {
	Version    string         `db:"version"`
	Severity   crash.Severity `db:"severity"`
	Attributes []byte         `db:"picked"` // a JSON object of those that rules look at; nil: none

	read map[string]string
}

// attribute is the text of an attribute, "" for none.
func (f *facts) attribute(key string) string {
	if f.read == nil {
		f.read = map[string]string{}
		if len(f.Attributes) > 0 {
			_ = json.Unmarshal(f.Attributes, &f.read) // the database made texts of them
		}
	}
	return f.read[key]
}

// holds reports whether a report fulfils the conditions of a rule but those of places.
func (r *Rule) holds(f *facts) bool {
	for i := range r.Conditions {
		c := &r.Conditions[i]
		switch c.Subject {
		case OfPlace:
			continue
		case OfSeverity:
			if !slices.Contains(c.Values, string(f.Severity)) {
				return false
			}
		case OfVersion:
			if !slices.ContainsFunc(c.Values, func(v string) bool { return pattern.Matches(v, f.Version) }) {
				return false
			}
		case OfAttribute:
			text := f.attribute(c.Key)
			if text == "" || !slices.ContainsFunc(c.Values, func(v string) bool { return pattern.Matches(v, text) }) {
				return false
			}
		}
	}
	return true
}

// HoldsAt reports whether the places of a stack fulfil the conditions of the rule on places.
func (r *Rule) HoldsAt(places []string) bool {
	places = places[:min(len(places), pattern.MaxPlaces)]
	for i := range r.Conditions {
		c := &r.Conditions[i]
		if c.Subject != OfPlace {
			continue
		}
		found := slices.ContainsFunc(c.Values, func(v string) bool {
			return slices.ContainsFunc(places, func(place string) bool { return pattern.MatchesPlace(v, place) })
		})
		if !found {
			return false
		}
	}
	return true
}
