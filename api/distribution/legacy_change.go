package distribution

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/body"
	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/distribution"
	"github.com/slipway-qa/slipway/storage/distribution/grant"
)

// delete1 serves DELETE /api/1/projects/{id}/builds/{build}.
func (h legacy) delete1(c *gin.Context) error {
	projectID, id, err := pathOfBuild(c)
	if err != nil {
		return err
	}
	if err := h.deleteBuild(c, projectID, id); err != nil {
		return err
	}
	return respond.JSON(c, http.StatusOK, gin.H{"status": "ok"})
}

// patchBody is the body of a PATCH. Of the three names of the notes the first that
// is sent counts, and so of the two of the groups.
type patchBody struct {
	Comment         *string           `json:"comment"`
	Changelog       *string           `json:"changelog"`
	ReleaseNotes    *string           `json:"release_notes"`
	Tags            body.List         `json:"tags"`
	Groups          body.List         `json:"groups"`
	AppGroups       body.List         `json:"app_permission_groups"`
	LandingPageMode *string           `json:"landing_page_mode"`
	Metadata        map[string]string `json:"metadata"` // also metadata_KEY
}

func readPatch(c *gin.Context) (change distribution.BuildChange, err error) {
	if body.Type(c.Request) == body.TypeMultipart {
		return change, &storage.InvalidError{Field: "Content-Type", Msg: body.TypeMultipart + " is not supported here: send " +
			body.TypeForm + " or " + body.TypeJSON}
	}
	var in patchBody
	if err = body.Read(c, &in, body.IgnoreUnknown); err != nil {
		return change, err
	}
	for _, notes := range []*string{in.ReleaseNotes, in.Changelog, in.Comment} {
		if notes != nil {
			change.ReleaseNotes = notes
		}
	}
	groups := in.Groups
	if groups == nil {
		groups = in.AppGroups
	}
	change.Groups, change.Tags, change.Metadata = groupsOf(groups), tagsOf(in.Tags), in.Metadata
	change.LandingPageMode = in.LandingPageMode
	return change, checkMode(in.LandingPageMode)
}

// errNoBuild is for a build-id that is missing, no number or of no build of the
// project: the parameter is invalid, whereas the other operations say not found.
var errNoBuild error = &respond.Problem{Status: http.StatusBadRequest, Legacy: codeInvalid,
	Text: "build-id: missing or invalid"}

// update1 serves PATCH /api/1/projects/{id}/builds/{build}: a form or JSON, and
// only what is sent is changed.
func (h legacy) update1(c *gin.Context) error {
	projectID, id, err := pathOfBuild(c)
	if projectID != 0 && err != nil {
		return errNoBuild
	}
	if err != nil {
		return err
	}
	change, err := readPatch(c)
	if err != nil {
		return err
	}
	var b *distribution.Build
	var groups, unknown []string
	err = h.change(c, func(ctx context.Context, tx *storage.Tx, w account.Writer) (err error) {
		if b, unknown, err = distribution.UpdateBuild(ctx, tx, w, projectID, id, change); err != nil {
			return err
		}
		groups, err = grant.BuildGroups(ctx, tx, id)
		return err
	})
	if errors.Is(err, storage.ErrNotFound) {
		return errNoBuild
	}
	if err != nil {
		return err
	}
	if b.AllTesters {
		groups = append([]string{everyTester}, groups...)
	}
	return respond.JSON(c, http.StatusOK, gin.H{"status": "ok", "build_id": decimal(b.ID), "tags": texts(b.Tags),
		"metadata": metadata(b), "changelog": b.ReleaseNotes, "groups": texts(groups),
		"invalid_groups": texts(unknown), "landing_page_mode": b.LandingPageMode})
}

// copyBody is the body of a copy.
type copyBody struct {
	FolderName      string       `json:"folder_name"`
	AppName         string       `json:"app_name"`
	Groups          body.List    `json:"groups"`
	ProjectGroups   body.List    `json:"projectGroups"`
	AllowAllTesters *body.Switch `json:"allowAllTesters"`
}

func readCopy(c *gin.Context) (distribution.BuildCopy, error) {
	var in copyBody
	if err := body.Read(c, &in, body.IgnoreUnknown); err != nil {
		return distribution.BuildCopy{}, err
	}
	folder := strings.TrimSpace(in.FolderName)
	if folder == "" {
		return distribution.BuildCopy{}, &storage.InvalidError{Field: "folder_name", Msg: "is required"}
	}
	return distribution.BuildCopy{Folder: &folder, AppName: strings.TrimSpace(in.AppName),
		BuildGroups: copiedGroups(in.Groups), ProjectGroups: copiedGroups(in.ProjectGroups),
		AllTesters: in.AllowAllTesters.Bool()}, nil
}

// copiedGroups takes an empty list for one that was not given: a copy without
// named groups has those of the original.
func copiedGroups(list body.List) grant.Groups {
	if len(list) == 0 {
		return grant.Groups{}
	}
	return groupsOf(list)
}

// copy1 serves POST /api/1/projects/{id}/builds/{build}/copy: the build in the app of
// its package in another folder, which is created if need be.
func (h legacy) copy1(c *gin.Context) error {
	projectID, id, err := pathOfBuild(c)
	if err != nil {
		return err
	}
	in, err := readCopy(c)
	if err != nil {
		return err
	}
	var copied *distribution.CopiedBuild
	err = h.change(c, func(ctx context.Context, tx *storage.Tx, w account.Writer) (err error) {
		copied, err = h.copyBuild(ctx, tx, w, projectID, id, in)
		return err
	})
	if err != nil {
		return err
	}
	return respond.JSON(c, http.StatusOK, gin.H{"status": "ok", "build_id": decimal(copied.Build.ID),
		"folder_path": copied.Project.FolderPath, "app_name": copied.Build.AppName,
		"assigned_groups": texts(copied.Groups), "invalid_groups": texts(copied.InvalidGroups),
		"assigned_project_groups": texts(copied.ProjectGroups), "invalid_project_groups": texts(copied.InvalidProjectGroups)})
}
