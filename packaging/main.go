package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:])
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "packaging:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	var o order
	flags := flag.NewFlagSet("packaging", flag.ContinueOnError)
	flags.StringVar(&o.out, "out", "dist", "the folder for the packages")
	flags.StringVar(&o.described, "version", "", "the version, as git describe prints it")
	flags.StringVar(&o.nfpm, "nfpm", "nfpm", "the program nfpm, which makes deb and rpm")
	named := flags.String("platforms", "", "the platforms, such as linux/amd64, separated by commas; default all")
	if err := flags.Parse(args); err != nil {
		return err
	}
	o.build = flags.Args()
	var err error
	if o.platforms, err = parsePlatforms(*named); err != nil {
		return err
	}
	return o.make(ctx)
}

// A platform is an operating system and a processor, in Go's words.
type platform struct{ os, arch string }

// platforms lists the platforms of a release.
var platforms = []platform{{"linux", "amd64"}, {"linux", "arm64"}, {"darwin", "amd64"}, {"darwin", "arm64"}}

func (p platform) String() string { return p.os + "/" + p.arch }

// parsePlatforms returns the named platforms, or all of them if text is empty.
func parsePlatforms(text string) ([]platform, error) {
	if text == "" {
		return platforms, nil
	}
	var named []platform
	for _, name := range strings.Split(text, ",") {
		at := slices.IndexFunc(platforms, func(p platform) bool { return p.String() == name })
		if at < 0 {
			return nil, fmt.Errorf("%q is not one of the platforms %v", name, platforms)
		}
		named = append(named, platforms[at])
	}
	return named, nil
}
