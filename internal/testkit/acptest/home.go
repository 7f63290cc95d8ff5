package acptest

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

// Model is the name of the scripted model. Clients that support several providers need
// the name in [Home].Model instead.
const Model = "stub-model"

// A Home contains what one client needs: a home folder with its configuration, a working
// folder and an environment.
type Home struct {
	Client  Client
	Dir     string // HOME
	Work    string // the working folder, initially empty
	Program string
	Env     []string // the client's complete environment
	Model   string   // the client's name for the model
}

// Find returns the client with the given name.
func Find(name string) (Client, error) {
	i := slices.IndexFunc(Clients, func(c Client) bool { return c.Name == name })
	if i < 0 {
		return Client{}, fmt.Errorf("no client is called %s", name)
	}
	return Clients[i], nil
}

// Path returns the path at which `make acp-tools` installs the client. The path is below
// repository, the root folder of the checkout.
func (c Client) Path(repository string) string {
	return filepath.Join(repository, ".tools", "acp", c.Name, c.Version, "node_modules", ".bin", c.Program)
}

// Prepare creates a home folder for c below the empty folder dir. The client's model is the
// scripted one at url, such as "http://127.0.0.1:8080". Prepare fails if the client is not
// installed.
func Prepare(c Client, repository, dir, url string) (*Home, error) {
	h := &Home{Client: c, Dir: filepath.Join(dir, "home"), Work: filepath.Join(dir, "work"), Program: c.Path(repository), Model: Model}
	if _, err := os.Stat(h.Program); err != nil {
		return nil, fmt.Errorf("%s %s is missing\n  try: make acp-tools", c.Name, c.Version)
	}
	for _, d := range []string{h.Dir, h.Work} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			return nil, err
		}
	}
	h.Env = []string{"HOME=" + h.Dir, "PATH=" + os.Getenv("PATH"), "LANG=C.UTF-8", "TERM=dumb"}
	return h, configure[c.Name](h, url)
}

// configure writes the configuration of each client.
var configure = map[string]func(h *Home, url string) error{
	"codex": func(h *Home, url string) error {
		h.Env = append(h.Env, "CODEX_HOME="+filepath.Join(h.Dir, "codex"), "LOCAL_KEY=dummy")
		return h.write("codex/config.toml", fmt.Sprintf(`model = %q
model_provider = "local"

[model_providers.local]
name = "local"
base_url = "%s/v1"
wire_api = "responses"
env_key = "LOCAL_KEY"
request_max_retries = 1
stream_max_retries = 1

[analytics]
enabled = false
`, Model, url))
	},
	"opencode": func(h *Home, url string) error {
		h.Model = "local/" + Model
		return h.writeJSON(".config/opencode/opencode.json", object{
			"autoupdate": false, "share": "disabled", "model": h.Model, "small_model": h.Model,
			"provider": object{"local": object{
				"npm": "@ai-sdk/openai-compatible", "name": "local",
				"options": object{"baseURL": url + "/v1", "apiKey": "dummy"},
				"models":  object{Model: object{"name": "stub", "tool_call": true, "limit": object{"context": 128000, "output": 8000}}},
			}},
		})
	},
	"copilot": func(h *Home, url string) error {
		h.Env = append(h.Env, "COPILOT_PROVIDER_BASE_URL="+url+"/v1", "COPILOT_PROVIDER_API_KEY=dummy", "COPILOT_MODEL="+Model, "COPILOT_OFFLINE=true")
		return nil
	},
	"gemini": func(h *Home, url string) error {
		// With the model "auto", gemini first sends a request to choose a model.
		h.Model = "gemini-2.5-flash"
		h.Env = append(h.Env, "GEMINI_API_KEY=dummy", "GOOGLE_GEMINI_BASE_URL="+url)
		return h.writeJSON(".gemini/settings.json", object{
			"security": object{"auth": object{"selectedType": "gemini-api-key"}},
			"privacy":  object{"usageStatisticsEnabled": false},
		})
	},
	"cline": func(h *Home, url string) error {
		h.Env = append(h.Env, "CLINE_API_KEY=dummy", "CLINE_PROVIDER=openai-compatible")
		// In version 3.0.65, `cline auth -p openai -k dummy -m stub-model -b URL` writes
		// the same file.
		return h.writeJSON(".cline/data/settings/providers.json", object{
			"version": 1, "lastUsedProvider": "openai-compatible", "modes": object{},
			"providers": object{"openai-compatible": object{
				"settings":  object{"provider": "openai-compatible", "apiKey": "dummy", "model": Model, "baseUrl": url + "/v1"},
				"updatedAt": "2026-01-01T00:00:00.000Z", "tokenSource": "manual",
			}},
		})
	},
}

type object = map[string]any

func (h *Home) writeJSON(name string, v any) error {
	data, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	return h.write(name, string(data))
}

func (h *Home) write(name, text string) error {
	path := filepath.Join(h.Dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(text), 0o600)
}
