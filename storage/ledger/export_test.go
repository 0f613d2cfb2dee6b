package ledger

// LastSucceededQuery lets a test ask for the plan.
const LastSucceededQuery = lastSucceeded
