package crash

import (
	"errors"
	"net/http"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/api/crash/content"
	"github.com/slipway-qa/slipway/api/pagination"
	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/crash"
	"github.com/slipway-qa/slipway/storage/crash/reading"
	"github.com/slipway-qa/slipway/storage/distribution/buildcommit"
	"github.com/slipway-qa/slipway/storage/suspect"
)

// suspectsView are the commits that may have caused the crashes of a group.
type suspectsView struct {
	State suspect.State `json:"state"`
	// FirstBuild is the first in which the group was seen, BuildBefore the one before it.
	FirstBuild  *affectedBuildView `json:"first_build"`
	BuildBefore *affectedBuildView `json:"build_before"`
	CrashID     *uuid.UUID         `json:"crash_id"` // whose stack was compared; null: none is kept
	Suspects    []suspectView      `json:"suspects"` // the strongest first, at most 10
	// Others are the other commits of the range, newest first, at most 100; Omitted counts those
	// that are in neither list.
	Others  []rangeCommitView `json:"others"`
	Omitted int               `json:"omitted"`
	// Incomplete: a build of the range has no commits, or not all of them.
	Incomplete bool `json:"incomplete"`
}

// rangeCommitView is a commit of the range.
type rangeCommitView struct {
	ID           string           `json:"id"`
	BuildID      int64            `json:"build_id"` // that it came with
	Author       commitAuthorView `json:"author"`
	CommittedAt  time.Time        `json:"committed_at"`
	Message      string           `json:"message"`
	Files        int              `json:"files"`         // that are stored
	FilesOmitted int              `json:"files_omitted"` // and that are not
}

// commitAuthorView is who wrote a commit. The mail address is that of a member only: those of
// others are shown to nobody.
type commitAuthorView struct {
	Name   string      `json:"name"`
	Member *personView `json:"member"` // null: no member has the author's address
}

// suspectView is a commit with why it is suspected.
type suspectView struct {
	rangeCommitView
	Score   int                 `json:"score"`
	Reasons []suspectReasonView `json:"reasons"`
}

type suspectReasonView struct {
	What     suspect.What `json:"what"`
	Points   int          `json:"points"`
	Files    []string     `json:"files"`
	Function string       `json:"function"`
}

// SuspectChanges serves GET /api/v3/crash-groups/{id}/suspect-changes: the commits between the
// first build in which the group was seen and the one before it, the suspects first.
func (h *Handlers) SuspectChanges(c *gin.Context) error {
	id, err := pagination.ID(c.Param("id"))
	if err != nil {
		return err
	}
	ctx, organization, db := c.Request.Context(), auth.Organization(c), h.store.DB()
	root, err := crash.ResolveGroup(ctx, db, organization, id)
	if err != nil {
		return err
	}
	newest, err := crash.NewestOfGroups(ctx, db, []int64{root})
	if err != nil {
		return err
	}
	v := suspectsView{Suspects: []suspectView{}, Others: []rangeCommitView{}}
	var frames []suspect.Frame
	if n, found := newest[root]; found {
		d, err := reading.CrashByID(ctx, h.store, organization, n.CrashID)
		if err != nil && !errors.Is(err, storage.ErrNotFound) { // it may be removed just now
			return err
		}
		if err == nil {
			v.CrashID, frames = &n.CrashID, stackOf(d)
		}
	}
	changes, err := suspect.Find(ctx, db, organization, root, frames)
	if err != nil {
		return err
	}
	v.show(changes)
	return respond.JSON(c, http.StatusOK, gin.H{"suspect_changes": v})
}

// stackOf are the frames that led to a crash, as symbols show them, innermost first.
func stackOf(d *reading.Detail) (frames []suspect.Frame) {
	_, symbols := content.SymbolicationOf(d.Symbols)
	document := d.Document
	if d.Symbols != nil && d.Symbols.Report != nil {
		document = d.Symbols.Report // that of the dump
	}
	r := content.Report(document)
	if r == nil {
		return nil
	}
	threads, _ := content.Threads(r, document, symbols)
	markOwn(threads, d.Explanation)
	for i := range threads {
		if !threads[i].Main {
			continue
		}
		for _, f := range threads[i].Frames {
			frames = append(frames, suspect.Frame{Function: f.Function, File: f.File, Library: f.Library, Own: f.Own})
		}
	}
	return frames
}

// show fills the view.
func (v *suspectsView) show(changes *suspect.Changes) {
	v.State, v.Omitted, v.Incomplete = changes.State, changes.Omitted, changes.Incomplete
	if r := changes.Range; r != nil {
		v.FirstBuild, v.BuildBefore = rangeBuildOf(&r.First), rangeBuildOf(r.Before)
	}
	for i := range changes.Suspects {
		one := &changes.Suspects[i]
		s := suspectView{rangeCommitView: rangeCommitOf(changes, one), Score: one.Score}
		for _, reason := range one.Reasons {
			s.Reasons = append(s.Reasons, suspectReasonView{reason.What, reason.Points, reason.Paths,
				storage.Cut(reason.Function, content.MaxFrameText)})
		}
		v.Suspects = append(v.Suspects, s)
	}
	for i := range changes.Others {
		v.Others = append(v.Others, rangeCommitOf(changes, &changes.Others[i]))
	}
}

func rangeBuildOf(b *buildcommit.RangeBuild) *affectedBuildView {
	if b == nil {
		return nil
	}
	return &affectedBuildView{b.ID, b.Version, b.VersionCode, b.CreatedAt.UTC()}
}

func rangeCommitOf(changes *suspect.Changes, c *suspect.Ranked) rangeCommitView {
	v := rangeCommitView{ID: c.ID, BuildID: c.BuildID, Author: commitAuthorView{Name: c.AuthorName}, CommittedAt: c.At.UTC(),
		Message: c.Message,
		Files:   len(c.Paths), FilesOmitted: c.PathsOmitted}
	if m := changes.Member(&c.Commit); m != nil {
		v.Author.Member = &personView{ID: m.ID, Email: m.Email, Name: m.Name}
	}
	return v
}
