package history

import (
	"context"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"time"

	"slackline/analyze/changes"
	"slackline/model/history"
)

// git asks the repository of the working directory, if there are one and the program git. It is never needed: a commit may
// also be described by flags.
func git(ctx context.Context, words ...string) (string, bool) {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	out, err := exec.CommandContext(ctx, "git", append([]string{"--no-pager"}, words...)...).Output()
	return strings.TrimRight(string(out), "\n"), err == nil
}

// commits finds the commits that a word names in the repository, the newest first, most of them at the most.
func commits(ctx context.Context, word string, most int) (list []history.Commit) {
	out, ok := git(ctx, "log", fmt.Sprintf("-%d", most), "--no-show-signature", "--format=%H%x00%cI%x00%s", word, "--")
	for line := range strings.SplitSeq(out, "\n") {
		parts := strings.SplitN(line, "\x00", 3)
		if !ok || len(parts) != 3 {
			continue
		}
		if at, err := time.Parse(time.RFC3339, parts[1]); err == nil {
			list = append(list, history.Commit{ID: parts[0], Time: at, Subject: parts[2]})
		}
	}
	return list
}

// describe finds a commit in the repository.
func describe(ctx context.Context, word string) (history.Commit, bool) {
	list := commits(ctx, word, 1)
	if len(list) == 0 {
		return history.Commit{}, false
	}
	return list[0], true
}

// mostCommits is how many commits of a change are listed.
const mostCommits = 20

// between lists the commits among which a change is, the newest first, as hash and subject: those that the repository
// has, or else the one at which the change was seen. The second value says that there are more.
func between(ctx context.Context, r *changes.Result, c *changes.Change) (list []history.Commit, more bool) {
	list = commits(ctx, r.Commits[c.Before].ID+".."+r.Commits[c.After].ID, mostCommits+1)
	if len(list) == 0 {
		list = slices.Clone(r.Commits[c.Before+1 : c.After+1])
		slices.Reverse(list)
	}
	return list[:min(len(list), mostCommits)], len(list) > mostCommits
}

// repository answers what is between commits, each question once.
type repository struct {
	ctx    context.Context
	result *changes.Result
	known  map[[2]int][]history.Commit
	more   map[[2]int]bool
}

func newRepository(ctx context.Context, r *changes.Result) *repository {
	return &repository{ctx, r, map[[2]int][]history.Commit{}, map[[2]int]bool{}}
}

func (g *repository) between(c *changes.Change) ([]history.Commit, bool) {
	key := [2]int{c.Before, c.After}
	if _, ok := g.known[key]; !ok {
		g.known[key], g.more[key] = between(g.ctx, g.result, c)
	}
	return g.known[key], g.more[key]
}

// lines are the commits as texts.
func (g *repository) lines(c *changes.Change) []string {
	list, more := g.between(c)
	var lines []string
	for _, commit := range list {
		lines = append(lines, strings.TrimSpace(commit.Short()+" "+commit.Subject))
	}
	if more {
		lines = append(lines, "...")
	}
	return lines
}
