package intake

import (
	"context"
	"errors"
	"net/http"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/crash/received"
	"github.com/slipway-qa/slipway/storage/quota"
)

// submit stores a report that counts against the organization's day. What is not stored, or
// was there, does not count.
func (r *Receiver) submit(ctx context.Context, report received.Incoming) (received.Receipt, error) {
	if err := r.cfg.Meter.Take(ctx, report.OrganizationID); err != nil {
		return received.Receipt{}, err
	}
	receipt, err := r.cfg.Submitter.Submit(ctx, report)
	var unknown *storage.UnknownOutcomeError
	if err != nil && !errors.As(err, &unknown) || err == nil && receipt.Outcome == received.Resent {
		r.cfg.Meter.Return(report.OrganizationID)
	}
	return receipt, err
}

// overQuota is the refusal of a report beyond the organization's quota.
func overQuota(full *quota.ExceededError) *failure {
	if !full.Resource.Daily() {
		return refuse(http.StatusRequestEntityTooLarge, codeTooLarge, ReasonQuota, full.Error())
	}
	f := refuse(http.StatusTooManyRequests, codeQuota, ReasonQuota, full.Error())
	f.RetryAfter = full.Again
	return f
}
