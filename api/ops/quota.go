package ops

import (
	"context"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/slipway-qa/slipway/storage/quota"
)

var descQuota = prometheus.NewDesc("slipway_quota_used_ratio",
	"What organizations use of a quota, from 0 to 1: of each quota those that are nearest to it.", []string{"organization", "quota"}, nil)

// quotaOrganizations bounds the series of a quota.
const quotaOrganizations = 10

// quotaCollector reads at the scrape, at most once in a quotaAge.
type quotaCollector struct {
	read     func(ctx context.Context, most int) ([]quota.Share, error)
	snapshot cached[[]quota.Share]
}

// quotaLimit bounds the time of a scrape for the quotas.
const quotaLimit = 5 * time.Second

// AddQuotas adds the series of quotas; read returns the organizations that are nearest to
// each of their bounds.
func (m *Metrics) AddQuotas(read func(ctx context.Context, most int) ([]quota.Share, error), log *slog.Logger) {
	c := &quotaCollector{read: read}
	c.snapshot = cached[[]quota.Share]{now: time.Now, load: func() []quota.Share {
		ctx, cancel := context.WithTimeout(context.Background(), quotaLimit)
		defer cancel()
		list, err := c.read(ctx, quotaOrganizations)
		if err != nil {
			log.Warn("metrics of quotas not read", "error", err)
		}
		return list
	}}
	m.registry.MustRegister(c)
}

// Describe implements prometheus.Collector.
func (c *quotaCollector) Describe(to chan<- *prometheus.Desc) { to <- descQuota }

// Collect implements prometheus.Collector.
func (c *quotaCollector) Collect(to chan<- prometheus.Metric) {
	list, err := c.snapshot.get(context.Background())
	if err != nil {
		return // cannot be: this context does not end
	}
	for _, s := range list {
		to <- prometheus.MustNewConstMetric(descQuota, prometheus.GaugeValue, s.Ratio, s.Organization, string(s.Resource))
	}
}
