package environment

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/environment"
	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/storage/step/capability"
)

// request is what a body may say of an environment.
type request struct {
	Name      *string            `json:"name"`
	TeamID    *string            `json:"teamId"`
	TestURL   *string            `json:"testUrl"`
	Tunnel    *string            `json:"tunnel"`
	Targets   *[]target          `json:"targets"`
	Variables map[string]*string `json:"variables"`
	Secrets   map[string]*string `json:"secrets"`
	Headers   map[string]*string `json:"headers"`
	Version   *int64             `json:"version"` // of a change: what the caller has read
}

// target is one browser of the environment.
type target struct {
	Capabilities capability.Capabilities `json:"capabilities"`
	IsRDC        bool                    `json:"isRdc"`
}

// change is what the members change, checked by what the installation permits.
func (h *Handlers) change(ctx context.Context, in *request) (c environment.Change, err error) {
	c = environment.Change{TestURL: in.TestURL, Tunnel: in.Tunnel, Variables: in.Variables, Secrets: in.Secrets, Headers: in.Headers}
	if in.TestURL != nil && *in.TestURL != "" && !strings.Contains(*in.TestURL, "{{") {
		if err := h.cfg.CheckURL(ctx, *in.TestURL); err != nil {
			return c, &storage.InvalidError{Field: "testUrl", Msg: err.Error()}
		}
	}
	if in.Targets == nil {
		return c, nil
	}
	list := make([]capability.Target, 0, len(*in.Targets))
	for i := range *in.Targets {
		t := capability.Target{Capabilities: (*in.Targets)[i].Capabilities, IsRDC: (*in.Targets)[i].IsRDC}
		path := fmt.Sprintf("targets[%d]", i)
		if len(t.Capabilities) == 0 {
			return c, storage.Invalid(path+".capabilities", "is required")
		}
		if err := h.checkTarget(&t); err != nil {
			return c, below(path, err)
		}
		list = append(list, t)
	}
	if _, at, ok := capability.SharedTunnel(list, h.cfg.Vendor); !ok {
		return c, storage.Invalid(fmt.Sprintf("targets[%d]", at), "must name the tunnel of the other targets: they share one")
	}
	c.Targets = &list
	return c, nil
}

func (h *Handlers) checkTarget(t *capability.Target) error {
	if err := capability.CheckTarget(t); err != nil || h.cfg.UnsafeCapabilities {
		return err
	}
	return capability.CheckPermitted(t, h.cfg.Vendor)
}

// below puts the path of a member before that of an error inside of it.
func below(path string, err error) error {
	var wrong *step.InvalidError
	if !errors.As(err, &wrong) {
		return err
	}
	if wrong.Path != "" {
		path += "." + wrong.Path
	}
	return &storage.InvalidError{Field: path, Msg: wrong.Msg}
}

// version is the one that the caller has read; 0 when it does not matter. An If-Match that
// no version can have, or that says another than the body, matches nothing.
func (in *request) version(header []string) (int, error) {
	var version int
	if in.Version != nil {
		if *in.Version < 1 || *in.Version > math.MaxInt32 {
			return 0, storage.Invalid("version", "must be a whole number of at least 1")
		}
		version = int(*in.Version)
	}
	tag := strings.TrimSpace(strings.Join(header, ","))
	if tag == "" || tag == "*" {
		return version, nil
	}
	n, err := strconv.Atoi(strings.Trim(strings.TrimPrefix(tag, "W/"), `"`))
	if err != nil || n < 1 || version != 0 && n != version {
		return 0, fmt.Errorf("header If-Match: %w", storage.ErrStale)
	}
	return n, nil
}

// unchanged refuses a name or a team that is not the environment's: schedules, suites and
// pipelines know it by its name.
func (in *request) unchanged(e *environment.Environment) error {
	if in.Name != nil && *in.Name != e.Name {
		return storage.Invalid("name", "cannot be changed: make another environment")
	}
	if in.TeamID == nil {
		return nil
	}
	id, err := parseUUID("teamId", *in.TeamID)
	if err != nil {
		return err
	}
	if e.TeamUUID == nil || *e.TeamUUID != id {
		return storage.Invalid("teamId", "cannot be changed: make another environment")
	}
	return nil
}

// view is an environment. Values of secrets and of credentials are nowhere in it.
type view struct {
	ID                 uuid.UUID           `json:"id"`
	Name               string              `json:"name"`
	TeamID             *uuid.UUID          `json:"teamId"`
	TestURL            string              `json:"testUrl"`
	Tunnel             string              `json:"tunnel"`
	Targets            []capability.Target `json:"targets"`
	Variables          map[string]string   `json:"variables"`
	SecretNames        []string            `json:"secretNames"`
	Headers            map[string]string   `json:"headers"`
	SecretHeaders      []string            `json:"secretHeaders"`
	Version            int                 `json:"version"`
	CreatorUserID      uuid.UUID           `json:"creatorUserId"`
	LastModifierUserID uuid.UUID           `json:"lastModifierUserId"`
	CreationDate       string              `json:"creationDate"`
	LastUpdateDate     string              `json:"lastUpdateDate"`
}

func viewOf(e *environment.Environment) view {
	return view{ID: e.ID, Name: e.Name, TeamID: e.TeamUUID, TestURL: e.TestURL, Tunnel: e.Tunnel, Targets: e.Targets,
		Variables: e.Variables, SecretNames: e.SecretNames, Headers: e.Headers, SecretHeaders: e.SecretHeaders, Version: e.Version,
		CreatorUserID: e.CreatorUUID, LastModifierUserID: e.ModifierUUID, CreationDate: stamp(e.CreatedAt), LastUpdateDate: stamp(e.UpdatedAt)}
}

// stamp writes a time as all answers of the interface have it.
func stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }
