//go:build linux

package main

import (
	"os"
	"os/exec"
)

// insideVar is the environment variable that is set if this program runs in separate
// namespaces.
const insideVar = "TORTURE_INSIDE"

func inside() bool { return os.Getenv(insideVar) != "" }

// moveInside runs this program again in new namespaces and waits until it exits. moved is
// false if the program is already inside or if the system does not allow new namespaces.
func moveInside() (code int, moved bool, err error) {
	if inside() {
		return 0, false, nil
	}
	unshare := []string{"--user", "--map-root-user", "--mount", "--net", "--pid", "--fork", "--kill-child", "--mount-proc"}
	if exec.Command("unshare", append(unshare, "mount", "-t", "tmpfs", "torture", "/mnt")...).Run() != nil {
		return 0, false, nil
	}
	// The first process in the namespace becomes the parent of every orphan. It is a
	// shell, because a shell reaps them.
	args := append(unshare, "sh", "-c", `ip link set lo up; "$0" "$@"; exit $?`, "/proc/self/exe")
	self, err := os.Executable()
	if err != nil {
		return 0, false, err
	}
	args[len(args)-1] = self
	cmd := exec.Command("unshare", append(args, os.Args[1:]...)...)
	cmd.Env = append(os.Environ(), insideVar+"=1")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	err = cmd.Run()
	if cmd.ProcessState == nil {
		return 0, false, err
	}
	return cmd.ProcessState.ExitCode(), true, nil
}
