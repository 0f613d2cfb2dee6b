package authoring

import (
	"context"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/step"
)

// What follows is for the rooms of other resources of this interface.

type (
	// Document is a member of a body that is decoded after it.
	Document = document
	// Nullable is a Document that may be null, which is not the same as absent.
	Nullable = nullable
	// StepView is a step of an answer.
	StepView = stepView
)

// Read fills the struct from the body; members that it does not have are refused, or named
// in the answer's warnings.
func Read(c *gin.Context, into any) error { return read(c, into) }

// Data writes the content in the member that every success has, with the warnings.
func Data(c *gin.Context, status int, content any) error { return data(c, status, content) }

// ListOf is a page of a list with the number of all that match.
func ListOf[R, T any](rows []R, total int, view func(*R) T) any { return listOf(rows, total, view) }

// Value reads what a member asks for: nil when it is absent, and what null stands for.
func Value[T any](n Nullable, path string, null T) (*T, error) { return valueOf(n, path, null) }

// Given reports whether a member is there and not null.
func Given(d Document) bool { return d.given() }

// Required refuses a name that is not given.
func Required(name *string) error { return required(name) }

// Searched reads the parameters search, skip and limit of a list.
func Searched(c *gin.Context) (search string, page storage.Page, err error) {
	q := queryOf(c)
	search, page = q.search(), q.page()
	return search, page, q.err
}

// UUIDParam reads a UUID from the path; the error is INVALID_PARAMS.
func UUIDParam(c *gin.Context, name string) (uuid.UUID, error) { return uuidParam(c, name) }

// OptionalUUID reads a UUID of the body; nil when it was not given.
func OptionalUUID(field string, text *string) (*uuid.UUID, error) { return optionalUUID(field, text) }

// Stamp writes a time as all answers have it.
func Stamp(t time.Time) string { return stamp(t) }

// Of returns the handler of a route whose path names a resource: its errors get their
// codes, and what is not there the one given.
func Of(code, text string, h func(*gin.Context) error) func(*gin.Context) error {
	return resource{code, text}.of(h)
}

// Change runs a change with its audit row in one transaction.
func (h *Handlers) Change(c *gin.Context, do func(ctx context.Context, tx *storage.Tx, w account.Writer) error) error {
	return h.cases.change(c, do)
}

// ReadSteps reads the steps that the body has at a path, and checks them with the addresses
// that they open. What has no effect is a warning of the answer.
func (h *Handlers) ReadSteps(c *gin.Context, path string, d Document) ([]step.Step, error) {
	return h.cases.readList(c, path, d)
}

// ViewSteps are the steps of an answer; never null.
func (h *Handlers) ViewSteps(steps []step.Step) []StepView { return h.cases.viewSteps(steps) }

// readList reads a list of steps of the body.
func (h *room) readList(c *gin.Context, path string, d document) ([]step.Step, error) {
	steps, warnings, err := readGivenSteps(path, d)
	if err != nil {
		return nil, err
	}
	if err := under(path, step.Validate(steps)); err != nil {
		return nil, err
	}
	for _, text := range warnings {
		warn(c, "%s", text)
	}
	return steps, h.checkAddresses(c.Request.Context(), path, "", path, steps)
}

// changedList reads a list of steps that may be cleared by null; nil when it was not sent.
func (h *room) changedList(c *gin.Context, path string, n nullable) (*[]step.Step, error) {
	if n.null {
		return &[]step.Step{}, nil
	}
	if !n.given() {
		return nil, nil
	}
	steps, err := h.readList(c, path, n.document)
	return &steps, err
}

func (h *room) viewSteps(steps []step.Step) []stepView {
	views := make([]stepView, 0, len(steps))
	for i := range steps {
		views = append(views, h.viewStep(&steps[i]))
	}
	return views
}
