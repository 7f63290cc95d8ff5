package worktree

// CutAt makes every step of t ask f first and last; an error of f ends the step.
func CutAt(t *Trees, f func(step string) error) { t.cut = f }
