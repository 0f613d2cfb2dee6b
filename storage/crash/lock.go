package crash

import (
	"context"
	"slices"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/crash/projectlock"
)

// Lock shares the locks of the projects in which the crashes are grouped, finds
// the builds that they came from, which the crashes remember, and locks these,
// until the transaction ends. It comes before Record, once and with all of the
// crashes: locks taken by each call of Record would not be in order, and two such
// transactions and a merge could wait for one another.
func Lock(ctx context.Context, tx *storage.Tx, crashes []Crash) error {
	if err := shareProjects(ctx, tx, crashes); err != nil {
		return err
	}
	return lockReportedBuilds(ctx, tx, crashes)
}

// shareProjects shares the locks of the projects in which the crashes are grouped.
func shareProjects(ctx context.Context, tx *storage.Tx, crashes []Crash) error {
	var projects []int64
	for i := range crashes {
		if c := &crashes[i]; c.Group != nil && !slices.Contains(projects, c.ProjectID) {
			projects = append(projects, c.ProjectID)
		}
	}
	if len(projects) == 0 {
		return nil
	}
	return projectlock.Share(ctx, tx, projects...)
}
