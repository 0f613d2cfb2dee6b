package setting

import (
	"fmt"
	"math"
)

// generationSettings are those of tests that are written from a sentence.
type generationSettings struct {
	GenerationParallel int  `env:"SLIPWAY_GENERATION_PARALLEL" default:"0" help:"Generations of one organization that run at once, in all workers together; 0: as many as there are slots."`
	GenerationVerify   bool `env:"SLIPWAY_GENERATION_VERIFY" default:"true" negatable:"" help:"Replay a generated test once in a fresh browser before it counts as completed."`

	ModelProvider    string  `env:"SLIPWAY_MODEL_PROVIDER" default:"" enum:",openai,anthropic" help:"Language model for what the planner cannot do: openai for chat completions and what is compatible with them, anthropic for messages; empty: none."`
	ModelURL         string  `env:"SLIPWAY_MODEL_URL" help:"Base address of the model's service, such as http://models:8000/v1; default: that of the provider."`
	ModelKey         Secret  `env:"SLIPWAY_MODEL_KEY" help:"Key of the model's service."`
	ModelName        string  `env:"SLIPWAY_MODEL_NAME" help:"Name of the model, as its service knows it."`
	ModelUse         string  `env:"SLIPWAY_MODEL_USE" default:"needed" enum:"never,needed,always" help:"When a model is asked: never, needed (for what the planner does not understand) or always."`
	ModelInputPrice  float64 `env:"SLIPWAY_MODEL_INPUT_PRICE" default:"0" help:"US dollars for a million tokens that are sent. Without prices nothing is counted against the budgets in US dollars."`
	ModelOutputPrice float64 `env:"SLIPWAY_MODEL_OUTPUT_PRICE" default:"0" help:"US dollars for a million tokens of the model's output."`

	ModelCallsPerTask          int     `env:"SLIPWAY_MODEL_CALLS_PER_TASK" default:"60" help:"Calls of a model for one generation; 0: no bound."`
	ModelTokensPerTask         int     `env:"SLIPWAY_MODEL_TOKENS_PER_TASK" default:"500000" help:"Tokens, sent and received, for one generation; 0: no bound."`
	ModelUSDPerTask            float64 `env:"SLIPWAY_MODEL_USD_PER_TASK" default:"1" help:"US dollars for one generation; 0: no bound."`
	ModelUSDPerDay             float64 `env:"SLIPWAY_MODEL_USD_PER_DAY" default:"50" help:"US dollars for all generations of a day (UTC); 0: no bound."`
	ModelUSDPerOrganizationDay float64 `env:"SLIPWAY_MODEL_USD_PER_ORGANIZATION_DAY" default:"10" help:"US dollars for the generations of one organization on a day (UTC); 0: no bound."`
}

const (
	maxModelCalls  = 1000
	maxModelTokens = 100_000_000
	maxUSD         = 1_000_000
)

// modelBounds returns an error for a setting of models with which generations would
// fail, or cost what nobody meant. The error names the variable.
func (s *generationSettings) modelBounds() error {
	if s.ModelProvider != "" && s.ModelName == "" {
		return fmt.Errorf("SLIPWAY_MODEL_PROVIDER needs SLIPWAY_MODEL_NAME")
	}
	if s.ModelProvider == "" && s.ModelUse == "always" {
		return fmt.Errorf("SLIPWAY_MODEL_USE is always, and needs SLIPWAY_MODEL_PROVIDER")
	}
	for _, b := range []struct {
		name  string
		value float64
	}{
		{"SLIPWAY_MODEL_INPUT_PRICE", s.ModelInputPrice}, {"SLIPWAY_MODEL_OUTPUT_PRICE", s.ModelOutputPrice},
		{"SLIPWAY_MODEL_USD_PER_TASK", s.ModelUSDPerTask}, {"SLIPWAY_MODEL_USD_PER_DAY", s.ModelUSDPerDay},
		{"SLIPWAY_MODEL_USD_PER_ORGANIZATION_DAY", s.ModelUSDPerOrganizationDay},
	} {
		if math.IsNaN(b.value) || b.value < 0 || b.value > maxUSD {
			return fmt.Errorf("%s is %g, and must be from 0 to %d", b.name, b.value, maxUSD)
		}
	}
	return nil
}
