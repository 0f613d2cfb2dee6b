package maintenance

// SetStep makes a step smaller than what a test has.
func (h *AuditRetention) SetStep(n int) { h.step = n }
