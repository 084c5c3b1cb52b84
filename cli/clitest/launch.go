package clitest

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"slackline/internal/needed"
)

// Launchers are the launchers of both MPIs, with the arguments that a job of several processes needs.
func Launchers(t testing.TB) map[string][]string {
	t.Helper()
	needed.Full(t, "MPI")
	list := map[string][]string{"mpirun.openmpi": {"--oversubscribe"}, "mpirun.mpich": nil}
	for name := range list {
		needed.Tool(t, name)
	}
	return list
}

// RunJob runs slackline as an MPI job, or by itself if there is no launcher.
func RunJob(t testing.TB, launcher []string, processes int, stdin string, args ...string) (stdout, stderr string, err error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	self, err := exec.LookPath("slackline") // which TestMain provides
	if err != nil {
		t.Fatal(err)
	}
	words := append([]string{self}, args...)
	if launcher != nil {
		words = append(append(append([]string{}, launcher...), "-n", strconv.Itoa(processes)), words...)
	}
	c := exec.CommandContext(ctx, words[0], words[1:]...)
	c.Env = append(os.Environ(), "SLACKLINE_SHARE=always", "OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1")
	c.WaitDelay = 5 * time.Second
	c.Stdin = strings.NewReader(stdin)
	var out, errs bytes.Buffer
	c.Stdout, c.Stderr = &out, &errs
	err = c.Run()
	if ctx.Err() != nil {
		t.Fatalf("%v does not end; stderr:\n%s", words, errs.String())
	}
	return out.String(), errs.String(), err
}

// WithoutProvenance returns a JSON result without where it comes from.
func WithoutProvenance(t testing.TB, text string) string {
	t.Helper()
	var members map[string]json.RawMessage
	if err := json.Unmarshal([]byte(text), &members); err != nil {
		t.Fatalf("%v in %q", err, text)
	}
	delete(members, "provenance")
	out, err := json.Marshal(members)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}
