// Package image tests examples/container: it makes a Debian, builds the Dockerfile on it with
// the package of a release, and lets an agent do a task in the image, with the command, the
// folders and the variables of compose.yaml.
//
//	make nightly PART=packages
//
// It needs root, debootstrap, buildah and the network, and takes about five minutes. It does
// not need Docker: buildah runs the steps in a chroot.
package image
