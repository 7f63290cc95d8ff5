package config

import "strings"

// splitters are the values of the tag "split".
var splitters = map[string]func(string) ([]string, *Error){"words": splitWords, "tools": splitTools, "allowed": splitAllowed}

// splitWords splits a command line into words like a shell: at spaces, with support for
// 'single' and "double" quotes and for \. It expands nothing, and no shell runs the line,
// so an unquoted character that has a special meaning in a shell is an error.
func splitWords(line string) ([]string, *Error) {
	var words []string
	var word strings.Builder
	begun := false // a word may be empty: ''
	quote := rune(0)
	escaped := false
	for _, c := range line {
		switch {
		case escaped:
			if quote == '"' && !strings.ContainsRune(`"\$`+"`", c) {
				word.WriteByte('\\') // in double quotes, \ is literal before other characters
			}
			word.WriteRune(c)
			escaped = false
		case c == '\\' && quote != '\'':
			escaped, begun = true, true
		case quote != 0 && c == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(c)
		case c == '\'' || c == '"':
			quote, begun = c, true
		case c == ' ' || c == '\t' || c == '\n':
			if begun {
				words = append(words, word.String())
			}
			word.Reset()
			begun = false
		case strings.ContainsRune("|&;<>()$`*?", c):
			return nil, wrong("", "no shell runs this, so %c does nothing; quote it, or run sh -c '…'", c)
		default:
			word.WriteRune(c)
			begun = true
		}
	}
	switch {
	case quote != 0:
		return nil, wrong("", "the quote %c is not closed", quote)
	case escaped:
		return nil, wrong("", `it ends with \`)
	case begun:
		words = append(words, word.String())
	}
	return words, nil
}

// splitTools splits a list of tools at the commas that are not inside parentheses:
// "Read,Bash(git diff:*, git log:*)" has two entries. Empty entries are left out.
func splitTools(list string) (tools []string, _ *Error) {
	depth, begin := 0, 0
	for i, c := range list + "," {
		switch {
		case c == '(':
			depth++
		case c == ')' && depth == 0:
			return nil, wrong("", "%q: ) without (", list)
		case c == ')':
			depth--
		case c == ',' && depth == 0:
			tool := strings.TrimSpace(list[begin:i])
			begin = i + 1
			if strings.HasPrefix(tool, "-") {
				return nil, wrong("", "%q: the name of a tool cannot begin with -", tool)
			} else if tool != "" {
				tools = append(tools, tool)
			}
		}
	}
	if depth > 0 {
		return nil, wrong("", "%q: ( without )", list)
	}
	return tools, nil
}

// splitAllowed is like splitTools, but refuses the client's own tools for messages
// between its sessions. No agent may use these tools, because their messages would bypass
// policy, receipts and mailboxes.
func splitAllowed(list string) ([]string, *Error) {
	tools, e := splitTools(list)
	for _, tool := range tools {
		switch bare, _, _ := strings.Cut(tool, "("); strings.TrimSpace(bare) {
		case "ListAgents", "SendMessage":
			e = wrong("remove it; an agent sends with claude-swarm send and the dead-drop tools", "%s bypasses the mailboxes, so no agent has it", tool)
		}
	}
	return tools, e
}
