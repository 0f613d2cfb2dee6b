package distribution

import (
	"errors"
	"net/http"
	"slices"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/api/pagination"
	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/artifact"
	"github.com/slipway-qa/slipway/storage/distribution"
)

// comparisonView is what differs between a build and another of the organization.
type comparisonView struct {
	BuildID int64  `json:"build_id"`
	WithID  *int64 `json:"with_id"` // null: no build is before it, and nothing differs
	// SizeDifference is what the file is larger by, in bytes.
	SizeDifference int64 `json:"size_difference"`
	// Changes are the members that are known of both builds and differ, in this order:
	// version, version_code, kind, channel, min_os_version, target_os, signer.
	Changes []changeView `json:"changes"`
	// PermissionsKnown: both builds say what they ask for.
	PermissionsKnown   bool     `json:"permissions_known"`
	PermissionsAdded   []string `json:"permissions_added"`
	PermissionsRemoved []string `json:"permissions_removed"`
}

// changeView is a member that differs.
type changeView struct {
	Member string `json:"member"`
	From   string `json:"from"`
	To     string `json:"to"`
}

// compare serves GET /api/v3/builds/{id}/compare: with the build that the parameter with
// names, else with the one before it of its app, kind and channel.
func (h builds) compare(c *gin.Context) error {
	b, err := h.build(c)
	if err != nil {
		return err
	}
	other, err := h.other(c, b)
	if err != nil {
		return err
	}
	return respond.JSON(c, http.StatusOK, gin.H{"comparison": compared(b, other)})
}

// other is the build to compare with; nil when none is before it.
func (h builds) other(c *gin.Context, b *distribution.Build) (*distribution.Build, error) {
	ctx := c.Request.Context()
	if text := c.Query("with"); text != "" {
		id, err := pagination.ID(text)
		if err != nil {
			return nil, storage.Invalid("with", "must be the id of a build")
		}
		other, err := distribution.BuildByID(ctx, h.db, auth.Organization(c), 0, id)
		if errors.Is(err, storage.ErrNotFound) {
			return nil, storage.Invalid("with", "there is no build %d", id)
		}
		return other, err
	}
	other, err := distribution.BuildBefore(ctx, h.db, b)
	if errors.Is(err, storage.ErrNotFound) {
		return nil, nil
	}
	return other, err
}

// compared lists what differs between a build and another; nil: none.
func compared(b, other *distribution.Build) comparisonView {
	view := comparisonView{BuildID: b.ID, Changes: []changeView{}, PermissionsAdded: []string{}, PermissionsRemoved: []string{}}
	if other == nil {
		return view
	}
	view.WithID, view.SizeDifference = &other.ID, b.File.Size-other.File.Size
	for _, member := range []struct {
		name, from, to string
		known          bool // of both builds
	}{
		{"version", other.Version, b.Version, true}, {"version_code", other.VersionCode, b.VersionCode, true},
		{"kind", string(other.Kind), string(b.Kind), true}, {"channel", other.Channel(), b.Channel(), true},
		{"min_os_version", other.MinOSVersion, b.MinOSVersion, other.MinOSVersion != "" && b.MinOSVersion != ""},
		{"target_os", other.TargetOS, b.TargetOS, other.TargetOS != "" && b.TargetOS != ""},
		{"signer", signedBy(other), signedBy(b), signerKnown(other) && signerKnown(b)},
	} {
		if member.known && member.from != member.to {
			view.Changes = append(view.Changes, changeView{member.name, member.from, member.to})
		}
	}
	if view.PermissionsKnown = b.Permissions != nil && other.Permissions != nil; view.PermissionsKnown {
		view.PermissionsAdded, view.PermissionsRemoved = without(b.Permissions, other.Permissions), without(other.Permissions, b.Permissions)
	}
	return view
}

// signedBy is who signed a build: the digest of an Android package's certificate, the team
// of an Apple one's profile; "" when nobody did, or that is not known.
func signedBy(b *distribution.Build) string {
	switch {
	case b.Signer != nil:
		return b.Signer.SHA256
	case b.Provisioning != nil:
		return b.Provisioning.Team
	}
	return ""
}

// signerKnown reports whether it is known who signed a build, or that nobody did.
func signerKnown(b *distribution.Build) bool {
	return signedBy(b) != "" || b.Signature().Verdict == artifact.Unsigned
}

// without are the texts of a sorted list that another sorted one does not have.
func without(list, other []string) []string {
	left := []string{}
	for _, text := range list {
		if _, found := slices.BinarySearch(other, text); !found {
			left = append(left, text)
		}
	}
	return left
}
