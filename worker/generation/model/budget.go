package model

import (
	"context"
	"fmt"
	"sync"
)

// Amount is what calls of a model use.
type Amount struct {
	Calls    int
	Tokens   int   // sent and received
	MicroUSD int64 // millionths of a US dollar
}

func (a Amount) plus(b Amount) Amount {
	return Amount{a.Calls + b.Calls, a.Tokens + b.Tokens, a.MicroUSD + b.MicroUSD}
}

func (a Amount) minus(b Amount) Amount {
	return Amount{a.Calls - b.Calls, a.Tokens - b.Tokens, a.MicroUSD - b.MicroUSD}
}

// Budget is what calls may use. Before each request its upper estimate is reserved;
// afterwards the estimate is replaced by what was used.
type Budget interface {
	// Reserve takes an estimate out of the budget and returns what settles it, to be
	// called once with what was used. It returns an *OverBudgetError when there is less,
	// and takes nothing then.
	Reserve(ctx context.Context, estimate Amount) (Settle, error)
}

// Settle puts an estimate back and takes what was used.
type Settle func(ctx context.Context, used Amount) error

// OverBudgetError says which budget is used up. It is shown to people.
type OverBudgetError struct {
	Budget string // "tokens per task", "US dollars per day"
}

func (e *OverBudgetError) Error() string { return "the budget of " + e.Budget + " is used up" }

// TaskBudget bounds one generation, and asks the budget behind it, if any.
type TaskBudget struct {
	limit Amount
	next  Budget

	mu   sync.Mutex
	used Amount
}

// NewTaskBudget returns a budget of a limit, whose zero members are no limit. next is
// that of the day and the organization; nil: none.
func NewTaskBudget(limit Amount, next Budget) *TaskBudget {
	return &TaskBudget{limit: limit, next: next}
}

// Reserve implements Budget.
func (b *TaskBudget) Reserve(ctx context.Context, estimate Amount) (Settle, error) {
	if err := b.take(estimate); err != nil {
		return nil, err
	}
	settleNext := func(context.Context, Amount) error { return nil }
	if b.next != nil {
		settle, err := b.next.Reserve(ctx, estimate)
		if err != nil {
			b.add(Amount{}.minus(estimate))
			return nil, err
		}
		settleNext = settle
	}
	return func(ctx context.Context, used Amount) error {
		b.add(used.minus(estimate))
		return settleNext(ctx, used)
	}, nil
}

func (b *TaskBudget) take(estimate Amount) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	sum := b.used.plus(estimate)
	switch {
	case b.limit.Calls > 0 && sum.Calls > b.limit.Calls:
		return &OverBudgetError{fmt.Sprintf("%d calls per task", b.limit.Calls)}
	case b.limit.Tokens > 0 && sum.Tokens > b.limit.Tokens:
		return &OverBudgetError{fmt.Sprintf("%d tokens per task", b.limit.Tokens)}
	case b.limit.MicroUSD > 0 && sum.MicroUSD > b.limit.MicroUSD:
		return &OverBudgetError{fmt.Sprintf("%.2f US dollars per task", float64(b.limit.MicroUSD)/1e6)}
	}
	b.used = sum
	return nil
}

func (b *TaskBudget) add(a Amount) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.used = b.used.plus(a)
}

// Used is what was reserved and used so far.
func (b *TaskBudget) Used() Amount {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.used
}
