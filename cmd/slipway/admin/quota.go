package admin

import (
	"context"

	"github.com/slipway-qa/slipway/cmd/slipway/setting"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/quota"
)

// organizationQuota sets the bounds that are given, in place of those of the settings.
type organizationQuota struct {
	Org           string `arg:"" help:"Organization's slug."`
	StoredBytes   *int64 `help:"Bytes that it may store; 0: no bound."`
	Builds        *int64 `help:"Builds that it may keep; 0: no bound."`
	CrashesPerDay *int64 `help:"Crash reports that are stored on a day (UTC); 0: no bound."`
	RunsPerDay    *int64 `help:"Runs of cases and generations that it may start on a day (UTC); 0: no bound."`
}

// Run sets the bounds and prints what the organization uses.
func (c *organizationQuota) Run(ctx context.Context, s *setting.Settings) error {
	return inOrganization(ctx, s, c.Org, func(ctx context.Context, tx *storage.Tx, _ *account.Issuer, org *account.Organization) (any, error) {
		change := quota.Bounds{}
		for resource, bound := range map[quota.Resource]*int64{quota.StoredBytes: c.StoredBytes, quota.Builds: c.Builds,
			quota.CrashesPerDay: c.CrashesPerDay, quota.RunsPerDay: c.RunsPerDay} {
			if bound != nil {
				change[resource] = *bound
			}
		}
		if err := quota.SetBounds(ctx, tx, org.ID, change); err != nil {
			return nil, err
		}
		if len(change) > 0 {
			err := account.Audit(ctx, tx, account.Event{OrganizationID: org.ID, Type: account.SettingsChanged, Actor: account.CLI(),
				Subject: "quotas", Detail: map[string]any{"to": change}})
			if err != nil {
				return nil, err
			}
		}
		quotas, err := s.Quotas()
		if err != nil {
			return nil, err
		}
		list, err := quotas.Of(ctx, tx, org.ID)
		if err != nil {
			return nil, err
		}
		used := map[quota.Resource]any{}
		for _, u := range list {
			used[u.Resource] = map[string]int64{"used": u.Used, "bound": u.Bound}
		}
		return map[string]any{"quotas": used}, nil
	})
}
