package acptest

import (
	"os"
	"os/exec"
)

const insideVar = "CLAUDE_SWARM_ACP_INSIDE" // set inside the network namespace

// Again runs this program again, with the same arguments, in a network namespace that has
// only a loopback interface, and returns its exit status. If done is false, the caller must
// do the work itself, because it is already inside the namespace or the machine does not
// allow one.
func Again() (status int, done bool, err error) {
	if os.Getenv(insideVar) != "" {
		return 0, false, nil
	}
	for _, unshare := range [][]string{
		{"unshare", "--net"},
		{"unshare", "--user", "--map-root-user", "--net"},
	} {
		if exec.Command(unshare[0], append(unshare[1:], "true")...).Run() != nil {
			continue
		}
		args := append(unshare[1:], "sh", "-c", `ip link set lo up && exec "$0" "$@"`, os.Args[0])
		cmd := exec.Command(unshare[0], append(args, os.Args[1:]...)...)
		cmd.Env = append(os.Environ(), insideVar+"=1")
		cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
		err := cmd.Run()
		if cmd.ProcessState == nil {
			return 0, true, err
		}
		return cmd.ProcessState.ExitCode(), true, nil
	}
	return 0, false, nil
}
