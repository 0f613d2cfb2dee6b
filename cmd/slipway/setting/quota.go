package setting

import "github.com/slipway-qa/slipway/storage/quota"

// quotaSettings bound each organization that has no bounds of its own.
type quotaSettings struct {
	QuotaStoredBytes   int64 `env:"SLIPWAY_QUOTA_STORED_BYTES" default:"0" help:"Bytes that an organization may store: builds, symbol files, attachments of crashes, pictures of runs, generations and feedback; 0: no bound."`
	QuotaBuilds        int64 `env:"SLIPWAY_QUOTA_BUILDS" default:"0" help:"Builds that an organization may keep; 0: no bound."`
	QuotaCrashesPerDay int64 `env:"SLIPWAY_QUOTA_CRASHES_PER_DAY" default:"0" help:"Crash reports of an organization that are stored on a day (UTC); 0: no bound."`
	QuotaRunsPerDay    int64 `env:"SLIPWAY_QUOTA_RUNS_PER_DAY" default:"0" help:"Runs of test cases, also those of suites and schedules, and generations that an organization may start on a day (UTC); 0: no bound."`
}

// Quotas are the settings as bounds.
func (s *quotaSettings) Quotas() (*quota.Quotas, error) {
	return quota.New(quota.Bounds{quota.StoredBytes: s.QuotaStoredBytes, quota.Builds: s.QuotaBuilds,
		quota.CrashesPerDay: s.QuotaCrashesPerDay, quota.RunsPerDay: s.QuotaRunsPerDay})
}
