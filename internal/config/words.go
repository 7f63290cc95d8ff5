package config

import (
	"errors"
	"strings"
)

// splitWords splits a command line into words as a shell does: at spaces, with
// 'single' and "double" quotes and \. Nothing is expanded and no shell runs it,
// so a character that would do something in a shell is an error unless it is
// quoted.
func splitWords(line string) ([]string, error) {
	var words []string
	var word strings.Builder
	begun := false // a word may be empty: ''
	quote := rune(0)
	escaped := false
	for _, c := range line {
		switch {
		case escaped:
			if quote == '"' && !strings.ContainsRune(`"\$`+"`", c) {
				word.WriteByte('\\') // in double quotes \ stands for itself before others
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
			return nil, errors.New("no shell runs this, so " + string(c) + " does nothing; quote it, or run sh -c '…'")
		default:
			word.WriteRune(c)
			begun = true
		}
	}
	switch {
	case quote != 0:
		return nil, errors.New("the quote " + string(quote) + " is not closed")
	case escaped:
		return nil, errors.New(`it ends with \`)
	case begun:
		words = append(words, word.String())
	}
	return words, nil
}

// splitTools splits a list of tools at its commas, but not inside parentheses:
// "Read,Bash(git diff:*, git log:*)" are two. An entry that is empty is left
// out.
func splitTools(list string) ([]string, error) {
	tools := []string{}
	depth, begin := 0, 0
	add := func(end int) {
		if tool := strings.TrimSpace(list[begin:end]); tool != "" {
			tools = append(tools, tool)
		}
	}
	for i, c := range list {
		switch c {
		case '(':
			depth++
		case ')':
			if depth--; depth < 0 {
				return nil, errors.New(") without (")
			}
		case ',':
			if depth == 0 {
				add(i)
				begin = i + 1
			}
		}
	}
	if depth > 0 {
		return nil, errors.New("( without )")
	}
	add(len(list))
	return tools, nil
}
