package tier

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"

	"github.com/slipway-qa/slipway/storage"
	genstore "github.com/slipway-qa/slipway/storage/generation"
	"github.com/slipway-qa/slipway/worker/generation"
	"github.com/slipway-qa/slipway/worker/generation/model"
)

// model returns the model that generations ask; nil when none is set.
func (s *Services) model() (*generation.ModelConfig, error) {
	set := s.Settings
	if set.ModelProvider == "" || set.ModelUse == "never" {
		return nil, nil
	}
	// The operator chose the address, so it may be a private one.
	client, err := model.New(model.Config{Provider: set.ModelProvider, BaseURL: set.ModelURL, Model: set.ModelName, Key: string(set.ModelKey),
		HTTP: &http.Client{}, InputPrice: microUSD(set.ModelInputPrice), OutputPrice: microUSD(set.ModelOutputPrice)})
	if err != nil {
		return nil, err
	}
	limits := genstore.SpendingLimits{Day: microUSD(set.ModelUSDPerDay), Organization: microUSD(set.ModelUSDPerOrganizationDay)}
	return &generation.ModelConfig{Client: client, Always: set.ModelUse == "always",
		Limit: model.Amount{Calls: set.ModelCallsPerTask, Tokens: set.ModelTokensPerTask, MicroUSD: microUSD(set.ModelUSDPerTask)},
		Budget: func(organization int64) model.Budget {
			return &spending{db: s.DB, limits: limits, organization: organization}
		}}, nil
}

// spending is the budget of an organization's day, kept in the database.
type spending struct {
	db           *storage.DB
	limits       genstore.SpendingLimits
	organization int64
}

// Reserve implements model.Budget.
func (b *spending) Reserve(ctx context.Context, estimate model.Amount) (model.Settle, error) {
	reserved, err := genstore.Reserve(ctx, b.db, b.limits, b.organization, estimate.MicroUSD, int64(estimate.Tokens))
	var over *genstore.OverBudgetError
	if errors.As(err, &over) {
		of := "the installation"
		if over.Organization {
			of = "the organization"
		}
		return nil, &model.OverBudgetError{Budget: fmt.Sprintf("%.2f US dollars a day of %s", float64(over.MicroUSD)/1e6, of)}
	}
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, used model.Amount) error {
		return reserved.Settle(ctx, b.db, used.MicroUSD, int64(used.Tokens))
	}, nil
}

// microUSD returns US dollars in millionths.
func microUSD(dollars float64) int64 { return int64(math.Round(dollars * 1e6)) }
