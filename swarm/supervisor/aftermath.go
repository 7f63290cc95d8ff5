package supervisor

// An Overrun reports that an agent still works in the turn in which it was found stuck,
// and has taken [Settings].InterruptAfter steps since then.
type Overrun struct {
	ID    string // id of the escalation
	Agent string
	Turn  string
}

// An aftermath is the part of a turn that follows an escalation.
type aftermath struct {
	id      string // id of the escalation
	finding Finding
	verdict Verdict
	earlier int // how many repetitions earlier escalations about the same message and finding counted
	steps   int // the steps of the agent and its sub-agents since the escalation
}

// add counts a step. If the step repeats what led to the escalation, the number of
// repetitions grows. f is the finding about the step if bad is true, and idle is the number
// of steps without a change.
func (a *aftermath) add(f Finding, bad bool, idle int) {
	a.steps++
	switch {
	case a.finding.Rule == StepsWithoutChange:
		a.finding.Count = max(a.finding.Count, idle)
	case bad && a.finding.same(f):
		a.finding.Count++ // f.Count ends at the window's size
	}
}

// why returns the reason for the escalation with the current numbers.
func (a *aftermath) why() string {
	f := a.finding
	f.Earlier = a.earlier
	return f.why(a.verdict)
}

// same reports whether two findings are about the same call or the same failure.
func (f Finding) same(g Finding) bool {
	return f.Rule == g.Rule && f.Sub == g.Sub && f.Error == g.Error && (f.Rule == SameError || f.About == g.About)
}

// Stuck returns the id of the escalation after which the turn continued or ended, and the
// reason for it with the current numbers. ok is false if there was no escalation, or if a
// person has let the agent continue since then.
func (w *Watch) Stuck() (id, why string, ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.after == nil {
		return "", "", false
	}
	return w.after.id, w.after.why(), true
}

// goesOn counts a step after the escalation.
func (w *Watch) goesOn(settings Settings, f Finding, bad bool) {
	if w.after == nil {
		return
	}
	w.after.add(f, bad, w.idle)
	if settings.InterruptAfter > 0 && w.after.steps == settings.InterruptAfter {
		w.out = append(w.out, Overrun{ID: w.after.id, Agent: w.agent, Turn: w.turn.ID})
	}
}

// earlier returns how many repetitions the earlier escalations about this message counted,
// if the last of them was about the same finding.
func (w *Watch) earlier(f Finding) int {
	if w.before == nil || w.beforeIn != w.turn.Message || !w.before.finding.same(f) {
		return 0
	}
	return w.before.earlier + w.before.finding.retries()
}
