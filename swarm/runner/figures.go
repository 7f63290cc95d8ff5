package runner

import "github.com/claude-swarm/claude-swarm/streamjson"

// No turn costs or uses more than this. A billion tokens are a thousand requests that each
// read a context of a million. A client that reports more, or less than 0, is wrong, so its
// figure counts as unknown.
const (
	maxUSD    = 10_000
	maxTokens = 1_000_000_000
)

// plausibleUSD is false for NaN and the infinities.
func plausibleUSD(usd float64) bool { return usd >= 0 && usd <= maxUSD }

func plausibleTokens(n int) bool { return n >= 0 && n <= maxTokens }

func plausibleUsage(u streamjson.Usage) bool {
	return plausibleTokens(u.Input) && plausibleTokens(u.Output) && plausibleTokens(u.CacheRead) && plausibleTokens(u.CacheWrite)
}
