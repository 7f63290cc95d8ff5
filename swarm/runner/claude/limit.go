package claude

import (
	"regexp"
	"sync"
)

// isLimitText reports whether text is one of the client's messages for a used-up
// subscription allowance: "Claude AI usage limit reached|1760000000", "You've hit your
// limit · resets 3pm (Europe/Berlin)", "5-hour limit reached ∙ resets 2am".
func isLimitText(text string) bool {
	return limitWords().MatchString(text) && !contains(text, "not your usage limit")
}

var limitWords = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\blimit reached\b|\bhit your (\w+[ -])*limit\b|\busage limit\b`)
})
