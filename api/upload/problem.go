package upload

import (
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"time"

	"github.com/slipway-qa/slipway/api/pace"
	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/storage/artifact"
	"github.com/slipway-qa/slipway/storage/distribution"
	"github.com/slipway-qa/slipway/storage/setting"
)

// The codes of version 1 and upload that do not follow from the status.
const (
	codeNoAccess     = 99
	codeInvalidFile  = 105
	codeEmptyFile    = 112
	codeKind         = 121
	codeMode         = 135
	codeSeveralTeams = 136
	codeLogin        = 156
)

// busyRetry is what a client that gets 429 should wait: some uploads end in it.
const busyRetry = 15 * time.Second

// storageProblems are the failures of storage that have a response of their own.
var storageProblems = []struct {
	err    error
	status int
	legacy int
	text   string
}{
	{distribution.ErrSeveralTeams, http.StatusBadRequest, codeSeveralTeams,
		"the package exists in several teams: pass team_id"},
	{distribution.ErrNoTeam, http.StatusBadRequest, 0, "team_id_required: pass team_id or project_id"},
	{distribution.ErrSlugTaken, http.StatusConflict, 0, "landing_page_slug is used by another app"},
	{setting.ErrLoginRequired, http.StatusBadRequest, codeLogin,
		"the organization requires login: landing_page_mode cannot be open"},
	{distribution.ErrNoAccess, http.StatusForbidden, codeNoAccess, "no write access to the project or team"},
}

// explain returns the meaning that failures of storage and inspection have for an
// upload.
func explain(err error) error {
	for _, k := range storageProblems {
		if errors.Is(err, k.err) {
			return &respond.Problem{Status: k.status, Legacy: k.legacy, Text: k.text, Err: err}
		}
	}
	var bad *artifact.InvalidError
	if errors.As(err, &bad) {
		return &respond.Problem{Status: http.StatusBadRequest, Legacy: codeInvalidFile,
			Text: "invalid file: " + bad.Reason, Err: err}
	}
	return err
}

// arrival returns why the body could not be read.
func arrival(err error) error {
	var tooLong *http.MaxBytesError
	var p *respond.Problem
	var slow *pace.SlowError
	switch {
	case errors.As(err, &slow):
		return err
	case errors.As(err, &tooLong), errors.As(err, &p), errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	case errors.Is(err, os.ErrDeadlineExceeded):
		return &respond.Problem{Status: http.StatusRequestTimeout, Text: "the body arrived too slowly", Err: err}
	case errors.Is(err, io.ErrUnexpectedEOF):
		return refuse(http.StatusBadRequest, 0, "the multipart body ended early or has another boundary than its header says")
	}
	return &respond.Problem{Status: http.StatusBadRequest, Text: "the multipart body cannot be read", Err: err}
}

// explainInspection explains the error of an inspection: running out of time does not
// speak against the file, but means that no process was free to read it, or that
// the store was slow. It may be sent again as it is.
func explainInspection(err error) error {
	if errors.Is(err, context.DeadlineExceeded) {
		return &respond.Problem{Status: http.StatusServiceUnavailable, RetryAfter: busyRetry, Err: err,
			Text: "the service is too busy to read the file: try again later"}
	}
	return err
}

func refuse(status, legacy int, text string) error {
	return &respond.Problem{Status: status, Legacy: legacy, Text: text}
}

func problemMode() error {
	return refuse(http.StatusBadRequest, codeMode, "landing_page_mode: must be open or closed")
}

func problemEmpty() error { return refuse(http.StatusBadRequest, codeEmptyFile, "the file is empty") }

func problemKind(text string) error { return refuse(http.StatusBadRequest, codeKind, text) }

func problemFile() error {
	return refuse(http.StatusBadRequest, 0, "file is required: send the content of the build as a file part of multipart/form-data")
}

func problemSymbolFile() error {
	return refuse(http.StatusBadRequest, 0, "file: is required: send the content of a symbol file as a file part of multipart/form-data")
}

func problemTooLarge(text string) error {
	return refuse(http.StatusRequestEntityTooLarge, 0, text)
}

func problemBusy(text string, retry time.Duration) error {
	return &respond.Problem{Status: http.StatusTooManyRequests, Text: text, RetryAfter: retry}
}

// problemNoKey: version 1 calls a missing key a missing parameter.
func problemNoKey(of respond.Interface) error {
	if of == respond.InterfaceV3 {
		return refuse(http.StatusUnauthorized, 0, "authentication is required")
	}
	return refuse(http.StatusBadRequest, 0, "api_key is required")
}
