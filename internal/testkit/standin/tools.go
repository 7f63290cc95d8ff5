package standin

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
)

// maxOutput is the maximum number of bytes of command output that the model gets in full.
// If the output is longer, the model gets a preview and the name of a file.
const (
	maxOutput = 30000
	preview   = 2000
)

// answer is a tool's answer, which consists of the text for the model and an additional
// object.
type answer struct {
	text     string
	failed   bool
	denied   bool // a rule did not allow the call
	detail   any
	rejected bool // an interrupt ended the call
}

// failed returns the answer for a tool that failed.
func failed(format string, args ...any) answer {
	text := fmt.Sprintf(format, args...)
	return answer{text: text, failed: true, detail: "Error: " + text}
}

// rejected is the answer for a tool that was interrupted.
const rejected = "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit, " +
	"the new_string was NOT written to the file). STOP what you are doing and wait for the user to tell you how to proceed."

// toolInput contains the input fields of all four tools.
type toolInput struct {
	Command    string `json:"command"`
	Path       string `json:"file_path"`
	Content    string `json:"content"`
	Old        string `json:"old_string"`
	New        string `json:"new_string"`
	ReplaceAll bool   `json:"replace_all"`
	Offset     int    `json:"offset"`
	Limit      int    `json:"limit"`
}

// call announces a tool call from the script and runs it.
func (t *turn) call(ctx context.Context, name string, input map[string]any) error {
	b := block{Type: "tool_use", ID: newID("toolu_"), Name: name, Input: encode(input)}
	if err := t.emit(b); err != nil {
		return err
	}
	return t.perform(ctx, b, t.c.scriptDenial)
}

// perform runs the tool that b calls, if deny allows it, and prints the answer. deny
// returns the text of a refusal for the model, or "" if the call is allowed.
func (t *turn) perform(ctx context.Context, b block, deny func(name string, in *toolInput) string) error {
	c := t.c
	t.inTool = true
	var in toolInput
	if err := json.Unmarshal(b.Input, &in); err != nil {
		return t.answer(b.ID, failed("InputValidationError: %v", err))
	}
	if why := deny(b.Name, &in); why != "" {
		t.denials = append(t.denials, denial{Tool: b.Name, ID: b.ID, Input: b.Input})
		if !c.release.old() {
			c.out.line(&deniedLine{"system", "permission_denied", b.Name, b.ID, "rule", why, newUUID(), c.sess.id})
		}
		a := failed("%s", why)
		a.denied = true
		return t.answer(b.ID, a)
	}
	var a answer
	switch b.Name {
	case "Bash":
		a = c.bash(ctx, in.Command)
	case "Write":
		a = c.write(in)
	case "Edit":
		a = c.edit(in)
	case "Read":
		a = c.read(in)
	default:
		a = failed("No such tool available: %s", b.Name)
	}
	if ctx.Err() != nil {
		a = answer{text: rejected, failed: true, detail: "User rejected tool use", rejected: true}
	}
	return t.answer(b.ID, a)
}

// refuse plays a call that the rules of a project forbid.
func (t *turn) refuse(ctx context.Context, name, input string) error {
	in := map[string]any{"command": input}
	if name != "Bash" {
		in = map[string]any{"file_path": t.c.abs(input), "content": ""}
	}
	b := block{Type: "tool_use", ID: newID("toolu_"), Name: name, Input: encode(in)}
	if err := t.emit(b); err != nil {
		return err
	}
	return t.perform(ctx, b, ask)
}

// answer prints the result of a tool and then reads the prompts that arrived while the
// tool was running.
func (t *turn) answer(id string, a answer) error {
	c := t.c
	t.endRequest("tool_use")
	blocks := []block{{Type: "tool_result", Content: a.text, ToolUseID: id, IsError: &a.failed}}
	c.userBlocks(blocks, a.detail, c.metaOf(id, a))
	if !t.counted {
		c.sess.context += len(a.text) / 4
	}
	if err := c.sess.add(record{Type: "message", Message: &message{Role: "user", Content: encode(blocks)}}); err != nil {
		return err
	}
	if a.rejected {
		return errInterrupted
	}
	t.inTool = false
	t.steer()
	return nil
}

// metaOf returns the additional data about the tool call that the newer version reports.
func (c *client) metaOf(id string, a answer) []toolMeta {
	switch {
	case c.release.old():
		return nil
	case a.rejected:
		return []toolMeta{{ID: id, Kind: "user-rejected"}}
	case a.denied:
		return []toolMeta{{ID: id, Kind: "permission-rule", Decision: &toolPermission{"reject", "config", "rule"}}}
	}
	return []toolMeta{{ID: id, Decision: &toolPermission{"accept", "config", "rule"}}}
}

// abs returns path as an absolute path. Relative paths are relative to the working
// directory.
func (c *client) abs(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(c.cwd, path)
}

// bash runs command in a separate session, as the real program does, so a signal to the
// client's process group does not reach the command. An interrupt kills the command.
func (c *client) bash(ctx context.Context, command string) answer {
	out, code, err := c.shell(ctx, command, nil, nil)
	if err != nil {
		return failed("%v", err)
	}
	whole := strings.TrimRight(string(out), "\n")
	shown := whole
	detail := map[string]any{
		"stdout": whole, "stderr": "", "interrupted": false, "isImage": false, "noOutputExpected": false,
	}
	if len(whole) > maxOutput {
		path, err := c.keep(out)
		if err != nil {
			return failed("%v", err)
		}
		shown = fmt.Sprintf("<persisted-output>\nOutput too large (%dKB). Full output saved to: %s\n\nPreview (first 2KB):\n%s\n...\n</persisted-output>",
			len(out)/1024, path, strings.ToValidUTF8(whole[:preview], ""))
		detail["stdout"] = strings.ToValidUTF8(whole[:maxOutput], "")
		detail["persistedOutputPath"], detail["persistedOutputSize"] = path, len(out)
	}
	if code != 0 {
		return failed("%s", strings.TrimRight(fmt.Sprintf("Exit code %d\n%s", code, shown), "\n"))
	}
	if shown == "" {
		shown = "(Bash completed with no output)"
	}
	return answer{text: shown, detail: detail}
}

// keep writes long output to a file next to the session file.
func (c *client) keep(out []byte) (string, error) {
	dir := filepath.Join(sessionDir(c.getenv, c.cwd), c.sess.id, "tool-results")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	path := filepath.Join(dir, newID("b")+".txt")
	return path, os.WriteFile(path, out, 0o600)
}

// shell runs command with /bin/sh and returns its stdout, together with its stderr if
// errOut is nil. It waits only for the shell, not for processes that the shell left behind.
// The exit code of a killed shell is 128 plus the signal number.
func (c *client) shell(ctx context.Context, command string, stdin []byte, errOut *[]byte) (out []byte, code int, err error) {
	stdout, err := scratch()
	if err != nil {
		return nil, 0, err
	}
	defer stdout.Close()
	stderr := stdout
	if errOut != nil {
		if stderr, err = scratch(); err != nil {
			return nil, 0, err
		}
		defer stderr.Close()
	}
	cmd := exec.CommandContext(ctx, "/bin/sh", "-c", command)
	cmd.Dir = c.cwd
	cmd.Env = append(c.environ[:len(c.environ):len(c.environ)],
		"CLAUDECODE=1", "CLAUDE_CODE_ENTRYPOINT=sdk-cli", "CLAUDE_CODE_SESSION_ID="+c.sess.id, "CLAUDE_PROJECT_DIR="+c.cwd)
	// The output goes to files because with a pipe, Wait would wait for surviving
	// children of the shell.
	cmd.Stdout, cmd.Stderr = stdout, stderr
	if stdin != nil {
		cmd.Stdin = bytes.NewReader(stdin)
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	err = cmd.Run()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		code, err = exit.ExitCode(), nil
		if ws, ok := exit.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
			code = 128 + int(ws.Signal())
		}
	} else if ctx.Err() != nil {
		err = nil
	}
	if err != nil {
		return nil, 0, err
	}
	if errOut != nil {
		if *errOut, err = contents(stderr); err != nil {
			return nil, 0, err
		}
	}
	out, err = contents(stdout)
	return out, code, err
}

// scratch returns a temporary file that has already been unlinked.
func scratch() (*os.File, error) {
	f, err := os.CreateTemp("", "standin-*")
	if err != nil {
		return nil, err
	}
	return f, os.Remove(f.Name())
}

func contents(f *os.File) ([]byte, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	return io.ReadAll(io.NewSectionReader(f, 0, info.Size()))
}

func (c *client) write(in toolInput) answer {
	path := c.abs(in.Path)
	old, err := os.ReadFile(path)
	created := errors.Is(err, fs.ErrNotExist)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return failed("%v", err)
	}
	if err := os.WriteFile(path, []byte(in.Content), 0o644); err != nil {
		return failed("%v", err)
	}
	detail := map[string]any{
		"type": "create", "filePath": path, "content": in.Content, "structuredPatch": []any{}, "originalFile": nil, "userModified": false,
	}
	text := "File created successfully at: " + path + " (file state is current in your context — no need to Read it back)"
	if !created {
		detail["type"], detail["originalFile"] = "update", string(old)
		text = "The file " + path + " has been updated successfully. (file state is current in your context — no need to Read it back)"
	}
	return answer{text: text, detail: detail}
}

func (c *client) edit(in toolInput) answer {
	path := c.abs(in.Path)
	old, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return failed("File does not exist. Note: your current working directory is %s.", c.cwd)
	} else if err != nil {
		return failed("%v", err)
	}
	if !bytes.Contains(old, []byte(in.Old)) {
		return failed("String to replace not found in file.\nString: %s", in.Old)
	}
	times := 1
	if in.ReplaceAll {
		times = -1
	}
	if err := os.WriteFile(path, []byte(strings.Replace(string(old), in.Old, in.New, times)), 0o644); err != nil {
		return failed("%v", err)
	}
	return answer{
		text: "The file " + path + " has been updated successfully. (file state is current in your context — no need to Read it back)",
		detail: map[string]any{
			"filePath": path, "oldString": in.Old, "newString": in.New, "originalFile": string(old),
			"structuredPatch": []any{}, "userModified": false, "replaceAll": in.ReplaceAll,
		},
	}
}

func (c *client) read(in toolInput) answer {
	path := c.abs(in.Path)
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return failed("File does not exist. Note: your current working directory is %s.", c.cwd)
	} else if err != nil {
		return failed("%v", err)
	}
	lines := strings.Split(string(data), "\n")
	from := min(max(in.Offset, 1), len(lines)+1)
	to := len(lines)
	if in.Limit > 0 {
		to = min(to, from-1+in.Limit)
	}
	var numbered strings.Builder
	for i := from; i <= to; i++ {
		fmt.Fprintf(&numbered, "%d\t%s\n", i, lines[i-1])
	}
	return answer{
		text: strings.TrimSuffix(numbered.String(), "\n"),
		detail: map[string]any{"type": "text", "file": map[string]any{
			"filePath": path, "content": strings.Join(lines[from-1:to], "\n"),
			"numLines": to - from + 1, "startLine": from, "totalLines": len(lines),
		}},
	}
}
