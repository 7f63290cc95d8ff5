package main

import (
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/urfave/cli/v2"
)

func arrangeApp() *cli.App {
	app := newApp(nil, strings.NewReader(""), io.Discard, io.Discard)
	app.Commands = []*cli.Command{
		{Name: "send", Flags: []cli.Flag{
			jsonFlag(),
			&cli.StringFlag{Name: "type"},
			&cli.IntFlag{Name: "n"},
			&cli.BoolFlag{Name: "f", Aliases: []string{"follow"}},
			&cli.GenericFlag{Name: "wait", Value: new(optionalSpan)},
			spanFlag("for", ""),
		}},
		{Name: "dead", Subcommands: []*cli.Command{
			{Name: "list", Flags: []cli.Flag{jsonFlag()}},
		}},
		{Name: "raw", Hidden: true, SkipFlagParsing: true},
	}
	return app
}

func TestArrange(t *testing.T) {
	for name, tc := range map[string]struct {
		in, want string // arguments joined by |
		help     bool
	}{
		"already in order":       {in: "send|--type|note|coder|hi", want: "send|--type|note|--|coder|hi"},
		"flags behind":           {in: "send|coder|hi|--type|note|-f", want: "send|--type|note|-f|--|coder|hi"},
		"value by =":             {in: "send|coder|--type=note|hi", want: "send|--type=note|--|coder|hi"},
		"optional value":         {in: "send|coder|hi|--wait|--wait=3s", want: "send|--wait|--wait=3s|--|coder|hi"},
		"optional value apart":   {in: "send|coder|hi|--wait|3s|--json", want: "send|--wait=3s|--json|--|coder|hi"},
		"value at once":          {in: "send|coder|-n12", want: "send|-n|12|--|coder"},
		"global flag behind":     {in: "send|coder|--config|x.yaml|hi", want: "--config|x.yaml|send|--|coder|hi"},
		"global flag before":     {in: "--config|x.yaml|send|coder", want: "--config|x.yaml|send|--|coder"},
		"text with a dash":       {in: "send|coder|- one\n- two", want: "send|--|coder|- one\n- two"},
		"flags behind a list":    {in: "send|coder|- one|--json|--type|note", want: "send|--json|--type|note|--|coder|- one"},
		"flags behind a number":  {in: "send|coder|-5|--json", want: "send|--json|--|coder|-5"},
		"dash and a word":        {in: "send|coder|-a list of things", want: "send|--|coder|-a list of things"},
		"dash and a name":        {in: "send|coder|-äh, no", want: "send|--|coder|-äh, no"},
		"rule and heading":       {in: "send|coder|--- heading", want: "send|--|coder|--- heading"},
		"two dashes in a text":   {in: "send|coder|-- fine", want: "send|--|coder|-- fine"},
		"flag between spaces":    {in: "send|coder| --json ", want: "send|--|coder| --json "},
		"dashes between spaces":  {in: "send|coder| -- |--json", want: "send|--json|--|coder| -- "},
		"negative number":        {in: "send|coder|-5 degrees", want: "send|--|coder|-5 degrees"},
		"text like a flag":       {in: "send|coder|--|--wait", want: "send|--|coder|--wait"},
		"a single dash":          {in: "send|coder|-", want: "send|--|coder|-"},
		"empty text":             {in: "send|coder|", want: "send|--|coder|"},
		"verb below a verb":      {in: "dead|list|coder|--json", want: "dead|list|--json|--|coder"},
		"arguments left alone":   {in: "raw|-p|--verbose|--x", want: "raw|-p|--verbose|--x"},
		"help of the program":    {in: "--help", want: "", help: true},
		"no verb":                {in: "--config|x.yaml", want: "--config|x.yaml", help: true},
		"help verb":              {in: "help", want: "", help: true},
		"help of a verb":         {in: "help|dead|list", want: "dead|list", help: true},
		"help flag of a verb":    {in: "send|coder|-h", want: "send|--|coder", help: true},
		"help of a group":        {in: "dead|--help", want: "dead", help: true},
		"help as a flag's value": {in: "send|--type|--help|coder", want: "send|--type|--help|--|coder"},
	} {
		t.Run(name, func(t *testing.T) {
			line, err := arrange(arrangeApp(), append([]string{"claude-swarm"}, strings.Split(tc.in, "|")...))
			if err != nil {
				t.Fatalf("arrange(%q): %v", tc.in, err)
			}
			if got := strings.Join(line.args[1:], "|"); got != tc.want || line.help != tc.help {
				t.Errorf("arrange(%q) = %q, help %v, want %q, help %v", tc.in, got, line.help, tc.want, tc.help)
			}
		})
	}
}

func TestArrangeRefuses(t *testing.T) {
	for name, tc := range map[string]struct{ in, want, next string }{
		"misspelled verb":    {"sned", `no verb "sned"; did you mean send?`, "claude-swarm send"},
		"unlike any verb":    {"xyzzy", `no verb "xyzzy"`, "claude-swarm help"},
		"hidden verb":        {"standi", `no verb "standi"`, "claude-swarm help"},
		"no verb in a group": {"dead", "dead: a verb is missing", "claude-swarm help dead"},
		"words stay":         {"sned|coder|do it", `no verb "sned"; did you mean send?`, "claude-swarm send coder 'do it'"},
		"habit":              {"mail|coder", `no verb "mail"`, "claude-swarm help"},
		"span without unit":  {"send|coder|hi|--for=5", `--for: "5" has no unit; write 5s, 5m, 5h or 5d`, "claude-swarm send coder hi --for=5s"},
		"span among others":  {"--config|a b|send|coder|--for|5|hi", `--for: "5" has no unit; write 5s, 5m, 5h or 5d`, "claude-swarm --config 'a b' send coder --for 5s hi"},
		"whose span":         {"send|coder|--wait|5s|hi", "--wait needs its time span after =, and 5s may be part of the text", "claude-swarm send coder --wait=5s hi"},
		"misspelled below":   {"dead|lst", `no verb "lst"; did you mean list?`, "claude-swarm dead list"},
		"misspelled flag":    {"send|coder|--tpye|x", "no flag --tpye; did you mean --type?", "claude-swarm send coder --type x"},
		"unlike any flag":    {"send|coder|--zzzzzz", "no flag --zzzzzz", "claude-swarm help send   (put text that begins with a dash after --)"},
		"value missing":      {"send|coder|--type", "--type needs a value", "claude-swarm help send"},
	} {
		t.Run(name, func(t *testing.T) {
			args := []string{"claude-swarm"}
			if tc.in != "" {
				args = append(args, strings.Split(tc.in, "|")...)
			}
			_, err := arrange(arrangeApp(), args)
			if err == nil {
				t.Fatalf("arrange(%q): no error, want %q", tc.in, tc.want)
			}
			if diff := cmp.Diff([]any{tc.want, tc.next, exitUsage}, []any{err.Error(), nextStep(err), exitCode(err)}); diff != "" {
				t.Errorf("arrange(%q): error, hint, status (-want +got):\n%s", tc.in, diff)
			}
		})
	}
}
