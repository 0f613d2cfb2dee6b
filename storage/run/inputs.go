package run

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/authoring"
	"github.com/slipway-qa/slipway/storage/environment"
	"github.com/slipway-qa/slipway/storage/seal"
	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/storage/step/capability"
)

// ErrNoBuild means that a run is to be of a build that the organization does not have.
var ErrNoBuild = errors.New("the build does not exist")

// Inputs are what whoever starts a run gives it, in place of what its cases have.
type Inputs struct {
	// TestURL is where the test begins; "" is where the case does. A host without a path
	// stands for the case's own path there (step.StartURL), and what the steps name of the
	// case's own host is looked for there (step.Move).
	TestURL string
	// BuildID is the distribution's build that is tested; nil for none. It is the app of
	// targets of its platform that ask for a native app and name none.
	BuildID *int64
	// Environment is the name of the environment that the run is in; "" for none. What the
	// run has of it stands in the members above, and in Variables.
	Environment string
	// Variables stand over all variables for a bare {{name}}; nil for none.
	Variables *Variables
	// Trace is one of step.TraceModes, in place of that of the cases; "" leaves it.
	Trace string
	// Retries is how often a job that failed is played again, whatever the cases say: 0 to
	// MaxRetries; nil leaves it to them.
	Retries *int
}

// Variables are values that are given to a run by their names, and those of its environment.
// All of them are kept like secrets: sealed, and only until the run has ended.
type Variables struct {
	names  []string // sorted; of those that are given, not of the environment's
	sealed []byte
}

const (
	// maxVariables and maxVariable bound what is given to one run: the values, in bytes,
	// stand in a row of the run.
	maxVariables = 100
	maxVariable  = 4 << 10
)

var variableName = regexp.MustCompile(`^[a-z0-9_]{1,64}$`)

// SealVariables checks and seals the values of variables; nil when there are none. An
// *InvalidError names variables, or variables.NAME, and never repeats a value.
func SealVariables(keys seal.Ring, values map[string]string) (*Variables, error) {
	return SealValues(keys, values, nil)
}

// environmentMember is where the sealed document has the environment, beside the values by
// their names: no variable has such a name.
const environmentMember = "$environment"

// SealValues does so with what the run has of its environment, nil for none.
func SealValues(keys seal.Ring, values map[string]string, env *environment.Values) (*Variables, error) {
	if len(values) == 0 && env == nil {
		return nil, nil
	}
	if len(values) > maxVariables {
		return nil, storage.Invalid("variables", "has at most %d names", maxVariables)
	}
	names := append([]string{}, slices.Sorted(maps.Keys(values))...) // never null
	for _, name := range names {
		if !variableName.MatchString(name) {
			return nil, storage.Invalid("variables", "has a name that is not 1 to 64 lower-case letters, digits and underscores")
		}
		field, value := "variables."+name, values[name]
		if len(value) > maxVariable {
			return nil, storage.Invalid(field, "must have at most %d KiB", maxVariable>>10)
		}
		if !utf8.ValidString(value) || strings.ContainsRune(value, 0) {
			return nil, storage.Invalid(field, "must be UTF-8 text without the character U+0000")
		}
	}
	whole := make(map[string]any, len(values)+1)
	for name, value := range values {
		whole[name] = value
	}
	if env != nil {
		whole[environmentMember] = env
	}
	doc, err := json.Marshal(whole)
	if err != nil {
		return nil, fmt.Errorf("variables of a run: %w", err)
	}
	sealed, err := seal.Seal(keys, seal.RunVariables, string(doc))
	if err != nil {
		return nil, err
	}
	return &Variables{names, sealed}, nil
}

// Given returns the values of the variables that the run was given, by their names, and what
// it has of its environment; nil where it has none. seal.ErrUnseal.
func (w *Work) Given(keys seal.Ring) (values map[string]string, env *environment.Values, err error) {
	if w.variables == nil {
		return nil, nil, nil
	}
	doc, err := seal.Unseal(keys, seal.RunVariables, w.variables)
	if err != nil {
		return nil, nil, fmt.Errorf("variables of run %s: %w", w.Run.ID, err)
	}
	var whole map[string]json.RawMessage
	if err := json.Unmarshal([]byte(doc), &whole); err != nil {
		return nil, nil, fmt.Errorf("variables of run %s: %w", w.Run.ID, err)
	}
	values = make(map[string]string, len(whole))
	for name, text := range whole {
		if name == environmentMember {
			err = json.Unmarshal(text, &env)
		} else {
			var value string
			err = json.Unmarshal(text, &value)
			values[name] = value
		}
		if err != nil {
			return nil, nil, fmt.Errorf("variables of run %s: %w", w.Run.ID, err)
		}
	}
	return values, env, nil
}

// columns returns variable_names and sealed_variables.
func (v *Variables) columns() (names []string, sealed []byte) {
	if v == nil {
		return []string{}, nil
	}
	return v.names, v.sealed
}

const platformOfBuild = `
select platform from builds where id = $1 and organization_id = $2 and deleted_at is null`

// check refuses inputs that no run can have: an *InvalidError of testUrl, ErrNoBuild. It
// returns the platform of the build.
func (in *Inputs) check(ctx context.Context, q storage.Querier, organizationID int64) (platform string, err error) {
	if in.TestURL != "" {
		if err := step.CheckTestURL("testUrl", in.TestURL); err != nil {
			return "", err
		}
	}
	if err := authoring.CheckTrace("trace", in.Trace); err != nil {
		return "", err
	}
	if err := capability.CheckRetries("retries", in.Retries); err != nil {
		return "", err
	}
	if in.BuildID == nil {
		return "", nil
	}
	err = storage.Wrap(q.GetContext(ctx, &platform, platformOfBuild, *in.BuildID, organizationID), fmt.Sprintf("build %d", *in.BuildID))
	if isNotFound(err) {
		return "", ErrNoBuild
	}
	return platform, err
}

// at sets where the run begins, that was recorded at one address and given another, ""
// for none.
func (r *Run) at(given, recorded string) {
	r.TestURL = recorded
	if given != "" {
		r.TestURL, r.RecordedURL = step.StartURL(given, recorded), &recorded
	}
}

func nullable(n *int64) sql.NullInt64 {
	if n == nil {
		return sql.NullInt64{}
	}
	return sql.NullInt64{Int64: *n, Valid: true}
}

func nullableText(text *string) sql.NullString {
	if text == nil {
		return sql.NullString{}
	}
	return sql.NullString{String: *text, Valid: true}
}

// withoutSecrets returns scheme, host and path of an address, for the audit log, which
// outlives the run: passwords and tokens stand before and behind these.
func withoutSecrets(address string) string {
	address, _, _ = strings.Cut(address, "#")
	address, _, _ = strings.Cut(address, "?")
	scheme, behind, ok := strings.Cut(address, "://")
	if !ok {
		return address
	}
	host, path, _ := strings.Cut(behind, "/")
	host = host[strings.LastIndexByte(host, '@')+1:]
	if path != "" {
		path = "/" + path
	}
	return scheme + "://" + host + path
}

// audited adds to the detail of an audit entry what was given.
func (in *Inputs) audited(detail map[string]any) map[string]any {
	if in.TestURL != "" {
		detail["test_url"] = withoutSecrets(in.TestURL)
	}
	if in.Trace != "" {
		detail["trace"] = in.Trace
	}
	if in.Retries != nil {
		detail["retries"] = *in.Retries
	}
	if in.BuildID != nil {
		detail["build_id"] = *in.BuildID
	}
	if in.Environment != "" {
		detail["environment"] = in.Environment
	}
	if names, _ := in.Variables.columns(); len(names) > 0 {
		detail["variables"] = names
	}
	return detail
}
