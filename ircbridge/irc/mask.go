package irc

import (
	"regexp"
	"strings"
	"sync"
)

// Masked is the text that replaces a secret.
const Masked = "[masked]"

// A Masker removes secrets from text before it is split, sent or logged. It recognizes
// the forms of common tokens and keys, assignments to names that suggest a secret,
// command-line flags for secrets, Authorization and cookie headers, passwords in URLs,
// private key blocks, and the literal secrets that it was made with. It cannot find every
// secret, because a password in a sentence looks like any other word.
//
// A Masker is immutable and safe for concurrent use.
type Masker struct{ own *strings.Replacer }

// NewMasker makes a Masker that also recognizes the given secrets, such as the
// connection's password. It ignores secrets of fewer than 4 bytes, because ordinary
// words would contain them.
func NewMasker(own ...string) *Masker {
	var pairs []string
	for _, secret := range own {
		if len(secret) >= 4 {
			pairs = append(pairs, secret, Masked)
		}
	}
	return &Masker{strings.NewReplacer(pairs...)}
}

// Mask returns text with every secret replaced by [Masked].
func (m *Masker) Mask(text string) string {
	text = m.own.Replace(text)
	text = keyBlock().ReplaceAllString(text, Masked)
	text = tokens().ReplaceAllString(text, Masked)
	text = headers().ReplaceAllString(text, "${1}"+Masked)
	text = userInfo().ReplaceAllString(text, "${1}"+Masked+"@")
	text = flags().ReplaceAllString(text, "${1}"+Masked)
	return assignment().ReplaceAllStringFunc(text, maskAssignment)
}

// Line masks one raw protocol line, in which a few commands carry secrets in known
// positions.
func (m *Masker) Line(line string) string {
	return m.Mask(credentials().ReplaceAllString(line, "${1}"+Masked))
}

// pattern compiles a regular expression on first use. Compiling all expressions at
// startup would slow down every command, although few commands mask anything.
func pattern(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}

var (
	// A block that was cut off before its end is masked to the end of the text.
	keyBlock = pattern(`-----BEGIN [A-Z0-9 ]*PRIVATE KEY( BLOCK)?-----(?s:.*?)(-----END [A-Z0-9 ]*PRIVATE KEY( BLOCK)?-----|\z)`)

	// Tokens with the prefixes that providers use.
	tokens = pattern(`\b(?:` + strings.Join([]string{
		`sk-[A-Za-z0-9_-]{16,}`, // Anthropic, OpenAI
		`gh[pousr]_[A-Za-z0-9]{20,}`, `github_pat_[A-Za-z0-9_]{20,}`,
		`gl(?:pat|rt|dt|cbt)-[A-Za-z0-9_-]{16,}`,
		`xox[abeoprs]-[A-Za-z0-9-]{10,}`, `xapp-[A-Za-z0-9-]{10,}`,
		`(?:AKIA|ASIA)[A-Z0-9]{16}`, `AIza[A-Za-z0-9_-]{35}`, `ya29\.[A-Za-z0-9_-]{20,}`, `GOCSPX-[A-Za-z0-9_-]{20,}`,
		`npm_[A-Za-z0-9]{30,}`, `pypi-[A-Za-z0-9_-]{30,}`, `rubygems_[a-f0-9]{40,}`,
		`SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}`,
		`(?:sk|rk)_(?:live|test)_[A-Za-z0-9]{16,}`, `whsec_[A-Za-z0-9]{16,}`,
		`do[pors]_v1_[a-f0-9]{32,}`, `hf_[A-Za-z0-9]{30,}`, `shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32,}`,
		`dckr_pat_[A-Za-z0-9_-]{20,}`, `glsa_[A-Za-z0-9_]{20,}`, `lin_api_[A-Za-z0-9]{20,}`,
		`tskey-[a-z]+-[A-Za-z0-9-]{10,}`, `hv[sb]\.[A-Za-z0-9_-]{20,}`,
		`AGE-SECRET-KEY-1[A-Z0-9]{50,}`,
		`eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{4,}\.[A-Za-z0-9_-]*`, // a JSON web token
		`[0-9]{8,10}:[A-Za-z0-9_-]{35}`,                            // a Telegram bot
		`hooks\.slack\.com/services/[A-Za-z0-9/]{20,}`,
		`discord(?:app)?\.com/api/webhooks/[0-9]+/[A-Za-z0-9_-]{20,}`,
	}, "|") + `)`)

	headers = pattern(`(?i)((?:\b(?:proxy-)?authorization["']?\s*[:=]\s*["']?(?:(?:bearer|basic|token|digest|apikey)\s+)?)|(?:\bx-(?:api-key|auth-token)["']?\s*:\s*["']?)|(?:\b(?:set-)?cookie:\s*)|(?:\bbearer\s+(?:[A-Za-z_-]*[0-9]|[A-Za-z0-9_.-]{24})))[^\s"']+`)

	userInfo = pattern(`(\b[a-z][a-z0-9+.-]*://[^\s/:@]*:)[^\s/@]+@`)

	flags = pattern(`(--?(?:password|passwd|passphrase|token|secret|api-key|access-key|client-secret)(?:=|\s+)["']?)[^\s"'<$-][^\s"']*`)

	// A name, then =, : or := with optional spaces around it, then a value. The value is
	// in quotes, or ends at the next space, quote, comma, semicolon, & or closing
	// bracket.
	assignment = pattern(`(?i)\b([a-z0-9_.-]*(?:key|token|secret|password|passwd|passphrase|pwd|credentials?))(["']?\s*(?::=|[:=])\s*)("[^"\n]+"|'[^'\n]+'|` + "`[^`\n]+`" + `|[^\s"'` + "`" + `,;&)\]}]+)`)

	// Commands that contain a secret: PASS, SASL, OPER, commands with a channel's key,
	// and commands to a network's services.
	credentials = pattern(`(?i)^((?:@\S+ +)?(?::\S+ +)?(?:PASS +|AUTHENTICATE +|OPER +\S+ +|JOIN +\S+ +|MODE +\S+ +\S*k\S* +|(?:PRIVMSG +)?(?:NICKSERV|NS|CHANSERV|CS|X\S*) +:?(?:IDENTIFY|ID|LOGIN|REGISTER|GHOST|RECOVER|REGAIN|SET PASSWORD) +)).+`)
)

// maskAssignment masks the value of one assignment if the name and the value suggest a
// secret.
func maskAssignment(found string) string {
	parts := assignment().FindStringSubmatch(found)
	name, between, value := parts[1], parts[2], parts[3]
	bare := strings.Trim(value, "\"'`")
	quoted := bare != value
	if !worthMasking(name, between, bare, quoted) {
		return found
	}
	if quoted {
		return name + between + value[:1] + Masked + value[:1]
	}
	return name + between + Masked
}

// isRandom reports whether a value that consists only of letters looks random. It must
// have at least 20 letters, of which more than 30% are upper-case and more than 30%
// lower-case. A name that consists of several words has fewer upper-case letters.
func isRandom(value string) bool {
	great, small := 0, 0
	for _, c := range value {
		switch {
		case c >= 'A' && c <= 'Z':
			great++
		case c >= 'a' && c <= 'z':
			small++
		default:
			return false
		}
	}
	return len(value) >= 20 && min(great, small) > len(value)*3/10
}

func worthMasking(name, between, value string, quoted bool) bool {
	if strings.Contains(value, strings.Trim(Masked, "[]")) || strings.ContainsAny(value, "(){}<>") || strings.HasPrefix(value, "$") ||
		strings.HasPrefix(value, "%") || strings.HasPrefix(value, "/") && strings.Contains(value[1:], "/") || strings.Trim(value, ".*x-…") == "" {
		return false // already masked, a call, a placeholder, a variable, a path, or dots
	}
	digits, letters := strings.ContainsAny(value, "0123456789"), strings.ContainsFunc(value, isLetter)
	mixed := digits && letters
	random := isRandom(value)
	lower := strings.ToLower(name)
	shell := name == strings.ToUpper(name) && strings.ContainsFunc(name, isLetter) && strings.HasPrefix(between, "=")
	if strings.HasSuffix(lower, "key") && !keyName().MatchString(lower) {
		// The key of a map or of a table is not a secret, unless it looks like one.
		return mixed && len(value) >= 16 && !strings.ContainsAny(value, " /.") || random || shell && mixed && len(value) >= 8
	}
	if shell {
		return value != "true" && value != "false" && (mixed || len(value) >= 4 && !allDigits(value) || len(value) >= 8)
	}
	switch {
	case quoted && strings.Contains(value, " "):
		return false // a sentence
	case passwordName().MatchString(lower):
		return quoted && len(value) >= 4 || mixed && len(value) >= 6 || random
	case quoted:
		return mixed && len(value) >= 8 || len(value) >= 24 && !strings.ContainsAny(value, "_-./")
	}
	return mixed && len(value) >= 8 && !strings.ContainsAny(value, "[.") || random
}

var (
	keyName      = pattern(`(?:api|access|secret|private|auth|encryption|signing|master|account|deploy|license|ssh)[_.-]?key$`)
	passwordName = pattern(`(?:password|passwd|passphrase|pwd|secret)$`)
)

func isLetter(r rune) bool { return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' }

func allDigits(s string) bool { return strings.Trim(s, "0123456789") == "" }
