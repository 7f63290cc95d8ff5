package claude

import (
	"regexp"
	"sync"
)

// isLimitText recognizes what the client says at the end of a subscription's
// allowance: "Claude AI usage limit reached|1760000000", "You've hit your limit
// · resets 3pm (Europe/Berlin)", "5-hour limit reached ∙ resets 2am".
func isLimitText(text string) bool {
	return limitWords().MatchString(text) && !contains(text, "not your usage limit")
}

var limitWords = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\blimit reached\b|\bhit your (\w+[ -])*limit\b|\busage limit\b`)
})
