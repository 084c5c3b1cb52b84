// Command slackline simulates parallel programs on described machines; see cli.
package main

import (
	"os"

	"slackline/cli"
)

func main() {
	os.Exit(cli.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
