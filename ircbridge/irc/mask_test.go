package irc_test

import (
	"strings"
	"testing"

	"github.com/claude-swarm/claude-swarm/ircbridge/irc"
)

// planted returns fake secrets. They are assembled at run time so that no repository
// scanner reports them as real secrets.
func planted() map[string]string {
	r := func(s string, n int) string { return strings.Repeat(s, n)[:n] }
	mixed := r("aB3dE6gH9jK2mN5pQ8sT1vW4", 60)
	hex := r("0a1b2c3d4e5f6789", 64)
	upper := r("A1B2C3D4E5F6G7H8", 64)
	return map[string]string{ // maps each secret to a string in which % is replaced by the secret
		"sk-" + "ant-api03-" + mixed:                                "my key is % ok",
		"sk-" + "proj-" + mixed[:40]:                                "openai %",
		"ghp" + "_" + mixed[:36]:                                    "git clone with %, please",
		"github" + "_pat_" + mixed[:50]:                             "(%)",
		"glpat" + "-" + mixed[:20]:                                  "gitlab=%",
		"xoxb" + "-123456789012-" + mixed[:24]:                      "slack \"%\"",
		"AKIA" + upper[:16]:                                         "aws id %",
		"wJalr" + mixed[:35]:                                        "AWS_SECRET_ACCESS_KEY=%",
		"AIza" + mixed[:35]:                                         "key %",
		"npm" + "_" + mixed[:36]:                                    "//registry/:_authToken=%",
		"pypi" + "-" + mixed[:50]:                                   "password = %",
		"sk" + "_live_" + mixed[:24]:                                "stripe %",
		"SG" + "." + mixed[:22] + "." + mixed[:43]:                  "sendgrid %",
		"hf" + "_" + mixed[:34]:                                     "token: %",
		"glsa" + "_" + mixed[:32]:                                   "grafana %",
		"AGE-SECRET-" + "KEY-1" + upper[:58]:                        "%",
		"eyJ" + mixed[:20] + ".eyJ" + mixed[:30] + "." + mixed[:43]: "jwt % end",
		"123456789" + ":" + mixed[:35]:                              "telegram %",
		mixed[:30]:                                                  "Authorization: Bearer %",
		"dXNlcjpw" + mixed[:12]:                                     "curl -H 'authorization: Basic %' x",
		mixed[5:30]:                                                 "X-Api-Key: %",
		"session=" + mixed[:20]:                                     "Cookie: %",
		"hunter2hunter":                                             "postgres://bob:%@db.example.org/x",
		"hunter2":                                                   "DB_PASSWORD=%",
		"correct-horse":                                             "export GITHUB_TOKEN=%",
		"tr0ub4dor":                                                 "password: %",
		"s3cr3t-value":                                              `{"client_secret": "%"}`,
		mixed[10:42]:                                                `api_key = "%"`,
		"swordfish9":                                                "mysql --password %",
		"abc" + hex[:29]:                                            "SIGNING_KEY='%'",
		"MIIEvQ" + mixed:                                            "-----BEGIN PRIVATE KEY-----\n%\n-----END PRIVATE KEY-----\nafter",
		"b3BlbnNz" + mixed[:30]:                                     "-----BEGIN OPENSSH PRIVATE KEY-----\n%",
		"tKZNMyaZfKiErkTPqYuFUidHBmWZYPdkJjmj":                      "password=%",
		"KZNMyaZfKiErkTPqYuFUidHBmWZYPdkJjmjt":                      "token := %",
		"ZNMyaZfKiErkTPqYuFUidHBmWZYPdkJjmjtK":                      "the api_key: %",
		"my own word":                                               "it is % today",
	}
}

func TestPlantedSecretsAreMasked(t *testing.T) {
	m := irc.NewMasker("my own word", "", "abc")
	secrets := planted()
	if len(secrets) < 30 {
		t.Fatalf("only %d secrets", len(secrets))
	}
	for secret, text := range secrets {
		got := m.Mask(strings.Replace(text, "%", secret, 1))
		if strings.Contains(got, secret) || !strings.Contains(got, irc.Masked) {
			t.Errorf("in %q the secret %q is left: %q", text, secret, got)
		}
		if again := m.Mask(got); again != got {
			t.Errorf("masked twice: %q, then %q", got, again)
		}
	}
}

// Ordinary text from programmers is not changed.
func TestOrdinaryTextIsNotMasked(t *testing.T) {
	m := irc.NewMasker()
	for line := range strings.Lines(ordinary) {
		if got := m.Mask(line); got != line {
			t.Errorf("masked %q\n    as %q", line, got)
		}
	}
}

const ordinary = `The password is wrong, and the token: it expired yesterday.
See the secret: nobody reads the documentation. The key = value pairs are in the table.
max_tokens=4096 and MAX_TOKENS=100000 are limits, thinking tokens: 31999
commit 5a91602f0c1e2d3b4a5968778695a4b3c2d1e0f9 docs: take a line for a table
sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855  file.txt
id 7f3c2a10-1111-4222-8333-444455556666, message k7f3q9m2xd, turn 3fd2
func NewToken(key string) (*Token, error) { return &Token{key: key}, nil }
token := lexer.Next()
secret := os.Getenv("API_SECRET")
password = getpass.getpass()
if cfg.Password == "" { return errNoPassword }
for key, value := range m { fmt.Println(key, value) }
key: value
cache key = user_id
apiKey: process.env.API_KEY,
api_key: ${API_KEY}
export GITHUB_TOKEN=$(gh auth token)
export PASSWORD=<your password>
GITHUB_TOKEN=${{ secrets.GITHUB_TOKEN }}
TOKEN=... make deploy
PRIMARY KEY (id), FOREIGN KEY (user_id) REFERENCES users(id)
ssh-ed25519 is the type of the public key
https://example.org/path?page=2&sort=name#token
git clone https://github.com/claude-swarm/claude-swarm.git
git@github.com:claude-swarm/claude-swarm.git
basic authorization is needed, bearer of bad news
Basic usage: run make, then go test ./...
The Authorization header was missing in the request.
see --password-file and -token-path in the manual
"keyboard": "us", "monkey": "business", "hotkey": "ctrl+k"
KEY_UP=38 SORT_KEY=name
cacheKey = someVeryLongNameInCamelCase, token: anotherNameOfManyLetters
skip-this-long-kebab-case-identifier-please, task-force, risk-averse-investors-everywhere
sk-learn is fast; sk-image too
data:image/png;base64 is not shown here
token_type: "refresh"
secret_name: /run/secrets/db
the session key=12 was evicted
error: unexpected token: '}' at line 12
password_reset_url = "/accounts/reset"
expected token: IDENT, got NUMBER
[12:34:56] <ann> ann: what is the key? it depends
`

func TestRawLinesAreMasked(t *testing.T) {
	m := irc.NewMasker()
	for line, want := range map[string]string{
		"PASS open-sesame":                       "PASS [masked]",
		"AUTHENTICATE YW5uAGFubgBwdw==":          "AUTHENTICATE [masked]",
		"OPER ann open":                          "OPER ann [masked]",
		"PRIVMSG NickServ :IDENTIFY ann open":    "PRIVMSG NickServ :IDENTIFY [masked]",
		"@label=x PRIVMSG nickserv :identify pw": "@label=x PRIVMSG nickserv :identify [masked]",
		"NS IDENTIFY pw":                         "NS IDENTIFY [masked]",
		"PRIVMSG #room :pass the salt":           "PRIVMSG #room :pass the salt",
		"PING :proof-1":                          "PING :proof-1",
	} {
		if got := m.Line(line); got != want {
			t.Errorf("Line(%q) = %q, want %q", line, got, want)
		}
	}
}
