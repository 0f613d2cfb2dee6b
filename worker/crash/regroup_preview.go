package crash

import (
	"cmp"
	"context"
	"encoding/hex"
	"maps"
	"slices"

	"github.com/slipway-qa/slipway/storage/crash"
)

// Bounds of a preview.
const (
	// previewPerKey reports of a key are read, the newest: as many as decide after an upgrade.
	previewPerKey = rekeyReports
	// previewCrashes are read in all: some minutes.
	previewCrashes = 50_000
	// previewListed merges and splits are listed, and so many groups of each.
	previewListed = 50
)

// RegroupPreview is what grouping a crash project anew would change.
type RegroupPreview struct {
	DryRun bool `json:"dry_run"`
	// Complete is false where there are more keys than a preview looks at.
	Complete bool `json:"complete"`
	// MergeCount and SplitCount count what Merges and Splits list the first of.
	MergeCount int            `json:"merge_count"`
	SplitCount int            `json:"split_count"`
	Merges     []RegroupMerge `json:"merges"`
	Splits     []RegroupSplit `json:"splits"`
}

// RegroupMerge are groups whose reports would be one group.
type RegroupMerge struct {
	Fingerprint string  `json:"fingerprint"`
	Title       string  `json:"title"`
	Culprit     string  `json:"culprit"`
	Groups      []int64 `json:"groups"`
}

// RegroupSplit is a group whose reports would be several.
type RegroupSplit struct {
	Group int64              `json:"group"`
	Into  []RegroupSplitPart `json:"into"`
}

// RegroupSplitPart is one of these, with how many of the reports that were looked at go there.
type RegroupSplitPart struct {
	Fingerprint string `json:"fingerprint"`
	Title       string `json:"title"`
	Culprit     string `json:"culprit"`
	Crashes     int    `json:"crashes"`
}

// preview looks at the newest reports of each key.
func (r *Regroup) preview(ctx context.Context, organization, project int64) (RegroupResult, error) {
	sum := RegroupResult{RegroupPreview: &RegroupPreview{DryRun: true, Complete: true, Merges: []RegroupMerge{}, Splits: []RegroupSplit{}}}
	until, err := crash.LastRegroupKey(ctx, r.Store.DB(), project)
	if err != nil {
		return sum, err
	}
	sum.Until = until
	found := previewing{byGroup: map[int64]map[[32]byte]int{}, byKey: map[[32]byte]*previewKey{}}
	for sum.Crashes < previewCrashes {
		rows, err := crash.RegroupCrashes(ctx, r.Store.DB(), project, sum.Cursor, until, rereadStep, previewPerKey)
		if err != nil {
			return sum, err
		}
		if len(rows) == 0 {
			return r.summed(ctx, project, &found, sum)
		}
		crashes, _, err := r.read(ctx, organization, rows)
		if err != nil {
			return sum, err
		}
		found.add(rows, crashes)
		sum.Crashes, sum.Cursor = sum.Crashes+len(rows), nextKey(rows)
	}
	sum.Complete = false
	return r.summed(ctx, project, &found, sum)
}

// nextKey is the cursor behind the reports that were read: of a key whose newest were all read, the
// next key is read on; one that the page cut off is read to its bound, which is within two pages.
func nextKey(rows []crash.RegroupCrash) crash.RegroupCursor {
	last := rows[len(rows)-1]
	of := 0
	for i := range rows {
		if rows[i].KeyID == last.KeyID {
			of++
		}
	}
	if of >= previewPerKey || len(rows) < rereadStep {
		return crash.RegroupCursor{Key: last.KeyID}
	}
	return last.Cursor()
}

// previewing is what a preview has found: how many reports of a group that is shown get a key.
type previewing struct {
	byGroup map[int64]map[[32]byte]int
	byKey   map[[32]byte]*previewKey
}

// previewKey is a key that reports would get.
type previewKey struct {
	title, culprit string
	groups         map[int64]bool // that are shown for these reports now
}

func (p *previewing) add(rows []crash.RegroupCrash, crashes []crash.Crash) {
	for i := range rows {
		at := slices.IndexFunc(crashes, func(c crash.Crash) bool { return c.ID == rows[i].ID })
		if at < 0 || crashes[at].Group == nil {
			continue
		}
		g, of := crashes[at].Group, p.byGroup[rows[i].RootID]
		if of == nil {
			of = map[[32]byte]int{}
			p.byGroup[rows[i].RootID] = of
		}
		of[g.Key]++
		if p.byKey[g.Key] == nil {
			p.byKey[g.Key] = &previewKey{title: g.Title, culprit: g.Culprit, groups: map[int64]bool{}}
		}
		p.byKey[g.Key].groups[rows[i].RootID] = true
	}
}

// summed makes the result of what was found. A key that a group has already leads there.
func (r *Regroup) summed(ctx context.Context, project int64, p *previewing, sum RegroupResult) (RegroupResult, error) {
	keys := make([][32]byte, 0, len(p.byKey))
	for k := range p.byKey {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b [32]byte) int { return slices.Compare(a[:], b[:]) })
	has, err := crash.GroupsOfKeys(ctx, r.Store.DB(), project, keys)
	if err != nil {
		return sum, err
	}
	p.merges(keys, has, &sum)
	p.splits(has, &sum)
	return sum, nil
}

// merges finds the keys that reports of several groups get, or of another group than has the key.
func (p *previewing) merges(keys [][32]byte, has map[[32]byte]int64, sum *RegroupResult) {
	for _, k := range keys {
		into := p.byKey[k]
		if has[k] != 0 {
			into.groups[has[k]] = true
		}
		if len(into.groups) < 2 {
			continue
		}
		groups := slices.Sorted(maps.Keys(into.groups))
		sum.MergeCount++
		if len(sum.Merges) < previewListed {
			sum.Merges = append(sum.Merges, RegroupMerge{Fingerprint: hex.EncodeToString(k[:]), Title: into.title,
				Culprit: into.culprit, Groups: groups[:min(len(groups), previewListed)]})
		}
	}
}

// splits finds the groups whose reports get keys that do not lead to one group.
func (p *previewing) splits(has map[[32]byte]int64, sum *RegroupResult) {
	for _, group := range slices.Sorted(maps.Keys(p.byGroup)) {
		places := map[any]bool{} // a group that has the key, or the key
		var parts []RegroupSplitPart
		for k, n := range p.byGroup[group] {
			if has[k] != 0 {
				places[has[k]] = true
			} else {
				places[k] = true
			}
			if has[k] != group {
				sum.Changed += n
			}
			parts = append(parts, RegroupSplitPart{Fingerprint: hex.EncodeToString(k[:]), Title: p.byKey[k].title,
				Culprit: p.byKey[k].culprit, Crashes: n})
		}
		if len(places) < 2 {
			continue
		}
		slices.SortFunc(parts, func(a, b RegroupSplitPart) int {
			return cmp.Or(b.Crashes-a.Crashes, cmp.Compare(a.Fingerprint, b.Fingerprint))
		})
		sum.SplitCount++
		sum.Split += len(places) - 1
		if len(sum.Splits) < previewListed {
			sum.Splits = append(sum.Splits, RegroupSplit{Group: group, Into: parts[:min(len(parts), previewListed)]})
		}
	}
}
